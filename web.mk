# SPDX-License-Identifier: MIT
# web.mk: the browser's page. `make web` compiles the client and the replay to WebAssembly and puts all that a web
# server serves into $(BUILD)/web.

WEB := $(BUILD)/web
WEB_OBJ := $(BUILD)/obj-web
WEB_TABLES := $(WEB_OBJ)/tables/partial_tables.h
WEB_CC ?= clang-19
WEB_COMPILE = $(WEB_CC) --target=wasm32-wasi -msimd128 $(WARNINGS) -Iinclude -Icommon -Iweb -Iclient/lib \
    -I$(WEB_OBJ)/include -D_GNU_SOURCE -DFOLIOT_NO_ZSTD -DFOLIOT_NO_LUA $(BIT_FLAGS)
WEB_LINK = $(WEB_CC) --target=wasm32-wasi -mexec-model=reactor -Wl,--strip-all,-z,stack-size=1048576
WEB_BASE := $(wildcard common/command/*.c common/sim/math/*.c common/sim/scene/*.c) \
    $(patsubst %,common/base/%.c,assert buffer bytes cpu crc32c file json pack status text unpack version)
# The linker takes what a module calls, and no more. The viewer is small, since everybody waits for it, and compiled as
# a whole; the replayer is fast.
VIEWER_SOURCES := $(patsubst %,web/%.c,viewer watches answer instances socket libc) $(WEB_BASE) common/net/transport.c \
    $(wildcard client/lib/shared/*.c client/lib/watch/*.c common/wire/*.c)
REPLAYER_SOURCES := $(patsubst %,web/%.c,replayer answer instances world_picture) $(sort $(WEB_BASE) $(wildcard common/sim/*/*.c) \
    $(wildcard common/simulation/*.c common/divergence/*.c) \
    $(filter-out $(patsubst %,common/recording/%.c,compact drain file_sink recording resume signature), \
        $(wildcard common/recording/*.c)))
STEPPER_SOURCES := $(patsubst %,web/%.c,viewer steps answer instances socket) common/net/transport.c $(sort $(WEB_BASE) \
    $(wildcard common/sim/*/*.c client/lib/*/*.c common/wire/*.c) \
    $(patsubst %,common/divergence/%.c,divergence rewind search state_layers) \
    $(patsubst %,common/simulation/%.c,simulation world_simulation) common/recording/keyframe_codec.c)
DETAILS_SOURCES := web/details.c web/lines.c common/base/assert.c common/base/cpu.c \
    $(wildcard common/sim/collide/manifold_box*.c) common/sim/collide/manifold_round.c common/sim/collide/shape_gap.c
WORLDS_SOURCES := $(patsubst %,web/%.c,worlds answer instances lines world_picture) $(sort \
    $(filter-out common/base/file.c,$(WEB_BASE)) common/base/json_reader.c $(wildcard common/sim/*/*.c) \
    $(filter-out common/scene/file_text.c,$(wildcard common/scene/*.c)) tools/lab/scene.c)
# Libraries that Debian has only for the machine: the scene reader's YAML, and the decoder of compressed keyframes.
WEB_SRC := $(WEB_OBJ)/sources
YAML_OBJECTS := $(patsubst %,$(WEB_OBJ)/libyaml/%.o,api parser reader scanner)
ZSTD_OBJECTS := $(patsubst %,$(WEB_OBJ)/zstd/common/%.o,debug entropy_common error_private fse_decompress xxhash zstd_common) \
    $(patsubst %,$(WEB_OBJ)/zstd/decompress/%.o,huf_decompress zstd_ddict zstd_decompress zstd_decompress_block)
WEB_FILES := $(patsubst %,$(WEB)/%.wasm,viewer replayer stepper worlds details) $(WEB)/tables.bin $(WEB)/scenes/index.json \
    $(patsubst web/page/%,$(WEB)/%,$(wildcard web/page/*)) $(patsubst %,$(WEB)/%,$(wildcard scenes/*))

.PHONY: web web-files
#: make web             the browser's pages, in build/web, for any web server, and foliot-server with them: needs clang-19 and wasi-libc
web: web-files $(BUILD)/foliot-server
web-files: $(WEB_FILES)
# foliot-server has the page within, where `make web` has built it.
$(BUILD)/web_files.c: scripts/embed_web.sh $(if $(filter web test-web,$(MAKECMDGOALS)),$(WEB_FILES),$(wildcard $(WEB_FILES)))
	@scripts/embed_web.sh $(WEB) $@

# The one header from outside of libc, which the compiler for WebAssembly does not look for where it lies.
$(WEB_OBJ)/include/xxhash.h: | $(call deps_of,web)
	@mkdir -p $(@D)
	cp /usr/include/xxhash.h $@
# The tables of packets of some bodies are apart from the viewer: most sessions send no such packets.
$(WEB_OBJ)/tables/partial_tables.h: common/wire/partial_priors.h web.mk
	@mkdir -p $(@D)
	awk '/^#define|^enum|^#include/ { print } /^static const uint16_t/ { sub(/^static const /, ""); sub(/ *=.*/, ""); name = $$2; \
	    sub(/\[.*/, "", name); members = members "    " $$0 ";\n"; names = names "#define " name " (web_tables." name ")\n" } \
	    END { printf "extern struct web_tables {\n%s} web_tables;\n%s", members, names }' $< > $@
$(WEB)/tables.bin: common/wire/partial_priors.h | $(call deps_of,web)
	@mkdir -p $(@D)
	node -e 'const all = require("fs").readFileSync("$<", "utf8").match(/\{[\d,\s]+\}/g).join().match(/\d+/g), out = Buffer.alloc(2 * all.length); all.forEach((n, i) => out.writeUInt16LE(Number(n), 2 * i)); require("fs").writeFileSync("$@", out);'
$(patsubst %,$(WEB_OBJ)/viewer/common/%.o,base/json base/text command/command_print): BIT_FLAGS += -Dsnprintf=web_print
# (Copies of a function for each way that it goes are worth their bytes on a machine.)
$(WEB_OBJ)/viewer/common/wire/partial_body.o $(WEB_OBJ)/viewer/common/wire/partial_snapshot.o: BIT_FLAGS += -Dalways_inline=
$(WEB_OBJ)/viewer/common/wire/partial_body.o: BIT_FLAGS += -include $(WEB_OBJ)/tables/partial_tables.h
$(WEB_OBJ)/viewer/common/wire/partial_body.o $(WEB_OBJ)/viewer/web/watches.o: $(WEB_OBJ)/tables/partial_tables.h
$(WEB_OBJ)/viewer/web/watches.o: BIT_FLAGS += -I$(WEB_OBJ)/tables
$(WEB_SRC)/.stamp: scripts/debian-sources.sh | $(call deps_of,web)
	scripts/debian-sources.sh $(@D)
	@touch $@
$(WEB_OBJ)/libyaml/%.o: $(WEB_SRC)/.stamp web.mk
	@mkdir -p $(@D)
	$(WEB_CC) --target=wasm32-wasi -Oz -w -I$(WEB_SRC)/libyaml/include -DYAML_DECLARE_STATIC -DYAML_VERSION_MAJOR=0 \
	    -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 -DYAML_VERSION_STRING='"0.2.5"' -c $(WEB_SRC)/libyaml/src/$*.c -o $@
$(WEB_OBJ)/zstd/%.o: $(WEB_SRC)/.stamp web.mk
	@mkdir -p $(@D)
	$(WEB_CC) --target=wasm32-wasi -Oz -w -DZSTD_LEGACY_SUPPORT=0 -DZSTD_STRIP_ERROR_STRINGS=1 -DHUF_FORCE_DECOMPRESS_X1=1 \
	    -DZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT=1 -DZSTD_NO_INLINE=1 -DZSTD_NO_TRACE=1 -c $(WEB_SRC)/zstd/lib/$*.c -o $@
# Functions that the page calls have no header.
$(WEB_OBJ)/viewer/web/%.o $(WEB_OBJ)/replayer/web/%.o $(WEB_OBJ)/worlds/web/%.o $(WEB_OBJ)/details/web/%.o: WARNINGS += -Wno-missing-prototypes
# The work of each frame with each body is fast, all else of the viewer is small.
$(patsubst %,$(WEB_OBJ)/viewer/%.o,web/instances client/lib/watch/interpolation): VIEWER_LEVEL := -O2
$(WEB_OBJ)/viewer/%.o: %.c $(WEB_OBJ)/include/xxhash.h web.mk
	@mkdir -p $(@D)
	$(WEB_COMPILE) '-DFOLIOT_ASSERT_TEXT(condition)=""' $(or $(VIEWER_LEVEL),-Oz) -flto -MMD -MP -c $< -o $@
# The step and the display are fast. Code that runs once for a file, a scene, a command or an event is small.
$(patsubst %.c,$(WEB_OBJ)/replayer/%.o,$(wildcard common/recording/*.c common/command/*.c common/divergence/*.c common/sim/scene/*.c) \
    $(patsubst %,common/sim/%.c,collide/query collide/contact_event collide/sensor ccd/restitution solver/brief_contact)): REPLAYER_LEVEL := -Os
$(WEB_OBJ)/replayer/%.o: %.c $(WEB_OBJ)/include/xxhash.h web.mk
	@mkdir -p $(@D)
	$(WEB_COMPILE) $(or $(REPLAYER_LEVEL),-O3) -MMD -MP -c $< -o $@
# Two thirds of it are the replayer's, and are not compiled twice.
$(WEB_OBJ)/worlds/%.o: %.c $(WEB_OBJ)/include/xxhash.h $(WEB_SRC)/.stamp web.mk
	@mkdir -p $(@D)
	$(WEB_COMPILE) -Itools -I$(WEB_SRC)/libyaml/include -O2 -MMD -MP -c $< -o $@
$(WEB_OBJ)/replayer/common/recording/keyframe_codec.o: $(WEB_SRC)/.stamp
$(WEB_OBJ)/replayer/common/recording/keyframe_codec.o: BIT_FLAGS += -UFOLIOT_NO_ZSTD -I$(WEB_SRC)/zstd/lib
# The code that finds contacts is small by itself.
$(WEB_OBJ)/details/%.o: %.c web.mk | $(call deps_of,web)
	@mkdir -p $(@D)
	$(WEB_COMPILE) -Os -MMD -MP -c $< -o $@
$(WEB)/details.wasm: WEB_FLAGS := -Os
$(WEB)/details.wasm: $(DETAILS_SOURCES:%.c=$(WEB_OBJ)/details/%.o)
# (Its loops are short: loop strength reduction is not worth the 700 bytes that it adds. A function that is called from
# two files is not copied into both, which is worth 400; loads and stores that move out of loops cost 100.)
$(WEB)/viewer.wasm: WEB_FLAGS := -Oz -flto -Wl,-mllvm,-disable-lsr,-mllvm,-enable-merge-functions,-mllvm,-inline-threshold=-22,-mllvm,-enable-load-pre=false,-mllvm,-disable-licm-promotion
$(WEB)/viewer.wasm: WEB_LIBS := -lc-printscan-no-floating-point
$(WEB)/replayer.wasm: WEB_FLAGS := -O3
$(WEB)/viewer.wasm: $(VIEWER_SOURCES:%.c=$(WEB_OBJ)/viewer/%.o)
$(WEB)/stepper.wasm: WEB_FLAGS := -O3
$(WEB)/stepper.wasm: $(STEPPER_SOURCES:%.c=$(WEB_OBJ)/replayer/%.o) $(ZSTD_OBJECTS)
$(WEB)/replayer.wasm: $(REPLAYER_SOURCES:%.c=$(WEB_OBJ)/replayer/%.o) $(ZSTD_OBJECTS)
$(WEB)/worlds.wasm: WEB_FLAGS := -O3
$(WEB)/worlds.wasm: $(patsubst %.c,$(WEB_OBJ)/replayer/%.o,$(filter common/sim/% common/base/% common/command/%,$(WORLDS_SOURCES))) \
    $(patsubst %.c,$(WEB_OBJ)/worlds/%.o,$(filter web/% common/scene/% tools/%,$(WORLDS_SOURCES))) $(YAML_OBJECTS)
$(WEB)/%.wasm:
	@mkdir -p $(@D)
	$(WEB_LINK) $(WEB_FLAGS) -o $@ $^ $(WEB_LIBS)
# Each module by itself: what is imported keeps its name, and is loaded when it is wanted.
$(WEB)/%.js: web/page/%.js web.mk | $(call deps_of,web)
	@mkdir -p $(@D)
	esbuild --minify --format=esm --target=es2020 --log-level=warning --banner:js='// SPDX-License-Identifier: MIT' $< | sed 's/^ *//' > $@.new
	mv $@.new $@
$(WEB)/%.css: web/page/%.css web.mk | $(call deps_of,web)
	@mkdir -p $(@D)
	{ head -n 1 $<; esbuild --minify --loader=css --log-level=warning < $<; } > $@.new
	mv $@.new $@
$(WEB)/scenes/index.json: $(wildcard scenes/*.yaml)
	@mkdir -p $(@D)
	printf '"%s"\n' $(sort $(patsubst scenes/%.yaml,%,$^)) | paste -sd, | sed 's/.*/[&]/' > $@
$(WEB)/scenes/%: scenes/%
	@mkdir -p $(@D)
	cp $< $@
$(WEB)/%: web/page/%
	@mkdir -p $(@D)
	cp $< $@

-include $(shell find $(WEB_OBJ) -name '*.d' 2>/dev/null)

.PHONY: npm test-npm
#: make npm             the package foliot for Node and browsers, in build/npm, by npm pack
NPM := $(BUILD)/npm/foliot
NPM_FILES := $(patsubst %,$(NPM)/%,index.js index.d.ts README.md package.json wasm.js LICENSE LICENSES.txt worlds.wasm replayer.wasm viewer.wasm tables.bin)
npm: $(BUILD)/npm/foliot-$(VERSION).tgz
$(BUILD)/npm/foliot-$(VERSION).tgz: $(NPM_FILES) | $(call deps_of,npm)
	cd $(NPM) && npm pack --silent --pack-destination .. > /dev/null
	@touch $@
$(NPM)/package.json: web/npm/package.json include/foliot/status.h
	@mkdir -p $(@D)
	sed 's/"version": "[^"]*"/"version": "$(VERSION)"/' $< > $@
$(NPM)/LICENSES.txt: $(WEB_SRC)/.stamp
	@mkdir -p $(@D)
	{ echo "libyaml (worlds.wasm)"; echo; cat $(WEB_SRC)/libyaml/License; echo; echo "zstd (replayer.wasm)"; echo; cat $(WEB_SRC)/zstd/LICENSE; } > $@
$(NPM)/LICENSE: LICENSE
$(NPM)/wasm.js: web/page/wasm.js
$(NPM)/tables.bin: $(WEB)/tables.bin
	@mkdir -p $(@D)
	cp $< $@
$(NPM)/%.wasm: $(WEB)/%.wasm
	@mkdir -p $(@D)
	cp $< $@
$(NPM)/LICENSE $(NPM)/wasm.js:
	@mkdir -p $(@D)
	cp $< $@
$(NPM)/%: web/npm/%
	@mkdir -p $(@D)
	cp $< $@
#: make test-npm        installs that package in an empty folder and runs examples with node
test-npm: npm programs $(BUILD)/web-tests/node_modules
	node tests/web/package.mjs $(BUILD) $(BUILD)/npm/foliot-$(VERSION).tgz "$$(realpath $(BUILD)/web-tests)"

.PHONY: test-web
#: make test-web        the pages in a real browser (chromium, driven by playwright-core); SHOTS=folder keeps screenshots
$(BUILD)/web-tests/node_modules: tests/web/package.json tests/web/package-lock.json | $(call deps_of,web-test)
	@mkdir -p $(@D)
	cp $^ $(@D)
	cd $(@D) && npm ci --no-audit --no-fund --loglevel=error
	@touch $@
# A native client whose picture a page's is compared with.
$(BUILD)/web-tests/native_positions: tests/web/native_positions.c $(BUILD)/libfoliot.a
	@mkdir -p $(@D)
	$(CC) -Iinclude $(WARNINGS) $(CFLAGS) -D_GNU_SOURCE -o $@ $^ $(LIBS)
test-web: web npm programs games $(BUILD)/web-tests/node_modules $(BUILD)/web-tests/native_positions
	node tests/web/main.mjs "$$(realpath $(BUILD)/web-tests)" $(BUILD) $(SHOTS)
	node tests/web/package.mjs $(BUILD) $(BUILD)/npm/foliot-$(VERSION).tgz "$$(realpath $(BUILD)/web-tests)"
