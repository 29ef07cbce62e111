#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: the whole admin API over a running server: sessions are made, paused, ended and drained, players kicked and
# banned, recordings begun and ended, and all recordings verify; who has no token is refused; each mistake gets a
# sentence.
set -u
. "$(dirname "$0")/setup.sh"
head -c 24 /dev/urandom | base64 >token
chmod 640 token
exits "a token that others may read" 78 'chmod 600' "$server" "$scenes/spacewar.yaml" --port 0 --http 0 --admin-token token
chmod 600 token
echo short >few && chmod 600 few
exits "a token that is short" 78 'at least 16 bytes' "$server" "$scenes/spacewar.yaml" --port 0 --http 0 --admin-token few
exits "a token without a port" 2 'requires --http' "$server" "$scenes/spacewar.yaml" --port 0 --admin-token token
exits "scenes without the API" 2 'requires --admin-socket' "$server" --port 0 --scenes "$scenes"
echo '{"address": 7}' >wrong-bans
exits "bans that are none" 78 'line 1 is not a ban' "$server" "$scenes/spacewar.yaml" --port 0 --bans wrong-bans
touch file
exits "a file in place of the socket" 75 'not a socket' "$server" "$scenes/spacewar.yaml" --port 0 --no-record --admin-socket file

start "$scenes/spacewar.yaml" --port 0 --record one.foliot --http 0 --admin-token token --admin-socket ./socket --scenes "$scenes" --bans bans
http=$(sed -n 's/^http on .*:\([0-9]*\)$/\1/p' server.out)
ok "the socket is the owner's alone" test "$(stat -c %a socket)" = 600
held=$(python3 "$root/tests/program/memory_holds.py" $server_pid "$(tr -d '\n' <token | od -An -tx1 | tr -d ' \n')")
case $held in
skip*) echo "skip - the bearer token is in no core dump: $held" ;;
*) ok "the bearer token is in no core dump: $held" test "$held" = "dumped: 0, left out: 1" ;;
esac
authorization="Authorization: Bearer $(cat token)"
call() { # METHOD PATH [BODY]: answer.json, $status
    status=$(curl -sS -m 60 -H "$authorization" -X "$1" ${3+-d "$3"} -o answer.json -w '%{http_code}' "http://127.0.0.1:$http/v1/$2")
    printf '%s\t/v1/%s\t%s\t%s\n' "$1" "$2" "$status" "$(tr -d '\n' <answer.json)" >>calls
}
says() { # NAME STATUS PATTERN METHOD PATH [BODY]
    local name=$1 wanted=$2 pattern=$3
    shift 3
    call "$@"
    if [ "$status" = "$wanted" ] && grep -qE "$pattern" answer.json; then echo "ok - $name"
    else echo "not ok - $name: $status"; cat answer.json; fi
}
tick() { call GET "sessions/$1" && field tick answer.json; }
join() { # NAME ARGUMENT...
    local name=$1
    shift
    "$client" "127.0.0.1:$port" --name "$name" --bot circle "$@" >"$name.out" 2>&1 &
    pids="$pids $!"
}
plays() { call GET sessions/spacewar/players && grep -q "\"$1\"" answer.json; } # NAME
is_gone() { call GET "sessions/$1" && test "$status" = 404; }                   # SESSION
reached() { test "$(tick spacewar)" -gt "$1" 2>/dev/null; }                     # TICK

for path in server sessions bans sessions/spacewar/players; do
    ok "$path needs a token" test "$(curl -s -m 60 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$http/v1/$path")" = 401
done
ok "and the right one" test "$(curl -s -m 60 -o /dev/null -w '%{http_code}' -H "$authorization"x "http://127.0.0.1:$http/v1/server")" = 401
by() { curl -s -m 60 -o /dev/null -w '%{http_code}' -H "X-Forwarded-For: $1" -H "$authorization${2:-}" "http://127.0.0.1:$http/v1/server"; } # VISITOR [MORE]
guesses=0
until [ $guesses = 300 ] || [ "$(by 203.0.113.9 x)" = 429 ]; do guesses=$((guesses + 1)); done
ok "who guesses waits, after 64 ($guesses)" test $guesses -ge 64 -a $guesses -lt 300
waits() { [ "$(by 203.0.113.9 x)" = 429 ] && [ "$(by 203.0.113.9)" = 429 ]; } # one a second is looked at
ok "the right one waits too" eventually waits
ok "nobody else does" test "$(by 203.0.113.10) $(by 127.0.0.1)" = '200 200'
curl -sS -m 60 --unix-socket socket http://localhost/v1/server >answer.json
ok "the socket needs none" test "$(field sessions answer.json)" = 1

join ann --seconds 600
join bob --seconds 600 --kind step
eventually plays ann && eventually plays bob
says "players" 200 '"name":"bob".*"kind":"step"|"kind":"step".*"name":"bob"' GET sessions/spacewar/players
says "a pause" 200 true POST sessions/spacewar/pause
before=$(tick spacewar)
sleep 1
ok "holds the session" test "$(tick spacewar)" = "$before"
says "is seen" 200 '"state":"paused"' GET sessions/spacewar
begun=$(date +%s%N)
says "and ends" 200 true POST sessions/spacewar/resume ''
eventually reached $((before + 20))
now=$(tick spacewar)
most=$((($(date +%s%N) - begun) * 60 / 1000000000 + 30)) # a second of pause is 60 ticks
ok "without making up for it" test $((now - before)) -gt 20 -a $((now - before)) -lt $most
says "a message" 200 true POST sessions/spacewar/messages '{"text": "hello", "player": 0}'
says "to nobody" 404 'no such player' POST sessions/spacewar/messages '{"text": "hello", "player": 99}'
says "none" 400 "'text' is missing" POST sessions/spacewar/messages '{}'
says "a command that lacks a key" 400 "needs 'acceleration'" POST sessions/spacewar/commands '{"command": "gravity"}'
says "a command where none are taken" 409 'takes no commands' POST sessions/spacewar/commands '{"command": "var", "key": "a", "integer": 1}'

for action in pause resume drain end players/0/kick players/0/ban recording messages; do # what has a body, and the wrong one
    for body in '[]' '"x"' 'null' '{"x": 1}' '{"reason": 7, "seconds": "x"}' '{' '{"text": "a", "text": "b"}' '{} {}'; do
        call POST "sessions/spacewar/$action" "$body"
        test "$status" = 400 || echo "not ok - $action with $body: $status"
    done
done
says "a key twice" 400 "the key 'name' is given twice" POST sessions '{"name": "x", "name": "y", "scene": "cubes"}'
head -c 262145 /dev/zero | tr '\0' ' ' >long
says "a long body" 413 'too long' POST bans @long
says "a new session" 200 '"name":"two"' POST sessions '{"name": "two", "scene": "cubes", "record": true}'
two=$(field recording answer.json)
says "its name again" 409 'already' POST sessions '{"name": "two", "scene": "cubes"}'
says "a path" 400 'name of a file' POST sessions '{"name": "x", "scene": "../scenes/cubes.yaml"}'
says "no such scene" 422 'cannot be opened' POST sessions '{"name": "x", "scene": "nowhere"}'
says "no name" 400 "'name' has 1 to" POST sessions '{"scene": "cubes"}'
says "a key that there is not" 400 "no key 'nam'" POST sessions '{"nam": "x"}'
says "no JSON" 400 'byte' POST sessions '{"name": x}'
says "both are there" 200 'spacewar.*two' GET sessions
says "its recording ends" 200 "$two" DELETE sessions/two/recording
says "once" 409 'not being recorded' DELETE sessions/two/recording
says "none outside" 400 'without a path' POST sessions/two/recording '{"file": "/tmp/a.foliot"}'
says "none of another kind" 400 'ends in .foliot' POST sessions/two/recording '{"file": "token"}'
echo 'dear ada' >letter.foliot
says "nor over what is no recording" 507 'not a recording' POST sessions/two/recording '{"file": "letter.foliot"}'
ok "which stays" test "$(cat letter.foliot)" = 'dear ada'
says "nor over one that is complete" 409 'exists already' POST sessions/two/recording "{\"file\": \"$two\"}"
says "another begins in the middle" 200 later.foliot POST sessions/two/recording '{"file": "later.foliot"}'
says "not twice" 409 'already' POST sessions/two/recording
durable later.foliot "$(tick two)" # the middle, at least
says "the session ends" 200 true POST sessions/two/end '{"reason": "enough"}'
ok "and is gone" eventually is_gone two
says "its name is free" 200 '"name":"two"' POST sessions '{"name": "two", "scene": "pendulum", "record": false}'
for i in $(seq 70); do # more than there may be at once
    call POST sessions "{\"name\": \"s$i\", \"scene\": \"pendulum\", \"record\": false}"
    [ "$status" = 200 ] || break
    call POST "sessions/s$i/end"
done
ok "seventy sessions came and went" test "$status" = 200
says "no such session" 404 "no session 'none'" POST sessions/none/pause
# Commands that come while their session ends, one after the other on every path.
says "a brief one" 200 '"name":"brief"' POST sessions '{"name": "brief", "scene": "spacewar"}'
racers=
for what in 'POST pause {}' 'POST resume {}' 'POST recording {}' 'DELETE recording' 'GET players' 'POST messages {"text":"hi"}' 'GET vars'; do
    read -r method path body <<<"$what"
    for _ in $(seq 10); do
        curl -s -m 60 -X "$method" -H "$authorization" ${body:+-d "$body"} -w ' %{http_code}\n' "http://127.0.0.1:$http/v1/sessions/brief/$path"
    done >"raced.$method.$path" &
    racers="$racers $!"
done
sleep 0.1
says "it ends in between" 200 true POST sessions/brief/end
for racer in $racers; do wait "$racer"; done
cat raced.* | tr -d '\n' | sed 's/} *\([0-9][0-9][0-9]\)/} \1\n/g' >raced
ok "each gets an answer or a sentence" test "$(grep -cE '^\{.*\} 200$|"error":"..*\} (404|409|503)$' raced)" = 70
ok "and it is gone" eventually is_gone brief
ok "its recordings have their end" sh -c "test \"\$('$replay' info --json brief-*.foliot | grep -c '\"closed\":true')\" = \$(ls brief-*.foliot | wc -l)"

says "the recording with players ends" 200 one.foliot DELETE sessions/spacewar/recording
says "and goes on in another" 200 rest.foliot POST sessions/spacewar/recording '{"file": "rest.foliot"}'
durable rest.foliot "$(tick spacewar)"
ok "both are logged" logged '"event":"admin".* spacewar in .*(one|rest).foliot' 2
says "a kick" 200 true POST sessions/spacewar/players/ann/kick '{"reason": "be nice"}'
says "nobody of that name" 404 "no player 'eve'" POST sessions/spacewar/players/eve/kick
for _ in $(seq 15); do
    call POST sessions/spacewar/pause
    call POST sessions/spacewar/resume
done
ok "each of thirty quick actions leaves its line" logged '"event":"admin".*(pauses|resumes) spacewar' 30
says "a ban" 200 true POST sessions/spacewar/players/bob/ban '{"reason": "cheats", "seconds": 1000}'
says "is listed" 200 '"address":"127.0.0.1"' GET bans
ok "and kept" grep -q cheats bans
ok "and the log says whose it is" logged '"event":"admin".* bans 127.0.0.1'
exits "who is banned is told why" 1 'banned: cheats' "$client" "127.0.0.1:$port" --name eve --bot idle --seconds 1
says "no ban for ages" 400 'at most 3153600000 seconds' POST bans '{"name": "eve", "seconds": 18446744073709551615}'
says "no ban of nobody" 400 'an address, a name or a client' POST bans '{"reason": "x"}'
allowed=$(curl -sS -m 60 -i -H "$authorization" -X PUT "http://127.0.0.1:$http/v1/drain" | tr -d '\r' | sed -n 's/^allow: //p')
ok "another method is told which there are" test "$allowed" = "POST, DELETE"
says "a pardon" 200 true DELETE bans/127.0.0.1
ok "which is logged, too" logged '"event":"admin".* 127.0.0.1' 2
says "once" 404 'no ban' DELETE bans/127.0.0.1
says "a ban by name" 200 true POST bans '{"name": "eve"}'
exits "holds" 1 'banned' "$client" "127.0.0.1:$port" --name eve --bot idle --seconds 1
ok "for that name" "$client" "127.0.0.1:$port" --name adam --bot idle --ticks 9
ok "ann was told" eventually grep -q 'be nice' ann.out
ok "a pause costs no connection" eventually grep -q " 0 reconnects" ann.out
echo '{"name": "gil", "reason": "by hand", "until": 0}' >>bans
head -c 24 /dev/urandom | base64 >token
kill -HUP "$server_pid"
event reloaded
call GET bans
ok "SIGHUP: the old token is none" test "$status" = 401
authorization="Authorization: Bearer $(cat token)"
says "the new one is, and the bans are those of the file" 200 'gil' GET bans
echo rubbish >>bans
kill -HUP "$server_pid"
ok "a file that is wrong changes nothing" logged '"event":"not-reloaded".*bans: line 3 '
says "so the bans stay" 200 'gil' GET bans
mv bans moved-bans
kill -HUP "$server_pid"
ok "nor does one that is gone: who is banned stays so" event not-reloaded 2
says "and is listed" 200 'gil' GET bans
mv moved-bans bans
says "a drain" 200 true POST drain
is_not_ready() { test "$(curl -s -m 60 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$http/readyz")" = 503; }
ok "is not ready" eventually is_not_ready
exits "lets nobody in" '1|75' 'no new players' "$client" "127.0.0.1:$port" --name fay --bot idle --seconds 1 --connect-timeout 50
says "nor a session" 409 'draining' POST sessions '{"name": "x", "scene": "cubes"}'
call POST sessions/two/end
says "the last one ends" 200 true POST sessions/spacewar/end
eventually gone "$server_pid"
wait "$server_pid"
ok "and the server with it" test $? = 0
ok "the socket is gone" test ! -e socket
if python3 -c 'import yaml' 2>/dev/null; then
    ok "every answer is one that the OpenAPI file has, field by field" python3 "$root/tests/program/openapi_answers.py" "$root/docs/reference/admin-api.yaml" calls
fi
for file in one.foliot "$two" later.foliot rest.foliot; do
    ok "$file verifies" "$replay" verify "$file"
done

# SIGHUP, as of 'systemctl reload', where there is nothing to read again.
start "$scenes/spacewar.yaml" --port 0 --no-record
kill -HUP "$server_pid"
ok "SIGHUP ends no server" event reloaded 2
stop
ok "which ends in order later" test $? = 0
echo '{"name": "gil", "reason": "by hand", "until": 0}' >bans
start "$scenes/spacewar.yaml" --port 0 --no-record --bans bans
echo rubbish >>bans
kill -HUP "$server_pid"
ok "bans are read again without the API" logged '"event":"not-reloaded".*bans: line 2 '
stop

# A ban that is given while the file is read, which takes its time, holds.
seq -f '{"name": "n%g", "reason": "", "until": 0}' 8000 >bans
: >server.log
start "$scenes/spacewar.yaml" --port 0 --no-record --bans bans --admin-socket ./bans.socket
bans() { curl -sS -m 60 --unix-socket bans.socket "$@" http://localhost/v1/bans; } # CURL-ARGUMENT...
kill -HUP "$server_pid"
bans -d '{"name": "eve"}' >answer.json
event reloaded
ok "what is banned while bans are read again stays banned" grep -q '"eve"' <(bans)
listed() { bans | grep -q '"bob"'; }
is_over() { ! listed; }
shown=no
for seconds in 1 2 4 8 16; do # on a busy machine one may be over before the list is read
    bans -d '{"name": "bob", "seconds": '$seconds'}' >answer.json
    listed && shown=yes && break
done
ok "a ban for a short time" test $shown = yes
ok "is in the list as long as it holds" eventually is_over
stop

# In a terminal: who closes it ends the server, also one that has something to read again.
cat >terminal.py <<'END'
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
said = b""
while b"listening" not in said:
    said += os.read(terminal, 4096)
time.sleep(0.5)
os.close(terminal)
for _ in range(200):
    if os.waitpid(pid, os.WNOHANG)[0]:
        sys.exit(0)
    time.sleep(0.1)
os.kill(pid, 9)
sys.exit("it goes on")
END
ok "a closed terminal ends its server" python3 terminal.py "$server" "$scenes/spacewar.yaml" --port 0 --no-record
ok "and one with bans" python3 terminal.py "$server" "$scenes/spacewar.yaml" --port 0 --no-record --bans bans

# A client that holds every connection of the port, as a proxy's visitors may, leaves the operator the socket.
start "$scenes/spacewar.yaml" --port 0 --no-record --http 0 --admin-socket ./kept.socket
http=$(sed -n 's/^http on .*:\([0-9]*\)$/\1/p' server.out)
python3 - "$http" >status.out <<'END'
import socket, subprocess, sys, time
held = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(600)]
time.sleep(1)
print(subprocess.run(["curl", "-sS", "-m", "60", "--unix-socket", "kept.socket", "http://localhost/v1/server"],
                     capture_output=True, text=True).stdout)
END
ok "a full port does not close the socket" grep -q '"version"' status.out
stop

# A later session is recorded where the others are, so that it is resumed with them.
mkdir kept
start --port 0 --resume-all kept --scenes "$scenes" --admin-socket ./later.socket
later() { curl -sS -m 60 --unix-socket later.socket -X "$1" -d "$3" "http://localhost/v1/$2" >answer.json; } # METHOD PATH BODY
later POST sessions '{"name": "made", "scene": "pendulum"}'
ok "a new session is recorded in the folder of recordings" grep -q '"recording":"kept/made-' answer.json
later POST sessions '{"name": "silent", "scene": "pendulum", "record": false}'
later POST sessions/silent/recording '{"file": "mine.foliot"}'
ok "and a recording that has a name" grep -q '"file":"kept/mine.foliot"' answer.json
sleep 0.5
kill -9 "$server_pid"
wait "$server_pid" 2>/dev/null
start --port 0 --resume-all kept --ticks 60
wait "$server_pid"
ok "after a crash both go on" test "$(grep -cE "^session '(made|silent)'" server.out)" = 2
