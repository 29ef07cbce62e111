#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_headers.sh: every public header compiles alone, as C11, C17 and C++17, with every compiler that is here and
# without a warning; foliot.h includes all others; a C++ program links the library and steps a world.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
warnings="-Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude"

# check NAME COMMAND...: COMMAND ends with status 0.
check() {
    local name=$1
    shift
    if "$@" >"$folder/output" 2>&1; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        head -n 20 "$folder/output" | sed 's/^/  /'
        failed=1
    fi
}

# The headers, each in a separate source, so that one run of a compiler takes all of them.
: >"$folder/sources"
for header in include/foliot/*.h; do
    name=$(basename "$header" .h)
    for extension in c cpp; do
        printf '#include <foliot/%s.h>\n#include <foliot/%s.h>\nextern int used_%s;\nint used_%s;\n' \
            "$name" "$name" "$name" "$name" >"$folder/alone_$name.$extension"
    done
    [ "$name" = foliot ] || grep -qF "#include \"foliot/$name.h\"" include/foliot/foliot.h ||
        echo "$name.h" >>"$folder/left-out"
done
check "foliot.h includes every public header" test ! -s "$folder/left-out"

# Statuses are not ignored: neither a declaration without the attribute nor a call without a check gets by.
grep -nE '^foliot_status foliot_' include/foliot/*.h >"$folder/unmarked"
check "every function that returns a status must be checked" test ! -s "$folder/unmarked"
printf '#include <foliot/world.h>\nvoid f(foliot_world *w);\nvoid f(foliot_world *w)\n{\n    %s;\n}\n' \
    'foliot_world_step(w, 0, 0, 0)' >"$folder/ignores.c"
# shellcheck disable=SC2086
check "and a compiler reports a call that is not" \
    bash -c "! ${CC:-cc} -std=c11 $warnings -c -o '$folder/ignores.o' '$folder/ignores.c'"

for pair in "gcc g++" "clang clang++"; do
    read -r c cxx <<<"$pair"
    if command -v "$c" >/dev/null; then
        for standard in c11 c17; do
            # shellcheck disable=SC2086
            check "every header compiles alone with $c as $standard" \
                "$c" -std=$standard $warnings -fsyntax-only "$folder"/alone_*.c
        done
    fi
    if command -v "$cxx" >/dev/null; then
        # shellcheck disable=SC2086
        check "every header compiles alone with $cxx as c++17" \
            "$cxx" -std=c++17 $warnings -fsyntax-only "$folder"/alone_*.cpp
    fi
done

# The program takes the address of every function that a header declares: a header without extern "C" does not link.
grep -hoE '\bfoliot_[a-z][a-z0-9_]*\(' include/foliot/*.h | tr -d '(' | sort -u |
    grep -vxE 'foliot_digest_equal' >"$folder/functions"
{
    echo '#include <cstdio>'
    echo '#include <cstring>'
    echo '#include <foliot/foliot.h>'
    echo 'typedef void (*function)(void);'
    echo 'static function all[] = {'
    sed 's/.*/    reinterpret_cast<function>(\&&),/' "$folder/functions"
    echo '};'
    cat <<'PROGRAM'
int main()
{
    for (function f : all)
        if (!f)
            return 1;
    foliot_body_definition ball = foliot_body_definition_default();
    ball.shape.kind = FOLIOT_SHAPE_SPHERE;
    ball.shape.radius = 1;
    foliot_scene scene = foliot_scene_default();
    scene.name = "ball";
    scene.dt = 0.5;
    scene.gravity[2] = -2;
    scene.substeps = 1;
    scene.bodies = &ball;
    scene.body_count = 1;
    foliot_world *world = nullptr;
    if (foliot_world_create(&scene, &world, nullptr) != FOLIOT_STATUS_OK ||
        foliot_world_step(world, nullptr, 0, nullptr) != FOLIOT_STATUS_OK)
        return 1;
    foliot_body_id id = foliot_world_get_body_id(world, 0);
    std::printf("%g m/s at tick %d\n", foliot_world_get_body_state(world, id).velocity[2],
                static_cast<int>(foliot_world_get_tick(world)));
    foliot_world_destroy(world);
    std::printf("version %s %s\n", FOLIOT_VERSION, foliot_get_version());
    foliot_session_config session = foliot_session_config_default();
    return std::strcmp(session.name, "main") != 0 || FOLIOT_VERSION_NUMBER <= 0;
}
PROGRAM
} >"$folder/program.cpp"
sanitizers=""
grep -qa __asan_init "$build/libfoliot.a" 2>/dev/null && sanitizers=-fsanitize=address,undefined
grep -qa __tsan_init "$build/libfoliot.a" 2>/dev/null && sanitizers=-fsanitize=thread
cxx=$(command -v g++ || command -v clang++)
if [ -n "$cxx" ] && [ -f "$build/libfoliot.a" ]; then
    # shellcheck disable=SC2086
    check "a C++ program links every function" \
        "$cxx" -std=c++17 $warnings $sanitizers -Wno-cast-function-type -o "$folder/program" "$folder/program.cpp" \
        "$build/libfoliot.a" -Wl,--as-needed -lyaml -lenet -lxxhash -lsodium -lzstd -llua5.4 -lm -latomic -pthread
    check "and runs" "$folder/program"
    "$folder/program" >"$folder/printed" 2>&1
    check "and steps a world" grep -qx -- '-1 m/s at tick 1' "$folder/printed"
    check "FOLIOT_VERSION is made of its three numbers" grep -qxE 'version ([0-9.]+) \1' "$folder/printed"
fi
# A const object is local to its file in C++, unless a header has declared it.
cat >"$folder/module.cpp" <<'MODULE'
#include <foliot/simulation.h>
static foliot_simulation_kind kind;
static foliot_status describe(const void *, size_t, foliot_simulation_terms *) { return FOLIOT_STATUS_OK; }
static foliot_simulation_module filled()
{
    foliot_simulation_module module{};
    module.abi = FOLIOT_SIMULATION_ABI;
    module.kind = &kind;
    module.describe = describe;
    return module;
}
const foliot_simulation_module foliot_simulation_entry = filled();
MODULE
if [ -n "$cxx" ]; then
    # shellcheck disable=SC2086
    check "a module in C++ compiles" "$cxx" -std=c++17 $warnings -fPIC -c -o "$folder/module.o" "$folder/module.cpp"
    check "and exports its entry" bash -c "nm -g '$folder/module.o' | grep -qE ' [A-Z] foliot_simulation_entry$'"
fi
exit $failed
