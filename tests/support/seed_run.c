// SPDX-License-Identifier: MIT
// seed_run.c: time: whoever is due next acts, and nothing happens in between. See seed_run.h.
#include "seed_run.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "foliot/scene.h"
#include "sim/math/hash.h"

foliot__lockstep_limits seed_limits = FOLIOT__LOCKSTEP_LIMITS;

#define REST_S 60 // of true time at most until all have left
#define MIB (1u << 20)

bool seed_resources_open(seed_resources *resources, const char *root)
{
    foliot_error error;
    memset(resources, 0, sizeof *resources);
    FOLIOT_ASSERT(seed_scene_count <= sizeof resources->scenes / sizeof resources->scenes[0]);
    for (uint32_t i = 0; i < seed_scene_count; i++) {
        char file[512];
        snprintf(file, sizeof file, "%s/%s.yaml", root, seed_scenes[i].file);
        if (foliot_scene_read(file, &resources->scenes[i], &error) != FOLIOT_STATUS_OK) {
            fprintf(stderr, "%s\n", error.text);
            seed_resources_close(resources);
            return false;
        }
    }
    resources->fingerprint = foliot_get_fingerprint();
    return true;
}

void seed_resources_close(seed_resources *resources)
{
    for (uint32_t i = 0; i < seed_scene_count; i++)
        foliot_scene_destroy(resources->scenes[i]);
    memset(resources, 0, sizeof *resources);
}

// -- the log

void seed_log(seed_run *run, const char *format, ...)
{
    if (!run->log)
        return;
    va_list arguments;
    fprintf(run->log, "%10.4f  ", (double)run->now_ns * 1e-9);
    va_start(arguments, format);
    vfprintf(run->log, format, arguments);
    va_end(arguments);
    fputc('\n', run->log);
}

void seed_fail(seed_run *run, const char *format, ...)
{
    char text[SEED_WHY_BYTES - 32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    seed_log(run, "FAILED: %s", text);
    if (!run->failed)
        snprintf(run->result.why, sizeof run->result.why, "at %.4f s: %s",
                 (double)run->now_ns * 1e-9, text);
    run->failed = true;
}

void seed_mix(seed_run *run, uint64_t value)
{
    run->mixed[0] = (run->mixed[0] ^ value) * 0x9e3779b97f4a7c15u;
    run->mixed[0] ^= run->mixed[0] >> 29;
    run->mixed[1] = (run->mixed[1] + run->mixed[0]) * 0xbf58476d1ce4e5b9u;
    run->mixed[1] ^= run->mixed[1] >> 32;
}

uint64_t seed_after_gaps(const seed_gap *gaps, uint32_t count, uint64_t at_ns)
{
    for (uint32_t round = 0; round < count; round++)
        for (uint32_t i = 0; i < count; i++)
            if (at_ns >= gaps[i].begin_ns && at_ns < gaps[i].end_ns)
                at_ns = gaps[i].end_ns;
    return at_ns;
}

// -- time

// The next to act: -1 the server, else a client; ties go to the server, then by index.
static int next_to_act(const seed_run *run, uint64_t *at_ns)
{
    int who = -1;
    *at_ns = run->server_next_ns;
    for (uint32_t i = 0; i < run->plan->client_count; i++)
        if (!run->callers[i].done && run->callers[i].next_ns < *at_ns) {
            *at_ns = run->callers[i].next_ns;
            who = (int)i;
        }
    return who;
}

static void turn_server(seed_run *run)
{
    const seed_plan *plan = run->plan;
    uint32_t i = run->generation;
    bool dies = run->dies_ns && run->now_ns >= run->dies_ns;
    if (run->server && i < plan->crash_count && (dies || run->now_ns >= plan->crash_ns[i])) {
        run->dies_ns = 0;
        seed_server_crash(run);
        run->server_next_ns = run->now_ns + plan->down_ns[i];
        return;
    }
    if (!run->server)
        seed_server_resume(run);
    if (run->server)
        seed_server_act(run);
    else
        run->server_next_ns = UINT64_MAX; // it could not come back, which is a failure
}

// Most memory. The queue of a recording has 16 MiB. A client in lockstep may hold 8 MiB of states
// to be asked about and, where it predicts, three worlds, of a game's up to 8 MiB each; while it
// changes its kind, snapshots too.
static size_t bytes_max(const seed_plan *plan)
{
    size_t client = seed_plan_in_lockstep(plan) ? 40 : 4;
    return (16 + 24 * plan->session_count + client * plan->client_count) * (size_t)MIB;
}

// Until the given time, or until nobody is left with `until_gone`.
static void run_until(seed_run *run, uint64_t until_ns, bool until_gone)
{
    uint64_t at_ns, account_ns = run->now_ns;
    while (!run->failed) {
        int who = next_to_act(run, &at_ns);
        if (at_ns >= until_ns)
            break;
        if (at_ns > run->now_ns)
            run->now_ns = at_ns;
        if (who < 0)
            turn_server(run);
        else
            seed_client_act(run, &run->callers[who]);
        if (run->now_ns - account_ns < SEED_SECOND)
            continue;
        account_ns = run->now_ns;
        seed_check_hub(run);
        size_t bytes = mallinfo2().uordblks + mallinfo2().hblkhd;
        if (bytes > run->result.tally.bytes_max)
            run->result.tally.bytes_max = bytes;
        if (bytes > bytes_max(run->plan))
            seed_fail(run, "%zu bytes of memory are held", bytes);
        foliot_server_presence present = {0};
        if (run->server)
            present = foliot_server_get_presence(run->server);
        bool all_done = run->server != NULL && present.peers == 0 && present.players == 0 &&
                        run->job_count == 0;
        for (uint32_t i = 0; i < run->plan->client_count; i++)
            all_done = all_done && run->callers[i].done;
        if (until_gone && all_done)
            return;
    }
    if (run->now_ns < until_ns && !run->failed)
        run->now_ns = until_ns;
}

static void finish_run(seed_run *run)
{
    seed_tally *tally = &run->result.tally;
    tally->foes = seed_plan_foes(run->plan, SEED_SCHEME_COUNT);
    tally->clients = run->plan->client_count - tally->foes;
    tally->simulated_s = (double)(run->now_ns - SEED_BEGIN_NS) * 1e-9;
    seed_mix(run, run->now_ns);
    run->result.digest = (foliot_digest){run->mixed[0], run->mixed[1]};
    run->result.passed = !run->failed;
}

seed_result seed_run_plan(const seed_resources *resources, const seed_plan *plan, FILE *log)
{
    seed_run *run = calloc(1, sizeof *run);
    FOLIOT_ASSERT(run);
    *run = (seed_run){.resources = resources, .plan = plan, .log = log, .now_ns = SEED_BEGIN_NS};
    run->end_ns = SEED_BEGIN_NS + plan->run_ns;
    seed_limits = plan->limits;
    if (log)
        seed_plan_print(plan, log);
    FOLIOT_ASSERT(foliot_hub_create(&run->hub) == FOLIOT_STATUS_OK);
    seed_server_open(run);
    for (uint32_t i = 0; i < plan->client_count; i++)
        seed_client_open(run, i);
    run_until(run, run->end_ns, false);
    run->stopping = true;
    run_until(run, run->end_ns + REST_S * (uint64_t)SEED_SECOND, true);
    if (!run->failed)
        seed_check_gone(run);
    for (uint32_t i = 0; i < plan->client_count; i++)
        seed_client_close(run, &run->callers[i]);
    seed_server_close(run);
    if (!plan->unchecked)
        seed_check_recordings(run);
    if (!run->failed)
        seed_check_counters(run);
    foliot_hub_destroy(run->hub);
    finish_run(run);
    seed_result result = run->result;
    for (uint32_t s = 0; s < plan->session_count; s++) {
        seed_host *h = &run->hosts[s];
        for (uint32_t i = 0; i < SEED_ERAS; i++)
            free(h->trace[i].digests), free(h->trace[i].others);
        free(h->snapshot.bodies);
        free(h->written.bytes);
        foliot_scene_destroy(h->resumed);
        foliot_rules_destroy(h->rules);
    }
    free(run);
    return result;
}
