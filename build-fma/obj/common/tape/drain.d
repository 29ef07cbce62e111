build-fma/obj/common/tape/drain.o: common/tape/drain.c \
 common/tape/recording.h include/foliot/recording.h \
 include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/status.h \
 include/foliot/world.h include/foliot/digest.h common/tape/encoder.h \
 common/tape/format.h common/tape/pack.h common/tape/journal.h \
 common/tape/ring.h common/base/assert.h
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
common/base/assert.h:
