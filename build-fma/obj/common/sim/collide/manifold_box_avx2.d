build-fma/obj/common/sim/collide/manifold_box_avx2.o: \
 common/sim/collide/manifold_box_avx2.c \
 common/sim/collide/manifold_box_lanes.h \
 common/sim/collide/manifold_box.h common/sim/collide/manifold.h \
 common/sim/state.h common/sim/floating_point.h common/base/rng.h \
 include/foliot/world.h include/foliot/digest.h include/foliot/status.h \
 include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h
common/sim/collide/manifold_box_lanes.h:
common/sim/collide/manifold_box.h:
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
