// SPDX-License-Identifier: MIT
// seed_server.c: the server of a run: it begins, acts, dies as by kill -9, and goes on from its
// recordings. Every tick that it steps is remembered as its clients should see it.
#include "seed_run.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "game_rules.h"
#include "status.h"
#include "world_simulation.h"

#define PORT 7777
#define INTEREST_NEAR 0.2  // of far
#define GARBAGE_MAX 300    // bytes of a block that was being written
#define UNSYNCED_MAX 16384 // bytes that storage never wrote
#define SECTOR 512

// -- digests of states

static foliot_digest digest_of(seed_run *run, seed_host *h, const foliot_world *world, bool exact)
{
    if (exact)
        return foliot_world_get_digest(world);
    if (foliot_snapshot_quantise(&h->format, world, &h->snapshot) != FOLIOT_STATUS_OK)
        seed_fail(run, "a world does not fit its snapshot");
    return foliot_snapshot_get_digest(&h->snapshot);
}

foliot_digest seed_state_digest(seed_run *run, seed_host *h, const foliot_world *world)
{
    return digest_of(run, h, world, h->plan->lockstep);
}

static void remember_tick(seed_run *run, seed_host *h)
{
    seed_digests *t = &h->trace[h->era];
    uint64_t tick = foliot_world_get_tick(h->world);
    if (run->plan->unchecked) {
        run->result.tally.ticks += tick > h->last_tick;
        h->last_tick = tick;
        return;
    }
    if (t->count == 0) {
        t->base = tick;
        t->lockstep = h->plan->lockstep;
    }
    if (tick < t->base + t->count)
        return;
    if (tick != t->base + t->count) {
        seed_fail(run, "the world went from tick %llu to %llu",
                  (unsigned long long)(t->base + t->count - 1), (unsigned long long)tick);
        return;
    }
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 1024;
        t->digests = realloc(t->digests, t->capacity * sizeof *t->digests);
        t->others = realloc(t->others, t->capacity * sizeof *t->others);
        FOLIOT_ASSERT(t->digests && t->others);
    }
    t->digests[t->count] = seed_state_digest(run, h, h->world);
    if (h->plan->lockstep || run->plan->mixed)
        t->others[t->count] = digest_of(run, h, h->world, !h->plan->lockstep);
    seed_mix(run, t->digests[t->count++].low);
    run->result.tally.ticks++;
}

bool seed_state_matches(const seed_host *host, uint64_t tick, bool steps, foliot_digest digest)
{
    for (uint32_t i = host->anew; i <= host->era; i++) {
        const seed_digests *t = &host->trace[i];
        const foliot_digest *digests = steps == t->lockstep ? t->digests : t->others;
        if (tick >= t->base && tick < t->base + t->count &&
            foliot_digest_equal(digests[tick - t->base], digest))
            return true;
    }
    return false;
}

// -- steps that are away for a while

static void run_job(seed_run *run, const seed_job *job)
{
    job->run(job->job);
    for (uint32_t s = 0; s < run->plan->session_count; s++)
        if (run->hosts[s].world)
            remember_tick(run, &run->hosts[s]);
}

static void start_step(void *user, void (*step)(void *job), void *job)
{
    seed_run *run = user;
    seed_job new = {step, job, run->now_ns + run->plan->step_ns};
    if (run->plan->step_ns == 0) {
        run_job(run, &new);
        return;
    }
    FOLIOT_ASSERT(run->job_count < sizeof run->jobs / sizeof run->jobs[0]);
    run->jobs[run->job_count++] = new;
}

static void finish_jobs(seed_run *run, uint64_t until_ns)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < run->job_count; i++) {
        if (run->jobs[i].done_ns <= until_ns)
            run_job(run, &run->jobs[i]);
        else
            run->jobs[kept++] = run->jobs[i];
    }
    run->job_count = kept;
}

// -- recordings

static int64_t recorded_write(void *user, const void *bytes, size_t count)
{
    seed_recording_bytes *recorded = user;
    if (recorded->length + count > recorded->capacity) {
        recorded->capacity = 2 * (recorded->length + count);
        recorded->bytes = realloc(recorded->bytes, recorded->capacity);
        if (!recorded->bytes)
            return -ENOMEM;
    }
    memcpy(recorded->bytes + recorded->length, bytes, count);
    recorded->length += count;
    return (int64_t)count;
}

static int recorded_truncate(void *user, uint64_t length)
{
    ((seed_recording_bytes *)user)->length = (size_t)length;
    return 0;
}

static foliot_status save_rules(void *user, void *bytes, size_t capacity, size_t *length)
{
    return foliot_rules_save(((seed_host *)user)->rules, bytes, capacity, length);
}

static foliot_status restore_rules(void *user, const void *bytes, size_t length)
{
    return foliot_rules_restore(((seed_host *)user)->rules, bytes, length);
}

static foliot_status tick_rules(void *user, const foliot_rules_view *view)
{
    return foliot_rules_tick(((seed_host *)user)->rules, view);
}

static foliot_recording_config recording_config(const seed_run *run, seed_host *h)
{
    const seed_session *plan = h->plan;
    foliot_recording_config config = foliot_recording_config_default();
    h->recorded_rules = (foliot_recording_rules){.name = game_rules_kind.name,
                                                 .version = game_rules_kind.version,
                                                 .save = save_rules,
                                                 .restore = restore_rules,
                                                 .tick = tick_rules,
                                                 .user = h};
    config.rules = h->rules ? &h->recorded_rules : NULL;
    config.block_ticks = plan->block_ticks;
    config.keyframe_ticks = plan->keyframe_ticks;
    config.queue_bytes = plan->queue_bytes;
    config.threaded = false;
    config.fingerprint = run->resources->fingerprint;
    return config;
}

// The part cut off in the middle of a recording is kept next to it: for that a file needs a name.
static bool open_file(const seed_run *run, seed_host *h, uint32_t index)
{
    if (run->plan->storage[0] == SEED_STORAGE_SOUND &&
        run->plan->storage[1] == SEED_STORAGE_SOUND) {
        h->held = memfd_create("foliot-seed", MFD_CLOEXEC);
        snprintf(h->file, sizeof h->file, "/proc/self/fd/%d", h->held);
        return h->held >= 0;
    }
    snprintf(h->file, sizeof h->file, "/tmp/foliot-seed-%d-%u", (int)getpid(), index);
    h->held = open(h->file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return h->held >= 0;
}

static void close_file(seed_host *h)
{
    char pattern[sizeof h->file + 8];
    glob_t cut;
    if (h->held <= 0)
        return;
    close(h->held);
    h->held = 0;
    if (strncmp(h->file, "/tmp/", 5) != 0)
        return;
    unlink(h->file);
    snprintf(pattern, sizeof pattern, "%s.cut-*", h->file);
    if (glob(pattern, 0, NULL, &cut) == 0) {
        for (size_t i = 0; i < cut.gl_pathc; i++)
            unlink(cut.gl_pathv[i]);
        globfree(&cut);
    }
}

static size_t spoil_bytes(foliot__rng *rng, seed_storage how, uint8_t *bytes, size_t length)
{
    uint32_t size = (uint32_t)length,
             end = foliot__rng_below(rng, size < UNSYNCED_MAX ? size : UNSYNCED_MAX);
    if (how == SEED_STORAGE_UNSYNCED)
        return length - end;
    if (how == SEED_STORAGE_ZEROED)
        memset(bytes + length - end, 0, end);
    if (how == SEED_STORAGE_MISDIRECTED && size >= 4 * SECTOR) {
        uint32_t sectors = size / SECTOR,
                 count = 1 + foliot__rng_below(rng, sectors < 16 ? sectors / 2 : 8);
        uint32_t from = foliot__rng_below(rng, sectors - count + 1),
                 to = foliot__rng_below(rng, sectors - count + 1);
        memmove(bytes + to * SECTOR, bytes + from * SECTOR, (size_t)count * SECTOR);
    } else if (how == SEED_STORAGE_MISDIRECTED || how == SEED_STORAGE_FLIPPED) {
        for (uint32_t n = 1 + foliot__rng_below(rng, 4); n > 0; n--) {
            uint32_t at = foliot__rng_below(rng, size), bit = foliot__rng_below(rng, 8);
            bytes[at] ^= (uint8_t)(1u << bit);
        }
    }
    return length;
}

// Damages the file as storage does while its server is down.
static bool spoil_file(const seed_run *run, const seed_host *h, uint32_t index)
{
    seed_storage how = run->plan->storage[run->generation];
    foliot__rng rng = foliot__rng_seeded(run->plan->seed * 11 + index + 100 * run->generation);
    off_t length = lseek(h->held, 0, SEEK_END);
    uint8_t *bytes = length > 0 ? malloc((size_t)length) : NULL;
    if (how == SEED_STORAGE_SOUND || !bytes) {
        free(bytes);
        return true;
    }
    bool fine = pread(h->held, bytes, (size_t)length, 0) == length;
    size_t kept = spoil_bytes(&rng, how, bytes, (size_t)length);
    fine = fine && pwrite(h->held, bytes, kept, 0) == (ssize_t)kept &&
           ftruncate(h->held, (off_t)kept) == 0;
    free(bytes);
    return fine;
}

// The recording as a file, with what a dying process had begun to write behind it.
static bool put_down(seed_run *run, seed_host *h, uint32_t index)
{
    foliot__rng rng = foliot__rng_seeded(run->plan->seed * 7 + index + 100 * run->generation);
    uint8_t garbage[GARBAGE_MAX];
    size_t count = foliot__rng_below(&rng, GARBAGE_MAX);
    bool again = h->held > 0;
    if (!again && !open_file(run, h, index))
        return false;
    FILE *file = fopen(h->file, "ab");
    if (!file)
        return false;
    // Bytes that look like a block: the end of the recording again; else noise.
    for (size_t i = 0; i < count; i++)
        garbage[i] = (uint8_t)foliot__rng_u64(&rng);
    if (h->written.length > count && foliot__rng_below(&rng, 2))
        memcpy(garbage, h->written.bytes + h->written.length - count, count);
    bool fine = again || fwrite(h->written.bytes, 1, h->written.length, file) == h->written.length;
    fine = fwrite(garbage, 1, count, file) == count && fine;
    return fclose(file) == 0 && fine;
}

static void take_up(seed_run *run, seed_host *h)
{
    if (h->held <= 0)
        return;
    FILE *file = fopen(h->file, "rb");
    h->written.length = 0;
    uint8_t bytes[65536];
    size_t count = 0;
    while (file && (count = fread(bytes, 1, sizeof bytes, file)) > 0)
        recorded_write(&h->written, bytes, count);
    if (!file)
        seed_fail(run, "%s: %s", h->file, strerror(errno));
    else
        fclose(file);
    close_file(h);
}

// -- beginning

static void open_transport(seed_run *run)
{
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_transport *inner = NULL;
    wire.bind = "127.0.0.1";
    wire.port = PORT;
    wire.peers_max = run->plan->peers_max;
    wire.timeout_ms = run->plan->timeout_ms;
    run->clock = (seed_clock){&run->now_ns, SEED_BEGIN_NS, run->plan->server_skew_ns,
                              run->plan->server_drift};
    FOLIOT_ASSERT(foliot_transport_create_memory(run->hub, &wire, run->now_ns, &inner) ==
                  FOLIOT_STATUS_OK);
    run->serial++;
    seed_wire_config config = {.clock = run->clock};
    run->host = seed_wire_create(inner, &config);
}

// Tokens from the seed: another run of it is the same to the bit.
static void draw_token_bytes(void *user, void *bytes, size_t count)
{
    foliot__rng *rng = user;
    for (size_t i = 0; i < count; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)(foliot__rng_u64(rng) >> 32);
}

void seed_server_add(seed_run *run, uint32_t s)
{
    seed_host *h = &run->hosts[s];
    const foliot_scene *scene = h->resumed ? h->resumed : &h->scene;
    char name[24];
    snprintf(name, sizeof name, "session-%u", s);
    foliot_session_config session = {.name = name,
                                     .scene = scene,
                                     .world = h->world,
                                     .recording = h->recording,
                                     .rules = h->rules,
                                     .follows_next = true,
                                     .pace_hz = scene->pace_hz,
                                     .input_delay = h->plan->input_delay,
                                     .spectator_delay_s = h->plan->spectator_delay_s};
    if (h->plan->interest_far > 0)
        session.interest = (foliot_interest){h->plan->interest_far * INTEREST_NEAR,
                                             h->plan->interest_far, h->plan->interest_kbit};
    session.mode = h->plan->lockstep ? FOLIOT_SESSION_LOCKSTEP : FOLIOT_SESSION_SNAPSHOTS;
    foliot_status status =
        foliot_server_add_session(run->server, &session, seed_clock_local(&run->clock));
    if (status != FOLIOT_STATUS_OK)
        seed_fail(run, "no session %u: %s", s, foliot_status_get_text(status));
    h->up_ns = run->now_ns;
    h->vars_count = 0;
    remember_tick(run, h);
}

static void open_server(seed_run *run)
{
    foliot_server_config config = foliot_server_config_default();
    config.transport = run->host;
    config.start = start_step;
    config.start_user = run;
    config.snapshot_hz = run->plan->snapshot_hz;
    config.reconnect_ms = run->plan->reconnect_ms;
    config.fingerprint = run->resources->fingerprint;
    run->tokens = foliot__rng_seeded(run->plan->seed * 3 + 1 + run->generation);
    config.random = draw_token_bytes;
    config.random_user = &run->tokens;
    FOLIOT_ASSERT(foliot_server_create(&config, seed_clock_local(&run->clock), &run->server) ==
                  FOLIOT_STATUS_OK);
    for (uint32_t s = 0; s < run->plan->session_count; s++)
        seed_server_add(run, s);
    run->server_next_ns = run->now_ns;
}

// From the scene, with an empty recording.
static void begin_session(seed_run *run, seed_host *h, const seed_session *plan)
{
    h->plan = plan;
    h->scene = *run->resources->scenes[plan->scene];
    if (plan->tick_hz > 0 || !(h->scene.pace_hz > 0)) {
        h->scene.pace_hz = plan->tick_hz > 0 ? plan->tick_hz : 60;
        h->scene.dt *= plan->tick_hz > 0 ? 60 / plan->tick_hz : 1;
    }
    seed_game_make(run, h);
    h->over = h->end_given = false;
    h->asks = 0;
    h->counted = 0;
    h->drain_ns = 0; // its first state is written at once
    memset(h->owners, 0, sizeof h->owners);
    close_file(h);
    foliot_scene_destroy(h->resumed);
    h->resumed = NULL;
    h->written.length = 0;
    h->recorded = FOLIOT_STATUS_OK;
    h->ticks_lost = h->last_tick = 0;
    h->format = foliot_snapshot_format_default(&h->scene);
    h->snapshot.capacity = h->format.bodies_max + 1;
    free(h->snapshot.bodies);
    h->snapshot.bodies = calloc(h->snapshot.capacity, sizeof *h->snapshot.bodies);
    FOLIOT_ASSERT(h->snapshot.bodies &&
                  foliot_world_create(&h->scene, &h->world, NULL) == FOLIOT_STATUS_OK);
    foliot_recording_sink sink = {
        .write = recorded_write, .truncate = recorded_truncate, .user = &h->written};
    foliot_recording_config config = recording_config(run, h);
    FOLIOT_ASSERT(foliot_recording_open_sink(&sink, WORLD_SIMULATION(h->world, &h->scene), &config,
                                             &h->recording) == FOLIOT_STATUS_OK);
}

// Knowledge of the previous world does not hold for this one.
void seed_server_begin_anew(seed_run *run, seed_host *h, const seed_session *plan)
{
    h->anew = h->era;
    h->anew_ns = run->now_ns;
    for (uint32_t i = 0; i < run->plan->client_count; i++)
        if (run->callers[i].plan->session == (uint32_t)(h - run->hosts))
            run->callers[i].claims = false;
    begin_session(run, h, plan);
}

void seed_server_open(seed_run *run)
{
    for (uint32_t s = 0; s < run->plan->session_count; s++)
        begin_session(run, &run->hosts[s], &run->plan->sessions[s]);
    open_transport(run);
    open_server(run);
}

// -- acting

// A player is resumed by whom it was given to: from the same address, as long as that one lives.
// Those who make noise overhear tokens.
static void check_owner(seed_run *run, const foliot_server_event *event)
{
    unsigned client, life, serial;
    if (event->kind == FOLIOT_SERVER_RESUMED &&
        sscanf(event->text, "guest-%u-%u (memory:%u)", &client, &life, &serial) == 3 &&
        client < run->plan->client_count && run->callers[client].life == life &&
        run->callers[client].serial != serial && !seed_plan_has(run->plan, SEED_HOSTILE))
        seed_fail(run, "player %u of client %u was given to another", event->player, client);
}

static void note_owner(seed_run *run, const foliot_server_event *event)
{
    unsigned s;
    if (event->player >= SEED_PLAYERS || sscanf(event->session, "session-%u", &s) != 1 ||
        s >= SEED_SESSIONS)
        return;
    seed_owner *owner = &run->hosts[s].owners[event->player];
    owner->known = sscanf(event->text, "guest-%u-%u", &owner->client, &owner->life) == 2;
}

static void take_events(seed_run *run)
{
    foliot_server_event event;
    while (foliot_server_poll(run->server, &event)) {
        static const char *const names[] = {
            "joined", "resumed",           "lost",  "left", "refused",  "dropped", "late",
            "frozen", "recording stopped", "ended", "lied", "diverged", "found",   "behind"};
        const char *name =
            (size_t)event.kind < sizeof names / sizeof names[0] ? names[event.kind] : "something";
        seed_log(run, "server: %s %s player %u tick %llu value %llu %s", event.session, name,
                 event.player, (unsigned long long)event.tick, (unsigned long long)event.value,
                 event.text);
        seed_mix(run, (uint64_t)event.kind << 32 | event.player);
        run->result.tally.events +=
            event.kind != FOLIOT_SERVER_REFUSED; // whose lines a program limits
        run->result.tally.resumes += event.kind == FOLIOT_SERVER_RESUMED;
        run->result.tally.joins += event.kind == FOLIOT_SERVER_JOINED;
        if (event.kind == FOLIOT_SERVER_JOINED || event.kind == FOLIOT_SERVER_RESUMED) {
            note_owner(run, &event);
            seed_check_kept(run, &event);
        }
        check_owner(run, &event);
        unsigned ended;
        if (event.kind == FOLIOT_SERVER_GAME_ENDED &&
            sscanf(event.session, "session-%u", &ended) == 1)
            seed_game_ended(run, ended);
        if (event.kind == FOLIOT_SERVER_REFUSED && event.text[0] == '\0')
            seed_fail(run, "somebody was refused without a sentence");
    }
}

static void drain_recording(seed_run *run, seed_host *h)
{
    if (!h->recording || run->now_ns < h->drain_ns)
        return;
    h->drain_ns = run->now_ns + (uint64_t)(1e9 / h->plan->drain_hz);
    allow_failure(foliot_recording_drain(h->recording));
}

void seed_server_act(seed_run *run)
{
    const seed_plan *plan = run->plan;
    finish_jobs(run, run->now_ns);
    seed_game_act(run);
    foliot_server_update(run->server, seed_clock_local(&run->clock));
    take_events(run);
    for (uint32_t s = 0; s < plan->session_count; s++)
        drain_recording(run, &run->hosts[s]);
    uint64_t wake = seed_clock_true(&run->clock, foliot_server_get_wake_ns(run->server));
    uint64_t next = run->now_ns + plan->server_poll_ns;
    if (wake > run->now_ns && wake < next)
        next = wake;
    for (uint32_t i = 0; i < run->job_count; i++)
        if (run->jobs[i].done_ns < next)
            next = run->jobs[i].done_ns;
    next = seed_after_gaps(plan->server_pauses, plan->server_pause_count, next);
    if (run->generation < plan->crash_count && plan->crash_ns[run->generation] < next &&
        plan->crash_ns[run->generation] > run->now_ns)
        next = plan->crash_ns[run->generation];
    if (run->dies_ns && run->dies_ns < next)
        next = run->dies_ns > run->now_ns ? run->dies_ns : run->now_ns + 1;
    run->server_next_ns = next;
}

// -- dying and coming back

static void add_counters(seed_run *run)
{
    const foliot_server_counters *now = foliot_server_get_counters(run->server);
#define ADD(name, help) run->counted.name += now->name;
    FOLIOT_SERVER_COUNTERS(ADD)
#undef ADD
    run->received += foliot_transport_get_counters(run->host)->packets_received;
}

void seed_server_crash(seed_run *run)
{
    finish_jobs(run, UINT64_MAX);
    for (uint32_t i = 0; i < run->plan->client_count; i++)
        seed_note_kept(run, &run->callers[i]);
    add_counters(run);
    seed_wire_mute(run->host);
    for (uint32_t s = 0; s < run->plan->session_count; s++) {
        seed_host *h = &run->hosts[s];
        seed_log(run, "server: dies at tick %llu of session %u, %llu of them durable",
                 (unsigned long long)foliot_world_get_tick(h->world), s,
                 (unsigned long long)foliot_recording_get_state(h->recording).written_tick);
        h->recorded = foliot_recording_get_state(h->recording).stopped;
        h->ticks_lost =
            foliot_recording_get_state(h->recording).written_tick; // kept until it is back
        foliot_recording_abandon(h->recording);
        h->recording = NULL;
        h->world = NULL;
        h->era++;
        h->over = h->end_given = false;         // it ends again
        memset(h->owners, 0, sizeof h->owners); // it may go on from before they came
        if (!put_down(run, h, s) || !spoil_file(run, h, s))
            seed_fail(run, "%s: %s", h->file, strerror(errno));
        run->result.tally.storages += run->plan->storage[run->generation] != SEED_STORAGE_SOUND;
    }
    for (uint32_t i = 0; i < run->plan->client_count; i++)
        if (run->callers[i].client)
            seed_client_mark(&run->callers[i]);
    foliot_server_destroy(run->server);
    foliot_transport_destroy(run->host);
    run->server = NULL;
    run->host = NULL;
    run->generation++;
    run->result.tally.server_crashes++;
}

// The header that a resuming server reads about the session, whichever scene of it this is.
static void check_header(seed_run *run, const seed_host *h, uint32_t index)
{
    const foliot_resumption *about = foliot_recording_get_resumption(h->recording);
    char name[24];
    snprintf(name, sizeof name, "session-%u", index);
    if (strcmp(about->session, name) != 0 || about->lockstep != h->plan->lockstep)
        seed_fail(run, "session %u: its recording says that it is '%s'%s", index, about->session,
                  about->lockstep ? " in lockstep" : "");
}

static void resume_session(seed_run *run, uint32_t index)
{
    seed_host *h = &run->hosts[index];
    const seed_digests *before = &h->trace[h->era - 1];
    if (h->rules) { // as another process makes them
        char text[200];
        foliot_rules_destroy(h->rules);
        FOLIOT_ASSERT(foliot_rules_create(&game_rules_kind, &h->scene, &h->rules, text,
                                          sizeof text) == FOLIOT_STATUS_OK);
    }
    foliot_recording_config config = recording_config(run, h);
    foliot_scene *scene = NULL;
    foliot_error error = {.text = ""};
    foliot_status status = resume_world(h->file, &config, &h->recording, &scene, &h->world, &error);
    bool spoilt = run->plan->storage[run->generation - 1] != SEED_STORAGE_SOUND;
    // Harm to bytes is found by checksums, not by replaying what they say.
    if (status == FOLIOT_STATUS_DIVERGED)
        seed_fail(run, "session %u: a harmed recording was replayed: %s", index, error.text);
    if (status != FOLIOT_STATUS_OK && spoilt && error.text[0]) {
        seed_log(run, "server: session %u cannot be resumed: %s: %s", index,
                 foliot_status_get_text(status), error.text);
        run->result.tally.unresumable++;
        seed_server_begin_anew(run, h, h->plan);
        return;
    }
    if (status != FOLIOT_STATUS_OK) {
        seed_fail(run, "session %u cannot be resumed: %s: %s", index,
                  foliot_status_get_text(status), error.text);
        return;
    }
    foliot_scene_destroy(h->resumed);
    h->resumed = scene;
    uint64_t tick = foliot_world_get_tick(h->world), last = before->base + before->count - 1;
    seed_log(run, "server: session %u goes on from tick %llu", index, (unsigned long long)tick);
    if (!spoilt && tick > 0)
        check_header(run, h, index);
    if (spoilt &&
        !seed_state_matches(h, tick, h->plan->lockstep, seed_state_digest(run, h, h->world)))
        seed_fail(run, "session %u goes on from a state of tick %llu that never was", index,
                  (unsigned long long)tick);
    if (tick < h->ticks_lost && !spoilt)
        seed_fail(run, "tick %llu was durable, and only %llu came back",
                  (unsigned long long)h->ticks_lost, (unsigned long long)tick);
    if (tick > last)
        seed_fail(run, "tick %llu came back, which never was", (unsigned long long)tick);
    run->result.tally.ticks_lost += last - tick;
    h->ticks_lost = 0;
}

void seed_server_resume(seed_run *run)
{
    bool swaps = run->plan->swaps[run->generation - 1];
    run->back = run->back || run->plan->storage[run->generation - 1] != SEED_STORAGE_SOUND;
    run->result.tally.swaps += swaps;
    for (uint32_t s = 0; s < run->plan->session_count && !run->failed; s++) {
        seed_host *h = &run->hosts[s];
        if (!swaps) {
            resume_session(run, s);
            continue;
        }
        seed_server_begin_anew(run, h, &run->plan->swapped[run->generation - 1][s]);
    }
    if (run->failed)
        return;
    open_transport(run);
    open_server(run);
    // A fifth less: clocks drift.
    for (uint32_t i = 0; i < run->plan->client_count; i++)
        run->callers[i].kept_until_ns = run->now_ns + 800000u * (uint64_t)run->plan->reconnect_ms;
}

void seed_server_end_recording(seed_run *run, seed_host *h)
{
    foliot_recording_state state = {0};
    if (h->recording) {
        h->recorded = foliot_recording_close(h->recording, &state);
        h->ticks_lost = state.ticks_lost;
    }
    h->recording = NULL;
    take_up(run, h);
}

void seed_server_close(seed_run *run)
{
    run->closing = true;
    if (run->server) {
        finish_jobs(run, UINT64_MAX);
        foliot_server_stop(run->server, "the run is over", seed_clock_local(&run->clock));
        for (int i = 0; i < 200 && !foliot_server_get_done(run->server); i++) {
            run->now_ns += 10000000u;
            finish_jobs(run, UINT64_MAX);
            foliot_server_update(run->server, seed_clock_local(&run->clock));
            take_events(run);
        }
        if (!foliot_server_get_done(run->server))
            seed_fail(run, "the server did not stop");
        seed_check_hub(run);
        add_counters(run);
        foliot_server_destroy(run->server);
        foliot_transport_destroy(run->host);
        run->server = NULL;
    }
    for (uint32_t s = 0; s < run->plan->session_count; s++)
        seed_server_end_recording(run, &run->hosts[s]);
}
