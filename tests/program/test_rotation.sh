#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: recordings of a session that goes on for long are split: each ends in order and verifies by itself, the next begins
# with the tick and the state that ended the one before, and neither a crash nor a full disk loses what was durable.
# Method: parts of a second and a half; with players, and with rules.
set -u
. "$(dirname "$0")/setup.sh"
exits "a file of its own does not go with parts" 2 'recordings-minutes' "$server" "$scenes/spacewar.yaml" --record a.foliot --recordings-minutes 1 --port 0
field_of() { # FIELD FILE: of its info
    "$replay" info --json "$2" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"
}
parts_of() { # NAME: "FIRST LAST FILE", in the order of their ticks
    for f in rec/"$1"-*.foliot; do
        echo "$(field_of first_tick "$f") $(field_of last_tick "$f") $f"
    done | sort -n
}
chained() { # NAME: each part begins where the one before ended, with the same state
    local last=0 before="" first end file
    while read -r first end file; do
        [ "$first" = "$last" ] || { echo "$file begins with $first, not $last"; return 1; }
        if [ -n "$before" ] && { [ -z "$(digest_at "$before" "$last")" ] || [ "$(digest_at "$before" "$last")" != "$(digest_at "$file" "$first")" ]; }; then
            echo "$file has another state"
            return 1
        fi
        last=$end before=$file
    done < <(parts_of "$1")
}
parts() { [ "$(ls rec/"$1"-*.foliot 2>/dev/null | wc -l)" -ge "$2" ]; } # NAME COUNT

mkdir rec
start --session red="$scenes/spacewar.yaml" --session game="$root/games/siege/siege.yaml" --port 0 --recordings rec --recordings-minutes 0.025 \
    --on-recording 'printf "%s\n" "$1" >>finished'
"$client" "127.0.0.1:$port" --session red --name ann --bot random --seconds 600 --connect-timeout 60 --json >ann.out 2>ann.log &
ann=$!
pids="$pids $ann"
eventually parts red 4
eventually parts game 4
kill -INT $server_pid
wait $server_pid
ok "the server ends in order" test $? = 0
kill $ann 2>/dev/null
wait $ann 2>/dev/null
"$replay" verify --json rec/*.foliot >verify.out
ok "every part verifies by itself" test "$(grep -c '"verdict":"match"' verify.out)" = "$(ls rec/*.foliot | wc -l)"
ok "those of the session with a player are a chain" chained red
ok "those of the game with rules too" chained game
ok "each is told as finished" test "$(sort -u finished | wc -l)" = "$(ls rec/*.foliot | wc -l)"
ok "the player stayed" sh -c '! grep -qE "lost|reconnecting" ann.log'

# Killed at some moment, also while one part takes over from another: what comes last goes on.
for _ in 1 2 3 4; do
    start --port 0 --resume-all rec --session blue="$scenes/spacewar.yaml" --recordings-minutes 0.01
    sleep "1.$((RANDOM % 7))"
    kill -9 $server_pid
    wait $server_pid 2>/dev/null
done
start --port 0 --resume-all rec --ticks 20
wait $server_pid
ok "after crashes the last part goes on" grep -q '^resumed at tick' server.out
"$replay" verify --json rec/blue-*.foliot >verify.out 2>/dev/null
# A part that was only begun while the one before it went on has no ticks, and gets its end. All ticks are in some part.
resumed=$(sed -n 's/^resumed at tick \([0-9]*\).*/\1/p' server.out | head -n 1)
held=$(grep -o '"ticks":[0-9]*' verify.out | awk -F: '{ sum += $2 } END { print sum }')
ok "and no tick is in none" test "$held" -ge "$((resumed + 20))"
parts=$(ls rec/blue-*.foliot | wc -l)
ok "and all parts have an end" test "$(grep -c '"verdict":"match"' verify.out)" = "$parts"

# Killed as soon as a part begins, which has no ticks then.
mkdir begun
start --port 0 --recordings begun --session blue="$scenes/spacewar.yaml" --recordings-minutes 0.02
two() { [ "$(ls begun | wc -l)" -ge 2 ]; }
ok "a second part begins" eventually two
kill -9 $server_pid
wait $server_pid 2>/dev/null
start --port 0 --resume-all begun --ticks 20
wait $server_pid
for part in begun/*.foliot; do
    ok "$part has an end" sh -c "'$replay' verify '$part' >/dev/null"
done
start --port 0 --resume-all begun
ok "and nothing there is unfinished" test $? != 0
