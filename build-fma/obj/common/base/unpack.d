build-fma/obj/common/base/unpack.o: common/base/unpack.c \
 common/base/unpack.h common/base/bytes.h include/foliot/status.h
common/base/unpack.h:
common/base/bytes.h:
include/foliot/status.h:
