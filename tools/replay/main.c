// SPDX-License-Identifier: MIT
// main.c: foliot-replay: recordings checked, looked at, compared. One file a command.
#include "tool.h"

#include <string.h>

#include "base/file.h"
#include "base/terminal.h"
#include "sim/selftest/fingerprint.h"

typedef int command_function(const foliot__program *program, const foliot__arguments *arguments);

#define COMMANDS_CORE(X)                                                                           \
    X(verify, "FILE... [options]", "replays recordings and compares every digest",                 \
      "  foliot-replay verify match.foliot\n"                                                      \
      "  foliot-replay verify --json --jobs 4 --files-from list.txt\n"                             \
      "  foliot-replay verify match.foliot --perturb 812/solve:crate:velocity.y:1\n",              \
      0, UINT32_MAX)                                                                               \
    X(info, "FILE... [--json]", "what a recording holds, without replaying it",                    \
      "  foliot-replay info match.foliot\n", 1, UINT32_MAX)                                        \
    X(state, "FILE --tick T [--json]", "the bodies at a tick",                                     \
      "  foliot-replay state match.foliot --tick 3600\n", 1, 1)                                    \
    X(diff, "A B [--json]", "the first tick, body and field in which two recordings differ",       \
      "  foliot-replay diff monday.foliot tuesday.foliot\n", 2, 2)                                 \
    X(export, "FILE [--csv] [--what WHAT]", "a recording as a table",                              \
      "  foliot-replay export match.foliot --csv --every 60 > bodies.csv\n"                        \
      "  foliot-replay export match.foliot --csv --what inputs\n"                                  \
      "  foliot-replay export match.foliot --what commands\n",                                     \
      1, 1)                                                                                        \
    X(serve, "FILE", "answers another build's questions (used by compare)",                        \
      "  foliot-replay compare match.foliot --with './other/foliot-replay'\n", 1, 1)

#ifdef FOLIOT_REPLAY_CORE
#define COMMANDS_MORE(X)
#else
#define COMMANDS_MORE(X)                                                                           \
    X(compare, "FILE --with COMMAND | --with-simulation FILE [--json]",                            \
      "runs another build beside this one",                                                        \
      "  foliot-replay compare match.foliot --with 'qemu-aarch64-static arm/foliot-replay'\n"      \
      "  foliot-replay compare match.foliot --simulation ./a.so --with-simulation ./b.so\n",       \
      1, 1)                                                                                        \
    X(play, "FILE [--tick T] [--speed X] [--view SIDE] [--frame]",                                 \
      "draws it in the terminal; pause, step, seek both ways",                                     \
      "  foliot-replay play match.foliot\n"                                                        \
      "  foliot-replay play match.foliot --frame --tick 600\n",                                    \
      1, 1)                                                                                        \
    X(keys, "FILE", "a new pair of keys, to sign recordings and to check them",                    \
      "  foliot-replay keys arena.key\n"                                                           \
      "  foliot-server --sign arena.key scenes/cubes.yaml\n"                                       \
      "  foliot-replay verify --key arena.key.pub match.foliot\n",                                 \
      1, 1)                                                                                        \
    X(report, "FILE... [options]", "folds the lines of verify --json to one table and a page",     \
      "  foliot-replay report shard-*.ndjson --files-from list.txt --page report.html\n", 1,       \
      UINT32_MAX)                                                                                  \
    X(trim, "FILE --out NEW [--from T] [--to T]", "a part of a recording as one of its own",       \
      "  foliot-replay trim crashed.foliot --out whole.foliot\n", 1, 1)
#endif

static const foliot__command commands[] = {
#define ROW(name, synopsis, summary, examples, low, high)                                          \
    {#name, synopsis, summary, examples, name##_options, low, high, NULL},
    COMMANDS_CORE(ROW) COMMANDS_MORE(ROW)
#undef ROW
        {0}};

static const struct {
    const char *name;
    command_function *run;
} functions[] = {
#define ROW(name, synopsis, summary, examples, low, high) {#name, name##_command},
    COMMANDS_CORE(ROW) COMMANDS_MORE(ROW)
#undef ROW
};

static const foliot__program program = {
    "foliot-replay", "replays recordings to the same bits, and finds where they are not",
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
