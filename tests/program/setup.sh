# SPDX-License-Identifier: MIT
# setup.sh: sourced by the tests of this folder. Changes to a separate folder, which is removed with the test, and has
# the programs' paths.
# shellcheck shell=bash disable=SC2034
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
root=$PWD
build=$(cd "${BUILD:-build}" && pwd)
server=$build/foliot-server client=$build/foliot-client replay=$build/foliot-replay
scenes=$root/scenes
work=$(mktemp -d)
pids=
trap 'for p in $pids; do kill -9 "$p" 2>/dev/null; done; rm -rf "$work"' EXIT
cd "$work" || exit 1
ok() { # NAME CONDITION...
    local name=$1
    shift
    if "$@"; then echo "ok - $name"; else echo "not ok - $name"; tail -n 4 ./server.log ./*.log ./*.out 2>/dev/null | cut -c 1-200; fi
}
# Tests wait for what happens, and never for a time: this limit is for what does not happen, and is long since the
# machine may be busy.
LIMIT_SECONDS=60
eventually() { # COMMAND...: as soon as it succeeds
    local end=$((SECONDS + LIMIT_SECONDS))
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}
has_lines() { # FILE PATTERN [COUNT]: at least COUNT (1) lines of it match PATTERN
    [ "$(grep -cE -- "$2" "$1" 2>/dev/null)" -ge "${3:-1}" ] 2>/dev/null
}
logged() { eventually has_lines server.log "$@"; } # PATTERN [COUNT]: waits until the server has logged it
event() { logged "\"event\":\"$1\"" "${2:-1}"; } # NAME [COUNT]: waits until the log has such events
of_player() { logged "\"event\":\"$1\".*\"player\":${3:-}" "${2:-1}"; } # NAME [COUNT [PLAYER]]: such events of players
events() { grep -c "\"event\":\"$1\"" server.log; } # NAME: their number
gone() { ! kill -0 "$1" 2>/dev/null; } # PID
exits() { # NAME CODE PATTERN COMMAND...: that exit code, and a sentence like PATTERN
    local name=$1 code=$2 pattern=$3 rc
    shift 3
    timeout $LIMIT_SECONDS "$@" >out 2>err
    rc=$?
    if [[ "$rc" =~ ^($code)$ ]] && grep -qE "$pattern" err; then echo "ok - $name"
    else echo "not ok - $name: exit $rc, not $code"; head -n 5 out err; fi
}
listens() { grep -q '^listening' server.out || gone $server_pid; }
start() { # ARGUMENT...: a server that listens; $server_pid, $port. Its log is JSON unless LOG_FORMAT=text.
    : >server.out
    "$server" "$@" --log-format "${LOG_FORMAT:-json}" --verbose >server.out 2>>server.log & # all counters at its end
    server_pid=$!
    pids="$pids $server_pid"
    eventually listens && grep -q '^listening' server.out || return 1
    port=$(sed -n '/^listening/{s/.*:\([0-9]*\)$/\1/p;q}' server.out)
}
last_tick() { "$replay" info --json "$1" 2>/dev/null | sed -n 's/.*"last_tick":\([0-9]*\).*/\1/p'; } # FILE: a recording, which may have no end
has_ticks() { [ "$(last_tick "$1")" -ge "$2" ] 2>/dev/null; } # FILE TICK
durable() { eventually has_ticks "$@"; } # FILE TICK: waits until the recording has it
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" "$2"; } # NAME FILE: of its JSON
host() { # ARGUMENT...: a server in lockstep
    : >server.log
    start "$@" --mode lockstep --port 0
}
stop() {
    kill -TERM $server_pid
    wait $server_pid
}
counter() { awk -v name="$1" '$1 == name { print $2 }' server.out; }
every() { # FIELD AWK-CONDITION FILE: holds in all lines of the file
    field "$1" "$3" | awk "{ n++; if (!(\$1 $2)) bad = 1 } END { exit bad || !n }"
}
flip() { # FILE OFFSET: every bit of that byte
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf "\\x$(printf %02x $((byte ^ 255)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
digest_at() { # FILE TICK: as the recording's replay has it
    "$replay" state "$1" --tick "$2" --json | sed -n 's/.*"digest":"\([0-9a-f]*\)".*/\1/p'
}

# The libraries that the Makefile links programs with.
program_libs() {
    env -u MAKEFLAGS make -s -C "$root" --no-print-directory BUILD="$build" DEPS=no --eval='libs: ; @echo $(LIBS) -pthread' libs
}
# A program some of whose files were compiled with fused multiply-adds, as somebody's CFLAGS might do.
FUSED="common/sim/state/body.c common/sim/scene/scene.c common/sim/force/force.c common/sim/force/force_kick.c common/sim/integrator/splitting.c common/sim/integrator/verlet.c common/sim/world/step.c"
can_fuse() {
    if [ "$(uname -m)" != x86_64 ] || ! grep -q -w fma /proc/cpuinfo; then
        echo "skip: this machine has no fused multiply-add to compile with"
    elif nm "$build/libfoliot.a" 2>/dev/null | grep -qE '__(asan|tsan|ubsan|gcov)_'; then
        echo "skip: objects with and without sanitizers do not link"
    else
        return 0
    fi
    return 1
}
fused() { # client or server: ./client-fused or ./server-fused
    local flags="-O2 -w -I$root/include -I$root/common -D_GNU_SOURCE -fPIC -std=gnu11 -ffp-contract=fast -mfma -fno-math-errno"
    local objects="$build/obj/$1/program/main.o" file
    for file in $FUSED; do
        # shellcheck disable=SC2086
        ${CC:-gcc} $flags -c "$root/$file" -o "$(basename "$file").o" || return 1
        objects="$objects $(basename "$file").o"
    done
    # shellcheck disable=SC2046,SC2086
    ${CC:-gcc} -o "$1-fused" $objects "$build/parts.a" "$build/libfoliot.a" -Wl,--as-needed $(program_libs) -Wl,-z,muldefs 2>link.log
}
