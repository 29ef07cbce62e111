build-fma/obj/common/tape/harness.o: common/tape/harness.c \
 include/foliot/harness.h include/foliot/divergence.h \
 include/foliot/simulation.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/input.h include/foliot/world.h \
 include/foliot/scene.h include/foliot/integrator.h common/base/rng.h \
 common/tape/harness_inputs.h common/tape/input_log.h
include/foliot/harness.h:
include/foliot/divergence.h:
include/foliot/simulation.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/base/rng.h:
common/tape/harness_inputs.h:
common/tape/input_log.h:
