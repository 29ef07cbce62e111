#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: the life of a server as its supervisor sees it. SIGTERM drains, what has not ended goes on at the next start
# with the same players; finished recordings are handed to a command and kept within a budget; systemd gets the reports
# that it asks for.
set -u
. "$(dirname "$0")/setup.sh"
# A hook that lists finished recordings, one name a line.
hook='printf "%s\n" "$1" >>finished'

# -- a drain with a player in
mkdir rec
start "$scenes/spacewar.yaml" --port 0 --resume-all rec --drain-seconds 3 --on-recording "$hook" --scenes "$scenes" --admin-socket ./admin
ok "an empty folder has nothing to go on with, and takes the new recording" test "$(ls rec | wc -l)" = 1
at=$port
"$client" 127.0.0.1:$port --name ada --bot random --seconds 600 --connect-timeout 60 --json >ada.out 2>ada.log &
ada=$!
pids="$pids $ada"
of_player joined 1 0
kill -TERM $server_pid
event draining
ok "a drain lets sessions go on" kill -0 $server_pid
"$client" 127.0.0.1:$port --name bob --seconds 600 >bob.out 2>&1
ok "but nobody new in" grep -q 'admits no new players' bob.out
ok "it says that it drains" grep -q '"draining":true' <(curl -sS -m 10 --unix-socket admin http://localhost/v1/server)
ok "and takes no new session" grep -q 'draining' <(curl -sS -m 10 --unix-socket admin -d '{"name": "late", "scene": "cubes"}' http://localhost/v1/sessions)
ok "and cannot be told to go on" grep -qx 409 <(curl -sS -m 10 -o answer -w '%{http_code}' --unix-socket admin -X DELETE http://localhost/v1/drain)
wait $server_pid
ok "until its time is over, and ends in order" test $? = 0
ok "the last tick is in the recording, which has no end" grep -qE '^recording rec/.*; continue it' server.out
ok "so nothing is told of a finished one" test ! -e finished
start "$scenes/spacewar.yaml" --port $at --resume-all rec --drain-seconds 600 --on-recording "$hook"
ok "the next start goes on with it" grep -q '^resumed at tick' server.out
ok "and begins no second session of that name" test "$(grep -c '^session ' server.out)" = 1 -a "$(ls rec | wc -l)" = 1
ok "the player comes back as who he was" of_player resumed 1 0
kill -TERM $ada
wait $ada
ok "having found it again by himself" grep -q '"outcome":"played"' ada.out
event left
kill -TERM $server_pid
ok "nobody plays any more: the drain does not wait" eventually gone $server_pid
start --port 0 --resume-all rec --on-recording "$hook"
kill -INT $server_pid
wait $server_pid
ok "SIGINT ends the sessions" grep -qE '^recording rec/.*; check it' server.out
ok "and the finished recording is handed to the command, by its whole path" test "$(cat finished)" = "$PWD/$(echo rec/*.foliot)"
"$replay" verify --json rec/*.foliot >verify.out
ok "three lives, one recording that verifies" grep -q '"verdict":"match"' verify.out
exits "without anything to go on with, and without a scene, there is nothing to host" 1 'no recording there is unfinished' "$server" --port 0 --resume-all rec
exits "a folder that is not there" 78 'resume-all nowhere: No such file' "$server" --port 0 --resume-all nowhere

# A second SIGTERM ends it at once; nothing durable is missing.
start "$scenes/spacewar.yaml" --port 0 --record twice.foliot --drain-seconds 60
: >server.log
"$client" 127.0.0.1:$port --bot idle --seconds 600 --connect-timeout 60 >bot.out 2>bot.log &
bot=$!
pids="$pids $bot"
event joined
kill -TERM $server_pid
event draining
sleep 0.2 # a second signal at once would be one wish
kill -TERM $server_pid
wait $server_pid
ok "a second SIGTERM ends a drain at once" test $? = 143
kill $bot
start --port 0 --resume twice.foliot --ticks 10
wait $server_pid
"$replay" verify --json twice.foliot >verify.out
ok "and what was recorded goes on" grep -q '"verdict":"match"' verify.out

# -- several sessions, one ends by itself
mkdir many
start --session short="$scenes/pendulum.yaml" --session long="$scenes/spacewar.yaml" --port 0 --recordings many --ticks 30 --on-recording "$hook"
wait $server_pid
ok "sessions that end by themselves are finished, each handed over once" test "$(grep -c many/ finished)" = 2
cp many/short-*.foliot damaged.foliot
head -c 3000 damaged.foliot >many/zzz.foliot
echo nothing >many/none.foliot
start --session short="$scenes/pendulum.yaml" --port 0 --resume-all many
ok "files that are no recordings, or finished, are left alone" grep -q "^session 'short'" server.out
ok "nobody's session goes missing without a word" has_lines server.log 'many/none.foliot cannot be continued, and is left as it is: .'
exits "nor one that another server writes to" 1 'left as it is: it is being written to' "$server" --port 0 --resume-all many
stop
rm -rf many
# A crash may leave two parts of a session. The one that goes on is the later; the other is not a separate session
# afterwards.
mkdir two
start --session a="$scenes/pendulum.yaml" --port 0 --recordings two
one=$(compgen -G 'two/a-*.foliot')
durable "$one" 20
cp "$one" early.foliot
durable "$one" 60
kill -9 $server_pid
wait $server_pid 2>/dev/null
cp early.foliot two/early.foliot
touch -d '1 hour ago' two/early.foliot
start --port 0 --resume-all two --ticks 5
wait $server_pid
ok "of two recordings of a session the later goes on" test "$(sed -n 's/^resumed at tick //p' server.out)" -ge 60
ok "and the other has an end" test "$("$replay" verify --json two/*.foliot | grep -c '"verdict":"match"')" = 2
exits "so it goes on at no later start" 1 'no recording there is unfinished' "$server" --port 0 --resume-all two --ticks 1
mkdir locked
cp damaged.foliot locked/a.foliot
chmod 000 locked/a.foliot
chmod 711 . && chmod 755 locked
other=()
[ "$(id -u)" != 0 ] || other=(setpriv --reuid 65534 --regid 65534 --clear-groups)
if "${other[@]}" "$server" --version >/dev/null 2>&1; then
    exits "nor one that may not be read" 1 'locked/a.foliot cannot be continued, and is left as it is: Permission denied' \
        "${other[@]}" "$server" --port 0 --resume-all locked
else
    echo "skip: nobody else may run the server here"
fi

# -- the budget
mkdir full
for i in 1 2 3 4; do
    "$server" "$scenes/pendulum.yaml" --port 0 --record full/$i.foliot --ticks 60 >/dev/null 2>&1
    touch -d "2020-01-0$i" full/$i.foliot
done
start "$scenes/spacewar.yaml" --port 0 --record full/0.foliot
durable full/0.foliot 0
kill -9 $server_pid
wait $server_pid 2>/dev/null
touch -d 2019-01-01 full/0.foliot
one=$(stat -c %s full/4.foliot) unfinished=$(stat -c %s full/0.foliot)
echo "mine" >full/notes.txt
start "$scenes/pendulum.yaml" --port 0 --recordings full --recordings-max-bytes $((unfinished + 2 * one + one / 2)) --ticks 60
wait $server_pid
ok "the oldest finished recordings are deleted" test ! -e full/1.foliot -a ! -e full/2.foliot
ok "the newest stay" test -e full/4.foliot -a "$(ls full/pendulum*.foliot | wc -l)" = 1
ok "an unfinished one is never deleted, however old" test -e full/0.foliot
ok "nor anything else" test -e full/notes.txt
ok "and the log says so" event old-recordings

# -- the command
: >server.log
start "$scenes/pendulum.yaml" --port 0 --ticks 5 --no-record --on-recording 'exit 3'
wait $server_pid
ok "without a recording there is no command" test "$(grep -c on-recording server.log)" = 0
"$server" "$scenes/pendulum.yaml" --port 0 --ticks 5 --record 'it is; "mine"$(touch no).foliot' --on-recording 'test -f "$1" || exit 4; exit 3' >out 2>err
ok "a command that fails is told, and no name is read by the shell" test "$(grep -c 'ended with exit code 3' err)" = 1 -a ! -e no

# A budget that has no room for a recording: it is there until its command has ended.
mkdir small
mkfifo budget
start "$scenes/pendulum.yaml" --port 0 --ticks 5 --recordings small --recordings-max-bytes 1 --on-recording 'echo >began; cat budget; test -s "$1" && echo there >budgeted'
eventually test -e began
exits "what waits for its command is no session to go on with" 1 'no recording there is unfinished' "$server" --port 0 --resume-all small --ticks 1
ok "nor one that is in use" test "$(grep -c 'left alone' err)" = 0
sleep 1 # in which it would be deleted
: >budget
wait $server_pid
ok "no budget takes a recording from its command" grep -q there budgeted
start "$scenes/pendulum.yaml" --port 0 --ticks 5 --recordings small --recordings-max-bytes 1
wait $server_pid
ok "behind it, it does" test -z "$(ls small)"

# -- a reload before there is anything to reload: it waits for Agones
AGONES_SDK_HTTP_PORT=1 "$server" "$scenes/pendulum.yaml" --port 0 --no-record >out 2>err &
waits=$!
pids="$pids $waits"
ignores() { [ $((0x$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/$waits/status) & 1)) = 1 ]; }
ok "a reload does not end a server that starts" eventually ignores
kill -9 $waits
wait $waits 2>/dev/null

# -- sd_notify
listen() { # FILE: what comes to the socket, until it is killed
    python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("notify")
out = open(sys.argv[1], "w")
while True: out.write("%s at %.3f\n" % (s.recv(4096).decode().replace("\n", " "), time.monotonic())); out.flush()
' "$1" &
    listener=$!
    pids="$pids $listener"
    eventually test -S notify
}
if command -v python3 >/dev/null; then
    admin=()
    admin=(--admin-socket ./words)
    listen told
    NOTIFY_SOCKET=$PWD/notify WATCHDOG_USEC=800000 start --session stays="$scenes/pendulum.yaml" --session ends="$scenes/pendulum.yaml" --port 0 --no-record --drain-seconds 3 "${admin[@]}"
    ok "systemd is told that it is ready, with its process" eventually has_lines told "^READY=1 .*MAINPID=$server_pid"
    # The shortest of the times between: a busy machine only lengthens them.
    is_alive() { awk '/^WATCHDOG=1/ { if (n++ && (!least || $NF - last < least)) least = $NF - last; last = $NF } END { exit !(n >= 3 && least < 0.6) }' told; }
    ok "that it is alive, twice in its watchdog's time" eventually is_alive
    ok "in words too" eventually has_lines told 'STATUS=2 sessions, 0 players'
    if test -S words; then
        curl -sS -m 10 -o /dev/null -d '{}' --unix-socket words http://localhost/v1/sessions/ends/end
        ok "of sessions that run alone" eventually has_lines told 'STATUS=1 sessions, 0 players'
    fi
    kill -TERM $server_pid
    wait $server_pid
    ok "that it drains, and how long that may take" eventually has_lines told '^STOPPING=1 STATUS=draining EXTEND_TIMEOUT_USEC=13000000'
    kill $listener
    wait $listener 2>/dev/null
    rm -f notify
    mkdir paused
    start "$scenes/pendulum.yaml" --port 0 --recordings paused
    durable "$(compgen -G 'paused/*.foliot')" 1
    kill -9 $server_pid
    wait $server_pid 2>/dev/null
    listen told
    NOTIFY_SOCKET=$PWD/notify start --port 0 --resume-all paused --ticks 5
    wait $server_pid
    ok "a start that resumes asks for the time that it takes" grep -q '^STATUS=resuming 1 of 1 recordings EXTEND_TIMEOUT_USEC=60000000' told
    kill $listener
    wait $listener 2>/dev/null
    rm -f notify
    # A command that takes longer than the watchdog's time, of a server that ends by itself.
    mkfifo gate
    listen told
    NOTIFY_SOCKET=$PWD/notify WATCHDOG_USEC=800000 start "$scenes/pendulum.yaml" --port 0 --record ended.foliot --ticks 5 --on-recording 'cat gate'
    ok "that it ends by itself, before its recordings are handed on" eventually has_lines told '^STOPPING=1 STATUS=ending EXTEND_TIMEOUT_USEC=40000000'
    ok "which it waits for" kill -0 $server_pid
    kill -HUP $server_pid
    : >gate
    wait $server_pid
    ok "and a reload meanwhile costs nothing" test $? = 0
    kill $listener
    wait $listener 2>/dev/null
    rm -f notify
    NOTIFY_SOCKET=$PWD/notify start "$scenes/pendulum.yaml" --port 0 --no-record --ticks 5
    wait $server_pid
    ok "a manager that does not listen is no reason to stop" grep -q 'continues without it' server.log
else
    echo "skip: no python3 to listen to notifications"
fi
exits "systemd is asked for where there is none" 2 'NOTIFY_SOCKET names no socket' env -u NOTIFY_SOCKET "$server" "$scenes/pendulum.yaml" --port 0 --life-cycle systemd
exits "a life cycle that does not exist" 2 'none, systemd or agones' "$server" "$scenes/pendulum.yaml" --port 0 --life-cycle docker
