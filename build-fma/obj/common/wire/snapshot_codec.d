build-fma/obj/common/wire/snapshot_codec.o: common/wire/snapshot_codec.c \
 common/base/bytes.h include/foliot/status.h include/foliot/snapshot.h \
 include/foliot/scene.h include/foliot/integrator.h \
 include/foliot/world.h include/foliot/digest.h include/foliot/input.h \
 common/wire/motion.h common/wire/range_coder.h \
 common/wire/snapshot_priors.h
common/base/bytes.h:
include/foliot/status.h:
include/foliot/snapshot.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/world.h:
include/foliot/digest.h:
include/foliot/input.h:
common/wire/motion.h:
common/wire/range_coder.h:
common/wire/snapshot_priors.h:
