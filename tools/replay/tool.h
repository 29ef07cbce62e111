// SPDX-License-Identifier: MIT
// tool.h: shared by the commands of foliot-replay. Built with FOLIOT_REPLAY_CORE the program has
// only the commands that need nothing but libc: verify, info, state, diff, export, serve.
#ifndef FOLIOT_TOOLS_REPLAY_TOOL_H
#define FOLIOT_TOOLS_REPLAY_TOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/exit_code.h"
#include "base/options.h"
#include "foliot/recording.h"
#include "foliot/replay.h"
#include "divergence/perturb.h"

#ifdef FOLIOT_REPLAY_CORE
#define SIMULATION_OPTION
#else
#include "module/module.h"
#include "foliot/simulation.h"
// In the table of every command that supports simulations other than worlds.
#define SIMULATION_OPTION                                                                          \
    {"simulation",                                                                                 \
     "FILE",                                                                                       \
     FOLIOT__OPTION_TEXT,                                                                          \
     &tool_simulation_file,                                                                        \
     .help = "module (.so) of the simulation that was recorded",                                   \
     .details = "Recordings of other simulations than foliot's world are replayed with it. The "   \
                "module runs with all rights of this program. `state` then prints parts and "      \
                "fields, `play` draws what the module draws, and `export` has parts instead of "   \
                "bodies."},
extern const foliot__module *tool_module; // NULL: worlds
// Loads the module that --simulation names, if any. 0 or an exit code, with a sentence on stderr.
int tool_load_simulation(void);
// The terms that the module states for the replay's simulation; a pace of zero if it states none.
foliot_simulation_terms tool_terms(const foliot_replay_summary *about);
#endif
extern const char *tool_simulation_file;

// Each command is one function with its option table. They return an exit status.
extern const foliot__option verify_options[], info_options[], state_options[], diff_options[],
    export_options[], serve_options[], play_options[], compare_options[], trim_options[],
    keys_options[], report_options[];
int verify_command(const foliot__program *program, const foliot__arguments *arguments);
int info_command(const foliot__program *program, const foliot__arguments *arguments);
int state_command(const foliot__program *program, const foliot__arguments *arguments);
int diff_command(const foliot__program *program, const foliot__arguments *arguments);
int export_command(const foliot__program *program, const foliot__arguments *arguments);
int serve_command(const foliot__program *program, const foliot__arguments *arguments);
int play_command(const foliot__program *program, const foliot__arguments *arguments);
int compare_command(const foliot__program *program, const foliot__arguments *arguments);
int keys_command(const foliot__program *program, const foliot__arguments *arguments);
int report_command(const foliot__program *program, const foliot__arguments *arguments);
int trim_command(const foliot__program *program, const foliot__arguments *arguments);

// "foliot-replay COMMAND: WHAT: sentence" on stderr; WHAT is a file or an option.
void tool_set_command(const char *name);
__attribute__((format(printf, 2, 3))) void tool_complain(const char *what, const char *format, ...);

// The whole text of a file, a pipe, or "-" for stdin, to be freed. NULL: the error was reported.
char *tool_read_lines(const char *file, size_t *length);

// Opens a recording: of a world, or of the simulation that --simulation names. On failure it prints
// the reason on stderr and sets *exit_code.
foliot_replay *tool_open(const char *file, int *exit_code);
// Also opens recordings of simulations that this program does not know: they can be inspected, but
// not stepped. No scene is made.
foliot_replay *tool_look(const char *file, int *exit_code);
int tool_exit_of(foliot_status status);
// The same for data read from an open recording: an unfinished one is not damaged.
int tool_exit_of_part(foliot_status status);
#define TOOL_UNFINISHED "unfinished (it is being written, or its writer was stopped)"
// Prints a recording's damage on stderr, if it has one.
void tool_tell_damage(const char *file, const foliot_replay *replay);
// Reports that this build does not replay the recording to the same bits.
void tool_tell_divergence(const char *file, uint64_t tick);

// The kind that --simulation names; NULL: worlds.
const foliot_simulation_kind *tool_kind(void);

// This build's fingerprint, as it counts for a recording; and whether another one matches it.
foliot_digest tool_fingerprint(const foliot_replay_summary *about);
bool tool_fingerprint_fits(const foliot_replay_summary *about, foliot_digest other);

// The name of a body in the scene, or NULL; and a label that is never NULL: `3 "crate"`.
const char *tool_body_name(const foliot_scene *scene, uint32_t body);
#define BODY_LABEL_BYTES (FOLIOT_NAME_BYTES + 16)
void tool_body_label(const char *name, uint32_t body, char label[BODY_LABEL_BYTES]);
// By name, otherwise by index. FOLIOT_NO_BODY if it is neither.
uint32_t tool_find_body(const foliot_scene *scene, const char *text);

// A fault of the user's choice; the body is looked for in each scene.
typedef foliot__perturb_request perturb_request;
// Parses `text` of --perturb, NULL: none. *request then has the fault of a world; the kind has that
// of a module. NULL, or the error in the text.
const char *tool_plant(const char *text, perturb_request *request);

// The names of players and bodies in a divergence of the recording `about`. `unknown` may be NULL.
foliot_divergence_labels tool_names(const char *title, const foliot_replay_summary *about,
                                    const foliot_divergence *divergence, const char *expected,
                                    const char *actual);
void tool_report(FILE *out, const foliot_divergence *divergence,
                 const foliot_divergence_labels *names);

double tool_now(void); // seconds, of a clock that never goes back
void tool_digest_text(const uint8_t *bytes, uint32_t count, char text[33]);

// state.c: rows of tick, part, index, field, value, of a simulation other than a world. On stdout.
void parts_put_csv(const foliot_simulation *simulation);

#endif
