#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: builds that differ only in what a scene does not use step it together and go on with each other's
# recordings; builds that differ in what it uses do not, but watch. Method: a server and a client are linked with
# one file of the integrators changed, once one that the scene does not use, once its own.
set -u
. "$(dirname "$0")/setup.sh"
if nm "$build/libfoliot.a" 2>/dev/null | grep -qE '__(asan|tsan|ubsan|gcov)_'; then
    echo "skip: objects with and without sanitizers do not link"
    exit 0
fi

changed() { # NAME FILE SED: ./client-NAME and ./server-NAME, linked with that file changed
    local copy=$work/$1.c program
    sed "$3" "$root/$2" >"$copy"
    ! cmp -s "$root/$2" "$copy" || { echo "the change found nothing to change in $2"; return 1; }
    ${CC:-gcc} -O2 -w -I"$root/include" -I"$root/common" -D_GNU_SOURCE -fPIC -std=gnu11 -ffp-contract=off -fno-math-errno \
        -c "$copy" -o "$work/$1.o" || return 1
    for program in client server; do
        # shellcheck disable=SC2046 # one word a library
        ${CC:-gcc} -o "$program-$1" "$build/obj/$program/program/main.o" "$work/$1.o" "$build/parts.a" "$build/libfoliot.a" \
            -Wl,--as-needed $(program_libs) -Wl,-z,muldefs 2>>link.log || return 1
    done
}
quietly() { # COMMAND...
    timeout $LIMIT_SECONDS "$@" >quiet.out 2>quiet.log
}
whole() { # PROGRAM: the fingerprint of everything that it computes
    "$1" --version | sed -n 's/^fingerprint //p'
}

# spacewar uses a splitting integrator, and no scheme of runge_kutta.c.
ok "a build with another Runge-Kutta is made" changed unused common/sim/integrator/runge_kutta.c 's|foliot__add_scaled(v, a, step->dt, rows);|foliot__add_scaled(v, a, step->dt * (1 + 0x1p-50), rows);|'
ok "a build with another splitting is made" changed used common/sim/integrator/splitting.c 's|foliot__add_scaled(x, v, \(.*\), rows);|foliot__add_scaled(x, v, \1 * (1 + 0x1p-50), rows);|'
# One sum in another order rounds differently only now and then.
ok "a build with another order of a sum is made" changed sum common/sim/force/force.c 's|(dx \* dx + dy \* dy) + dz \* dz, r3|dx * dx + (dy * dy + dz * dz), r3|'
ok "the first has another fingerprint" test "$(whole "$server")" != "$(whole ./server-unused)"
ok "the second has another fingerprint" test "$(whole "$server")" != "$(whole ./server-used)"

host "$scenes/spacewar.yaml" --record match.foliot --ticks 600
is_kind() { # KIND COMMAND...: what the client was at the end
    quietly "${@:2}" --json && grep -q "\"kind\":\"$1\"" quiet.out
}
ok "a client that differs in what the scene does not use steps" is_kind stepper ./client-unused 127.0.0.1:$port --bot idle --seconds 1
ok "a client that differs in what it uses watches" is_kind watcher ./client-used 127.0.0.1:$port --bot idle --seconds 1
ok "and one that sums in another order" is_kind watcher ./client-sum 127.0.0.1:$port --bot idle --seconds 1
stop
cp match.foliot before.foliot
exits "a server that differs in what it uses refuses to go on with the recording" 5 'fingerprint [0-9a-f]{32}, and this one has' \
    ./server-used --resume match.foliot --port 0 --ticks 5
ok "and does not touch it" cmp -s match.foliot before.foliot
ok "a server that differs in what it does not use goes on with it" quietly ./server-unused --resume match.foliot --port 0 --ticks 5
"$replay" verify --json match.foliot >verify.out
ok "and the recording verifies" grep -q '"verdict":"match"' verify.out
