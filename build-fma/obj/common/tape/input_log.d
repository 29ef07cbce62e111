build-fma/obj/common/tape/input_log.o: common/tape/input_log.c \
 common/tape/input_log.h include/foliot/input.h include/foliot/status.h \
 common/base/assert.h
common/tape/input_log.h:
include/foliot/input.h:
include/foliot/status.h:
common/base/assert.h:
