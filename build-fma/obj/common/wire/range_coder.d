build-fma/obj/common/wire/range_coder.o: common/wire/range_coder.c \
 common/wire/range_coder.h
common/wire/range_coder.h:
