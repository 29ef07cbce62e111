// SPDX-License-Identifier: MIT
// replay.h: reads recordings, steps through them, verifies that this build computes the same
// states, and checks signatures.
//
// A recording is untrusted input: any fault in it gives a status and a foliot_damage, never a
// crash. Everything before the damage can be replayed.
//
// Threads: a replay is used by one thread at a time.
#ifndef FOLIOT_REPLAY_H
#define FOLIOT_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/digest.h"
#include "foliot/divergence.h"
#include "foliot/rules.h"
#include "foliot/scene.h"
#include "foliot/status.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct foliot_replay foliot_replay;

// The first fault in a recording. FOLIOT_STATUS_OK: none found so far. FOLIOT_STATUS_TRUNCATED:
// unfinished. It ends inside a block, or between blocks without its closing block, or nothing but
// zeros follows: it is being written, or its writer was stopped. FOLIOT_STATUS_CORRUPT: bytes
// differ from what was written. FOLIOT_STATUS_NEWER, FOLIOT_STATUS_UNSUPPORTED: whole, but not for
// this build.
typedef struct foliot_damage {
    foliot_status status;
    uint64_t block;  // number of the damaged block; 0 holds the header
    uint64_t offset; // where it starts: everything before is whole
    char text[192];  // complete: "block 7 at offset 1234: ..."
} foliot_damage;

// The numbers that foliot_replay_scan counts.
typedef struct foliot_replay_counts {
    uint64_t blocks, keyframes, inputs, digests;
    uint64_t commands, orders, messages;
    uint32_t players;                                 // distinct ones that joined
    uint64_t input_bytes, command_bytes, order_bytes; // of their records
    uint64_t digest_bytes, keyframe_bytes;            // the rules' state with the keyframe
    uint64_t header_bytes, other_bytes;               // of block headers; of all else
    uint32_t notes;                                   // "resumed" and the like
    uint32_t records_unknown; // of optional types that this build does not know
} foliot_replay_counts;

typedef struct foliot_replay_summary {
    uint32_t format;                   // FOLIOT_RECORDING_FORMAT
    uint32_t features;                 // bits of foliot_recording_feature
    char kind[FOLIOT_KIND_NAME_BYTES]; // of the simulation: "foliot.world", or another one
    uint32_t rules;                    // its version
    const void *setup;                 // the setup bytes; for a world, its canonical scene
    size_t setup_bytes;
    const foliot_scene *scene; // the replay's; NULL unless the kind is foliot.world
    char integrator[32];
    double dt;
    uint64_t seed;
    foliot_digest fingerprint; // of the build that recorded
    char build[96], version[32];
    char rules_name[FOLIOT_NAME_BYTES]; // of the session's rules; "": none were recorded
    uint32_t rules_version;
    const char *rules_text; // of a script, with a closing zero; NULL where there are no rules
    size_t rules_text_bytes;
    char rules_build[96]; // of what ran it
    uint64_t first_tick;
    uint64_t last_tick; // whole up to here, as far as it was read; after foliot_replay_scan, of all
    bool closed;        // the closing block is there
    foliot_digest final_digest; // if closed
    uint64_t bytes;             // of the file
    foliot_replay_counts counts;
} foliot_replay_summary;

// Opens a recording at its first tick. It must have this kind and version (foliot_world_kind for
// worlds), else FOLIOT_STATUS_UNSUPPORTED. `kind` NULL opens any recording: worlds, and other
// simulations, whose inputs, digests and keyframes can be read but which cannot be stepped. `kind`
// is lent. FOLIOT_STATUS_OK if a header could be read, however damaged the rest is.
// FOLIOT_STATUS_IO: no such file; FOLIOT_STATUS_MEMORY; else the status of the damage, and *damage
// (may be NULL) describes it.
FOLIOT_MUST_CHECK foliot_status foliot_replay_open(const char *file,
                                                   const foliot_simulation_kind *kind,
                                                   foliot_replay **replay, foliot_damage *damage);
// The same from memory, which is lent while the replay is open.
FOLIOT_MUST_CHECK foliot_status foliot_replay_open_bytes(const void *bytes, size_t length,
                                                         const foliot_simulation_kind *kind,
                                                         foliot_replay **replay,
                                                         foliot_damage *damage);
void foliot_replay_close(foliot_replay *replay);

// Sets what the host lends to every step: threads, callbacks. Copied.
void foliot_replay_set_host(foliot_replay *replay, const foliot_host *host);

// Both belong to the replay and stay current.
const foliot_replay_summary *foliot_replay_get_summary(const foliot_replay *replay);
const foliot_damage *foliot_replay_get_damage(const foliot_replay *replay);
// Reads the whole file: every checksum, every record, all counts. Returns the status of the damage.
// The replay stays at its tick.
FOLIOT_MUST_CHECK foliot_status foliot_replay_scan(foliot_replay *replay);

// -- through time

// The world at the current tick. NULL unless the kind is foliot.world.
const foliot_world *foliot_replay_get_world(const foliot_replay *replay);
// The simulation at the current tick, to read and not to step; its `self` is NULL where the kind is
// unknown. Valid until the replay moves.
const foliot_simulation *foliot_replay_get_simulation(const foliot_replay *replay);
uint64_t foliot_replay_get_tick(const foliot_replay *replay);
// One tick forward; the state is then compared with the digest recorded for that tick.
// FOLIOT_STATUS_NOT_FOUND at the end; FOLIOT_STATUS_CORRUPT, FOLIOT_STATUS_TRUNCATED where the
// recording is damaged; FOLIOT_STATUS_UNSUPPORTED where the host has not lent a callback that the
// scene has; FOLIOT_STATUS_DIVERGED where the digest differs: the replay stands at that tick then,
// and a further step continues from the wrong state.
FOLIOT_MUST_CHECK foliot_status foliot_replay_step(foliot_replay *replay);
// One tick back: by the inverse step under reversible-leapfrog, else from a keyframe; to the same
// bits. FOLIOT_STATUS_NOT_FOUND at the first tick.
FOLIOT_MUST_CHECK foliot_status foliot_replay_step_back(foliot_replay *replay);
// To any tick, from the nearest keyframe before it. FOLIOT_STATUS_NOT_FOUND: beyond the recording;
// FOLIOT_STATUS_CORRUPT: the keyframe's bytes do not match the digest stored with them;
// FOLIOT_STATUS_DIVERGED: a digest on the way differs. On an error the replay stays where it was.
FOLIOT_MUST_CHECK foliot_status foliot_replay_seek(foliot_replay *replay, uint64_t tick);

// The inputs of the step from `tick` to `tick` + 1, valid until the next call.
// FOLIOT_STATUS_NOT_FOUND: beyond the recording. The replay stays at its tick, here and below.
FOLIOT_MUST_CHECK foliot_status foliot_replay_get_inputs(foliot_replay *replay, uint64_t tick,
                                                         const foliot_input **inputs,
                                                         uint32_t *count);
// The commands of that step, and the orders closed with it; as above.
FOLIOT_MUST_CHECK foliot_status foliot_replay_get_commands(foliot_replay *replay, uint64_t tick,
                                                           const foliot_command **commands,
                                                           uint32_t *count);
FOLIOT_MUST_CHECK foliot_status foliot_replay_get_orders(foliot_replay *replay, uint64_t tick,
                                                         const foliot_order **orders,
                                                         uint32_t *count);
// The recorded bytes of the digest of `tick`: returns how many of the 16 (high first, most
// significant byte first), 0 if none was recorded.
uint32_t foliot_replay_get_digest(foliot_replay *replay, uint64_t tick, uint8_t bytes[16]);
// The keyframe that was recorded at `tick`, NULL if there is none. Valid until the next call.
const uint8_t *foliot_replay_get_keyframe(foliot_replay *replay, uint64_t tick, size_t *length);
// The state of the session's rules that was recorded with that keyframe; NULL if there is none.
const uint8_t *foliot_replay_get_rules_state(foliot_replay *replay, uint64_t tick, size_t *length);

// -- comparing

typedef struct foliot_verdict {
    // FOLIOT_STATUS_OK: all agree. FOLIOT_STATUS_DIVERGED. FOLIOT_STATUS_CORRUPT: the recording is
    // damaged. FOLIOT_STATUS_TRUNCATED: it is unfinished, and all that is whole agrees.
    // FOLIOT_STATUS_UNSUPPORTED: not for this build.
    // FOLIOT_STATUS_INVALID: no such perturbation.
    foliot_status status;
    uint64_t ticks;       // that were replayed and agree
    foliot_digest digest; // of the state after them
    bool digest_known;
    uint64_t cut_at; // if damaged or unfinished: the file is whole up to this offset
    // If DIVERGED. Also if a keyframe is wrong and the replay agrees up to it: then `expected` is
    // the keyframe's.
    foliot_divergence divergence;
    foliot_damage damage;
} foliot_verdict;

// Replays from the first tick and compares every digest and keyframe. `perturbation` NULL: none.
// The replay is left at the last tick replayed. FOLIOT_STATUS_OK whenever there is a verdict.
FOLIOT_MUST_CHECK foliot_status foliot_replay_verify(foliot_replay *replay,
                                                     const foliot_perturbation *perturbation,
                                                     foliot_verdict *verdict);

// -- keys and signatures
//
// Signatures of recordings (Ed25519, RFC 8032). A signature shows which key signed, and that
// nothing was changed, inserted or cut off since. docs/reference/recording.md, "Signatures", gives
// the bytes, docs/SECURITY.md what they prove and what they do not.

#define FOLIOT_KEY_BYTES 32
#define FOLIOT_KEY_TEXT_BYTES (2 * FOLIOT_KEY_BYTES + 1)

// A secret key. Any number of recordings, of any threads, may use it at the same time.
typedef struct foliot_signer foliot_signer;
// Makes a signer from a seed: 32 bytes that nobody else knows. They are copied.
FOLIOT_MUST_CHECK foliot_status foliot_signer_create(const uint8_t seed[FOLIOT_KEY_BYTES],
                                                     foliot_signer **signer);
// Overwrites and frees it. NULL is allowed.
void foliot_signer_destroy(foliot_signer *signer);
// The public key, for verification. Valid as long as the signer.
const uint8_t *foliot_signer_get_key(const foliot_signer *signer);

// Makes a pair of keys and writes it to two files of one line each. `file` gets the secret key and
// is readable by its owner only; `file`.pub gets the public key. Neither may exist.
// FOLIOT_STATUS_IO; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_signer_write_new(const char *file, foliot_error *error);
// Reads the secret key from such a file. FOLIOT_STATUS_INVALID: not such a file, or others may read
// it; FOLIOT_STATUS_IO; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_signer_read(const char *file, foliot_signer **signer,
                                                   foliot_error *error);
// Reads a public key: `text` names a file, or is the 64 hexadecimal digits themselves.
FOLIOT_MUST_CHECK foliot_status foliot_signature_read_key(const char *text,
                                                          uint8_t key[FOLIOT_KEY_BYTES],
                                                          foliot_error *error);
void foliot_signature_print_key(const uint8_t key[FOLIOT_KEY_BYTES],
                                char text[FOLIOT_KEY_TEXT_BYTES]);

// The result of checking a recording's signatures. All signatures counted here are valid.
typedef struct foliot_signature_summary {
    uint32_t signatures;
    uint8_t key[FOLIOT_KEY_BYTES]; // of the last one
    bool one_key;                  // all are by that key
    uint64_t first_tick;           // of the recording
    uint64_t signed_tick;          // everything up to this tick is signed
    uint64_t last_tick;            // of the recording, as far as it is whole
    // The recording was closed, and the last signature covers all of it. If false, the end may have
    // been cut off, or data appended after the signed part.
    bool whole;
} foliot_signature_summary;

// Reads all of the file. FOLIOT_STATUS_OK: it has signatures, and all are valid;
// FOLIOT_STATUS_NOT_FOUND: none; FOLIOT_STATUS_CORRUPT: one does not match the data before it (then
// *damage names its block), or the file is damaged before the first; FOLIOT_STATUS_TRUNCATED,
// FOLIOT_STATUS_NEWER, FOLIOT_STATUS_UNSUPPORTED, FOLIOT_STATUS_IO, FOLIOT_STATUS_MEMORY: as
// foliot_replay_open. Damage after a signature only ends the reading: `whole` is false. `damage`
// may be NULL.
FOLIOT_MUST_CHECK foliot_status foliot_signature_check(const char *file,
                                                       foliot_signature_summary *summary,
                                                       foliot_damage *damage);

#ifdef __cplusplus
}
#endif

#endif
