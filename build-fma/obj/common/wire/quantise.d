build-fma/obj/common/wire/quantise.o: common/wire/quantise.c \
 include/foliot/math.h include/foliot/snapshot.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/status.h \
 include/foliot/world.h include/foliot/digest.h include/foliot/input.h \
 common/base/bytes.h common/sim/hash.h
include/foliot/math.h:
include/foliot/snapshot.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/status.h:
include/foliot/world.h:
include/foliot/digest.h:
include/foliot/input.h:
common/base/bytes.h:
common/sim/hash.h:
