build-fma/obj/common/sim/scene_fit.o: common/sim/scene_fit.c \
 common/sim/floating_point.h common/sim/integrator/lattice.h \
 common/sim/state.h common/base/rng.h include/foliot/world.h \
 include/foliot/digest.h include/foliot/status.h include/foliot/input.h \
 include/foliot/scene.h include/foliot/integrator.h common/sim/scene.h
common/sim/floating_point.h:
common/sim/integrator/lattice.h:
common/sim/state.h:
common/base/rng.h:
include/foliot/world.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/sim/scene.h:
