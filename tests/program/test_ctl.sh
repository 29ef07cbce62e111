#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: foliotctl does over a socket and over a port with a token what the admin API offers, shows it as tables and as JSON,
# and says in a sentence what it cannot do.
set -u
. "$(dirname "$0")/setup.sh"
ctl=$build/foliotctl
exits "nobody there" 75 '127.0.0.1:1:' "$ctl" sessions --server 1
ok "a default port that is not the one of pages" sh -c "'$ctl' sessions --help | grep -q 127.0.0.1:7780 && ! grep -rqE -- '--web[ =]([^ ]*:)?7780' '$root/docs' '$root/README.md'"
exits "no such socket" 75 './none: No such file' "$ctl" sessions --socket ./none
exits "what is no socket" 75 './.: no server listens|Connection refused' "$ctl" sessions --socket ./.
exits "an address that is too long" 2 'too long' "$ctl" sessions --server "$(printf '%0600d' 0)://x"
exits "an empty variable is none" 75 '127.0.0.1:1:' env FOLIOT_SOCKET= FOLIOT_TOKEN_FILE= FOLIOT_SERVER=1 "$ctl" sessions
exits "a name that is a path" 2 'part of a path' "$ctl" unban ../drain
exits "of two points" 2 'part of a path' "$ctl" kick arena ..
exits "no name" 2 'a name is empty' "$ctl" end ''
exits "a command that there is not" 2 "did you mean 'sessions'" "$ctl" session
exits "an operand too few" 2 'SESSION' "$ctl" kick arena
exits "a ban of what" 2 "'address', 'name' or 'client'" "$ctl" refuse ip 1.2.3.4
exits "a player that is no number" 2 'expects a number' "$ctl" say arena hello --player ann

head -c 24 /dev/urandom | base64 >token
chmod 600 token
start --port 0 --http 0 --admin-token token --admin-socket ./socket --scenes "$scenes" --no-record
export FOLIOT_SOCKET=./socket
http=$(sed -n 's/^http on .*:\([0-9]*\)$/\1/p' server.out)
does() { # NAME PATTERN ARGUMENT...
    local name=$1 pattern=$2
    shift 2
    if "$ctl" "$@" >out 2>err && { [ -z "$pattern" ] || grep -qE "$pattern" out; }; then echo "ok - $name"; else
        echo "not ok - $name"
        cat out err
    fi
}
does "no sessions" none sessions
does "a session" 'name +arena' create arena spacewar.yaml
does "in a table" 'arena +snapshot +running' sessions
does "as JSON" '^\{"sessions":\[\{"name":"arena"' sessions --json
does "by port and token" 'arena' sessions --server "$http" --token-file token
export http_proxy=http://127.0.0.1:1
does "and past a proxy, which does not get to this machine" 'arena' sessions --server "$http" --token-file token
unset http_proxy
exits "a port without a token" 1 'needs a bearer token' env -u FOLIOT_SOCKET "$ctl" sessions --server "http://localhost:$http"
"$client" "127.0.0.1:$port" --session arena --name "ann with blanks" --bot idle --seconds 600 >ann.out 2>&1 &
pids="$pids $!"
plays() { "$ctl" players arena | grep -q "$1"; }
eventually plays ann
does "players" '0 +ann with blanks +127' players arena
does "a pause" '' pause arena
does "is shown" 'paused' sessions
does "and ends" '' resume arena
does "a message" '' say arena 'hello there' --player 0
does "a recording" 'file +arena.foliot' record arena arena.foliot
durable arena.foliot 1
does "its end" 'arena.foliot' unrecord arena
shows() { "$ctl" status | grep -qE "$1"; } # the count is renewed now and then
ok "the server" eventually shows 'players +1'
does "again and again" 'sessions +1' top --times 2 --interval 0.1
exits "a command that is wrong" 1 "needs 'acceleration'" "$ctl" command arena '{"command": "gravity"}'
does "no variables" '' vars arena
does "a ban" '' refuse name eve --reason 'no' --seconds 60
does "in a list, with what is left" 'eve +- +no .* UTC, in (1 min 0 s|0 min [0-9]+ s)' bans
does "a ban without an end" '' refuse name zoe
does "is for good" 'zoe .* for good' bans
does "a ban of a day" '' refuse name --seconds 86400 mallory
does "which the list shows as a date and what is left" 'mallory .* 20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9:]{8} UTC, in (1 d 0 h|23 h 59 min)' bans
does "a pardon" '' unban eve
does "a kick by name" '' kick arena 'ann with blanks' --reason 'be nice'
exits "nobody of that name" 1 "no player 'bob'" "$ctl" kick arena bob
exits "no such session" 1 "no session 'other'" "$ctl" end other
does "a drain" '' drain arena
does "of all" '' drain
does "and back" '' undrain
does "an end" '' end arena --reason 'enough'
kill -TERM "$server_pid"
wait "$server_pid"
ok "the recording verifies" "$replay" verify arena.foliot
