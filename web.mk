# SPDX-License-Identifier: MIT
# web.mk: the browser's page. `make web` puts all that a web server serves into $(BUILD)/web.
WEB := $(BUILD)/web
WEB_OBJ := $(BUILD)/obj-web
WEB_TABLES := $(WEB_OBJ)/tables/partial_tables.h
WEB_SRC := $(WEB_OBJ)/sources
WEB_CC ?= clang-19
WEB_INCLUDES := include common web client/lib tools $(WEB_OBJ)/include $(WEB_OBJ)/tables $(WEB_SRC)/libyaml/include \
    $(WEB_SRC)/zstd/lib
WEB_COMPILE = $(WEB_CC) --target=wasm32-wasi -msimd128 $(WARNINGS) -Wno-missing-prototypes $(WEB_INCLUDES:%=-I%) \
    -D_GNU_SOURCE -DFOLIOT_NO_ZSTD -DFOLIOT_NO_LUA $(BIT_FLAGS)
WEB_BASE := $(wildcard common/command/*.c common/sim/math/*.c common/sim/scene/*.c) \
    $(patsubst %,common/base/%.c,assert buffer bytes cpu crc32c file json pack status text unpack version)
# The linker takes what a module calls, and no more. The viewer is small, since everybody waits for it, and compiled as
# a whole; the replayer is fast.
VIEWER_SOURCES := $(patsubst %,web/%.c,viewer watches answer instances socket libc) $(WEB_BASE) common/net/transport.c \
    $(wildcard client/lib/shared/*.c client/lib/watch/*.c common/wire/*.c)
REPLAYER_SOURCES := $(patsubst %,web/%.c,replayer answer instances world_picture) $(sort $(WEB_BASE) \
    $(filter-out $(patsubst %,common/recording/%.c,compact drain file_sink recording resume signature), \
        $(wildcard common/sim/*/*.c common/simulation/*.c common/divergence/*.c common/recording/*.c)))
STEPPER_SOURCES := $(patsubst %,web/%.c,viewer steps answer instances socket) $(sort $(WEB_BASE) \
    $(wildcard common/sim/*/*.c client/lib/*/*.c common/wire/*.c) $(patsubst %,common/%.c,net/transport \
    recording/keyframe_codec simulation/simulation simulation/world_simulation) \
    $(patsubst %,common/divergence/%.c,divergence rewind search state_layers))
DETAILS_SOURCES := $(patsubst %,%.c,web/details web/lines common/base/assert common/base/cpu \
    common/sim/collide/shape) $(wildcard common/sim/collide/manifold_box*.c)
WORLDS_SOURCES := $(patsubst %,web/%.c,worlds answer instances lines world_picture) $(sort \
    $(filter-out common/base/file.c,$(WEB_BASE)) common/base/json_reader.c $(wildcard common/sim/*/*.c) \
    $(filter-out common/scene/file_text.c,$(wildcard common/scene/*.c)) tools/lab/scene.c)
WEB_FILES := $(addprefix $(WEB)/,viewer.wasm replayer.wasm stepper.wasm worlds.wasm details.wasm tables.bin \
    scenes/index.json $(wildcard scenes/*) $(notdir $(wildcard web/page/*)))
.PHONY: web npm test-npm test-web
#: make web             the browser's pages, in build/web, for any web server, and in foliot-server
web: $(WEB_FILES) $(BUILD)/foliot-server
# foliot-server has the page within, where `make web` has built it.
$(BUILD)/web_files.c: scripts/embed_web.sh \
    $(if $(filter web test-web,$(MAKECMDGOALS)),$(WEB_FILES),$(wildcard $(WEB_FILES)))
	@scripts/embed_web.sh $(WEB) $@
COPY = @mkdir -p $(@D); cp $< $@
# The one header from outside of libc, which the compiler for WebAssembly does not look for where it lies.
$(WEB_OBJ)/include/xxhash.h: /usr/include/xxhash.h | $(call deps_of,web) ; $(COPY)
# The tables of packets of some bodies are apart from the viewer: most sessions send no such packets.
$(WEB_TABLES) $(WEB)/tables.bin: common/wire/partial_priors.h scripts/partial_tables.js | $(call deps_of,web)
	@mkdir -p $(@D) && node scripts/partial_tables.js $< $@
# Libraries that Debian has only for the machine: the scene reader's YAML, and the decoder of compressed keyframes.
YAML_OBJECTS := $(patsubst %,$(WEB_SRC)/libyaml/src/%.o,api parser reader scanner)
ZSTD_OBJECTS := $(patsubst %,$(WEB_SRC)/zstd/lib/%.o,$(addprefix common/,debug entropy_common error_private \
    fse_decompress xxhash zstd_common) $(addprefix decompress/,huf_decompress zstd_ddict zstd_decompress \
    zstd_decompress_block))
$(WEB_SRC)/.stamp: scripts/debian-sources.sh | $(call deps_of,web)
	scripts/debian-sources.sh $(@D) && touch $@
$(WEB_SRC)/%.o: $(WEB_SRC)/.stamp web.mk
	$(WEB_CC) --target=wasm32-wasi -Oz -w -I$(WEB_SRC)/libyaml/include -DYAML_DECLARE_STATIC -DYAML_VERSION_MAJOR=0 \
	    -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 -DYAML_VERSION_STRING='"0.2.5"' -DZSTD_LEGACY_SUPPORT=0 \
	    -DZSTD_STRIP_ERROR_STRINGS=1 -DHUF_FORCE_DECOMPRESS_X1=1 -DZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT=1 \
	    -DZSTD_NO_INLINE=1 -DZSTD_NO_TRACE=1 -c $(WEB_SRC)/$*.c -o $@
# A folder of objects for each way to compile. The viewer is small, but for what each frame does with each body. The
# replayer's step and display are fast, but not what runs once for a file, a scene, a command or an event.
define WEB_RULE
$(WEB_OBJ)/$(1)/%.o: %.c $(WEB_TABLES) $(WEB_OBJ)/include/xxhash.h $(WEB_SRC)/.stamp web.mk
	@mkdir -p $$(@D)
	$$(WEB_COMPILE) $$(or $$(LEVEL),$(2)) $$(LTO) $$(ONLY_HERE) -MMD -MP -c $$< -o $$@

endef
$(eval $(call WEB_RULE,viewer,-Oz)$(call WEB_RULE,replayer,-O3)$(call WEB_RULE,worlds,-O2)$(call WEB_RULE,details,-Os))
in_folder = $(patsubst %,$(WEB_OBJ)/$(1)/%.o,$(basename $(2)))
$(WEB_OBJ)/viewer/%.o: LTO := -flto '-DFOLIOT_ASSERT_TEXT(condition)=""'
$(call in_folder,viewer,web/instances client/lib/watch/interpolation): LEVEL := -O2
SMALL := $(wildcard $(patsubst %,common/%/*.c,recording command divergence sim/scene)) $(patsubst %,common/sim/%.c, \
    collide/query collide/contact_event collide/sensor ccd/restitution solver/brief_contact)
$(call in_folder,replayer,$(SMALL)): LEVEL := -Os
$(call in_folder,replayer,common/recording/keyframe_codec): ONLY_HERE := -UFOLIOT_NO_ZSTD
PRINTING := common/base/json common/base/text common/command/command_print
$(call in_folder,viewer,$(PRINTING)): ONLY_HERE := -Dsnprintf=web_print
# (Copies of a function for each way that it goes are worth their bytes on a machine.)
$(call in_folder,viewer,common/wire/partial_body common/wire/partial_snapshot): ONLY_HERE := -Dalways_inline=
$(call in_folder,viewer,common/wire/partial_body): ONLY_HERE += -include $(WEB_TABLES)
$(WEB)/viewer.wasm: $(call in_folder,viewer,$(VIEWER_SOURCES))
$(WEB)/stepper.wasm: $(call in_folder,replayer,$(STEPPER_SOURCES)) $(ZSTD_OBJECTS)
$(WEB)/replayer.wasm: $(call in_folder,replayer,$(REPLAYER_SOURCES)) $(ZSTD_OBJECTS)
$(WEB)/details.wasm: $(call in_folder,details,$(DETAILS_SOURCES))
# Two thirds of it are the replayer's, and are not compiled twice.
REPLAYED := common/sim/% common/base/% common/command/%
$(WEB)/worlds.wasm: $(call in_folder,replayer,$(filter $(REPLAYED),$(WORLDS_SOURCES))) \
    $(call in_folder,worlds,$(filter-out $(REPLAYED),$(WORLDS_SOURCES))) $(YAML_OBJECTS)
# (Its loops are short: loop strength reduction is not worth the 700 bytes that it adds. A function that is called from
# two files is not copied into both, which is worth 400; loads and stores that move out of loops cost 100.)
$(WEB)/viewer.wasm: WEB_FLAGS := -Oz -flto $(patsubst %,-Xlinker -mllvm -Xlinker %,-disable-lsr \
    -enable-merge-functions -inline-threshold=-22 -enable-load-pre=false -disable-licm-promotion)
$(WEB)/viewer.wasm: WEB_LIBS := -lc-printscan-no-floating-point
$(WEB)/details.wasm: WEB_FLAGS := -Os
$(WEB)/%.wasm:
	@mkdir -p $(@D)
	$(WEB_CC) --target=wasm32-wasi -mexec-model=reactor -Wl,--strip-all,-z,stack-size=1048576 $(or $(WEB_FLAGS),-O3) \
	    -o $@ $^ $(WEB_LIBS)
$(WEB)/scenes/index.json: $(wildcard scenes/*.yaml)
	@mkdir -p $(@D)
	printf '"%s"\n' $(sort $(patsubst scenes/%.yaml,%,$^)) | paste -sd, | sed 's/.*/[&]/' > $@
$(WEB)/scenes/%: scenes/% ; $(COPY)
$(WEB)/%: web/page/% scripts/web_page.sh | $(call deps_of,web)
	@scripts/web_page.sh $< $@
-include $(shell find $(WEB_OBJ) -name '*.d' 2>/dev/null)
#: make npm             the package foliot for Node and browsers, in build/npm, by npm pack
NPM_PACKAGE := $(BUILD)/npm/foliot-$(VERSION).tgz
npm: $(NPM_PACKAGE)
$(NPM_PACKAGE): $(wildcard web/npm/*) web/page/wasm.js LICENSE $(WEB)/worlds.wasm $(WEB)/replayer.wasm \
    $(WEB)/viewer.wasm $(WEB)/tables.bin | $(call deps_of,npm)
	rm -rf $(@D)/foliot && mkdir -p $(@D)/foliot && cp $^ $(@D)/foliot
	sed -i 's/"version": "[^"]*"/"version": "$(VERSION)"/' $(@D)/foliot/package.json
	printf '%s\n\n%s\n\n%s\n\n%s\n' "libyaml (worlds.wasm)" "$$(cat $(WEB_SRC)/libyaml/License)" \
	    "zstd (replayer.wasm)" "$$(cat $(WEB_SRC)/zstd/LICENSE)" > $(@D)/foliot/LICENSES.txt
	cd $(@D)/foliot && npm pack --silent --pack-destination .. > /dev/null
#: make test-npm        installs that package in an empty folder and runs examples with node
#: make test-web        that, and the pages in a real browser (by playwright-core); SHOTS=folder keeps screenshots
$(BUILD)/web-tests/node_modules: tests/web/package.json tests/web/package-lock.json | $(call deps_of,web-test)
	@mkdir -p $(@D) && cp $^ $(@D)
	cd $(@D) && npm ci --no-audit --no-fund --loglevel=error && touch $(@F)
test-npm: npm programs $(BUILD)/web-tests/node_modules
	node tests/web/package.mjs $(BUILD) $(NPM_PACKAGE) "$$(realpath $(BUILD)/web-tests)"
test-web: web test-npm games $(BUILD)/tests/web/native_positions
	node tests/web/main.mjs "$$(realpath $(BUILD)/web-tests)" $(BUILD) $(SHOTS)
