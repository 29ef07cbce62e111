#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: what README.md tells a newcomer to type works as it stands there: the minute's walk through the programs in
# order (the port a free one, the bot for a shorter time, the client that wants a terminal left out), its scene; and the
# targets of make that the pages name.
set -u
. "$(dirname "$0")/setup.sh"
mkdir build
for program in server client replay lab; do ln -s "$build/foliot-$program" build/; done
ln -s "$scenes" scenes
readme=$root/README.md

# The block of commands behind "## Sixty seconds", a command a line, without the comments.
sed -n '/^## Sixty seconds/,/^A scene is/p' "$readme" | sed -n 's/^    //p' | sed 's/ *#.*//; /^$/d' |
    sed -e ':a' -e '/\\$/N; s/\\\n *//; ta' >commands
ok "there are commands" test "$(grep -c '^build/foliot-' commands)" -ge 7
started=
while read -r command; do
    case $command in
    make) ;;
    *foliot-server*)
        # shellcheck disable=SC2086 # words
        start ${command#build/foliot-server } --port 0
        started=$?
        ok "$command" test "$started" = 0
        ;;
    *foliot-client*--bot*)
        here=${command/127.0.0.1/127.0.0.1:$port}
        ok "$command" sh -c "${here/--seconds 10/--seconds 3} >client.out 2>client.log"
        ;;
    *foliot-client*) ;;
    *" play "*)
        ok "$command" sh -c "$command --frame >play.out 2>play.log"
        ;;
    *" verify "*)
        kill -INT "$server_pid"
        wait "$server_pid"
        ok "$command" sh -c "$command >verify.out 2>verify.log && grep -q match verify.out"
        ;;
    *) ok "$command" sh -c "$command >lab.out 2>lab.log" ;;
    esac
done <commands
sed -n '/^```yaml/,/^```/p' "$readme" | grep -v '^```' >scene.yaml
ok "its scene is sound" "$server" check scene.yaml

# The commands that the demo suggests next, without those that need a terminal or a port.
sed -n '/^It worked/,/^TEXT/p' "$root/scripts/demo.sh" | sed -n 's/^   \$build\/\(foliot-lab .*[^ ]\)   .*/\1/p' >tries
ok "the demo has something to try" test -s tries
while read -r try; do ok "$try" sh -c "build/$try >try.out 2>try.log"; done <tries

# Targets of make that the pages name (links, paths and options: tests/unit/test_docs.sh).
cd "$root" || exit 1
missing=
for page in README.md CONTRIBUTING.md $(find docs -name "*.md" | sort); do
    for target in $(grep -oE '(^    |`)make [a-z][a-z-]+( |`|$)' "$page" | sed 's/.*make //; s/[ `]*$//' | sort -u); do
        grep -qE "^([a-z-]+ )*$target( [a-z-]+)*:" Makefile Makefile.tests web.mk || missing="$missing $page:make-$target"
    done
done
if [ -z "$missing" ]; then echo "ok - targets of make that the pages name exist"
else echo "not ok - targets of make that the pages name exist:$missing"; fi
