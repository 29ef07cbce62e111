#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: what stands in the place of a scene, a table or a recording is read if it is a regular file, and refused at once
# with a sentence if it is a pipe, a device, a socket or a folder; the files of a scene are in its folder or below it,
# behind no symbolic link, and nothing of another's file is shown; and names from files steer no terminal. Method: each
# kind of file in each place, with a bounded time; a scene that names links of every kind.
set -u
. "$(dirname "$0")/setup.sh"
lab=$build/foliot-lab
mkfifo pipe
mkdir folder
"$server" "$scenes/spacewar.yaml" --port 0 --tick-hz 500 --ticks 30 --record given.foliot >given.out 2>given.log
refuses() { # NAME CODES PATTERN COMMAND...: ends soon, by itself, with a sentence
    local name=$1 codes=$2 pattern=$3 rc
    shift 3
    timeout -s KILL $LIMIT_SECONDS "$@" >out 2>err </dev/null
    rc=$?
    case " $codes " in
    *" $rc "*) if grep -qE "$pattern" err; then echo "ok - $name"; else echo "not ok - $name: no sentence"; head -n 5 err; fi ;;
    *) echo "not ok - $name: exit $rc, not one of $codes"; head -n 5 out err ;;
    esac
}
for file in pipe folder /dev/zero /dev/null /dev/tty; do
    [ -e $file ] || continue
    why='not a regular file|Is a directory|No such device'
    refuses "a scene that is $file" 78 "$why" "$server" $file --port 0 --no-record
    refuses "$file to be checked" 78 "$why" "$server" check $file
    refuses "$file for foliot-lab" 78 "$why" "$lab" run $file --ticks 1
    refuses "a recording that is $file to verify" 1 "$why" "$replay" verify $file
    refuses "and to info" 1 "$why" "$replay" info $file
    refuses "and to play" 1 "$why" "$replay" play --frame $file
    refuses "and to trim" 1 "$why" "$replay" trim $file --out part.foliot
    refuses "and to export" 1 "$why" "$replay" export --csv $file
    refuses "and to diff" 1 "$why" "$replay" diff given.foliot $file
    refuses "and to resume" 1 "$why|not supported|nvalid|denied" "$server" --resume $file --port 0 --ticks 1
    refuses "and for inputs" 1 "$why" "$lab" run "$scenes/spacewar.yaml" --ticks 1 --inputs $file
    ln -sfn "$PWD/$file" link 2>/dev/null
done
# Every other file that is read, in the place of which @ stands: one sentence names it, at once. A file of 1 GiB
# has no blocks. Columns: exit codes; the exit codes of an empty file, which is allowed in places; the command.
"$build/foliotctl" key arena.key >/dev/null 2>&1
truncate -s 1G huge
places() {
    cat <<'LIST'
78 78 SERVER GAME --rules @ --port 0 --no-record
78 78 SERVER SCENE --rules @ --port 0 --no-record
78 78 SERVER SCENE --rules ./@ --allow-modules --port 0 --no-record
78 78 SERVER --simulation ./@ --allow-modules --port 0 --no-record
78 78 SERVER --config @ --port 0 --no-record
78 0 SERVER SCENE --bans @ --port 0 --no-record --ticks 1
78 0 SERVER SCENE --key arena.key --used-tokens @ --port 0 --no-record --ticks 1
78 78 SERVER SCENE --key @ --port 0 --no-record
78 78 SERVER SCENE --password @ --port 0 --no-record
78 78 SERVER SCENE --sign @ --port 0
78 78 SERVER SCENE --recordings @ --port 0 --ticks 1
78 78 SERVER SCENE --scenes @ --admin-socket admin.socket --port 0 --no-record --ticks 1
78 78 SERVER SCENE --http 127.0.0.1:0 --admin-token @ --port 0 --no-record
1,4 4 SERVER --resume @ --port 0
78 78 CLIENT 127.0.0.1:9 --token @
78 78 CLIENT 127.0.0.1:9 --password @
78 78 CLIENT 127.0.0.1:9 --simulation ./@
78 78 CTL token --key @
1,78 0 LAB run SCENE --ticks 1 --inputs @
1,78 0 LAB run GAME --ticks 1 --commands @
1,78 0 LAB run GAME --ticks 1 --orders @
1,78 1,78 LAB compare KEPLER --integrators rk4 --dt 0.1 --reference @
78 78 LAB synctest --simulation ./@
1,4 6 REPLAY verify @
78 78 REPLAY verify given.foliot --key @
LIST
}
names="SERVER=$server CLIENT=$client LAB=$lab REPLAY=$replay CTL=$build/foliotctl SCENE=$scenes/spacewar.yaml"
names="$names GAME=$root/games/duel/duel.yaml KEPLER=$scenes/kepler.yaml"
while read -r codes of_empty command; do
    for name in $names; do command=${command//${name%%=*}/${name#*=}}; done
    for file in folder pipe /dev/zero huge empty; do
        [[ $command == *./@* && $file == /dev/zero ]] && continue
        [[ $command == *"--recordings @"* || $command == *"--scenes @"* ]] && [ $file = folder ] && continue
        rm -f huge empty && truncate -s 1G huge && : >empty && chmod 600 huge empty
        [ $file = empty ] && wanted=$of_empty || wanted=$codes
        read -ra words <<<"${command//@/$file}"
        timeout -s KILL $LIMIT_SECONDS "${words[@]}" >out 2>err </dev/null
        rc=$?
        case ",$wanted," in
        *",$rc,"*) [ $file = folder ] && why=directory || why=.
            [ $rc = 0 ] || grep -q $why err && echo "ok - $file: $command" || echo "not ok - $file: $command: no sentence" ;;
        *) echo "not ok - $file: $command: exit $rc, not $wanted"; head -n 3 err ;;
        esac
    done
done < <(places)
for file in folder /dev/zero huge; do # a pipe may have a writer here
    refuses "$file as a list of files" 78 "$file: " "$replay" verify --files-from $file
    refuses "and for a report" 1 "$file: " "$replay" report /dev/null --files-from $file
done
# Places that are written later are looked at when the server starts.
for option in "--record" "--recordings" "--bans" "--admin-socket s --scenes" "--admin-socket" "--key arena.key --used-tokens"; do # shellcheck disable=SC2086
    refuses "$option in no folder" "1 75 78" "no/where" "$server" "$scenes/spacewar.yaml" --port 0 --ticks 1 $option no/where
done
refuses "a pipe that nobody reads to record into" 78 "pipe: " "$server" "$scenes/spacewar.yaml" --port 0 --ticks 1 --record pipe
refuses "a pipe to record into, in foliot-lab" "1 75" "pipe" "$lab" run "$scenes/spacewar.yaml" --ticks 1 --record pipe
ln -s given.foliot link.foliot
ok "a link that the user names is followed" "$replay" verify link.foliot >/dev/null

# Scenes from elsewhere.
mkdir -p mine/below/deeper theirs
echo 'topsecret-of-another,and more' >theirs/secret
cp theirs/secret mine/copy.csv
printf 'name,position.x\na,1\nb,2\n' >mine/below/deeper/bodies.csv
cp mine/below/deeper/bodies.csv mine/bodies.csv
cp mine/bodies.csv theirs/bodies.csv
ln -s ../theirs/secret mine/link.csv
ln -s ../theirs mine/way
ln -s below mine/near
ln -s bodies.csv mine/same.csv
mkfifo mine/pipe.csv
scene() { printf 'foliot: 1\nname: elsewhere\nintegrator: leapfrog\ndt: 0.01\npace_hz: 60\nbodies:\n  - {csv: "%s"}\n' "$1" >mine/scene.yaml; }
for name in bodies.csv below/deeper/bodies.csv ./bodies.csv below//deeper/./bodies.csv; do
    scene "$name"
    ok "a table $name" "$server" check mine/scene.yaml >/dev/null
    ln -sfn "$PWD/mine/scene.yaml" scene-link.yaml
done
(cd mine && "$server" check scene.yaml >/dev/null) && echo "ok - in the working folder" || echo "not ok - in the working folder"
ln -s mine/scene.yaml outer.yaml
cp mine/bodies.csv . && scene bodies.csv && ok "beside a link to the scene" "$server" check outer.yaml >/dev/null
while read -r name why; do
    scene "$name"
    refuses "a table $name" 78 "$why" "$server" check mine/scene.yaml
    grep -q topsecret err && echo "not ok - and nothing of it is shown: $(cat err)" || echo "ok - and nothing of it is shown"
done <<'LIST'
link.csv symbolic link
way/bodies.csv symbolic link
way/secret symbolic link
near/deeper/bodies.csv symbolic link
same.csv symbolic link
../theirs/secret the scene's folder
below/../../theirs/secret the scene's folder
/etc/hostname the scene's folder
pipe.csv not a regular file
below directory
below/ directory
copy.csv not a field of a body
bodies.csv/more Not a directory
LIST

# A session's name in a recording: C1 controls, directions, tags, of which nothing reaches stdout or stderr.
# shellcheck disable=SC2016
perl -e '
    my @t = map { my $c = $_; $c = $c & 1 ? ($c >> 1) ^ 0x82F63B78 : $c >> 1 for 1 .. 8; $c } 0 .. 255;
    sub crc { my $c = 0xffffffff; $c = $t[($c ^ $_) & 255] ^ ($c >> 8) for unpack "C*", shift; $c ^ 0xffffffff }
    my $all = do { local $/; open my $in, "<:raw", "given.foliot"; <$in> };
    my ($at, $done) = (16, 0);
    while ($at < length $all) {
        my ($length, $number, $tick) = unpack "V V Q<", substr $all, $at + 4, 16;
        my $payload = substr $all, $at + 28, $length;
        my $bad = "\xc2\x9b31m\xe2\x80\xae\xf3\xa0\x81\x81";
        if ($payload =~ s/(\xa7session)\xa8spacewar/"$1" . chr(0xa0 + 8 + length $bad) . "space${bad}war"/e) {
            my $head = "\xfeBlk" . pack "V V Q< V", length $payload, $number, $tick, crc $payload;
            substr($all, $at) = $head . pack("V", crc $head) . $payload . substr $all, $at + 28 + $length;
            $done = 1; $length = length $payload;
        }
        $at += 28 + $length;
    }
    open my $out, ">:raw", "named.foliot"; print $out $all; exit !$done' || echo "not ok - the recording has a name"
timeout $LIMIT_SECONDS "$server" --resume named.foliot --port 0 --ticks 3 >named.out 2>named.err
ok "a recorded session's name is resumed without what steers a terminal" grep -q "session 'space31mwar'" named.out
shown() { cat "$@" | grep -aqP '\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa6-\xaf]|\xf3\xa0[\x80-\x81]'; }
shown named.out named.err && echo "not ok - nothing of it on stdout and stderr" || echo "ok - nothing of it on stdout and stderr"
hidden=$(printf '\342\200\256\363\240\201\201\342\200\213')
printf 'foliot: 1\nname: "a%sb"\nintegrator: leapfrog\ndt: 0.01\npace_hz: 60\nbodies:\n  - {name: "c%sd", position: [0, 0, 0]}\n' \
    "$hidden" "$hidden" >hidden.yaml
"$lab" run hidden.yaml --ticks 3 --record hidden.foliot --csv hidden.csv >named.out 2>named.err
{ "$server" check hidden.yaml; timeout $LIMIT_SECONDS "$server" hidden.yaml --port 0 --ticks 1 --no-record
  "$lab" check hidden.yaml; "$lab" run hidden.yaml --ticks 1 --json; "$replay" info hidden.foliot
  "$replay" info --json hidden.foliot; "$replay" state --tick 1 hidden.foliot; "$replay" state --tick 1 --json hidden.foliot
  "$replay" export --csv hidden.foliot; "$replay" verify --json hidden.foliot
  "$replay" verify hidden.foliot --perturb 2:0:position.x:3; "$replay" play --frame hidden.foliot
  printf 'foliot: 1\n"ke%sy": 1\n' "$hidden" >key.yaml; "$server" check key.yaml; } >>named.out 2>>named.err
shown named.out named.err hidden.csv && { echo "not ok - nor of a scene's and a body's name anywhere"; grep -anP '\xe2\x80\xae|\xf3\xa0\x81' named.out named.err hidden.csv | head; } ||
    echo "ok - nor of a scene's and a body's name anywhere"
# A line of commas was gone through once for each of them: 200 kB took nine seconds, 2 MB a quarter of an hour.
mkdir -p wide
printf 'foliot: 1\nname: wide\nintegrator: leapfrog\ndt: 0.01\nbodies:\n  - csv: wide.csv\n' >wide/wide.yaml
{ printf 'mass,position.x,position.y,position.z\n1,0,0,0\n'; head -c 4000000 /dev/zero | tr '\0' ','; echo; } >wide/wide.csv
timeout $LIMIT_SECONDS "$server" check wide/wide.yaml >named.out 2>named.err
ok "a line of four million cells is refused at once" grep -q "the header has 4 cells, this line has 4000001" named.err named.out
# One file named again and again was read and kept again and again.
head -c 60000000 /dev/zero | tr '\0' '\n' >wide/blank.csv
{ printf 'mass,position.x,position.y,position.z\n1,0,0,0\n'; cat wide/blank.csv; } >wide/long.csv
{ printf 'foliot: 1\nname: wide\nintegrator: leapfrog\ndt: 0.01\nbodies:\n'; for _ in 1 2 3 4 5 6; do echo '  - csv: long.csv'; done; } >wide/many.yaml
"$server" check wide/many.yaml >named.out 2>named.err
ok "the files of a scene have a bound together" grep -q "File too large" named.err named.out
