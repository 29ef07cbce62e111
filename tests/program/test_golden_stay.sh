#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: "make golden" leaves recordings of older builds alone as long as they verify, and writes those that
# are missing or do not. Method: its script, on a copy of the golden recordings.
set -u
. "$(dirname "$0")/setup.sh"
mkdir -p tree/tests
cp -r "$root/tests/golden" tree/tests/golden
ln -s "$root/scenes" tree/scenes
cp -r "$root/games" tree/games
golden() { BUILD=$build bash tree/tests/golden/recordings.sh >golden.out 2>&1; }
changed() { diff -rq "$root/tests/golden" tree/tests/golden | wc -l; }
verifies() { "$replay" verify "tree/tests/golden/$1" >/dev/null; }

ok "the script ends well" golden
ok "no recording that verifies is written" [ "$(changed)" = 0 ]
rm tree/tests/golden/kepler.foliot
printf x | dd of=tree/tests/golden/pendulum.foliot bs=1 seek=700 conv=notrunc 2>dd.log
ok "a damaged recording does not verify" sh -c "! '$replay' verify tree/tests/golden/pendulum.foliot >/dev/null 2>&1"
touch -d 2000-01-01 tree/tests/golden/*.foliot
ok "the script ends well again" golden
ok "it has written two" grep -q '^wrote 2 of ' golden.out
ok "the missing one is there and verifies" verifies kepler.foliot
ok "the damaged one verifies" verifies pendulum.foliot
ok "the others were not written" [ "$(find tree/tests/golden -name '*.foliot' -newermt 2001-01-01 | wc -l)" = 2 ]
