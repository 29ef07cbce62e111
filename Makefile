# SPDX-License-Identifier: MIT
# Makefile: builds and installs foliot. `make help` lists the targets. Everything that is built lies in $(BUILD).

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY: # keep all objects
MAKEFLAGS += --no-builtin-rules

# From the numeric macros where there are any, from the text otherwise.
VERSION := $(shell awk '/^.define FOLIOT_VERSION_(MAJOR|MINOR|PATCH) / { n[$$2] = $$3; found = 1 } \
    /^.define FOLIOT_VERSION "/ { text = $$3; gsub(/"/, "", text) } \
    END { m = "FOLIOT_VERSION_"; print found ? n[m "MAJOR"] "." n[m "MINOR"] "." n[m "PATCH"] : text }' \
    include/foliot/status.h)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))
BUILD ?= build
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
# STRIP=1 installs programs and libraries without symbols.
STRIP ?= 0
# DEPS=no: no package is installed, whatever is missing.
DEPS ?= yes
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
# Debian keeps Lua's headers in a folder of the version. (Not `:=`, as above.)
LUA_INCLUDES = $(or $(shell pkg-config --cflags lua5.4 2>/dev/null),-I/usr/include/lua5.4)
# Last on every compile line: these decide bits, so no CFLAGS may replace them (docs/explanation/determinism.md).
BIT_FLAGS := -std=gnu11 -ffp-contract=off -fno-math-errno -fno-tree-slp-vectorize
# -fno-fast-math alone does not undo every part of it; the sources #error on what remains.
COMPILE = $(CC) $(INCLUDES) $(WARNINGS) -D_GNU_SOURCE -fPIC -pthread $(CFLAGS) $(BIT_FLAGS) $(EXTRA)

# A file NAME_simd.c holds kernels, and is compiled once for each of these instruction sets: NAME_simd_avx2.o.
# On a fresh machine there is no compiler yet when this is read.
MACHINE := $(firstword $(subst -, ,$(or $(shell $(CC) -dumpmachine 2>/dev/null),$(shell uname -m))))
ISAS := base $(if $(filter x86_64,$(MACHINE)),avx2 avx512)
ISA_FLAGS_avx2 := -mavx2
ISA_FLAGS_avx512 := -mavx512f -mavx512dq -mavx512vl -mavx512bw -mprefer-vector-width=512

LIB_SOURCES := $(sort $(wildcard common/*/*.c common/*/*/*.c server/lib/*.c client/lib/*/*.c))
LIB_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out %_simd.c,$(LIB_SOURCES)) \
    $(foreach isa,$(ISAS),$(patsubst %_simd.c,%_simd_$(isa).c,$(filter %_simd.c,$(LIB_SOURCES)))))
# One is for who runs servers, and is called foliotctl.
PROGRAMS := $(patsubst tools/%/main.c,$(BUILD)/foliot-%,$(filter-out tools/ctl/%,$(wildcard tools/*/main.c))) \
            $(patsubst tools/ctl/main.c,$(BUILD)/foliotctl,$(wildcard tools/ctl/main.c)) \
            $(patsubst %/main.c,$(BUILD)/foliot-%,$(subst /program,,$(wildcard server/program/main.c client/program/main.c)))
TESTS := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/*/test_*.c)))
BENCHES := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard tests/bench/*.c)))
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(sort $(wildcard examples/*.c))) \
            $(patsubst examples/%.c,$(BUILD)/examples/%.so,$(sort $(wildcard examples/modules/*.c)))

# Games whose rules are in C: modules for foliot-server, games/NAME/*.c.
GAMES := $(patsubst %,$(BUILD)/games/%.so,$(sort $(notdir $(patsubst %/,%,$(dir $(wildcard games/*/*.c))))))

# Packages that the static library needs; foliot.pc and the CMake package name the same.
LIB_DEPENDENCIES := -lyaml -lenet -lxxhash -lsodium -lzstd -llua5.4 -lm -latomic
LIBS := -Wl,--as-needed $(LIB_DEPENDENCIES) -pthread
HTTP_LIBS := -lwebsockets
RTC_LIBS := -lusrsctp -lssl -lcrypto
QR_LIBS := -lqrencode
LIBS_foliot-server = -luv $(HTTP_LIBS) $(RTC_LIBS) $(QR_LIBS) -lseccomp -lutf8proc
LIBS_foliot-client := -luv -lncursesw
LIBS_foliot-replay :=
LIBS_test := -lcmocka -luv -lncursesw

.PHONY: all lib programs games demo help install install-strip uninstall clean deps examples tests benches fuzzers
all: lib programs games

lib: $(BUILD)/libfoliot.a $(BUILD)/libfoliot.so
programs: $(PROGRAMS)
tests: $(TESTS)
benches: $(BENCHES)
games: $(GAMES)
fuzzers: $(FUZZERS)
examples: $(EXAMPLES)

# Packages that are missing are installed, once for each build folder. A test waits for the group `test`,
# a bench for `bench`, and so on.
ifneq ($(DEPS),no)
deps_of = $(1:%=$(BUILD)/.deps/%)
endif
DEPS_STAMP := $(call deps_of,build)
$(BUILD)/.deps/%: scripts/install-deps.sh
	@mkdir -p $(@D)
	@scripts/install-deps.sh $*
	@touch $@
deps: $(DEPS_STAMP)

# Objects are rebuilt when the compiler or its flags change.
FLAGS_NOW = $(COMPILE) | $(shell $(CC) --version 2>/dev/null | head -n 1)
# It gets no EXTRA of whichever object asks for it first: else another goal compiles everything again.
$(BUILD)/.flags: EXTRA =
$(BUILD)/.flags: FORCE | $(DEPS_STAMP)
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || \
	    printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' > $@
.PHONY: FORCE # or `.SECONDARY` takes a file that hangs on it alone for up to date
FORCE:

$(BUILD)/obj/common/rules/%.o $(BUILD)/obj/tests/unit/test_doc_tables.o: EXTRA += $(LUA_INCLUDES)
$(BUILD)/obj/server/%.o: EXTRA += -Iserver
$(BUILD)/obj/%.o: %.c $(BUILD)/.flags | $(DEPS_STAMP)
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -c $< -o $@
define ISA_RULE
$(BUILD)/obj/%_simd_$(1).o: %_simd.c $(BUILD)/.flags | $(DEPS_STAMP)
	@mkdir -p $$(@D)
	$$(COMPILE) $(ISA_FLAGS_$(1)) -DFOLIOT__ISA=$(1) -MMD -MP -c $$< -o $$@
endef
$(foreach isa,$(ISAS),$(eval $(call ISA_RULE,$(isa))))

$(BUILD)/libfoliot.a: $(LIB_OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/libfoliot.so: $(LIB_OBJECTS) common/libfoliot.map
	$(CC) $(CFLAGS) -shared -Wl,-soname,libfoliot.so.$(SOVERSION) -Wl,--version-script=common/libfoliot.map \
	    -o $@ $(LIB_OBJECTS) $(LIBS)
	@ln -sf libfoliot.so $(BUILD)/libfoliot.so.$(SOVERSION)

# A module finds the library next to the folder that it lies in.
$(BUILD)/obj/games/%.o: EXTRA += -fvisibility=hidden
$(BUILD)/games/%.so: $(BUILD)/libfoliot.so
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -Wl,-z,defs -Wl,-rpath,'$$ORIGIN/..' -o $@ $(filter %.o,$^) -L$(BUILD) -lfoliot -lm
$(foreach g,$(GAMES:$(BUILD)/games/%.so=%),$(eval $(BUILD)/games/$(g).so: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard games/$(g)/*.c))))

define PROGRAM
$(BUILD)/foliot-$(1): $$(patsubst %.c,$(BUILD)/obj/%.o,$$(sort $$(wildcard $(2)/*.c))) $(BUILD)/libfoliot.a
	$$(CC) $$(CFLAGS) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) $$(LIBS_foliot-$(1)) $$(LIBS)
endef
$(foreach t,$(patsubst tools/%/main.c,%,$(filter-out tools/ctl/%,$(wildcard tools/*/main.c))),$(eval $(call PROGRAM,$(t),tools/$(t))))
$(BUILD)/foliotctl: $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard tools/ctl/*.c))) $(BUILD)/libfoliot.a
	$(CC) $(CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lcurl $(LIBS)
$(if $(wildcard server/program/main.c),$(eval $(call PROGRAM,server,server/program)))
$(if $(wildcard client/program/main.c),$(eval $(call PROGRAM,client,client/program)))

# The folders of foliot-server.
SERVER_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard server/program/*/*.c server/http/*.c server/admin/*.c server/web/*.c))
$(BUILD)/foliot-server: $(SERVER_OBJECTS) $(BUILD)/obj/server/web/web_files.o $(BUILD)/librtc.a
# Data channels of WebRTC: a separate archive, which knows nothing of the rest.
RTC_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard server/rtc/*.c))
$(BUILD)/librtc.a: $(RTC_OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^
# The page, where `make web` has built it.
$(BUILD)/web_files.c: scripts/embed_web.sh FORCE | $(if $(filter web test-web,$(MAKECMDGOALS)),web-files) $(DEPS_STAMP)
	@mkdir -p $(@D)
	@scripts/embed_web.sh $(BUILD)/web $@
$(BUILD)/obj/server/web/web_files.o: $(BUILD)/web_files.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(COMPILE) -Iserver -c $< -o $@
# Tests of its parts in one process.
WEB_OBJECTS := $(filter $(BUILD)/obj/server/http/% $(BUILD)/obj/server/web/%,$(SERVER_OBJECTS)) $(BUILD)/obj/server/web/web_files.o \
    $(BUILD)/librtc.a
$(BUILD)/tests/program/test_web $(BUILD)/tests/program/test_web_proof $(BUILD)/tests/program/test_connections $(BUILD)/bench/web: $(WEB_OBJECTS)
$(BUILD)/tests/program/test_web $(BUILD)/tests/program/test_web_proof $(BUILD)/tests/program/test_connections $(BUILD)/bench/web: LIBS_test += $(HTTP_LIBS) $(RTC_LIBS) $(QR_LIBS)
$(BUILD)/obj/tests/program/%.o $(BUILD)/obj/tests/program/%.o $(BUILD)/obj/tests/bench/web.o $(BUILD)/obj/tests/bench/channel.o $(BUILD)/obj/tests/unit/test_rewind.o: EXTRA += -Iserver
RTC_PEER := $(BUILD)/obj/tests/program/peer.o $(BUILD)/obj/tests/program/far_end.o
$(BUILD)/tests/program/test_channel $(BUILD)/tests/program/test_amplification $(BUILD)/bench/channel: $(WEB_OBJECTS) $(RTC_PEER)
$(BUILD)/tests/program/test_channel $(BUILD)/tests/program/test_amplification $(BUILD)/bench/channel: LIBS_test += $(HTTP_LIBS) $(RTC_LIBS) $(QR_LIBS)
# A fault that is found before the libraries that it is named like.
$(BUILD)/tests/program/libusrsctp_hang.so: tests/program/hang.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(CC) -shared -fPIC -O1 -o $@ $<
$(BUILD)/tests/program/test_takeover_channels: $(WEB_OBJECTS) $(RTC_PEER) | $(BUILD)/tests/program/libusrsctp_hang.so
$(BUILD)/tests/program/test_takeover_channels: LIBS_test += -L$(BUILD)/tests/program -lusrsctp_hang -Wl,-rpath,'$$ORIGIN' $(HTTP_LIBS) \
    $(RTC_LIBS) $(QR_LIBS)
$(BUILD)/tests/program/test_rtc_parsers $(BUILD)/tests/program/test_sctp: $(BUILD)/librtc.a
$(BUILD)/tests/program/test_rtc_parsers $(BUILD)/tests/program/test_sctp: LIBS_test += $(RTC_LIBS)
# Code that draws bodies, for the programs that do: no part of the library.
VIEW_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tools/view/*.c))
$(BUILD)/foliot-client $(BUILD)/foliot-replay $(BUILD)/tests/unit/test_view $(BUILD)/tests/unit/test_focus: $(VIEW_OBJECTS)
# Code that loads shared objects, for the programs alone.
MODULE_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tools/module/*.c))
$(BUILD)/foliot-server $(BUILD)/foliot-client $(BUILD)/foliot-replay $(BUILD)/foliot-lab: $(MODULE_OBJECTS)
$(BUILD)/tests/unit/test_board: $(BUILD)/obj/client/program/board.o
$(BUILD)/tests/program/test_bans: $(BUILD)/obj/server/admin/bans.o
$(BUILD)/tests/unit/test_step_workers: $(BUILD)/obj/server/program/step_workers.o
$(BUILD)/tests/unit/test_rewind: $(BUILD)/obj/server/program/report/report.o
$(BUILD)/tests/unit/test_closing: $(BUILD)/obj/server/program/session/closing.o
$(BUILD)/tests/program/test_forged: $(BUILD)/obj/tools/replay/rules.o $(BUILD)/obj/tools/replay/differences.o
$(BUILD)/tests/web/test_details: $(BUILD)/obj/web/details.o $(BUILD)/obj/web/lines.o
$(BUILD)/tests/web/test_socket: $(BUILD)/obj/web/socket.o
$(BUILD)/tests/web/test_watches: $(BUILD)/obj/web/watches.o
$(BUILD)/tests/unit/test_siege: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard games/siege/*.c))

# tests/support/*.c is linked into every test and bench. Some of it includes cmocka.h, so everything in
# tests/ waits for the packages of `test`.
TEST_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/*/*.c))
SUPPORT := $(filter $(BUILD)/obj/tests/support/%,$(TEST_OBJECTS))
$(TEST_OBJECTS): | $(call deps_of,test)
$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(SUPPORT) $(BUILD)/libfoliot.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS_test) $(LIBS)

# Modules that call nothing of the library.
$(BUILD)/examples/modules/%.so: $(BUILD)/obj/examples/modules/%.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -o $@ $<

$(BUILD)/examples/%: $(BUILD)/obj/examples/%.o $(BUILD)/libfoliot.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS)

include Makefile.tests
include web.mk

help:
	@sed -n 's/^#: //p' Makefile Makefile.tests web.mk

#: make                 the library and all programs, in build/
#: make demo            hosts a game, joins it with bots, records it and verifies the recording and its rules
#: make install         PREFIX=/usr/local LIBDIR=PREFIX/lib DESTDIR= ; programs, library, headers, pkg-config, CMake package,
#:                      man pages, completion (bash, zsh), documents, examples, games; STRIP=1 or install-strip: without symbols
#: make uninstall       the same PREFIX, LIBDIR and DESTDIR; removes what was installed
#: make lib             the library alone; programs, games, tests, benches, examples, fuzzers: those alone
#: make deps            installs the packages that a build needs; every target installs those that it needs
#: make clean           removes build/
#: CC=clang, CFLAGS=..., WERROR=1 and BUILD=folder are honoured everywhere; DEPS=no: no package is installed

demo:
	@echo "building foliot"
	@$(MAKE) -s -j$$(nproc) programs
	@scripts/demo.sh $(BUILD)

# Completion, manual pages and options.md are made from the tables of options.
BASH_COMPLETIONS := $(PROGRAMS:$(BUILD)/%=$(BUILD)/completions/%)
ZSH_COMPLETIONS := $(PROGRAMS:$(BUILD)/%=$(BUILD)/completions/_%)
$(BUILD)/completions/_%: $(BUILD)/%
	@mkdir -p $(@D)
	$< --help-page zsh > $@
$(BUILD)/completions/%: $(BUILD)/%
	@mkdir -p $(@D)
	$< --help-page bash > $@
#: make pages           writes docs/man/*.1 and docs/reference/options.md from their templates (.in) and the tables of options
.PHONY: pages
pages: programs
	scripts/pages.sh $(BUILD) docs
#: make site            the documentation as a site with search and a page for each public header, in $(BUILD)/site/html
.PHONY: site
site: | $(call deps_of,site)
	scripts/site.py $(BUILD)/site

bin_dir = $(DESTDIR)$(PREFIX)/bin
lib_dir = $(DESTDIR)$(LIBDIR)
share_dir = $(DESTDIR)$(PREFIX)/share
doc_dir = $(share_dir)/doc/foliot
bash_dir = $(share_dir)/bash-completion/completions
zsh_dir = $(share_dir)/zsh/site-functions
# A path below PREFIX is written relative to it, so that the tree may be moved.
# The loader finds the library in the folders of the system by itself, and elsewhere by this.
RPATH_PC = $(if $(filter /lib /lib/% /usr/lib /usr/lib/%,$(LIBDIR)),,-Wl,-rpath,$(LIBDIR_PC))
LIBDIR_PC = $(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))
FILL = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR_PC)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@RPATH@|$(RPATH_PC)|' \
    -e 's|@SOVERSION@|$(SOVERSION)|' -e 's|@LIBS@|$(LIB_DEPENDENCIES)|' \
    -e "s|@TO_PREFIX@|$$(realpath -ms --relative-to='$(LIBDIR)/cmake/foliot' '$(PREFIX)')|" \
    -e "s|@TO_LIBDIR@|$$(realpath -ms --relative-to='$(LIBDIR)/cmake/foliot' '$(LIBDIR)')|"

install: all $(BASH_COMPLETIONS) $(ZSH_COMPLETIONS)
	install -d $(bin_dir) $(lib_dir)/pkgconfig $(lib_dir)/cmake/foliot $(DESTDIR)$(PREFIX)/include/foliot \
	    $(share_dir)/foliot/scenes $(share_dir)/man/man1 $(doc_dir)/examples $(bash_dir) $(zsh_dir)
	install -m 755 $(PROGRAMS) $(bin_dir)
	install -m 644 $(BUILD)/libfoliot.a $(lib_dir)
	install -m 755 $(BUILD)/libfoliot.so $(lib_dir)/libfoliot.so.$(VERSION)
	$(if $(filter 1,$(STRIP)),strip $(addprefix $(bin_dir)/,$(notdir $(PROGRAMS))))
	$(if $(filter 1,$(STRIP)),strip --strip-unneeded $(lib_dir)/libfoliot.so.$(VERSION))
	$(if $(filter 1,$(STRIP)),strip --strip-debug $(lib_dir)/libfoliot.a)
	ln -sf libfoliot.so.$(VERSION) $(lib_dir)/libfoliot.so.$(SOVERSION)
	ln -sf libfoliot.so.$(SOVERSION) $(lib_dir)/libfoliot.so
	install -m 644 include/foliot/*.h $(DESTDIR)$(PREFIX)/include/foliot
	install -m 644 scenes/* $(share_dir)/foliot/scenes
	find games -type f -exec install -D -m 644 '{}' '$(share_dir)/foliot/{}' ';'
	find deploy -type f -perm /111 -exec install -D -m 755 '{}' '$(share_dir)/foliot/{}' ';'
	find deploy -type f -not -perm /111 -exec install -D -m 644 '{}' '$(share_dir)/foliot/{}' ';'
	install -d $(lib_dir)/foliot
	install -m 755 $(GAMES) $(lib_dir)/foliot
	install -m 644 $(wildcard docs/man/*.1) $(share_dir)/man/man1
	install -m 644 $(BASH_COMPLETIONS) $(bash_dir)
	install -m 644 $(ZSH_COMPLETIONS) $(zsh_dir)
	install -m 644 $(wildcard *.md) LICENSE $(doc_dir)
	find docs -type f -not -path 'docs/man/*' -not -name '*.in' -exec install -D -m 644 '{}' '$(doc_dir)/{}' ';'
	find examples -type f -exec install -D -m 644 '{}' '$(doc_dir)/{}' ';'
	$(FILL) foliot.pc.in > $(lib_dir)/pkgconfig/foliot.pc
	$(FILL) foliot-static.pc.in > $(lib_dir)/pkgconfig/foliot-static.pc
	$(FILL) cmake/foliotConfig.cmake.in > $(lib_dir)/cmake/foliot/foliotConfig.cmake
	$(FILL) cmake/foliotConfigVersion.cmake.in > $(lib_dir)/cmake/foliot/foliotConfigVersion.cmake
	$(if $(DESTDIR),,-[ "$$(id -u)" != 0 ] || PATH="$$PATH:/sbin:/usr/sbin" ldconfig)

install-strip:
	$(MAKE) install STRIP=1

uninstall:
	rm -f $(addprefix $(bin_dir)/,$(notdir $(PROGRAMS)))
	rm -f $(lib_dir)/libfoliot.a $(lib_dir)/libfoliot.so* $(lib_dir)/pkgconfig/foliot.pc $(lib_dir)/pkgconfig/foliot-static.pc
	rm -rf $(lib_dir)/foliot $(lib_dir)/cmake/foliot $(DESTDIR)$(PREFIX)/include/foliot $(share_dir)/foliot $(doc_dir)
	rm -f $(addprefix $(share_dir)/man/man1/,$(notdir $(wildcard docs/man/*.1)))
	rm -f $(addprefix $(bash_dir)/,$(notdir $(BASH_COMPLETIONS))) $(addprefix $(zsh_dir)/,$(notdir $(ZSH_COMPLETIONS)))

#: make deb             Debian packages in $(BUILD)/deb: libfoliot0, libfoliot-dev, foliot-server, foliot-tools; checked by lintian
.PHONY: deb
deb: | $(call deps_of,build) $(call deps_of,web) $(call deps_of,deb)
	scripts/deb.sh $(BUILD) $(VERSION)

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
