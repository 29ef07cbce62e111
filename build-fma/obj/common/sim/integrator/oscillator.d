build-fma/obj/common/sim/integrator/oscillator.o: \
 common/sim/integrator/oscillator.c common/sim/integrator/oscillator.h \
 include/foliot/math.h common/sim/floating_point.h
common/sim/integrator/oscillator.h:
include/foliot/math.h:
common/sim/floating_point.h:
