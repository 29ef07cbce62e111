build-fma/obj/common/net/transport.o: common/net/transport.c \
 common/net/transport.h include/foliot/transport.h \
 include/foliot/status.h
common/net/transport.h:
include/foliot/transport.h:
include/foliot/status.h:
