#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: foliot-replay as its contract says it: exit codes, JSON keys, many files, a second reader that agrees, two builds
# compared. Recordings are made by tests/program/record and by foliot-lab.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${BUILD:-build}" && pwd)
replay=$build/foliot-replay
reader=$PWD/tests/program/reader.pl
golden=$PWD/tests/golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
check() { # NAME COMMAND...: the command succeeds
    local name=$1
    shift
    if "$@" >out 2>err; then echo "ok - $name"; else echo "not ok - $name"; head -n 5 out err; fi
}
exits() { # NAME CODE COMMAND...
    local name=$1 code=$2 rc
    shift 2
    "$@" >out 2>err
    rc=$?
    if [ "$rc" = "$code" ]; then echo "ok - $name"; else echo "not ok - $name: exit $rc, not $code"; head -n 5 out err; fi
}
says() { grep -qE "$1" out; }

"$build/tests/program/record" a.foliot 600 && "$build/tests/program/record" s.foliot 600 streams || echo "not ok - recordings are made"
bytes=$(stat -c %s a.foliot)
head -c $((bytes / 2)) a.foliot >cut.foliot

exits "a match exits 0" 0 "$replay" verify --json a.foliot
keys=$(sed 's/"\([a-z_]*\)":[^,}]*/\1/g; s/[{}]//g' out)
check "the JSON keys are those of the contract" test "$keys" = \
    file,scene,integrator,dt,ticks,players,digest,verdict,cut_at,first_bad_tick,stage,body,field,ulps,realtime_factor
exits "a cut file exits 6" 6 "$replay" verify --json cut.foliot
says '"ticks":[1-9][0-9]*,.*"verdict":"unfinished","cut_at":[1-9]' && echo "ok - and says where" || { echo "not ok - and says where"; cat out; }
# Damage is damage, also before a cut.
cp cut.foliot bent.foliot
printf '\377' | dd of=bent.foliot bs=1 seek=$((bytes / 4)) conv=notrunc 2>/dev/null
exits "a damaged one that is cut exits 4" 4 "$replay" verify --json bent.foliot
says '"verdict":"corrupt"' && echo "ok - and says so" || { echo "not ok - and says so"; cat out; }
for command in info "export --csv" "diff cut.foliot" "play --frame" "state --tick 10"; do # shellcheck disable=SC2086
    exits "${command%% *} of an unfinished one exits 0" 0 "$replay" $command cut.foliot
done
exits "info says that it is" 0 "$replay" info --json cut.foliot
says '"closed":false,"unfinished":true,.*"damage":null' && echo "ok - in two keys" || { echo "not ok - in two keys"; cat out; }
exits "info of a damaged one exits 4" 4 "$replay" info --json bent.foliot
says '"unfinished":false,.*"damage":"' && echo "ok - and says no such thing" || { echo "not ok - and says no such thing"; cat out; }
if [ -w /dev/full ]; then
    for command in info verify "export --csv"; do # shellcheck disable=SC2086
        "$replay" ${command%% *} a.foliot $(echo "$command" | cut -s -d ' ' -f 2) >/dev/full 2>told
        rc=$?
        check "what $command cannot write is told" sh -c "[ $rc = 75 ] && grep -q 'cannot write to stdout' told"
    done
fi
(ulimit -f 2; "$replay" trim a.foliot --out part.foliot) >out 2>err
check "a part that there is no room for is not left behind" test ! -e part.foliot
for bytes in 0 3 15 16 30 100; do # within the block that has the scene
    head -c $bytes a.foliot >head.foliot
    exits "one that is cut behind $bytes bytes exits 6" 6 "$replay" verify --json head.foliot
    says '"ticks":0,.*"digest":null,"verdict":"unfinished","cut_at":(0|16),' && echo "ok - and is called so" || { echo "not ok - and is called so"; cat out; }
    exits "info can read nothing of it, and says the same" 6 "$replay" info head.foliot
done
# A machine that stopped: the file system fills up what was not written. verify says where the whole part ends.
"$replay" verify --json cut.foliot >out
whole=$(sed -n 's/.*"cut_at":\([0-9]*\).*/\1/p' out) ticks=$(sed -n 's/.*"ticks":\([0-9]*\).*/\1/p' out)
for zeros in 1 28 4096 1000000; do
    (head -c "$whole" cut.foliot; head -c $zeros /dev/zero) >zeros.foliot
    exits "one with $zeros zeros behind its last block exits 6" 6 "$replay" verify --json zeros.foliot
    says "\"ticks\":$ticks,.*\"verdict\":\"unfinished\",\"cut_at\":$whole," && echo "ok - and is whole up to there" || { echo "not ok - and is whole up to there"; cat out; }
    exits "info exits 0 and says so" 0 "$replay" info --json zeros.foliot
    says '"unfinished":true,.*"damage":null' && echo "ok - in two keys again" || { echo "not ok - in two keys again"; cat out; }
done
printf '\1' >>zeros.foliot
exits "with something behind the zeros it is damaged" 4 "$replay" verify zeros.foliot
(head -c "$whole" cut.foliot; printf '\1'; head -c 4096 /dev/zero) >zeros.foliot
exits "and with something before them" 4 "$replay" verify zeros.foliot
(cat a.foliot; head -c 4096 /dev/zero) >zeros.foliot
exits "and behind a closing block" 4 "$replay" verify zeros.foliot
printf 'abc' >head.foliot
exits "a short file that begins as no recording exits 4" 4 "$replay" verify head.foliot
exits "no file exits 1" 1 "$replay" verify nothing.foliot
exits "no operand exits 2" 2 "$replay" verify
exits "a fault exits 3" 3 "$replay" verify a.foliot --json --perturb 300/integrate:2:position.y:5
says '"first_bad_tick":300,"stage":"integrate","body":2,"field":"position.y","ulps":5,' && echo "ok - and is named" || { echo "not ok - and is named"; cat out; }
exits "a fault in no such body exits 2" 2 "$replay" verify a.foliot --perturb 300:nobody:position.y:1
exits "a malformed fault exits 2" 2 "$replay" verify a.foliot --perturb 300:2:position.q:1
exits "the worst of several files counts" 4 "$replay" verify a.foliot cut.foliot bent.foliot nothing.foliot
exits "an error is worse than no end" 1 "$replay" verify a.foliot cut.foliot nothing.foliot
exits "no end is worse than nothing" 6 "$replay" verify cut.foliot a.foliot

printf 'a.foliot\ns.foliot\na.foliot\n' >list
"$replay" verify --json --jobs 3 --files-from list >out
check "one line a file" test "$(wc -l <out)" = 3
"$replay" verify --json --files-from list --shard 1/2 >first
"$replay" verify --json --files-from list --shard 2/2 >second
check "shards share the files" test "$(cat first second | wc -l) $(wc -l <first)" = "3 2"
exits "shard 3 of 2 exits 2" 2 "$replay" verify --files-from list --shard 3/2

# The start of a later format, its checksum right; and blocks with records that nobody knows.
perl -e '
    my @t = map { my $c = $_; $c = $c & 1 ? ($c >> 1) ^ 0x82F63B78 : $c >> 1 for 1 .. 8; $c } 0 .. 255;
    sub crc { my $c = 0xffffffff; $c = $t[($c ^ $_) & 255] ^ ($c >> 8) for unpack "C*", shift; $c ^ 0xffffffff }
    my $all = do { local $/; open my $in, "<:raw", "a.foliot"; <$in> };
    sub put { open my $out, ">:raw", shift; print $out shift }
    my $start = substr($all, 0, 8) . pack "V", 2;
    put("future.foliot", $start . pack("V", crc $start) . substr $all, 16);
    # The header block grows by a record: offsets move, so the file ends there.
    for (["optional", 100], ["critical", 50]) {
        my ($name, $type) = @$_;
        my ($length, $number, $tick) = unpack "x4 V V Q<", substr $all, 16;
        my $payload = substr($all, 44, $length) . pack "C*", 0x92, $type, 0xa1, 0x78;
        my $head = "\xfeBlk" . pack "V V Q< V", length $payload, $number, $tick, crc $payload;
        put("$name.foliot", substr($all, 0, 16) . $head . pack("V", crc $head) . $payload . substr $all, 44 + $length);
    }'
exits "a newer format exits 5" 5 "$replay" verify --json future.foliot
says '"verdict":"unsupported"' && echo "ok - and is called unsupported" || echo "not ok - and is called unsupported"
exits "a record that must be understood exits 5" 5 "$replay" verify critical.foliot
"$replay" info --json optional.foliot >json 2>err
check "a record that may be skipped is skipped" grep -q '"last_tick":600' json

for file in a s; do
    for what in inputs digests; do
        perl "$reader" $what $file.foliot >second
        "$replay" export --csv --what $what $file.foliot >first
        check "the second reader agrees on $what of $file" cmp first second
        check "and there are some" test "$(wc -l <first)" -gt 100
    done
    perl "$reader" bodies $file.foliot >second
    "$replay" export --csv --every 100 $file.foliot | tail -n +2 | cut -d, -f1,3,5- >first
    check "the second reader agrees on the bodies of $file" cmp first second
done
perl "$reader" bodies "$golden/ragdoll.foliot" >second
"$replay" export --csv --every 300 "$golden/ragdoll.foliot" | tail -n +2 | cut -d, -f1,3,5- >first
check "and on bodies that turn" cmp first second

# A session: commands, orders, messages and the state of rules.
"$build/tests/program/record" g.foliot 600 session || echo "not ok - a session is recorded"
exits "a session verifies" 0 "$replay" verify g.foliot
perl "$reader" commands g.foliot >second
"$replay" export --what commands g.foliot >first
check "the second reader agrees on commands" cmp first second
check "and there are some of every kind but the end" test "$(grep -oE '"command": "[a-z_]*"' first | sort -u | wc -l)" = 12
perl "$reader" orders g.foliot >second
"$replay" export --what orders g.foliot |
    sed -E 's/^.*"tick":([0-9]+),"player":([0-9]+),"sequence":([0-9]+),"kind":"([a-z]+)","bytes":"([0-9a-f]*)".*/\1,\2,\3,\4,\5/' >first
check "and on orders" cmp first second
check "of which there are 200" test "$(wc -l <first)" = 200
perl "$reader" past "$golden/../../games/duel/duel.foliot" >second
check "the second reader agrees on the past" test "$(grep -c '^[0-9]*,60,' second)" -ge 6
perl "$reader" messages g.foliot >second
"$replay" export --what messages g.foliot >first
check "and on messages" test "$(wc -l <first) $(wc -l <second)" = "60 60"
check "which are shown as text where they are" grep -qF '{"tick":1,"player":0,"reliable":true,"bytes":"68656c6c6f","text":"hello"}' first
perl "$reader" rules g.foliot >second
check "and on the rules" grep -qx 'replay test,3,-- none,record.c' second
check "whose state is beside every keyframe" test "$(grep -c '^[0-9]*,7469636b20' second)" = 7
"$replay" info --json g.foliot >said
check "info names and counts them" grep -qE '"commands":[1-9][0-9]+,"orders":200,"messages":60,.*"session_rules":"replay test","session_rules_version":3' said
exits "trim keeps commands and orders" 0 "$replay" trim g.foliot --out gt.foliot --from 100 --to 400
"$replay" export --what commands gt.foliot >second
"$replay" export --what commands g.foliot | awk -F'[:,]' '$2 >= 100 && $2 < 400' >first
check "as they were" cmp first second
"$replay" export --what messages gt.foliot >second
"$replay" export --what messages g.foliot | awk -F'[:,]' '$2 > 100 && $2 <= 400' >first
check "and messages" cmp first second
check "of which there are 30" test "$(wc -l <second)" = 30
check "and notes" test "$(grep -ao 'noted [0-9]*\.' gt.foliot | tr '\n' ' ')" = "noted 100. noted 249. noted 250. noted 399. "
exits "a whole one keeps everything" 0 "$replay" trim g.foliot --out gw.foliot
exits "and is the same" 0 "$replay" diff g.foliot gw.foliot
check "with its notes" test "$(grep -ao 'noted [0-9]*\.' gw.foliot)" = "$(grep -ao 'noted [0-9]*\.' g.foliot)"
exits "and the result verifies" 0 "$replay" verify gt.foliot
exits "a session does not differ from itself" 0 "$replay" diff g.foliot g.foliot
"$build/tests/program/record" go.foliot 600 session order && "$build/tests/program/record" gm.foliot 600 session message
exits "but from one with another order" 3 "$replay" diff g.foliot go.foliot
check "whose tick, player and byte are named" grep -qx 'orders differ first in tick 303: order 91809 of player 3, byte 7: 2f and 21' \
    <("$replay" diff g.foliot go.foliot)
exits "and from one with another message" 3 "$replay" diff g.foliot gm.foliot
check "whose tick, player and byte are named" grep -qx 'messages differ first in tick 311: message to player 310, byte 3: 6c and 70' \
    <("$replay" diff g.foliot gm.foliot)
check "in JSON, too" grep -q '"first_other_order":null,"other_order":null,"first_other_message":311,"other_message":"message to player 310, byte 3' \
    <("$replay" diff --json g.foliot gm.foliot)
# Blocks without records: 65,536 ticks each, in 28 bytes.
perl -e '
    my @t = map { my $c = $_; $c = $c & 1 ? ($c >> 1) ^ 0x82F63B78 : $c >> 1 for 1 .. 8; $c } 0 .. 255;
    sub crc { my $c = 0xffffffff; $c = $t[($c ^ $_) & 255] ^ ($c >> 8) for unpack "C*", shift; $c ^ 0xffffffff }
    my $all = do { local $/; open my $in, "<:raw", "g.foliot"; <$in> };
    my $at = 16;
    $at += 28 + unpack "x4 V", substr $all, $at for 0, 1;
    open my $out, ">:raw", "long.foliot";
    print $out substr $all, 0, $at;
    for my $n (1 .. 600) {
        my $head = "\xfeBlk" . pack "V V Q< V", 0, $n + 1, 65536 * $n, 0;
        print $out $head, pack "V", crc $head;
    }'
exits "more ticks than can be kept are not compared" 1 "$replay" compare long.foliot --with "$replay"
cp err told
check "and that is said" grep -q 'has 39321600 ticks; at most 33554431 can be compared' told
exits "commands are no table" 2 "$replay" export --csv --what commands g.foliot

cat >game.yaml <<'EOF'
foliot: 1
name: game
tick_hz: 60
gravity: [0, 0, -9.81]
limits: {bodies_max: 32, commands_max: 4}
bodies:
  - {name: floor, static: true, shape: {kind: plane}}
prototypes:
  - {name: ball, mass: 2, shape: {kind: sphere, radius: 0.25}}
EOF
sed '/limits/d; /prototypes/,$d' game.yaml >plain.yaml
cat >commands.jsonl <<'EOF'
# one ball, and another
{"tick": 5, "command": "spawn", "prototype": 0, "position": [0, 0, 3]}
{"tick": 20, "command": "spawn", "prototype": 0, "position": [1, 0, 0.1], "velocity": [-1, 0, 0]}
{"tick": 20, "command": "spawn", "prototype": 0, "position": [1, 0, 2], "tag": 7}
{"tick": 30, "source": "admin", "command": "impulse", "body": [1, 0], "linear": [0, 0, 4]}
{"tick": 90, "command": "despawn", "body": [9, 0]}
EOF
exits "the lab gives commands" 0 "$build/foliot-lab" run game.yaml --commands commands.jsonl --ticks 120 --record c1.foliot
cp out said
check "and names those that were refused" grep -qF 'command refused    number 5 in tick 90: the body is gone' said
exits "a session of the lab verifies" 0 "$replay" verify c1.foliot
"$replay" export --what commands c1.foliot >again.jsonl
check "its commands are there" test "$(wc -l <again.jsonl)" = 5
for from in again.jsonl c1.foliot; do
    exits "they are given again from $from" 0 "$build/foliot-lab" run game.yaml --commands $from --ticks 120 --record c2.foliot
    check "to the same bytes" cmp c1.foliot c2.foliot
done
sed 's/\[0, 0, 4\]/[0, 0, 5]/' commands.jsonl >other.jsonl
exits "other commands" 0 "$build/foliot-lab" run game.yaml --commands other.jsonl --ticks 120 --record c3.foliot
exits "give another run" 3 "$replay" diff c1.foliot c3.foliot
cp out said
check "and diff says from where on" grep -qx 'commands differ first in tick 30: command 1 (impulse), linear' said
exits "synctest gives commands" 0 "$build/foliot-lab" synctest game.yaml --commands commands.jsonl --ticks 60
exits "a scene must take them" 78 "$build/foliot-lab" run plain.yaml --commands commands.jsonl --ticks 1
cp err said
check "and says how" grep -qF 'limits: {commands_max: 64}' said
printf '{"tick": 0, "command": "end"}\n{"tick": 0, "command": "ende"}\n' >wrong.jsonl
exits "a wrong line exits 78" 78 "$build/foliot-lab" run game.yaml --commands wrong.jsonl
cp err said
check "and is named" grep -qF "wrong.jsonl:2:24: there is no command 'ende'" said
for i in 1 2 3 4 5; do echo '{"tick": 3, "command": "despawn", "body": [0, 0]}'; done >many.jsonl
exits "too many in a tick are not taken" 4 "$build/foliot-lab" run game.yaml --commands many.jsonl
cp err said
check "and it says why" grep -qF "tick 3 has 5 commands, and the scene's commands_max is 4" said

exits "every kind of command" 0 "$build/foliot-lab" run "$golden/session.yaml" --ticks 301 --inputs "$golden/players.txt" \
    --commands "$golden/session.jsonl" --record every.foliot
perl "$reader" session every.foliot >second
check "the second reader reads the session" grep -q '^300,end 1 over session,gravity 0 0.5 -8,tags 9 .*,phase=second "half",score=-12$' second
perl "$reader" bodies every.foliot >second
"$replay" export --csv --every 300 every.foliot | tail -n +2 | cut -d, -f1,3,5- >first
check "and bodies that commands made" cmp first second

# Rigid bodies: what lies asleep, what a joint holds, what broke, and every byte of all recordings of ready scenes.
cat >rest.yaml <<'EOF'
foliot: 1
name: rest
tick_hz: 60
gravity: [0, 0, -9.81]
sleep: true
bodies:
  - {name: floor, static: true, shape: {kind: plane}}
  - {name: crate, mass: 2, position: [0, 0, 0.5], shape: {kind: box, half: [0.5, 0.5, 0.5]}}
  - {name: frame, static: true, position: [3, 0, 2], shape: {kind: box, half: [0.1, 0.1, 0.1]}}
  - {name: flap, mass: 3, position: [4, 0, 2], shape: {kind: capsule, radius: 0.1, half_length: 0.25}}
  - {name: weight, mass: 1, position: [8, 0, 5], shape: {kind: sphere, radius: 0.1}}
constraints:
  - {kind: hinge, a: frame, b: flap, anchor: [3.5, 0, 2], axis: [0, 2, 0], limits: [-1, 1.5], motor: {speed: -0.25, torque: 7},
     break_force: 5000, break_torque: 600, collide: true}
  - {kind: distance, a: weight, anchor_a: [0.05, 0, 0], anchor: [8.05, 0, 6], break_force: 0.5}
EOF
"$build/foliot-lab" run rest.yaml --ticks 300 --record rest.foliot >out 2>&1 || cat out
perl "$reader" scene rest.foliot >second
check "the second reader reads a hinge" grep -qxF 'constraint kind=3 a=2 b=3 break_force=5000 anchor_a.x=0.5 anchor_b.x=-0.5 axis.y=1 axis.z=0 angle_min=-1 angle_max=1.5 motor_speed=-0.25 motor_torque=7 break_torque=600 collides=1' second
check "and a distance off the centre" grep -qxF 'constraint a=4 length=1 break_force=0.5 anchor_a.x=0.050000000000000003 anchor_b.x=8.0500000000000007 anchor_b.z=6' second
check "what broke" test "$(perl "$reader" broken rest.foliot | tail -n 1)" = 300,0,1
check "who sleeps" test "$(perl "$reader" flags rest.foliot | awk -F, 'END { print $1, int($3 / 8) % 2, int($5 / 8) % 2 }')" = "300 1 0"
# Four substeps a tick: each pushes with 2 kg * 9.81 m/s2 / 240 Hz.
perl "$reader" contacts rest.foliot | awk -F, '$1 == 300 && $2 == 0 && $3 == 1 { sum = $8 + $9 + $10 + $11; n++ } END { exit !(n == 1 && sum > 0.08174 && sum < 0.08176) }' &&
    echo "ok - what a crate that rests is pushed with" || { echo "not ok - what a crate that rests is pushed with"; perl "$reader" contacts rest.foliot; }
perl "$reader" bodies rest.foliot >second
"$replay" export --csv --every 300 rest.foliot | tail -n +2 | cut -d, -f1,3,5- >first
check "and their places" cmp first second
unread=
for file in "$golden"/*.foliot; do
    perl "$reader" flags "$file" >out || unread="$unread $(basename "$file")"
done
check "the second reader reads every ready scene's recording to its last byte$unread" test -z "$unread"
"$build/examples/lockstep" skirmish.foliot >out 2>&1
check "and one of another simulation" test "$(perl "$reader" digests skirmish.foliot | wc -l)" -gt 100

"$replay" state a.foliot --tick 333 --json >json
check "state gives the tick" grep -q '"tick":333,' json
exits "state beyond the end exits 1" 1 "$replay" state a.foliot --tick 601
exits "trim writes a part" 0 "$replay" trim a.foliot --from 130 --to 480 --out part.foliot
exits "which verifies" 0 "$replay" verify part.foliot
exits "trim makes a cut file whole" 0 "$replay" trim cut.foliot --out whole.foliot
exits "which verifies as well" 0 "$replay" verify whole.foliot
exits "trim does not write onto its source" 2 "$replay" trim a.foliot --out ./a.foliot
exits "a recording does not differ from itself" 0 "$replay" diff a.foliot a.foliot
exits "but from another" 3 "$replay" diff a.foliot s.foliot
exits "play wants a terminal" 1 "$replay" play a.foliot

exits "two equal builds agree" 0 "$replay" compare a.foliot --with "$replay"
printf '#!/bin/sh\nexec "%s" "$@" --perturb 411/solve:4:velocity.x:-2\n' "$replay" >other
chmod +x other
exits "two different ones do not" 3 "$replay" compare a.foliot --json --with ./other
says '"first_bad_tick":411,"stage":"solve","body":4,"field":"velocity.x","ulps":2,' && echo "ok - and the place is named" || { echo "not ok - and the place is named"; cat out; }
exchanged=$(sed 's/.*"bytes_exchanged":\([0-9]*\).*/\1/' out)
check "for at most 2 kB ($exchanged)" test "$exchanged" -le 2000
exits "whoever does not answer is an error" 1 "$replay" compare a.foliot --with true
cp err reason
check "and is said to be" grep -q "^foliot-replay compare: --with: 'true': it does not answer as a foliot-replay" reason
