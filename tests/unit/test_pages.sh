#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_pages.sh: the manual pages and options.md in the tree are those that `make pages` writes from the templates and
# the options of the programs. groff, where there is one, finds no fault in a page; bash and zsh accept the completion.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${BUILD:-build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# report NAME PROBLEMS
report() {
    if [ -z "$2" ]; then
        echo "ok - $1"
    else
        echo "not ok - $1"
        echo "$2" | sed 's/^/  /'
        failed=1
    fi
}

report "pages are written" "$(scripts/pages.sh "$build" "$work" 2>&1)"
for page in "$work"/man/*.1 "$work/reference/options.md"; do
    page=${page#"$work/"}
    report "docs/$page is what 'make pages' writes" "$(diff -u "docs/$page" "$work/$page" 2>&1 | head -n 20)"
done
for program in "$build"/foliot-* "$build/foliotctl"; do
    [ -x "$program" ] && [ ! -d "$program" ] || continue
    name=$(basename "$program")
    report "$name has a manual page" "$([ -f "$work/man/$name.1" ] || echo "no $name.1")"
    report "$name is in options.md" "$(grep -qx "@$name@" docs/reference/options.md.in || echo "no @$name@")"
    if command -v groff >/dev/null; then
        report "groff accepts the page of $name" "$(groff -Tutf8 -wall -mandoc "$work/man/$name.1" 2>&1 >/dev/null)"
    fi
    for shell in bash zsh; do
        command -v $shell >/dev/null || continue
        "$program" --help-page $shell >"$work/$shell"
        report "$shell accepts the completion of $name" "$($shell -n "$work/$shell" 2>&1)"
    done
done

# offers SHELL PROGRAM WORD...: what the completion offers for the last word; FILES and FOLDERS in zsh.
offers() {
    local shell=$1 name=$2
    shift
    case $shell in
    bash) bash -c '. <("$1/$2" --help-page bash); COMP_WORDS=("${@:2}"); COMP_CWORD=$(($# - 2)); _${2//-/_}; echo "${COMPREPLY[@]}"' _ "$build" "$@" ;;
    zsh) zsh -f -c 'compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -n -- "$@ " }; compset() { PREFIX=${PREFIX#*=} }
        _files() { print -n -- ${${1:+FOLDERS}:-FILES} }
        build=$1; shift; words=("$@") CURRENT=$# PREFIX=${@[-1]}; . <("$build/$1" --help-page zsh)' _ "$build" "$@" ;;
    esac
}
for shell in bash zsh; do
    command -v $shell >/dev/null || continue
    check() { report "$shell, $1" "$([ "$(xargs <<<"$3")" = "$2" ] || echo "offers '$3', not '$2'")"; } # NAME WORDS OFFERED
    check "the words of a value" "snapshot lockstep" "$(offers $shell foliot-server --mode '')"
    check "the words of an operand" "address name client" "$(offers $shell foliotctl refuse '')"
    check "no words after a number" "" "$(offers $shell foliot-lab run x.yaml --ticks '')"
    check "the options of a command" yes "$(offers $shell foliot-replay trim -- | tr ' ' '\n' | grep -cx -e --out -e --from | sed s/2/yes/)"
    check "a value belongs to its command" "replay sync serialisation perturbation rules" "$(offers $shell foliot-lab synctest --test '')"
done
cd docs/man || exit 1
report "bash, files" "$(offers bash foliot-client --trace foliot-l | tr ' ' '\n' | grep -qx foliot-lab.1 || echo "no files")"
command -v zsh >/dev/null && report "zsh, folders" "$([ "$(offers zsh foliot-server --scenes '')" = FOLDERS ] || echo "no folders")"
exit $failed
