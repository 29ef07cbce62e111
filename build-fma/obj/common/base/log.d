build-fma/obj/common/base/log.o: common/base/log.c common/base/log.h \
 common/base/json.h common/base/assert.h common/base/text.h
common/base/log.h:
common/base/json.h:
common/base/assert.h:
common/base/text.h:
