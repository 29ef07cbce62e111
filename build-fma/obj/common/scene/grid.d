build-fma/obj/common/scene/grid.o: common/scene/grid.c \
 common/scene/assembly.h common/scene/schema.h common/scene/document.h \
 common/scene/reading.h common/base/arena.h include/foliot/scene_reader.h \
 include/foliot/scene.h include/foliot/integrator.h \
 include/foliot/status.h common/sim/scene.h
common/scene/assembly.h:
common/scene/schema.h:
common/scene/document.h:
common/scene/reading.h:
common/base/arena.h:
include/foliot/scene_reader.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/status.h:
common/sim/scene.h:
