build-fma/obj/common/base/bytes.o: common/base/bytes.c \
 common/base/bytes.h include/foliot/status.h
common/base/bytes.h:
include/foliot/status.h:
