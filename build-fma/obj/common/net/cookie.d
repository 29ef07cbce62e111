build-fma/obj/common/net/cookie.o: common/net/cookie.c \
 common/net/cookie.h
common/net/cookie.h:
