build-fma/obj/common/base/version.o: common/base/version.c \
 include/foliot/version.h
include/foliot/version.h:
