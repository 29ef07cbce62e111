build-fma/obj/common/sim/integrator/lattice.o: \
 common/sim/integrator/lattice.c common/sim/integrator/lattice.h \
 common/sim/state.h common/sim/floating_point.h common/base/rng.h \
 include/foliot/world.h include/foliot/digest.h include/foliot/status.h \
 include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h common/base/assert.h \
 common/sim/integrator/scheme.h common/sim/force.h \
 common/sim/force_exact.h
common/sim/integrator/lattice.h:
common/sim/state.h:
common/sim/floating_point.h:
common/base/rng.h:
include/foliot/world.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/base/assert.h:
common/sim/integrator/scheme.h:
common/sim/force.h:
common/sim/force_exact.h:
