build-fma/obj/server/lib/late_join.o: server/lib/late_join.c \
 common/base/bytes.h include/foliot/status.h server/lib/internal.h \
 include/foliot/server.h include/foliot/lockstep.h \
 include/foliot/divergence.h include/foliot/simulation.h \
 include/foliot/digest.h include/foliot/input.h include/foliot/world.h \
 include/foliot/scene.h include/foliot/integrator.h \
 include/foliot/recording.h include/foliot/transport.h \
 include/foliot/snapshot.h server/lib/lockstep.h common/tape/rewind.h \
 common/wire/lockstep_message.h common/wire/lockstep_block.h \
 common/wire/tick_log.h common/wire/message.h
common/base/bytes.h:
include/foliot/status.h:
server/lib/internal.h:
include/foliot/server.h:
include/foliot/lockstep.h:
include/foliot/divergence.h:
include/foliot/simulation.h:
include/foliot/digest.h:
include/foliot/input.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/recording.h:
include/foliot/transport.h:
include/foliot/snapshot.h:
server/lib/lockstep.h:
common/tape/rewind.h:
common/wire/lockstep_message.h:
common/wire/lockstep_block.h:
common/wire/tick_log.h:
common/wire/message.h:
