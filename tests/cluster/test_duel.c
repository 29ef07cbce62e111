// SPDX-License-Identifier: MIT
// test_duel.c: shots at what a client showed, over a network with a round trip of 150 ms. Goal: the
// rules see what the client showed, to a millimetre and what snapshots round; a shot that was aimed
// at it hits, and in the present it would miss; what a client claims is bounded and counted; a
// recording with all that verifies together with its rules, and goes on after a crash. Method: the
// scene and the rules of games/duel and a probe in C, a server and clients on a virtual clock.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cluster.h"
#include "net/transport.h"
#include "status.h"
#include "wire/message.h"
#include "world_simulation.h"
#include "slots.h"

#define SHOTS_MAX 65536 // a shot is the state of the buttons
#define CLIENTS 3
#define TARGET 1 // the client that walks about; client 0 shoots

// The findings of a probe in C, shot by shot.
typedef struct shot {
    bool fired, judged, hit, hit_now;
    double shown[3], tick; // the target, as the client showed it
    double error, off;     // of the rules' past against that, m and ticks
    double back;           // how many ticks it was judged in the past
} shot;

typedef struct duel {
    foliot_scene *scene;
    cluster *c;
    foliot_recording_rules recorded;
    const char *file;
    foliot__rng rng;
    uint32_t next_shot;
    shot *shots;
    double nearest, farthest; // how many ticks back player 0 was judged
} duel;

// -- rules that only look

static duel *probed;

static foliot_status probe_create(void *user, const foliot_scene *scene, foliot_rules *rules,
                                  void **self, char *problem, size_t problem_bytes)
{
    (void)user;
    (void)scene;
    (void)problem;
    (void)problem_bytes;
    *self = rules;
    return FOLIOT_STATUS_OK;
}

static void probe_destroy(void *self)
{
    (void)self;
}

// Whatever stands in between.
static bool ray_meets(const foliot_world *world, const double from[3], const double to[3],
                      uint32_t target)
{
    foliot_query_hit hits[8];
    double d[3], length = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = to[k] - from[k];
        length += d[k] * d[k];
    }
    if (length < 1)
        return true; // too near to aim
    uint32_t count = foliot_world_cast_ray_all(world, from, d, sqrt(length) + 1, NULL, hits, 8);
    for (uint32_t i = 0; i < count && i < 8; i++)
        if (foliot_body_id_get_slot(hits[i].body) == target)
            return true;
    return false;
}

static void judge(const foliot_rules_view *view, const foliot_rules *rules, uint32_t player,
                  shot *s)
{
    double tick = foliot_rules_get_aimed_tick(rules, player), error = 0;
    uint32_t shooter = player_slot(view->world, player), target = player_slot(view->world, TARGET);
    const foliot_world *past = foliot_history_view(view->history, tick);
    foliot_body_state me = slot_state(past, shooter), seen = slot_state(past, target);
    for (int k = 0; k < 3; k++)
        error += (seen.position[k] - s->shown[k]) * (seen.position[k] - s->shown[k]);
    s->judged = true;
    s->error = sqrt(error);
    s->off = fabs(tick - s->tick);
    s->back = (double)view->tick - tick;
    s->hit = ray_meets(past, me.position, s->shown, target);
    s->hit_now = ray_meets(view->world, me.position, s->shown, target);
}

static foliot_status probe_tick(void *self, const foliot_rules_view *view, foliot_rules *rules,
                                char *problem, size_t problem_bytes)
{
    (void)self;
    (void)problem;
    (void)problem_bytes;
    double back = (double)view->tick - foliot_rules_get_aimed_tick(rules, 0);
    probed->nearest = fmin(probed->nearest, back);
    probed->farthest = fmax(probed->farthest, back);
    for (uint32_t i = 0; i < view->input_count; i++) {
        const foliot_input *input = &view->inputs[i];
        shot *s = &probed->shots[input->buttons];
        if (input->kind == FOLIOT_INPUT_CONTROL && input->player == 0 && input->buttons &&
            s->fired && !s->judged)
            judge(view, rules, 0, s);
    }
    return FOLIOT_STATUS_OK;
}

static const foliot_rules_kind probe_kind = {.name = "probe",
                                             .version = 1,
                                             .create = probe_create,
                                             .destroy = probe_destroy,
                                             .tick = probe_tick};

// -- a session

static foliot_status save_rules(void *user, void *bytes, size_t capacity, size_t *length)
{
    return foliot_rules_save(((duel *)user)->c->rules, bytes, capacity, length);
}

static foliot_status restore_rules(void *user, const void *bytes, size_t length)
{
    return foliot_rules_restore(((duel *)user)->c->rules, bytes, length);
}

static foliot_status tick_rules(void *user, const foliot_rules_view *view)
{
    return foliot_rules_tick(((duel *)user)->c->rules, view);
}

// NULL: the probe. False: this build has no Lua.
static bool make_rules(duel *d, bool lua)
{
    char problem[512] = "";
    foliot_lua_limits limits = foliot_lua_limits_default();
    limits.time_us = 0; // a sanitizer is slow
    foliot_status status =
        lua ? foliot_rules_create_lua(d->scene->script.text, d->scene->script.bytes, "duel.lua",
                                      &limits, d->scene, &d->c->rules, problem, sizeof problem)
            : foliot_rules_create(&probe_kind, d->scene, &d->c->rules, problem, sizeof problem);
    if (status == FOLIOT_STATUS_UNSUPPORTED)
        return false;
    if (status != FOLIOT_STATUS_OK)
        fail_msg("%s", problem);
    return true;
}

static foliot_recording_config recording_config(duel *d)
{
    foliot_recording_config config = foliot_recording_config_default();
    config.threaded = false;
    config.keyframe_ticks = 90;
    config.block_ticks = 20;
    d->recorded = (foliot_recording_rules){.name = foliot_rules_get_name(d->c->rules),
                                           .version = foliot_rules_get_version(d->c->rules),
                                           .text = d->scene->script.text,
                                           .text_bytes = d->scene->script.bytes,
                                           .save = save_rules,
                                           .restore = restore_rules,
                                           .tick = tick_rules,
                                           .user = d};
    config.rules = &d->recorded;
    return config;
}

static void open_server(duel *d, foliot_world *world, foliot_session_mode mode)
{
    cluster_serve(d->c, NULL, NULL);
    cluster_host(d->c, &(foliot_session_config){.name = "main",
                                                .scene = d->scene,
                                                .world = world,
                                                .recording = d->c->recording,
                                                .pace_hz = 60,
                                                .mode = mode,
                                                .rules = d->c->rules});
}

// NULL: this build has no Lua.
static duel *begin(bool lua, foliot_session_mode mode, const char *file)
{
    static duel made;
    foliot_error error;
    foliot_world *world;
    duel *d = &made;
    *d = (duel){.rng = foliot__rng_seeded(5), .file = file};
    d->c = cluster_create(&(cluster_options){.world = CLUSTER_EMPTY});
    d->shots = calloc(SHOTS_MAX, sizeof *d->shots);
    assert_non_null(d->shots);
    probed = d;
    if (foliot_scene_read("games/duel/duel.yaml", &d->scene, &error) != FOLIOT_STATUS_OK)
        fail_msg("%s", error.text);
    if (!make_rules(d, lua)) {
        cluster_destroy(d->c);
        foliot_scene_destroy(d->scene);
        free(d->shots);
        return NULL;
    }
    demand(foliot_world_create(d->scene, &world, NULL));
    if (file) {
        foliot_recording_config config = recording_config(d);
        demand(foliot_recording_open(file, WORLD_SIMULATION(world, d->scene), &config,
                                     &d->c->recording));
    }
    open_server(d, world, mode);
    return d;
}

static void end(duel *d)
{
    cluster_destroy(d->c);
    foliot_scene_destroy(d->scene);
    free(d->shots);
}

static void join_as(duel *d, const char *network, bool predicts)
{
    foliot_client_config config = foliot_client_config_default();
    config.predicts = predicts;
    cluster_join(d->c, network, &config);
}

static void join(duel *d, const char *impairment)
{
    join_as(d, impairment, false);
}

// Milliseconds; a frame every 16, which shows and then presses.
static void run(duel *d, double seconds, void (*frame)(duel *d))
{
    for (uint64_t end = d->c->now_ns + (uint64_t)(seconds * 1e9); d->c->now_ns < end;) {
        cluster_run(d->c, 0.001);
        if (frame && d->c->now_ns / 1000000 % 16 == 0)
            frame(d);
    }
}

static uint32_t body_of(const duel *d, unsigned client)
{
    return player_slot(foliot_server_get_world(d->c->server, "main"), client);
}

// -- players

// Up and down the field.
static void walk(duel *d, unsigned client)
{
    double t = (double)d->c->now_ns * 1e-9;
    const int8_t axes[FOLIOT_AXIS_COUNT] = {(int8_t)(20 * sin(1.3 * t)),
                                            cos(1.7 * t) < 0 ? -127 : 127};
    foliot_client_set_input(d->c->clients[client], axes, 0);
}

// Shows the world; every few frames shoots at what it shows, and lets go.
static void shoot_at_target(duel *d)
{
    static const int8_t still[FOLIOT_AXIS_COUNT];
    foliot_sample sample;
    walk(d, TARGET);
    if (foliot_client_sample(d->c->clients[TARGET], d->c->now_ns, &sample) != FOLIOT_STATUS_OK ||
        foliot_client_sample(d->c->clients[0], d->c->now_ns, &sample) != FOLIOT_STATUS_OK)
        return;
    uint32_t target = body_of(d, TARGET), frame = (uint32_t)(d->c->now_ns / 16000000);
    if (target >= sample.count || frame % 5 != 0)
        return;
    shot *s = &d->shots[++d->next_shot];
    s->fired = true;
    s->tick = sample.render_tick;
    memcpy(s->shown, sample.bodies[target].position, sizeof s->shown);
    foliot_client_set_input(d->c->clients[0], still, (uint16_t)d->next_shot);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct verdict {
    uint32_t fired, judged, hits, hits_now;
    double error_p99, off_max, back_mean;
} verdict;

static verdict judge_all(const duel *d)
{
    static double errors[SHOTS_MAX];
    verdict v = {.off_max = 0};
    for (uint32_t i = 1; i <= d->next_shot; i++) {
        const shot *s = &d->shots[i];
        v.fired += s->fired;
        if (!s->judged)
            continue;
        errors[v.judged++] = s->error;
        v.hits += s->hit;
        v.hits_now += s->hit_now;
        v.off_max = fmax(v.off_max, s->off);
        v.back_mean += s->back;
    }
    qsort(errors, v.judged, sizeof *errors, ascending);
    v.error_p99 = v.judged ? errors[v.judged * 99 / 100] : INFINITY;
    v.back_mean /= v.judged;
    return v;
}

static verdict play_probe_as(foliot_session_mode mode, const char *network, double seconds,
                             bool predicts)
{
    duel *d = begin(false, mode, NULL);
    join_as(d, network, predicts);
    run(d, 4, NULL); // it is player 0
    join(d, "delay=20ms,seed=9");
    run(d, 4, NULL);
    run(d, seconds, shoot_at_target);
    run(d, 1, NULL);
    verdict v = judge_all(d);
    const foliot_server_counters *counters = foliot_server_get_counters(d->c->server);
    printf("%s: %u shots, %u judged, %u hit, %u would now, p99 %.3f mm, %.1f ticks back, "
           "%llu aims, %llu clamped\n",
           network, (unsigned)v.fired, (unsigned)v.judged, (unsigned)v.hits, (unsigned)v.hits_now,
           v.error_p99 * 1e3, v.back_mean, (unsigned long long)counters->aims,
           (unsigned long long)counters->aims_clamped);
    end(d);
    return v;
}

static verdict play_probe(foliot_session_mode mode, const char *network, double seconds)
{
    return play_probe_as(mode, network, seconds, false);
}

// 150 ms there and back; a millimetre, and half a step of the snapshots at both ends.
TEST(shots_hit_what_was_shown_at_150_ms)
{
    verdict v = play_probe(FOLIOT_SESSION_SNAPSHOTS, "delay=75ms,seed=3", 60);
    check_gt(v.judged, 600);
    check_below(v.error_p99, 1e-3 + 0x1p-10);
    check_ge(v.hits * 100, v.judged * 99);
    check_lt(v.hits_now * 2, v.judged);
    assert_true(v.back_mean > 9);
}

TEST(loss_and_jitter_cost_little)
{
    verdict v = play_probe(FOLIOT_SESSION_SNAPSHOTS, "delay=50ms,jitter=0-20ms,loss=5%,seed=4", 60);
    check_gt(v.judged, 600);
    check_below(v.error_p99, 1e-3 + 0x1p-10);
    check_ge(v.hits * 100, v.judged * 97);
}

TEST(a_stepper_is_judged_where_it_saw_too)
{
    verdict v = play_probe(FOLIOT_SESSION_LOCKSTEP, "delay=40ms,seed=6", 30);
    check_gt(v.judged, 300);
    check_below(v.error_p99, 1e-3 + 0x1p-10);
    check_ge(v.hits * 100, v.judged * 97);
}

// It shows guesses of what will be when the shot acts, and is judged there; not in the past that it
// has not shown.
TEST(one_who_predicts_is_judged_in_the_tick_that_it_showed)
{
    verdict v = play_probe_as(FOLIOT_SESSION_LOCKSTEP, "delay=75ms,seed=6", 30, true);
    check_gt(v.judged, 300);
    check_below(v.off_max, 1.5);
    check_ge(v.hits * 100, v.judged * 85);
}

// -- the game itself

// Both play: they walk, and shoot where they are shown the other.
static void play_duel(duel *d)
{
    uint32_t frame = (uint32_t)(d->c->now_ns / 16000000);
    for (unsigned i = 0; i < 2; i++) {
        foliot_sample sample;
        uint32_t me = body_of(d, i), other = body_of(d, 1 - i);
        if (foliot_client_sample(d->c->clients[i], d->c->now_ns, &sample) != FOLIOT_STATUS_OK ||
            me >= sample.count || other >= sample.count)
            continue;
        const double *x = sample.bodies[me].position, *y = sample.bodies[other].position;
        int8_t axes[FOLIOT_AXIS_COUNT] = {(int8_t)(100 * sin(frame * 0.03 + 2 * i)),
                                          cos(frame * 0.027 + i) < 0 ? -127 : 127};
        axes[3] = (int8_t)lround(atan2(y[1] - x[1], y[0] - x[0]) * 127 / 3.14159265358979);
        foliot_client_set_input(d->c->clients[i], axes, frame % 60 < 3);
    }
}

static int64_t var_of(const duel *d, const char *key)
{
    foliot_var var = {.integer = 0};
    const foliot_world *world = foliot_server_get_world(d->c->server, "main");
    return world && foliot_world_get_var(world, key, &var) ? var.integer : 0;
}

// The rules run again on what was recorded give the recorded commands and saved states.
static void check_recording(duel *d, uint64_t *aims)
{
    foliot_replay *replay;
    foliot_damage damage;
    char problem[512] = "";
    foliot_lua_limits limits = foliot_lua_limits_default();
    foliot_rules *rules;
    size_t length, bytes;
    limits.time_us = 0;
    if (foliot_replay_open(d->file, &foliot_world_kind, &replay, &damage) != FOLIOT_STATUS_OK)
        fail_msg("%s", damage.text);
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    check_eq(about->features, FOLIOT_RECORDING_RULES | FOLIOT_RECORDING_HISTORY);
    assert_int_equal(foliot_rules_create_lua(about->rules_text, about->rules_text_bytes,
                                             about->rules_name, &limits, about->scene, &rules,
                                             problem, sizeof problem),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_seek(replay, 0), FOLIOT_STATUS_OK);
    for (uint64_t tick = 0; tick < about->last_tick; tick++) {
        foliot_rules_view view = {.scene = about->scene, .tick = tick + 1, .recorded = true};
        assert_int_equal(foliot_replay_step(replay), FOLIOT_STATUS_OK);
        view.world = foliot_replay_get_world(replay);
        demand(foliot_replay_get_inputs(replay, tick, &view.inputs, &view.input_count));
        demand(foliot_replay_get_orders(replay, tick, &view.orders, &view.order_count));
        for (uint32_t i = 0; i < view.order_count; i++)
            *aims += view.orders[i].kind == FOLIOT_ORDER_AIMED;
        assert_int_equal(foliot_rules_tick(rules, &view), FOLIOT_STATUS_OK);
        const uint8_t *saved = foliot_replay_get_rules_state(replay, tick + 1, &length);
        if (!saved)
            continue;
        uint8_t *again = malloc(length + 1);
        assert_int_equal(foliot_rules_save(rules, again, length, &bytes), FOLIOT_STATUS_OK);
        check_eq(bytes, length);
        assert_memory_equal(again, saved, length);
        free(again);
        // From here on as well: the past is in the keyframe.
        demand(foliot_replay_get_inputs(replay, tick, &view.inputs, &view.input_count));
        saved = foliot_replay_get_rules_state(replay, tick + 1, &length);
        if (saved)
            assert_int_equal(foliot_rules_restore(rules, saved, length), FOLIOT_STATUS_OK);
    }
    foliot_rules_destroy(rules);
    foliot_replay_close(replay);
}

static void crash_and_resume(duel *d)
{
    foliot_error error = {.text = ""};
    foliot_world *world;
    foliot_scene *scene;
    foliot_recording_abandon(d->c->recording);
    cluster_stop(d->c);
    foliot_rules_destroy(d->c->rules);
    assert_true(make_rules(d, true));
    foliot_recording_config config = recording_config(d);
    if (resume_world(d->file, &config, &d->c->recording, &scene, &world, &error) !=
        FOLIOT_STATUS_OK)
        fail_msg("%s", error.text);
    foliot_scene_destroy(scene);
    open_server(d, world, FOLIOT_SESSION_SNAPSHOTS);
}

// Over a bad network, with a crash of the server: shots hit, some of them by the past alone, and
// all of it is in the recording. Orders that players number go on by their numbers.
TEST(a_duel_is_recorded_with_its_past)
{
    char file[] = "/tmp/foliot-duel-XXXXXX";
    uint64_t aims = 0;
    close(mkstemp(file));
    duel *d = begin(true, FOLIOT_SESSION_SNAPSHOTS, file);
    if (!d) {
        unlink(file);
        skip();
    }
    for (unsigned i = 0; i < 2; i++)
        join(d, i ? "delay=75ms,loss=5%,seed=21" : "delay=60ms,jitter=0-20ms,loss=5%,seed=22");
    run(d, 4, NULL);
    run(d, 6, play_duel); // nobody has won yet
    int64_t shots = var_of(d, "shots");
    check_gt(shots, 8);
    crash_and_resume(d);
    run(d, 3, play_duel);       // they come back
    for (int i = 0; i < 6; i++) // orders, which must not be taken for others
        demand(foliot_client_order(d->c->clients[0], FOLIOT_ORDER_GAME, "shoot 1 0", 9, NULL));
    run(d, 3, play_duel);
    const foliot_server_counters *counters = foliot_server_get_counters(d->c->server);
    printf("%lld shots, %lld hits, %lld by the past alone; %llu orders, %llu aims\n",
           (long long)var_of(d, "shots"), (long long)var_of(d, "hits"),
           (long long)var_of(d, "past"), (unsigned long long)counters->orders,
           (unsigned long long)counters->aims);
    check_gt(var_of(d, "shots"), shots + 5);
    check_gt(var_of(d, "hits") * 2, var_of(d, "shots"));
    check_gt(var_of(d, "past"), 1);
    check_eq(counters->orders, 6);
    check_eq(counters->orders_repeated, 0);
    check_eq(counters->rules_stopped, 0);
    end(d);
    check_recording(d, &aims);
    check_gt(aims, 50);
    unlink(file);
}

// -- what a client may claim

// An input packet as the session's own client sends it, but for what it says was shown.
static void claim(duel *d, uint32_t sequence, uint16_t shown, uint16_t now)
{
    uint8_t bytes[FOLIOT_SNAPSHOT_PIECE_BYTES];
    const foliot_world *world = foliot_server_get_world(d->c->server, "main");
    foliot__input_packet packet = {.newest_snapshot = FOLIOT__NO_TICK,
                                   .tick = (uint32_t)foliot_world_get_tick(world) + 3,
                                   .shown = now,
                                   .sent_us = (uint32_t)(d->c->now_ns / 1000),
                                   .count = 1};
    packet.changes[0] = (foliot__change){.sequence = sequence,
                                         .tick = packet.tick,
                                         .buttons = (uint16_t)(sequence & 1),
                                         .shown = shown};
    size_t length = foliot__input_packet_encode(&packet, bytes);
    demand(foliot_transport_send(d->c->wires[0], foliot__peer_id(0, 1), FOLIOT_DELIVERY_UNRELIABLE,
                                 bytes, length));
    foliot_transport_flush(d->c->wires[0], d->c->now_ns);
}

static uint64_t clamped(const duel *d)
{
    return foliot_server_get_counters(d->c->server)->aims_clamped;
}

// The future, the far past, and jumps between them: never the future, at most 250 ms back, each
// counted, and nobody is dropped for it.
TEST(claims_are_bounded_and_counted)
{
    static const struct {
        uint16_t shown, now;
        bool honest;
    } claims[] = {{0, 0, false},
                  {UINT16_MAX, UINT16_MAX, false},
                  {256 * 12, 256 * 12, true},
                  {1, 60000, false},
                  {256 * 40, 3, false},
                  {256 * 14, 256 * 14, true}};
    duel *d = begin(false, FOLIOT_SESSION_SNAPSHOTS, NULL);
    join(d, "delay=30ms,seed=3");
    run(d, 4, NULL);
    join(d, "delay=20ms,seed=9");
    run(d, 3, NULL);
    for (uint32_t i = 0; i < 600; i++) {
        size_t k = i % (sizeof claims / sizeof *claims);
        uint64_t before = clamped(d);
        d->nearest = INFINITY;
        d->farthest = -INFINITY;
        claim(d, i + 2, claims[k].shown, claims[k].now);
        run(d, 0.2, NULL); // its own client has sent the first change, and no other
        assert_true(d->nearest >= 0 && d->farthest <= 15);
        if (!claims[k].honest)
            check_gt(clamped(d), before);
    }
    assert_int_equal(foliot_client_get_state(d->c->clients[0]), FOLIOT_CLIENT_PLAYING);
    check_eq(foliot_server_get_counters(d->c->server)->peers_dropped, 0);
    check_gt(foliot_server_get_counters(d->c->server)->aims, 300);
    end(d);
}
