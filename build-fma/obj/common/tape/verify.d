build-fma/obj/common/tape/verify.o: common/tape/verify.c \
 common/tape/perturb.h include/foliot/replay.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/divergence.h \
 include/foliot/simulation.h include/foliot/input.h \
 include/foliot/world.h include/foliot/scene.h \
 include/foliot/integrator.h common/tape/replay.h common/tape/walk.h \
 common/tape/format.h common/tape/input_log.h common/tape/journal.h \
 include/foliot/recording.h common/tape/source.h
common/tape/perturb.h:
include/foliot/replay.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/divergence.h:
include/foliot/simulation.h:
include/foliot/input.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/tape/replay.h:
common/tape/walk.h:
common/tape/format.h:
common/tape/input_log.h:
common/tape/journal.h:
include/foliot/recording.h:
common/tape/source.h:
