#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: --config is read strictly, every mistake has its place, the command line goes before it, and --print-config says where
# each value comes from.
set -u
. "$(dirname "$0")/setup.sh"
cat >host.yaml <<EOF
scene: $scenes/spacewar.yaml
port: 0
no-record: true
tick-hz: 50
ticks: 1000
players-per-address: 7
session: ["a=$scenes/pendulum.yaml", "b=$scenes/pendulum.yaml"]
EOF
"$server" --config host.yaml --ticks 25 --print-config >config.out
for line in "tick-hz: 50  # host.yaml:4" "ticks: 25  # command line" "mode: ~  # default" "no-record: true  # host.yaml:3" \
    "players-per-address: 7  # host.yaml:6"; do
    ok "$line" grep -qxF "$line" config.out
done
cat >quoted.yaml <<'END'
on-recording: "rsync \"$1\" a\\b:\necho"
http-host: ['a"b']
END
printed() { "$server" --config "$1" --print-config | sed -n "s/  # $1:[12]$//p" | sort; } # FILE: what it gives
printed quoted.yaml >again.yaml
ok "what is printed can be read again" test "$(printed again.yaml)" = "$(cat again.yaml)" -a "$(wc -l <again.yaml)" = 2
"$server" --config=host.yaml --ticks 25 >server.out 2>server.log
ok "it hosts what the file names" test "$(grep -c "^session '" server.out)" = 3
ok "for as long as the command line says" grep -qE '^ticks +75$' server.out
wrong() { # NAME PATTERN TEXT
    printf '%s\n' "$3" >wrong.yaml
    exits "$1" '2|78' "$2" "$server" --config wrong.yaml "$scenes/spacewar.yaml" --no-record --port 0 --ticks 1
}
wrong "a key that there is not" "^wrong.yaml:1:1: prot: .*did you mean 'port'" 'prot: 3'
wrong "a list of rates" '^wrong.yaml:1:10: tick-hz: one value' 'tick-hz: [1, 2]'
wrong "a rate that is none" '\-\-tick-hz expects' 'tick-hz: many'
wrong "a flag that is neither" '^wrong.yaml:2:11: no-force: true or false' 'spectators: 1
no-force: 1'
wrong "a key twice" 'given twice|wrong.yaml:2' 'spectators: 1
spectators: 2'
wrong "no mapping" 'mapping' '[1]'
wrong "no YAML" '^wrong.yaml:' 'a: {'
wrong "a file in the file" 'only for the command line' 'config: other.yaml'
exits "a file that is not there" 78 'nowhere.yaml: No such file' "$server" --config nowhere.yaml
exits "a device" 78 'config: ' "$server" --config /dev/null
