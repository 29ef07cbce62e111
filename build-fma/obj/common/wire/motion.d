build-fma/obj/common/wire/motion.o: common/wire/motion.c \
 common/wire/motion.h include/foliot/snapshot.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/status.h \
 include/foliot/world.h include/foliot/digest.h include/foliot/input.h
common/wire/motion.h:
include/foliot/snapshot.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/status.h:
include/foliot/world.h:
include/foliot/digest.h:
include/foliot/input.h:
