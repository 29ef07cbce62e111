build-fma/obj/common/base/crc32c.o: common/base/crc32c.c \
 common/base/crc32c.h
common/base/crc32c.h:
