build-fma/obj/common/net/gate.o: common/net/gate.c common/net/gate.h
common/net/gate.h:
