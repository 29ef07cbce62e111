build-fma/obj/common/tape/source.o: common/tape/source.c \
 common/tape/source.h include/foliot/status.h
common/tape/source.h:
include/foliot/status.h:
