build-fma/obj/common/tape/resume.o: common/tape/resume.c \
 common/tape/recording.h include/foliot/recording.h \
 include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/status.h \
 include/foliot/world.h include/foliot/digest.h common/tape/encoder.h \
 common/tape/format.h common/tape/pack.h common/tape/journal.h \
 common/tape/ring.h common/tape/replay.h include/foliot/replay.h \
 include/foliot/divergence.h include/foliot/simulation.h \
 common/tape/walk.h common/tape/input_log.h common/tape/source.h
common/tape/recording.h:
include/foliot/recording.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/status.h:
include/foliot/world.h:
include/foliot/digest.h:
common/tape/encoder.h:
common/tape/format.h:
common/tape/pack.h:
common/tape/journal.h:
common/tape/ring.h:
common/tape/replay.h:
include/foliot/replay.h:
include/foliot/divergence.h:
include/foliot/simulation.h:
common/tape/walk.h:
common/tape/input_log.h:
common/tape/source.h:
