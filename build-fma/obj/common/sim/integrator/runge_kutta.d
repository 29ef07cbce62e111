build-fma/obj/common/sim/integrator/runge_kutta.o: \
 common/sim/integrator/runge_kutta.c common/sim/integrator/scheme.h \
 common/sim/force.h common/sim/force_exact.h common/sim/state.h \
 common/sim/floating_point.h common/base/rng.h include/foliot/world.h \
 include/foliot/digest.h include/foliot/status.h include/foliot/input.h \
 include/foliot/scene.h include/foliot/integrator.h \
 common/sim/integrator/lanes.h common/sim/integrator/runge_kutta.h
common/sim/integrator/scheme.h:
common/sim/force.h:
common/sim/force_exact.h:
common/sim/state.h:
common/sim/floating_point.h:
common/base/rng.h:
include/foliot/world.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/sim/integrator/lanes.h:
common/sim/integrator/runge_kutta.h:
