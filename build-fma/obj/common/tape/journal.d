build-fma/obj/common/tape/journal.o: common/tape/journal.c \
 common/tape/journal.h include/foliot/recording.h include/foliot/input.h \
 include/foliot/scene.h include/foliot/integrator.h \
 include/foliot/status.h include/foliot/world.h include/foliot/digest.h
common/tape/journal.h:
include/foliot/recording.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/status.h:
include/foliot/world.h:
include/foliot/digest.h:
