build-fma/obj/common/tape/input_script.o: common/tape/input_script.c \
 common/tape/input_script.h include/foliot/input.h \
 include/foliot/status.h common/base/text.h
common/tape/input_script.h:
include/foliot/input.h:
include/foliot/status.h:
common/base/text.h:
