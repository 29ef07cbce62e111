build-fma/obj/common/net/memory.o: common/net/memory.c \
 common/base/assert.h common/net/link.h common/base/rng.h \
 include/foliot/transport.h include/foliot/status.h \
 common/net/transport.h
common/base/assert.h:
common/net/link.h:
common/base/rng.h:
include/foliot/transport.h:
include/foliot/status.h:
common/net/transport.h:
