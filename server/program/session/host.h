// SPDX-License-Identifier: MIT
// host.h: the sessions of a foliot-server: scenes read, worlds made or resumed, recordings open.
#ifndef FOLIOT_SERVER_HOST_H
#define FOLIOT_SERVER_HOST_H

#include "foliot/recording.h"
#include "foliot/replay.h"
#include "foliot/rules.h"
#include "foliot/scene.h"
#include "foliot/server.h"
#include "module/module.h"

struct foliot__app;

// The allowed range of ticks in a real second.
#define FOLIOT__PACE_HZ_MIN 0.01
#define FOLIOT__PACE_HZ_MAX 100000

// The next scene of a session that has ended.
typedef enum foliot__next {
    FOLIOT__NEXT_NONE,
    FOLIOT__NEXT_OPENS,
    FOLIOT__NEXT_FAILED, // the session is to end for good
} foliot__next;

typedef struct foliot__hosted {
    char name[FOLIOT_NAME_BYTES];
    foliot_scene *scene; // NULL: a simulation that is not a world
    foliot_world *world; // the server's from the moment it is added
    bool served;         // it was added
    foliot_recording *recording;
    char recording_file[512];
    char scene_file[512]; // "": it was resumed
    double pace_hz;
    bool resumed;
    bool lockstep;            // resumed, and hosted so before
    bool suspended;           // its recording is left without an end, to be resumed
    bool ended;               // by itself: a drain does not suspend it
    foliot_recording *former; // rotation.c: the part before, until this one has ticks
    char former_file[512];
    uint64_t recorded_ns; // since when it has this recording; 0: nobody has looked yet
    uint64_t begun_ns;    // since it is hosted
    uint32_t hurried;     // scenes in a row that ended early (next.c)
    foliot__next next;    // next.c
    // of a simulation that is not a world
    const foliot__module *simulation_module;
    foliot_simulation simulation;
    foliot_simulation_terms terms;
    uint8_t *setup;
    size_t setup_bytes;
    // game.c
    foliot_rules *rules;       // NULL: none
    foliot_scene *rules_scene; // their own: they may be made before the scene is known
    char *script;              // text of rules in Lua
    size_t script_bytes;
    uint32_t rules_version;
    foliot_recording_rules recorded_rules;
} foliot__hosted;

typedef struct foliot__host_options {
    const char *record; // NULL: a name with a date
    bool no_record;
    // For recordings that `record` does not name; NULL: the working folder.
    const char *folder;
    const char *integrator;      // NULL: the scene's
    double tick_hz;              // 0: the scene's
    const char *rules;           // file; NULL: none
    bool allows_modules;         // rules in C, and simulations
    const char *simulation;      // module; NULL: worlds
    const foliot_signer *signer; // of recordings; NULL: they are not signed
} foliot__host_options;

// Each returns an exit code; if it is not 0, the reason is printed to stderr.
int foliot__hosted_open(foliot__hosted *hosted, const char *name, const char *file,
                        const foliot__host_options *options);
void foliot__hosted_number(foliot__hosted *hosted, uint64_t number); // NAME becomes NAME-3
void foliot__hosted_destroy_simulation(foliot__hosted *hosted);
uint32_t foliot__hosted_player_limit(const foliot__hosted *hosted);
// Begins the recording, unless it is resumed or not wanted. An unfinished one is renamed.
int foliot__hosted_record(foliot__hosted *hosted, const foliot__host_options *options);
// Renames a recording that a crash left without an end. Reads the file.
int foliot__host_keep_unfinished(const char *file);
int foliot__hosted_resume(foliot__hosted *hosted, const char *file,
                          const foliot__host_options *options);
// game.c: creates the session's rules from a file, or for a resumption from the text in its
// recording, which stays valid; and the recording's data about them (NULL: there are none).
int foliot__hosted_make_rules(foliot__hosted *hosted, const foliot_scene *scene,
                              const foliot__host_options *options);
int foliot__hosted_resume_rules(foliot__hosted *hosted, const foliot_replay_summary *about,
                                const foliot__host_options *options);
const foliot_recording_rules *foliot__hosted_recorded_rules(foliot__hosted *hosted);
void foliot__hosted_destroy_rules(foliot__hosted *hosted);
// Closes the recordings and prints their tick ranges to stdout. All are ended before the first is
// compacted: if the process ends meanwhile, no recording loses its end. Returns an exit code.
int foliot__hosted_close(foliot__hosted *hosted, uint32_t count);

// -- --recordings-minutes: ends a long recording, and begins the next one with the same tick. Each
// one verifies by itself.

// After each update of the server.
void foliot__rotation_update(struct foliot__app *a);
// The session ends or is suspended: a part that was due to end with the next ticks ends now.
void foliot__rotation_finish(struct foliot__app *a, struct foliot__hosted *hosted);

#endif
