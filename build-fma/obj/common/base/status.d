build-fma/obj/common/base/status.o: common/base/status.c \
 include/foliot/status.h
include/foliot/status.h:
