build-fma/obj/common/sim/soft_float_arm.o: common/sim/soft_float_arm.c \
 common/sim/floating_point.h
common/sim/floating_point.h:
