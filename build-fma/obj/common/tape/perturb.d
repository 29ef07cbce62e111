build-fma/obj/common/tape/perturb.o: common/tape/perturb.c \
 common/tape/perturb.h include/foliot/replay.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/divergence.h \
 include/foliot/simulation.h include/foliot/input.h \
 include/foliot/world.h include/foliot/scene.h \
 include/foliot/integrator.h
common/tape/perturb.h:
include/foliot/replay.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/divergence.h:
include/foliot/simulation.h:
include/foliot/input.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
