build-fma/obj/common/tape/divergence_file.o: \
 common/tape/divergence_file.c include/foliot/lockstep.h \
 include/foliot/divergence.h include/foliot/simulation.h \
 include/foliot/digest.h include/foliot/status.h include/foliot/input.h \
 include/foliot/world.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/recording.h
include/foliot/lockstep.h:
include/foliot/divergence.h:
include/foliot/simulation.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/recording.h:
