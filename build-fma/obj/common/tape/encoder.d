build-fma/obj/common/tape/encoder.o: common/tape/encoder.c \
 common/tape/encoder.h include/foliot/digest.h include/foliot/status.h \
 include/foliot/input.h include/foliot/world.h include/foliot/scene.h \
 include/foliot/integrator.h common/tape/format.h common/tape/pack.h \
 common/base/assert.h include/foliot/version.h
common/tape/encoder.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/tape/format.h:
common/tape/pack.h:
common/base/assert.h:
include/foliot/version.h:
