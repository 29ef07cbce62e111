build-fma/obj/common/sim/collide/broadphase.o: \
 common/sim/collide/broadphase.c common/sim/collide/collide.h \
 common/sim/contact.h common/sim/state.h common/sim/floating_point.h \
 common/base/rng.h include/foliot/world.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h
common/sim/collide/collide.h:
common/sim/contact.h:
common/sim/state.h:
common/sim/floating_point.h:
common/base/rng.h:
include/foliot/world.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
