#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: programs do not go on from a keyframe whose bytes were changed and whose checksum was mended: each of them says
# which keyframe it is, and exits with 4. Method: a body is moved by 10 m in the keyframe of tick 300 of a recording.
set -u
. "$(dirname "$0")/setup.sh"

gives() { # NAME CODE PATTERN COMMAND...: that exit code, and PATTERN on stdout
    local name=$1 code=$2 pattern=$3 rc
    shift 3
    timeout $LIMIT_SECONDS "$@" >out 2>err
    rc=$?
    if [ "$rc" = "$code" ] && grep -qE "$pattern" out; then echo "ok - $name"
    else echo "not ok - $name: exit $rc, not $code"; head -n 5 out err; fi
}
start "$scenes/spacewar.yaml" --port 0 --record match.foliot --tick-hz 2000 --ticks 700
wait $server_pid
[ "$("$replay" verify match.foliot 2>&1 | grep -c ': match: 700 ticks')" = 1 ] || { echo "not ok - a match is recorded"; cat server.log; }
# shellcheck disable=SC2016
perl -e '
    my @t = map { my $c = $_; $c = $c & 1 ? ($c >> 1) ^ 0x82F63B78 : $c >> 1 for 1 .. 8; $c } 0 .. 255;
    sub crc { my $c = 0xffffffff; $c = $t[($c ^ $_) & 255] ^ ($c >> 8) for unpack "C*", shift; $c ^ 0xffffffff }
    sub piped { my ($command, $bytes) = @_; open my $out, ">:raw", "piece"; print $out $bytes; close $out; return `$command piece` }
    my $all = do { local $/; open my $in, "<:raw", "match.foliot"; <$in> };
    for (my $at = 16; $at < length $all;) {
        my ($length, $number, $tick) = unpack "V V Q<", substr $all, $at + 4, 16;
        if ($tick == 300 && substr($all, $at + 28, 2) eq "\x96\x02") {
            # The state behind the digest and encoding 1 is one zstd frame, and its size follows. The frame of the changed
            # state is packed tighter, and a value that readers ignore fills the record up.
            my $payload = substr $all, $at + 28, $length;
            my $width = {0xc4 => 1, 0xc5 => 2, 0xc6 => 4}->{ord substr $payload, 24, 1};
            my $bytes = unpack {1 => "C", 2 => "n", 4 => "N"}->{$width}, substr $payload, 25, $width;
            my $state = piped("zstd -dcq", substr $payload, 25 + $width, $bytes);
            substr($state, 64, 8) = pack "d<", 10 + unpack "d<", substr $state, 64, 8;
            my $frame = piped("zstd -19cq --no-check", $state);
            my $size = substr $payload, 25 + $width + $bytes;
            my $record = "\x97" . substr($payload, 1, 23) . "\xc5" . pack("n", length $frame) . $frame . $size;
            my $fill = $length - length $record;
            die "no room for the frame: $fill\n" if $fill < 1 || $fill > 250;
            $payload = $record . ($fill == 1 ? "\xc0" : "\xc4" . pack("C", $fill - 2) . "x" x ($fill - 2));
            my $head = substr($all, $at, 20) . pack "V", crc $payload;
            substr($all, $at, 28 + $length) = $head . pack("V", crc $head) . $payload;
            open my $out, ">:raw", "false.foliot"; print $out $all;
            open $out, ">:raw", "cut.foliot"; print $out substr $all, 0, $at + 28 + $length;
        }
        $at += 28 + $length;
    }'
says='keyframe of tick 300 do not give its digest'
exits "verify calls it corrupt" 4 "$says: body 0 position.x: the keyframe has " "$replay" verify false.foliot
exits "and cut behind it as well" 4 "$says: body 0 position.x" "$replay" verify --json cut.foliot
grep -q '"ticks":300,.*"verdict":"corrupt","cut_at":[0-9]' out && echo "ok - with the ticks that agree" || { echo "not ok - with the ticks that agree"; cat out; }
exits "and among others, on several threads" 4 "false.foliot: .*$says" "$replay" verify --jobs 4 match.foliot false.foliot match.foliot cut.foliot
exits "play draws what is before it" 4 "$says" "$replay" play --frame --tick 299 false.foliot
exits "and nothing after it" 4 "$says" "$replay" play --frame --tick 310 false.foliot
exits "state has nothing behind it" 4 "$says" "$replay" state --tick 310 false.foliot
exits "export says so" 4 "$says" "$replay" export --csv --every 100 false.foliot
gives "info says so" 4 "damage .*$says" "$replay" info false.foliot
exits "diff says so" 4 "$says" "$replay" diff match.foliot false.foliot
exits "compare says so, and compares what is before it" 0 "$says" "$replay" compare false.foliot --with "$replay"
exits "trim makes a whole one of what is before it" 0 "$says" "$replay" trim false.foliot --out part.foliot
gives "which is a match" 0 ": match: 300 ticks" "$replay" verify part.foliot
exits "and nothing of what is behind it" 1 "has ticks 0 to 300 whole" "$replay" trim false.foliot --from 300 --to 301 --out rest.foliot
for file in false cut; do
    cp $file.foliot before
    exits "a server does not go on from $file.foliot" 4 "$says" "$server" --resume $file.foliot --port 0 --ticks 1
    ok "and leaves it as it is" cmp -s $file.foliot before
done
