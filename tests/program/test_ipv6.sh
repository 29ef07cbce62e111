#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_ipv6.sh: a server on an IPv6 address, alone and next to an IPv4 one, and clients of both, with the real programs:
# in clear, with tokens, with a password, through an impaired network. Skipped where the machine has no IPv6.
. "$(dirname "$0")/setup.sh"
if [ ! -e /proc/net/if_inet6 ] || ! grep -q ' lo$' /proc/net/if_inet6; then
    echo "skip: this machine has no IPv6"
    exit 0
fi
ctl=$build/foliotctl scene=$scenes/spacewar.yaml
join() { timeout $LIMIT_SECONDS "$client" --bot random --ticks 30 --json "$@" >join.out 2>join.err; }

exits "two of a family" 2 'one IPv6 address at most: .::2' "$server" "$scene" --bind ::1 --bind ::2
exits "what is no address" 2 "'fe80::1%none' is not an IPv4 or IPv6 address" "$server" "$scene" --bind fe80::1%none
exits "an address of another machine" 1 'no such address, or no IPv6' "$server" "$scene" --bind 2001:db8::1 --insecure
exits "who is reached by others says who may join" 2 'bind :: lets others' "$server" "$scene" --bind ::

start "$scene" --bind ::1 --port 0 --no-record
ok "the server says where it listens" grep -q "^listening on \[::1\]:$port$" server.out
ok "and how to join" grep -q "foliot-client \[::1\]:$port$" server.out
ok "a client joins" join "[::1]:$port"
ok "a stepper too" join "[::1]:$port" --kind step
ok "with keys" join "[::1]:$port" --insecure --spectate
exits "nobody is there by IPv4" '1|75' 'no answer|refused' timeout $LIMIT_SECONDS "$client" "127.0.0.1:$port" --bot idle --connect-timeout 1
stop

start "$scene" --bind 127.0.0.1 --bind ::1 --port 0 --record both.foliot
ok "a server of both families says both" [ "$(grep -c "^listening on .*:$port$" server.out)" = 2 ]
timeout $LIMIT_SECONDS "$client" "127.0.0.1:$port" --bot random --ticks 60 --json >four.out 2>&1 &
four=$!
ok "clients of both play in one session" join "[::1]:$port"
ok "the one by IPv4 too" wait $four
joined_from() { has_lines server.log "\"event\":\"joined\".*\($1:[0-9]*\)"; } # ADDRESS, as a regular expression
ok "the log shows their addresses" joined_from '\[::1\]'
ok "of both families" joined_from 127.0.0.1
stop
ok "their recording verifies" "$replay" verify both.foliot

"$ctl" key arena.key
start "$scene" --bind ::1 --bind 127.0.0.1 --key arena.key --port 0 --no-record
"$ctl" token --key arena.key --server "[::1]:$port" >six.token
ok "a token lets in by IPv6, and says where" join --token six.token
"$ctl" token --key arena.key --server "[::2]:$port" >other.token
join --token other.token "[::1]:$port"
ok "one for another address does not" grep -q 'another server' join.err
"$ctl" token --key arena.key >once.token
ok "a token is used by IPv4" join --token once.token "127.0.0.1:$port"
join --token once.token "[::1]:$port"
ok "and is used by IPv6 then" grep -q 'used before' join.err
stop

printf 'a night in may\n' >word
chmod 600 word
start "$scene" --bind ::1 --password word --port 0 --no-record
ok "a password lets in" join --password word "[::1]:$port"
stop

start "$scene" --bind ::1 --port 0 --no-record --impair delay=5ms,loss=5%
ok "through an impaired network of the server's" join "[::1]:$port"
ok "and of the client's" join "[::1]:$port" --impair delay=5ms,loss=5%
stop

# More places than there may be connections.
start "$scene" --sessions 100 --bind ::1 --bind 127.0.0.1 --web 0 --port 0 --no-record
ok "both families and browsers, with many sessions" grep -qE '^(in a browser|web: listening)' server.out
ok "and all of them are joined" join "[::1]:$port" --session spacewar-100
stop
