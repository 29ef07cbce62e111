#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_lab.sh: foliot-lab as people and scripts use it: the real program on real scenes; what it prints,
# what it writes, how it ends. JSON is checked against the grammar, values against other runs.
set -u
cd "$(dirname "$0")/../.." || exit 1
lab=${BUILD:-build}/foliot-lab
replay=${BUILD:-build}/foliot-replay
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

failed=0
check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@"; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        failed=1
    fi
}
# Runs the program: exit code in $code, stdout in $work/out, stderr in $work/err.
run() {
    "$lab" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
is_json() { awk -f tests/support/json.awk "$work/out"; }
# ends CODE TEXT ARGUMENTS...: nothing on stdout, TEXT in stderr.
ends() {
    local wanted=$1 text=$2
    shift 2
    run "$@"
    [ "$code" = "$wanted" ] && [ ! -s "$work/out" ] && grep -qF -- "$text" "$work/err" && return
    echo "  '$*' ended with $code, wanted $wanted; stderr: $(head -n 2 "$work/err")"
    return 1
}
# The value of a top-level key of one-line JSON, as text.
value() { sed -n "s/.*[{,]\"$1\":\(\"[^\"]*\"\|[^,}\[]*\).*/\1/p" "${2:-$work/out}"; }
# True if the expression holds, awk's arithmetic.
holds() { awk "BEGIN { exit !($*) }"; }

# -- the command line --------------------------------------------------------------------------------

help_begins_with_examples() {
    for command in "" integrators run compare bench check; do
        run $command --help
        [ "$code" = 0 ] && [ "$(head -n 1 "$work/out")" = "Examples:" ] || return 1
    done
}
version_has_three_lines() {
    run --version
    [ "$code" = 0 ] && [ "$(wc -l <"$work/out")" = 3 ] &&
        grep -qE '^foliot-lab [0-9]+\.[0-9]+\.[0-9]+$' "$work/out" &&
        grep -q '^build ' "$work/out" && grep -qE '^fingerprint [0-9a-f]{32}$' "$work/out"
}
wrong_usage_ends_with_2() {
    ends 2 "no command given" &&
        ends 2 "did you mean 'run'" rnu scenes/kepler.yaml &&
        ends 2 "SCENE is missing" run &&
        ends 2 "did you mean --ticks" run scenes/kepler.yaml --tick 5 &&
        ends 2 "exclude each other" run scenes/kepler.yaml --ticks 5 --time 1 &&
        ends 2 "--dt expects a number above 0" run scenes/kepler.yaml --dt 0 &&
        ends 2 "--dt expects a number above 0" run scenes/kepler.yaml --dt=-0.1 &&
        ends 2 "--dt expects a number above 0" run scenes/kepler.yaml --dt nan &&
        ends 2 "--dt expects a number above 0" run scenes/kepler.yaml --dt 1/0 &&
        ends 2 "it requires --csv" run scenes/kepler.yaml --every 5 &&
        ends 2 "did you mean 'rk4'" run scenes/kepler.yaml --integrator rk44 &&
        ends 2 "did you mean 'kahan-li8'" compare scenes/kepler.yaml --dt 0.1 \
            --integrators rk4,kahan-li
}
time_must_be_whole_ticks() {
    ends 2 "--time 1 is not a multiple of dt = 0.3 year/2pi; the nearest is 0.9 (3 ticks)" \
        run scenes/kepler.yaml --dt 0.3 --time 1 || return 1
    run run scenes/kepler.yaml --dt 0.3 --time 0.9
    [ "$code" = 0 ] || return 1
    ends 2 "is not a multiple of dt = 0.3" compare scenes/kepler.yaml --integrators rk4 --dt 0.1,0.3 \
        --time 1 || return 1
    # 90 is a multiple of 1/60 and of 0.1, though not of their doubles.
    run run scenes/kepler.yaml --dt 1/60 --time 90 --json
    [ "$code" = 0 ] && [ "$(value ticks)" = 5400 ] || return 1
    run run scenes/kepler.yaml --dt 0.1 --time 90 --json
    [ "$code" = 0 ] && [ "$(value ticks)" = 900 ]
}
options_come_in_any_order() {
    run run scenes/kepler.yaml --integrator rk4 --ticks 50 --json
    cp "$work/out" "$work/first"
    run --json --ticks=50 run --integrator=rk4 scenes/kepler.yaml
    [ "$code" = 0 ] && cmp -s "$work/out" "$work/first"
}
check "help begins with examples" help_begins_with_examples
check "version, build and fingerprint are three lines" version_has_three_lines
check "wrong usage ends with 2, one sentence and an empty stdout" wrong_usage_ends_with_2
check "a time that is no whole number of ticks names the nearest" time_must_be_whole_ticks
check "options come in any order" options_come_in_any_order

# -- run ---------------------------------------------------------------------------------------------

json_has_the_keys() {
    run run scenes/two-springs.yaml --ticks 10 --json
    [ "$code" = 0 ] && [ ! -s "$work/err" ] && [ "$(wc -l <"$work/out")" = 1 ] && is_json || return 1
    local keys
    keys=$(sed 's/\[[^]]*\]/[]/g; s/"bodies":\[.*$/"bodies"/' "$work/out" |
        grep -oE '"[a-z_]+":|"bodies"' | tr -d '":' | tr '\n' ' ')
    [ "$keys" = "scene integrator dt ticks time force_evaluations digest energy_start energy \
energy_error_max energy_dissipated energy_sinks momentum angular_momentum bodies " ] || return 1
    local body='{"name":"[^"]*","position":\[[^]]*\],"velocity":\[[^]]*\],"orientation":\[[^]]*\],'
    grep -qE "\"bodies\":\[$body\"angular_velocity\":\[[^]]*\]}" "$work/out" &&
        [[ $(value digest) =~ ^\"[0-9a-f]{32}\"$ ]]
}
json_reals_have_17_digits() {
    run run scenes/kepler.yaml --dt 0.1 --ticks 0 --json
    [ "$(value dt)" = 0.10000000000000001 ] && [ "$(value ticks)" = 0 ]
}
# 300 forward plus the rest is the same as 600 in one: and the same run gives the same bytes.
runs_repeat() {
    run run scenes/cloth.yaml --ticks 200 --json
    cp "$work/out" "$work/first"
    run run scenes/cloth.yaml --ticks 200 --json
    cmp -s "$work/out" "$work/first" || return 1
    run run scenes/cloth.yaml --ticks 201 --json
    [ "$(value digest)" != "$(value digest "$work/first")" ]
}
energy_error_is_the_largest() {
    run run scenes/kepler.yaml --ticks 500 --json --csv "$work/rows.csv"
    local wanted
    wanted=$(awk -F, 'NR == 2 { e0 = $3 } NR > 1 { d = ($3 - e0) / e0; if (d < 0) d = -d; if (d > m) m = d }
        END { printf "%.9e", m }' "$work/rows.csv")
    [ "$(awk -v x="$(value energy_error_max)" 'BEGIN { printf "%.9e", x }')" = "$wanted" ]
}
# Where nothing takes energy out its change is the integrator's error; elsewhere it is no error, and has a cause.
dissipation_is_no_error() {
    run run scenes/kepler.yaml --ticks 50 --json
    [ "$(value energy_sinks)" = null ] && [ "$(value energy_dissipated)" = null ] && [ "$(value energy_error_max)" != null ] || return 1
    run run scenes/spring-damper.yaml --ticks 50 --json
    [ "$(value energy_sinks)" = '"damped springs"' ] && [ "$(value energy_error_max)" = null ] || return 1
    awk -v a="$(value energy_start)" -v b="$(value energy)" -v d="$(value energy_dissipated)" 'BEGIN { exit !(d > 0 && a - b == d) }' || return 1
    run run scenes/spring-damper.yaml --ticks 50
    grep -q 'energy dissipated .*not conserved here: damped springs' "$work/out" && ! grep -q 'energy error' "$work/out" || return 1
    run run scenes/cubes.yaml --ticks 5
    grep -q 'energy dissipated .*contacts' "$work/out" || return 1
    run compare scenes/spring-damper.yaml --integrators rk4 --dt 1/60 --time 1 --out "$work/d.svg"
    grep -q 'energy change' "$work/out" && grep -q 'not conserved.*damped springs' "$work/out" &&
        grep -q 'Energy change over time' "$work/d.svg"
}
csv_has_its_rows() {
    run run scenes/figure-eight.yaml --ticks 100 --csv "$work/rows.csv" --every 7
    [ "$code" = 0 ] && [ "$(wc -l <"$work/rows.csv")" = $((1 + 15 * 3)) ] || return 1
    [ "$(awk -F, '{ print NF }' "$work/rows.csv" | sort -u)" = 17 ] || return 1
    [ "$(tail -n 1 "$work/rows.csv" | cut -d, -f1)" = 98 ] || return 1
    run run scenes/figure-eight.yaml --ticks 100 --csv - --every 7
    cmp -s "$work/out" "$work/rows.csv"
}
blow_up_is_reported() {
    run run scenes/stiff-spring.yaml --integrator explicit-euler --json
    [ "$code" = 0 ] && is_json && [ "$(value frozen_bodies)" = 1 ] || return 1
    grep -qE '"frozen":\[\{"body":"[a-z]+","index":[0-9]+,"tick":[1-9][0-9]*\}\]' "$work/out" || return 1
    run run scenes/stiff-spring.yaml --integrator explicit-euler
    [ "$code" = 0 ] && grep -qE 'frozen +[a-z]+ left the range of numbers \(2\^40\) at tick [0-9]+' "$work/out"
}
bad_scenes_end_with_78() {
    printf 'foliot: 1\nname: x\ndt: 0.1\nbodies:\n  - {mass: -1}\n' >"$work/bad.yaml"
    ends 78 "bad.yaml:5:12: " run "$work/bad.yaml" && ends 78 "bad.yaml:5:12: " check "$work/bad.yaml" &&
        ends 78 "none.yaml" run "$work/none.yaml" &&
        ends 78 "does not admit" run scenes/spring-damper.yaml --integrator reversible-leapfrog &&
        ends 78 "velocity-verlet" run scenes/billiards.yaml --integrator kahan-li8
}
jitter_needs_its_scheme() {
    ends 2 "use --integrator time-corrected-verlet" run scenes/kepler.yaml --dt-jitter 0.2,seed=7 &&
        ends 2 "--dt-jitter expects" run scenes/kepler.yaml --dt-jitter 1.2 || return 1
    local first
    run run scenes/kepler.yaml --integrator time-corrected-verlet --dt-jitter 0.2,seed=7 --json
    first=$(value digest)
    [ "$code" = 0 ] || return 1
    run run scenes/kepler.yaml --integrator time-corrected-verlet --dt-jitter 0.2,seed=8 --json
    [ "$(value digest)" != "$first" ] || return 1
    run run scenes/kepler.yaml --integrator time-corrected-verlet --dt-jitter 0.2,seed=7 --json
    [ "$(value digest)" = "$first" ] || return 1
    # Constant dt, and jitter of share 0, are verlet.
    run run scenes/kepler.yaml --integrator time-corrected-verlet --dt-jitter 0 --json
    first=$(value digest)
    run run scenes/kepler.yaml --integrator time-corrected-verlet --json
    [ "$(value digest)" = "$first" ]
}
account_is_plain_text() {
    run run scenes/solar-system.yaml --ticks 20
    [ "$code" = 0 ] && ! grep -q $'\033' "$work/out" "$work/err" && grep -q 'energy error' "$work/out" &&
        grep -qE 'digest +[0-9a-f]{32}' "$work/out" && [ ! -s "$work/err" ]
}
# A terminal gets colours and a progress bar, unless NO_COLOR is set; stderr alone gets the bar.
terminals_are_treated_as_such() {
    command -v script >/dev/null || { echo "skip: no script(1)" && return; }
    TERM=xterm script -qec "$lab integrators" /dev/null >"$work/out"
    grep -q $'\033\[1m' "$work/out" || return 1
    TERM=xterm NO_COLOR=1 script -qec "$lab integrators" /dev/null >"$work/out"
    ! grep -q $'\033' "$work/out" || return 1
    script -qec "$lab run scenes/kepler.yaml --ticks 100000 --json 2>&1 >$work/json" /dev/null >"$work/out"
    grep -q 'running \[#' "$work/out" && cp "$work/json" "$work/out" && is_json
}
full_disk_says_try_again() {
    [ -w /dev/full ] || { echo "skip: no /dev/full" && return; }
    run run scenes/kepler.yaml --ticks 100 --csv /dev/full
    [ "$code" = 75 ] && grep -q 'cannot write /dev/full: No space left' "$work/err" || return 1
    run run scenes/kepler.yaml --ticks 100 --record /dev/full
    [ "$code" = 75 ] && grep -q 'cannot write /dev/full: No space left' "$work/err"
}
sigterm_ends_a_run_in_order() {
    "$lab" run scenes/kepler.yaml --ticks 1000000000000 --json >"$work/out" 2>"$work/err" </dev/null &
    local pid=$! begun=0
    for _ in $(seq 600); do # until it has computed for half a second
        begun=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | awk '{ print $12 + $13 }')
        [ "${begun:-0}" -ge 50 ] && break
        sleep 0.1
    done
    kill -TERM "$pid"
    wait "$pid"
    [ $? = 1 ] && is_json && grep -q '"interrupted":true' "$work/out" && holds "$(value ticks) > 0"
}
check "run --json prints one object with its keys in order" json_has_the_keys
check "reals in JSON have 17 significant digits" json_reals_have_17_digits
check "the same run gives the same bytes" runs_repeat
check "energy_error_max is the largest over all ticks" energy_error_is_the_largest
check "what is dissipated is no energy error" dissipation_is_no_error
check "the CSV has a row for each body at every k-th tick" csv_has_its_rows
check "a world that blows up freezes the body and says so" blow_up_is_reported
check "bad scenes end with 78 and a place or a reason" bad_scenes_end_with_78
check "--dt-jitter is repeatable and only for its scheme" jitter_needs_its_scheme
check "the account for people has no escape codes in a pipe" account_is_plain_text
check "colours and progress are for terminals, and NO_COLOR is honoured" terminals_are_treated_as_such
check "a full disk ends with 75" full_disk_says_try_again
check "SIGTERM ends a run with its account" sigterm_ends_a_run_in_order

# -- inputs and recordings ---------------------------------------------------------------------------

printf '0 0 join\n0 1 join # two\n30 0 control 0 0 127 0\n60 1 control 90 0 127 5 0x1\n200 1 leave\n' \
    >"$work/landing.txt"
inputs_steer() {
    run run scenes/lunar-lander.yaml --ticks 300 --json
    local alone
    alone=$(value digest)
    run run scenes/lunar-lander.yaml --ticks 300 --inputs "$work/landing.txt" --json
    [ "$code" = 0 ] && [ "$(value digest)" != "$alone" ] && grep -q '"name":"player 0"' "$work/out" &&
        ! grep -q '"name":"player 1"' "$work/out" && [ "$(value inputs_refused)" = 0 ]
}
bad_inputs_are_named() {
    printf '0 0 join\n3 0 control 1 2 3\n' >"$work/short.txt"
    printf '0 9 join\n' >"$work/nine.txt"
    ends 78 "short.txt:2:18: control expects four axes" run scenes/lunar-lander.yaml \
        --inputs "$work/short.txt" &&
        ends 78 "player 9 does not exist" run scenes/lunar-lander.yaml --inputs "$work/nine.txt" &&
        ends 78 "no players to steer" run scenes/kepler.yaml --inputs "$work/landing.txt" &&
        ends 1 "No such file" run scenes/lunar-lander.yaml --inputs "$work/none.txt"
}
recordings_verify_and_give_their_inputs() {
    run run scenes/lunar-lander.yaml --ticks 300 --inputs "$work/landing.txt" --record "$work/a.foliot" \
        --json
    local digest
    digest=$(value digest)
    "$replay" verify "$work/a.foliot" --json >"$work/verdict" || return 1
    grep -q "\"digest\":$digest" "$work/verdict" && grep -q '"verdict":"match"' "$work/verdict" || return 1
    run run scenes/lunar-lander.yaml --ticks 300 --inputs "$work/a.foliot" --json
    [ "$code" = 0 ] && [ "$(value digest)" = "$digest" ] || return 1
    head -c 40 "$work/a.foliot" >"$work/cut.foliot"
    run run scenes/lunar-lander.yaml --inputs "$work/cut.foliot"
    [ "$code" = 4 ]
}
check "inputs from a text steer the players" inputs_steer
check "bad inputs are named by line and column" bad_inputs_are_named
check "a recording verifies, and gives its inputs again" recordings_verify_and_give_their_inputs

# -- integrators, check, compare, bench --------------------------------------------------------------

registry_is_listed() {
    run integrators --json
    [ "$code" = 0 ] && is_json && [ "$(grep -o '"name":' "$work/out" | wc -l)" = 22 ] || return 1
    run integrators
    [ "$code" = 0 ] && grep -q '^kahan-li8 ' "$work/out" && grep -q 'also: forward-euler' "$work/out"
}
check_names_what_fits() {
    run check scenes/billiards.yaml --json
    [ "$code" = 0 ] && is_json && grep -q '"velocity-verlet"' "$work/out" &&
        ! grep -q '"kahan-li8"' "$work/out"
}
measured() { sed -n "s/.*{\"integrator\":\"$1\",\"order\":[0-9]*,\"measured\":\([^}]*\)}.*/\1/p" "$work/out"; }
compare_measures_orders() {
    run compare scenes/kepler.yaml --integrators velocity-verlet,yoshida4,yoshida6,semi-implicit-euler \
        --dt 1/20,1/40,1/80,1/160,1/320 --time 4 --json
    [ "$code" = 0 ] && is_json || return 1
    holds "$(measured velocity-verlet) > 1.9 && $(measured velocity-verlet) < 2.1" &&
        holds "$(measured yoshida4) > 3.9 && $(measured yoshida4) < 4.1" &&
        holds "$(measured yoshida6) > 5.7 && $(measured yoshida6) < 6.3" &&
        holds "$(measured semi-implicit-euler) > 0.8 && $(measured semi-implicit-euler) < 1.2"
}
# The run of the README: over 800 orbits the symplectic scheme of second order keeps the energy better than rk4 does.
symplectic_schemes_win_in_the_long_run() {
    local words
    read -ra words < <(sed -n '/foliot-lab compare/{N;s/\\\n//;s/.*foliot-lab //;s/--out.*//;p}' README.md)
    run "${words[@]}"
    [ "$code" = 0 ] && awk '$1 ~ /^(velocity-verlet|rk4)$/ && NF == 7 { error[$1, $2 + 0] = $4; steps[$2 + 0] }
        END { for (d in steps) { n++; if (error["rk4", d] < 2 * error["velocity-verlet", d]) exit 1 }
              exit n != 2 }' "$work/out"
}
compare_takes_references() {
    "$lab" run scenes/figure-eight.yaml --integrator rk4 --dt 0.01 --time 2 --json >"$work/ref.json"
    "$lab" run scenes/figure-eight.yaml --integrator rk4 --dt 0.01 --time 2 --csv "$work/ref.csv" >/dev/null
    for file in ref.json ref.csv; do
        run compare scenes/figure-eight.yaml --integrators rk4,leapfrog --dt 0.01,0.02 --time 2 \
            --reference "$work/$file" --json
        [ "$code" = 0 ] && is_json || return 1
        # Itself has no error; others have.
        grep -qE '"integrator":"rk4","dt":0.01[0-9]*,[^}]*"position_error":0,' "$work/out" || return 1
        grep -qE '"integrator":"leapfrog","dt":0.02[0-9]*,[^}]*"position_error":0,' "$work/out" && return 1
    done
    ends 1 "another time" compare scenes/figure-eight.yaml --integrators rk4 --dt 0.01 --time 1 \
        --reference "$work/ref.json" &&
        ends 1 "not those of the scene" compare scenes/kepler.yaml --integrators rk4 --dt 0.01 --time 2 \
            --reference "$work/ref.json" &&
        ends 1 "output of neither" compare scenes/kepler.yaml --integrators rk4 --dt 0.01 \
            --time 2 --reference Makefile
}
# Every element that is opened is closed, in order.
well_formed() {
    grep -oE '<[^>]*>' "$1" | awk '
        /^<[?!]/ || /\/>$/ || /^<(meta|br)/ { next }
        /^<\// { gsub(/[<>\/]/, ""); if (stack[n--] != $1) bad = 1; next }
        { gsub(/[<>]/, ""); stack[++n] = $1 }
        END { exit bad || n != 0 && !(n == 1 && stack[1] == "html") }'
}
compare_draws() {
    run compare scenes/kepler.yaml --integrators semi-implicit-euler,rk4,kahan-li8 --dt 1/10,1/20 --time 20 \
        --out "$work/k.svg"
    [ "$code" = 0 ] && well_formed "$work/k.svg" || return 1
    for text in 'Energy error over time' 'Work against precision' 'Phase portrait of planet' \
        'time, year/2pi' 'velocity along x, a/(year/2pi)' 'force evaluations' 'position error, a' '>kahan-li8'; do
        grep -qF "$text" "$work/k.svg" || return 1
    done
    ! grep -qE 'nan|inf' "$work/k.svg" || return 1
    run compare scenes/kepler.yaml --integrators rk4,leapfrog --dt 1/10,1/20 --time 20 \
        --out "$work/k.svg" --picture energy
    [ "$code" = 0 ] && well_formed "$work/k.svg" && ! grep -q 'Phase portrait' "$work/k.svg" || return 1
    run compare scenes/kepler.yaml --integrators all --dt 1/10,1/20 --time 20 --out "$work/k.html"
    [ "$code" = 0 ] && [ "$(grep -c '<svg' "$work/k.html")" = 4 ] &&
        ! grep -qE '(src|href)=' "$work/k.html" && grep -q '<td>explicit-euler' "$work/k.html"
}
# The labels of the first plot's time axis, "x text" a line: their middles are further apart than they are wide.
labels_are_apart() {
    run compare scenes/solar-system.yaml --integrators leapfrog --dt 100,200 --time "$1" --picture energy --out "$work/t.svg"
    grep -oE '<text x="[0-9.]+" y="[0-9.]+" text-anchor="middle" font-size="12"[^>]*>[^<]*' "$work/t.svg" |
        sed -E 's/<text x="([0-9.]+)"[^>]*>/\1 /' |
        awk '{ half = length($2) * 3.3; if (NR > 1 && $1 - half < end) bad = 1; end = $1 + half } END { exit bad || NR < 3 }'
}
ticks_of_large_times_stay_apart() {
    labels_are_apart 20000 && labels_are_apart 1200000 && grep -q 'time, day (× 10⁶)' "$work/t.svg" && ! grep -qE '>[0-9.]+e\+' "$work/t.svg"
}
portraits_show_an_orbit() {
    run compare scenes/solar-system.yaml --integrators leapfrog --dt 100 --time 20000 --picture portrait --out "$work/o.svg"
    grep -q 'Phase portrait of Saturn' "$work/o.svg" || return 1
    run compare scenes/solar-system.yaml --integrators leapfrog --dt 100 --time 20000 --picture portrait --body Sun --out "$work/o.svg"
    grep -q 'Phase portrait of Sun' "$work/o.svg"
}
compare_refuses() {
    ends 2 "name the integrators" compare scenes/kepler.yaml --dt 0.1 &&
        ends 2 "give the steps" compare scenes/kepler.yaml --integrators rk4 &&
        ends 2 "names rk4 twice" compare scenes/kepler.yaml --integrators rk4,rk4 --dt 0.1 &&
        ends 2 "ends in .svg or .html" compare scenes/kepler.yaml --integrators rk4 --dt 0.1 --out k.png &&
        ends 2 "has no body 'moon'" compare scenes/kepler.yaml --integrators rk4 --dt 0.1 --body moon &&
        ends 78 "does not admit" compare scenes/billiards.yaml --integrators rk4 --dt 1/60 --time 0.1
}
bench_measures_all() {
    run bench --bodies 16 --json
    [ "$code" = 0 ] && is_json && [ "$(wc -l <"$work/out")" = 22 ] || return 1
    [ "$(grep -c '^{"bench":"integrators","case":"springs, [a-z0-9-]*","value":[0-9.e+]*,"unit":"ns a body and step","opponent":"semi-implicit-euler","opponent_value":[0-9.e+]*,"ratio":[0-9.e+-]*,' "$work/out")" = 22 ]
}
check "integrators lists the registry" registry_is_listed
check "check names the integrators that fit" check_names_what_fits
check "compare measures the orders" compare_measures_orders
check "symplectic schemes win in the README's long run" symplectic_schemes_win_in_the_long_run
check "compare takes references from run --json and run --csv" compare_takes_references
check "compare draws SVG and a self-contained HTML report" compare_draws
check "tick labels of large times do not collide" ticks_of_large_times_stay_apart
check "a portrait shows an orbit unless told otherwise" portraits_show_an_orbit
check "compare refuses what makes no sense" compare_refuses
synctest_passes() {
    run synctest scenes/spacewar.yaml --ticks 120 --json
    [ "$code" = 0 ] && is_json && grep -q '"passed":true,"ticks":120,' "$work/out" &&
        [ "$(grep -o '"passed":true,"checks":[1-9]' "$work/out" | wc -l)" = 4 ] || return 1
    run synctest scenes/billiards.yaml --ticks 60
    [ "$code" = 0 ] && [ "$(grep -cE '^(replay|sync|serialisation|perturbation) +passed +[1-9]' "$work/out")" = 4 ]
}
# Rigid bodies, joints and sleepers among them: what a contact or a joint stores is part of the state.
synctest_passes_all() {
    for scene in scenes/*.yaml tests/cluster/scenes/*.yaml; do
        [ "$scene" = scenes/city.yaml ] && continue # 10,000 bodies take long
        run synctest "$scene" --ticks 12
        [ "$code" = 0 ] && [ "$(grep -cE '^(replay|sync|serialisation|perturbation) +passed +[1-9]' "$work/out")" = 4 ] ||
            { echo "$scene"; return 1; }
    done
}
synctest_refuses() {
    printf 'foliot: 1\nname: bad\ndt: 0\nbodies: [{name: ball}]\n' >"$work/bad.yaml"
    ends 2 "the scene takes" synctest scenes/spacewar.yaml --players 900 &&
        ends 78 "" synctest "$work/bad.yaml"
}
check "synctest puts a scene through the harness" synctest_passes
check "every ready scene passes" synctest_passes_all
check "synctest refuses what makes no sense" synctest_refuses
check "bench measures every integrator" bench_measures_all

exit $failed
