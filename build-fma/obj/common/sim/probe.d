build-fma/obj/common/sim/probe.o: common/sim/probe.c common/sim/probe.h \
 include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/status.h common/base/assert.h \
 common/base/rng.h
common/sim/probe.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/status.h:
common/base/assert.h:
common/base/rng.h:
