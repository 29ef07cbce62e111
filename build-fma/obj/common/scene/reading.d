build-fma/obj/common/scene/reading.o: common/scene/reading.c \
 common/scene/reading.h common/base/arena.h include/foliot/scene_reader.h \
 include/foliot/scene.h include/foliot/integrator.h \
 include/foliot/status.h
common/scene/reading.h:
common/base/arena.h:
include/foliot/scene_reader.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/status.h:
