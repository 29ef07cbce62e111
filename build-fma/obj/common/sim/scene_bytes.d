build-fma/obj/common/sim/scene_bytes.o: common/sim/scene_bytes.c \
 common/sim/floating_point.h common/sim/scene.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/status.h common/base/assert.h \
 common/base/bytes.h
common/sim/floating_point.h:
common/sim/scene.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/status.h:
common/base/assert.h:
common/base/bytes.h:
