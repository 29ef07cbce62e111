build-fma/obj/common/sim/hash.o: common/sim/hash.c \
 common/sim/hash_lanes.h common/sim/hash.h include/foliot/digest.h \
 include/foliot/status.h common/base/cpu.h
common/sim/hash_lanes.h:
common/sim/hash.h:
include/foliot/digest.h:
include/foliot/status.h:
common/base/cpu.h:
