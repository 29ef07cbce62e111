build-fma/obj/common/scene/reader.o: common/scene/reader.c \
 include/foliot/scene_reader.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/status.h \
 common/scene/assembly.h common/scene/schema.h common/scene/document.h \
 common/scene/reading.h common/base/arena.h common/sim/scene.h
include/foliot/scene_reader.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/status.h:
common/scene/assembly.h:
common/scene/schema.h:
common/scene/document.h:
common/scene/reading.h:
common/base/arena.h:
common/sim/scene.h:
