build-fma/obj/common/sim/force_newton_avx512.o: \
 common/sim/force_newton_avx512.c common/sim/force_newton_lanes.h \
 common/sim/force_newton.h common/sim/state.h common/sim/floating_point.h \
 common/base/rng.h include/foliot/world.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h
common/sim/force_newton_lanes.h:
common/sim/force_newton.h:
common/sim/state.h:
common/sim/floating_point.h:
common/base/rng.h:
include/foliot/world.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
