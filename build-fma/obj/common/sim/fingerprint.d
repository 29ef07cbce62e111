build-fma/obj/common/sim/fingerprint.o: common/sim/fingerprint.c \
 common/sim/math_internal.h common/sim/floating_point.h \
 include/foliot/math.h common/base/bytes.h include/foliot/status.h \
 common/base/cpu.h common/base/rng.h include/foliot/digest.h \
 include/foliot/world.h include/foliot/input.h include/foliot/scene.h \
 include/foliot/integrator.h common/sim/fingerprint.h \
 common/sim/force_newton.h common/sim/state.h common/sim/hash.h \
 common/sim/probe.h common/sim/fingerprint_golden.h
common/sim/math_internal.h:
common/sim/floating_point.h:
include/foliot/math.h:
common/base/bytes.h:
include/foliot/status.h:
common/base/cpu.h:
common/base/rng.h:
include/foliot/digest.h:
include/foliot/world.h:
include/foliot/input.h:
include/foliot/scene.h:
include/foliot/integrator.h:
common/sim/fingerprint.h:
common/sim/force_newton.h:
common/sim/state.h:
common/sim/hash.h:
common/sim/probe.h:
common/sim/fingerprint_golden.h:
