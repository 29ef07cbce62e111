build-fma/obj/common/tape/harness_inputs.o: common/tape/harness_inputs.c \
 common/tape/harness_inputs.h include/foliot/input.h common/base/rng.h
common/tape/harness_inputs.h:
include/foliot/input.h:
common/base/rng.h:
