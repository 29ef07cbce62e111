build-fma/obj/common/sim/floating_point.o: common/sim/floating_point.c \
 common/sim/floating_point.h
common/sim/floating_point.h:
