// SPDX-License-Identifier: MIT
// drain.c: the writing side of a recording: whole blocks from the ring into the sink, in its thread
// or when the host calls. Reports a block as written only after the system has accepted
// all of it.
#include "recording/recording.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

// -- the ring

// Release on the side that changes a count, acquire on the side that trusts it.

bool foliot__ring_init(foliot__ring *ring, size_t capacity)
{
    ring->bytes = malloc(capacity);
    ring->capacity = capacity;
    ring->origin = 0;
    atomic_init(&ring->put, 0);
    atomic_init(&ring->taken, 0);
    return ring->bytes != NULL;
}

void foliot__ring_free(foliot__ring *ring)
{
    free(ring->bytes);
    ring->bytes = NULL;
}

size_t foliot__ring_used(const foliot__ring *ring)
{
    uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_acquire);
    return (size_t)(atomic_load_explicit(&ring->put, memory_order_acquire) - taken);
}

static void copy_in(foliot__ring *ring, uint64_t at, const uint8_t *bytes, size_t count)
{
    size_t start = (size_t)((at - ring->origin) % ring->capacity);
    size_t straight = count < ring->capacity - start ? count : ring->capacity - start;
    if (straight)
        memcpy(ring->bytes + start, bytes, straight);
    if (count > straight)
        memcpy(ring->bytes, bytes + straight, count - straight);
}

bool foliot__ring_put(foliot__ring *ring, const void *first, size_t first_count, const void *second,
                      size_t second_count)
{
    size_t used = foliot__ring_used(ring), left = ring->capacity - used;
    if (first_count > left || second_count > left - first_count)
        return false;
    uint64_t at = atomic_load_explicit(&ring->put, memory_order_relaxed);
    if (used == 0)
        ring->origin = at; // the taking side reads it after it has seen this put
    copy_in(ring, at, first, first_count);
    copy_in(ring, at + first_count, second, second_count);
    atomic_store_explicit(&ring->put, at + first_count + second_count, memory_order_release);
    return true;
}

const uint8_t *foliot__ring_piece(const foliot__ring *ring, size_t skip, size_t count,
                                  size_t *length)
{
    uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    size_t start = (size_t)((taken + skip - ring->origin) % ring->capacity);
    *length = count < ring->capacity - start ? count : ring->capacity - start;
    return ring->bytes + start;
}

void foliot__ring_peek(const foliot__ring *ring, void *out, size_t count)
{
    size_t length;
    const uint8_t *piece = foliot__ring_piece(ring, 0, count, &length);
    memcpy(out, piece, length);
    if (length < count)
        memcpy((uint8_t *)out + length, ring->bytes, count - length);
}

void foliot__ring_drop(foliot__ring *ring, size_t count)
{
    uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    atomic_store_explicit(&ring->taken, taken + count, memory_order_release);
}

int foliot__sink_write(const foliot_recording_sink *sink, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    while (count > 0) {
        int64_t taken = sink->write(sink->user, at, count);
        if (taken == -EINTR)
            continue;
        if (taken <= 0)
            return taken < 0 ? (int)-taken : ENOSPC; // nothing taken, no reason given
        at += taken;
        count -= (size_t)taken;
    }
    return 0;
}

static void sync_now(foliot__drain *drain)
{
    uint64_t tick = atomic_load(&drain->written_tick);
    drain->blocks_unsynced = 0;
    if (!drain->sink.sync)
        return;
    int error = drain->sink.sync(drain->sink.user);
    if (error < 0)
        atomic_store(&drain->stopped_errno, -error);
    else
        atomic_store(&drain->synced_tick, tick);
}

// -- one block

// Adds the bytes behind the header in the ring to `out`.
static void copy_payload(const foliot__drain *drain, const foliot__queued *queued,
                         foliot__buffer *out)
{
    for (size_t done = 0, length; done < queued->length; done += length) {
        const uint8_t *piece =
            foliot__ring_piece(&drain->ring, sizeof *queued + done, queued->length - done, &length);
        foliot__pack_raw(out, piece, length);
    }
}

// The block, header and all, as drain->block. 0, or ENOMEM.
static int build_block(foliot__drain *drain, const foliot__queued *queued)
{
    static const uint8_t no_header[FOLIOT__RECORDING_BLOCK_BYTES];
    foliot__buffer *block = &drain->block;
    block->length = drain->state.length = 0;
    foliot__pack_raw(block, no_header, sizeof no_header);
    if (queued->kind == FOLIOT__QUEUED_KEYFRAME) {
        copy_payload(drain, queued, &drain->state);
        if (drain->state.failed ||
            !foliot__array_grow(&drain->index, drain->index_count, &drain->index_capacity, 1024,
                                sizeof *drain->index))
            return ENOMEM;
        drain->index[drain->index_count][0] = queued->tick;
        drain->index[drain->index_count++][1] = drain->length;
        size_t state_bytes = queued->length - queued->rules_bytes - queued->note_bytes;
        const uint8_t *rules = drain->state.bytes + state_bytes;
        foliot__recording_encode_keyframe(&drain->block, queued->tick, queued->digest,
                                          &drain->keyframes, drain->state.bytes,
                                          (uint32_t)state_bytes);
        if (queued->rules_bytes)
            foliot__recording_encode_rules(&drain->block, queued->tick, queued->digest,
                                           &drain->keyframes, rules, queued->rules_bytes);
        foliot__pack_raw(&drain->block, rules + queued->rules_bytes, queued->note_bytes);
    } else if (queued->kind == FOLIOT__QUEUED_CLOSING) {
        foliot__recording_encode_closing(block, queued->tick, queued->digest,
                                         (const uint64_t(*)[2])drain->index, drain->index_count,
                                         drain->length);
    } else {
        copy_payload(drain, queued, block);
    }
    if (block->failed)
        return ENOMEM;
    foliot__recording_block_frame(block->bytes, drain->block_number, queued->tick,
                                  block->bytes + sizeof no_header,
                                  block->length - sizeof no_header);
    return 0;
}

// Writes the block in progress, all or nothing: a part that a full disk accepted is cut off again.
// 0, or an errno.
static int put_block(foliot__drain *drain)
{
    int error = foliot__sink_write(&drain->sink, drain->block.bytes, drain->block.length);
    if (error) {
        if (drain->sink.truncate)
            drain->sink.truncate(drain->sink.user, drain->length);
        return error;
    }
    if (drain->signer)
        foliot__signed_chain_add(&drain->chain, drain->block.bytes, drain->block.length);
    drain->length += drain->block.length;
    drain->block_number++;
    drain->other_bytes += FOLIOT__RECORDING_BLOCK_BYTES;
    return 0;
}

// Signs everything written up to `tick`. `final`: only the closing block follows.
static int put_signature(foliot__drain *drain, uint64_t tick, bool final)
{
    static const uint8_t no_header[FOLIOT__RECORDING_BLOCK_BYTES];
    foliot__buffer *block = &drain->block;
    if (!drain->signer)
        return 0;
    block->length = 0;
    foliot__pack_raw(block, no_header, sizeof no_header);
    foliot__signature_encode(block, drain->signer, &drain->chain, tick, final);
    if (block->failed)
        return ENOMEM;
    size_t length = block->length - sizeof no_header;
    foliot__recording_block_frame(block->bytes, drain->block_number, tick,
                                  block->bytes + sizeof no_header, length);
    drain->other_bytes += length;
    return put_block(drain);
}

// Writes the next block of the ring, and its signature if one is due. False: there is no block, or
// the disk refuses.
static bool drain_one(foliot__drain *drain)
{
    foliot__queued queued;
    if (atomic_load(&drain->stopped_errno) || foliot__ring_used(&drain->ring) == 0)
        return false;
    foliot__ring_peek(&drain->ring, &queued, sizeof queued);
    int error = 0;
    if (queued.kind == FOLIOT__QUEUED_CLOSING)
        error = put_signature(drain, queued.tick, true);
    if (!error)
        error = build_block(drain, &queued);
    size_t length = drain->block.length - FOLIOT__RECORDING_BLOCK_BYTES;
    if (!error)
        error = put_block(drain);
    if (!error && queued.kind == FOLIOT__QUEUED_KEYFRAME) {
        drain->keyframe_bytes += length;
        error = put_signature(drain, queued.tick, false);
    }
    if (error) {
        atomic_store(&drain->stopped_errno, error);
        return false;
    }
    atomic_store(&drain->written_tick, queued.tick);
    foliot__ring_drop(&drain->ring, sizeof queued + queued.length);
    if (drain->sync_blocks && ++drain->blocks_unsynced >= drain->sync_blocks)
        sync_now(drain);
    return true;
}

// -- the thread

void foliot__drain_run(foliot__drain *drain)
{
    while (drain_one(drain))
        ;
    // Cleared only when it is done: waiting callers look at it.
    if (atomic_load(&drain->sync_asked)) {
        if (!atomic_load(&drain->stopped_errno))
            sync_now(drain);
        atomic_store(&drain->sync_asked, false);
    }
}

// A closed file is complete: if compaction fails, it stays as it is.
static foliot_status compact_file(const foliot__drain *drain)
{
    if (!drain->compact_ticks || !drain->file)
        return FOLIOT_STATUS_OK;
    if (!foliot__file_sink_is(&drain->sink, drain->file))
        return FOLIOT_STATUS_UNSUPPORTED;
    return foliot__recording_compact(drain->file, drain->compact_ticks, drain->signer);
}

static void *drain_thread(void *user)
{
    foliot__drain *drain = user;
    while (!atomic_load(&drain->quit)) {
        while (sem_wait(&drain->work) != 0 && errno == EINTR)
            ;
        foliot__drain_run(drain);
        pthread_mutex_lock(&drain->mutex);
        pthread_cond_broadcast(&drain->progress);
        pthread_mutex_unlock(&drain->mutex);
    }
    drain->compaction = compact_file(drain);
    return NULL;
}

foliot_status foliot__drain_start(foliot__drain *drain, const foliot_recording_sink *sink,
                                  const foliot_recording_config *config, size_t queue_bytes,
                                  uint64_t tick)
{
    drain->sink = *sink;
    drain->sync_blocks = config->sync_blocks;
    atomic_init(&drain->written_tick, tick);
    atomic_init(&drain->synced_tick, tick);
    if (!foliot__ring_init(&drain->ring, queue_bytes))
        return FOLIOT_STATUS_MEMORY;
    if (!config->threaded)
        return FOLIOT_STATUS_OK;
    sem_init(&drain->work, 0, 0);
    pthread_mutex_init(&drain->mutex, NULL);
    pthread_cond_init(&drain->progress, NULL);
    // This thread takes no signals. SIGXFSZ would end the process; with it blocked, write returns
    // EFBIG.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&drain->thread, NULL, drain_thread, drain);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return FOLIOT_STATUS_MEMORY; // for its stack, or one thread more than this user may have
    drain->threaded = true;
    return FOLIOT_STATUS_OK;
}

void foliot__drain_wake(foliot__drain *drain)
{
    if (drain->threaded)
        sem_post(&drain->work);
}

void foliot__drain_wait(foliot__drain *drain, bool synced)
{
    if (synced)
        atomic_store(&drain->sync_asked, true);
    if (!drain->threaded) {
        foliot__drain_run(drain);
        return;
    }
    sem_post(&drain->work);
    pthread_mutex_lock(&drain->mutex);
    while (!atomic_load(&drain->stopped_errno) &&
           (foliot__ring_used(&drain->ring) > 0 || atomic_load(&drain->sync_asked)))
        pthread_cond_wait(&drain->progress, &drain->mutex);
    pthread_mutex_unlock(&drain->mutex);
}

void foliot__drain_finish(foliot__drain *drain, uint32_t compact_ticks)
{
    if (drain->finished)
        return;
    drain->finished = true;
    drain->compact_ticks = compact_ticks;
    if (drain->threaded) {
        atomic_store(&drain->quit, true);
        sem_post(&drain->work);
        pthread_join(drain->thread, NULL);
        sem_destroy(&drain->work);
        pthread_mutex_destroy(&drain->mutex);
        pthread_cond_destroy(&drain->progress);
        drain->threaded = false;
    } else {
        drain->compaction = compact_file(drain);
    }
    foliot__ring_free(&drain->ring);
    if (drain->sink.close)
        drain->sink.close(drain->sink.user);
    drain->sink = (foliot_recording_sink){0};
}

void foliot__drain_free(foliot__drain *drain)
{
    foliot__keyframe_encoder_free(&drain->keyframes);
    foliot__buffer_free(&drain->state);
    foliot__buffer_free(&drain->block);
    free(drain->index);
    free(drain->file);
}
