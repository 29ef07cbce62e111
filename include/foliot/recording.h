// SPDX-License-Identifier: MIT
// recording.h: writes recordings (`.foliot`), which are both replays and crash journals.
// docs/reference/recording.md gives the bytes.
//
// The host (the program that embeds the library) steps its world and then appends the tick.
// Appending never waits: finished blocks go into a bounded queue, from which a thread of the
// recording, or the host itself, writes. If the queue is full or the system refuses to write, the
// recording stops at a whole tick and counts the lost ticks; the world continues.
//
// Threads: a recording is used by one thread of the host at a time.
#ifndef FOLIOT_RECORDING_H
#define FOLIOT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/rules.h"
#include "foliot/scene.h"
#include "foliot/replay.h"
#include "foliot/simulation.h"
#include "foliot/status.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// The format that is written and read.
#define FOLIOT_RECORDING_FORMAT 1

// Features that a reader must support besides the format. The header names them, and a reader
// refuses a recording with a feature that it does not know.
typedef enum foliot_recording_feature {
    FOLIOT_RECORDING_SIMULATION = 1, // of a simulation other than foliot.world
    FOLIOT_RECORDING_RULES = 2,      // the session had rules
    FOLIOT_RECORDING_HISTORY = 4,    // ... that look back: orders say what players aimed at
} foliot_recording_feature;

typedef struct foliot_recording foliot_recording;

// The destination of the bytes. They come in order, without gaps; `write` may accept fewer than
// offered. Negative results are -errno. `sync`, `truncate` and `close` may be NULL. The functions
// are called from the thread that writes.
typedef struct foliot_recording_sink {
    int64_t (*write)(void *user, const void *bytes, size_t count);
    int (*sync)(void *user);
    int (*truncate)(void *user, uint64_t length);
    void (*close)(void *user);
    void *user;
} foliot_recording_sink;

// The rules of a session, as its recording names them and stores their state.
typedef struct foliot_recording_rules {
    const char *name;
    uint32_t version;
    const char *text;  // of a script; NULL: none
    size_t text_bytes; // at most FOLIOT_RULES_SCRIPT_BYTES_MAX
    const char *build; // of what runs the script: "Lua 5.4.4"; NULL: nothing
    // Their state, as foliot_rules_save returns it; stored with each keyframe. `bytes` NULL asks
    // for the length, at most 2^20, or 2^24 for rules that look back. On an error no state is
    // stored with that keyframe. NULL: no state is ever stored.
    foliot_status (*save)(void *user, void *bytes, size_t capacity, size_t *length);
    // For foliot_recording_resume: the state at a keyframe, and then every tick that was recorded
    // after it, with the world as its step left it. It begins at the last keyframe but one: at each
    // keyframe on the way `save` must give the bytes that were stored there. An error ends the
    // resumption. `bytes` NULL: none was stored with that keyframe. NULL: the rules are not run
    // again.
    foliot_status (*restore)(void *user, const void *bytes, size_t length);
    foliot_status (*tick)(void *user, const foliot_rules_view *view);
    // Whether these saved bytes are of rules that the host's clock or memory stopped. Such a state
    // is restored and not compared: rules that are run again may not stop there. NULL: never.
    bool (*stopped_by_host)(void *user, const void *bytes, size_t length);
    void *user;
} foliot_recording_rules;

typedef struct foliot_recording_config {
    uint32_t block_ticks; // a block is closed after this many; a crash can lose as many. 1..65536
    uint32_t keyframe_ticks; // from one keyframe to the next; 0: only one, at the start
    uint32_t digest_ticks;   // from one digest to the next, >= 1
    uint32_t digest_bytes;   // kept of each digest, 4..16; keyframes and the end keep all 16
    // Ticks of a block once the file is closed, 1..65536; 0: blocks stay as they are. The file is
    // replaced by one with fewer blocks and the same content.
    uint32_t compact_ticks;
    uint32_t sync_blocks; // the disk is synced after this many blocks; 0: only at the close
    const foliot_recording_rules *rules; // NULL: none. Copied; texts are lent until it is open
    size_t queue_bytes;                  // maximum of bytes that wait to be written
    bool threaded;             // a thread writes; else the host calls foliot_recording_drain
    foliot_digest fingerprint; // of this build, if the host has it; zero: computed, in milliseconds
    const foliot_signer *signer; // signs all that is written, at every keyframe and at the end;
                                 // lent until the recording is closed. NULL: nothing is signed
} foliot_recording_config;

// 60, 300, 1, 4, 0, 0, no rules, 16 MiB, threaded. The all-zero config is invalid.
foliot_recording_config foliot_recording_config_default(void);

// How far the ticks have come. All are ticks of the world, counted after its step.
typedef struct foliot_recording_state {
    uint64_t first_tick;
    uint64_t appended_tick; // of the last append that was accepted
    uint64_t closed_tick;   // ends the last block handed to the queue
    uint64_t written_tick;  // survives the end of this process
    uint64_t synced_tick;   // survives the end of this machine
    size_t queued_bytes, queued_bytes_max;
    foliot_status stopped; // FOLIOT_STATUS_OK while all is well; FOLIOT_STATUS_FULL: queue,
                           // FOLIOT_STATUS_IO: the system, FOLIOT_STATUS_INVALID: a tick is missing
    int stopped_errno;     // with FOLIOT_STATUS_IO
    uint64_t ticks_lost; // appended after the recording stopped, or in blocks that were not written
    uint64_t input_bytes, digest_bytes;   // handed to the queue; commands and orders are inputs
    uint64_t keyframe_bytes, other_bytes; // written; not all of the file's end is counted
} foliot_recording_state;

// Opens a file for a recording of `simulation` from its current tick on. An existing file is
// replaced. The header has the kind, its version and the setup: a program that knows the kind can
// replay it (docs/reference/recording.md, "Other simulations"). For a world it has the scene: that
// of the hosted world, or the setup where that is NULL. `config` NULL: the default.
// FOLIOT_STATUS_INVALID: the config, or the table of the kind; FOLIOT_STATUS_IO;
// FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_recording_open(const char *file,
                                                      const foliot_simulation *simulation,
                                                      const foliot_recording_config *config,
                                                      foliot_recording **recording);
// The same into a sink, which is copied.
FOLIOT_MUST_CHECK foliot_status foliot_recording_open_sink(const foliot_recording_sink *sink,
                                                           const foliot_simulation *simulation,
                                                           const foliot_recording_config *config,
                                                           foliot_recording **recording);

// Continues a recording, closed or not: the file is cut after its last whole block of ticks and
// appended to. The caller's `simulation` names the kind and the setup that the recording must have
// (foliot_replay_get_summary), and is brought to the tick from which the recording continues: its
// `self` is then another one, and the old one, which may be NULL, is destroyed. For a world, `self`
// is a foliot_hosted_world, and the setup may be NULL: any. Its `world` and `scene` are then new
// ones, which the caller frees (foliot_world_destroy, foliot_scene_destroy); the old ones stay the
// caller's. On an error all stays as it was. FOLIOT_STATUS_UNSUPPORTED: recorded by a build with
// another fingerprint, or of another simulation, version or setup; FOLIOT_STATUS_DIVERGED: this
// build does not replay it to the same digests; FOLIOT_STATUS_CORRUPT: not even its first keyframe
// is whole; FOLIOT_STATUS_AGAIN: another process writes to it; FOLIOT_STATUS_INVALID: the kind's
// table, or a config with rules for a simulation that is not a world; FOLIOT_STATUS_IO;
// FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_recording_resume(const char *file,
                                                        const foliot_recording_config *config,
                                                        foliot_simulation *simulation,
                                                        foliot_recording **recording,
                                                        foliot_error *error);

// Verifies a player's token without containing it, so recordings can be shared. All zero: none.
typedef struct foliot_player_proof {
    uint8_t bytes[16];
} foliot_player_proof;

// A player who was in the session where it was resumed. The sequences of a player's inputs grow;
// the JOIN has the first.
typedef struct foliot_recorded_player {
    uint32_t player;
    char name[FOLIOT_NAME_BYTES];
    foliot_player_proof proof;  // of its token
    foliot_player_proof before; // of the token that this one replaced, while that holds too
    uint32_t join_sequence;     // of its JOIN; 0: not in the recording
    uint32_t sequence;          // of its last input
    uint32_t order_sequence;    // of its last order; 0: none was recorded
    uint32_t orders_aimed;      // of kind FOLIOT_ORDER_AIMED among its orders
} foliot_recorded_player;

typedef struct foliot_resumption {
    uint64_t tick;                   // that it continues from
    bool was_closed;                 // it had been closed
    uint64_t cut_bytes;              // behind the last whole block, a closing block included
    char damage[192];                // why it was cut; "" if nothing was wrong
    char kept_in[512];               // a file that holds the cut bytes if they were many; "": none
    char session[FOLIOT_NAME_BYTES]; // its name as the host noted it; "": not noted
    bool lockstep;                   // its mode, as the host noted it
    const foliot_recorded_player *players; // belong to the recording
    uint32_t player_count;
} foliot_resumption;
// NULL for a recording that was not resumed. Valid until it is closed.
const foliot_resumption *foliot_recording_get_resumption(const foliot_recording *recording);

// Requests a keyframe, with the state of the rules, after the tick that is appended next. For rules
// that the host has stopped, which a replay could not know otherwise.
void foliot_recording_want_keyframe(foliot_recording *recording);

// Notes for a later resumption, written with the block in progress: the session's name and mode; a
// player's name and proof, before its JOIN is appended; the proof of a new token, while the old one
// still holds; and that the player has acknowledged the new token, so that it alone holds. They
// return the status with which the recording stopped.
FOLIOT_MUST_CHECK foliot_status foliot_recording_note_session(foliot_recording *recording,
                                                              const char *name, bool lockstep);
FOLIOT_MUST_CHECK foliot_status foliot_recording_note_player(foliot_recording *recording,
                                                             uint32_t player, const char *name,
                                                             foliot_player_proof proof);
FOLIOT_MUST_CHECK foliot_status foliot_recording_note_token(foliot_recording *recording,
                                                            uint32_t player,
                                                            foliot_player_proof proof);
FOLIOT_MUST_CHECK foliot_status foliot_recording_note_acknowledged(foliot_recording *recording,
                                                                   uint32_t player);

// Appends a tick; call it after every step. `simulation` is as the step left it; `tick` holds the
// inputs and commands (NULL: none), `orders` those closed with the tick, ordered by (player,
// sequence). FOLIOT_STATUS_INVALID: not the tick after the last one, or a command or an order is
// malformed or out of order; the tick may then be appended again without it. If the next tick is
// appended instead, the recording stops. Otherwise the status with which it stopped (then the tick
// is counted as lost). Orders of the kinds 4 and 5, which only rules read, are left out of a
// recording without rules. It never waits, and allocates only to grow.
FOLIOT_MUST_CHECK foliot_status foliot_recording_append(foliot_recording *recording,
                                                        const foliot_simulation *simulation,
                                                        const foliot_tick_inputs *tick,
                                                        const foliot_order *orders,
                                                        uint32_t order_count);
// Notes a message of the rules or the host to one player or FOLIOT_TO_ALL. Call it before appending
// the tick after which the message was sent. A replay does not need it. FOLIOT_STATUS_INVALID: too
// long; FOLIOT_STATUS_FULL: 65,536 in one tick.
FOLIOT_MUST_CHECK foliot_status foliot_recording_note_message(foliot_recording *recording,
                                                              uint32_t player, bool reliable,
                                                              const void *bytes, size_t length);
// Closes the block now, so that all appended ticks are durable as soon as they are written.
FOLIOT_MUST_CHECK foliot_status foliot_recording_flush(foliot_recording *recording);
// Without a thread: writes the waiting blocks. Returns the status with which it stopped, as below.
FOLIOT_MUST_CHECK foliot_status foliot_recording_drain(foliot_recording *recording);
// Waits until all queued blocks are written (and on the disk, if `synced`), or it has stopped.
FOLIOT_MUST_CHECK foliot_status foliot_recording_wait(foliot_recording *recording, bool synced);

foliot_recording_state foliot_recording_get_state(const foliot_recording *recording);

// The three steps of a close, for a host that ends several recordings and may be killed meanwhile:
// flush all of them, end all of them, then compact and close one by one. foliot_recording_close
// takes the steps that remain.
//
// Writes the closing block (total ticks, final digest, index) and syncs. Nothing can be appended
// any more. If the recording has stopped, its status is returned; then there is no closing block.
FOLIOT_MUST_CHECK foliot_status foliot_recording_end(foliot_recording *recording);
// Ends the recording, and replaces the file by one with blocks of `compact_ticks`. FOLIOT_STATUS_OK
// if that is done or not needed (`compact_ticks` is 0, the blocks are long enough, the file is not
// a regular one). On an error the file stays as it was, ended and complete:
// FOLIOT_STATUS_UNSUPPORTED: the file was renamed or has a second hard link; FOLIOT_STATUS_IO;
// FOLIOT_STATUS_MEMORY; the status with which the recording stopped.
FOLIOT_MUST_CHECK foliot_status foliot_recording_compact(foliot_recording *recording);
// Ends the recording, compacts its file, closes it and frees the recording; a failed compaction is
// no error here. *final (may be NULL) receives the last state. If the recording has stopped, its
// status is returned; then the file ends after its last whole block and can be resumed or trimmed.
FOLIOT_MUST_CHECK foliot_status foliot_recording_close(foliot_recording *recording,
                                                       foliot_recording_state *final);
// Frees without a closing block, as a crash would leave the file.
void foliot_recording_abandon(foliot_recording *recording);

#ifdef __cplusplus
}
#endif

#endif
