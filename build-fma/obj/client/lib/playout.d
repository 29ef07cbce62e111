build-fma/obj/client/lib/playout.o: client/lib/playout.c \
 client/lib/playout.h
client/lib/playout.h:
