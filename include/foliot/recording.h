// SPDX-License-Identifier: MIT
// recording.h: writes recordings (`.foliot`, docs/RECORDING.md): both replay and crash journal.
//
// The host steps its world and then appends the tick. Appending never waits: finished blocks go
// into a bounded queue, from which a thread (or the host itself) writes. Where the queue is full or
// the disk refuses, the recording stops at a whole tick, counts what it lost, and the world goes
// on.
#ifndef FOLIOT_RECORDING_H
#define FOLIOT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/input.h"
#include "foliot/scene.h"
#include "foliot/simulation.h"
#include "foliot/status.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_RECORDING_FORMAT 1

typedef struct foliot_recording foliot_recording;

// Where bytes go. Offsets grow without holes; `write` may take fewer bytes than offered.
// A negative result is -errno. `truncate` and `sync` may be NULL; `close` may be NULL.
typedef struct foliot_recording_sink {
    int64_t (*write)(void *user, const void *bytes, size_t count);
    int (*sync)(void *user);
    int (*truncate)(void *user, uint64_t length);
    void (*close)(void *user);
    void *user;
} foliot_recording_sink;

typedef struct foliot_recording_config {
    uint32_t
        block_ticks; // a block is closed after this many ticks: what a crash can lose. 1..65536
    uint32_t keyframe_ticks; // ticks between keyframes; 0: only the one at the start
    uint32_t digest_ticks;   // ticks between digests, >= 1
    uint32_t digest_bytes;   // kept of each of them, 4..16; keyframes and the end keep all 16
    uint32_t
        sync_blocks; // ask the disk to keep what was written after this many; 0: at the close alone
    size_t queue_bytes;        // bound of what waits to be written
    bool threaded;             // a thread writes; else the host calls foliot_recording_drain
    foliot_digest fingerprint; // of this build, if the host knows it; zero: asked for, which takes
                               // milliseconds
} foliot_recording_config;

// 60, 300, 1, 8, 0, 16 MiB, threaded. The all-zero config is invalid.
foliot_recording_config foliot_recording_config_default(void);

// What became of the ticks. `appended` counts in ticks of the world: the tick after the last step
// taken.
typedef struct foliot_recording_state {
    uint64_t first_tick;
    uint64_t appended_tick; // of the last append that was taken
    uint64_t closed_tick;   // ends the last block handed to the queue
    uint64_t written_tick;  // survives the end of this process
    uint64_t synced_tick;   // survives the end of this machine
    size_t queued_bytes, queued_bytes_max;
    foliot_status stopped; // FOLIOT_STATUS_OK while all is well; FOLIOT_STATUS_FULL: queue,
                           // FOLIOT_STATUS_IO: the system
    int stopped_errno;     // with FOLIOT_STATUS_IO
    uint64_t ticks_lost; // appended after the recording stopped, or in blocks that were not written
    uint64_t input_bytes, digest_bytes, keyframe_bytes, other_bytes; // handed to the queue
} foliot_recording_state;

// Starts a recording of `world`, at the tick that it has. `scene` is what the world was made from,
// after every change (integrator, dt, seed) that the host made; `capacities` NULL where the world
// was made with foliot_world_config_default(scene). An existing file is replaced. `config` NULL:
// the default.
foliot_status foliot_recording_open(const char *file, const foliot_scene *scene,
                                    const foliot_world_config *capacities,
                                    const foliot_world *world,
                                    const foliot_recording_config *config,
                                    foliot_recording **recording);
// The same into a sink, which is copied.
foliot_status
foliot_recording_open_sink(const foliot_recording_sink *sink, const foliot_scene *scene,
                           const foliot_world_config *capacities, const foliot_world *world,
                           const foliot_recording_config *config, foliot_recording **recording);

// The same for any simulation (docs/RECORDING.md, "Other simulations"): its kind, version and setup
// stand in the header, and whoever knows the kind can replay it. A foliot.world is recorded as
// above.
foliot_status foliot_recording_open_simulation(const char *file,
                                               const foliot_simulation *simulation,
                                               const foliot_recording_config *config,
                                               foliot_recording **recording);
foliot_status foliot_recording_open_simulation_sink(const foliot_recording_sink *sink,
                                                    const foliot_simulation *simulation,
                                                    const foliot_recording_config *config,
                                                    foliot_recording **recording);

// Goes on with a recording that ended early (or in order): FILE is cut after its last whole block
// of ticks and appended to. *world is a new one, replayed to that tick (free with
// foliot_world_destroy), *scene what it was made from (free with foliot_scene_destroy).
// FOLIOT_STATUS_UNSUPPORTED if it was recorded by a build of another fingerprint,
// FOLIOT_STATUS_DIVERGED if this one does not replay it nevertheless, FOLIOT_STATUS_CORRUPT if not
// even its first keyframe is whole, FOLIOT_STATUS_AGAIN if another process writes to it; `problem`
// (may be NULL) then holds a sentence.
foliot_status foliot_recording_resume(const char *file, const foliot_recording_config *config,
                                      foliot_recording **recording, foliot_scene **scene,
                                      foliot_world **world, char *problem, size_t problem_bytes);

// Shows that a token, by which a player is known to its host, is the right one without being it: a
// recording may be handed around. All zero: none.
typedef struct foliot_player_proof {
    uint8_t bytes[16];
} foliot_player_proof;

// Who was in the session where it was resumed. Inputs of a player have growing sequences, of which
// the JOIN has the first.
typedef struct foliot_recorded_player {
    uint32_t player;
    char name[FOLIOT_NAME_BYTES];
    foliot_player_proof proof,
        before;             // of its token; of the one that this replaced, while that holds too
    uint32_t join_sequence; // of its JOIN, 0: not in the recording
    uint32_t sequence;      // of its last input
} foliot_recorded_player;

typedef struct foliot_resumption {
    uint64_t tick;      // that it goes on from
    bool was_closed;    // it had ended in order
    uint64_t cut_bytes; // behind the last whole block; a closing block's too
    char damage[192];   // why; "" if nothing was wrong
    char kept_in[512];  // file that holds the cut-off bytes if they were many; "": none
    char session[FOLIOT_NAME_BYTES]; // as the host noted it; "": it did not
    bool lockstep;                   // so it was hosted
    const foliot_recorded_player *players;
    uint32_t player_count;
} foliot_resumption;
// NULL for a recording that was not resumed. Valid until it is closed.
const foliot_resumption *foliot_recording_get_resumption(const foliot_recording *recording);

// Notes for whoever resumes, with the block in progress: the session's name and mode; who a player
// is, before the JOIN is appended; that it was given another token, and that only this one holds
// from now on.
foliot_status foliot_recording_note_session(foliot_recording *recording, const char *name,
                                            bool lockstep);
foliot_status foliot_recording_note_player(foliot_recording *recording, uint32_t player,
                                           const char *name, foliot_player_proof proof);
foliot_status foliot_recording_note_token(foliot_recording *recording, uint32_t player,
                                          foliot_player_proof proof);
foliot_status foliot_recording_note_acknowledged(foliot_recording *recording, uint32_t player);

// After every step: `world` as the step left it, and the inputs that the step was given.
// FOLIOT_STATUS_OK; FOLIOT_STATUS_INVALID if this is not the tick after the last; else what the
// recording stopped with (the tick is counted as lost, and the host goes on). Waits for nothing and
// allocates only to grow.
foliot_status foliot_recording_append(foliot_recording *recording, const foliot_world *world,
                                      const foliot_input *inputs, uint32_t count);
foliot_status foliot_recording_append_simulation(foliot_recording *recording,
                                                 const foliot_simulation *simulation,
                                                 const foliot_input *inputs, uint32_t count);
// Closes the block now, so that all appended ticks become durable as soon as they are written.
foliot_status foliot_recording_flush(foliot_recording *recording);
// Without a thread: writes what waits. FOLIOT_STATUS_OK, or what the recording stopped with.
foliot_status foliot_recording_drain(foliot_recording *recording);
// Waits until everything handed over is written (and synced, if `synced`), or the recording
// stopped.
foliot_status foliot_recording_wait(foliot_recording *recording, bool synced);

foliot_recording_state foliot_recording_get_state(const foliot_recording *recording);

// Writes the closing block (total ticks, final digest, index), syncs, closes and frees. `final` may
// be NULL; else it is given the last state. FOLIOT_STATUS_OK, or what the recording stopped with:
// then the file ends after its last whole block, without a closing block, and can be resumed or
// trimmed.
foliot_status foliot_recording_close(foliot_recording *recording, foliot_recording_state *final);
// Frees without a closing block, as a crash would leave the file.
void foliot_recording_abandon(foliot_recording *recording);

#ifdef __cplusplus
}
#endif

#endif
