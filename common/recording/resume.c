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
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCRAPS_BYTES 4096 // of a block that was being written; more than that is kept

typedef struct resuming {
    const char *file;
    const foliot_recording_config *config; // NULL: the defaults
    const foliot_recording_rules *rules;   // NULL: none
    foliot_recording_sink sink;            // the file, locked against other writers
    foliot_replay *replay;
    char problem[1024]; // a sentence about the recording, without its name; "": none yet
} resuming;

__attribute__((format(printf, 2, 3))) static void set_problem(resuming *r, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(r->problem, sizeof r->problem, format, values);
    va_end(values);
}

// -- whether it may be continued

// The setup, the rules and the build must be those of the recording. Another build may or may not
// replay it to the same bits: no build could verify a file of which each part matches another
// build.
static foliot_status check_origin(resuming *r, const foliot_simulation *simulation)
{
    const foliot_replay *replay = r->replay;
    const foliot_replay_summary *about = &replay->about;
    const foliot_recording_rules *rules = r->rules;
    bool any_setup = replay->scene && !simulation->setup;
    if (!any_setup && (about->setup_bytes != simulation->setup_bytes ||
                       (about->setup_bytes > 0 &&
                        memcmp(about->setup, simulation->setup, about->setup_bytes) != 0))) {
        set_problem(r, "it was recorded with another setup");
        return FOLIOT_STATUS_UNSUPPORTED;
    }

    foliot_digest ours = {0, 0}, theirs = about->fingerprint;
    if (r->config)
        ours = r->config->fingerprint;
    bool given = (ours.high | ours.low) != 0;
    if (!given && !replay->scene) {
        ours = foliot_simulation_kind_get_fingerprint(replay->kind);
        given = true;
    }
    if (given ? !foliot_digest_equal(ours, theirs)
              : !foliot__fingerprint_fits(replay->scene, theirs)) {
        if (!given)
            ours = replay->scene ? foliot__fingerprint_of_scene(replay->scene)
                                 : foliot_get_fingerprint();
        if (!foliot__fingerprint_is_known(ours))
            return FOLIOT_STATUS_MEMORY;
        char a[FOLIOT_DIGEST_TEXT_BYTES], b[FOLIOT_DIGEST_TEXT_BYTES];
        foliot_digest_print(theirs, a);
        foliot_digest_print(ours, b);
        set_problem(r,
                    "it was recorded by a build with fingerprint %s, and this one has %s: its "
                    "ticks would not continue with the same bits",
                    a, b);
        return FOLIOT_STATUS_UNSUPPORTED;
    }

    // Rules may be neither added nor left out.
    if (!rules || !rules->restore ||
        (strcmp(rules->name, about->rules_name) == 0 && rules->version == about->rules_version))
        return FOLIOT_STATUS_OK;
    if (about->rules_name[0])
        set_problem(r,
                    "it was recorded with version %" PRIu32 " of the rules %.63s, and these are "
                    "version %" PRIu32 " of %.63s",
                    about->rules_version, about->rules_name, rules->version, rules->name);
    else
        set_problem(r, "it was recorded without rules");
    return FOLIOT_STATUS_UNSUPPORTED;
}

// -- the rules of the session

// Restores them as they were at the keyframe of `tick`; from no bytes if none were recorded. Rules
// that need some are at tick 0 as they were created, and `fresh` ones still are.
static foliot_status restore_rules(resuming *r, uint64_t tick, bool fresh)
{
    size_t length = 0;
    const foliot_recording_rules *rules = r->rules;
    if (!rules || !rules->restore)
        return FOLIOT_STATUS_OK;
    const uint8_t *bytes = foliot_replay_get_rules_state(r->replay, tick, &length);
    foliot_status status = rules->restore(rules->user, bytes, length);
    if (bytes || status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_MEMORY)
        return status;
    if (tick == 0 && fresh)
        return FOLIOT_STATUS_OK;
    set_problem(r, "no keyframe up to tick %" PRIu64 " has the state of its rules", tick);
    return FOLIOT_STATUS_UNSUPPORTED;
}

// The rules see the step that the replay has just made.
static foliot_status tick_rules(resuming *r)
{
    foliot__recorded_tick recorded;
    uint64_t tick = foliot_replay_get_tick(r->replay);
    if (!r->rules || !r->rules->tick || !foliot__replay_recorded(r->replay, tick - 1, &recorded))
        return FOLIOT_STATUS_OK;
    const foliot_rules_view view = {
        .scene = r->replay->scene,
        .world = foliot_replay_get_world(r->replay),
        .tick = tick,
        .inputs = recorded.inputs.inputs,
        .input_count = recorded.inputs.input_count,
        .orders = recorded.orders,
        .order_count = recorded.order_count,
        .recorded = true,
    };
    return r->rules->tick(r->rules->user, &view);
}

// Whether the rules, run from an earlier keyframe, are in the state that was stored at this tick.
// Rules that the host stopped, then or now, continue from the stored bytes: its clock and its
// memory are not in the recording. *changed: they are in another state.
static foliot_status check_rules(resuming *r, bool *changed)
{
    size_t stored_bytes = 0, length = 0;
    uint64_t tick = foliot_replay_get_tick(r->replay);
    const uint8_t *stored = foliot_replay_get_rules_state(r->replay, tick, &stored_bytes);
    const foliot_recording_rules *rules = r->rules;
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
    *changed = true;
    set_problem(r,
                "the state of the rules at tick %" PRIu64 " differs when they are run again: the "
                "file was changed, or these are other rules",
                tick);
    return FOLIOT_STATUS_DIVERGED;
}

// -- the state at the end

// Replays from the keyframe of tick `from` to the end, checking digests and the state of the rules.
// `fresh`: for the first time.
static foliot_status replay_from(resuming *r, uint64_t from, bool fresh, bool *changed)
{
    foliot_replay *replay = r->replay;
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    // Tick 0 starts without a saved state.
    foliot_status status = from == 0 && replay->header.tick == 0 ? foliot__replay_rewind(replay)
                                                                 : foliot_replay_seek(replay, from);
    if (status == FOLIOT_STATUS_OK)
        status = restore_rules(r, from, fresh);
    while (status == FOLIOT_STATUS_OK && foliot_replay_get_tick(replay) < about->last_tick) {
        status = foliot_replay_step(replay);
        if (status == FOLIOT_STATUS_OK)
            status = tick_rules(r);
        if (status == FOLIOT_STATUS_OK)
            status = check_rules(r, changed);
    }
    return status;
}

// The state after the last whole block, checked against the digests since a keyframe: the last one,
// or an earlier one if the replay from the last does not reproduce them. A simulation whose saved
// state is incomplete may replay correctly only from the start. A false state of rules ends the
// search: the ticks after it were played with it.
static foliot_status replay_to_end(resuming *r)
{
    foliot_replay *replay = r->replay;
    const foliot_recording_rules *rules = r->rules;
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    foliot_status status = FOLIOT_STATUS_DIVERGED;
    bool changed = false, fresh = true,
         rules_run = rules && rules->restore && rules->tick && rules->save;
    uint32_t k = replay->index_count;
    while (k > 0 && replay->index[k - 1][0] > about->last_tick)
        k--;
    for (; k > 0 && status == FOLIOT_STATUS_DIVERGED && !changed; k--) {
        uint64_t tick = replay->index[k - 1][0], from = tick;
        size_t length;
        // Rules that are run again start one keyframe earlier, where there is a state of the rules,
        // so that their state at this keyframe is checked and not trusted.
        for (uint32_t i = k - 1; rules_run && from == tick && i > 0; i--)
            if (replay->index[i - 1][0] < tick &&
                foliot_replay_get_rules_state(replay, replay->index[i - 1][0], &length))
                from = replay->index[i - 1][0];
        if (rules_run && from == tick && !foliot_replay_get_rules_state(replay, tick, &length))
            from = replay->index[0][0];
        status = replay_from(r, from, fresh, &changed);
        fresh = false;
    }
    if (status == FOLIOT_STATUS_DIVERGED && !changed)
        set_problem(r, "this build does not replay it to the same bits");
    return status;
}

// -- the file

// Saves everything from `offset` on to FILE.cut-OFFSET: damage in the middle cuts off data that may
// be worth having.
static foliot_status save_rest(resuming *r, uint64_t offset, foliot_resumption *about)
{
    uint8_t bytes[65536];
    int written =
        snprintf(about->kept_in, sizeof about->kept_in, "%s.cut-%" PRIu64, r->file, offset);
    if (written < 0 || (size_t)written >= sizeof about->kept_in)
        return FOLIOT_STATUS_INVALID;
    int from = foliot__file_open(r->file);
    int to = open(about->kept_in,
                  O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    bool fine = from >= 0 && to >= 0;
    ssize_t count = 1;
    for (off_t at = (off_t)offset; fine && count > 0; at += count) {
        count = pread(from, bytes, sizeof bytes, at);
        fine = count >= 0 && (count == 0 || foliot__file_write(to, bytes, (size_t)count) == count);
    }
    if (from >= 0)
        close(from);
    if (to >= 0)
        fine = close(to) == 0 && fine;
    return fine ? FOLIOT_STATUS_OK : FOLIOT_STATUS_IO;
}

// Describes the recording for the host. Saves the part that is cut off, if it is more than scraps.
static foliot_status describe_resumption(resuming *r, foliot_resumption *about)
{
    const foliot_replay *replay = r->replay;
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
    return save_rest(r, replay->cut_offset, about);
}

// The recording in progress: cuts the file behind its last whole block, and appends a keyframe.
static foliot_status continue_file(resuming *r, foliot_recording **out)
{
    foliot_replay *replay = r->replay;
    foliot_recording *recording;
    foliot_status status = foliot__recording_new(r->config, &replay->simulation, &recording);
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot__drain *drain = &recording->drain;
    foliot__recording_set_features(recording, replay->about.features, replay->scene);
    // Keyframes that are cut off are left out: a closing block behind the damage may name some.
    drain->index_capacity = replay->index_count + 1024;
    drain->index = malloc(sizeof *drain->index * drain->index_capacity);
    for (uint32_t i = 0; drain->index && i < replay->index_count; i++)
        if (replay->index[i][1] < replay->cut_offset)
            memcpy(drain->index[drain->index_count++], replay->index[i], sizeof *replay->index);
    status = drain->index ? describe_resumption(r, &recording->resumption) : FOLIOT_STATUS_MEMORY;
    // The next signature covers the blocks that stay, too.
    foliot__byte_source source;
    if (status == FOLIOT_STATUS_OK && drain->signer)
        status = foliot__byte_source_open(&source, r->file);
    if (status == FOLIOT_STATUS_OK && drain->signer) {
        status = foliot__signed_chain_read(&drain->chain, &source, replay->cut_offset);
        foliot__byte_source_close(&source);
    }
    const foliot_recording_sink *sink = &r->sink;
    if (status == FOLIOT_STATUS_OK && sink->truncate(sink->user, replay->cut_offset) != 0)
        status = FOLIOT_STATUS_IO;
    if (status == FOLIOT_STATUS_OK) {
        drain->length = replay->cut_offset;
        drain->block_number = (uint32_t)replay->cut_number;
        status = foliot__recording_start(recording, sink, &replay->simulation, "resumed");
    }
    if (status != FOLIOT_STATUS_OK) {
        foliot__recording_free(recording);
        return status;
    }
    drain->file = foliot__file_sink_path(sink, r->file);
    recording->journal = replay->journal;
    replay->journal = NULL;
    *out = recording;
    return FOLIOT_STATUS_OK;
}

// Damage at the end is not an obstacle; a newer format, or a file without a keyframe, is one.
static foliot_status resume_replay(resuming *r, const foliot_simulation *simulation,
                                   foliot_recording **recording)
{
    foliot_replay *replay = r->replay;
    foliot_status status = check_origin(r, simulation);
    if (status != FOLIOT_STATUS_OK)
        return status;
    status = foliot_replay_scan(replay);
    if (status == FOLIOT_STATUS_NEWER || status == FOLIOT_STATUS_UNSUPPORTED ||
        status == FOLIOT_STATUS_MEMORY || status == FOLIOT_STATUS_IO)
        return status;
    if (replay->index_count == 0) {
        set_problem(r, "not even its first keyframe is whole");
        return FOLIOT_STATUS_CORRUPT;
    }
    // No crash leaves a false keyframe: the file was edited, and no session may continue from it.
    if (replay->keyframe_false) {
        set_problem(r, "%s", replay->damage.text);
        return FOLIOT_STATUS_CORRUPT;
    }
    status = replay_to_end(r);
    return status == FOLIOT_STATUS_OK ? continue_file(r, recording) : status;
}

// Reports an error: the name of the file, and what is wrong with it.
static foliot_status fail(const resuming *r, foliot_status status, foliot_error *error)
{
    const char *text = *r->problem ? r->problem : foliot_status_get_text(status);
    foliot_error_set(error, status, "%s: %s", r->file, text);
    if (error)
        snprintf(error->file, sizeof error->file, "%s", r->file);
    return status;
}

foliot_status foliot_recording_resume(const char *file, const foliot_recording_config *config,
                                      foliot_simulation *simulation, foliot_recording **recording,
                                      foliot_error *error)
{
    resuming r = {.file = file, .config = config, .rules = config ? config->rules : NULL};
    foliot_damage damage = {0};
    bool is_world = simulation->kind->step_tick == foliot_world_kind.step_tick,
         named = strcmp(simulation->kind->name, foliot_world_kind.name) == 0;
    if (!foliot_simulation_kind_valid(simulation->kind) || is_world != named ||
        (is_world ? !simulation->self : config && config->rules))
        return fail(&r, FOLIOT_STATUS_INVALID, error);
    foliot_status status = foliot__file_sink(file, false, &r.sink);
    if (status != FOLIOT_STATUS_OK) {
        set_problem(&r, "%s",
                    status == FOLIOT_STATUS_AGAIN ? "another process is writing to it"
                                                  : foliot__file_problem(errno));
        return fail(&r, status, error);
    }
    status = foliot_replay_open(file, simulation->kind, &r.replay, &damage);
    if (status != FOLIOT_STATUS_OK) {
        r.sink.close(r.sink.user);
        set_problem(&r, "%s", damage.text);
        if (!*damage.text)
            set_problem(&r, "%s", foliot_status_get_text(status));
        return fail(&r, status == FOLIOT_STATUS_TRUNCATED ? FOLIOT_STATUS_CORRUPT : status, error);
    }
    status = resume_replay(&r, simulation, recording);
    if (status != FOLIOT_STATUS_OK) {
        r.sink.close(r.sink.user);
        foliot_replay_close(r.replay);
        return fail(&r, status, error);
    }
    // The caller gets the replayed instance rather than its saved state: the instance has
    // everything that its steps depend on, saved or not.
    foliot_hosted_world *replayed = foliot__replay_hosted(r.replay);
    if (replayed) {
        foliot_hosted_world *hosted = simulation->self;
        hosted->world = replayed->world;
        hosted->scene = r.replay->scene;
        replayed->world = NULL;
        r.replay->scene = NULL;
    } else {
        void *self = simulation->self;
        simulation->self = r.replay->simulation.self;
        r.replay->simulation.self = self;
    }
    foliot_replay_close(r.replay);
    return FOLIOT_STATUS_OK;
}
