build-fma/obj/common/scene/constraint_keys.o: \
 common/scene/constraint_keys.c common/scene/key_tables.h \
 common/scene/assembly.h common/scene/schema.h common/scene/document.h \
 common/scene/reading.h common/base/arena.h include/foliot/scene_reader.h \
 include/foliot/scene.h include/foliot/integrator.h \
 include/foliot/status.h common/sim/scene.h
common/scene/key_tables.h:
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
