build-fma/obj/common/tape/truth_layers.o: common/tape/truth_layers.c \
 common/tape/truth_layers.h include/foliot/divergence.h \
 include/foliot/simulation.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/input.h include/foliot/world.h \
 include/foliot/scene.h include/foliot/integrator.h common/base/assert.h \
 common/base/rng.h
common/tape/truth_layers.h:
include/foliot/divergence.h:
include/foliot/simulation.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/base/assert.h:
common/base/rng.h:
