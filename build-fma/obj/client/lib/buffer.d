build-fma/obj/client/lib/buffer.o: client/lib/buffer.c \
 client/lib/buffer.h include/foliot/client.h include/foliot/input.h \
 include/foliot/lockstep.h include/foliot/divergence.h \
 include/foliot/simulation.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/world.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/transport.h \
 include/foliot/snapshot.h
client/lib/buffer.h:
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
include/foliot/snapshot.h:
