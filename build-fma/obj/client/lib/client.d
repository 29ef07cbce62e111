build-fma/obj/client/lib/client.o: client/lib/client.c \
 include/foliot/client.h include/foliot/input.h include/foliot/lockstep.h \
 include/foliot/divergence.h include/foliot/simulation.h \
 include/foliot/digest.h include/foliot/status.h include/foliot/world.h \
 include/foliot/scene.h include/foliot/integrator.h \
 include/foliot/transport.h client/lib/buffer.h include/foliot/snapshot.h \
 include/foliot/version.h client/lib/lockstep.h common/tape/rewind.h \
 common/wire/lockstep_message.h common/wire/lockstep_block.h \
 common/wire/tick_log.h common/wire/message.h client/lib/playout.h
include/foliot/client.h:
include/foliot/input.h:
include/foliot/lockstep.h:
include/foliot/divergence.h:
include/foliot/simulation.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/transport.h:
client/lib/buffer.h:
include/foliot/snapshot.h:
include/foliot/version.h:
client/lib/lockstep.h:
common/tape/rewind.h:
common/wire/lockstep_message.h:
common/wire/lockstep_block.h:
common/wire/tick_log.h:
common/wire/message.h:
client/lib/playout.h:
