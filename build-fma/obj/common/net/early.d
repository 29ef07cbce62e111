build-fma/obj/common/net/early.o: common/net/early.c common/net/early.h \
 include/foliot/transport.h include/foliot/status.h
common/net/early.h:
include/foliot/transport.h:
include/foliot/status.h:
