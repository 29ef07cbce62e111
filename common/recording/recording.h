// SPDX-License-Identifier: MIT
// recording.h: a recording in progress, shared by recording.c (the host's side), drain.c (the
// writing side) and resume.c.
#ifndef FOLIOT_RECORDING_RECORDING_H
#define FOLIOT_RECORDING_RECORDING_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/recording.h"
#include "foliot/replay.h"
#include "foliot/status.h"
#include "recording/encoder.h"
#include "recording/session_log.h"
#include "recording/signature.h"

// -- the ring

// A bounded lock-free ring of bytes from one thread to another. The writing side never waits.

// `put` and `taken` count bytes since the start; each is changed by one side alone. Bytes that are
// put into an empty ring go to its beginning, so that it touches only the memory of its peak fill.
typedef struct foliot__ring {
    uint8_t *bytes;
    size_t capacity;
    uint64_t origin; // the count at which its memory begins; changed by the putting side while the
                     // ring is empty
    _Atomic uint64_t put, taken;
} foliot__ring;

bool foliot__ring_init(foliot__ring *ring, size_t capacity);
void foliot__ring_free(foliot__ring *ring);

size_t foliot__ring_used(const foliot__ring *ring);
// The writing side: puts both parts completely, or nothing (false).
bool foliot__ring_put(foliot__ring *ring, const void *first, size_t first_count, const void *second,
                      size_t second_count);
// The reading side: copies without removing; `count` bytes must be there.
void foliot__ring_peek(const foliot__ring *ring, void *out, size_t count);
// The longest piece that lies in one stretch from `skip` on, at most `count`.
const uint8_t *foliot__ring_piece(const foliot__ring *ring, size_t skip, size_t count,
                                  size_t *length);
void foliot__ring_drop(foliot__ring *ring, size_t count);

// Entries of the ring: one of these and `length` bytes for each block to be written.
enum foliot__queued_kind {
    FOLIOT__QUEUED_TICKS,    // records, as they are
    FOLIOT__QUEUED_KEYFRAME, // a state, then `rules_bytes` of the rules' and `note_bytes` of
                             // records
    FOLIOT__QUEUED_CLOSING,  // nothing
};
typedef struct foliot__queued {
    enum foliot__queued_kind kind;
    uint32_t length, rules_bytes, note_bytes;
    uint64_t tick; // that the recording reaches with the block
    foliot_digest digest;
} foliot__queued;

// The writing side: makes blocks of the ring's entries, and compresses keyframes. Only atomics are
// read by the host's side while it runs.
typedef struct foliot__drain {
    foliot_recording_sink sink;
    foliot__ring ring;
    uint64_t length;       // of the file, up to the last whole block
    uint32_t block_number; // of the next block
    uint64_t (*index)[2];  // tick and offset of every keyframe block
    uint32_t index_count, index_capacity;
    foliot__keyframe_encoder keyframes;
    const foliot_signer *signer; // NULL: nothing is signed
    foliot__signed_chain chain;  // of what was written, if it is
    foliot__buffer state, block; // a keyframe's bytes; the block in progress
    char *file;                  // to be compacted when it is closed; NULL: none
    uint32_t compact_ticks;      // of its blocks then; 0: it stays as it is
    foliot_status compaction;    // the result of compaction
    _Atomic uint64_t keyframe_bytes, other_bytes;
    uint32_t sync_blocks, blocks_unsynced;
    _Atomic uint64_t written_tick, synced_tick;
    _Atomic int stopped_errno; // 0 while all is well
    _Atomic bool sync_asked;

    bool threaded;
    pthread_t thread;
    sem_t work;
    pthread_mutex_t
        mutex; // with `progress`, for waiting callers; the appending side never locks it
    pthread_cond_t progress;
    _Atomic bool quit;
    bool finished; // without thread, ring and sink
} foliot__drain;

struct foliot_recording {
    foliot_recording_config config;
    foliot__recording_encoder encoder;
    foliot__drain drain;
    foliot__buffer capture;
    uint64_t keyframe_tick;       // of the last one
    uint64_t seen_tick;           // of the last append, taken or not
    foliot_digest digest;         // of the last tick appended
    bool full;                    // the queue was, and nothing is taken any more
    bool skipped;                 // a tick was, and nothing is taken any more
    bool keyframe_wanted;         // behind the next tick
    bool rules_saved;             // a keyframe of this opening has their state
    uint32_t late_keyframes;      // before, for want of time
    uint32_t features;            // of the file
    uint32_t rules_bytes_max;     // of their state
    foliot_recording_rules rules; // of them `save` and `user` alone are used
    bool ended;                   // nothing is appended any more
    foliot_recording_state state;
    foliot_resumption resumption;
    foliot__journal *journal; // of what was resumed, NULL: nothing
};

// Everything of `count` bytes now; 0 or an errno.
int foliot__sink_write(const foliot_recording_sink *sink, const void *bytes, size_t count);
// `tick`: the tick that the sink has reached; length, block_number and index are set before.
foliot_status foliot__drain_start(foliot__drain *drain, const foliot_recording_sink *sink,
                                  const foliot_recording_config *config, size_t queue_bytes,
                                  uint64_t tick);
void foliot__drain_wake(foliot__drain *drain);
// Writes the waiting entries, in the caller's thread.
void foliot__drain_run(foliot__drain *drain);
// Waits until the ring is empty (and synced, if requested), or the drain has stopped.
void foliot__drain_wait(foliot__drain *drain, bool synced);
// Compacts the file to blocks of `compact_ticks` (0: leaves it as it is), ends the thread and
// closes the sink. Does nothing the second time.
void foliot__drain_finish(foliot__drain *drain, uint32_t compact_ticks);
// Frees the rest; also of a drain that was never started.
void foliot__drain_free(foliot__drain *drain);

// A sink that is the file; FOLIOT_STATUS_IO if it cannot be opened, FOLIOT_STATUS_AGAIN if another
// process writes to it. `create`: empty, else as it is, at its end.
foliot_status foliot__file_sink(const char *file, bool create, foliot_recording_sink *sink);
// The file's path, by which it can be compacted, for the caller to free; NULL for what is no
// regular file, or without memory.
char *foliot__file_sink_path(const foliot_recording_sink *sink, const char *file);
// Whether `file` is still the name of what the sink writes to.
bool foliot__file_sink_is(const foliot_recording_sink *sink, const char *file);

// Sets the features of the file, and the values that follow from them. `scene` NULL: no world.
void foliot__recording_set_features(foliot_recording *recording, uint32_t features,
                                    const foliot_scene *scene);
// The common part of beginning and resuming: everything except the file's present content.
foliot_status foliot__recording_new(const foliot_recording_config *config,
                                    const foliot_simulation *simulation,
                                    foliot_recording **recording);
void foliot__recording_free(foliot_recording *recording); // what foliot__recording_new made
// How many bytes `save` will return. Rules whose state cannot be saved stop, and their state then
// records that.
foliot_status foliot__recording_measure_rules(const foliot_recording_rules *rules, size_t *length);
// The status with which it stopped.
foliot_status foliot__recording_status(const foliot_recording *recording);
// Turns the ticks since the last block, if any, into a block. False: the recording stopped.
bool foliot__recording_close_block(foliot_recording *recording);
// Adds a note to the block in progress. Returns the status with which the recording stopped.
foliot_status foliot__recording_note_text(foliot_recording *recording, const char *what,
                                          const char *text);
// Starts the writing side and puts the first keyframe. On an error the sink stays the caller's.
foliot_status foliot__recording_start(foliot_recording *recording,
                                      const foliot_recording_sink *sink,
                                      const foliot_simulation *simulation, const char *note);
// compact.c: rewrites a closed recording with fewer blocks. See docs/reference/recording.md,
// "Compaction".

// Replaces `file` by one with the same content in blocks of `block_ticks`. The new file is written
// to .FILE.compact in the same folder, synced, compared with the old one and then renamed over it:
// in every case `file` is one of the two, and whole. On an error it is the old one. The caller
// holds the lock of its only writer. A file that is as compact already stays, and that is not an
// error. FOLIOT_STATUS_UNSUPPORTED: it is not a closed recording. Signatures cover the old bytes:
// they are left out, and `signer` signs the new ones. FOLIOT_STATUS_UNSUPPORTED also: it is signed,
// and `signer` is NULL.
foliot_status foliot__recording_compact(const char *file, uint32_t block_ticks,
                                        const foliot_signer *signer);

#endif
