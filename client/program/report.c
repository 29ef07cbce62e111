// SPDX-License-Identifier: MIT
// report.c: divergences and the fault of --perturb, the trace of rendered samples, the statistics
// of a client for people and as JSON, and the exit code. The library makes names printable.
#include "app.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/json.h"

// -- divergences

const char *foliot__fault_plant(foliot__fault *fault, const char *text)
{
    static const foliot_host none;
    const char *wrong = text ? foliot__perturb_parse(text, &fault->request) : NULL;
    fault->host = none;
    if (!text || wrong)
        return wrong;
    fault->planted = true;
    fault->fault = fault->request.fault;
    fault->fault.body = FOLIOT_NO_BODY;
    fault->perturber.fault = &fault->fault;
    fault->host = foliot__perturbing_host(&none, &fault->perturber);
    return NULL;
}

static void report_divergence(foliot__fault *fault, const foliot_client *client,
                              const foliot_divergence_report *found)
{
    char text[2048], file[256];
    // A server may report any number of divergences, and the log must stay bounded: the first are
    // reported, then those at counts of 100, 1,000, ...
    uint64_t power = FOLIOT__FAULT_FILES_MAX < ++fault->reported ? 100 : fault->reported;
    while (power < fault->reported)
        power *= 10;
    if (power != fault->reported)
        return;
    foliot_divergence_report_print_text(found, foliot_client_get_scene(client), text, sizeof text);
    fprintf(stderr, "foliot-client: %s", text);
    if (fault->files == FOLIOT__FAULT_FILES_MAX)
        return;
    foliot_divergence_report_name_file(found, "client", file, sizeof file);
    foliot_status status = foliot_divergence_report_write(found, file);
    if (status == FOLIOT_STATUS_OK) {
        fault->files++;
        fprintf(stderr, "  our state  %s\n", file);
    } else {
        fprintf(stderr, "  our state  was not written: %s\n", foliot_status_get_text(status));
    }
}

bool foliot__fault_update(foliot__fault *fault, foliot_client *client)
{
    foliot_divergence_report found;
    const foliot_scene *scene = foliot_client_get_scene(client);
    if (fault->planted && fault->fault.body == FOLIOT_NO_BODY && scene) {
        // By name, else by index.
        const char *text = fault->request.body;
        char *end;
        unsigned long index = strtoul(text, &end, 10);
        if (end != text && !*end && index < FOLIOT_BODIES_MAX)
            fault->fault.body = (uint32_t)index;
        for (uint32_t i = scene->body_count; i-- > 0;)
            if (scene->bodies[i].name && strcmp(scene->bodies[i].name, text) == 0)
                fault->fault.body = i;
    }
    if (!foliot_client_poll_divergence(client, &found))
        return false;
    report_divergence(fault, client, &found);
    return true;
}

// -- the trace

void foliot__trace_sample(foliot__app *a, const foliot_client *client, const foliot_sample *sample)
{
    foliot__json json = foliot__json_to(a->trace);
    foliot__json_object(&json, NULL);
    foliot__json_real(&json, "render_tick", sample->render_tick);
    foliot__json_real(&json, "render_time", sample->render_tick * foliot_client_get_dt(client));
    foliot__json_bool(&json, "starved", sample->starved);
    foliot__json_array(&json, "bodies");
    for (uint32_t i = 0; i < sample->count; i++) {
        const foliot_body_state *b = &sample->bodies[i];
        const foliot_scene *scene = foliot_client_get_scene(client);
        const char *name = foliot_client_get_player_name(client, i);
        if (!(b->flags & FOLIOT_BODY_ALIVE))
            continue;
        if (!name && scene && i < scene->body_count)
            name = scene->bodies[i].name;
        foliot__json_object(&json, NULL);
        foliot__json_count(&json, "slot", i);
        foliot__json_text(&json, "name", name && *name ? name : NULL);
        foliot__json_reals(&json, "position", b->position, 3);
        foliot__json_reals(&json, "orientation", b->orientation, 4);
        foliot__json_close(&json);
    }
    foliot__json_line(&json);
}

void foliot__trace_simulation(foliot__app *a, const foliot_client *client,
                              const foliot_simulation_sample *sample)
{
    foliot__json json = foliot__json_to(a->trace);
    foliot__json_object(&json, NULL);
    foliot__json_real(&json, "render_tick", sample->render_tick);
    foliot__json_real(&json, "render_time", sample->render_tick * foliot_client_get_dt(client));
    foliot__json_count(&json, "tick", sample->tick);
    foliot__json_real(&json, "fraction", sample->fraction);
    foliot__json_bool(&json, "starved", sample->starved);
    foliot__json_count(&json, "before_bytes", sample->before_bytes);
    foliot__json_count(&json, "after_bytes", sample->after_bytes);
    foliot__json_line(&json);
}

int foliot__trace_close(const foliot__app *a)
{
    if (!a->trace)
        return 0;
    bool failed = ferror(a->trace);
    failed = fclose(a->trace) != 0 || failed;
    if (!failed)
        return 0;
    fprintf(stderr, "foliot-client: %s could not be written completely: %s\n", a->options->trace,
            strerror(errno));
    return FOLIOT__EXIT_AGAIN;
}

// -- at the end

static const char *outcome_text(const foliot__app_player *p)
{
    foliot_client_state state = foliot_client_get_state(p->client);
    return state == FOLIOT_CLIENT_REFUSED ? "refused"
           : state == FOLIOT_CLIENT_LOST  ? "lost"
           : p->playing                   ? "played"
                                          : "left";
}

static bool has_failed(const foliot__app_player *p)
{
    foliot_client_state state = foliot_client_get_state(p->client);
    return state == FOLIOT_CLIENT_REFUSED || state == FOLIOT_CLIENT_LOST;
}

static void report_json(const foliot__app_player *p)
{
    static const char *const predictions[] = {[FOLIOT_PREDICTION_OFF] = "off",
                                              [FOLIOT_PREDICTION_WAITS] = "waits",
                                              [FOLIOT_PREDICTION_ON] = "on",
                                              [FOLIOT_PREDICTION_SLOW] = "slow",
                                              [FOLIOT_PREDICTION_MEMORY] = "memory"};
    foliot_client_statistics s = foliot_client_get_statistics(p->client);
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(s.digest, digest);
    foliot__json json = foliot__json_to(stdout);
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "outcome", outcome_text(p));
    foliot__json_text(&json, "reason", foliot_client_get_reason(p->client));
    foliot__json_text(&json, "kind",
                      foliot_client_get_kind(p->client) == FOLIOT_PEER_STEPPER ? "stepper"
                                                                               : "watcher");
    foliot__json_text(&json, "scene", foliot_client_get_scene_name(p->client));
    foliot__json_count(&json, "ticks", s.newest_tick);
#define JSON_uint64_t(name) foliot__json_count(&json, #name, s.name);
#define JSON_double(name)                                                                          \
    foliot__json_decimals(&json, #name, s.name, strcmp(#name, "loss") == 0 ? 6 : 3);
#define JSON(type, name) JSON_##type(name)
    FOLIOT_CLIENT_STATISTICS(JSON)
#undef JSON
#undef JSON_uint64_t
#undef JSON_double
    foliot__json_text(&json, "prediction", predictions[foliot_client_get_prediction(p->client)]);
    foliot__json_text(&json, "digest", s.snapshots_received ? digest : NULL);
    foliot__json_line(&json);
}

static void report_lockstep(const foliot__app_player *p, const foliot_client_statistics *s,
                            const char *digest)
{
    printf("  lockstep         %llu ticks stepped, %llu compared, %llu divergences, %llu stalls\n",
           (unsigned long long)s->ticks_stepped, (unsigned long long)s->ticks_compared,
           (unsigned long long)s->divergences, (unsigned long long)s->stalls);
    printf("  packets          closed ticks %.1f bytes each (p99 %.0f), ours %.1f (p99 %.0f), "
           "round trip %.1f ms\n",
           s->relay_bytes_mean, s->relay_bytes_p99, s->input_bytes_mean, s->input_bytes_p99,
           s->round_trip_ms);
    printf("  interpolation    %.1f ms of delay on average, %llu of %llu samples starved, %llu "
           "jumps\n",
           s->delay_mean_ms, (unsigned long long)s->samples_starved, (unsigned long long)s->samples,
           (unsigned long long)s->snaps);
    printf(
        "  inputs           %llu packets, %llu changes late, %llu ticks missing, %llu reconnects\n",
        (unsigned long long)s->inputs_sent, (unsigned long long)s->inputs_late,
        (unsigned long long)s->inputs_missing, (unsigned long long)s->reconnects);
    foliot_prediction prediction = foliot_client_get_prediction(p->client);
    if (prediction == FOLIOT_PREDICTION_SLOW)
        printf("  prediction       none: a step takes %.1f ms, more than a quarter of a tick "
               "(--predict overrides this)\n",
               s->step_us * 1e-3);
    else if (prediction == FOLIOT_PREDICTION_MEMORY)
        printf("  prediction       none: no memory for two more worlds of this size\n");
    else if (prediction != FOLIOT_PREDICTION_OFF)
        printf("  prediction       %llu rollbacks, %llu corrections (%llu of the own body), %.1f "
               "ticks of input delay\n",
               (unsigned long long)s->rollbacks, (unsigned long long)s->corrections,
               (unsigned long long)s->corrections_own, s->input_delay_ticks);
    if (s->key_to_screen_max_ms > 0)
        printf("  key to screen    %.1f ms on average, %.1f at most\n", s->key_to_screen_ms,
               s->key_to_screen_max_ms);
    printf("  digest           %s, of the last tick\n", digest);
}

static void report_text(const foliot__app_player *p)
{
    foliot_client_statistics s = foliot_client_get_statistics(p->client);
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(s.digest, digest);
    const char *reason = foliot_client_get_reason(p->client);
    bool expected = strcmp(reason, "left") == 0; // by itself, as it was asked to
    printf("%s%s%s\n", outcome_text(p), *reason && !expected ? ": " : "", expected ? "" : reason);
    if (s.snapshots_received == 0)
        return;
    printf("  joined in        %.0f ms; last tick %llu\n", s.join_ms,
           (unsigned long long)s.newest_tick);
    if (s.kind_changes > 0)
        printf("  kind             %s at the end, %llu changes, %llu heals\n",
               foliot_client_get_kind(p->client) == FOLIOT_PEER_STEPPER ? "stepper" : "watcher",
               (unsigned long long)s.kind_changes, (unsigned long long)s.heals);
    if (foliot_client_get_kind(p->client) == FOLIOT_PEER_STEPPER) {
        report_lockstep(p, &s, digest);
        return;
    }
    printf("  snapshots        %llu of %llu received, %llu used, %.1f bytes each\n",
           (unsigned long long)s.snapshots_received, (unsigned long long)s.snapshots_expected,
           (unsigned long long)s.snapshots_used, s.snapshot_bytes_mean);
    printf("  network          loss %.2f %%, jitter %.1f ms, round trip %.1f ms\n", 100 * s.loss,
           s.jitter_ms, s.round_trip_ms);
    printf("  interpolation    %.1f ms of delay on average, %llu of %llu samples starved, %llu "
           "jumps\n",
           s.delay_mean_ms, (unsigned long long)s.samples_starved, (unsigned long long)s.samples,
           (unsigned long long)s.snaps);
    printf("  inputs           %llu packets, %llu changes late, %llu reconnects\n",
           (unsigned long long)s.inputs_sent, (unsigned long long)s.inputs_late,
           (unsigned long long)s.reconnects);
    printf("  digest           %s, of the last snapshot\n", digest);
}

void foliot__report(const foliot__app *app)
{
    const char *before = "";
    for (uint32_t i = 0; i < app->count; i++) {
        const foliot__app_player *player = &app->players[i];
        if (app->options->json)
            report_json(player);
        else if (player->playing || !has_failed(player))
            report_text(player);
        const char *reason = foliot_client_get_reason(player->client);
        // The same reason of several clients is printed once.
        if (has_failed(player) && strcmp(reason, before) != 0)
            fprintf(stderr, "foliot-client: %s\n", reason);
        before = has_failed(player) ? reason : before;
    }
}

int foliot__app_exit_code(const foliot__app *a)
{
    int code = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->options->divergence_ends && a->players[i].diverged)
            return FOLIOT__EXIT_DIVERGED;
        if (!has_failed(&a->players[i]))
            continue;
        const foliot_client *client = a->players[i].client;
        int one = foliot_client_get_retryable(client)             ? FOLIOT__EXIT_AGAIN
                  : foliot_client_get_fingerprint_refused(client) ? FOLIOT__EXIT_NOT_VERIFIABLE
                                                                  : FOLIOT__EXIT_ERROR;
        code = code == FOLIOT__EXIT_ERROR || (code && one == FOLIOT__EXIT_AGAIN) ? code : one;
    }
    return code;
}
