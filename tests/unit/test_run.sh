#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tier: check
# Goal: no failure is lost between a test and the last line of a target.
# Method: tests/run.sh over tests that end badly in one way each, and the sum of tests/ci.sh over results that lack a part.
set -u
cd "$(dirname "$0")/../.." || exit 1
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
begin='1..2' first='ok 1 - first' second='ok 2 - second' fails='not ok 2 - second'

# counts NAME WANTED LINE...: the last line of tests/run.sh over a test NAME of these lines is WANTED. Without lines
# there is no such test.
counts() {
    local name=$1 wanted=$2 said
    shift 2
    [ $# = 0 ] || printf '%s\n' '#!/bin/bash' "$@" >"$folder/$name"
    [ $# = 0 ] || chmod +x "$folder/$name"
    said=$(BUILD=$folder RESULTS='' TIMES='' TEST_WRAPPER='' tests/run.sh "$folder/$name" | tail -n 1)
    if [ "$said" = "$wanted" ]; then echo "ok - $name: $wanted"; else
        printf 'not ok - %s: "%s", and not "%s"\n' "$name" "$said" "$wanted"
        failed=1
    fi
}
say() { printf "echo '%s'" "$1"; }
counts passes "2 passed, 0 failed" "$(say "$begin")" "$(say "$first")" "$(say "$second")"
counts passes-twice "4 passed, 0 failed" "$(say "$begin")" "$(say "$first")" "$(say "$second")" "$(say "$begin")" "$(say "$first")" "$(say "$second")"
counts fails "1 passed, 1 failed" "$(say "$begin")" "$(say "$first")" "$(say "$fails")" "exit 1"
counts fails-with-status-0 "1 passed, 1 failed" "$(say "$begin")" "$(say "$first")" "$(say "$fails")"
counts fails-in-a-line "1 passed, 1 failed" "$(say "$begin")" "$(say "$first")" 'printf noise' "$(say "$fails")"
counts skips-one "1 passed, 0 failed" "$(say "$begin")" "$(say "$first")" "$(say 'not ok 2 # SKIP second')"
counts has-no-plan "2 passed, 1 failed" "$(say "$first")" "$(say "$second")"
counts crashes-at-start "0 passed, 1 failed" 'kill -ABRT $$'
counts crashes-on-the-way "1 passed, 1 failed" "$(say "$begin")" "$(say "$first")" 'kill -SEGV $$'
counts leaves-on-the-way "1 passed, 1 failed" "$(say "$begin")" "$(say "$first")" 'exit 0'
counts prints-nothing "0 passed, 1 failed" ':'
counts is-not-built "0 passed, 1 failed"
counts good.sh "1 passed, 0 failed" 'echo "ok - one"'
counts skips.sh "0 passed, 0 failed" 'echo "skip: no such compiler"'
counts skips-and-fails.sh "0 passed, 1 failed" 'echo "skip: no such compiler"' 'exit 1'
counts bad.sh "1 passed, 1 failed" 'echo "ok - one"' 'echo "not" "ok - two"'
counts bad-in-a-line.sh "1 passed, 1 failed" 'echo "ok - one"' 'printf noise' 'echo "not" "ok - two"'
counts silent.sh "0 passed, 1 failed" ':'
counts killed.sh "1 passed, 1 failed" 'echo "ok - one"' 'kill -KILL $$'
counts unfinished.sh "1 passed, 1 failed" 'echo "ok - one"' 'if then'
counts no-such-command.sh "2 passed, 1 failed" 'echo "ok - one"' 'foliot_no_such_command' 'echo "ok - two"'

# equals NAME WANTED COMMAND...: its last line, and failure exactly if it counts one.
equals() {
    local name=$1 wanted=$2 said rc status=0
    shift 2
    [[ $wanted == *" 0 failed" ]] || status=1
    said=$("$@")
    rc=$?
    if [ "$said" = "$wanted" ] && [ "$rc" = "$status" ]; then echo "ok - $name"; else
        printf 'not ok - %s: "%s" and exit %s, and not "%s"\n' "$name" "$said" "$rc" "$wanted"
        failed=1
    fi
}
equals "to be given no test is a failure" "0 passed, 1 failed" env BUILD="$folder" RESULTS= TIMES= tests/run.sh
mkdir "$folder/whole" "$folder/broken" "$folder/cut"
printf '10 0\n5 0\n' >"$folder/whole/counts"
printf '10 0\n5 2\n' >"$folder/broken/counts"
printf '10 0\n' >"$folder/cut/counts"
echo "0 1" >"$folder/cut/unfinished"
equals "the sum of a run" "15 passed, 0 failed" tests/ci.sh sum "$folder/whole"
equals "the sum of two runs" "30 passed, 2 failed" tests/ci.sh sum "$folder/whole" "$folder/broken"
equals "a run that was cut short counts a failure" "25 passed, 1 failed" tests/ci.sh sum "$folder/whole" "$folder/cut"
equals "and so does one that never began" "15 passed, 1 failed" tests/ci.sh sum "$folder/whole" "$folder/none"
exit $failed
