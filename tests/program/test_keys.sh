#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_keys.sh: who may join, with the real programs: keys, tokens, passwords, roles; what is refused is refused with a
# sentence; secrets are in no output, no recording and no core dump; a client written from the protocol's page alone
# (handshake_reader.py) is welcomed.
. "$(dirname "$0")/setup.sh"
ctl=$build/foliotctl scene=$scenes/spacewar.yaml
token() { "$ctl" token --key arena.key "$@"; }
join() { timeout $LIMIT_SECONDS "$client" --bot idle --ticks 30 --json "$@" >join.out 2>join.err; }
refused() { # NAME PATTERN ARGUMENT...
    local name=$1 pattern=$2
    shift 2
    join "$@"
    if [ $? = 1 ] && grep -qE "$pattern" join.err; then echo "ok - $name"
    else echo "not ok - $name"; cat join.err join.out; fi
}

"$ctl" key arena.key
ok "a key is its owner's alone" [ "$(stat -c %a arena.key)" = 600 ]
exits "a key is not written over" 1 'exists already' "$ctl" key arena.key
exits "who is reached by others says who may join" 2 'by --key FILE .*--password FILE .*--insecure' \
    "$server" "$scene" --bind 0.0.0.0
cp arena.key open.key
chmod 644 open.key
exits "a key that others may read is refused" 78 'others may open it.*chmod 600' "$server" "$scene" --key open.key
exits "so by foliotctl" 78 'others may open it' "$ctl" token --key open.key
echo 0123 >short.key
chmod 600 short.key
exits "a key that is none" 78 '64 hexadecimal digits' "$server" "$scene" --key short.key
exits "a password on the command line" 78 'hunter2: .*[Nn]o such file' "$server" "$scene" --password hunter2
exits "two ways at once" 2 'exclude each other' "$server" "$scene" --key arena.key --insecure

"$replay" keys sign.key >out
start "$scene" --key arena.key --port 0 --record match.foliot --sign sign.key
token --server "127.0.0.1:$port" --session spacewar --client 7 --user ada >ada.token
ok "the server says how to join" grep -q -- '--token FILE' server.out
ok "a token lets its client in, and says where" join --token ada.token
refused "it admits one client" 'used before' --token ada.token
refused "without one nobody joins" 'other credentials' "127.0.0.1:$port"
refused "nor in clear" 'other credentials' "127.0.0.1:$port" --insecure
token --server 127.0.0.1:9 >elsewhere.token
refused "nor with one for another server" 'another server' --token elsewhere.token "127.0.0.1:$port"
token --session arena >arena.token
refused "nor into another session" 'no session .arena' --token arena.token "127.0.0.1:$port"
token --session arena >arena.token
refused "nor with a session that the token does not name" 'for the session .arena. only' \
    --token arena.token "127.0.0.1:$port" --session spacewar
token --role spectator >watch.token
refused "a spectator does not play" "spectator's" --token watch.token "127.0.0.1:$port"
token --role spectator >watch.token
ok "but watches" join --token watch.token "127.0.0.1:$port" --spectate
token --seconds 1 >short.token
sleep 1.2
refused "an expired token" 'expired' --token short.token "127.0.0.1:$port"
"$ctl" key other.key
"$ctl" token --key other.key >other.token
refused "a token of another key" 'with another key' --token other.token "127.0.0.1:$port"
sed 's/A/B/' ada.token | head -c 900 >broken.token
exits "a broken token" 78 'not a complete token' "$client" --token broken.token
ok "foliotctl shows a token" sh -c "'$ctl' show ada.token --key arena.key | grep -q 'client   7'"

token --client 9 --role spectator --user zed >reader.token
ok "a reader of the protocol's page joins" \
    sh -c "python3 '$root/tests/program/handshake_reader.py' $port reader.token arena.key | grep -q 'ok: welcomed'"
key=$(cat arena.key)
held=$(python3 "$root/tests/program/memory_holds.py" $server_pid "$key")
case $held in
skip*) echo "skip - the key is in no core dump: $held" ;;
*) ok "the key is in no core dump: $held" [ "$held" = "dumped: 0, left out: 1" ] ;;
esac
held=$(python3 "$root/tests/program/memory_holds.py" $server_pid "$(sed 's/.* //' sign.key)")
case $held in
skip*) echo "skip - the key that signs is in no core dump: $held" ;;
*) ok "nor the key that signs: $held" [ "$held" = "dumped: 0, left out: 1" ] ;;
esac
stop
secret=$(cut -c 300-340 ada.token)
raw=$(printf %s "$key" | sed 's/../\\x&/g')
# shellcheck disable=SC2016
leaks() { grep -l -e "$key" -e "$secret" server.out server.log join.out join.err match.foliot; grep -lPa "$raw" match.foliot; }
ok "no key and no token is in an output or a recording" [ -z "$(leaks)" ]
ok "nothing came in clear" [ "$(counter datagrams_dropped_clear)" = 0 ]
ok "who was refused is counted" [ "$(counter connects_unproven)" -ge 4 ]

# A machine with many addresses, as one with containers has them.
cat >many.c <<'END'
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdlib.h>
int getifaddrs(struct ifaddrs **all)
{
    for (*all = NULL; !*all || ntohl(((struct sockaddr_in *)(*all)->ifa_addr)->sin_addr.s_addr) < 0xc6336414;) {
        unsigned host = *all ? ntohl(((struct sockaddr_in *)(*all)->ifa_addr)->sin_addr.s_addr) + 1 : 0xc6336401;
        struct ifaddrs *one = calloc(1, sizeof *one);
        struct sockaddr_in *at = calloc(1, sizeof *at);
        *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(host)};
        one->ifa_addr = (struct sockaddr *)at, one->ifa_next = *all, one->ifa_name = "many";
        *all = one;
    }
    return 0;
}
void freeifaddrs(struct ifaddrs *all) {}
END
if ${CC:-gcc} -w -shared -fPIC many.c -o many.so && LD_PRELOAD=$PWD/many.so start "$scene" --key arena.key --bind 0.0.0.0 --port 0 --no-record; then
    for host in 20 1; do # the first and the last of twenty
        token --server "198.51.100.$host:$port" >many.token
        ok "a token for an address of many" join --token many.token "127.0.0.1:$port"
    done
    stop
else
    echo "skip: nothing is loaded before the C library here"
fi

# One key replaces another while players play.
"$ctl" key next.key
start "$scene" --key arena.key --port 0 --no-record
token >stays.token
timeout $LIMIT_SECONDS "$client" "127.0.0.1:$port" --token stays.token --name stays --bot idle --seconds 600 --json >stays.out 2>stays.err &
stays=$!
pids="$pids $stays"
logged '"event":"joined".*stays'
token >old.token
token >older.token
"$ctl" token --key next.key >new.token
refused "a token of the key to come" 'with another key' --token new.token "127.0.0.1:$port"
cat next.key arena.key >both.key
chmod 600 both.key
"$ctl" token --key both.key >new.token
ok "tokens are made with the first key of a file" sh -c "'$ctl' show new.token --key next.key >/dev/null"
ok "and shown with each" sh -c "'$ctl' show old.token --key both.key | grep -q client"
cp arena.key first.key
mv both.key arena.key
kill -HUP $server_pid
logged '"event":"reloaded".* 2 keys'
"$ctl" token --key next.key >new.token
ok "on SIGHUP a server takes a second key" join --token new.token "127.0.0.1:$port"
ok "beside the first" join --token old.token "127.0.0.1:$port"
echo 0123 >>arena.key
kill -HUP $server_pid
ok "a file with anything else changes nothing" event not-reloaded
"$ctl" token --key next.key >new.token
ok "so both are good" join --token new.token "127.0.0.1:$port"
cp next.key arena.key
kill -HUP $server_pid
logged '"event":"reloaded".* 1 key"'
refused "the old key is none then" 'with another key' --token older.token "127.0.0.1:$port"
"$ctl" token --key next.key >new.token
ok "the new one is" join --token new.token "127.0.0.1:$port"
plays_on() { ! has_lines server.log '"event":"left".*stays' && kill -0 $stays; }
ok "who plays since the old one plays on" plays_on
for i in 1 2 3 4 5; do cat first.key; done >many.key
chmod 600 many.key
exits "too many keys" 78 'more than 4 keys' "$server" "$scene" --key many.key
kill $stays
wait $stays
stop
ok "the server of two keys ended in order" [ $? = 0 ]

printf 'a night in may\n' >word
printf 'a night in june\n' >other
chmod 600 word other
start "$scene" --password word --port 0 --no-record
ok "a password lets in" join --password word "127.0.0.1:$port"
refused "another does not" 'password is wrong' --password other "127.0.0.1:$port"
refused "none neither" 'other credentials' "127.0.0.1:$port"
ok "two at once" timeout $LIMIT_SECONDS "$client" "127.0.0.1:$port" --password word --bot random --clients 2 --ticks 60
word=$(printf 'a night in may' | od -An -tx1 | tr -d ' \n')
held=$(python3 "$root/tests/program/memory_holds.py" $server_pid "$word")
case $held in
skip*) echo "skip - the password is in no core dump: $held" ;;
*) ok "the password is in no core dump: $held" [ "$held" = "dumped: 0, left out: 1" ] ;;
esac
stop

start "$scene" --port 0 --no-record
ok "the same without a token, at a server that asks for none" \
    sh -c "python3 '$root/tests/program/handshake_reader.py' $port | grep -q 'ok: welcomed'"
stop
