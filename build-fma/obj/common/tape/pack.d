build-fma/obj/common/tape/pack.o: common/tape/pack.c common/tape/pack.h
common/tape/pack.h:
