build-fma/obj/common/base/terminal.o: common/base/terminal.c \
 common/base/terminal.h
common/base/terminal.h:
