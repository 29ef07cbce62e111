build-fma/obj/common/wire/lockstep_message.o: \
 common/wire/lockstep_message.c common/wire/lockstep_message.h \
 include/foliot/digest.h include/foliot/status.h \
 include/foliot/transport.h common/wire/lockstep_block.h \
 include/foliot/input.h common/wire/tick_log.h common/base/bytes.h \
 common/base/rng.h
common/wire/lockstep_message.h:
include/foliot/digest.h:
include/foliot/status.h:
include/foliot/transport.h:
common/wire/lockstep_block.h:
include/foliot/input.h:
common/wire/tick_log.h:
common/base/bytes.h:
common/base/rng.h:
