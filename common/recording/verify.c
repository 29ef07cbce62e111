// SPDX-License-Identifier: MIT
// verify.c: replays a recording from its first tick and compares every digest. A digest gives the
// tick of a divergence. Body and field come from a keyframe of that tick; the stage comes from an
// unperturbed reference run, if there is one.
#include "divergence/divergence.h"
#include "divergence/perturb.h"
#include "recording/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct verifying {
    foliot_replay *replay;
    foliot_verdict *verdict;
    foliot__perturber perturber;
    foliot_host host;
    bool diverged;
} verifying;

static bool digest_agrees(const foliot_replay *replay, const uint8_t *recorded, uint32_t count)
{
    uint8_t bytes[16];
    foliot__recording_digest_bytes(foliot_simulation_get_digest(&replay->simulation), bytes);
    return memcmp(bytes, recorded, count) == 0;
}

static foliot_status capture_held(foliot_step_trace *trace, const foliot_simulation *simulation)
{
    foliot_step_trace_reset(trace, foliot_simulation_get_tick(simulation));
    return foliot_step_trace_capture_held(trace, simulation);
}

// Two traces for one comparison; both NULL without memory.
static bool two_traces(foliot_step_trace *trace[2])
{
    trace[0] = trace[1] = NULL;
    if (foliot_step_trace_create(&trace[0]) == FOLIOT_STATUS_OK &&
        foliot_step_trace_create(&trace[1]) == FOLIOT_STATUS_OK)
        return true;
    foliot_step_trace_destroy(trace[0]);
    return false;
}

// The first part and field in which two states differ.
static foliot_status compare_states(const foliot_simulation *expected,
                                    const foliot_simulation *actual, foliot_divergence *divergence)
{
    foliot_step_trace *trace[2];
    if (!two_traces(trace))
        return FOLIOT_STATUS_MEMORY;
    foliot_status status = capture_held(trace[0], expected);
    if (status == FOLIOT_STATUS_OK)
        status = capture_held(trace[1], actual);
    if (status == FOLIOT_STATUS_OK && foliot_step_trace_compare(trace[0], trace[1], divergence))
        status = FOLIOT_STATUS_DIVERGED;
    foliot_step_trace_destroy(trace[0]);
    foliot_step_trace_destroy(trace[1]);
    return status;
}

static void set_diverged(verifying *v)
{
    v->diverged = true;
    v->verdict->status = FOLIOT_STATUS_DIVERGED;
    v->verdict->divergence =
        (foliot_divergence){.tick = foliot_replay_get_tick(v->replay), .body = FOLIOT_NO_BODY};
}

// A keyframe must be the state that the replay has. One that is not gives the part and the field of
// the divergence.
static void check_keyframe(verifying *v)
{
    foliot_replay *replay = v->replay;
    const foliot__block_keyframe *keyframe = &replay->segment.keyframe;
    bool same_tick = v->diverged && v->verdict->divergence.tick == foliot_replay_get_tick(replay);
    if ((v->diverged && !same_tick) || digest_agrees(replay, keyframe->digest, 16))
        return;
    if (!v->diverged)
        set_diverged(v);
    foliot_simulation recorded;
    if (foliot__replay_new(replay, &recorded) != FOLIOT_STATUS_OK)
        return;
    if (foliot_simulation_restore(&recorded, keyframe->state.bytes, keyframe->state.length) ==
        FOLIOT_STATUS_OK)
        compare_states(&recorded, &replay->simulation, &v->verdict->divergence);
    foliot_simulation_destroy(&recorded);
}

// The present block, up to its first divergence.
static foliot_status verify_block(verifying *v)
{
    foliot_replay *replay = v->replay;
    const foliot__recording_content *content = &replay->content;
    if (content->has_keyframe)
        check_keyframe(v);
    if (content->has_closing && !v->diverged && !digest_agrees(replay, content->closing_digest, 16))
        set_diverged(v);
    while (!v->diverged && foliot_replay_get_tick(replay) < content->tick) {
        foliot_status status = foliot__replay_step_simulation(replay, &replay->simulation);
        if (status != FOLIOT_STATUS_OK)
            return status;
        const uint8_t *recorded;
        uint64_t tick = foliot_replay_get_tick(replay);
        uint32_t count = foliot__recording_content_digest(content, tick, &recorded);
        if (count && !digest_agrees(replay, recorded, count))
            set_diverged(v);
        else
            v->verdict->ticks = tick - replay->about.first_tick;
    }
    return FOLIOT_STATUS_OK;
}

static void set_host(foliot_replay *replay, const foliot_host *host)
{
    foliot_hosted_world *hosted = foliot__replay_hosted(replay);
    if (hosted)
        hosted->host = *host;
}

static foliot_status run_verification(verifying *v)
{
    foliot_replay *replay = v->replay;
    foliot_status status = foliot__replay_rewind(replay);
    set_host(replay, &v->host);
    const foliot_perturbation *fault = v->perturber.fault;
    foliot_world *world =
        foliot__replay_hosted(replay) ? foliot__replay_hosted(replay)->world : NULL;
    if (status == FOLIOT_STATUS_OK && fault && fault->tick == replay->about.first_tick &&
        fault->body < foliot_world_get_body_count(world)) {
        foliot__perturb(world, fault);
        v->perturber.done = true;
    }
    while (status == FOLIOT_STATUS_OK && !v->diverged) {
        status = verify_block(v);
        if (status == FOLIOT_STATUS_OK && !v->diverged)
            status = foliot__replay_load(replay);
    }
    if (!v->diverged)
        return status;
    // One more block may hold the keyframe of the tick at which it diverged.
    const foliot_divergence *divergence = &v->verdict->divergence;
    if (!divergence->field_known && replay->content.tick == divergence->tick) {
        foliot_damage before = replay->damage;
        if (foliot__replay_load(replay) == FOLIOT_STATUS_OK && replay->content.has_keyframe)
            check_keyframe(v);
        replay->damage = before;
    }
    return FOLIOT_STATUS_OK;
}

// -- the reference

// Runs the perturbed world and a reference through ticks `from` to `to`, and compares them after
// every stage until they differ.
static foliot_status search_stages(verifying *v, uint64_t from, uint64_t to)
{
    foliot_replay *replay = v->replay;
    foliot_simulation reference;
    foliot_step_trace *trace[2];
    foliot_status status = foliot__replay_new(replay, &reference);
    if (status != FOLIOT_STATUS_OK)
        return status;
    if (!two_traces(trace)) {
        foliot_simulation_destroy(&reference);
        return FOLIOT_STATUS_MEMORY;
    }
    uint64_t start = from > replay->about.first_tick ? from - 1 : replay->about.first_tick;
    status = foliot_replay_seek(replay, start);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_simulation_copy(&reference, &replay->simulation);
    bool differs = false;
    for (uint64_t tick = start; status == FOLIOT_STATUS_OK && !differs && tick < to; tick++) {
        status = foliot__replay_locate(replay, tick);
        if (status == FOLIOT_STATUS_OK)
            status = foliot__replay_step_trace(replay, &reference, trace[0]);
        if (status != FOLIOT_STATUS_OK)
            break;
        set_host(replay, &v->host);
        status = foliot__replay_step_trace(replay, &replay->simulation, trace[1]);
        set_host(replay, &replay->host);
        differs = status == FOLIOT_STATUS_OK &&
                  foliot_step_trace_compare(trace[0], trace[1], &v->verdict->divergence);
        if (differs) {
            v->verdict->status = FOLIOT_STATUS_DIVERGED;
            v->verdict->divergence.tick = tick + 1;
            v->verdict->ticks = tick - replay->about.first_tick;
        }
    }
    foliot_step_trace_destroy(trace[0]);
    foliot_step_trace_destroy(trace[1]);
    foliot_simulation_destroy(&reference);
    return status;
}

// Compares the two states of the first tick, which has no stages.
static foliot_status compare_start(verifying *v)
{
    foliot_replay *replay = v->replay;
    foliot_divergence *divergence = &v->verdict->divergence;
    const foliot_perturbation *fault = v->perturber.fault;
    foliot_simulation reference;
    *divergence = (foliot_divergence){.tick = fault->tick, .body = FOLIOT_NO_BODY};
    foliot__replay_rewind(replay);
    foliot_status status = foliot__replay_new(replay, &reference);
    if (status != FOLIOT_STATUS_OK)
        return status;
    status = foliot_simulation_copy(&reference, &replay->simulation);
    foliot__perturb(foliot__replay_hosted(replay)->world, fault);
    if (status == FOLIOT_STATUS_OK)
        status = compare_states(&reference, &replay->simulation, divergence);
    if (status == FOLIOT_STATUS_DIVERGED) {
        v->verdict->status = FOLIOT_STATUS_DIVERGED;
        divergence->stage_known = true;
        divergence->stage = FOLIOT_STAGE_finish;
        divergence->stage_name = foliot_stage_get_name(FOLIOT_STAGE_finish);
        status = FOLIOT_STATUS_OK;
    }
    foliot_simulation_destroy(&reference);
    return status;
}

static bool perturbation_valid(const foliot_replay *replay, const foliot_perturbation *fault)
{
    return replay->scene && fault->tick >= replay->about.first_tick &&
           fault->tick <= replay->about.last_tick && (uint32_t)fault->stage < FOLIOT_STAGE_COUNT &&
           (uint32_t)fault->field < FOLIOT_FIELD_COUNT && fault->ulps != 0 &&
           (fault->tick > replay->about.first_tick || fault->stage == FOLIOT_STAGE_finish) &&
           fault->body < replay->capacities.bodies_max;
}

// Adds to the damage how a false keyframe differs from the replay, which stands at its tick with a
// state that the digests agree with.
static void explain_false_keyframe(verifying *v)
{
    foliot_replay *replay = v->replay;
    const foliot__recording_content *content = &replay->content;
    foliot_damage *damage = &v->verdict->damage;
    foliot_simulation recorded;
    foliot_divergence d = {.tick = replay->keyframe_false_tick, .body = FOLIOT_NO_BODY};
    if (!content->has_keyframe || foliot_replay_get_tick(replay) != replay->keyframe_false_tick ||
        foliot__replay_new(replay, &recorded) != FOLIOT_STATUS_OK)
        return;
    if (foliot_simulation_restore(&recorded, content->keyframe.state.bytes,
                                  content->keyframe.state.length) == FOLIOT_STATUS_OK &&
        compare_states(&recorded, &replay->simulation, &d) == FOLIOT_STATUS_DIVERGED &&
        d.field_known) {
        char place[160];
        size_t length = strlen(damage->text);
        foliot__divergence_brief(&d, "the keyframe has", "the replay", place, sizeof place);
        snprintf(damage->text + length, sizeof damage->text - length, ": %s", place);
        v->verdict->divergence = d;
    }
    foliot_simulation_destroy(&recorded);
}

foliot_status foliot_replay_verify(foliot_replay *replay, const foliot_perturbation *perturbation,
                                   foliot_verdict *verdict)
{
    *verdict = (foliot_verdict){.status = FOLIOT_STATUS_OK};
    if (!replay->simulation.self) {
        verdict->status = FOLIOT_STATUS_UNSUPPORTED;
        snprintf(verdict->damage.text, sizeof verdict->damage.text,
                 "only the program of %.63s can replay it", replay->about.kind);
        return FOLIOT_STATUS_OK;
    }
    if (foliot__replay_callbacks_missing(replay)) {
        verdict->status = FOLIOT_STATUS_UNSUPPORTED;
        snprintf(verdict->damage.text, sizeof verdict->damage.text, FOLIOT__CALLBACKS_MISSING);
        return FOLIOT_STATUS_OK;
    }
    if (perturbation && !perturbation_valid(replay, perturbation)) {
        verdict->status = FOLIOT_STATUS_INVALID;
        return FOLIOT_STATUS_OK;
    }
    verifying v = {.replay = replay, .verdict = verdict, .perturber = {.fault = perturbation}};
    // A recording that is not whole is never a match, however its replay ends.
    foliot_status whole = foliot_replay_scan(replay);
    v.host = foliot__perturbing_host(&replay->host, &v.perturber);
    foliot_status status = run_verification(&v);
    set_host(replay, &replay->host);
    if (whole == FOLIOT_STATUS_MEMORY || whole == FOLIOT_STATUS_IO)
        return whole;
    if (status == FOLIOT_STATUS_MEMORY || status == FOLIOT_STATUS_IO ||
        status == FOLIOT_STATUS_FLOATING_POINT || status == FOLIOT_STATUS_MISCOUNTED)
        return status;
    verdict->digest = foliot_simulation_get_digest(&replay->simulation);
    verdict->digest_known = true;
    if (perturbation && !v.perturber.done) {
        verdict->status = FOLIOT_STATUS_INVALID;
    } else if (perturbation) {
        // A fault that the digests show is in the tick that they name. A fault that the rest of its
        // tick absorbed changes no digest: then all ticks are compared after every stage.
        uint64_t first = replay->about.first_tick;
        uint64_t from = v.diverged ? verdict->divergence.tick : first + 1;
        uint64_t to = v.diverged ? verdict->divergence.tick : first + verdict->ticks;
        foliot_status searched =
            perturbation->tick == first ? compare_start(&v) : search_stages(&v, from, to);
        if (searched == FOLIOT_STATUS_MEMORY)
            return searched;
    }
    if (verdict->status == FOLIOT_STATUS_OK &&
        (whole != FOLIOT_STATUS_OK || status != FOLIOT_STATUS_NOT_FOUND)) {
        foliot_status damaged = whole != FOLIOT_STATUS_OK ? whole : status;
        verdict->damage = replay->damage;
        verdict->cut_at = replay->damage.offset;
        verdict->status = damaged == FOLIOT_STATUS_NEWER || damaged == FOLIOT_STATUS_UNSUPPORTED
                              ? FOLIOT_STATUS_UNSUPPORTED
                          : damaged == FOLIOT_STATUS_TRUNCATED ? FOLIOT_STATUS_TRUNCATED
                                                               : FOLIOT_STATUS_CORRUPT;
    }
    if (verdict->status == FOLIOT_STATUS_CORRUPT && replay->keyframe_false)
        explain_false_keyframe(&v);
    return FOLIOT_STATUS_OK;
}
