build-fma/obj/common/tape/search.o: common/tape/search.c \
 common/tape/truth_layers.h include/foliot/divergence.h \
 include/foliot/simulation.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/input.h include/foliot/world.h \
 include/foliot/scene.h include/foliot/integrator.h common/base/bytes.h
common/tape/truth_layers.h:
include/foliot/divergence.h:
include/foliot/simulation.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/base/bytes.h:
