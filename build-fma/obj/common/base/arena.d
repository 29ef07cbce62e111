build-fma/obj/common/base/arena.o: common/base/arena.c \
 common/base/arena.h
common/base/arena.h:
