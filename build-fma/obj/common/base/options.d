build-fma/obj/common/base/options.o: common/base/options.c \
 common/base/options.h common/base/exit_code.h common/base/assert.h \
 common/base/text.h include/foliot/version.h
common/base/options.h:
common/base/exit_code.h:
common/base/assert.h:
common/base/text.h:
include/foliot/version.h:
