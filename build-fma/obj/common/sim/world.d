build-fma/obj/common/sim/world.o: common/sim/world.c common/base/assert.h \
 common/sim/body.h common/sim/state.h common/sim/floating_point.h \
 common/base/rng.h include/foliot/world.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h common/sim/constraint.h common/sim/contact.h \
 common/sim/force.h common/sim/force_exact.h common/sim/joint.h \
 common/sim/collide/collide.h common/sim/layout.h common/sim/scene.h \
 common/sim/truth.h
common/base/assert.h:
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
common/sim/layout.h:
common/sim/scene.h:
common/sim/truth.h:
