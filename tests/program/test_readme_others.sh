#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tier: all
# Goal: the commands that README.md names for hosts ("For others") work as they stand, in their order, in a tree in
# which nothing but the programs was built. Method: a copy of the tracked files, with this build's objects and without
# its pages, so that `make web` and what follows it start as they do for a newcomer. Ports are free ones, addresses
# the loopback.
set -u
. "$(dirname "$0")/setup.sh"
if ! git -C "$root" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    echo "skip: the tree is not a checkout of git"
    exit 0
fi
git -C "$root" ls-files -z | (cd "$root" && tar --null --no-recursion -T - -cf - 2>/dev/null) | tar -xf -
mkdir build
for part in obj .deps .flags libfoliot.a libfoliot.so; do
    [ ! -e "$build/$part" ] || cp -al "$build/$part" build/ 2>/dev/null || cp -a "$build/$part" build/
done
rm -f build/obj/web_files.o # (it says whether there is a page)
unset MAKEFLAGS MAKELEVEL MAKEOVERRIDES BUILD
ok "make" sh -c 'make >make.out 2>make.log </dev/null'
server=$work/build/foliot-server

sed -n '/^## For others/,/^## As a library/p' README.md | sed -n 's/^    //p' | sed 's/ *#.*//; /^$/d' >commands
ok "there are commands" test "$(grep -c . commands)" -ge 7
while read -r command; do
    case $command in
    *foliot-server*)
        here=${command#build/foliot-server }
        here=${here/--web 8080/--web 0}
        # shellcheck disable=SC2086 # words
        start ${here/0.0.0.0/127.0.0.1} --port 0
        ok "$command" test $? = 0
        case $command in
        *--web*)
            url=$(sed -n 's/^in a browser: \(http[^ ]*\)$/\1/p' server.out)
            ok "it prints a link" test -n "$url"
            curl -s --compressed -m 20 "$url" >page.html
            ok "which leads to the page" grep -q session.js page.html
            for page in scene lab recording; do
                ok "$page.html" test "$(curl -s -o /dev/null -m 20 -w '%{http_code}' "$url$page.html")" = 200
            done
            ;;
        esac
        stop
        ok "it ends" test $? = 0
        ;;
    *) ok "$command" sh -c "$command >command.out 2>command.log </dev/null" ;;
    esac
    [ "$command" != "make web" ] || ok "all is up to date" make -q all web
done <commands
ok "the signed recording" sh -c 'build/foliot-replay verify --key judge.key.pub "$(ls -t cubes-*.foliot | head -n 1)" >verify.out 2>verify.log'
