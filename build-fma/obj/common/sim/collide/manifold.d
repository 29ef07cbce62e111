build-fma/obj/common/sim/collide/manifold.o: \
 common/sim/collide/manifold.c common/sim/collide/manifold.h \
 common/sim/state.h common/sim/floating_point.h common/base/rng.h \
 include/foliot/world.h include/foliot/digest.h include/foliot/status.h \
 include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h common/sim/collide/shape.h \
 common/sim/collide/collide.h common/sim/contact.h
common/sim/collide/manifold.h:
common/sim/state.h:
common/sim/floating_point.h:
common/base/rng.h:
include/foliot/world.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/sim/collide/shape.h:
common/sim/collide/collide.h:
common/sim/contact.h:
