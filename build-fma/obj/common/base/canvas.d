build-fma/obj/common/base/canvas.o: common/base/canvas.c \
 common/base/canvas.h include/foliot/world.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h common/base/text.h
common/base/canvas.h:
include/foliot/world.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/base/text.h:
