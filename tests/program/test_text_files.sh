#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: every file of text is read by one rule: UTF-8, perhaps with a byte order mark, and lines that end with LF, CR LF
# or CR alone. Method: each reader of each program gets the same file in six forms, and does with all of them what it
# does with the plain one; what it does has something of each line in it.
set -u
. "$(dirname "$0")/setup.sh"
lab=$build/foliot-lab ctl=$build/foliotctl
forms="mark crlf cr mark-crlf mark-cr"
form() { # NAME FILE: the file in that form, on stdout
    case $1 in mark*) printf '\357\273\277' ;; esac
    case $1 in
    *crlf) sed 's/$/\r/' "$2" ;;
    *cr) tr '\n' '\r' <"$2" ;;
    *) cat "$2" ;;
    esac
}
# The output of COMMAND is the same when FILE has another form, and has PATTERN in it. Names of files and times are left
# out.
comparable() { sed -E 's/, [0-9]+ x real time//; s/expires.*//; s/"[a-z_]*(seconds|factor)":[^,}]*//g; /^[0-9]{2}:[0-9]{2}:[0-9]{2} /d'; }
reads() { # NAME FILE PATTERN COMMAND...
    local name=$1 file=$2 pattern=$3 f
    shift 3
    cp "$file" plain
    chmod 600 plain
    "$@" >out 2>&1 </dev/null
    comparable <out >expected
    ok "$name: the plain file" grep -qE "$pattern" expected
    for f in $forms; do
        form $f plain >"$file"
        "$@" >out 2>&1 </dev/null
        comparable <out >now
        if cmp -s expected now; then echo "ok - $name: $f"; else echo "not ok - $name: $f"; diff expected now | head -n 6; fi
    done
    cp plain "$file"
}

cat >scene.yaml <<'END'
# A scene.
foliot: 1
name: text
tick_hz: 60
limits: {commands_max: 4}
script: {lua: rules.lua}
bodies:
  - {csv: bodies.csv}
players: {limit: 2, bodiless: true}
END
printf 'name,mass,position.x,position.y,position.z\nred,1.5,0,0,1\nblue,2,3,0,1\n' >bodies.csv
printf 'state = {}\n-- nothing\nfunction on_tick(state)\nset_var("clock", 7)\nend\n' >rules.lua
printf '# old\n{"tick": 3, "command": "gravity", "acceleration": [0, 0, -1]}\n' >commands.jsonl
printf '# players\n1 0 join\n2 0 control 127 0 0 0\n' >inputs.txt
printf '# orders\n1 0 joined\n2 0 game hello\n' >orders.txt
run="$lab run scene.yaml --ticks 9 --csv - --every 9"
reads "a scene" scene.yaml '^9,.*"?blue' $run
reads "a table of bodies" bodies.csv '^9,.*"?blue' $run
reads "the rules of a scene" rules.lua 'blue' $run
reads "commands" commands.jsonl '^9,.*-0\.' $run --commands commands.jsonl
export_inputs() { "$lab" run scene.yaml --ticks 9 --inputs inputs.txt --record now.foliot >/dev/null && "$replay" export --csv --what inputs now.foliot; }
reads "inputs" inputs.txt '127' export_inputs
export_orders() { "$lab" run scene.yaml --ticks 9 --orders orders.txt --record now.foliot >/dev/null && "$replay" export --what orders now.foliot; }
reads "orders" orders.txt 'hello' export_orders
served() { "$server" scene.yaml --port 0 --ticks 9 --record served.foliot "$@" >/dev/null && "$replay" export --what commands served.foliot; }
reads "rules for a server" rules.lua 'clock' served --rules rules.lua
printf 'port: 0\nticks: 9\nscene: scene.yaml\nno-record: true\n' >config.yaml
reads "a configuration" config.yaml 'ticks: 9' "$server" --config config.yaml --print-config
"$lab" run scene.yaml --ticks 9 --record a.foliot >/dev/null
cp a.foliot b.foliot
printf 'a.foliot\nb.foliot\n' >list
reads "a list of recordings" list 'b.foliot.*match' "$replay" verify --files-from list
"$replay" verify --json a.foliot b.foliot >lines
reads "lines of verify" lines 'all +2 .* 2 ' "$replay" report lines
reads "and the list of them" list 'all +2 .* 2 ' "$replay" report lines --files-from list
# Keys, tokens and bans: what reads them says whether they are what they were.
"$replay" keys sign.key >/dev/null
"$server" scene.yaml --port 0 --ticks 9 --record signed.foliot --sign sign.key >/dev/null
reads "a public key" sign.key.pub 'signed, all 9 ticks' "$replay" verify --key sign.key.pub signed.foliot
signs() { "$server" scene.yaml --port 0 --ticks 9 --record signed.foliot --sign sign.key >/dev/null; "$replay" verify --key sign.key.pub signed.foliot; }
reads "a secret key" sign.key 'signed, all 9 ticks' signs
"$ctl" key game.key >/dev/null
"$ctl" token --key game.key --server 192.0.2.1:7777 --player ada >token 2>/dev/null || "$ctl" token --key game.key --server 192.0.2.1:7777 >token
reads "a key of tokens" game.key '192\.0\.2\.1' "$ctl" show token --key game.key
reads "a token" token '192\.0\.2\.1' "$ctl" show token --key game.key
printf '{"address": "192.0.2.7", "reason": "one"}\n{"address": "192.0.2.8", "reason": "two"}\n' >bans
printf 'a-token-of-sixteen-letters\n' >admin.token
bans() {
    chmod 600 admin.token
    : >server.out
    start scene.yaml --port 0 --no-record --http 127.0.0.1:0 --admin-token "${1:-admin.token}" --bans bans
    local at
    at=$(sed -n 's/^http on .*:\([0-9]*\)$/\1/p' server.out)
    "$ctl" bans --server "http://127.0.0.1:$at" --token-file "${2:-admin.token}"
    kill -9 $server_pid
    wait $server_pid 2>/dev/null
}
cp admin.token other.token
chmod 600 other.token
reads "bans" bans '192\.0\.2\.8' bans
reads "the token of a server" admin.token '192\.0\.2\.8' bans admin.token other.token
reads "the token of foliotctl" other.token '192\.0\.2\.8' bans admin.token other.token
