#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: contacts' kernels stay small where a machine has no vectors. Unrolled they grew to functions of 300 kB and objects of
# 720 kB on hppa, beyond the reach of its calls, and the program ended at an illegal instruction.
# Method: the kernels are compiled as for such a machine, and their code is measured. (tests/golden/matrix.sh runs them.)
set -u
cd "$(dirname "$0")/../.." || exit 1
object=$(mktemp)
trap 'rm -f "$object"' EXIT
failed=0
FILE_BYTES_MAX=100000 # x86-64; hppa's are up to half as large again, and reach 240,000

for kernel in solver/solver_simd collide/manifold_box_simd collide/manifold_box_fine_simd; do
    name="${kernel#*/}_is_small_without_vectors"
    ${CC:-cc} -Iinclude -Icommon -D_GNU_SOURCE -O2 -std=gnu11 -ffp-contract=off -fno-math-errno -fno-tree-slp-vectorize \
        -DFOLIOT_SCALAR -c "common/sim/$kernel.c" -o "$object" || exit 1
    bytes=$(size "$object" | awk 'NR == 2 { print $1 }')
    if [ "$bytes" -le "$FILE_BYTES_MAX" ]; then
        echo "ok - $name"
    else
        echo "not ok - $name: $bytes bytes of code"
        failed=1
    fi
done
exit "$failed"
