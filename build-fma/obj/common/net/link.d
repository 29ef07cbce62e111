build-fma/obj/common/net/link.o: common/net/link.c common/net/link.h \
 common/base/rng.h include/foliot/transport.h include/foliot/status.h
common/net/link.h:
common/base/rng.h:
include/foliot/transport.h:
include/foliot/status.h:
