build-fma/obj/common/tape/walk.o: common/tape/walk.c common/tape/walk.h \
 include/foliot/replay.h include/foliot/digest.h include/foliot/status.h \
 include/foliot/divergence.h include/foliot/simulation.h \
 include/foliot/input.h include/foliot/world.h include/foliot/scene.h \
 include/foliot/integrator.h common/tape/format.h common/tape/input_log.h \
 common/tape/journal.h include/foliot/recording.h common/tape/source.h \
 common/base/crc32c.h common/base/unpack.h common/base/bytes.h \
 common/tape/expand.h
common/tape/walk.h:
include/foliot/replay.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/divergence.h:
include/foliot/simulation.h:
include/foliot/input.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/tape/format.h:
common/tape/input_log.h:
common/tape/journal.h:
include/foliot/recording.h:
common/tape/source.h:
common/base/crc32c.h:
common/base/unpack.h:
common/base/bytes.h:
common/tape/expand.h:
