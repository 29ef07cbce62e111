build-fma/obj/common/sim/integrator/kinematic.o: \
 common/sim/integrator/kinematic.c common/sim/integrator/scheme.h \
 common/sim/force.h common/sim/force_exact.h common/sim/state.h \
 common/sim/floating_point.h common/base/rng.h include/foliot/world.h \
 include/foliot/digest.h include/foliot/status.h include/foliot/input.h \
 include/foliot/scene.h include/foliot/integrator.h include/foliot/math.h \
 common/sim/integrator/lanes.h common/sim/integrator/oscillator.h
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
include/foliot/math.h:
common/sim/integrator/lanes.h:
common/sim/integrator/oscillator.h:
