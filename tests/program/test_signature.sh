#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: signed recordings through the programs, and a second checker that was written from the page alone
# (docs/reference/recording.md, section 12): b2sum makes the chain, openssl checks the signatures.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${BUILD:-build}" && pwd)
replay=$build/foliot-replay
scene=$PWD/scenes/marbles.yaml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
exits() { # NAME CODE PATTERN COMMAND...
    local name=$1 code=$2 pattern=$3 rc
    shift 3
    "$@" >out 2>&1
    rc=$?
    if [ "$rc" = "$code" ] && { [ -z "$pattern" ] || grep -qE "$pattern" out; }; then echo "ok - $name"; else
        echo "not ok - $name: exit $rc, not $code"
        head -n 5 out
    fi
}

# One line a signature: "ok TICK FINAL" or "false TICK FINAL". $1: the file, $2: digits of the key.
second_checker() {
    perl -e '
use strict; use warnings;
my ($file, $key) = @ARGV;
open my $in, "<:raw", $file or die; local $/; my $all = <$in>;
sub hash { my $bytes = shift; open my $o, ">:raw", "part" or die; print $o $bytes; close $o;
    my ($hex) = split / /, `b2sum -l 256 part`; return pack "H*", $hex; }
my $c = hash(("\0" x 32) . substr $all, 0, 16);
for (my $at = 16; $at < length $all;) {
    my ($length) = unpack "x4 V", substr $all, $at, 28;
    my $block = substr $all, $at, 28 + $length;
    my $payload = substr $block, 28;
    if ($payload =~ /^\x95\x42(.*)\xc4\x20(.{32})\xc4\x40(.{64})$/s) {
        my ($head, $who, $signature) = ($1, $2, $3);
        my $final = ord substr $head, -1;
        my $tick = unpack "x12 Q<", $block;
        open my $o, ">:raw", "message" or die;
        print $o "foliot recording signature 1\0", $c, pack("Q<", $tick), chr $final; close $o;
        open $o, ">:raw", "signature" or die; print $o $signature; close $o;
        open $o, ">:raw", "key.der" or die; print $o pack("H*", "302a300506032b6570032100"), $who; close $o;
        my $fits = unpack("H*", $who) eq $key &&
            system("openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in message -sigfile signature >/dev/null 2>&1") == 0;
        print $fits ? "ok" : "false", " $tick $final\n";
    }
    $c = hash($c . $block);
    $at += 28 + $length;
}' "$1" "$2"
}

exits "a pair of keys" 0 '^[0-9a-f]{64}$' "$replay" keys a.key
exits "no key is written over" 1 'exists' "$replay" keys a.key
"$replay" keys b.key >/dev/null
exits "a secret key is no public one" 78 'not a key' "$replay" verify x.foliot --key a.key
exits "a file that is no key" 78 'not a key' "$replay" verify x.foliot --key "$scene"
chmod 644 b.key
exits "a secret key that others may read" 78 'chmod 600' "$build/foliot-server" "$scene" --port 0 --ticks 1 --sign b.key
[ ! -e marbles*.foliot ] && echo "ok - a start that is refused leaves no file" || echo "not ok - a file is left"

"$build/foliot-server" "$scene" --port 0 --tick-hz 600 --ticks 700 --record m.foliot --sign a.key >log 2>&1
exits "all of it is signed" 0 'signed, all 700 ticks' "$replay" verify m.foliot --key a.key.pub
exits "in JSON" 0 '"signature":\{"verdict":"whole"' "$replay" verify m.foliot --key a.key.pub --json
exits "by its digits" 0 'signed, all' "$replay" verify m.foliot --key "$(sed 's/.* //' a.key.pub)"
exits "by another key" 5 'NOT PROVED: .*another key' "$replay" verify m.foliot --key b.key.pub
"$build/foliot-server" "$scene" --port 0 --ticks 20 --record u.foliot >log 2>&1
exits "not signed" 5 'NOT PROVED: it is not signed' "$replay" verify u.foliot --key a.key.pub
exits "one of two" 5 'NOT PROVED' "$replay" verify m.foliot u.foliot --key a.key.pub
exits "a part of it is another recording" 0 '' "$replay" trim m.foliot --out t.foliot --to 300
exits "and not signed" 5 'it is not signed' "$replay" verify t.foliot --key a.key.pub
# An end by a signal, and going on.
"$build/foliot-server" --resume m.foliot --port 0 --ticks 900 --sign a.key >log 2>&1
exits "a resumed one" 0 'signed, all 1600 ticks' "$replay" verify m.foliot --key a.key.pub

if command -v openssl >/dev/null; then
    second_checker m.foliot "$(sed 's/.* //' a.key.pub)" >seen
    if grep -q '^ok 1600 1$' seen && ! grep -q false seen; then echo "ok - the second checker agrees"; else
        echo "not ok - the second checker agrees"
        cat seen
    fi
    second_checker m.foliot "$(sed 's/.* //' b.key.pub)" >seen
    grep -q false seen && echo "ok - and knows another key" || echo "not ok - and knows another key"
else
    echo "ok - the second checker # skip: no openssl here"
fi
