#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_layers.sh: includes go down the strata and, inside common/sim, down its folders; libraries stay where
# they belong; no type name has two definitions; nothing in common/sim can see a clock, libm or the heap.
# Method: checks over the sources that print FILE:LINE: RULE, and one over the symbols of the objects; each
# rule is then broken in a tree of its own and must be named. Calls between files: test_call_circles.sh.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}

# Prints every line of the tree at $1 that breaks a rule. Comments and strings are blanked first.
check_sources() {
    (cd "$1" && find include common server client tools examples -name '*.[ch]' 2>/dev/null | sort |
        while read -r file; do
            awk -v file="$file" '
function bad(rule) { printf "%s:%d: %s\n", file, FNR, rule; }
# The stratum that a path or a quoted include belongs to.
function stratum(path) {
    if (match(path, /^(common\/)?(base|command|crypto|sim|history|scene|recording|rules|wire|net)\//))
        { sub(/^common\//, "", path); sub(/\/.*/, "", path); return path; }
    if (path ~ /^foliot\//) return "foliot";
    if (match(path, /^(server|client|tools|examples)\//)) { sub(/\/.*/, "", path); return path; }
    return "";
}
# The folder of the simulation that a path or a quoted include belongs to.
function sim_folder(path) {
    sub(/^common\//, "", path);
    return split(path, word, "/") == 3 && word[1] == "sim" ? word[2] : "";
}
BEGIN {
    # The folders of common/sim in order: each includes only itself and those before it.
    folders = split("math state scene force constraint island integrator joint collide ccd solver world selftest", name, " ");
    for (i = 1; i <= folders; i++) rank[name[i]] = i;
    own_folder = sim_folder(file);
    # What each stratum may include, itself aside.
    may["base"] = "foliot"; may["command"] = "base foliot"; may["sim"] = "base command foliot";
    may["crypto"] = "base foliot"; may["net"] = "base crypto sim foliot"; may["rules"] = "base command sim history foliot"; may["history"] = "base command sim foliot";
    may["scene"] = may["wire"] = "base command sim foliot"; may["recording"] = "base command crypto sim foliot";
    may["server"] = may["client"] = may["tools"] = "base command crypto sim history scene recording rules wire net foliot";
    may["examples"] = "foliot"; may["include"] = "foliot";
    home["sodium.h"] = "^common/crypto/"; home["uv.h"] = "^(server|client|tools)/"; home["libwebsockets.h"] = "^server/http/"; home["enet/enet.h"] = home["enet.h"] = "^common/net/";
    home["msgpack.h"] = "^common/(base/pack|wire/message)"; home["zstd.h"] = "^common/recording/"; home["yaml.h"] = "^common/scene/";
    home["cmocka.h"] = "^tests/"; home["lua.h"] = home["lauxlib.h"] = home["lualib.h"] = "^common/rules/"; home["ncurses.h"] = home["curses.h"] = "^(client|tools)/";
    own = file ~ /^include\// ? "include" : stratum(file);
    # The heap is for worlds and scenes that programs make, decode, check and destroy. A step does none of that.
    heap_file = file ~ /^common\/sim\/(world\/create|scene\/(scene_bytes|scene_check_bodies))\.c$/;
    # Binary32 is for contacts and joints, the fields of commands, the rows of theirs that are state, and the seed of an inverse root.
    binary32_file = file ~ /^common\/sim\/((collide|ccd|solver|joint)\/|state\/(state|solver_body)\.h$|force\/force_newton_lanes\.h$|math\/simd\.h$|(world\/(state_(io|io_parts|restore)|command|command_joint|command_session)|selftest\/fingerprint)\.c$)/;
}
{
    line = $0;
    if (match(line, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]*[>"]/)) {
        quoted = line ~ /include[ \t]*"/;
        path = line; sub(/^[^<"]*[<"]/, "", path); sub(/[>"].*/, "", path);
        base = path; sub(/.*\//, "", base);
        if (path ~ /^msgpack\//) base = "msgpack.h";
        key = (path in home) ? path : base;
        if (!quoted && (key in home) && file !~ home[key]) bad(path " is not included here");
        if (quoted) {
            target = stratum(path);
            if (target != "" && target != own && index(" " may[own] " ", " " target " ") == 0)
                bad(own " does not include " target " (" path ")");
            below = sim_folder(path);
            if (own_folder != "" && target == "sim" && !(below in rank && own_folder in rank))
                bad("sim/" (own_folder in rank ? below : own_folder) " is no folder of the simulation (" path ")");
            else if (own_folder != "" && below != "" && rank[below] > rank[own_folder])
                bad("sim/" own_folder " does not include sim/" below " (" path ")");
            # Base knows no world, no scene and no client: of the public headers only those of every library.
            if (own == "base" && target == "foliot" && path !~ /^foliot\/(status|version)\.h$/)
                bad("base does not include " path);
            # Drawing is for programs: neither a library nor a public header needs a terminal.
            if (path ~ /^view\// && file !~ /^((client|server)\/[^\/]+|tools\/.+)$/)
                bad("only programs include " path);
            if ((own == "base" || own == "sim") && path ~ /^foliot\/(scene_reader|recording|replay|server|client|transport)\.h$/ )
                bad(own " does not include what lies above it (" path ")");
        }
        if (own == "sim" && !(path == "stdio.h" && file ~ /scene_rules\.c$/) && path ~ /^(math|time|fenv|stdio|pthread|sys\/time|unistd|complex|tgmath)\.h$/)
            bad("common/sim does not include <" path ">");
        next;
    }
    if (in_comment) { if (match(line, /\*\//)) { line = substr(line, RSTART + 2); in_comment = 0; } else next; }
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line);
    gsub(/\/\*([^*]|\*[^\/])*\*\//, " ", line);
    if (match(line, /\/\*/)) { line = substr(line, 1, RSTART - 1); in_comment = 1; }
    sub(/\/\/.*/, "", line);
    if (own != "sim") next;
    line = " " line;
    if (match(line, /[^A-Za-z0-9_.>](__builtin_)?(sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|exp|exp2|expm1|log|log2|log10|log1p|pow|cbrt|hypot|fma|fmin|fmax|fmod|floor|ceil|round|rint|nearbyint|lrint|llrint|trunc|ldexp|frexp|scalbn|modf|erf|sqrt)f?l?[ \t]*\(/) && \
        !(line ~ /__builtin_sqrtf?[ \t]*\(/ && file ~ /(floating_point\.h|fingerprint\.c|_lanes\.h)$/))
        bad("a call of libm in common/sim");
    if (!heap_file && match(line, /[^A-Za-z0-9_](malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup|alloca|free)[ \t]*\(/))
        bad("the heap in common/sim");
    if (match(line, /[^A-Za-z0-9_](clock|clock_gettime|time|gettimeofday|nanosleep|rand|random|getenv)[ \t]*\(/))
        bad("a clock, the environment or chance from outside in common/sim");
    if (match(line, /[^A-Za-z0-9_]long[ \t]+double[^A-Za-z0-9_]/))
        bad("long double in common/sim");
    if (match(line, /[^A-Za-z0-9_]float[^A-Za-z0-9_]/) && !binary32_file)
        bad("binary32 in common/sim");
}' "$file"
        done)
}

# Symbols that objects of common/sim need or define, as OBJECT: SYMBOL, where they must not.
check_symbols() {
    local object
    for object in "$@"; do
        # Data that can change, and functions from outside, but for those that the compiler itself calls.
        objdump -t "$object" | awk -v object="$object" '
            / O \.t?(data|bss)[ \t]/ || / O \*COM\*/ { print object ": data that changes: " $NF }
            / \*UND\*/ && $NF !~ /^(foliot_|mem(cpy|set|cmp|move)$|str[a-z]*$|__|_GLOBAL_OFFSET_TABLE_)/ &&
            !(object ~ /\/(create|scene_bytes|scene_check_bodies|scene_rules)\.o$/) { print object ": needs " $NF }'
    done
}

report() { # NAME CONDITION-STATUS
    if [ "$2" = 0 ]; then echo "ok - $1"; else echo "not ok - $1"; fi
}

found=$(check_sources .)
[ -z "$found" ] || echo "$found"
[ -z "$found" ]
report "no source breaks the strata" $?

# Prints every source and script of the tree at $1 whose first lines do not name the licence.
check_licence() {
    find "$1" \( -name build -o -name .git -o -name scenes-bad -o -name corpus \) -prune -o -type f \
        \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.sh' -o -name '*.py' -o -name '*.pl' -o -name '*.awk' \
        -o -name '*.mjs' -o -name 'Makefile*' -o -path '*/scenes/*.yaml' -o -path '*/.ci/run' \) -print |
        sort | while read -r file; do
        head -n 3 "$file" | grep -qF 'SPDX-License-Identifier: MIT' || echo "$file: names no licence"
    done
}
found=$(check_licence .)
[ -z "$found" ] || echo "$found"
[ -z "$found" ]
report "every source and script names its licence" $?

# Prints every type name of the library at $1 that has more than one definition, with the files.
check_types() {
    (cd "$1" && find include common server/lib client/lib -name '*.[ch]' 2>/dev/null | sort | xargs -r awk '
        function define(name) { if (!((name, FILENAME) in seen)) { seen[name, FILENAME] = 1; count[name]++; files[name] = files[name] " " FILENAME } }
        /^(typedef )?(struct|union|enum) foliot_[a-z0-9_]+ \{/ { define($0 ~ /^typedef/ ? $3 : $2); next }
        /^\}.* foliot_[a-z0-9_]+;/ { name = $NF; sub(/;.*/, "", name); define(name); next }
        /^typedef .*foliot_[a-z0-9_]+;/ && !/^typedef (struct|union|enum) [a-z0-9_]+ [a-z0-9_]+;/ {
            name = $0; sub(/;.*/, "", name); sub(/.*[ *]/, "", name); define(name) }
        END { for (name in count) if (count[name] > 1) print name ": defined in" files[name] }' | sort)
}
found=$(check_types .)
[ -z "$found" ] || echo "$found"
[ -z "$found" ]
report "no type name has two definitions" $?

# Objects whose source has gone are left over from an older tree.
objects=$(find common/sim -name '*.c' | sed "s|\(.*\)\.c\$|$build/obj/\1.o|" | xargs ls 2>/dev/null)
# A sanitizer's or coverage's own symbols say nothing about ours.
# shellcheck disable=SC2086 # one word an object
if [ -n "$objects" ] && ! nm $objects | grep -qE '__(asan|tsan|ubsan|sanitizer|gcov)_'; then
    found=$(check_symbols $objects)
    [ -z "$found" ] || echo "$found"
    [ -z "$found" ]
    report "no object of the simulation needs libm, the heap or a clock, or has data that changes" $?
fi

# -- every alarm rings -----------------------------------------------------------------------------
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
broken() { # NAME FILE LINE-THAT-BREAKS EXPECTED-RULE
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/$(dirname "$2")"
    printf '// SPDX-License-Identifier: MIT\n\n%s\n' "$3" >"$tree/$2"
    check_sources "$tree" | grep -qF "$2:3: $4"
    report "$1" $?
}
broken "a look upwards is named" common/sim/x.c '#include "recording/recording.h"' "sim does not include recording"
broken "a look sideways is named" common/recording/x.c '#include "scene/reader.h"' "recording does not include scene"
broken "a folder of the simulation that includes a later one is named" common/sim/state/x.c '#include "sim/world/state_io.h"' "sim/state does not include sim/world"
broken "a header that does so is named" common/sim/scene/x.h '#include "sim/integrator/scheme.h"' "sim/scene does not include sim/integrator"
broken "a self-test that a world needs is named" common/sim/world/x.c '#include "sim/selftest/probe.h"' "sim/world does not include sim/selftest"
broken "a new folder has to be given its place" common/sim/weather/x.c '#include "sim/math/hash.h"' "sim/weather is no folder of the simulation"
broken "an include of a file beside the folders is named" common/sim/force/x.c '#include "sim/force.h"' "sim/ is no folder of the simulation"
broken "base that knows the world is named" common/base/x.h '#include "sim/state/state.h"' "base does not include sim"
broken "base that knows a public type of the simulation is named" common/base/x.h '#include "foliot/body.h"' "base does not include foliot/body.h"
broken "a client library that draws is named" client/lib/x.c '#include "view/view.h"' "only programs include view/view.h"
broken "a scene reader that draws is named" common/scene/x.c '#include "view/view.h"' "only programs include view/view.h"
broken "a server that knows clients is named" server/x.c '#include "client/lib/clock.h"' "server does not include client"
broken "a public header that shows the inside is named" include/foliot/x.h '#include "sim/state/state.h"' "include does not include sim"
broken "libuv in common is named" common/net/x.c '#include <uv.h>' "uv.h is not included here"
broken "ENet outside of net is named" server/x.c '#include <enet/enet.h>' "enet/enet.h is not included here"
broken "libsodium outside of crypto is named" common/net/x.c '#include <sodium.h>' "sodium.h is not included here"
broken "msgpack outside of its packer is named" common/scene/x.c '#include <msgpack.h>' "msgpack.h is not included here"
broken "yaml outside of scene is named" tools/lab/x.c '#include <yaml.h>' "yaml.h is not included here"
broken "cmocka outside of tests is named" common/base/x.c '#include <cmocka.h>' "cmocka.h is not included here"
broken "libm's header is named" common/sim/collide/x.c '#include <math.h>' "common/sim does not include <math.h>"
broken "a call of libm is named" common/sim/x.c 'double f(double x) { return sin(x); }' "a call of libm"
broken "a builtin of libm is named" common/sim/x.c 'double f(double x) { return __builtin_fma(x, x, x); }' "a call of libm"
broken "the heap is named" common/sim/integrator/x.c 'void *f(void) { return malloc(3); }' "the heap in common/sim"
broken "the heap in a file beside those that may use it is named" common/sim/scene/scene.c 'void *f(void) { return malloc(3); }' "the heap in common/sim"
broken "a clock is named" common/sim/x.c 'long f(void) { return time(0); }' "a clock"
broken "binary32 is named" common/sim/x.c 'static const float x = 1;' "binary32"
broken "binary32 in an integrator is named" common/sim/integrator/collide.c 'double f(double x) { return (float)x; }' "binary32"
broken "long double is named" common/sim/x.c 'static long double x;' "long double"
rm -rf "${tree:?}"/*
mkdir -p "$tree/common/sim"
cat >"$tree/common/sim/x.c" <<'C'
// SPDX-License-Identifier: MIT
// sin(x) and malloc(1) in comments /* and */ in "strings" are no calls; nor is foliot_sin(x).
double foliot_sin(double x); /* exp(1)
   log(2) */
double f(double x) { return foliot_sin(x); }
C
[ -z "$(check_sources "$tree")" ]
report "comments and functions of ours are no calls of libm" $?
mkdir -p "$tree/client" "$tree/tools/replay" "$tree/common/base"
echo '#include "view/view.h"' | tee "$tree/client/screen.c" "$tree/tools/replay/play.c" >/dev/null
printf '#include "foliot/status.h"\n#include "foliot/version.h"\n' >"$tree/common/base/status.c"
[ -z "$(check_sources "$tree")" ]
report "programs may draw, and base may know statuses and the version" $?
rm -r "$tree/client" "$tree/tools" "$tree/common/base"
mkdir -p "$tree/common/sim/collide" "$tree/common/sim/joint"
echo 'static const float x = 1;' | tee "$tree/common/sim/collide/x.c" "$tree/common/sim/joint/x.h" >/dev/null
[ -z "$(check_sources "$tree")" ]
report "binary32 in contacts and joints is allowed" $?
rm -r "$tree/common/sim/collide" "$tree/common/sim/joint"
mkdir -p "$tree/common/sim/state" "$tree/common/sim/world"
echo '#include "sim/state/state.h"' | tee "$tree/common/sim/state/x.c" "$tree/common/sim/world/x.c" >/dev/null
[ -z "$(check_sources "$tree")" ]
report "a folder may include itself and those before it" $?
rm -r "$tree/common/sim/state" "$tree/common/sim/world"
mkdir -p "$tree/common/sim/state" "$tree/server/lib"
printf 'typedef struct foliot__twin {\n    int x;\n} foliot__twin;\ntypedef struct foliot__once foliot__once;\n' >"$tree/common/sim/state/twin.h"
printf 'struct foliot__once {\n    int x;\n};\n' >"$tree/common/sim/state/once.c"
[ -z "$(check_types "$tree")" ]
report "a type that is declared in one file and defined in another is defined once" $?
printf 'typedef enum foliot__twin {\n    A\n} foliot__twin;\n' >"$tree/server/lib/twin.c"
[ "$(check_types "$tree")" = "foliot__twin: defined in common/sim/state/twin.h server/lib/twin.c" ]
report "a type name with two definitions is named" $?
rm -r "$tree/common/sim/state" "$tree/server"
printf '// x.c: a file without a licence.\nint x;\n' >"$tree/common/sim/y.c"
[ "$(check_licence "$tree")" = "$tree/common/sim/y.c: names no licence" ]
report "a file without a licence is named" $?
cat >"$tree/x.c" <<'C'
double sin(double);
double counter;
double f(double x) { counter += x; return sin(x); }
C
${CC:-gcc} -w -O1 -fno-builtin -c "$tree/x.c" -o "$tree/x.o"
found=$(check_symbols "$tree/x.o")
echo "$found" | grep -q 'needs sin' && echo "$found" | grep -q 'data that changes: counter'
report "a symbol of libm and data that changes are named" $?
