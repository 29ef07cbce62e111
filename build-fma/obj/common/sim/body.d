build-fma/obj/common/sim/body.o: common/sim/body.c common/sim/body.h \
 common/sim/state.h common/sim/floating_point.h common/base/rng.h \
 include/foliot/world.h include/foliot/digest.h include/foliot/status.h \
 include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h common/sim/contact.h common/sim/joint.h \
 common/sim/collide/collide.h common/sim/integrator/lattice.h
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
common/sim/contact.h:
common/sim/joint.h:
common/sim/collide/collide.h:
common/sim/integrator/lattice.h:
