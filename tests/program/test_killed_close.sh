#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: a server that is killed while it compacts its recordings leaves every one of them with its end, and a recording
# that cannot be compacted is reported and whole. Method: all sessions are ended at once, and the server is killed as soon
# as the first compaction begins; then a folder stands where a compaction would write. (That sessions which end by
# themselves have their ends before the next compaction is tested in tests/program/test_closing.c.)
set -u
. "$(dirname "$0")/setup.sh"

closed() { # FILE: it has its end
    "$replay" verify "$1" 2>&1 | grep -q ': match: [0-9]* ticks' && [ "$("$replay" info "$1" --json | grep -c '"closed":true')" = 1 ]
}
sessions=
for name in a b c d e f; do sessions="$sessions --session $name=$scenes/spacewar.yaml"; done
# shellcheck disable=SC2086 # one word each
start $sessions --port 0 --tick-hz 1000
for name in a b c d e f; do # long enough for a compaction that can be seen
    for _ in $(seq 300); do [ "$(stat -c %s "$(compgen -G "$name-*.foliot")" 2>/dev/null || echo 0)" -ge 60000 ] && break; sleep 0.1; done
done
kill -TERM "$server_pid"
until compgen -G '.*.compact' >/dev/null || ! kill -0 "$server_pid" 2>/dev/null; do :; done
kill -9 "$server_pid" 2>/dev/null
wait "$server_pid" 2>/dev/null
[ $? = 137 ] && echo "the server was killed in a compaction" || echo "the server was faster than this test"
for name in a b c d e f; do
    ok "the recording of session $name has its end" closed "$(compgen -G "$name-*.foliot")"
done

mkdir .kept.foliot.compact
start "$scenes/spacewar.yaml" --port 0 --tick-hz 1000 --ticks 500 --record kept.foliot
wait "$server_pid"
ok "a server whose recording is not compacted ends well" [ $? = 0 ]
ok "the log says that it was not compacted" grep -q '"level":"warning","event":"not-compacted".*"status":"IO"' server.log
ok "the recording that was not compacted is whole" closed kept.foliot
