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

static const foliot__option json_table[] = {
    {"json", NULL, FOLIOT__OPTION_FLAG, &json, .help = "JSON on stdout and nothing else"},
    {0},
};
static const foliot__option run_table[] = {
    {"integrator", "NAME", FOLIOT__OPTION_TEXT, &run_options.integrator,
     .help = "instead of the scene's"},
    {"dt", "DT", FOLIOT__OPTION_TEXT, &run_options.dt,
     .help = "instead of the scene's: a number or a ratio such as 1/60"},
    {"ticks", "N", FOLIOT__OPTION_COUNT, &run_options.ticks, .given = &run_options.ticks_given,
     .help = "how many to run (default 600)"},
    {"time", "T", FOLIOT__OPTION_REAL, &run_options.time, .given = &run_options.time_given,
     .help = "how long, in the scene's unit of time; a multiple of dt"},
    {"inputs", "FILE", FOLIOT__OPTION_TEXT, &run_options.inputs,
     .help = "players' inputs: lines of text, or a recording"},
    {"players", "N", FOLIOT__OPTION_COUNT, &run_options.players, .high = FOLIOT_PLAYERS_MAX,
     .help = "random players, who join, act and leave"},
    {"seed", "N", FOLIOT__OPTION_COUNT, &run_options.seed,
     .help = "of the random players (default 1)"},
    {"commands", "FILE", FOLIOT__OPTION_TEXT, &run_options.commands,
     .help = "commands: lines of JSON, or a recording"},
    {"orders", "FILE", FOLIOT__OPTION_TEXT, &run_options.orders,
     .help = "what players say to the rules: lines of text, or a recording"},
    {"no-rules", NULL, FOLIOT__OPTION_FLAG, &run_options.no_rules,
     .help = "leaves out the rules of the scene's script"},
    {"record", "FILE", FOLIOT__OPTION_TEXT, &run_options.record,
     .help = "writes a recording that foliot-replay verifies"},
    {"csv", "FILE", FOLIOT__OPTION_TEXT, &run_options.csv,
     .help = "writes every body's state as rows of numbers; - is stdout"},
    {"every", "K", FOLIOT__OPTION_COUNT, &run_options.every, .low = 1,
     .given = &run_options.every_given, .help = "rows of the CSV only for every K-th tick"},
    {"dt-jitter", "F,seed=N", FOLIOT__OPTION_TEXT, &run_options.jitter,
     .help = "varies dt by up to the share F (time-corrected-verlet)"},
    {"json", NULL, FOLIOT__OPTION_FLAG, &run_options.json, .help = "one JSON object on stdout"},
    {0},
};
static const foliot__option compare_table[] = {
    {"integrators", "A,B,...", FOLIOT__OPTION_TEXT, &compare_options.integrators,
     .help = "to compare; 'all' takes every one that the scene admits"},
    {"dt", "H1,H2,...", FOLIOT__OPTION_TEXT, &compare_options.steps,
     .help = "steps to compare: numbers or ratios such as 1/60"},
    {"time", "T", FOLIOT__OPTION_REAL, &compare_options.time, .given = &compare_options.time_given,
     .help = "how long, in the scene's unit of time (default: 600 of its ticks)"},
    {"reference", "FILE", FOLIOT__OPTION_TEXT, &compare_options.reference,
     .help = "exact positions: what 'run --json' or 'run --csv' wrote (default: computed here)"},
    {"out", "FILE", FOLIOT__OPTION_TEXT, &compare_options.out,
     .help = "report.svg: a picture; report.html: pictures, tables and text"},
    {"picture", "NAME", FOLIOT__OPTION_TEXT, &compare_options.picture,
     .help = "draws one picture in an .svg: energy, work, order or portrait"},
    {"body", "NAME", FOLIOT__OPTION_TEXT, &compare_options.body,
     .help = "of the phase portrait (default: the one with the widest orbit)"},
    {"show", "DT", FOLIOT__OPTION_TEXT, &compare_options.show,
     .help = "step of the plots over time (default: the one nearest to the scene's)"},
    {"json", NULL, FOLIOT__OPTION_FLAG, &compare_options.json, .help = "one JSON object on stdout"},
    {0},
};
static const foliot__option synctest_table[] = {
    {"ticks", "N", FOLIOT__OPTION_COUNT, &synctest_options.ticks, .low = 1,
     .help = "how many to run (default 600)"},
    {"players", "N", FOLIOT__OPTION_COUNT, &synctest_options.players, .high = FOLIOT_PLAYERS_MAX,
     .given = &synctest_options.players_given,
     .help = "random players, who join, act and leave (default 4, or as many as the scene takes)"},
    {"seed", "N", FOLIOT__OPTION_COUNT, &synctest_options.seed,
     .help = "of the random players (default 1)"},
    {"inputs", "FILE", FOLIOT__OPTION_TEXT, &synctest_options.inputs,
     .help = "instead of random players: lines of text, or a recording"},
    {"commands", "FILE", FOLIOT__OPTION_TEXT, &synctest_options.commands,
     .help = "commands: lines of JSON, or a recording"},
    {"orders", "FILE", FOLIOT__OPTION_TEXT, &synctest_options.orders,
     .help = "what players say to the rules: lines of text, or a recording"},
    {"no-rules", NULL, FOLIOT__OPTION_FLAG, &synctest_options.no_rules,
     .help = "leaves out the rules of the scene's script"},
    {"integrator", "NAME", FOLIOT__OPTION_TEXT, &synctest_options.integrator,
     .help = "instead of the scene's"},
    {"simulation", "FILE", FOLIOT__OPTION_TEXT, &synctest_options.simulation,
     .help = "module (.so) with a simulation of its own; SCENE is its configuration then, or "
             "nothing"},
    {"test", "NAME", FOLIOT__OPTION_TEXT, &synctest_options.test,
     .help = "this one alone: replay, sync, serialisation, perturbation or rules"},
    {"distances", "A,B,...", FOLIOT__OPTION_TEXT, &synctest_options.distances,
     .help = "ticks that sync rolls back by, 4 at most (default 1,2,8)"},
    {"perturbations", "N", FOLIOT__OPTION_COUNT, &synctest_options.perturbations,
     .high = UINT32_MAX, .given = &synctest_options.perturbations_given,
     .help = "numbers, and bits, that one perturbation changes (default 256)"},
    {"perturb-every", "N", FOLIOT__OPTION_COUNT, &synctest_options.perturb_every, .low = 1,
     .high = UINT32_MAX, .help = "ticks from one perturbation to the next (default 20)"},
    {"json", NULL, FOLIOT__OPTION_FLAG, &synctest_options.json,
     .help = "one JSON object on stdout"},
    {0},
};
static const foliot__option bench_table[] = {
    {"bodies", "N", FOLIOT__OPTION_COUNT, &bench_bodies, .low = 1, .high = 65536,
     .help = "of the built-in problem (default 256)"},
    {"json", NULL, FOLIOT__OPTION_FLAG, &json, .help = "one JSON object a line"},
    {0},
};

static const foliot__command commands[] = {
    {"integrators", "[--json]", "lists every integrator with its order and its cost.",
     "  foliot-lab integrators\n  foliot-lab integrators --json\n", json_table, 0, 0, NULL},
    {"run",
     "SCENE [--integrator NAME] [--dt DT] [--ticks N | --time T] [--inputs FILE] "
     "[--players N --seed N] [--commands FILE] [--orders FILE] [--no-rules] [--record FILE] "
     "[--csv FILE --every K] [--dt-jitter F,seed=N] [--json]",
     "runs a scene and reports energy, momentum and the bodies at the end.",
     "  foliot-lab run scenes/spring-damper.yaml\n"
     "  foliot-lab run scenes/solar-system.yaml --integrator kahan-li8 --dt 50 --time 200000\n"
     "  foliot-lab run scenes/pendulum.yaml --time 60 --csv pendulum.csv --every 6\n"
     "  foliot-lab run scenes/lunar-lander.yaml --inputs landing.txt --record landing.foliot\n"
     "  foliot-lab run scenes/figure-eight.yaml --json | jq .energy_error_max\n",
     run_table, 1, 1, NULL},
    {"compare",
     "SCENE --integrators A,B,... --dt H1,H2,... [--time T] [--reference FILE] "
     "[--out report.svg|report.html] [--picture NAME] [--body NAME] [--show DT] [--json]",
     "runs several integrators at several steps on one scene and draws what differs.",
     "  foliot-lab compare scenes/solar-system.yaml --integrators leapfrog,rk4,kahan-li8 \\\n"
     "      --dt 400,200,100,50 --time 20000 --out solar.html\n"
     "  foliot-lab compare scenes/figure-eight.yaml --integrators all --dt 1/60,1/120 --out "
     "eight.svg\n",
     compare_table, 1, 1, NULL},
    {"bench", "[SCENE] [--bodies N] [--json]", "measures what a step of each integrator costs.",
     "  foliot-lab bench\n  foliot-lab bench scenes/solar-system.yaml --json\n", bench_table, 0, 1,
     NULL},
    {"synctest",
     "SCENE [--ticks N] [--players N] [--seed N] [--inputs FILE] [--commands FILE] "
     "[--orders FILE] [--no-rules] [--integrator NAME] [--simulation FILE] [--test NAME] "
     "[--distances A,B,...] [--perturbations N] [--perturb-every N] [--json]",
     "tests a scene for lockstep: rolls back, restores and disturbs it at every tick.",
     "  foliot-lab synctest scenes/spacewar.yaml\n"
     "  foliot-lab synctest scenes/cubes.yaml --ticks 300 --json\n"
     "  foliot-lab synctest --simulation ./ring.so\n"
     "  foliot-lab synctest --simulation ./ring.so --test sync --distances 1,30\n",
     synctest_table, 0, 1, NULL},
    {"check", "SCENE [--json]", "checks a scene and names the integrators that it admits.",
     "  foliot-lab check scenes/cloth.yaml\n", json_table, 1, 1, NULL},
    {0},
};

static const foliot__program program = {
    .name = "foliot-lab",
    .summary = "runs and compares integrators on scenes.",
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
