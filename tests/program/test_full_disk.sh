#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: a disk that is full while a server drains costs nothing that was durable: a sentence for each recording,
# counters, an exit status that says so, and what is in the files verifies or goes on. Method: a small tmpfs for the
# recordings, which a ballast file fills.
set -u
. "$(dirname "$0")/setup.sh"
if ! unshare --mount true 2>/dev/null; then
    echo "skip: no mount namespace here"
    exit 0
fi
# The rest runs in a separate mount namespace: the tmpfs goes with it.
if [ "${IN_NAMESPACE:-}" = "" ]; then
    export IN_NAMESPACE=1 BUILD=$build
    exec unshare --mount --propagation private bash "$root/tests/program/test_full_disk.sh"
fi
mkdir disk
mount -t tmpfs -o size=2m tmpfs disk 2>/dev/null || { echo "skip: no tmpfs here"; exit 0; }
trap 'for p in $pids; do kill -9 "$p" 2>/dev/null; done; cd /; umount -l "$work/disk"; rm -rf "$work"' EXIT
metric() { curl -sS -m 10 "$url/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }
fill() { dd if=/dev/zero of=disk/ballast bs=4k 2>/dev/null; }

# -- full while it drains with players in
start --session red="$scenes/spacewar.yaml" --session blue="$scenes/spacewar.yaml" --port 0 --recordings disk --drain-seconds 8 --http 0
url=http://127.0.0.1:$(sed -n 's/^http on .*:\([0-9]*\)$/\1/p' server.out)
for name in red blue; do
    "$client" "127.0.0.1:$port" --session $name --bot random --seconds 600 >$name.out 2>$name.log &
    pids="$pids $!"
done
of_player joined 2
for name in red blue; do durable "$(compgen -G "disk/$name-*.foliot")" 60; done
kill -TERM $server_pid
event draining
durable=$(for f in disk/red-*.foliot; do stat -c %s "$f"; done)
cp disk/red-*.foliot before.foliot
fill
lost() { [ "$(metric foliot_ticks_unrecorded_total)" -gt 0 ] 2>/dev/null; }
ok "ticks that are not recorded are counted" eventually lost
ok "the game goes on meanwhile" kill -0 $server_pid
wait $server_pid
code=$?
ok "the exit status says that something is missing ($code)" test $code = 75
ok "the log names each recording that stopped" event recording-stopped
ok "and so does the last word on each" test "$(grep -cE '^recording disk/(red|blue)-.*it stopped early \(No space left on device\), [0-9]+ ticks are not in it' server.out)" = 2
for name in red blue; do
    file=$(echo disk/$name-*.foliot)
    ticks=$(sed -n "s|^recording disk/$name-.*: ticks 0 to \([0-9]*\);.*|\1|p" server.out)
    "$replay" verify --json "$file" >verify.out 2>verify.log
    ok "what is in the recording of $name verifies, as far as was said ($ticks)" test "$(field ticks verify.out)" = "$ticks" -a "$(grep -c '"verdict":"unfinished"' verify.out)" = 1
done
ok "nothing that was durable is lost" cmp -n "$durable" before.foliot disk/red-*.foliot
rm disk/ballast
start --resume-all disk --port 0 --ticks 30
ok "with room on the disk both go on" test "$(grep -c '^resumed at tick' server.out)" = 2
wait $server_pid
"$replay" verify --json disk/red-*.foliot disk/blue-*.foliot >verify.out
ok "to an end that verifies" test "$(grep -c '"verdict":"match"' verify.out)" = 2

# -- full before a session begins
fill
exits "no room for a recording's head" 75 'No space left on device' "$server" "$scenes/spacewar.yaml" --recordings disk --port 0 --ticks 10

# -- full when a session is to end
rm disk/ballast disk/*.foliot
: >server.log
start "$scenes/spacewar.yaml" --recordings disk --port 0
durable "$(compgen -G 'disk/*.foliot')" 60
fill
ok "the log says so at once" event recording-stopped # once the last page is full
kill -INT $server_pid
wait $server_pid
code=$?
ok "a recording that gets no end is told ($code)" test $code = 75 -a "$(grep -c 'it stopped early (No space left on device)' server.out)" = 1
rm disk/ballast
start --resume-all disk --port 0 --ticks 10
wait $server_pid
"$replay" verify --json disk/*.foliot >verify.out
ok "and goes on when there is room" grep -q '"verdict":"match"' verify.out
