build-fma/obj/common/sim/digest.o: common/sim/digest.c \
 include/foliot/digest.h include/foliot/status.h
include/foliot/digest.h:
include/foliot/status.h:
