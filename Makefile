# SPDX-License-Identifier: MIT
# Makefile: builds and installs foliot. `make help` lists the targets. Everything that is built lies in $(BUILD).

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

BUILD ?= build
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
STRIP ?= 0
DEPS ?= yes
WERROR ?= 0
CFLAGS ?= -O2 -g
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR := ar
endif
VERSION := $(shell awk '/define FOLIOT_VERSION "/ { gsub("\"", ""); print $$3 }' include/foliot/status.h)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))

# Packages that are missing are installed, once for each build folder. Those of the group `build` come before anything
# else: make reads the stamp, makes it where it is missing, and then begins again with a compiler. Targets that need
# another group wait for $(call deps_of,GROUP).
ifneq ($(DEPS),no)
deps_of = $(1:%=$(BUILD)/.deps/%)
endif
ifneq ($(filter-out help clean format format-check uninstall,$(or $(MAKECMDGOALS),all)),)
-include $(call deps_of,build)
endif
$(BUILD)/.deps/%: scripts/install-deps.sh
	@mkdir -p $(@D)
	@scripts/install-deps.sh $* $(if $(filter bench,$*),|| echo "bench: opponents and ratios are missing" >&2)
	@touch $@

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith \
            -Wwrite-strings -Wundef -Wformat=2 $(if $(filter 1,$(WERROR)),-Werror)
INCLUDES := -Iinclude -Icommon -Iserver -Itools -Itests/support -I/usr/include/lua5.4
# Last on every compile line: these decide bits, so no CFLAGS may replace them (docs/explanation/determinism.md).
# -fno-fast-math alone does not undo every part of it; the sources #error on what remains.
BIT_FLAGS := -std=gnu11 -ffp-contract=off -fno-math-errno -fno-tree-slp-vectorize
COMPILE = $(CC) $(INCLUDES) $(WARNINGS) -D_GNU_SOURCE -fPIC -pthread $(CFLAGS) $(BIT_FLAGS)
# Packages that the static library needs; foliot.pc and the CMake package name the same. Then what programs need besides.
LIB_DEPENDENCIES := -lyaml -lenet -lxxhash -lsodium -lzstd -llua5.4 -lm -latomic
LIBS := -luv -lncursesw -lwebsockets -lusrsctp -lssl -lcrypto -lqrencode -lseccomp -lutf8proc -lcurl \
    $(LIB_DEPENDENCIES)
# Libraries of this tree come before those of the system; of these a program takes what it calls.
LINK = $(CC) $(CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(filter %.so,$^) -Wl,--as-needed $(LIBS) -pthread

# The libraries; what programs are made of besides their main.c, as one archive for all of them and for tests.
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard $(1))))
LIB_SOURCES := $(sort $(wildcard $(addsuffix /*.c,common/* common/*/* server/lib client/lib/*)))
MAINS := server/program/main client/program/main tools/lab/main tools/replay/main tools/ctl/main
PROGRAMS := $(patsubst %,$(BUILD)/%,foliot-server foliot-client foliot-lab foliot-replay foliotctl)
PARTS := $(filter-out $(MAINS:%=$(BUILD)/obj/%.o) $(BUILD)/obj/server/lib/%, \
    $(call objects,$(addsuffix /*.c,server/* server/program/* client/program tools/* games/*)))
# Games whose rules are in C are modules for foliot-server.
GAMES := $(sort $(patsubst %/,$(BUILD)/%.so,$(dir $(wildcard games/*/*.c))))
EXAMPLES := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c)) $(patsubst %.c,$(BUILD)/%.so,$(wildcard examples/*/*.c))
# Objects that no other rule names are kept, too. (No file else may be secondary: make takes one that does not exist yet
# for older than what is made of it.)
.SECONDARY: $(call objects,examples/*.c examples/*/*.c)

.PHONY: all lib programs games examples demo help install install-strip uninstall clean deps pages site deb
all: lib programs games
lib: $(BUILD)/libfoliot.a $(BUILD)/libfoliot.so
programs: $(PROGRAMS)
games: $(GAMES)
examples: $(EXAMPLES)
deps: $(call deps_of,build)

# Objects are rebuilt when the compiler or its flags change.
FLAGS := $(COMPILE) | $(shell $(CC) --version 2>/dev/null | head -n 1)
.PHONY: FORCE
ifneq ($(file <$(BUILD)/.flags),$(FLAGS))
$(BUILD)/.flags: FORCE
endif
$(BUILD)/.flags:
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' > $@
$(BUILD)/obj/%.o: %.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(COMPILE) $(EXTRA) -MMD -MP -c $< -o $@
# A file NAME_simd.c holds kernels, and is compiled once for each instruction set: NAME_simd_avx2.o.
ISAS := base $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine 2>/dev/null)),avx2 avx512)
ISA_FLAGS_avx2 := -mavx2
ISA_FLAGS_avx512 := -mavx512f -mavx512dq -mavx512vl -mavx512bw -mprefer-vector-width=512
define ISA_RULE
$(BUILD)/obj/%_simd_$(1).o: %_simd.c $(BUILD)/.flags
	@mkdir -p $$(@D)
	$$(COMPILE) $(ISA_FLAGS_$(1)) -DFOLIOT__ISA=$(1) -MMD -MP -c $$< -o $$@
endef
$(foreach isa,$(ISAS),$(eval $(call ISA_RULE,$(isa))))
$(BUILD)/obj/web_files.o: $(BUILD)/web_files.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(COMPILE) -c $< -o $@

LIB_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out %_simd.c,$(LIB_SOURCES)) \
    $(foreach isa,$(ISAS),$(patsubst %_simd.c,%_simd_$(isa).c,$(filter %_simd.c,$(LIB_SOURCES)))))
$(BUILD)/libfoliot.a: $(LIB_OBJECTS)
$(BUILD)/parts.a: $(PARTS)
$(BUILD)/%.a:
	@rm -f $@
	$(AR) qcs $@ $^
$(BUILD)/libfoliot.so: LIBS = $(LIB_DEPENDENCIES)
$(BUILD)/libfoliot.so: $(LIB_OBJECTS) common/libfoliot.map
	$(LINK) -shared -Wl,-soname,libfoliot.so.$(SOVERSION) -Wl,--version-script=common/libfoliot.map
	@ln -sf libfoliot.so $(BUILD)/libfoliot.so.$(SOVERSION)
# A module finds the library next to the folder that it lies in.
.SECONDEXPANSION:
$(BUILD)/obj/games/%.o: EXTRA = -fvisibility=hidden
$(BUILD)/games/%.so: $$(call objects,games/$$*/*.c) $(BUILD)/libfoliot.so
	@mkdir -p $(@D)
	$(LINK) -shared -Wl,-z,defs -Wl,-rpath,'$$ORIGIN/..'

$(BUILD)/foliot-server: $(BUILD)/obj/server/program/main.o $(BUILD)/obj/web_files.o
$(BUILD)/foliot-client: $(BUILD)/obj/client/program/main.o
$(BUILD)/foliot-lab: $(BUILD)/obj/tools/lab/main.o
$(BUILD)/foliot-replay: $(BUILD)/obj/tools/replay/main.o
$(BUILD)/foliotctl: $(BUILD)/obj/tools/ctl/main.o
$(PROGRAMS): $(BUILD)/parts.a $(BUILD)/libfoliot.a
	$(LINK)
$(BUILD)/examples/%: $(BUILD)/obj/examples/%.o $(BUILD)/libfoliot.a
	@mkdir -p $(@D)
	$(LINK)
# These modules call nothing of the library.
$(BUILD)/examples/modules/%.so: $(BUILD)/obj/examples/modules/%.o
	@mkdir -p $(@D)
	$(LINK) -shared

include web.mk
include Makefile.tests
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

help:
	@sed -n 's/^#: //p' Makefile Makefile.tests web.mk

#: make deps            installs the packages that a build needs; `make` calls it
#: make                 the library and all programs, in build/
#: make demo            hosts a game, joins it with bots, records it and verifies the recording and its rules
#: make install         PREFIX=/usr/local LIBDIR=PREFIX/lib DESTDIR= ; programs, library, headers, pkg-config and CMake
#:                      files, man pages, completion (bash, zsh), documents, examples, games; STRIP=1: without symbols
#: make uninstall       the same PREFIX, LIBDIR and DESTDIR; removes what was installed
#: make lib             the library alone; programs, games, tests, benches, examples, fuzzers: those alone
#: make clean           removes build/
#: CC=clang, CFLAGS=..., WERROR=1 and BUILD=folder are honoured everywhere; DEPS=no: no package is installed

demo:
	@echo "building foliot"
	@$(MAKE) -s -j$$(nproc) programs
	@scripts/demo.sh $(BUILD)

install-strip: STRIP = 1
install install-strip: all
install install-strip uninstall:
	@BUILD='$(BUILD)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' DESTDIR='$(DESTDIR)' STRIP='$(STRIP)' VERSION='$(VERSION)' \
	    LIBS='$(LIB_DEPENDENCIES)' scripts/install.sh $(@:-strip=)

#: make pages           writes docs/man/*.1 and docs/reference/options.md from .in files and the tables of options
pages: programs
	scripts/pages.sh $(BUILD) docs
#: make site            the documentation as a site with search and an API reference, in $(BUILD)/site/html
site: | $(call deps_of,site)
	scripts/site.py $(BUILD)/site
#: make deb             Debian packages in $(BUILD)/deb, checked by lintian
deb: | $(call deps_of,web) $(call deps_of,deb)
	scripts/deb.sh $(BUILD) $(VERSION)
clean:
	rm -rf $(BUILD)
