build-fma/obj/common/sim/step.o: common/sim/step.c common/sim/body.h \
 common/sim/state.h common/sim/floating_point.h common/base/rng.h \
 include/foliot/world.h include/foliot/digest.h include/foliot/status.h \
 include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h common/sim/constraint.h common/sim/contact.h \
 common/sim/force.h common/sim/force_exact.h common/sim/joint.h \
 common/sim/collide/collide.h common/sim/integrator/rotation.h \
 common/sim/integrator/scheme.h common/sim/player.h common/sim/truth.h
common/sim/body.h:
common/sim/state.h:
common/sim/floating_point.h:
common/base/rng.h:
include/foliot/world.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/sim/constraint.h:
common/sim/contact.h:
common/sim/force.h:
common/sim/force_exact.h:
common/sim/joint.h:
common/sim/collide/collide.h:
common/sim/integrator/rotation.h:
common/sim/integrator/scheme.h:
common/sim/player.h:
common/sim/truth.h:
