build-fma/obj/common/sim/constraint.o: common/sim/constraint.c \
 common/sim/constraint_links.h common/sim/constraint.h common/sim/state.h \
 common/sim/floating_point.h common/base/rng.h include/foliot/world.h \
 include/foliot/digest.h include/foliot/status.h include/foliot/input.h \
 include/foliot/scene.h include/foliot/integrator.h common/sim/scene.h
common/sim/constraint_links.h:
common/sim/constraint.h:
common/sim/state.h:
common/sim/floating_point.h:
common/base/rng.h:
include/foliot/world.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/sim/scene.h:
