build-fma/obj/common/tape/simulation.o: common/tape/simulation.c \
 include/foliot/simulation.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/input.h include/foliot/world.h \
 include/foliot/scene.h include/foliot/integrator.h common/sim/hash.h
include/foliot/simulation.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/sim/hash.h:
