build-fma/obj/common/sim/hash_avx2.o: common/sim/hash_avx2.c \
 common/sim/hash.h include/foliot/digest.h include/foliot/status.h \
 common/sim/hash_lanes.h
common/sim/hash.h:
include/foliot/digest.h:
include/foliot/status.h:
common/sim/hash_lanes.h:
