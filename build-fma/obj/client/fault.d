build-fma/obj/client/fault.o: client/fault.c client/fault.h \
 include/foliot/client.h include/foliot/input.h include/foliot/lockstep.h \
 include/foliot/divergence.h include/foliot/simulation.h \
 include/foliot/digest.h include/foliot/status.h include/foliot/world.h \
 include/foliot/scene.h include/foliot/integrator.h \
 include/foliot/transport.h common/tape/perturb.h include/foliot/replay.h
client/fault.h:
include/foliot/client.h:
include/foliot/input.h:
include/foliot/lockstep.h:
include/foliot/divergence.h:
include/foliot/simulation.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/transport.h:
common/tape/perturb.h:
include/foliot/replay.h:
