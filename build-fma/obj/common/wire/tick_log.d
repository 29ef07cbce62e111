build-fma/obj/common/wire/tick_log.o: common/wire/tick_log.c \
 common/wire/tick_log.h include/foliot/input.h include/foliot/status.h
common/wire/tick_log.h:
include/foliot/input.h:
include/foliot/status.h:
