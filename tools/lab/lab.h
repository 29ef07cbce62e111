// SPDX-License-Identifier: MIT
// lab.h: shared by the commands of foliot-lab: scenes changed by the command line, times in ticks,
// energies, inputs. Commands print and return exit codes; nothing here exits.
#ifndef FOLIOT_TOOLS_LAB_LAB_H
#define FOLIOT_TOOLS_LAB_LAB_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/options.h"
#include "base/text.h"
#include "foliot/foliot.h"

typedef struct lab_context {
    const foliot__program *program;
    const foliot__arguments *arguments;
} lab_context;

// One sentence on stderr, "foliot-lab run: ...", without the hint at --help. Returns `code`.
int lab_fail(const lab_context *context, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The same for a file that cannot be written, with errno's text. Returns the exit code.
int lab_cannot_write(const lab_context *context, const char *file);

// Finds an integrator by name or alias; otherwise false, and a sentence in `message`.
bool lab_integrator(const char *name, foliot_integrator *id, char *message, size_t bytes);
// "0.1", "1e-3" or a ratio "1/60"; above 0 and finite.
bool lab_parse_step(const char *text, double *dt);

// The shortest text that is exact enough: "0.1", "1/60", "0.0123457".
const char *lab_step_text(char text[FOLIOT__REAL_TEXT_BYTES], double dt);

// Sets another integrator and dt (0: the scene's) at the same pace, and checks the scene again.
foliot_status lab_scene_change(foliot_scene *scene, foliot_integrator id, double dt,
                               foliot_error *error);
// Reads a scene, puts the command line's integrator (NULL: the scene's) and dt (0: the scene's)
// into it and checks it again. 0, or the exit code after a sentence on stderr.
int lab_scene_open(const lab_context *context, const char *file, const char *integrator, double dt,
                   foliot_scene **scene);

// The number of ticks of dt in `time`. False if it is not exact; *ticks is then the nearest number.
bool lab_ticks(double time, double dt, uint64_t *ticks);

// -- energy
// |E - E0| / |E0|, or |E - E0| where E0 is 0.
double lab_energy_error(double start, double now);
double lab_energy(const foliot_world *world);
// Whether bodies were in contact in the last step.
bool lab_has_contacts(const foliot_world *world);
// Names what changes the scene's energy: "drag, contacts"; NULL if energy is conserved except for
// the integrator's error. `inputs`: players act. `had_contacts`: bodies have had contacts.
#define LAB_SINKS_BYTES 160
const char *lab_energy_sinks(const foliot_scene *scene, bool inputs, bool had_contacts,
                             char text[LAB_SINKS_BYTES]);

// Name of the body in a slot: its own, "player 3" for a player's, "#7" for one without. In `text`.
const char *lab_body_name(const foliot_scene *scene, const foliot_world *world, uint32_t slot,
                          char text[FOLIOT_NAME_BYTES + 16]);

// Inputs of a run: none, a script (input_script.h) or a recording's.
typedef struct lab_inputs lab_inputs;
// 0, or the exit code after a sentence. Without a file: NULL, which has no inputs.
int lab_inputs_open(const lab_context *context, const char *file, const foliot_scene *scene,
                    lab_inputs **inputs);
// Inputs of random players, who join, act and leave, as `synctest` draws them.
int lab_inputs_draw(const lab_context *context, uint32_t players, uint64_t seed,
                    const foliot_scene *scene, lab_inputs **inputs);
// Inputs of the step from `tick` to `tick` + 1; ticks are requested in order. False with a sentence
// in *message if the recording is damaged there.
bool lab_inputs_at(lab_inputs *inputs, uint64_t tick, const foliot_input **list, uint32_t *count,
                   const char **message);
void lab_inputs_close(lab_inputs *inputs);

// A recording begins with a byte that no line of text does.
bool lab_is_recording(const char *file);
// 0, or the exit code after a sentence.
int lab_recording_open(const lab_context *context, const char *file, foliot_replay **replay);

// Commands of a run: none, lines of JSON (command_json.h) or a recording's. As inputs, above.
typedef struct lab_commands lab_commands;
int lab_commands_open(const lab_context *context, const char *file, const foliot_scene *scene,
                      lab_commands **commands);
// Commands of the step from `tick` to `tick` + 1, into *in.
bool lab_commands_at(lab_commands *commands, uint64_t tick, foliot_tick_inputs *in,
                     const char **message);
void lab_commands_close(lab_commands *commands);

// Orders and messages of players to the rules of a run: nothing, lines of text (session_log.h) or
// a recording's. As inputs, above.
typedef struct lab_orders lab_orders;
int lab_orders_open(const lab_context *context, const char *file, const foliot_scene *scene,
                    lab_orders **orders);
bool lab_orders_at(lab_orders *orders, uint64_t tick, const foliot_order **list, uint32_t *count,
                   const char **message);
void lab_orders_close(lab_orders *orders);

// The rules of the scene's script, run with a scene; NULL, which gives nothing, for a scene
// without. `make` makes an instance, of a scene with one. 0, or the exit code after a sentence.
typedef struct lab_rules lab_rules;
int lab_rules_make(const lab_context *context, const foliot_scene *scene, foliot_rules **rules);
int lab_rules_open(const lab_context *context, const foliot_scene *scene, lab_rules **rules);
// Adds to *in the commands of the last tick.
bool lab_rules_at(lab_rules *rules, foliot_tick_inputs *in, const char **message);
// Runs the rules on the world after its step with *in, and with the orders closed with it.
void lab_rules_tick(lab_rules *rules, const foliot_world *world, const foliot_tick_inputs *in,
                    const foliot_order *orders, uint32_t order_count);
// Orders of a tick, with the shown ticks of players who pressed something, for rules that look
// back. All zero: none yet.
typedef struct lab_said {
    foliot_order *orders;
    uint32_t count, capacity;
} lab_said;
void lab_said_free(lab_said *said);
// Fills the list with the given orders, followed by a random aim for each player who presses
// something. `scene` NULL: no aims, for orders from a file. False without memory.
bool lab_say(lab_said *said, const foliot_scene *scene, uint64_t tick, const foliot_tick_inputs *in,
             const foliot_order *given, uint32_t given_count);
const char *lab_rules_problem(const lab_rules *rules); // why they stopped; ""
uint64_t lab_rules_lost(const lab_rules *rules);       // commands for which ticks had no room
const foliot_recording_rules *lab_rules_recorded(lab_rules *rules);
void lab_rules_close(lab_rules *rules);

// Set by Ctrl-C and SIGTERM once lab_catch_signals was called: runs stop at the next tick. A second
// one ends the program.
void lab_catch_signals(void);
bool lab_interrupted(void);

uint64_t lab_now_ns(void); // for speeds in reports only

// The commands' option tables are filled by main.c.
typedef struct lab_run_options {
    bool json;
    const char *integrator, *dt, *inputs, *commands, *orders, *record, *csv, *jitter;
    uint64_t ticks, every, players, seed;
    double time;
    bool ticks_given, time_given, every_given, no_rules;
} lab_run_options;

typedef struct lab_compare_options {
    bool json;
    const char *integrators, *steps, *reference, *out, *picture, *body, *show;
    double time;
    bool time_given;
} lab_compare_options;

typedef struct lab_synctest_options {
    bool json, players_given, no_rules;
    const char *integrator, *inputs, *commands, *orders, *simulation, *test, *distances;
    uint64_t ticks, players, seed, perturbations, perturb_every;
    bool perturbations_given;
} lab_synctest_options;

int lab_integrators(bool json);
int lab_synctest(const lab_context *context, const char *file, const lab_synctest_options *options);
// `file` NULL: the module's simulation of no configuration.
int lab_synctest_module(const lab_context *context, const char *file,
                        const lab_synctest_options *options);
int lab_check(const lab_context *context, const char *file, bool json);
int lab_run(const lab_context *context, const char *file, const lab_run_options *options);
int lab_compare(const lab_context *context, const char *file, const lab_compare_options *options);
int lab_bench(const lab_context *context, const char *file, bool json, uint64_t bodies);

#endif
