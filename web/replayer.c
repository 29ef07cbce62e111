// SPDX-License-Identifier: MIT
// replayer.c: the replay library for the page: opens a recording, compares every digest, goes to
// any tick, and gives instances to draw. The page has two copies, each in a separate worker: one
// verifies, one shows. A recording is untrusted bytes.
#include "page.h"

#include "base/json.h"
#include "recording/replay.h"

#include <stdlib.h>
#include <string.h>

#define MARKS_MAX 512 // keyframes that the time line shows: about as many as it has dots

static uint8_t *file; // the recording, lent to the replay
static size_t file_bytes;
static foliot_replay *replay;
static uint64_t began; // the tick of the keyframe that the world came from

static void forget(void)
{
    if (replay)
        foliot_replay_close(replay);
    replay = NULL;
    began = 0;
}

// Memory for a file of that many bytes; NULL: there is none.
WEB_EXPORT(begin_file) uint8_t *web_begin_file(uint32_t bytes)
{
    forget();
    free(file);
    file = malloc(bytes ? bytes : 1);
    file_bytes = file ? bytes : 0;
    return file;
}

// Opens the file in memory: {"status", "text", ...}. "status" 0: it can be replayed up to its first
// damage; "text" describes the damage.
WEB_EXPORT(open) const char *web_open(void)
{
    FILE *out;
    foliot_damage damage = {0};
    foliot__json j = begin_answer(&out);
    forget();
    foliot_status status =
        foliot_replay_open_bytes(file, file_bytes, &foliot_world_kind, &replay, &damage);
    foliot__json_object(&j, NULL);
    foliot__json_integer(&j, "status", status);
    if (status == FOLIOT_STATUS_OK) {
        foliot_status whole = foliot_replay_scan(replay);
        damage = *foliot_replay_get_damage(replay);
        foliot__json_integer(&j, "whole", whole);
        const foliot_replay_summary *s = foliot_replay_get_summary(replay);
        foliot__json_count(&j, "format", s->format);
        foliot__json_text(&j, "kind", s->kind);
        foliot__json_text(&j, "integrator", s->integrator);
        foliot__json_real(&j, "dt", s->dt);
        foliot__json_text(&j, "build", s->build);
        foliot__json_text(&j, "version", s->version);
        foliot__json_text(&j, "rules", s->rules_name);
        foliot__json_count(&j, "first_tick", s->first_tick);
        foliot__json_count(&j, "last_tick", s->last_tick);
        foliot__json_bool(&j, "closed", s->closed);
        foliot__json_count(&j, "bytes", s->bytes);
        foliot__json_count(&j, "players", s->counts.players);
        foliot__json_count(&j, "inputs", s->counts.inputs);
        foliot__json_count(&j, "commands", s->counts.commands);
        foliot__json_count(&j, "keyframes", s->counts.keyframes);
        foliot__json_count(&j, "digests", s->counts.digests);
        if (s->scene)
            foliot__json_text(&j, "scene", s->scene->name);
        if (s->scene)
            foliot__json_reals(&j, "gravity", s->scene->gravity, 3);
        uint32_t step = replay->index_count / MARKS_MAX + 1;
        foliot__json_array(&j, "keyframe_ticks");
        for (uint32_t i = 0; i < replay->index_count; i += step)
            foliot__json_count(&j, NULL, replay->index[i][0]);
        foliot__json_close(&j);
    }
    const char *text = damage.text[0] ? damage.text : foliot_status_get_text(status);
    foliot__json_text(&j, "text", damage.text[0] || status ? text : "");
    foliot__json_close(&j);
    return end_answer(out);
}

// -- verifying

// Called after each tick that was replayed.
__attribute__((import_module("page"), import_name("progress"))) void page_progress(double tick);

static void after_stage(void *user, foliot_world *world, foliot_stage stage)
{
    (void)user;
    if (stage == FOLIOT_STAGE_finish)
        page_progress((double)foliot_world_get_tick(world));
}

// Replays all of it: {"status", "ticks", ...}.
WEB_EXPORT(verify) const char *web_verify(void)
{
    FILE *out;
    const foliot_host host = {.after_stage = after_stage};
    char digest[40] = "";
    foliot_verdict verdict = {.status = FOLIOT_STATUS_INVALID};
    if (replay) {
        foliot_replay_set_host(replay, &host);
        foliot_status status = foliot_replay_verify(replay, NULL, &verdict);
        if (status != FOLIOT_STATUS_OK)
            verdict = (foliot_verdict){.status = status};
    }
    foliot__json j = begin_answer(&out);
    foliot__json_object(&j, NULL);
    foliot__json_integer(&j, "status", verdict.status);
    foliot__json_text(&j, "status_text", foliot_status_get_text(verdict.status));
    foliot__json_bool(&j, "unfinished", verdict.status == FOLIOT_STATUS_TRUNCATED);
    foliot__json_count(&j, "ticks", verdict.ticks);
    if (verdict.digest_known)
        foliot_digest_print(verdict.digest, digest);
    foliot__json_text(&j, "digest", digest);
    foliot__json_text(&j, "text", verdict.damage.text);
    if (verdict.status == FOLIOT_STATUS_DIVERGED) {
        static char text[4096];
        const foliot_replay_summary *s = foliot_replay_get_summary(replay);
        const foliot_scene *scene = s->scene;
        foliot_divergence_labels labels = {
            .title = "recording", .expected = "recorded", .actual = "replayed", .dt = s->dt};
        if (scene && verdict.divergence.body < scene->body_count)
            labels.part = scene->bodies[verdict.divergence.body].name;
        foliot_divergence_print_text(&verdict.divergence, &labels, text, sizeof text);
        foliot__json_count(&j, "diverged_tick", verdict.divergence.tick);
        foliot__json_integer(
            &j, "body",
            verdict.divergence.body == FOLIOT_NO_BODY ? -1 : (int64_t)verdict.divergence.body);
        foliot__json_text(&j, "report", text);
    }
    foliot__json_close(&j);
    return end_answer(out);
}

// -- looking

// The last keyframe at or before both ticks.
static uint64_t keyframe_before(uint64_t wanted, uint64_t trusted)
{
    uint64_t first = foliot_replay_get_summary(replay)->first_tick, best = first;
    for (uint32_t i = 0; i < replay->index_count; i++) {
        uint64_t tick = replay->index[i][0];
        if (tick <= wanted && tick <= trusted && tick > best)
            best = tick;
    }
    return best;
}

static bool begin_at(uint64_t tick)
{
    if (foliot_replay_seek(replay, tick) != FOLIOT_STATUS_OK)
        return false;
    began = tick;
    return true;
}

// Goes towards `tick` by at most `ticks` steps, from the nearest keyframe if that is shorter.
// Keyframes beyond `trusted` hold recorded states, not computed ones: they are not used. Returns 1
// if it has not arrived yet, 0 if it has or cannot continue.
WEB_EXPORT(seek) int web_seek(double tick, uint32_t ticks, double trusted)
{
    if (!replay)
        return 0;
    uint64_t wanted = (uint64_t)tick, now = foliot_replay_get_tick(replay);
    uint64_t limit = trusted < 0x1p53 ? (uint64_t)trusted : UINT64_MAX;
    uint64_t from = keyframe_before(wanted, limit);
    uint64_t first = foliot_replay_get_summary(replay)->first_tick;
    if ((wanted < now || from > now || (began > limit && began > first)) && !begin_at(from) &&
        (wanted < now && !begin_at(first)))
        return 0;
    for (uint32_t i = 0; i < ticks && foliot_replay_get_tick(replay) < wanted; i++) {
        foliot_status status = foliot_replay_step(replay);
        if (status != FOLIOT_STATUS_OK && status != FOLIOT_STATUS_DIVERGED)
            return 0;
    }
    return foliot_replay_get_tick(replay) < wanted;
}

// The tick of the keyframe from which the shown state was computed.
WEB_EXPORT(began) double web_began(void)
{
    return (double)began;
}

WEB_EXPORT(tick) double web_tick(void)
{
    return replay ? (double)foliot_replay_get_tick(replay) : 0;
}

static const foliot_world *shown_world(void)
{
    return replay ? foliot_replay_get_world(replay) : NULL;
}

// As web_world_picture.
WEB_EXPORT(picture) int web_picture(uint32_t marked_body)
{
    return web_world_picture(shown_world(), marked_body);
}

WEB_EXPORT(slots) uint32_t web_slots(void)
{
    return shown_world() ? foliot_world_get_body_count(shown_world()) : 0;
}

// As web_world_positions.
WEB_EXPORT(positions) const double *web_positions(void)
{
    return shown_world() ? web_world_positions(shown_world()) : NULL;
}

WEB_EXPORT(digest) const char *web_digest(void)
{
    static char text[FOLIOT_DIGEST_TEXT_BYTES];
    text[0] = 0;
    if (shown_world())
        foliot_digest_print(foliot_world_get_digest(shown_world()), text);
    return text;
}
