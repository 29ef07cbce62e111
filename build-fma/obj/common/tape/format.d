build-fma/obj/common/tape/format.o: common/tape/format.c \
 common/tape/format.h include/foliot/digest.h include/foliot/status.h \
 common/base/bytes.h common/base/crc32c.h
common/tape/format.h:
include/foliot/digest.h:
include/foliot/status.h:
common/base/bytes.h:
common/base/crc32c.h:
