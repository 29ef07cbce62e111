#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_alarms.sh: every alarm is shown to ring. The library is built again with one rule broken (in
# one file where that is enough); the self-test must name the part, or the golden digests must differ,
# or the compiler must refuse. An alarm that stays silent fails here.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
lib=$build/libfoliot.a
CC=${CC:-gcc}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
flags="-O2 -w -Iinclude -Icommon -D_GNU_SOURCE -fPIC"
bits="-std=gnu11 -ffp-contract=off -fno-math-errno"
machine=$(uname -m)

report() { # NAME STATUS
    if [ "$2" = 0 ]; then echo "ok - $1"; else echo "not ok - $1"; fi
}

if nm "$lib" 2>/dev/null | grep -qE '__(asan|tsan|ubsan|gcov)_'; then
    echo "skip: objects with and without sanitizers do not link"
    exit 0
fi

# The driver without the ready scenes, and the self-test, with objects that take the library's place.
# shellcheck disable=SC2086 # flags, one word each
{
    for program in driver cases selftest; do
        $CC $flags $bits -c "tests/golden/$program.c" -o "$tree/$program.o" || exit 1
    done
}
link_program() { # PROGRAM OBJECT...
    local program=$1
    shift
    $CC -o "$tree/$program" "$@" "$lib" -lm -pthread 2>"$tree/link.log" || { cat "$tree/link.log"; return 1; }
}
link_driver() { link_program run "$tree/driver.o" "$tree/cases.o" "$@"; } # OBJECT... -> $tree/run
link() { link_driver "$@" && link_program self "$tree/selftest.o" "$@"; } # OBJECT... -> $tree/run, $tree/self
# Runs the linked driver, which may also refuse to run. It ends at the first case that differs: nobody reads on.
digests_differ() { ! "$tree/run" 2>/dev/null | cmp -s - "$tree/sound.txt"; }

link && "$tree/run" >"$tree/sound.txt" && [ "$("$tree/self")" = OK ] &&
    head -n "$(wc -l <"$tree/sound.txt")" tests/golden/digests.txt | cmp -s - "$tree/sound.txt"
report "a sound build passes" $?

# A source changed by a sed command, compiled and put in the library's place.
changed() { # FILE SED-COMMAND [FLAGS]: object in $tree/changed.o
    local file=$1 copy
    copy=$tree/src/$1
    rm -rf "$tree/src"
    mkdir -p "$tree/src"
    cp -r common include "$tree/src/"
    sed -i "$2" "$copy"
    if cmp -s "$file" "$copy"; then
        echo "the change found nothing to change in $file"
        return 1
    fi
    local unit=${3:-$1}
    # shellcheck disable=SC2086
    $CC -O2 -w -I"$tree/src/include" -I"$tree/src/common" -D_GNU_SOURCE -fPIC $bits -c "$tree/src/$unit" -o "$tree/changed.o"
}
names_part() { # NAME PART FILE SED [UNIT]
    changed "$3" "$4" "${5:-$3}" && link "$tree/changed.o" && [ "$("$tree/self")" = "$2" ] && digests_differ
    report "$1" $?
}
names_part "one ulp of pi is named" sin common/sim/math/math_tables.h 's/HALF_PI_1 = 0x1.921fb54400000p+0/HALF_PI_1 = 0x1.921fb54400001p+0/' common/sim/math/math.c
names_part "one ulp in a table of exp is named" exp common/sim/math/math_tables.h 's/0x1.6a09e667f3bcdp+0/0x1.6a09e667f3bcep+0/' common/sim/math/math.c
names_part "one ulp in a table of log is named" log common/sim/math/math_tables.h 's/LN2_LOW = 0x1.ef35793c76730p-45/LN2_LOW = 0x1.ef35793c70000p-40/' common/sim/math/math.c
names_part "one ulp in a table of atan is named" atan2 common/sim/math/math_tables.h 's/0x1.0657e94db30d0p-1/0x1.0657e94db30d1p-1/' common/sim/math/math.c
names_part "a hash with one other bit is named" XXH3 common/sim/math/digest.c 's/return \(.*\)(spans, count);/return (foliot_digest){\1(spans, count).low ^ 1, \1(spans, count).high};/'
changed common/sim/world/step.c 's|\.dt = dt / world->scene.substeps,|.dt = dt / world->scene.substeps * (1 + 0x1p-52),|' && link "$tree/changed.o" && [ "$("$tree/self")" = "springs, drag, pulses, rotation" ] && digests_differ
report "one ulp of dt is named" $?

if [ "$machine" = x86_64 ]; then
    fused="-std=gnu11 -ffp-contract=fast -mfma -mavx2 -fno-math-errno"
    # The whole library, as somebody's CFLAGS might have it if they came last.
    find common/sim -name '*.c' | sort >"$tree/sources"
    compile_fused() {
        # shellcheck disable=SC2086
        $CC $flags $fused -c "$1" -o "$tree/fused/$(echo "${1%.c}" | tr / _).o"
    }
    export -f compile_fused
    export CC flags fused tree
    mkdir -p "$tree/fused"
    xargs -P 2 -I '{}' bash -c 'compile_fused {}' <"$tree/sources"
    link "$tree"/fused/*.o && [ "$("$tree/self")" = contraction ] && digests_differ
    report "a build with contraction on fails its self-test, which says so, and the golden digests" $?
    printf '#include "base/cpu.h"\nfoliot__simd foliot__cpu_simd(void) { return FOLIOT__SIMD_BASE; }\n' >"$tree/base_cpu.c"
    # shellcheck disable=SC2086
    $CC $flags $bits -c "$tree/base_cpu.c" -o "$tree/base_cpu.o"
    link "$tree/base_cpu.o" && [ "$("$tree/self")" = OK ] && ! digests_differ
    report "a machine without AVX2 has the same digests" $?
    # The kernels of boxes compared with those of AVX2, by a test that needs no other object.
    link_boxes() { link_program boxes "$tree"/boxes-*.o "$@" -lcmocka; } # OBJECT... -> $tree/boxes
    boxes_agree() { ONLY='vector_units*' "$tree/boxes" >"$tree/boxes.log" 2>&1; }
    for source in unit/test_manifold support/shapes support/check support/scene_builder; do
        # shellcheck disable=SC2086
        $CC $flags $bits -Itests/support -c "tests/$source.c" -o "$tree/boxes-${source#*/}.o" || exit 1
    done
    link_boxes && boxes_agree && grep -qi 'ok.*vector_units' "$tree/boxes.log"
    report "the kernels of boxes agree in a sound build" $?
    # A file in which it changes an instruction, alone: no file escapes the golden digests. Each with LONG=1; without it
    # every fourth, all kernels for machines without AVX2 among them.
    silent= number=0
    while read -r source; do
        number=$((number + 1))
        [ -n "${LONG:-}" ] || [ $((number % 4)) = 0 ] || [[ $source == *_simd.c ]] || continue
        object=$tree/fused/$(echo "${source%.c}" | tr / _).o
        objdump -d "$object" | grep -q 'vfn*m[as][du]' || continue
        case $source in
        */fingerprint.c) continue ;; # the probe itself, above
        # Which sensors are met, which pairs are looked at closer, which scenes and joints are refused: none decides
        # bits of state.
        */sensor.c | */broadphase.c | */scene_check_*.c | */scene_rules.c | */scene_fit.c) continue ;;
        # Its results are rounded to binary32, and no case meets a pair where that shows: many pairs are compared instead.
        */manifold_box_fine_simd.c)
            link_boxes "$object" && ! boxes_agree || silent="$silent $source"
            continue
            ;;
        # Limits of fast joints, which are rounded to binary32.
        */joint_blocks.c) continue ;;
        # Where a body was between two ticks: tests/unit/test_history.c has a sum of that.
        */world/world.c) continue ;;
        # Their one product of that shape is exact: dt / 2; ticks times substeps.
        */lattice.c | */state/state.c) continue ;;
        esac
        machine_of= # these run where there is no AVX2: so that they run here, the library gets another cpu.o
        case $source in *_simd.c) machine_of=$tree/base_cpu.o ;; esac
        # shellcheck disable=SC2086 # one word or none
        link_driver "$object" $machine_of && digests_differ || silent="$silent $source"
    done <"$tree/sources"
    [ -z "$silent" ] || echo "contraction goes unseen in:$silent"
    [ -z "$silent" ]
    report "contraction in any one file changes a golden digest" $?
    # A program linked with -ffast-math starts with flush-to-zero set.
    $CC -ffast-math -o "$tree/self" "$tree/selftest.o" "$lib" -lm -pthread && [ "$("$tree/self")" = subnormals ] &&
        $CC -ffast-math -o "$tree/run" "$tree/driver.o" "$tree/cases.o" "$lib" -lm -pthread &&
        ! "$tree/run" >/dev/null 2>"$tree/refusal" && grep -q "flush-to-zero" "$tree/refusal"
    report "flush-to-zero is named, and refused by every step" $?
    $CC -m32 -mno-sse -w -Icommon -std=gnu11 -fsyntax-only -x c common/sim/math/floating_point.h 2>&1 | grep -q 'evaluated as doubles'
    report "x87 arithmetic does not compile" $?
fi

$CC -ffast-math -w -Icommon -std=gnu11 -fsyntax-only -x c common/sim/math/floating_point.h 2>&1 | grep -q 'Take it out of CFLAGS'
report "-ffast-math does not compile" $?

last_flags=$(make -n -B CC="$CC" CFLAGS='-O2 -ffp-contract=fast' BUILD="$tree/none" "$tree/none/obj/common/sim/math/math.o" 2>/dev/null | grep -- '-c common/sim/math/math.c')
echo "$last_flags" | grep -q -- '-ffp-contract=fast.*-ffp-contract=off'
report "no CFLAGS replace the flags that decide bits" $?

unlisted() { # NAME FILE SED MESSAGE
    ! changed "$2" "$3" common/sim/world/state_io.c 2>"$tree/asserted" && grep -qF "$4" "$tree/asserted"
    report "$1" $?
}
unlisted "a field of the world's state that is not digested does not compile" common/sim/state/state.h \
    's|^    foliot__rng rng;|&\n    uint64_t unlisted;|' "a field of the world is state and not listed"
unlisted "a field of a player that is not digested does not compile" common/sim/state/state.h \
    's|^    uint16_t joined;|&\n    uint32_t unlisted;|' "a field of foliot__player is not written"
unlisted "a table that is neither state nor cache does not compile" common/sim/state/state.h \
    's|^    X(double, scratch, scratch).*|&\n    X(double, unlisted, slots) \\|' "a table is not listed as state or cache"
