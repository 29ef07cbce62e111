build-fma/obj/common/wire/lockstep_block.o: common/wire/lockstep_block.c \
 common/wire/lockstep_block.h include/foliot/input.h \
 include/foliot/status.h common/wire/range_coder.h \
 common/wire/lockstep_priors.h
common/wire/lockstep_block.h:
include/foliot/input.h:
include/foliot/status.h:
common/wire/range_coder.h:
common/wire/lockstep_priors.h:
