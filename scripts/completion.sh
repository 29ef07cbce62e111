#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# completion.sh PROGRAM bash|zsh: writes that shell's completion for it, made from what its --help and that of its
# commands print. It completes commands, options, and files as operands and values.
set -eu
program=${1:?program}
shell=${2:?shell}
name=$(basename "$program")
function_name=_$(tr - _ <<<"$name")

# options_of [COMMAND]: the long options in its help.
options_of() {
    "$program" "$@" --help | sed '/^Examples:/,/^$/d' | grep -oE -- '--[a-z][a-z-]*' | sort -u | tr '\n' ' ' | sed 's/ $//'
}
commands=$("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\+\) .*/\1/p' | tr '\n' ' ' | sed 's/ $//')

write_bash() {
    cat <<HEAD
# bash completion of $name, made by foliot's scripts/completion.sh from its --help.
$function_name()
{
    local word=\${COMP_WORDS[COMP_CWORD]} options
    COMPREPLY=()
    case \${COMP_WORDS[1]} in
HEAD
    for command in $commands; do
        echo "    $command) options='$(options_of "$command")' ;;"
    done
    cat <<TAIL
    *) options='$(options_of)' ;;
    esac
    if [[ \$word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "\$options" -- "\$word")
        return
    fi
    if [ "\$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W '$commands' -- "\$word")
    fi
    mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "\$word")
}
complete -o filenames -F $function_name $name
TAIL
}

# The file is the body of a function, which zsh loads when it is needed.
write_zsh() {
    cat <<HEAD
#compdef $name
# zsh completion of $name, made by foliot's scripts/completion.sh from its --help.
local -a options
case \$words[2] in
HEAD
    for command in $commands; do
        echo "$command) options=($(options_of "$command")) ;;"
    done
    cat <<TAIL
*) options=($(options_of)) ;;
esac
if [[ \$PREFIX == -* ]]; then
    compadd -- \$options
    return
fi
(( CURRENT == 2 )) && compadd -- $commands
_files
TAIL
}

case $shell in
bash) write_bash ;;
zsh) write_zsh ;;
*)
    echo "completion.sh: no completion for '$shell'" >&2
    exit 2
    ;;
esac
