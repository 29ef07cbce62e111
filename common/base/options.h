// SPDX-License-Identifier: MIT
// options.h: the command line of every program: one table of commands and options, read strictly.
// Never prints while it reads, and changes nothing outside of the table's targets.
//
// Options are long ("--dt 0.1" or "--dt=0.1"), mix with operands in any order, and end at "--". A
// value may begin with a minus if it is a number or follows an equals sign. An option that is not
// `TEXTS` may be given once. Every program has --help and --version. A mistake is one sentence on
// stderr and exit status 2; a misspelt option or command names the nearest.
//
// The table is the only place where an option is described: --help, the manual page, options.md and
// the completion of bash and zsh are made from it (`make pages`). A default that the table's target
// holds is printed by all of them, and the range of a number by the pages.
//
//     static double dt;
//     static bool json;
//     static foliot__texts sessions;
//     const foliot__option options[] = {
//         {"dt", "DT", FOLIOT__OPTION_POSITIVE, &dt, .help = "step, in the scene's unit of time"},
//         {"json", NULL, FOLIOT__OPTION_FLAG, &json, .help = "one JSON object on stdout"},
//         {"session", "NAME=SCENE", FOLIOT__OPTION_TEXTS, &sessions, .help = "one more session"},
//         {0}};
//     const foliot__command commands[] = {
//         {"run", "SCENE [options]", "runs a scene", "  lab run ball.yaml", options, 1, 1,
//          .details = "Without `--ticks` it runs 600 ticks."},
//         {0}};
//     const foliot__program lab = {"lab", "runs scenes", examples, commands, fingerprint};
//     foliot__arguments arguments;
//     int code = foliot__options_start(&lab, argc, argv, &arguments);
//     if (code >= 0)
//         return code;
#ifndef FOLIOT_BASE_OPTIONS_H
#define FOLIOT_BASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/exit_code.h"

#define FOLIOT__TEXTS_MAX 256

typedef struct foliot__texts {
    const char *items[FOLIOT__TEXTS_MAX];
    uint32_t count;
} foliot__texts;

typedef enum foliot__option_kind {
    FOLIOT__OPTION_FLAG,     // bool: set to true
    FOLIOT__OPTION_TEXT,     // const char *: not empty, at most `high` bytes (0: no limit)
    FOLIOT__OPTION_TEXTS,    // foliot__texts: the same, repeatable
    FOLIOT__OPTION_COUNT,    // uint64_t within low..high (high 0: no upper bound)
    FOLIOT__OPTION_REAL,     // double within low..high (both 0: any finite number)
    FOLIOT__OPTION_POSITIVE, // double > 0, finite
} foliot__option_kind;

// The caller sets defaults in *to beforehand; it is written only if the option is given.
typedef struct foliot__option {
    const char *name; // without the dashes; NULL ends a table
    // Its placeholder in --help, NULL for a flag: FILE and DIR name files and folders. Words of a
    // list, "snapshot|lockstep", are the only values, unless one of them is in capitals
    // ("off|FILE").
    const char *value;
    foliot__option_kind kind;
    void *to;
    double low, high;
    bool *given;      // may be NULL
    const char *help; // the line of --help: no capital, no full stop
    const char
        *details; // more for the pages: sentences; `code` in backquotes; a blank line divides
} foliot__option;

typedef struct foliot__command {
    const char *name;     // "run"; "" is the command when no other is named; NULL ends a table
    const char *synopsis; // what follows the name
    const char *summary;  // one line
    const char *examples; // whole lines, two blanks before each
    const foliot__option *options;       // may be NULL
    uint32_t operands_min, operands_max; // max UINT32_MAX: any number
    const char *details;                 // as an option's
} foliot__command;

typedef struct foliot__program {
    const char *name;     // "foliot-lab"
    const char *summary;  // one line
    const char *examples; // of the program as a whole
    const foliot__command *commands;
    void (*fingerprint)(char text[33]); // for --version
} foliot__program;

typedef struct foliot__arguments {
    const foliot__command *command;
    char **operands; // inside argv, which is reordered
    uint32_t operand_count;
    char message[512]; // what was wrong
} foliot__arguments;

typedef enum foliot__options_outcome {
    FOLIOT__OPTIONS_RUN,     // all options were read: continue
    FOLIOT__OPTIONS_HELP,    // of arguments->command, of the program if that is NULL
    FOLIOT__OPTIONS_VERSION, // asked for
    FOLIOT__OPTIONS_WRONG,   // arguments->message has the sentence
} foliot__options_outcome;

// Reads, without input or output.
foliot__options_outcome foliot__options_read(const foliot__program *program, int argc, char **argv,
                                             foliot__arguments *arguments);
void foliot__options_help(const foliot__program *program, const foliot__command *command,
                          FILE *out);

// options_page.c: prints the tables in the form of
//   mdoc      the sections SYNOPSIS, COMMANDS and OPTIONS of a manual page
//   markdown  lists of options, with a section for each command
//   bash, zsh completion
// False if there is no such format.
bool foliot__options_page(const foliot__program *program, const char *format, FILE *out);
// The default that an option's target holds, as text; "": none, zero, or a flag.
void foliot__option_default(const foliot__option *option, char *text, size_t capacity);

// Handles --help, --version, mistakes and --help-page FORMAT itself and returns the exit status.
// -1: continue.
int foliot__options_start(const foliot__program *program, int argc, char **argv,
                          foliot__arguments *arguments);

// For rules outside of the table ("--time and --ticks exclude each other"): prints
// "PROGRAM COMMAND: sentence" and the way to --help, returns FOLIOT__EXIT_USAGE.
int foliot__options_wrong(const foliot__program *program, const foliot__arguments *arguments,
                          const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
