# SPDX-License-Identifier: MIT
# foliot: `make help` lists the targets. Everything that is built lies under $(BUILD).

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY: # objects are kept, whatever rule they came by
MAKEFLAGS += --no-builtin-rules

VERSION := $(shell sed -n 's/^\#define FOLIOT_VERSION "\(.*\)"/\1/p' include/foliot/version.h)
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR := ar
endif
CFLAGS ?= -O2 -g
# WERROR=1 makes warnings errors (CI does).
WERROR ?= 0

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith \
            -Wwrite-strings -Wundef -Wformat=2 $(if $(filter 1,$(WERROR)),-Werror)
INCLUDES := -Iinclude -Icommon -Itools -Itests/support
# Last on every compile line: these decide bits, so no CFLAGS may replace them (docs/explanation/determinism.md).
BIT_FLAGS := -std=gnu11 -ffp-contract=off -fno-math-errno -fno-tree-slp-vectorize
# -fno-fast-math alone does not undo every part of it; the sources #error on what remains.
COMPILE = $(CC) $(INCLUDES) $(WARNINGS) -D_GNU_SOURCE -fPIC -pthread $(CFLAGS) $(BIT_FLAGS) $(EXTRA)

# A file NAME_avx2.c or NAME_avx512.c holds the same lanes for a wider x86; elsewhere it is empty.
# (Not `:=`: on a fresh machine there is no compiler yet when this is read.)
MACHINE = $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
ISA_avx2 = $(if $(filter x86_64,$(MACHINE)),-mavx2)
ISA_avx512 = $(if $(filter x86_64,$(MACHINE)),-mavx512f -mavx512dq -mavx512vl -mavx512bw -mprefer-vector-width=512)

LIB_SOURCES := $(sort $(wildcard common/*/*.c common/*/*/*.c server/lib/*.c client/lib/*.c))
LIB_OBJECTS := $(LIB_SOURCES:%.c=$(BUILD)/obj/%.o)
PROGRAMS := $(patsubst tools/%/main.c,$(BUILD)/foliot-%,$(wildcard tools/*/main.c)) \
            $(patsubst %/main.c,$(BUILD)/foliot-%,$(wildcard server/main.c client/main.c))
TESTS := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/unit/test_*.c tests/golden/test_*.c \
          tests/determinism/test_*.c tests/simulation/test_*.c tests/regression/test_*.c)))
BENCHES := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard tests/bench/*.c)))
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(sort $(wildcard examples/*.c)))

# What a program of ours links besides the library; found once, only where it is there.
LIBS := -Wl,--as-needed -lyaml -lenet -lxxhash -lsodium -lzstd -lm -latomic -pthread
LIBS_foliot-server := -luv
LIBS_foliot-client := -luv -lncursesw
LIBS_foliot-replay :=
LIBS_test := -lcmocka -luv -lncursesw

.PHONY: all lib programs test bench demo help install uninstall clean deps examples tests benches fuzzers
all: lib programs

lib: $(BUILD)/libfoliot.a $(BUILD)/libfoliot.so
programs: $(PROGRAMS)
tests: $(TESTS)
benches: $(BENCHES)
fuzzers: $(FUZZERS)
examples: $(EXAMPLES)

# -- what is installed when it is missing ---------------------------------------------------------
# GROUP.deps is done once a tree; each asks dpkg and installs only what is not there.
DEPS_STAMP := $(BUILD)/.deps/build
$(BUILD)/.deps/%: scripts/install-deps.sh
	@mkdir -p $(@D)
	@scripts/install-deps.sh $*
	@touch $@
deps: $(DEPS_STAMP)

# -- objects --------------------------------------------------------------------------------------
# Rebuilt when the compiler or its flags change.
FLAGS_NOW = $(COMPILE) | $(shell $(CC) --version 2>/dev/null | head -n 1)
$(BUILD)/.flags: FORCE | $(DEPS_STAMP)
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || \
	    printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' > $@
FORCE:

$(BUILD)/obj/%_avx2.o: ISA = $(ISA_avx2)
$(BUILD)/obj/%_avx512.o: ISA = $(ISA_avx512)
$(BUILD)/obj/%.o: %.c $(BUILD)/.flags | $(DEPS_STAMP)
	@mkdir -p $(@D)
	$(COMPILE) $(ISA) -MMD -MP -c $< -o $@

$(BUILD)/obj/%.o: %.cpp $(BUILD)/.flags | $(DEPS_STAMP)
	@mkdir -p $(@D)
	$(CXX_COMPILE) -MMD -MP -c $< -o $@

$(BUILD)/libfoliot.a: $(LIB_OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/libfoliot.so: $(LIB_OBJECTS) common/libfoliot.map
	$(CC) $(CFLAGS) -shared -Wl,-soname,libfoliot.so.0 -Wl,--version-script=common/libfoliot.map \
	    -o $@ $(LIB_OBJECTS) $(LIBS)
	@ln -sf libfoliot.so $(BUILD)/libfoliot.so.0

# -- programs -------------------------------------------------------------------------------------
define PROGRAM
$(BUILD)/foliot-$(1): $$(patsubst %.c,$(BUILD)/obj/%.o,$$(sort $$(wildcard $(2)/*.c))) $(BUILD)/libfoliot.a
	$$(CC) $$(CFLAGS) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) $$(LIBS_foliot-$(1)) $$(LIBS)
endef
$(foreach t,$(patsubst tools/%/main.c,%,$(wildcard tools/*/main.c)),$(eval $(call PROGRAM,$(t),tools/$(t))))
$(if $(wildcard server/main.c),$(eval $(call PROGRAM,server,server)))
$(if $(wildcard client/main.c),$(eval $(call PROGRAM,client,client)))

# What draws bodies, for the programs that do: no part of the library.
VIEW_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tools/view/*.c))
$(BUILD)/foliot-client $(BUILD)/foliot-replay $(BUILD)/tests/unit/test_view: $(VIEW_OBJECTS)

# -- tests, benches, fuzzers, examples --------------------------------------------------------------
# tests/support/*.c is linked into every test and bench.
SUPPORT := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/support/*.c))
$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(SUPPORT) $(BUILD)/libfoliot.a | $(BUILD)/.deps/test
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS_test) $(LIBS)
$(BUILD)/obj/tests/%.o: | $(BUILD)/.deps/test

$(BUILD)/examples/%: $(BUILD)/obj/examples/%.o $(BUILD)/libfoliot.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS)

include Makefile.tests

# -- for people -------------------------------------------------------------------------------------
help:
	@sed -n 's/^#: //p' Makefile Makefile.tests

#: make                 the library and all programs, under build/
#: make demo            installs what is missing, then hosts, joins, records and verifies
#: make test            installs what is missing, builds and runs every test
#: make bench           every benchmark, one table
#: make install         PREFIX=/usr/local DESTDIR= ; programs, library, headers, pkg-config, man pages
#: make uninstall       PREFIX= DESTDIR= ; removes what was installed
#: make lib             the library alone; programs, tests, benches, examples, fuzzers: those alone
#: make deps            installs what a build needs and is not there; the others call it
#: make clean           removes build/
#: CC=clang, CFLAGS=... and WERROR=1 are honoured everywhere

demo:
	@echo "building foliot"
	@$(MAKE) -s -j$$(nproc) programs
	@scripts/demo.sh $(BUILD)

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig \
	    $(DESTDIR)$(PREFIX)/include/foliot $(DESTDIR)$(PREFIX)/share/foliot/scenes \
	    $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(PROGRAMS) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(BUILD)/libfoliot.a $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(BUILD)/libfoliot.so $(DESTDIR)$(PREFIX)/lib/libfoliot.so.$(VERSION)
	ln -sf libfoliot.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libfoliot.so.0
	ln -sf libfoliot.so.0 $(DESTDIR)$(PREFIX)/lib/libfoliot.so
	install -m 644 include/foliot/*.h $(DESTDIR)$(PREFIX)/include/foliot
	install -m 644 scenes/* $(DESTDIR)$(PREFIX)/share/foliot/scenes
	install -m 644 $(wildcard docs/man/*.1) $(DESTDIR)$(PREFIX)/share/man/man1
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' foliot.pc.in \
	    > $(DESTDIR)$(PREFIX)/lib/pkgconfig/foliot.pc

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,$(notdir $(PROGRAMS)))
	rm -f $(DESTDIR)$(PREFIX)/lib/libfoliot.* $(DESTDIR)$(PREFIX)/lib/pkgconfig/foliot.pc
	rm -rf $(DESTDIR)$(PREFIX)/include/foliot $(DESTDIR)$(PREFIX)/share/foliot
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/man/man1/,$(notdir $(wildcard docs/man/*.1)))

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
