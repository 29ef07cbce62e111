#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: no program is ended by the signal of a file that may not grow (SIGXFSZ), whatever it writes; and a server of several
# sessions goes on. Method: each with `ulimit -f`, which is in blocks of 1,024 bytes.
set -u
. "$(dirname "$0")/setup.sh"
lab=$build/foliot-lab
# 128 + 25 says that the signal ended it.
lives() {
    local name=$1 limit=$2 code
    shift 2
    (ulimit -f "$limit"; exec "$@") >lives.out 2>lives.err
    code=$?
    ok "$name (exit $code)" test $code != 153 -a $code != 0
}
"$lab" run "$scenes/marbles.yaml" --ticks 60 --record whole.foliot >/dev/null 2>&1
lives "foliot-lab run --record, which opens it" 0 "$lab" run "$scenes/marbles.yaml" --ticks 60 --record part.foliot
lives "foliot-lab run --record" 8 "$lab" run "$scenes/marbles.yaml" --ticks 60 --record part.foliot
lives "foliot-lab run --csv" 2 "$lab" run "$scenes/marbles.yaml" --ticks 60 --csv part.csv --every 1
lives "foliot-replay trim" 2 "$replay" trim whole.foliot --out part.foliot
lives "foliot-replay export" 2 bash -c "exec '$replay' export whole.foliot --csv >part.csv"
lives "foliot-replay keys" 0 "$replay" keys part.key
printf '{"file":"a","verdict":"match","ticks":1}\n' >line
lives "foliot-replay report --page" 0 "$replay" report line --page page.html

# The server's log and the recordings of two sessions are files: none may be written. It goes on, and ends in order.
mkdir rec
(ulimit -f 0; exec "$server" --session red="$scenes/spacewar.yaml" --session blue="$scenes/spacewar.yaml" --port 0 \
    --recordings rec --ticks 60) 2>&1 | cat >server.out
code=${PIPESTATUS[0]}
ok "a server whose recordings cannot be opened is not killed (exit $code)" test $code != 153
(ulimit -f 3; exec "$server" --session red="$scenes/spacewar.yaml" --session blue="$scenes/spacewar.yaml" --port 0 \
    --recordings rec --ticks 300) 2>&1 | cat >server.out
code=${PIPESTATUS[0]}
ok "nor one whose recordings grow too large (exit $code)" test $code != 153 -a $code != 0
"$replay" verify --json rec/*.foliot >verify.out
ok "whose whole blocks are there" test "$(grep -cE '"ticks":[1-9].*"verdict":"unfinished"' verify.out)" = 2
