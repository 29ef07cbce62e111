// SPDX-License-Identifier: MIT
// resume.c: continues a recording that ended early. Complete blocks stay byte for byte. The rest is
// cut off, and the appended part begins with a keyframe of the state there.
#include "recording/recording.h"
#include "sim/selftest/fingerprint.h"
#include "recording/replay.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCRAPS_BYTES 4096 // of a block that was being written; more than that is kept
#define PROBLEM_BYTES 256

static void set_problem(char *problem, size_t bytes, const char *text)
{
    if (problem && bytes)
        snprintf(problem, bytes, "%s", text);
}

// -- the rules of the session

// Only those that were recorded can go on; none may be added or left out.
static foliot_status same_rules(const foliot_replay *replay, const foliot_recording_rules *rules,
                                char *problem, size_t bytes)
{
    const foliot_replay_summary *about = &replay->about;
    char text[PROBLEM_BYTES];
    if (!rules || !rules->restore)
        return FOLIOT_STATUS_OK;
    if (strcmp(rules->name, about->rules_name) == 0 && rules->version == about->rules_version)
        return FOLIOT_STATUS_OK;
    if (about->rules_name[0])
        snprintf(text, sizeof text,
                 "it was recorded with version %" PRIu32 " of the rules %.63s, and these are "
                 "version %" PRIu32 " of %.63s",
                 about->rules_version, about->rules_name, rules->version, rules->name);
    else
        snprintf(text, sizeof text, "it was recorded without rules");
    set_problem(problem, bytes, text);
    return FOLIOT_STATUS_UNSUPPORTED;
}

// As they were at the keyframe of `tick`; of no bytes if none were recorded with it.
static foliot_status restore_rules(foliot_replay *replay, const foliot_recording_rules *rules,
                                   uint64_t tick)
{
    size_t length = 0;
    if (!rules || !rules->restore)
        return FOLIOT_STATUS_OK;
    const uint8_t *bytes = foliot_replay_get_rules_state(replay, tick, &length);
    return rules->restore(rules->user, bytes, length);
}

// They see the step that the replay has just made.
static foliot_status tick_rules(foliot_replay *replay, const foliot_recording_rules *rules)
{
    foliot__recorded_tick recorded;
    uint64_t tick = foliot_replay_get_tick(replay);
    if (!rules || !rules->tick || !foliot__replay_recorded(replay, tick - 1, &recorded))
        return FOLIOT_STATUS_OK;
    const foliot_rules_view view = {
        .scene = replay->scene,
        .world = foliot_replay_get_world(replay),
        .tick = tick,
        .inputs = recorded.inputs.inputs,
        .input_count = recorded.inputs.input_count,
        .orders = recorded.orders,
        .order_count = recorded.order_count,
        .recorded = true,
    };
    return rules->tick(rules->user, &view);
}

// Whether the rules, run from an earlier keyframe, are in the state that was stored at this tick.
// Rules that the host stopped, at the time or now, go on from the stored bytes: its clock and its
// memory are not in the recording.
static foliot_status check_rules(foliot_replay *replay, const foliot_recording_rules *rules,
                                 char *problem, size_t problem_bytes)
{
    size_t stored_bytes = 0, length = 0;
    uint64_t tick = foliot_replay_get_tick(replay);
    const uint8_t *stored = foliot_replay_get_rules_state(replay, tick, &stored_bytes);
    if (!stored || !rules || !rules->restore || !rules->tick || !rules->save)
        return FOLIOT_STATUS_OK;
    foliot_status status = foliot__recording_measure_rules(rules, &length);
    uint8_t *bytes = status == FOLIOT_STATUS_OK ? malloc(length + 1) : NULL;
    if (status == FOLIOT_STATUS_OK)
        status = bytes ? rules->save(rules->user, bytes, length, &length) : FOLIOT_STATUS_MEMORY;
    bool same =
        status == FOLIOT_STATUS_OK && length == stored_bytes && memcmp(bytes, stored, length) == 0;
    if (status == FOLIOT_STATUS_OK && !same && rules->stopped_by_host &&
        (rules->stopped_by_host(rules->user, stored, stored_bytes) ||
         rules->stopped_by_host(rules->user, bytes, length))) {
        status = rules->restore(rules->user, stored, stored_bytes);
        same = status == FOLIOT_STATUS_OK;
    }
    free(bytes);
    if (same || status == FOLIOT_STATUS_MEMORY)
        return status;
    if (problem && problem_bytes)
        snprintf(problem, problem_bytes,
                 "the state of the rules at tick %" PRIu64 " differs when they are run "
                 "again: the file was changed, or these are other rules",
                 tick);
    return FOLIOT_STATUS_DIVERGED;
}

static foliot_status replay_from(foliot_replay *replay, const foliot_recording_rules *rules,
                                 uint64_t from, char *problem, size_t problem_bytes)
{
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    // Start again at tick 0, without a saved state.
    foliot_status status = from == 0 && replay->header.tick == 0 ? foliot__replay_rewind(replay)
                                                                 : foliot_replay_seek(replay, from);
    if (status == FOLIOT_STATUS_OK)
        status = restore_rules(replay, rules, from);
    while (status == FOLIOT_STATUS_OK && foliot_replay_get_tick(replay) < about->last_tick) {
        status = foliot_replay_step(replay);
        if (status == FOLIOT_STATUS_OK)
            status = tick_rules(replay, rules);
        if (status == FOLIOT_STATUS_OK)
            status = check_rules(replay, rules, problem, problem_bytes);
    }
    return status;
}

// The tick of keyframe number `k`; with rules that are run again, of the last one before it with a
// state of theirs, so that the state at keyframe `k` is checked and not believed.
static uint64_t start_before(foliot_replay *replay, const foliot_recording_rules *rules, uint32_t k)
{
    size_t length;
    uint64_t tick = replay->index[k][0];
    if (!rules || !rules->restore || !rules->tick || !rules->save)
        return tick;
    for (uint32_t i = k; i > 0; i--) {
        uint64_t before = replay->index[i - 1][0];
        if (before < tick && foliot_replay_get_rules_state(replay, before, &length))
            return before;
    }
    return tick;
}

// The state after the last whole block, checked against the digests since a keyframe: the last one,
// or one before it where the replay from there does not give them. A simulation that does not save
// all that decides its steps may replay from the start alone. A false state of rules ends the
// search: the ticks behind it were played by it.
static foliot_status replay_to_end(foliot_replay *replay, const foliot_recording_rules *rules,
                                   char *problem, size_t problem_bytes)
{
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    foliot_status status = FOLIOT_STATUS_DIVERGED;
    char why[PROBLEM_BYTES] = "";
    uint32_t k = replay->index_count;
    while (k > 0 && replay->index[k - 1][0] > about->last_tick)
        k--;
    for (; k > 0 && status == FOLIOT_STATUS_DIVERGED && !*why; k--)
        status = replay_from(replay, rules, start_before(replay, rules, k - 1), why, sizeof why);
    if (status == FOLIOT_STATUS_DIVERGED)
        set_problem(problem, problem_bytes,
                    *why ? why : "this build does not replay it to the same bits");
    return status;
}

static foliot_status copy_index(foliot_recording *recording, const foliot_replay *replay)
{
    foliot__drain *drain = &recording->drain;
    drain->index_capacity = replay->index_count + 1024;
    drain->index = malloc(sizeof *drain->index * drain->index_capacity);
    if (!drain->index)
        return FOLIOT_STATUS_MEMORY;
    // A closing block behind the damage names keyframes that are cut off.
    for (uint32_t i = 0; i < replay->index_count; i++)
        if (replay->index[i][1] < replay->cut_offset)
            memcpy(drain->index[drain->index_count++], replay->index[i], sizeof *replay->index);
    return FOLIOT_STATUS_OK;
}

// -- what is cut off

static bool copy_rest(int from, int to, off_t offset)
{
    uint8_t bytes[65536];
    for (;;) {
        ssize_t count = pread(from, bytes, sizeof bytes, offset);
        if (count <= 0)
            return count == 0;
        if (foliot__file_write(to, bytes, (size_t)count) != count)
            return false;
        offset += count;
    }
}

// Damage in the middle cuts off data that may be worth saving: it goes to FILE.cut-OFFSET.
static foliot_status keep_rest(const char *file, uint64_t offset, foliot_resumption *about)
{
    int written = snprintf(about->kept_in, sizeof about->kept_in, "%s.cut-%" PRIu64, file, offset);
    if (written < 0 || (size_t)written >= sizeof about->kept_in)
        return FOLIOT_STATUS_INVALID;
    int from = foliot__file_open(file);
    int to = open(about->kept_in,
                  O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    bool fine = from >= 0 && to >= 0 && copy_rest(from, to, (off_t)offset);
    if (from >= 0)
        close(from);
    if (to >= 0)
        fine = close(to) == 0 && fine;
    return fine ? FOLIOT_STATUS_OK : FOLIOT_STATUS_IO;
}

static foliot_status describe_resumption(const char *file, foliot_replay *replay,
                                         foliot_resumption *about)
{
    about->tick = replay->about.last_tick;
    about->was_closed = replay->about.closed;
    about->cut_bytes = replay->about.bytes - replay->cut_offset;
    snprintf(about->damage, sizeof about->damage, "%s",
             replay->damage.status == FOLIOT_STATUS_OK ? "" : replay->damage.text);
    memcpy(about->session, replay->journal->session, sizeof about->session);
    about->lockstep = replay->journal->lockstep;
    about->player_count = foliot__journal_gather(replay->journal);
    about->players = replay->journal->players;
    if (about->was_closed || replay->damage.status != FOLIOT_STATUS_CORRUPT ||
        about->cut_bytes <= SCRAPS_BYTES)
        return FOLIOT_STATUS_OK;
    return keep_rest(file, replay->cut_offset, about);
}

// What stays of it is signed with what is added.
static foliot_status read_chain(foliot__drain *drain, const char *file, uint64_t end)
{
    foliot__byte_source source;
    if (!drain->signer)
        return FOLIOT_STATUS_OK;
    foliot_status status = foliot__byte_source_open(&source, file);
    if (status != FOLIOT_STATUS_OK)
        return status;
    status = foliot__signed_chain_read(&drain->chain, &source, end);
    foliot__byte_source_close(&source);
    return status;
}

static foliot_status continue_file(const char *file, foliot_replay *replay,
                                   const foliot_recording_config *config,
                                   foliot_recording_sink *sink, foliot_recording **out)
{
    foliot_recording *recording;
    foliot_status status = foliot__recording_new(config, &replay->simulation, &recording);
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot__recording_set_features(recording, replay->about.features, replay->scene);
    status = copy_index(recording, replay);
    if (status == FOLIOT_STATUS_OK)
        status = describe_resumption(file, replay, &recording->resumption);
    if (status == FOLIOT_STATUS_OK)
        status = read_chain(&recording->drain, file, replay->cut_offset);
    if (status == FOLIOT_STATUS_OK && sink->truncate(sink->user, replay->cut_offset) != 0)
        status = FOLIOT_STATUS_IO;
    if (status == FOLIOT_STATUS_OK) {
        recording->drain.length = replay->cut_offset;
        recording->drain.block_number = (uint32_t)replay->cut_number;
        status = foliot__recording_start(recording, sink, &replay->simulation, "resumed");
    }
    if (status != FOLIOT_STATUS_OK) {
        foliot__recording_free(recording);
        return status;
    }
    recording->drain.file = foliot__file_sink_path(sink, file);
    recording->journal = replay->journal;
    replay->journal = NULL;
    *out = recording;
    return FOLIOT_STATUS_OK;
}

// -- whether it may go on

// Damage at the end is no obstacle; a newer format, or a file without a keyframe, is one.
static foliot_status resumable_status(const foliot_replay *replay, foliot_status scanned)
{
    if (scanned == FOLIOT_STATUS_NEWER || scanned == FOLIOT_STATUS_UNSUPPORTED ||
        scanned == FOLIOT_STATUS_MEMORY || scanned == FOLIOT_STATUS_IO)
        return scanned;
    return replay->index_count == 0 ? FOLIOT_STATUS_CORRUPT : FOLIOT_STATUS_OK;
}

// Another build may replay it to the same bits, or not; half of a match by each is nothing to
// verify.
static foliot_status same_build(const foliot_replay *replay, const foliot_recording_config *config,
                                char *problem, size_t bytes)
{
    foliot_digest ours = {0, 0}, theirs = replay->about.fingerprint;
    if (config)
        ours = config->fingerprint;
    bool given = (ours.high | ours.low) != 0;
    if (!given && !replay->scene) {
        ours = foliot_simulation_kind_get_fingerprint(replay->kind);
        given = true;
    }
    if (given ? foliot_digest_equal(ours, theirs) : foliot__fingerprint_fits(replay->scene, theirs))
        return FOLIOT_STATUS_OK;
    if (!given)
        ours =
            replay->scene ? foliot__fingerprint_of_scene(replay->scene) : foliot_get_fingerprint();
    if (!foliot__fingerprint_is_known(ours))
        return FOLIOT_STATUS_MEMORY;
    char text[PROBLEM_BYTES], a[FOLIOT_DIGEST_TEXT_BYTES], b[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(theirs, a);
    foliot_digest_print(ours, b);
    snprintf(text, sizeof text,
             "it was recorded by a build with fingerprint %s, and this one has %s: its ticks would "
             "not go on with the same bits",
             a, b);
    set_problem(problem, bytes, text);
    return FOLIOT_STATUS_UNSUPPORTED;
}

static foliot_status resume_replay(const char *file, foliot_replay *replay,
                                   const foliot_recording_config *config,
                                   foliot_recording_sink *sink, foliot_recording **recording,
                                   char *problem, size_t bytes)
{
    const foliot_recording_rules *rules = config ? config->rules : NULL;
    foliot_status status = same_build(replay, config, problem, bytes);
    if (status == FOLIOT_STATUS_OK)
        status = same_rules(replay, rules, problem, bytes);
    if (status != FOLIOT_STATUS_OK)
        return status;
    status = resumable_status(replay, foliot_replay_scan(replay));
    // No crash leaves such a file: it was edited, and a session must not continue from it.
    if (status == FOLIOT_STATUS_OK && replay->keyframe_false) {
        set_problem(problem, bytes, replay->damage.text);
        return FOLIOT_STATUS_CORRUPT;
    }
    if (status == FOLIOT_STATUS_CORRUPT)
        set_problem(problem, bytes, "not even its first keyframe is whole");
    if (status == FOLIOT_STATUS_OK)
        status = replay_to_end(replay, rules, problem, bytes);
    if (status == FOLIOT_STATUS_OK)
        status = continue_file(file, replay, config, sink, recording);
    return status;
}

// The file of the sink, held against other writers, and its recording. On an error both are closed.
static foliot_status open_resumed(const char *file, const foliot_simulation_kind *kind,
                                  foliot_recording_sink *sink, foliot_replay **replay,
                                  char *problem, size_t bytes)
{
    foliot_damage damage = {0};
    foliot_status status = foliot__file_sink(file, false, sink);
    if (status != FOLIOT_STATUS_OK) {
        set_problem(problem, bytes,
                    status == FOLIOT_STATUS_AGAIN ? "another process is writing to it"
                                                  : foliot__file_problem(errno));
        return status;
    }
    status = foliot_replay_open(file, kind, replay, &damage);
    if (status == FOLIOT_STATUS_OK)
        return status;
    sink->close(sink->user);
    set_problem(problem, bytes, *damage.text ? damage.text : foliot_status_get_text(status));
    return status == FOLIOT_STATUS_TRUNCATED ? FOLIOT_STATUS_CORRUPT : status;
}

static foliot_status refuse_resumption(foliot_replay *replay, const foliot_recording_sink *sink,
                                       foliot_status status, char *problem, size_t bytes)
{
    sink->close(sink->user);
    foliot_replay_close(replay);
    if (problem && bytes && *problem == '\0')
        set_problem(problem, bytes, foliot_status_get_text(status));
    return status;
}

static bool same_setup(const foliot_replay *replay, const foliot_simulation *simulation)
{
    const foliot_replay_summary *about = &replay->about;
    if (replay->scene && !simulation->setup)
        return true;
    return about->setup_bytes == simulation->setup_bytes &&
           (about->setup_bytes == 0 ||
            memcmp(about->setup, simulation->setup, about->setup_bytes) == 0);
}

// Hands over the instance that was replayed, and not its state: it has all that decides its steps,
// saved or not.
static void move_instance(foliot_replay *replay, foliot_simulation *simulation)
{
    foliot_hosted_world *replayed = foliot__replay_hosted(replay);
    if (replayed) {
        foliot_hosted_world *hosted = simulation->self;
        hosted->world = replayed->world;
        hosted->scene = replay->scene;
        replayed->world = NULL;
        replay->scene = NULL;
        return;
    }
    void *self = simulation->self;
    simulation->self = replay->simulation.self;
    replay->simulation.self = self;
}

static bool resumes(const foliot_simulation *simulation, const foliot_recording_config *config)
{
    bool is_world = simulation->kind->step_tick == foliot_world_kind.step_tick,
         named = strcmp(simulation->kind->name, foliot_world_kind.name) == 0;
    return foliot_simulation_kind_valid(simulation->kind) && is_world == named &&
           (is_world ? simulation->self != NULL : !config || !config->rules);
}

foliot_status foliot_recording_resume(const char *file, const foliot_recording_config *config,
                                      foliot_simulation *simulation, foliot_recording **recording,
                                      char *problem, size_t problem_bytes)
{
    foliot_replay *replay = NULL;
    foliot_recording_sink sink;
    foliot_recording *resumed = NULL;
    set_problem(problem, problem_bytes, "");
    if (!resumes(simulation, config))
        return FOLIOT_STATUS_INVALID;
    foliot_status status =
        open_resumed(file, simulation->kind, &sink, &replay, problem, problem_bytes);
    if (status != FOLIOT_STATUS_OK)
        return status;
    if (!same_setup(replay, simulation)) {
        status = FOLIOT_STATUS_UNSUPPORTED;
        set_problem(problem, problem_bytes, "it was recorded with another setup");
    }
    if (status == FOLIOT_STATUS_OK)
        status = resume_replay(file, replay, config, &sink, &resumed, problem, problem_bytes);
    if (status != FOLIOT_STATUS_OK)
        return refuse_resumption(replay, &sink, status, problem, problem_bytes);
    move_instance(replay, simulation);
    foliot_replay_close(replay);
    *recording = resumed;
    return FOLIOT_STATUS_OK;
}
