build-fma/obj/common/sim/integrator/rotation.o: \
 common/sim/integrator/rotation.c common/sim/integrator/rotation.h \
 common/sim/state.h common/sim/floating_point.h common/base/rng.h \
 include/foliot/world.h include/foliot/digest.h include/foliot/status.h \
 include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h common/base/assert.h \
 common/sim/integrator/composition.h
common/sim/integrator/rotation.h:
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
common/sim/integrator/composition.h:
