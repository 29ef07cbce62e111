build-fma/obj/common/tape/ring.o: common/tape/ring.c common/tape/ring.h
common/tape/ring.h:
