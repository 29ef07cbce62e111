build-fma/obj/common/base/text.o: common/base/text.c common/base/text.h
common/base/text.h:
