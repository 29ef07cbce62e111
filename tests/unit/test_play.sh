#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_play.sh: foliot-replay play: single pictures in a pipe, and the real thing in a terminal of script(1)
# with keys pressed.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
replay=$build/foliot-replay
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

failed=0
check() {
    local name=$1
    shift
    if "$@"; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        failed=1
    fi
}
printf '0 0 join\n0 1 join\n' >"$work/in.txt"
"$build/foliot-lab" run scenes/lunar-lander.yaml --ticks 600 --inputs "$work/in.txt" \
    --record "$work/a.foliot" >/dev/null || exit 1

frame_shows_a_tick() {
    "$replay" play "$work/a.foliot" --frame --tick 60 >"$work/out" 2>"$work/err" </dev/null || return 1
    head -n 1 "$work/out" | grep -q '^lunar-lander  tick 60 of 600  1.00 s  1 x  from a corner' &&
        grep -q 'player 0' "$work/out" && grep -q ' m ' "$work/out" && [ ! -s "$work/err" ] &&
        ! grep -q $'\033' "$work/out"
}
sides_differ() {
    local side
    for side in top front side corner; do
        "$replay" play "$work/a.foliot" --frame --view $side >"$work/$side" || return 1
    done
    ! cmp -s "$work/top" "$work/front" && ! cmp -s "$work/front" "$work/side" &&
        ! cmp -s "$work/corner" "$work/side" && ! cmp -s "$work/corner" "$work/front"
}
wrong_uses_end_with_a_sentence() {
    "$replay" play "$work/a.foliot" --frame --tick 601 2>"$work/err" && return 1
    grep -q 'no tick 601: it holds 0 to 600' "$work/err" || return 1
    "$replay" play "$work/a.foliot" 2>"$work/err" </dev/null >/dev/null && return 1
    grep -q 'not a terminal' "$work/err" || return 1
    "$replay" play "$work/a.foliot" --frame --view below 2>"$work/err"
    [ $? = 2 ] && grep -q 'top, front, side or corner' "$work/err"
}
# A file cut in the middle is unfinished: it shows what is whole, says so and ends with 0. A damaged one shows what is
# before the damage and ends with 4.
cut_files_play() {
    head -c 4000 "$work/a.foliot" >"$work/cut.foliot"
    "$replay" play "$work/cut.foliot" --frame >"$work/out" 2>"$work/err"
    [ $? = 0 ] && grep -q 'lunar-lander  tick 0 of 480' "$work/out" && grep -q 'cut.foliot: ' "$work/err"
}
damaged_files_play() {
    cp "$work/a.foliot" "$work/damaged.foliot"
    printf 'damage' | dd of="$work/damaged.foliot" bs=1 seek=3500 conv=notrunc 2>/dev/null || return 1
    "$replay" play "$work/damaged.foliot" --frame >"$work/out" 2>"$work/err"
    [ $? = 4 ] && grep -q 'lunar-lander  tick 0 of 360' "$work/out" && grep -q 'damaged.foliot: ' "$work/err"
}
eventually() { # COMMAND...: succeeds within a minute
    for _ in $(seq 600); do
        "$@" && return
        sleep 0.1
    done
    return 1
}
press() { # KEY COMMAND...
    # shellcheck disable=SC2059
    printf "$1" >&7
    shift
    "$@"
}
is_shown() { [ "$(grep -ao 'tick [0-9]* of 600  [0-9.]* s  paused, 1 x' "$work/out" | tail -n 1 | cut -d' ' -f2)" = "$1" ]; }
shows() { eventually is_shown "$1"; } # TICK
keys_steer() {
    command -v script >/dev/null || { echo "skip: no script(1)" && return; }
    local ticks keys
    mkfifo "$work/keys"
    exec 7<>"$work/keys"
    TERM=xterm script -qec "stty cols 90 rows 24; $replay play $work/a.foliot" /dev/null <"$work/keys" >"$work/out" 2>&1 7>&- &
    keys=$!
    # Each key once the one before is seen.
    eventually grep -aq 'tick [0-9]* of 600' "$work/out" && press ' ' eventually grep -aq 'paused, 1 x' "$work/out" && press 5 shows 300 &&
        press , shows 299 && press '\033[D' shows 298 && press '\033[C' shows 299 &&
        press v eventually grep -aq 'from above: x, y' "$work/out" && press '\033[H' shows 0 && press '\033[F' shows 600
    printf q >&7
    wait $keys || return 1
    ticks=$(grep -o 'tick [0-9]* of 600  [0-9.]* s  paused, 1 x' "$work/out" | uniq | cut -d' ' -f2 |
        sed 1d | tr '\n' ' ')
    # From where it was paused: half, one back, one more back, one on, start, end.
    [ "$ticks" = "300 299 298 299 0 600 " ] || { echo "  ticks: $ticks" && return 1; }
    # The screen is given back.
    grep -q $'\033\[?1049l' "$work/out" && grep -q 'from above: x, y' "$work/out"
}
escape_leaves() {
    command -v script >/dev/null || { echo "skip: no script(1)" && return; }
    local keys
    mkfifo "$work/escape"
    exec 7<>"$work/escape"
    TERM=xterm script -qec "stty cols 90 rows 24; $replay play $work/a.foliot" /dev/null <"$work/escape" >"$work/out" 2>&1 7>&- &
    keys=$!
    # F1 and F5 have no meaning, and do not leave.
    eventually grep -aq 'tick [0-9]* of 600' "$work/out" && press '\033OP\033[15~ ' eventually grep -aq 'paused, 1 x' "$work/out" &&
        press 5 shows 300 && printf '\033' >&7 && eventually is_gone $keys
    local left=$?
    printf q >&7
    wait $keys
    return $left
}
is_gone() { ! kill -0 "$1" 2>/dev/null; }
check "--frame prints the tick asked for" frame_shows_a_tick
check "the four views differ" sides_differ
check "wrong uses end with a sentence" wrong_uses_end_with_a_sentence
check "a file that was cut plays as far as it is whole" cut_files_play
check "a damaged file plays up to the damage" damaged_files_play
check "keys pause, step and seek both ways" keys_steer
check "Esc leaves, and keys without a meaning do not" escape_leaves
exit $failed
