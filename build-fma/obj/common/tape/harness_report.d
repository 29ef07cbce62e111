build-fma/obj/common/tape/harness_report.o: common/tape/harness_report.c \
 include/foliot/harness.h include/foliot/divergence.h \
 include/foliot/simulation.h include/foliot/digest.h \
 include/foliot/status.h include/foliot/input.h include/foliot/world.h \
 include/foliot/scene.h include/foliot/integrator.h \
 common/tape/divergence.h common/base/json.h
include/foliot/harness.h:
include/foliot/divergence.h:
include/foliot/simulation.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/tape/divergence.h:
common/base/json.h:
