build-fma/obj/common/scene/document.o: common/scene/document.c \
 common/scene/document.h common/scene/reading.h common/base/arena.h \
 include/foliot/scene_reader.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/status.h
common/scene/document.h:
common/scene/reading.h:
common/base/arena.h:
include/foliot/scene_reader.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/status.h:
