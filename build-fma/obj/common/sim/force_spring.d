build-fma/obj/common/sim/force_spring.o: common/sim/force_spring.c \
 common/base/cpu.h common/sim/force_workspace.h common/sim/force.h \
 common/sim/force_exact.h common/sim/state.h common/sim/floating_point.h \
 common/base/rng.h include/foliot/world.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h common/sim/force_newton.h \
 common/sim/force_spring_lanes.h
common/base/cpu.h:
common/sim/force_workspace.h:
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
common/sim/force_newton.h:
common/sim/force_spring_lanes.h:
