#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: what a server knows of those who join outlasts a restart: used tokens (a thief is refused, their own clients come
# back), bans by client, network and name. Names are unique, in Unicode's normal form C, and hide nothing.
# Method: real programs on the loopback, a server that is killed.
. "$(dirname "$0")/setup.sh"
ctl=$build/foliotctl scene=$scenes/spacewar.yaml
"$ctl" key arena.key
token() { "$ctl" token --key arena.key "$@"; }
join() { timeout $LIMIT_SECONDS "$client" "127.0.0.1:$port" --bot idle --ticks 20 --json "$@" >join.out 2>join.err; }
refused() { # NAME PATTERN ARGUMENT...
    local name=$1 pattern=$2
    shift 2
    join "$@"
    if [ $? != 0 ] && grep -qE "$pattern" join.err; then echo "ok - $name"
    else echo "not ok - $name"; cat join.err join.out; fi
}

exits "used tokens without a key" 2 'requires --key' "$server" "$scene" --used-tokens used
echo 'dear ada' >letter
chmod 600 letter
exits "a file of something else" 78 'not a list of used tokens' "$server" "$scene" --key arena.key --used-tokens letter --port 0
ok "which stays as it was" [ "$(cat letter)" = 'dear ada' ]

# A disk that is full in the middle of the new file.
cat >full.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
int posix_fallocate(int fd, off_t at, off_t length) { return ftruncate(fd, at + length / 2) ? errno : ENOSPC; }
int posix_fallocate64(int fd, off64_t at, off64_t length) { return posix_fallocate(fd, at, length); }
END
if ${CC:-gcc} -D_GNU_SOURCE -shared -fPIC full.c -o full.so 2>/dev/null; then
    exits "no room for the file" 75 'used: No space left' env LD_PRELOAD="$PWD/full.so" "$server" "$scene" --key arena.key --used-tokens used --port 0
else
    echo "skip: nothing is loaded before the C library here"
fi
start "$scene" --key arena.key --used-tokens used --port 0 --record match.foliot
ok "with room there is one" test -s used
exits "two servers with one file" 75 'another server uses it' "$server" "$scene" --key arena.key --used-tokens used --port 0 --no-record
ok "the file is its owner's alone" [ "$(stat -c %a used)" = 600 ]
token --client 7 >ann.token
cp ann.token stolen.token
token --client 8 >once.token
ok "a token lets in" join --token once.token
"$client" "127.0.0.1:$port" --token ann.token --name ann --bot random --seconds 600 --connect-timeout 60 --json >ann.out 2>ann.err &
ann=$!
pids="$pids $ann"
logged '"event":"joined".*ann '
kill -9 $server_pid
wait $server_pid 2>/dev/null
: >server.log
start --resume match.foliot --key arena.key --used-tokens used --port "$port"
ok "a client comes back to a server that was killed" logged '"event":"(resumed|joined)".*ann '
refused "its token, stolen, lets nobody in" 'used before' --token stolen.token
refused "nor a token that was used up before" 'used before' --token once.token
kill $ann 2>/dev/null
wait $ann 2>/dev/null
stop

# Bans.
export FOLIOT_SOCKET=./socket
start "$scene" --key arena.key --port 0 --no-record --admin-socket ./socket --bans bans
ctl_() { "$ctl" "$@"; }
if grep -q 'HTTP' server.log && ! [ -S socket ]; then
    echo "skip: this build has no admin API"
else
    ok "a client of tokens is banned" ctl_ refuse client 42 --reason cheats
    ok "a network" ctl_ refuse address 10.0.0.0/8
    ok "of IPv6" ctl_ refuse address 2001:db8:5::/32
    exits "what is no network" 1 'not an address or a network' "$ctl" refuse address 10.0.0.0/99
    exits "what is no client" 1 'not a client' "$ctl" refuse client x
    ok "they are listed" sh -c "'$ctl' bans | grep -q '2001:db8::/32'"
    token --client 42 >bad.token
    refused "the client is told why" 'banned: cheats' --token bad.token
    token --client 43 >good.token
    ok "another is let in" join --token good.token
    stop
    start "$scene" --key arena.key --port 0 --no-record --admin-socket ./socket --bans bans
    token --client 42 >bad.token
    refused "so after a restart" 'banned: cheats' --token bad.token
    ok "a network is pardoned" ctl_ unban 10.0.0.0/8
    ok "and a client" ctl_ unban 42
    token --client 42 >bad.token # the other one was used up when the ban was met
    ok "who joins then" join --token bad.token
fi
stop

# Names.
: >server.log # others of that name have joined before
start "$scene" --port 0 --no-record
for i in 1 2; do
    timeout $LIMIT_SECONDS "$client" "127.0.0.1:$port" --name ann --bot idle --seconds 600 --json >"ann$i.out" 2>&1 &
    pids="$pids $!"
    names="${names:-} $!"
    logged '"event":"joined".* ann(-2)? ' "$i"
done
# shellcheck disable=SC2086
kill $names
# shellcheck disable=SC2086
wait $names
ok "an ann has joined" has_lines server.log '"event":"joined".* ann \('
ok "the second ann is ann-2" has_lines server.log '"event":"joined".* ann-2 \('
refused "one with a blank at its end" 'no space' --name 'ada '
refused "one that would be a path to another player" "no '/'" --name '../players/ann'
for name in 0 '#0' 007 'the game' 'The Server'; do
    refused "one that is taken for another: $name" "not a number" --name "$name"
done
ok "one with an accent" join --name "$(printf 'andr\303\251')"
if ldd "$server" | grep -q utf8proc; then
    refused "the same in two characters" 'normal form C' --name "$(printf 'andre\314\201')"
    refused "a number of full-width digits" 'not a number' --name "$(printf '\357\274\221\357\274\222')"
    refused "one of the server's own, with a full-width letter" 'not a number' --name "$(printf '\357\274\263erver')"
fi
stop
