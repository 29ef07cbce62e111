#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: shards of a verification, by the script that Slurm, Kubernetes and GNU parallel run, and the report of them all:
# no file is counted twice, none is missing unnoticed, and whoever is killed in the middle repeats its own shard alone.
set -u
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
build=$(cd "${BUILD:-build}" && pwd)
replay=$build/foliot-replay
export FOLIOT_REPLAY=$replay
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
ok() { # NAME CONDITION...
    local name=$1
    shift
    if "$@"; then echo "ok - $name"; else echo "not ok - $name"; head -n 20 out err 2>/dev/null; fi
}
run() { "$replay" report "$@" >out 2>err; code=$?; } # ARGUMENT...
field() { grep -o "\"$1\":[0-9]*" out | head -n 1 | cut -d : -f 2; }

for i in 1 2 3 4 5 6 7; do cp "$root/tests/golden/kepler.foliot" k$i.foliot; done
cp "$root/tests/golden/figure-eight.foliot" .
ls -- *.foliot >list
for i in 1 2 3; do "$root/deploy/verify-shard.sh" $i 3 list results || echo "not ok - shard $i"; done
ok "each shard leaves one file" test "$(ls results/shard-*.ndjson | wc -l)" = 3 -a "$(cat results/* | wc -l)" = 8
run results/*.ndjson --files-from list
ok "all match" test $code = 0 -a "$(awk '$1 == "all" { print $2 }' out)" = 8
ok "a row for each scene" grep -qE '^kepler +7 +840 +7 ' out
before=$(stat -c %Y%i results/*)
FOLIOT_REPLAY=false "$root/deploy/verify-shard.sh" 1 3 list results
ok "a shard that is done is not run again" test $? = 0 -a "$before" = "$(stat -c %Y%i results/*)"
rm results/*-2-of-3.ndjson
run results/*.ndjson --files-from list --json
ok "what no shard has is missing" test $code = 1 -a "$(field missing)" = 3 -a "$(field match)" = 5
"$root/deploy/verify-shard.sh" 2 3 list results
run results/*.ndjson results/*-2-of-3.ndjson --files-from list --json
ok "a shard that comes twice counts once" test $code = 0 -a "$(field files)" = 8 -a "$(field repeated)" = 3

# Some 2 MB of lines, with ends of all kinds: more than is read at once.
awk -v line="$(cat results/* | head -n 1)" 'BEGIN {
    split("\n,\r\n,\r", ends, ",")
    for (i = 0; i < 6000; i++) {
        row = line
        sub(/"file":"[^"]*"/, "\"file\":\"f" i "\"", row)
        printf "%s%s", row, ends[1 + i % 3]
    }
}' >many.ndjson
run many.ndjson --json
ok "a large shard counts whole" test $code = 0 -a "$(field files)" = 6000 -a "$(field match)" = 6000
head -c 3000000 /dev/zero | tr '\0' a >endless
run endless
ok "a line without an end is refused" test $code = 1 -a -s err

# The kill: what is there is whole.
cat >slow <<'E2'
#!/bin/sh
echo '{"file":"k1.foliot","verd'
echo $$ >slow.pid
exec sleep 600
E2
chmod +x slow
rm -r results
FOLIOT_REPLAY=$work/slow "$root/deploy/verify-shard.sh" 1 3 list results &
pid=$!
for _ in $(seq 600); do [ -s slow.pid ] && break; sleep 0.1; done
kill -KILL $pid
wait $pid 2>/dev/null
kill "$(cat slow.pid)"
ok "a shard that was killed leaves no result" test -z "$(ls results/*.ndjson 2>/dev/null)"
"$root/deploy/verify-shard.sh" 1 3 list results
ok "and is run again" test "$(ls results/*.ndjson | wc -l)" = 1
"$root/deploy/verify-shard.sh" 1 3 nowhere results 2>err
ok "no list: it never will be" test $? = 1
FOLIOT_REPLAY=/nowhere "$root/deploy/verify-shard.sh" 1 3 list results 2>err
ok "no program neither" test $? = 1

# Bad files, the worst first.
head -c $(($(stat -c %s figure-eight.foliot) / 2)) figure-eight.foliot >cut.foliot # unfinished
cp k1.foliot bent.foliot
printf '\377' | dd of=bent.foliot bs=1 seek=1500 conv=notrunc 2>/dev/null
"$replay" verify --json k1.foliot cut.foliot bent.foliot gone.foliot '<b>&"x.foliot' >mixed.ndjson 2>/dev/null
"$replay" verify --json k2.foliot --perturb 20:0:velocity.y:1 >>mixed.ndjson 2>/dev/null
ls k1.foliot k2.foliot never.foliot >all 2>/dev/null
echo never.foliot >>all
printf '{"file":"half' >>mixed.ndjson
run mixed.ndjson --files-from all --page page.html
ok "the exit status is that of the worst" test $code = 4
ok "an unfinished one is no damage" grep -qE '^unfinished +cut.foliot +\(whole up to' out
ok "corrupt before diverged before what could not be read" test "$(grep -nE '^(corrupt|diverged|missing|unread) ' out | cut -d: -f2 | awk '{ print $1 }' | uniq | tr '\n' ' ')" = "corrupt diverged missing unread "
ok "a divergence says where" grep -qE '^diverged +k2.foliot +\(tick 20, after finish, .*velocity.y' out
ok "a line that was cut off is told" grep -q '1 lines are not results' out
ok "the page has no script and nothing from elsewhere" test "$(grep -ciE '<script|https?://|src=' page.html)" = 0
ok "and no name of a file is markup" grep -q '&lt;b&gt;&amp;&quot;x.foliot' page.html
ok "the page says where too" grep -q 'tick 20, after finish' page.html
run mixed.ndjson --worst 1
ok "as many of the worst as are asked for" test "$(grep -cE '^(corrupt|diverged|unread) ' out)" = 1
run nowhere.ndjson
ok "no such file is a sentence" test $code = 1 -a "$(grep -c 'nowhere.ndjson: No such file' err)" = 1
: >empty
run empty
ok "nothing is nothing" test $code = 0
run empty --page /nowhere/page.html
ok "a page that cannot be written is a sentence" test $code = 1 -a "$(grep -c 'page.html: No such file' err)" = 1

if command -v parallel >/dev/null; then
    rm -rf results
    "$root/deploy/verify-parallel.sh" 4 list results >out 2>err
    run results/*.ndjson --files-from list
    ok "GNU parallel runs all shards" test $code = 0 -a "$(ls results/*.ndjson | wc -l)" = 4
else
    echo "skip: no GNU parallel here"
fi
