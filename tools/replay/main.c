// SPDX-License-Identifier: MIT
// main.c: foliot-replay: checks, shows and compares recordings. Each command has one file.
#include "tool.h"

#include <string.h>

#include "base/file.h"
#include "base/terminal.h"
#include "sim/selftest/fingerprint.h"

typedef int command_function(const foliot__program *program, const foliot__arguments *arguments);

// The columns: name, synopsis, summary, examples, least and most operands, details.
#define COMMANDS_CORE(X)                                                                           \
    X(verify, "FILE... [options]", "replays recordings and compares every digest",                 \
      "  foliot-replay verify match.foliot\n"                                                      \
      "  foliot-replay verify --json --jobs 4 --files-from list.txt\n"                             \
      "  foliot-replay verify match.foliot --perturb 812/solve:crate:velocity.y:1\n",              \
      0, UINT32_MAX,                                                                               \
      "Every keyframe is compared too. It prints one line per file. With --json a line is one "    \
      "object with the keys `file`, `scene`, `integrator`, `dt`, `ticks`, `players`, `digest`, "   \
      "`verdict`, `cut_at`, `first_bad_tick`, `stage`, `body`, `field`, `ulps` and "               \
      "`realtime_factor`. A session with rules has `rules` too, and a simulation that is not a "   \
      "world has its name in `simulation`. `verdict` is `match`, `diverged`, `corrupt`, "          \
      "`unfinished` or `unsupported`. A recording is unfinished if it is being written, or if "    \
      "its writer was stopped: the whole blocks agree. Unknown values are null.")                  \
    X(info, "FILE... [--json]", "prints what a recording holds, without replaying it",             \
      "  foliot-replay info match.foliot\n", 1, UINT32_MAX,                                        \
      "Recordings of other simulations than foliot's world are read too.")                         \
    X(state, "FILE --tick T [--json]", "prints the bodies at a tick",                              \
      "  foliot-replay state match.foliot --tick 3600\n", 1, 1, NULL)                              \
    X(diff, "FILE1 FILE2 [--json]",                                                                \
      "finds the first tick, body and field in which two recordings differ",                       \
      "  foliot-replay diff monday.foliot tuesday.foliot\n", 2, 2,                                 \
      "It also finds the first input, command, order and message that differ, with the player "    \
      "and the field or byte. Where this build replays neither recording to the differing "        \
      "states, the first keyframes after that tick are compared; in JSON they are in the object "  \
      "`keyframes`.")                                                                              \
    X(export, "FILE [--csv] [--what WHAT] [--every K] [--simulation FILE]",                        \
      "writes a recording as a table",                                                             \
      "  foliot-replay export match.foliot --csv --every 60 > bodies.csv\n"                        \
      "  foliot-replay export match.foliot --csv --what inputs\n"                                  \
      "  foliot-replay export match.foliot --what commands\n",                                     \
      1, 1, "The table goes to standard output.")                                                  \
    X(serve, "FILE", "answers the questions of another build (used by compare)",                   \
      "  foliot-replay compare match.foliot --with './other/foliot-replay'\n", 1, 1,               \
      "It uses standard input and output. `compare` starts it.")

#ifdef FOLIOT_REPLAY_CORE
#define COMMANDS_MORE(X)
#else
#define COMMANDS_MORE(X)                                                                           \
    X(compare, "FILE --with COMMAND | --simulation FILE --with-simulation FILE [--json]",          \
      "runs another build next to this one, and finds where they differ",                          \
      "  foliot-replay compare match.foliot --with 'qemu-aarch64-static arm/foliot-replay'\n"      \
      "  foliot-replay compare match.foliot --simulation ./a.so --with-simulation ./b.so\n",       \
      1, 1,                                                                                        \
      "It asks the other build of `foliot-replay` for its states, and names the first tick, "      \
      "stage, body and field in which they differ. If the difference is not in a body, `field` "   \
      "names the player, contact, constraint or part of the world.")                               \
    X(play, "FILE [--tick T] [--speed X] [--view SIDE] [--frame]",                                 \
      "draws a recording in the terminal; pauses, steps and seeks both ways",                      \
      "  foliot-replay play match.foliot\n"                                                        \
      "  foliot-replay play match.foliot --frame --tick 600\n",                                    \
      1, 1,                                                                                        \
      "Space pauses. `,` and `.`, or the arrows, step one tick back and forth. `[` and `]` "       \
      "seek ten seconds, digits seek to that tenth of the recording, Home and End to its ends. "   \
      "`+` and `-` change the speed. `v` looks from another side, `n` names bodies or only "       \
      "players, `r` reverses time, and Esc or `q` leaves.")                                        \
    X(keys, "FILE", "makes a pair of keys, to sign recordings and to check them",                  \
      "  foliot-replay keys arena.key\n"                                                           \
      "  foliot-server --sign arena.key scenes/cubes.yaml\n"                                       \
      "  foliot-replay verify --key arena.key.pub match.foliot\n",                                 \
      1, 1,                                                                                        \
      "FILE gets the secret key, with which `foliot-server` signs recordings, and `FILE.pub` the " \
      "public one. Neither may exist.")                                                            \
    X(report, "FILE... [options]", "folds the lines of verify --json to one table and a page",     \
      "  foliot-replay report shard-*.ndjson --files-from list.txt --page report.html\n", 1,       \
      UINT32_MAX,                                                                                  \
      "The files are of any number of shards. The table has a row for each scene, and the report " \
      "names the worst files. A file that several shards have counts once. The exit status is "    \
      "that of `verify` over all files, or 1 if a file is missing.")                               \
    X(trim, "FILE --out FILE [--from T] [--to T]",                                                 \
      "writes a part of a recording as a new recording",                                           \
      "  foliot-replay trim crashed.foliot --out whole.foliot\n", 1, 1,                            \
      "By default all that is whole of an unfinished recording is written.")
#endif

static const foliot__command commands[] = {
#define ROW(name, synopsis, summary, examples, low, high, details)                                 \
    {#name, synopsis, summary, examples, name##_options, low, high, details},
    COMMANDS_CORE(ROW) COMMANDS_MORE(ROW)
#undef ROW
        {0}};

static const struct {
    const char *name;
    command_function *run;
} functions[] = {
#define ROW(name, synopsis, summary, examples, low, high, details) {#name, name##_command},
    COMMANDS_CORE(ROW) COMMANDS_MORE(ROW)
#undef ROW
};

static const foliot__program program = {
    "foliot-replay", "replays recordings to the same bits, and finds where they differ",
    "  foliot-replay verify match.foliot\n"
    "  foliot-replay info match.foliot\n"
    "  foliot-replay play match.foliot\n",
    commands, foliot__fingerprint_print};

int main(int argc, char **argv)
{
    foliot__arguments arguments;
    if (!foliot__standard_open())
        return FOLIOT__EXIT_ERROR;
    int code = foliot__options_start(&program, argc, argv, &arguments);
    if (code >= 0)
        return code;
    tool_set_command(arguments.command->name);
#ifndef FOLIOT_REPLAY_CORE
    code = tool_load_simulation();
    if (code)
        return code;
#endif
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, arguments.command->name) == 0)
            return foliot__stdout_done("foliot-replay", functions[i].run(&program, &arguments));
    return FOLIOT__EXIT_USAGE;
}
