build-fma/obj/client/bot.o: client/bot.c client/bot.h common/base/rng.h \
 include/foliot/input.h common/tape/input_script.h \
 include/foliot/status.h
client/bot.h:
common/base/rng.h:
include/foliot/input.h:
common/tape/input_script.h:
include/foliot/status.h:
