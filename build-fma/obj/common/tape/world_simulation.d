build-fma/obj/common/tape/world_simulation.o: \
 common/tape/world_simulation.c include/foliot/simulation.h \
 include/foliot/digest.h include/foliot/status.h include/foliot/input.h \
 include/foliot/world.h include/foliot/scene.h \
 include/foliot/integrator.h common/sim/truth.h common/sim/state.h \
 common/sim/floating_point.h common/base/rng.h
include/foliot/simulation.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/sim/truth.h:
common/sim/state.h:
common/sim/floating_point.h:
common/base/rng.h:
