build-fma/obj/common/wire/message.o: common/wire/message.c \
 common/wire/message.h include/foliot/digest.h include/foliot/status.h \
 include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/simulation.h \
 include/foliot/world.h include/foliot/snapshot.h common/base/bytes.h \
 common/base/unpack.h
common/wire/message.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/simulation.h:
include/foliot/world.h:
include/foliot/snapshot.h:
common/base/bytes.h:
common/base/unpack.h:
