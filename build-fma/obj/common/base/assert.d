build-fma/obj/common/base/assert.o: common/base/assert.c \
 common/base/assert.h
common/base/assert.h:
