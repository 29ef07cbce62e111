build-fma/obj/common/net/enet_slots.o: common/net/enet_slots.c \
 common/net/enet_internal.h common/net/early.h include/foliot/transport.h \
 include/foliot/status.h common/net/gate.h common/net/relay.h \
 common/net/link.h common/base/rng.h common/net/transport.h
common/net/enet_internal.h:
common/net/early.h:
include/foliot/transport.h:
include/foliot/status.h:
common/net/gate.h:
common/net/relay.h:
common/net/link.h:
common/base/rng.h:
common/net/transport.h:
