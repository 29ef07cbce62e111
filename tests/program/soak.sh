#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# soak.sh: two servers, one of snapshots and one in lockstep, with eight bots each for SOAK_SECONDS (300), while others
# come and go. The memory and descriptors of a server after a fifth of the time are those at the end, except for the
# index of its recording; the recordings verify. Not part of `make test`: it takes its time. `make soak`.
set -u
. "$(dirname "$0")/setup.sh"
long=${SOAK_SECONDS:-300} modes="snapshot lockstep"
declare -A pid at held files
memory() { awk '/^RssAnon/ { print $2 }' "/proc/$1/status"; } # KiB
descriptors() { find "/proc/$1/fd" -mindepth 1 | wc -l; }

for mode in $modes; do
    start "$scenes/spacewar.yaml" --mode "$mode" --record "$mode.foliot" --port 0 || exit 1
    pid[$mode]=$server_pid at[$mode]=$port
    cp server.out "$mode.out"
    "$client" 127.0.0.1:"$port" --clients 7 --bot random --seconds $((long + 10)) --impair loss=2%,delay=20ms,jitter=0-20ms,seed=4 \
        >/dev/null 2>>bots.log &
    pids="$pids $!"
done
settled=$((long / 5))
for second in $(seq 1 "$long"); do
    if [ $((second % 5)) = 1 ]; then # the eighth, who comes for two seconds
        for mode in $modes; do
            "$client" 127.0.0.1:"${at[$mode]}" --bot circle --seconds 2 >/dev/null 2>>clients.log &
        done
    fi
    sleep 1
    for mode in $modes; do
        [ $((second % 5)) = 4 ] || continue # between two clients
        [ $((second / 5)) = $((settled / 5)) ] && held[$mode]=$(memory "${pid[$mode]}") files[$mode]=$(descriptors "${pid[$mode]}")
        [ $((second % 30)) = 29 ] && echo "# $second s, $mode: $(memory "${pid[$mode]}") KiB, $(descriptors "${pid[$mode]}") descriptors"
    done
done
for mode in $modes; do
    memory=$(memory "${pid[$mode]}") open=$(descriptors "${pid[$mode]}")
    ok "$mode: memory is flat (${held[$mode]} KiB after $settled s, $memory after $long s)" test "$memory" -le $((held[$mode] + held[$mode] / 50 + 256))
    ok "$mode: no descriptor is left over (${files[$mode]}, $open)" test "$open" -le "${files[$mode]}"
    kill -TERM "${pid[$mode]}"
    wait "${pid[$mode]}"
    ok "$mode: the server ends in order" test $? = 0
    ok "$mode: the recording verifies" "$replay" verify "$mode.foliot"
done
