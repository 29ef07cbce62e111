build-fma/obj/common/sim/collide/solver_avx2.o: \
 common/sim/collide/solver_avx2.c common/sim/collide/solver_lanes.h \
 common/sim/collide/solver_kernel.h common/sim/collide/collide.h \
 common/sim/contact.h common/sim/state.h common/sim/floating_point.h \
 common/base/rng.h include/foliot/world.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h
common/sim/collide/solver_lanes.h:
common/sim/collide/solver_kernel.h:
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
