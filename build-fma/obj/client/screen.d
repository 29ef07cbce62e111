build-fma/obj/client/screen.o: client/screen.c client/screen.h \
 include/foliot/client.h include/foliot/input.h include/foliot/lockstep.h \
 include/foliot/divergence.h include/foliot/simulation.h \
 include/foliot/digest.h include/foliot/status.h include/foliot/world.h \
 include/foliot/scene.h include/foliot/integrator.h \
 include/foliot/transport.h common/base/canvas.h common/base/terminal.h
client/screen.h:
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
common/base/canvas.h:
common/base/terminal.h:
