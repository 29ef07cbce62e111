build-fma/obj/common/net/impairment.o: common/net/impairment.c \
 include/foliot/transport.h include/foliot/status.h
include/foliot/transport.h:
include/foliot/status.h:
