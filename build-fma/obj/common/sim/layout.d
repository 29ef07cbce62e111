build-fma/obj/common/sim/layout.o: common/sim/layout.c \
 common/sim/constraint.h common/sim/state.h common/sim/floating_point.h \
 common/base/rng.h include/foliot/world.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h common/sim/contact.h common/sim/force.h \
 common/sim/force_exact.h common/sim/joint.h common/sim/collide/collide.h \
 common/sim/scene.h common/sim/integrator/scheme.h common/sim/layout.h
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
common/sim/contact.h:
common/sim/force.h:
common/sim/force_exact.h:
common/sim/joint.h:
common/sim/collide/collide.h:
common/sim/scene.h:
common/sim/integrator/scheme.h:
common/sim/layout.h:
