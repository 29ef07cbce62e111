build-fma/obj/common/sim/scene.o: common/sim/scene.c \
 common/sim/floating_point.h common/sim/scene.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/status.h
common/sim/floating_point.h:
common/sim/scene.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/status.h:
