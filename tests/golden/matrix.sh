#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# matrix.sh [short|full] [TARGET...]: builds the driver for every target, runs it (under qemu-user or
# node where the ISA is not this machine's) and compares what it prints with tests/golden/digests.txt.
# Prints a table; a target that differs names the first case and tick. Exit 1 if one does, or fails.
set -u
cd "$(dirname "$0")/../.." || exit 1
which=${1:-full}
shift $(($# > 0 ? 1 : 0))
out=${BUILD:-build}/determinism
golden=tests/golden/digests.txt
mkdir -p "$out/include"
# The one header from outside of libc; cross compilers do not look where it lies.
cp /usr/include/xxhash.h "$out/include/"
# Under qemu a machine without vectors takes some minutes of an idle processor, and more of a busy one.
SECONDS_MAX=${SECONDS_MAX:-1800}
export out golden SECONDS_MAX

# node 20's quick calls into WASI crash it once a module's memory has grown; without them it is sound.
# NAME ABI ENDIAN : COMPILER AND FLAGS : RUNNER. Those that take longest come first: two run at a time.
targets_short='
s390x        s390x      big    : s390x-linux-gnu-gcc -O2 -static : qemu-s390x-static
aarch64      aarch64    little : aarch64-linux-gnu-gcc -O2 -static : qemu-aarch64-static
wasm32       wasm32     little : clang --target=wasm32-wasi -O2 : node --no-turbo-fast-api-calls --experimental-wasi-unstable-preview1 --no-warnings tests/golden/wasi.mjs
wasm32-simd  wasm32     little : clang-19 --target=wasm32-wasi -msimd128 -O3 : node --no-turbo-fast-api-calls --experimental-wasi-unstable-preview1 --no-warnings tests/golden/wasi.mjs
gcc-O0       x86-64     little : gcc -O0 :
gcc-O3       x86-64     little : gcc -O3 :
gcc-v3       x86-64     little : gcc -O3 -march=x86-64-v3 :
gcc-scalar   x86-64     little : gcc -O2 -DFOLIOT_SCALAR :
clang-O0     x86-64     little : clang -O0 :
clang-O3     x86-64     little : clang -O3 :
'
targets_full='
gcc-O2       x86-64     little : gcc -O2 :
clang-O2     x86-64     little : clang -O2 :
clang-v3     x86-64     little : clang -O3 -march=x86-64-v3 :
i686         i686       little : i686-linux-gnu-gcc -O2 -msse2 -mfpmath=sse -static : qemu-i386-static
i686-O0      i686       little : i686-linux-gnu-gcc -O0 -msse2 -mfpmath=sse -static : qemu-i386-static
aarch64-O3   aarch64    little : aarch64-linux-gnu-gcc -O3 -static : qemu-aarch64-static
armhf        armhf      little : arm-linux-gnueabihf-gcc -O2 -static : qemu-arm-static
armel        armel      little : arm-linux-gnueabi-gcc -O2 -static -Wl,-z,muldefs : qemu-arm-static
riscv64      riscv64    little : riscv64-linux-gnu-gcc -O2 -static : qemu-riscv64-static
ppc64el      ppc64el    little : powerpc64le-linux-gnu-gcc -O2 -static : qemu-ppc64le-static
mips64el     mips64el   little : mips64el-linux-gnuabi64-gcc -O2 -static : qemu-mips64el-static
ppc64        ppc64      big    : powerpc64-linux-gnu-gcc -O2 -static : qemu-ppc64-static
powerpc      powerpc    big    : powerpc-linux-gnu-gcc -O2 -static : qemu-ppc-static
mips         mips       big    : mips-linux-gnu-gcc -O2 -static : qemu-mips-static
sparc64      sparc64    big    : sparc64-linux-gnu-gcc -O2 -static : qemu-sparc64-static
hppa         hppa       big    : hppa-linux-gnu-gcc -O2 -static : qemu-hppa-static
'
targets=$targets_short
[ "$which" = short ] || targets=$targets_short$targets_full

# The last flags are those of the Makefile's BIT_FLAGS: they decide bits.
BIT_FLAGS=${BIT_FLAGS:--std=gnu11 -ffp-contract=off -fno-math-errno -fno-tree-slp-vectorize}
sources="tests/golden/driver.c tests/golden/cases.c common/base/assert.c common/base/bytes.c
    common/base/status.c common/base/text.c common/base/version.c common/base/cpu.c common/base/buffer.c
    $(echo common/command/{command,command_codec,command_print}.c) $(find common/sim -name '*.c' | sort | tr '\n' ' ')"
replay_sources="$(echo tools/replay/{main,tool,verify,info,state,diff,differences,export,serve,run}.c)
    $(echo common/recording/{format,block_content,block_reader,record_decoder,tick_decoder,scan,replay,replay_open,verify}.c \
        common/recording/{keyframe_codec,session_log}.c \
        common/simulation/{simulation,world_simulation,input_log}.c common/divergence/{divergence,state_layers,search,perturb}.c)
    $(echo common/base/{unpack,crc32c,json,options,options_page,terminal,file}.c)"
[ -f "$out/ready_scenes.h" ] || { echo "matrix.sh: $out/ready_scenes.h is missing; 'make determinism' writes it" >&2; exit 2; }
ready="-DREADY_SCENES=\"$PWD/$out/ready_scenes.h\""
export BIT_FLAGS sources ready replay_sources

# A file NAME_simd.c is compiled once for each instruction set, as in the Makefile. Only x86-64 has more than one.
compile() { # NAME COMPILER-AND-FLAGS
    local name=$1 compiler=$2 dir=$out/$1 source object objects="" isa isas flags include atomic=
    mkdir -p "$dir"
    [[ $compiler != *-linux-gnu*-gcc* ]] || atomic=-latomic # 64 bits at once are a call on some of 32
    include="-Iinclude -Icommon -I$out/include"
    for source in $sources; do
        isas=base
        [[ $source != *_simd.c || ! $name =~ ^(gcc-|clang-|reference$) ]] || isas="base avx2 avx512"
        for isa in $isas; do
            object=$dir/$(echo "${source%.c}" | tr / _)_$isa.o
            objects="$objects $object"
            case $isa in
            avx2) flags=-mavx2 ;;
            avx512) flags="-mavx512f -mavx512dq -mavx512vl -mavx512bw -mprefer-vector-width=512" ;;
            *) flags= ;;
            esac
            # shellcheck disable=SC2086 # flags, one word each
            $compiler $include $ready $flags -DFOLIOT__ISA=$isa -D_GNU_SOURCE $BIT_FLAGS -c "$source" -o "$object" || return 1
        done
    done
    # shellcheck disable=SC2086
    $compiler -o "$dir/driver" $objects -lm $atomic || return 1
    # foliot-replay as far as it needs nothing but libc, with the same objects of sim.
    local shared=${objects#*cases_base.o}
    # shellcheck disable=SC2086
    $compiler $include -D_GNU_SOURCE -DFOLIOT_REPLAY_CORE -DFOLIOT_NO_ZSTD -DFOLIOT_NO_LUA $BIT_FLAGS -o "$dir/foliot-replay" $replay_sources $shared -lm $atomic
}

one() { # a line of the table
    local name abi endian rest compiler runner dir begin=$SECONDS
    read -r name abi endian rest <<<"${1%%:*}"
    rest=${1#*:}
    compiler=${rest%%:*} runner=${rest#*:}
    dir=$out/$name
    rm -rf "$dir"
    mkdir -p "$dir"
    if ! compile "$name" "$compiler" >"$dir/log" 2>&1; then
        printf '%-11s %-9s %-7s does not build: %s\n' "$name" "$abi" "$endian" "$(grep -m1 -iE 'error|not found|undefined' "$dir/log")"
        return
    fi
    local cases differ ended=0
    # shellcheck disable=SC2086
    timeout "$SECONDS_MAX" $runner "$dir/driver" >"$dir/digests.txt" 2>>"$dir/log" || ended=$?
    if [ "$ended" != 0 ]; then
        [ "$ended" != 124 ] || echo "$SECONDS_MAX s were not enough" >>"$dir/log"
        printf '%-11s %-9s %-7s does not run: exit %d after %d lines of %d: %s\n' "$name" "$abi" "$endian" "$ended" \
            "$(wc -l <"$dir/digests.txt")" "$(wc -l <"$golden")" "$(grep -m1 -E 'exception|signal|cases:|not enough' "$dir/log" || tail -n 1 "$dir/log")"
        return
    fi
    cases=$(grep -c -v '^fingerprint' "$dir/digests.txt")
    if cmp -s "$dir/digests.txt" "$golden"; then
        # Recordings that another build made.
        # shellcheck disable=SC2086
        if ! timeout "$SECONDS_MAX" $runner "$dir/foliot-replay" verify tests/golden/*.foliot games/*/*.foliot >"$dir/recordings.txt" 2>>"$dir/log" ||
            [ "$(grep -c ': match: ' "$dir/recordings.txt")" != "$(find tests/golden games -name '*.foliot' | wc -l)" ]; then
            printf '%-11s %-9s %-7s recordings: %s\n' "$name" "$abi" "$endian" "$(cat "$dir/recordings.txt" "$dir/log" | grep -v ': match: ' | head -n 1)"
            return
        fi
        printf '%-11s %-9s %-7s equal: %d cases, %d recordings, %d s\n' "$name" "$abi" "$endian" "$cases" "$(grep -c ': match: ' "$dir/recordings.txt")" $((SECONDS - begin))
        touch "$dir/equal"
        return
    fi
    differ=$(diff "$golden" "$dir/digests.txt" | grep -c '^[<>]')
    local scene integrator tick
    read -r scene integrator tick _ < <(diff "$golden" "$dir/digests.txt" | sed -n 's/^[<>] //p')
    if [ "$scene" != fingerprint ] && build_reference; then
        "$out/reference/driver" "$scene" "$integrator" >"$dir/reference.trace"
        # shellcheck disable=SC2086
        timeout "$SECONDS_MAX" $runner "$dir/driver" "$scene" "$integrator" >"$dir/trace"
        read -r _ _ tick _ < <(diff "$dir/reference.trace" "$dir/trace" | sed -n 's/^[<>] //p')
    fi
    printf '%-11s %-9s %-7s DIFFERS in %d lines, first: %s %s at tick %s\n' "$name" "$abi" "$endian" "$differ" "$scene" "$integrator" "$tick"
}
# The driver that a differing target's trace is compared with. Built once, and only where it is needed.
build_reference() {
    (
        flock 9
        [ -x "$out/reference/driver" ] || compile reference "gcc -O2" >"$out/reference.log" 2>&1
    ) 9>"$out/reference.lock"
}
export -f one compile build_reference

rm -rf "$out/reference"
if [ "${GOLDEN:-}" = write ]; then
    build_reference || { cat "$out/reference.log"; exit 1; }
    "$out/reference/driver" >"$golden"
    {
        echo '// SPDX-License-Identifier: MIT'
        echo '// fingerprint_golden.h: written by "make golden", which a change of format alone may use.'
        sed -n 's/^fingerprint \([a-z0-9]*\) 0 \([0-9a-f]*\)$/#define GOLDEN_\1 0x\2u/p' "$golden"
    } >common/sim/selftest/fingerprint_golden.h
    echo "wrote $golden and common/sim/selftest/fingerprint_golden.h"
    exit
fi
for name in "$@"; do
    grep -q "^$name " <<<"$targets" || { echo "matrix.sh: no target '$name' in '$which'" >&2; exit 2; }
done
selected=$(echo "$targets" | grep -v '^$' | if [ $# = 0 ]; then cat; else grep -E "^($(echo "$*" | tr ' ' '|')) "; fi)
printf '%-11s %-9s %-7s\n' target ABI endian
echo "$selected" | tr '\n' '\0' | xargs -0 -P "${JOBS:-$(nproc)}" -I '{}' bash -c 'one "$1"' _ '{}' | tee "$out/table.txt"
equal=$(grep -c ' equal: ' "$out/table.txt")
wanted=$(echo "$selected" | wc -l)
abis=$(grep ' equal: ' "$out/table.txt" | awk '{print $2}' | sort -u | wc -l)
big=$(grep ' equal: ' "$out/table.txt" | awk '$3 == "big" {print $2}' | sort -u | wc -l)
echo "$equal of $wanted targets equal: $abis ABIs, $big of them big-endian"
[ -z "${RESULTS:-}" ] || echo "$equal $((wanted - equal))" >>"$RESULTS"
[ "$equal" = "$wanted" ]
