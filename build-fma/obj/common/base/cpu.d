build-fma/obj/common/base/cpu.o: common/base/cpu.c common/base/cpu.h
common/base/cpu.h:
