build-fma/obj/common/sim/joint/joint_ease.o: \
 common/sim/joint/joint_ease.c common/sim/joint/joint_internal.h \
 common/sim/joint.h common/sim/collide/collide.h common/sim/contact.h \
 common/sim/state.h common/sim/floating_point.h common/base/rng.h \
 include/foliot/world.h include/foliot/digest.h include/foliot/status.h \
 include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h
common/sim/joint/joint_internal.h:
common/sim/joint.h:
common/sim/collide/collide.h:
common/sim/contact.h:
common/sim/state.h:
common/sim/floating_point.h:
common/base/rng.h:
include/foliot/world.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
