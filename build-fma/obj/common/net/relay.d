build-fma/obj/common/net/relay.o: common/net/relay.c common/net/relay.h \
 common/net/link.h common/base/rng.h include/foliot/transport.h \
 include/foliot/status.h
common/net/relay.h:
common/net/link.h:
common/base/rng.h:
include/foliot/transport.h:
include/foliot/status.h:
