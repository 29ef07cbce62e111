build-fma/obj/common/sim/math.o: common/sim/math.c \
 common/sim/math_internal.h common/sim/floating_point.h \
 include/foliot/math.h common/base/bytes.h include/foliot/status.h \
 common/sim/math_tables.h
common/sim/math_internal.h:
common/sim/floating_point.h:
include/foliot/math.h:
common/base/bytes.h:
include/foliot/status.h:
common/sim/math_tables.h:
