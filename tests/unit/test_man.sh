#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_man.sh: the manual page of a program names every command and option that its --help names, and the
# other way round; groff, where there is one, has nothing to complain of.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
failed=0

# Long options in --help of the program and all its commands.
options_of() {
    local program=$1 command
    {
        "$program" --help
        for command in $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\+\) .*/\1/p'); do
            "$program" "$command" --help
        done
    } | sed '/^Examples:/,/^$/d' | grep -oE -- '--[a-z][a-z-]*' | sort -u | grep -vE '^--(help|version)$'
}
commands_of() { "$1" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\+\) .*/\1/p'; }
# In the page an option is ".Fl -name", with the first dash put there by .Fl. That of foliotctl speaks of the server's too.
in_page() {
    grep -oE 'Fl -[a-z][a-z-]*' "$1" | sed 's/^Fl -/--/' | sort -u |
        case $1 in */foliotctl.1) grep -vxE -- '--(admin-token|http|scenes)' ;; *) cat ;; esac
}

# Words of which one is an operand, as "address|name|client".
words_of() { "$1" "$2" --help | sed -n "s/^.* $2 \([a-z]*|[a-z|]*\) .*/\1/p" | head -n 1 | tr '|' ' '; } # PROGRAM COMMAND

for program in "$build"/foliot-* "$build/foliotctl"; do
    [ -x "$program" ] && [ ! -d "$program" ] || continue
    name=$(basename "$program")
    page=docs/man/$name.1
    [ ! -f "$page.in" ] || continue # test_pages.sh
    problems=""
    [ -f "$page" ] || problems="there is no $page"
    # An .Ar with no word of its own prints "file ...".
    [ ! -f "$page" ] || problems=$problems$(grep -nE 'Ar (Oo|Op|Ns|Oc)( |$)' "$page")
    if [ -f "$page" ]; then
        diff <(options_of "$program") <(in_page "$page" | grep -vE '^--(help|version)?$') \
            >"$build/man-diff" || problems=$(cat "$build/man-diff")
        for command in $(commands_of "$program"); do
            grep -qE "^\.(Cm|It Cm) $command( |$)" "$page" ||
                problems="$problems no command $command;"
            for word in $(words_of "$program" "$command"); do
                grep -qE "^\.It Cm $command Cm ([a-z]+ \| )*$word( |$)" "$page" ||
                    problems="$problems no '$command $word';"
            done
        done
        if command -v groff >/dev/null; then
            problems=$problems$(groff -Tutf8 -wall -mandoc "$page" 2>&1 >/dev/null)
        fi
    fi
    if [ -z "$problems" ]; then
        echo "ok - the manual page of $name names what its help names"
    else
        echo "not ok - the manual page of $name names what its help names"
        echo "$problems" | sed 's/^/  /'
        failed=1
    fi
done
exit $failed
