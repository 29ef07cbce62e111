build-fma/obj/common/sim/truth_parts.o: common/sim/truth_parts.c \
 common/sim/truth.h common/sim/state.h common/sim/floating_point.h \
 common/base/rng.h include/foliot/world.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h common/base/assert.h common/base/bytes.h \
 common/sim/body.h
common/sim/truth.h:
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
common/base/bytes.h:
common/sim/body.h:
