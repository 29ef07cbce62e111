build-fma/obj/common/base/json.o: common/base/json.c common/base/json.h \
 common/base/assert.h common/base/text.h
common/base/json.h:
common/base/assert.h:
common/base/text.h:
