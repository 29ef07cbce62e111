// SPDX-License-Identifier: MIT
// drain.c: the writing side of a recording: whole blocks from the ring into the sink, in a thread
// of its own or when the host says. What it has written it says only after the system took all of a
// block.
#include "recording/recording.h"

#include "base/assert.h"

#include <errno.h>
#include <signal.h>

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

// One block, all or nothing: what a full disk took of it is cut off again.
static void write_block(foliot__drain *drain, size_t count)
{
    int error = 0;
    for (size_t done = 0, length; done < count && !error; done += length) {
        const uint8_t *piece = foliot__ring_piece(&drain->ring, done, count - done, &length);
        error = foliot__sink_write(&drain->sink, piece, length);
    }
    if (error) {
        if (drain->sink.truncate)
            drain->sink.truncate(drain->sink.user, drain->length);
        atomic_store(&drain->stopped_errno, error);
        return;
    }
    drain->length += count;
}

static bool drain_one(foliot__drain *drain)
{
    uint8_t bytes[FOLIOT__TAPE_BLOCK_BYTES];
    foliot__tape_block block;
    if (atomic_load(&drain->stopped_errno) || foliot__ring_used(&drain->ring) == 0)
        return false;
    foliot__ring_peek(&drain->ring, bytes, sizeof bytes);
    bool ours = foliot__tape_block_read(bytes, &block);
    FOLIOT_ASSERT(ours);
    write_block(drain, sizeof bytes + block.length);
    if (atomic_load(&drain->stopped_errno))
        return false;
    atomic_store(&drain->written_tick, block.tick);
    foliot__ring_take(&drain->ring, sizeof bytes + block.length);
    if (drain->sync_blocks && ++drain->blocks_unsynced >= drain->sync_blocks)
        sync_now(drain);
    return true;
}

void foliot__drain_run(foliot__drain *drain)
{
    while (drain_one(drain))
        ;
    // Taken back only once it is done: whoever waits looks at this.
    if (atomic_load(&drain->sync_asked)) {
        if (!atomic_load(&drain->stopped_errno))
            sync_now(drain);
        atomic_store(&drain->sync_asked, false);
    }
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
    return NULL;
}

// No signal is for this thread; and SIGXFSZ would end the process where EFBIG says it as well.
static int thread_start(foliot__drain *drain)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&drain->thread, NULL, drain_thread, drain);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

foliot_status foliot__drain_start(foliot__drain *drain, const foliot_recording_sink *sink,
                                  const foliot_recording_config *config, size_t queue_bytes,
                                  uint64_t length, uint64_t tick)
{
    drain->sink = *sink;
    drain->length = length;
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
    if (thread_start(drain) != 0)
        return FOLIOT_STATUS_MEMORY; // for its stack, or one thread more than this user may have
    drain->threaded = true;
    return FOLIOT_STATUS_OK;
}

void foliot__drain_wake(foliot__drain *drain)
{
    if (drain->threaded)
        sem_post(&drain->work);
}

static bool waiting(foliot__drain *drain)
{
    return !atomic_load(&drain->stopped_errno) &&
           (foliot__ring_used(&drain->ring) > 0 || atomic_load(&drain->sync_asked));
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
    while (waiting(drain))
        pthread_cond_wait(&drain->progress, &drain->mutex);
    pthread_mutex_unlock(&drain->mutex);
}

void foliot__drain_finish(foliot__drain *drain)
{
    if (drain->threaded) {
        atomic_store(&drain->quit, true);
        sem_post(&drain->work);
        pthread_join(drain->thread, NULL);
        sem_destroy(&drain->work);
        pthread_mutex_destroy(&drain->mutex);
        pthread_cond_destroy(&drain->progress);
    }
    foliot__ring_free(&drain->ring);
    if (drain->sink.close)
        drain->sink.close(drain->sink.user);
}
