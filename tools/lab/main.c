// SPDX-License-Identifier: MIT
// main.c: the command line of foliot-lab, which runs and compares integrators.
#include "lab.h"

#include <string.h>

#include "base/file.h"
#include "base/terminal.h"
#include "sim/selftest/fingerprint.h"

static bool json;
static lab_run_options run_options = {.every = 1, .seed = 1};
static lab_compare_options compare_options;
static lab_synctest_options synctest_options = {.seed = 1};
static uint64_t bench_bodies = 256;

#define INTEGRATOR_OPTION(target)                                                                  \
    {                                                                                              \
        "integrator", "NAME", FOLIOT__OPTION_TEXT, target,                                         \
            .help = "replaces the scene's integrator",                                             \
            .details = "The scene is checked again; a combination that is not admitted is "        \
                       "refused, and the message names the integrators that are."                  \
    }
#define COMMANDS_OPTION(target)                                                                    \
    {                                                                                              \
        "commands", "FILE", FOLIOT__OPTION_TEXT, target,                                           \
            .help = "commands: lines of JSON, or a recording",                                     \
            .details = "Each line has a tick. A recording gives its commands. The scene "          \
                       "must set `limits.commands_max`."                                           \
    }
#define ORDERS_OPTION(target, more)                                                                \
    {                                                                                              \
        "orders", "FILE", FOLIOT__OPTION_TEXT, target,                                             \
            .help = "orders of players to the rules: lines of text, or a recording",               \
            .details = "The rules are those of the scene's script. A recording gives its "         \
                       "orders." more                                                              \
    }
#define NO_RULES_OPTION(target, more)                                                              \
    {                                                                                              \
        "no-rules", NULL, FOLIOT__OPTION_FLAG, target,                                             \
            .help = "leaves out the rules of the scene's script",                                  \
            .details = "Otherwise the rules run, and their commands enter the next tick after "    \
                       "those of --commands." more                                                 \
    }
#define JSON_OPTION(target)                                                                        \
    {                                                                                              \
        "json", NULL, FOLIOT__OPTION_FLAG, target,                                                 \
            .help = "prints JSON on stdout and nothing else"                                       \
    }

static const foliot__option json_table[] = {
    JSON_OPTION(&json),
    {0},
};
static const foliot__option run_table[] = {
    INTEGRATOR_OPTION(&run_options.integrator),
    {"dt", "DT", FOLIOT__OPTION_TEXT, &run_options.dt,
     .help = "replaces the scene's step: a number or a ratio such as 1/60",
     .details = "It is in the scene's unit of time. The scene is checked again."},
    {"ticks", "N", FOLIOT__OPTION_COUNT, &run_options.ticks, .given = &run_options.ticks_given,
     .help = "ticks to run (default 600)", .details = "It excludes --time."},
    {"time", "T", FOLIOT__OPTION_REAL, &run_options.time, .given = &run_options.time_given,
     .help = "time to run, in the scene's unit; a multiple of dt"},
    {"inputs", "FILE", FOLIOT__OPTION_TEXT, &run_options.inputs,
     .help = "inputs of players: lines of text, or a recording",
     .details = "A recording gives its inputs."},
    {"players", "N", FOLIOT__OPTION_COUNT, &run_options.players, .high = FOLIOT_PLAYERS_MAX,
     .help = "random players, which join, act, leave and come back (default 0)",
     .details = "It excludes --inputs."},
    {"seed", "N", FOLIOT__OPTION_COUNT, &run_options.seed, .help = "seed of the random players"},
    COMMANDS_OPTION(&run_options.commands),
    ORDERS_OPTION(&run_options.orders, ""),
    NO_RULES_OPTION(&run_options.no_rules,
                    " The recording of --record holds them, so that `foliot-replay verify "
                    "--rules` can run the rules again."),
    {"record", "FILE", FOLIOT__OPTION_TEXT, &run_options.record,
     .help = "writes a recording that foliot-replay verifies"},
    {"csv", "FILE", FOLIOT__OPTION_TEXT, &run_options.csv,
     .help = "writes every body's state as rows of numbers; - is stdout",
     .details = "A row is written for each body at every tick, tick 0 included: tick, time, total "
                "energy, body, position, velocity, orientation (w, x, y, z) and angular velocity."},
    {"every", "K", FOLIOT__OPTION_COUNT, &run_options.every, .low = 1,
     .given = &run_options.every_given, .help = "writes rows of the CSV only for every K-th tick"},
    {"dt-jitter", "F,seed=N", FOLIOT__OPTION_TEXT, &run_options.jitter,
     .help = "varies dt by up to the share F, for time-corrected-verlet",
     .details = "The variation is uniform, tick by tick. `time-corrected-verlet` is made for steps "
                "that vary."},
    JSON_OPTION(&run_options.json),
    {0},
};
static const foliot__option compare_table[] = {
    {"integrators", "A,B,...", FOLIOT__OPTION_TEXT, &compare_options.integrators,
     .help = "integrators to compare; 'all' takes every one that the scene admits"},
    {"dt", "H1,H2,...", FOLIOT__OPTION_TEXT, &compare_options.steps,
     .help = "steps to compare: numbers or ratios such as 1/60"},
    {"time", "T", FOLIOT__OPTION_REAL, &compare_options.time, .given = &compare_options.time_given,
     .help = "time to run, in the scene's unit (default: 600 of its ticks)"},
    {"reference", "FILE", FOLIOT__OPTION_TEXT, &compare_options.reference,
     .help = "exact positions, written by run --json or run --csv (default: computed)",
     .details = "They are for the same scene and the same time. By default the best integrator "
                "that the scene admits runs at a quarter of the finest step (a 64th for schemes of "
                "low order), and once more at twice that step, to estimate its error."},
    {"out", "FILE", FOLIOT__OPTION_TEXT, &compare_options.out,
     .help = "draws a picture (report.svg) or a page with tables (report.html)",
     .details =
         "Four pictures show the energy error over time, work against precision, the errors over "
         "dt, and a phase portrait. A name that ends in `.svg` gives all four on one page. A name "
         "that ends in `.html` gives a self-contained report with tables and text."},
    {"picture", "energy|work|order|portrait", FOLIOT__OPTION_TEXT, &compare_options.picture,
     .help = "draws only this picture, in an .svg"},
    {"body", "NAME", FOLIOT__OPTION_TEXT, &compare_options.body,
     .help = "body of the phase portrait (default: the one with the widest orbit)",
     .details = "If none oscillates, the default is the body that moves the furthest."},
    {"show", "DT", FOLIOT__OPTION_TEXT, &compare_options.show,
     .help = "step of the plots over time (default: the one nearest to the scene's)"},
    JSON_OPTION(&compare_options.json),
    {0},
};
static const foliot__option synctest_table[] = {
    {"ticks", "N", FOLIOT__OPTION_COUNT, &synctest_options.ticks, .low = 1,
     .help = "ticks to run (default 600)"},
    {"players", "N", FOLIOT__OPTION_COUNT, &synctest_options.players, .high = FOLIOT_PLAYERS_MAX,
     .given = &synctest_options.players_given,
     .help = "random players (default 4, or as many as the scene takes)"},
    {"seed", "N", FOLIOT__OPTION_COUNT, &synctest_options.seed,
     .help = "seed of the random players"},
    {"inputs", "FILE", FOLIOT__OPTION_TEXT, &synctest_options.inputs,
     .help = "replaces random players: lines of text, or a recording"},
    COMMANDS_OPTION(&synctest_options.commands),
    ORDERS_OPTION(&synctest_options.orders,
                  " With --simulation the module turns orders into commands."),
    NO_RULES_OPTION(&synctest_options.no_rules, " The test `rules` is left out, too."),
    INTEGRATOR_OPTION(&synctest_options.integrator),
    {"simulation", "FILE", FOLIOT__OPTION_TEXT, &synctest_options.simulation,
     .help = "tests the simulation of a module (.so)",
     .details = "SCENE is its configuration, or is left out."},
    {"test", "replay|sync|serialisation|perturbation|rules", FOLIOT__OPTION_TEXT,
     &synctest_options.test, .help = "runs only this test"},
    {"distances", "A,B,...", FOLIOT__OPTION_TEXT, &synctest_options.distances,
     .help = "ticks that the test sync rolls back by (default 1,2,8)",
     .details = "There are at most 4."},
    {"perturbations", "N", FOLIOT__OPTION_COUNT, &synctest_options.perturbations,
     .high = UINT32_MAX, .given = &synctest_options.perturbations_given,
     .help = "numbers, and bits, that one perturbation changes (default 256)"},
    {"perturb-every", "N", FOLIOT__OPTION_COUNT, &synctest_options.perturb_every, .low = 1,
     .high = UINT32_MAX, .help = "ticks from one perturbation to the next (default 20)"},
    JSON_OPTION(&synctest_options.json),
    {0},
};
static const foliot__option bench_table[] = {
    {"bodies", "N", FOLIOT__OPTION_COUNT, &bench_bodies, .low = 1, .high = 65536,
     .help = "bodies of the built-in problem"},
    {"json", NULL, FOLIOT__OPTION_FLAG, &json, .help = "prints one JSON object per line"},
    {0},
};

static const foliot__command commands[] = {
    {"integrators", "[--json]", "lists every integrator with its order and its cost",
     "  foliot-lab integrators\n  foliot-lab integrators --json\n", json_table, 0, 0,
     "The columns are the order, the order on a damped oscillator, whether the integrator is "
     "symplectic and reversible, force evaluations per step, and whether it admits contacts and "
     "rods."},
    {"run",
     "SCENE [--integrator NAME] [--dt DT] [--ticks N | --time T] [--inputs FILE] "
     "[--players N --seed N] [--commands FILE] [--orders FILE] [--no-rules] [--record FILE] "
     "[--csv FILE [--every K]] [--dt-jitter F,seed=N] [--json]",
     "runs a scene and reports energy, momentum and the bodies at the end",
     "  foliot-lab run scenes/spring-damper.yaml\n"
     "  foliot-lab run scenes/solar-system.yaml --integrator kahan-li8 --dt 50 --time 200000\n"
     "  foliot-lab run scenes/pendulum.yaml --time 60 --csv pendulum.csv --every 6\n"
     "  foliot-lab run scenes/lunar-lander.yaml --inputs landing.txt --record landing.foliot\n"
     "  foliot-lab run scenes/figure-eight.yaml --json | jq .energy_error_max\n",
     run_table, 1, 1,
     "The run begins at the scene's first tick. With --json it prints one object with the keys "
     "`scene`, `integrator`, `dt`, `ticks`, `time`, `force_evaluations`, `digest`, `energy_start`, "
     "`energy`, `energy_error_max`, `energy_dissipated`, `energy_sinks`, `momentum`, "
     "`angular_momentum` and `bodies`, then counters. Reals have 17 significant digits; a value "
     "that is not a number is null.\n\n"
     "`energy_error_max` is the largest |E - E0| / |E0| over all ticks, or |E - E0| where E0 is 0. "
     "`energy_sinks` names what takes energy out of the scene or puts it in: drag, damped springs, "
     "contacts, players; it is null where energy is conserved. Where energy is not conserved, "
     "`energy_error_max` is null, and `energy_dissipated` is E0 - E at the end; elsewhere "
     "`energy_dissipated` is null. A body whose state becomes non-finite or out of range is frozen "
     "where it was; the run continues, exits 0, and names the body and the tick under `frozen`."},
    {"compare",
     "SCENE --integrators A,B,... --dt H1,H2,... [--time T] [--reference FILE] "
     "[--out report.svg|report.html] [--picture NAME] [--body NAME] [--show DT] [--json]",
     "runs integrators at several steps on one scene and draws the differences",
     "  foliot-lab compare scenes/solar-system.yaml --integrators leapfrog,rk4,kahan-li8 \\\n"
     "      --dt 400,200,100,50 --time 20000 --out solar.html\n"
     "  foliot-lab compare scenes/figure-eight.yaml --integrators all --dt 1/60,1/120 --out "
     "eight.svg\n",
     compare_table, 1, 1,
     "It runs every integrator at every step, and prints their costs, their energy errors, the "
     "distance of the bodies from a reference at the end, and the order that follows from it."},
    {"bench", "[SCENE] [--bodies N] [--json]", "measures the cost of a step of each integrator",
     "  foliot-lab bench\n  foliot-lab bench scenes/solar-system.yaml --json\n", bench_table, 0, 1,
     "It prints nanoseconds per body and step, next to `semi-implicit-euler` in the same run, on "
     "springs or on SCENE."},
    {"synctest",
     "SCENE | --simulation FILE [SCENE] [--ticks N] [--players N] [--seed N] [--inputs FILE] "
     "[--commands FILE] [--orders FILE] [--no-rules] [--integrator NAME] [--test NAME] "
     "[--distances A,B,...] [--perturbations N] [--perturb-every N] [--json]",
     "tests a scene for lockstep: rolls it back and disturbs it at every tick",
     "  foliot-lab synctest scenes/spacewar.yaml\n"
     "  foliot-lab synctest scenes/cubes.yaml --ticks 300 --json\n"
     "  foliot-lab synctest --simulation ./ring.so\n"
     "  foliot-lab synctest --simulation ./ring.so --test sync --distances 1,30\n",
     synctest_table, 0, 1,
     "It tests whether a scene is fit for lockstep, replay and rollback with this build. Further "
     "runs are compared with an undisturbed one. `replay` is a second run from the start. `sync` "
     "rolls back by several ticks at a time. `serialisation` restores the state from a copy before "
     "every tick. `perturbation` adds one unit to numbers of the state and flips bits of its saved "
     "bytes, which the digest must detect. `rules` makes a copy of the script's rules again before "
     "every tick, from their saved state; it must give the same commands and messages and be saved "
     "as the same bytes.\n\n"
     "Inputs come from a file or from a seed. A table shows what passed; what failed is named by "
     "tick, part and field, and the exit status is 3. A simulation that crashes ends the program "
     "by its signal, after a line with test and tick; with --json that is an object with the keys "
     "`crashed`, `test` and `tick`."},
    {"check", "SCENE [--json]", "checks a scene and names the integrators that it admits",
     "  foliot-lab check scenes/cloth.yaml\n", json_table, 1, 1, NULL},
    {0},
};

static const foliot__program program = {
    .name = "foliot-lab",
    .summary = "runs and compares integrators on scenes",
    .examples =
        "  foliot-lab integrators\n"
        "  foliot-lab run scenes/spring-damper.yaml --time 10\n"
        "  foliot-lab run scenes/solar-system.yaml --integrator kahan-li8 --dt 50 --ticks 4000 "
        "--json\n"
        "  foliot-lab compare scenes/solar-system.yaml --integrators leapfrog,rk4,kahan-li8 \\\n"
        "      --dt 400,200,100,50 --time 20000 --out solar.html\n"
        "  foliot-lab check my-scene.yaml\n",
    .commands = commands,
    .fingerprint = foliot__fingerprint_print,
};

int main(int argc, char **argv)
{
    foliot__arguments arguments;
    if (!foliot__standard_open())
        return FOLIOT__EXIT_ERROR;
    int code = foliot__options_start(&program, argc, argv, &arguments);
    if (code >= 0)
        return code;
    lab_context context = {&program, &arguments};
    const char *name = arguments.command->name;
    const char *file = arguments.operand_count ? arguments.operands[0] : NULL;
    if (strcmp(name, "integrators") == 0)
        code = lab_integrators(json);
    else if (strcmp(name, "run") == 0)
        code = lab_run(&context, file, &run_options);
    else if (strcmp(name, "compare") == 0)
        code = lab_compare(&context, file, &compare_options);
    else if (strcmp(name, "synctest") == 0 && synctest_options.simulation)
        code = lab_synctest_module(&context, file, &synctest_options);
    else if (strcmp(name, "synctest") == 0 && !file)
        code = foliot__options_wrong(&program, &arguments, "a SCENE is missing");
    else if (strcmp(name, "synctest") == 0)
        code = lab_synctest(&context, file, &synctest_options);
    else if (strcmp(name, "bench") == 0)
        code = lab_bench(&context, file, json, bench_bodies);
    else
        code = lab_check(&context, file, json);
    return foliot__stdout_done("foliot-lab", code);
}
