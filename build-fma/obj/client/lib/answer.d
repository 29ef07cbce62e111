build-fma/obj/client/lib/answer.o: client/lib/answer.c \
 client/lib/lockstep.h include/foliot/client.h include/foliot/input.h \
 include/foliot/lockstep.h include/foliot/divergence.h \
 include/foliot/simulation.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/world.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/transport.h \
 common/tape/rewind.h common/wire/lockstep_message.h \
 common/wire/lockstep_block.h common/wire/tick_log.h \
 common/wire/message.h include/foliot/snapshot.h
client/lib/lockstep.h:
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
common/tape/rewind.h:
common/wire/lockstep_message.h:
common/wire/lockstep_block.h:
common/wire/tick_log.h:
common/wire/message.h:
include/foliot/snapshot.h:
