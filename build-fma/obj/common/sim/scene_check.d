build-fma/obj/common/sim/scene_check.o: common/sim/scene_check.c \
 common/sim/floating_point.h common/sim/scene.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/status.h \
 include/foliot/input.h include/foliot/world.h include/foliot/digest.h
common/sim/floating_point.h:
common/sim/scene.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/world.h:
include/foliot/digest.h:
