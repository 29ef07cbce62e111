// SPDX-License-Identifier: MIT
// seed_plan.c: see seed_plan.h. Every part draws from a separate stream, so that a change of one
// leaves the others of a seed as they were.
#include "seed_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/server.h"

#define PARTS 64
#define AFTERLIFE_NS                                                                               \
    (5 * (uint64_t)SEED_SECOND) // after a crash there is time to find each other again, and to play
#define HEAVY_RUN_NS (4 * (uint64_t)SEED_SECOND)
#define FOES_SHARE 0.25    // of the seeds
#define FOES_PEERS 64      // that a server has room for where there are foes
#define TINY_LOG_SECONDS 4 // a log has room for twice as much, at most
#define SCENES_PLAYED 5    // the first ones: their states are several tiny windows
static const foliot__lockstep_limits usual_limits = FOLIOT__LOCKSTEP_LIMITS,
                                     tiny_limits = {TINY_LOG_SECONDS, 0.5, 256, 512, 1024};

static const char *const schemes[] = {
#define NAME(name) #name,
    SEED_SCHEMES(NAME)
#undef NAME
};

const seed_scene seed_scenes[] = {
    // Those with players are what is played; the last two cost a hundred times what the others do.
    {"scenes/spacewar", 80, false},
    {"scenes/lunar-lander", 60, false},
    {"scenes/billiards", 60, false},
    {"tests/cluster/scenes/crates", 72, false},
    {"tests/cluster/scenes/workshop", 64, false},
    {"scenes/pendulum", 20, false},
    {"scenes/figure-eight", 20, false},
    {"scenes/ragdoll", 16, false},
    {"scenes/marbles", 4, true},
    {"scenes/wrecking-ball", 4, true},
};
const uint32_t seed_scene_count = sizeof seed_scenes / sizeof seed_scenes[0];

typedef struct dice {
    foliot__rng rng;
} dice;

static dice dice_of(uint64_t seed, uint32_t part)
{
    return (dice){foliot__rng_seeded(seed * PARTS + part)};
}

static bool draw_chance(dice *d, double share)
{
    return foliot__rng_unit(&d->rng) < share;
}

static double draw_between(dice *d, double low, double high)
{
    return low + (high - low) * foliot__rng_unit(&d->rng);
}

static uint64_t ns_between(dice *d, double low_s, double high_s)
{
    return (uint64_t)(draw_between(d, low_s, high_s) * 1e9);
}

static uint32_t below(dice *d, uint32_t bound)
{
    return foliot__rng_below(&d->rng, bound);
}

// Each kind of harm is there or not; a third of all networks have none at all.
static foliot_impairment draw_network(dice *d)
{
    foliot_impairment i = {.seed = foliot__rng_u64(&d->rng)};
    if (draw_chance(d, 0.33))
        return i;
    if (draw_chance(d, 0.5))
        i.delay_ms = draw_between(d, 0, 150);
    if (draw_chance(d, 0.5))
        i.loss = draw_chance(d, 0.2) ? draw_between(d, 0.05, 0.3) : draw_between(d, 0, 0.05);
    if (draw_chance(d, 0.3))
        i.burst = draw_between(d, 1, 6);
    if (draw_chance(d, 0.4)) {
        i.jitter_ms_min = draw_chance(d, 0.5) ? 0 : draw_between(d, 0, 20);
        i.jitter_ms_max = i.jitter_ms_min + draw_between(d, 0, 100);
        i.jitter_kind = (foliot_jitter_kind)below(d, 3);
    }
    if (draw_chance(d, 0.3))
        i.duplicate = draw_between(d, 0, 0.1);
    if (draw_chance(d, 0.3))
        i.reorder = draw_between(d, 0, 0.1);
    if (draw_chance(d, 0.15)) {
        i.rate_bits = draw_between(d, 3e5, 5e6);
        i.queue_bytes = draw_chance(d, 0.5) ? 0 : 4096 + below(d, 60000);
    }
    return i;
}

static uint32_t draw_gaps(dice *d, double share, uint64_t run_ns, double longest_s,
                          seed_gap gaps[SEED_GAPS])
{
    uint32_t count = 0;
    while (count < SEED_GAPS && draw_chance(d, share)) {
        uint64_t begin = SEED_BEGIN_NS + ns_between(d, 0.5, (double)run_ns * 1e-9);
        uint64_t length = ns_between(d, 0.02, draw_chance(d, 0.5) ? 0.5 : longest_s);
        gaps[count++] = (seed_gap){begin, begin + length};
    }
    return count;
}

static void draw_lives(dice *d, seed_client *client, uint64_t run_ns)
{
    double at = draw_between(d, 0, draw_chance(d, 0.7) ? 0.5 : (double)run_ns * 0.7e-9),
           run = (double)run_ns * 1e-9;
    client->life_count = 0;
    while (client->life_count < SEED_LIVES && at < run - 0.5) {
        seed_life *life = &client->lives[client->life_count++];
        double end = draw_chance(d, 0.5) ? run : draw_between(d, at + 0.05, run + 1);
        *life = (seed_life){.join_ns = SEED_BEGIN_NS + (uint64_t)(at * 1e9), .exit = SEED_STAYS};
        if (end < run) {
            life->exit = draw_chance(d, 0.5) ? SEED_LEAVES : SEED_CRASHES_DOWN;
            life->end_ns = SEED_BEGIN_NS + (uint64_t)(end * 1e9);
        }
        at = end + draw_between(d, 0.01, 3);
    }
}

static seed_client_kind draw_kind(dice *d, bool trouble)
{
    if (trouble && draw_chance(d, 0.3))
        return draw_chance(d, 0.5) ? SEED_SICK : SEED_HOSTILE;
    return draw_chance(d, 0.2) ? SEED_SPECTATOR : SEED_PLAYER;
}

// By separate dice, so that all else in a seed is as it was.
static void draw_prediction(dice apart, seed_client *g)
{
    g->predicts = draw_chance(&apart, 0.6);
    g->input_delay = draw_chance(&apart, 0.8) ? 0 : below(&apart, 12);
}

static seed_client draw_client(const seed_plan *plan, dice *d, bool trouble)
{
    seed_client g = {.kind = draw_kind(d, trouble)};
    g.session = below(d, plan->session_count);
    if (draw_chance(d, 0.02))
        g.session = SEED_SESSIONS;
    draw_lives(d, &g, plan->run_ns);
    g.send = draw_network(d);
    g.receive = draw_network(d);
    g.outage_count = draw_gaps(d, 0.15, plan->run_ns, draw_chance(d, 0.3) ? 14 : 4, g.outages);
    g.pause_count = draw_gaps(d, 0.15, plan->run_ns, 3, g.pauses);
    g.frame_ns = ns_between(d, 0.004, draw_chance(d, 0.8) ? 0.017 : 0.05);
    g.skew_ns = (int64_t)(draw_chance(d, 0.5)
                              ? 0
                              : draw_between(d, -0.9, draw_chance(d, 0.2) ? 3e6 : 4e3) * 1e9);
    g.drift = draw_chance(d, 0.5) ? 0 : draw_between(d, -5e-4, 5e-4);
    g.changes_hz = draw_chance(d, 0.1) ? 60 : draw_between(d, 0, 8);
    g.input_hz = draw_chance(d, 0.8) ? 0 : draw_between(d, 10, 60);
    g.reconnects = draw_chance(d, 0.85);
    draw_prediction(*d, &g);
    if (g.kind == SEED_SICK)
        g.damage = draw_between(d, 0.001, 0.1);
    g.random = draw_between(d, 0, 1);
    g.mutated = draw_between(d, 0, 1);
    g.replayed = draw_chance(d, 0.5) ? 0 : draw_between(d, 0, 1);
    g.packets_hz = draw_between(d, 1, 200);
    return g;
}

static uint32_t draw_scene(dice *d)
{
    uint32_t sum = 0, scene = 0;
    for (uint32_t i = 0; i < seed_scene_count; i++)
        sum += seed_scenes[i].weight;
    for (uint32_t draw = below(d, sum); draw >= seed_scenes[scene].weight; scene++)
        draw -= seed_scenes[scene].weight;
    return scene;
}

static void draw_sessions(seed_plan *plan)
{
    dice d = dice_of(plan->seed, 1);
    plan->session_count = 1 + draw_chance(&d, 0.2);
    for (uint32_t i = 0; i < plan->session_count; i++) {
        seed_session *s = &plan->sessions[i];
        s->scene = draw_scene(&d);
        s->tick_hz = draw_chance(&d, 0.7) ? 0 : draw_between(&d, 15, 120);
        s->block_ticks = draw_chance(&d, 0.5) ? 3 : 1 + below(&d, 60);
        s->keyframe_ticks = draw_chance(&d, 0.5) ? 300 : 20 + below(&d, 200);
        s->queue_bytes = 16u << 20;
        s->drain_hz = draw_chance(&d, 0.7) ? 1000 : draw_between(&d, 1, 60);
        s->lockstep = draw_chance(&d, 0.35);
        s->input_delay = below(&d, 8);
        s->spectator_delay_s = draw_chance(&d, 0.7) ? 0 : draw_between(&d, 0, 2);
        if (draw_chance(&d, 0.05)) {
            s->queue_bytes = 4096 + below(&d, 20000);
            s->drain_hz = draw_between(&d, 0.2, 2);
            plan->small_queue = true;
        }
    }
}

static void draw_server(seed_plan *plan, bool calm)
{
    dice d = dice_of(plan->seed, 2);
    plan->snapshot_hz = draw_chance(&d, 0.6) ? 0 : draw_between(&d, 5, 60);
    plan->server_drift = draw_chance(&d, 0.5) ? 0 : draw_between(&d, -2e-4, 2e-4);
    plan->server_skew_ns = (int64_t)(draw_chance(&d, 0.5) ? 0 : draw_between(&d, -0.9, 1e4) * 1e9);
    plan->server_poll_ns = ns_between(&d, 0.0005, 0.005);
    plan->step_ns = draw_chance(&d, 0.6) ? 0 : ns_between(&d, 0.0001, 0.012);
    plan->timeout_ms = 1000 + below(&d, 9000);
    plan->reconnect_ms = draw_chance(&d, 0.5) ? 10000 : below(&d, 10000);
    plan->peers_max = draw_chance(&d, 0.8) ? 32 : 1 + below(&d, 8);
    if (!calm)
        plan->server_pause_count = draw_gaps(&d, 0.2, plan->run_ns, 2, plan->server_pauses);
}

static void draw_crashes(seed_plan *plan)
{
    dice d = dice_of(plan->seed, 3);
    uint64_t at = SEED_BEGIN_NS + ns_between(&d, 0.3, (double)plan->run_ns * 0.8e-9);
    while (plan->crash_count == 0 || (plan->crash_count < SEED_CRASHES && draw_chance(&d, 0.7))) {
        plan->crash_ns[plan->crash_count] = at;
        plan->down_ns[plan->crash_count] = ns_between(&d, 0.05, draw_chance(&d, 0.8) ? 1 : 12);
        at += plan->down_ns[plan->crash_count++] + ns_between(&d, 0.2, 3);
        if (plan->run_ns < at - SEED_BEGIN_NS + AFTERLIFE_NS)
            plan->run_ns = at - SEED_BEGIN_NS + AFTERLIFE_NS;
    }
}

// A player whose network is gone until he has been given up, comes back for about a hello, and is
// gone again: is he two then?
static void draw_late_return(seed_plan *plan)
{
    dice d = dice_of(plan->seed, 4);
    seed_client *g = &plan->clients[0];
    plan->timeout_ms = 1000 + below(&d, 1000);
    plan->reconnect_ms = 2000 + below(&d, 2000);
    g->kind = SEED_PLAYER;
    g->damage = 0;
    g->session = 0;
    g->reconnects = true;
    g->lives[0] = (seed_life){.join_ns = SEED_BEGIN_NS, .exit = SEED_STAYS};
    g->life_count = 1;
    g->send.delay_ms = draw_between(&d, 50, 120); // that a hello is on its way
    g->receive.delay_ms = draw_between(&d, 10, 60);
    double way_s = 1e-3 * g->send.delay_ms, round_trip_s = way_s + 1e-3 * g->receive.delay_ms;
    seed_gap *away = g->outages, *again = g->outages + 1;
    away->begin_ns = SEED_BEGIN_NS + ns_between(&d, 1, 2);
    away->end_ns = away->begin_ns + 1000000u * (uint64_t)(plan->timeout_ms + plan->reconnect_ms) +
                   ns_between(&d, 0.2, 1);
    again->begin_ns = away->end_ns + ns_between(&d, round_trip_s,
                                                round_trip_s + way_s + 0.2); // it asks every 0.2 s
    again->end_ns = again->begin_ns + ns_between(&d, 2, 2.5) +
                    (uint64_t)(4e9 * round_trip_s); // it gives up meanwhile
    g->outage_count = 2;
    plan->run_ns = again->end_ns + 4 * (uint64_t)SEED_SECOND - SEED_BEGIN_NS;
}

// -- foes and other ill will

// SEED_WITHOUT=pins,storage leaves those out, SEED_WITH=pins puts them into every seed: schemes,
// tiny, swaps, storage; crashes, games and ends.
static bool is_named(const char *variable, const char *word)
{
    const char *list = getenv(variable);
    size_t length = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

static bool draw_harm(dice *d, double share, const char *word)
{
    bool drawn = draw_chance(d, share);
    return (drawn || is_named("SEED_WITH", word)) && !is_named("SEED_WITHOUT", word);
}

static bool needs_lockstep(seed_scheme scheme)
{
    return scheme == SEED_pins || scheme == SEED_crawls || scheme == SEED_lies ||
           scheme == SEED_changes;
}

static void draw_foe(seed_plan *plan, seed_scheme scheme)
{
    dice d = dice_of(plan->seed, 16 + plan->client_count);
    seed_client *g = &plan->clients[plan->client_count];
    *g = (seed_client){
        .kind = SEED_FOE, .scheme = scheme, .session = below(&d, plan->session_count)};
    if (needs_lockstep(scheme) && !plan->sessions[g->session].lockstep) {
        for (g->session = 0;
             g->session < plan->session_count && !plan->sessions[g->session].lockstep;)
            g->session++;
        if (g->session == plan->session_count)
            plan->sessions[g->session = 0].lockstep = true;
    }
    if (draw_chance(&d, 0.3)) {
        g->send = draw_network(&d);
        g->receive = draw_network(&d);
    }
    g->lives[0] =
        (seed_life){.join_ns = SEED_BEGIN_NS + ns_between(&d, 0.1, (double)plan->run_ns * 0.3e-9),
                    .exit = SEED_STAYS};
    g->life_count = 1;
    g->packets_hz = draw_between(&d, 60, 250);
    plan->client_count++;
}

static bool any_heavy(const seed_plan *plan)
{
    for (uint32_t i = 0; i < plan->session_count; i++)
        if (seed_scenes[plan->sessions[i].scene].heavy)
            return true;
    return false;
}

// Nothing but the foes is in the way of this client: what it lacks has no excuse.
static void make_plain(seed_plan *plan, seed_client *g)
{
    static const foliot_impairment none;
    plan->server_pause_count = 0;
    for (uint32_t i = 0; i < plan->client_count; i++)
        if (plan->clients[i].kind == SEED_SICK || plan->clients[i].kind == SEED_HOSTILE) {
            plan->clients[i].kind = SEED_PLAYER;
            plan->clients[i].damage = 0;
        }
    g->send = g->receive = none;
    g->outage_count = g->pause_count = 0;
    if (g->session >= plan->session_count)
        g->session = 0;
}

// Long enough for the log to wrap while states are held; then somebody comes, and if he played
// before, comes again.
static void draw_wrap(seed_plan *plan, dice *d)
{
    seed_client *g = &plan->clients[0];
    make_plain(plan, g);
    uint64_t comes_ns =
        SEED_BEGIN_NS + ns_between(d, 2 * TINY_LOG_SECONDS + 3, 2 * TINY_LOG_SECONDS + 5);
    plan->run_ns = comes_ns + ns_between(d, 3.5, 5) - SEED_BEGIN_NS;
    g->lives[0].exit = draw_chance(d, 0.5) ? SEED_LEAVES : SEED_CRASHES_DOWN;
    g->lives[0].end_ns = g->lives[0].join_ns + ns_between(d, 1, 3);
    g->lives[1] = (seed_life){.join_ns = comes_ns, .exit = SEED_STAYS};
    g->life_count = 2;
    for (uint32_t i = 0; i < plan->client_count; i++) // where they are
        if (plan->clients[i].kind == SEED_FOE && needs_lockstep(plan->clients[i].scheme))
            g->session = plan->clients[i].session;
    if (plan->sessions[g->session].scene >= SCENES_PLAYED)
        plan->sessions[g->session].scene = below(d, SCENES_PLAYED);
}

// One to three who are after the same, or each after something else.
// None where somebody comes back late: he and his network are what that run is about.
static void draw_foes(seed_plan *plan, bool late_return)
{
    dice d = dice_of(plan->seed, 5);
    bool any = draw_chance(&d, FOES_SHARE), same = draw_chance(&d, 0.5);
    seed_scheme first = (seed_scheme)below(&d, SEED_SCHEMES_DRAWN), wanted = SEED_SCHEME_COUNT;
    uint32_t count = 1 + below(&d, SEED_FOES);
    for (uint32_t i = 0; i < SEED_SCHEMES_DRAWN; i++)
        if (is_named("SEED_WITH", schemes[i]))
            wanted = (seed_scheme)i;
    bool tiny = draw_harm(&d, plan->crash_count ? 0 : 0.15, "tiny");
    plan->limits = tiny && !any_heavy(plan)
                       ? tiny_limits
                       : usual_limits; // a large state takes seconds through a tiny window
    if ((!any && wanted == SEED_SCHEME_COUNT) || any_heavy(plan) || late_return)
        return;
    for (uint32_t i = 0; i < count; i++) {
        seed_scheme scheme = i == 0 || same ? first : (seed_scheme)below(&d, SEED_SCHEMES_DRAWN);
        scheme = wanted < SEED_SCHEME_COUNT ? wanted : scheme;
        if (!is_named("SEED_WITHOUT", schemes[scheme]))
            draw_foe(plan, scheme);
    }
    plan->peers_max = FOES_PEERS;
    if (draw_chance(&d, 0.5) && !plan->crash_count)
        make_plain(plan, &plan->clients[0]);
    bool wraps = draw_chance(&d, 0.6);
    if (seed_plan_foes(plan, SEED_pins) + seed_plan_foes(plan, SEED_crawls) +
            seed_plan_foes(plan, SEED_withholds) ==
        0)
        return;
    plan->limits = is_named("SEED_WITHOUT", "tiny") ? usual_limits : tiny_limits;
    if (wraps && !plan->crash_count)
        draw_wrap(plan, &d);
}

// A player whose last controls the dying server had acknowledged, and not written: they are never
// sent again, and those behind them must count all the same.
static void draw_unwritten(seed_plan *plan)
{
    dice d = dice_of(plan->seed, 62);
    static const foliot_impairment none;
    seed_client *g = &plan->clients[0];
    seed_session *s = &plan->sessions[0];
    if (!plan->crash_count || plan->storage[0] != SEED_STORAGE_SOUND || plan->swaps[0] ||
        g->kind == SEED_FOE || draw_chance(&d, 0.6))
        return;
    s->lockstep = draw_chance(&d, 0.3);
    s->block_ticks = 60 + below(&d, 100);
    if (plan->crash_ns[0] < SEED_BEGIN_NS + 2 * (uint64_t)SEED_SECOND)
        s->tick_hz = draw_between(&d, 60, 120);
    plan->down_ns[0] = ns_between(&d, 0.05, 1);
    plan->reconnect_ms = 10000;
    plan->server_pause_count = 0;
    g->kind = SEED_PLAYER;
    g->session = 0;
    g->damage = 0;
    g->changes_hz = draw_between(&d, 2, 20);
    g->reconnects = true;
    g->send = g->receive = none;
    g->send.delay_ms = draw_between(&d, 0, 60);
    g->outage_count = g->pause_count = 0;
    g->lives[0] = (seed_life){.join_ns = SEED_BEGIN_NS, .exit = SEED_STAYS};
    g->life_count = 1;
}

// Somebody has just been welcomed when the server dies, and some of what follows a welcome is lost.
static void draw_cut_off(seed_plan *plan, dice *d, uint64_t crash_ns)
{
    seed_client *g = &plan->clients[0];
    uint64_t before_ns = ns_between(d, 0.02, 0.4);
    if (draw_chance(d, 0.3) || crash_ns < SEED_BEGIN_NS + before_ns)
        return;
    g->kind = SEED_PLAYER;
    g->damage = 0;
    g->session = 0;
    g->reconnects = true;
    g->lives[0] = (seed_life){.join_ns = crash_ns - before_ns, .exit = SEED_STAYS};
    g->life_count = 1;
    g->receive.loss = draw_between(d, 0.1, 0.5);
    g->outage_count = g->pause_count = 0;
}

static void draw_storage(seed_plan *plan)
{
    dice d = dice_of(plan->seed, 6);
    for (uint32_t i = 0; i < plan->crash_count; i++) {
        uint32_t kind = 1 + below(&d, SEED_STORAGE_COUNT - 1);
        if (draw_harm(&d, 0.3, "storage"))
            plan->storage[i] = (seed_storage)kind;
        plan->swaps[i] = draw_harm(&d, 0.25, "swaps");
        if (plan->swaps[i])
            draw_cut_off(plan, &d, plan->crash_ns[i]);
        for (uint32_t s = 0; s < plan->session_count; s++) {
            seed_session *after = &plan->swapped[i][s];
            *after = plan->sessions[s];
            do
                after->scene = draw_scene(&d);
            while (seed_scenes[after->scene].heavy);
            after->lockstep = draw_chance(&d, 0.5) ? after->lockstep : !after->lockstep;
        }
    }
}

uint32_t seed_plan_foes(const seed_plan *plan, seed_scheme scheme)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->client_count; i++)
        count += plan->clients[i].kind == SEED_FOE &&
                 (scheme == SEED_SCHEME_COUNT || plan->clients[i].scheme == scheme);
    return count;
}

// Draws the games of all sessions of the run.
static void draw_games(seed_plan *plan)
{
    dice d = dice_of(plan->seed, 60);
    for (uint32_t i = 0; i < SEED_SESSIONS; i++) {
        plan->sessions[i].game = draw_harm(&d, 0.5, "games");
        for (uint32_t k = 0; k < SEED_CRASHES; k++)
            plan->swapped[k][i].game = draw_harm(&d, 0.5, "games");
    }
}

// Draws the session of a game's next scene, with other rules or none, and in either mode.
static seed_session draw_next(const seed_plan *plan, uint32_t s, dice *d)
{
    seed_session next = plan->sessions[s];
    do
        next.scene = draw_scene(d);
    while (seed_scenes[next.scene].heavy);
    next.lockstep = draw_chance(d, 0.7) ? next.lockstep : !next.lockstep;
    next.game = draw_chance(d, 0.8);
    return next;
}

static void draw_ends(seed_plan *plan)
{
    dice d = dice_of(plan->seed, 61);
    for (uint32_t s = 0; s < plan->session_count; s++) {
        double run = (double)plan->run_ns * 1e-9,
               at = draw_between(&d, 0.5, draw_chance(&d, 0.5) ? 0.5 + run / 2 : run);
        bool dies = plan->crash_count > 0 && draw_chance(&d, 0.6);
        bool follows = plan->sessions[s].game && !any_heavy(plan) && draw_harm(&d, 0.6, "ends");
        if (dies && follows) // before it, so that it may die of it
            at = draw_between(&d, 0.2, (double)(plan->crash_ns[0] - SEED_BEGIN_NS) * 1e-9);
        while (follows && plan->end_count[s] < SEED_ENDS && at < run) {
            seed_end *end = &plan->ends[s][plan->end_count[s]++];
            follows = draw_chance(&d, 0.75);
            *end = (seed_end){.at_ns = SEED_BEGIN_NS + (uint64_t)(at * 1e9),
                              .by_rules = draw_chance(&d, 0.5),
                              .follows = follows,
                              .next = draw_next(plan, s, &d)};
            if (plan->run_ns < end->at_ns - SEED_BEGIN_NS + AFTERLIFE_NS)
                plan->run_ns = end->at_ns - SEED_BEGIN_NS + AFTERLIFE_NS;
            at += draw_between(&d, 0.2, 4);
        }
    }
    for (uint32_t i = 0; i < plan->crash_count; i++) {
        bool ending = draw_chance(&d, 0.6);
        uint64_t after_ns = draw_chance(&d, 0.4) ? 0 : ns_between(&d, 0, 0.5);
        plan->end_crash_ns[i] = ending ? after_ns : UINT64_MAX;
    }
}

// Draws the clients that step, those that watch and those that change.
static void draw_kinds(seed_plan *plan)
{
    dice d = dice_of(plan->seed, 63);
    plan->mixed = draw_chance(&d, 0.4);
    bool faults = plan->mixed && plan->crash_count == 0 && draw_chance(&d, 0.5);
    for (uint32_t i = 0; plan->mixed && i < plan->client_count; i++) {
        seed_client *g = &plan->clients[i];
        g->peer_kind = below(&d, 3);
        g->kind_hz = draw_chance(&d, 0.5) ? draw_between(&d, 0.05, 1) : 0;
        g->fault_ns = faults && draw_chance(&d, 0.4) && g->kind <= SEED_SPECTATOR
                          ? SEED_BEGIN_NS + ns_between(&d, 0.5, 8)
                          : 0;
        plan->faults |= g->fault_ns != 0;
    }
}

// Sessions with interest; all their clients watch. Messages of rules about bodies are not compared
// then, so games have none.
static void draw_interest(seed_plan *plan)
{
    dice d = dice_of(plan->seed, 59);
    if (!draw_chance(&d, 0.3) || seed_plan_in_lockstep(plan) ||
        seed_plan_foes(plan, SEED_SCHEME_COUNT) > 0)
        return;
    for (uint32_t i = 0; i < plan->session_count; i++) {
        seed_session *s = &plan->sessions[i];
        double far = pow(10, draw_between(&d, 0, 2.5));
        if (s->game)
            continue;
        s->interest_far = far;
        s->interest_kbit = FOLIOT_INTEREST_KBIT_MIN + below(&d, 500);
    }
    dice own = dice_of(plan->seed, 60);
    if (draw_harm(&own, 0.4, "looks")) {
        draw_foe(plan, SEED_looks);
        plan->peers_max = FOES_PEERS;
    }
}

seed_plan seed_plan_draw(uint64_t seed)
{
    seed_plan plan = {.seed = seed};
    dice d = dice_of(seed, 0);
    plan.run_ns = ns_between(&d, 1, draw_chance(&d, 0.8) ? 8 : 25);
    // A third of the runs are calm: what is lost there has no excuse.
    bool calm = draw_chance(&d, 0.33), trouble = !calm && draw_chance(&d, 0.4),
         crashes = !calm && draw_harm(&d, 0.3, "crashes");
    draw_sessions(&plan);
    for (uint32_t i = 0; i < plan.session_count; i++)
        if (seed_scenes[plan.sessions[i].scene].heavy && plan.run_ns > HEAVY_RUN_NS)
            plan.run_ns = HEAVY_RUN_NS;
    draw_server(&plan, calm);
    if (crashes)
        draw_crashes(&plan);
    plan.client_count = 1 + below(&d, SEED_CLIENTS);
    for (uint32_t i = 0; i < plan.client_count; i++) {
        dice own = dice_of(seed, 8 + i);
        plan.clients[i] = draw_client(&plan, &own, trouble);
        if (calm)
            plan.clients[i].outage_count = plan.clients[i].pause_count = 0;
    }
    bool late_return = !calm && !trouble && !crashes &&
                       !seed_scenes[plan.sessions[0].scene].heavy && draw_chance(&d, 0.1);
    if (late_return)
        draw_late_return(&plan);
    draw_storage(&plan);
    draw_unwritten(&plan);
    draw_foes(&plan, late_return);
    draw_games(&plan);
    if (!late_return)
        draw_ends(&plan);
    draw_kinds(&plan);
    draw_interest(&plan);
    return plan;
}

static bool is_rough(const foliot_impairment *i)
{
    return i->loss > 0.1 || i->burst > 3 || i->rate_bits > 0;
}

bool seed_plan_fair(const seed_plan *plan, const seed_client *client)
{
    return plan->server_pause_count == 0 && !is_rough(&client->send) &&
           !is_rough(&client->receive) && !seed_plan_has(plan, SEED_HOSTILE) &&
           client->kind != SEED_SICK;
}

bool seed_plan_audible(const seed_plan *plan, const seed_client *client)
{
    return client->outage_count == 0 && client->pause_count == 0 && seed_plan_fair(plan, client);
}

bool seed_plan_calm(const seed_plan *plan, const seed_client *client)
{
    return plan->crash_count == 0 && seed_plan_audible(plan, client);
}

bool seed_plan_in_lockstep(const seed_plan *plan)
{
    if (plan->mixed)
        return true;
    for (uint32_t i = 0; i < plan->session_count; i++) {
        if (plan->sessions[i].lockstep)
            return true;
        for (uint32_t c = 0; c < plan->crash_count; c++)
            if (plan->swaps[c] && plan->swapped[c][i].lockstep)
                return true;
        for (uint32_t e = 0; e < plan->end_count[i]; e++)
            if (plan->ends[i][e].follows && plan->ends[i][e].next.lockstep)
                return true;
    }
    return false;
}

bool seed_plan_has(const seed_plan *plan, seed_client_kind kind)
{
    for (uint32_t i = 0; i < plan->client_count; i++)
        if (plan->clients[i].kind == kind)
            return true;
    return false;
}

static void print_network(const char *way, const foliot_impairment *i, FILE *out)
{
    fprintf(out,
            "    %s loss %.1f%% burst %.1f delay %.0f jitter %.0f-%.0f kind %d duplicate %.1f%% "
            "reorder %.1f%% rate %.0f queue %u\n",
            way, 100 * i->loss, i->burst, i->delay_ms, i->jitter_ms_min, i->jitter_ms_max,
            (int)i->jitter_kind, 100 * i->duplicate, 100 * i->reorder, i->rate_bits,
            i->queue_bytes);
}

static void print_client(const seed_plan *plan, uint32_t index, FILE *out)
{
    static const char *const kinds[] = {"player", "spectator", "sick", "hostile", "foe"};
    static const char *const exits[] = {"stays", "leaves", "crashes"};
    const seed_client *g = &plan->clients[index];
    fprintf(out,
            "  client %u: %s, session %u, frame %.1f ms, skew %.3f s, drift %.0f ppm, changes %.1f "
            "Hz, damage %.3f%s\n",
            index, kinds[g->kind], g->session, (double)g->frame_ns * 1e-6,
            (double)g->skew_ns * 1e-9, g->drift * 1e6, g->changes_hz, g->damage,
            g->reconnects ? "" : ", does not reconnect");
    if (g->predicts)
        fprintf(out, "    predicts in lockstep, %u ticks of input delay\n", g->input_delay);
    if (g->kind == SEED_FOE)
        fprintf(out, "    it %s\n", schemes[g->scheme]);
    static const char *const peer_kinds[] = {"any kind", "a watcher", "a stepper"};
    if (plan->mixed)
        fprintf(out, "    is %s, changes at %.2f Hz, fault at %.3f s\n", peer_kinds[g->peer_kind],
                g->kind_hz, (double)g->fault_ns * 1e-9);
    print_network("send   ", &g->send, out);
    print_network("receive", &g->receive, out);
    for (uint32_t i = 0; i < g->life_count; i++)
        fprintf(out, "    joins %.3f s, %s %.3f s\n", (double)g->lives[i].join_ns * 1e-9,
                exits[g->lives[i].exit], (double)g->lives[i].end_ns * 1e-9);
    for (uint32_t i = 0; i < g->outage_count; i++)
        fprintf(out, "    no network %.3f to %.3f s\n", (double)g->outages[i].begin_ns * 1e-9,
                (double)g->outages[i].end_ns * 1e-9);
    for (uint32_t i = 0; i < g->pause_count; i++)
        fprintf(out, "    paused %.3f to %.3f s\n", (double)g->pauses[i].begin_ns * 1e-9,
                (double)g->pauses[i].end_ns * 1e-9);
}

static void print_ends(const seed_plan *plan, uint32_t s, FILE *out)
{
    for (uint32_t i = 0; i < plan->end_count[s]; i++) {
        const seed_end *end = &plan->ends[s][i];
        fprintf(out, "  session %u: %s end it at %.3f s, then %s%s%s\n", s,
                end->by_rules ? "its rules" : "its host", (double)end->at_ns * 1e-9,
                end->follows ? seed_scenes[end->next.scene].file : "nothing",
                end->follows && end->next.lockstep ? " in lockstep" : "",
                end->follows && end->next.game ? ", a game" : "");
    }
}

void seed_plan_print(const seed_plan *plan, FILE *out)
{
    fprintf(out,
            "seed %llu: %.2f s, snapshots %.1f Hz, poll %.2f ms, step %.2f ms, timeout %u ms, "
            "reconnect %u ms, %u peers, drift %.0f ppm\n",
            (unsigned long long)plan->seed, (double)plan->run_ns * 1e-9, plan->snapshot_hz,
            (double)plan->server_poll_ns * 1e-6, (double)plan->step_ns * 1e-6, plan->timeout_ms,
            plan->reconnect_ms, plan->peers_max, plan->server_drift * 1e6);
    for (uint32_t i = 0; i < plan->session_count; i++)
        fprintf(
            out,
            "  session %u: %s%s%s, far %.1f, at %.2f Hz, block %u, keyframe %u, queue %zu, drained "
            "%.1f Hz\n",
            i, seed_scenes[plan->sessions[i].scene].file,
            plan->sessions[i].lockstep ? " in lockstep" : "",
            plan->sessions[i].game ? ", a game" : "", plan->sessions[i].interest_far,
            plan->sessions[i].tick_hz, plan->sessions[i].block_ticks,
            plan->sessions[i].keyframe_ticks, plan->sessions[i].queue_bytes,
            plan->sessions[i].drain_hz);
    for (uint32_t i = 0; i < plan->server_pause_count; i++)
        fprintf(out, "  server paused %.3f to %.3f s\n",
                (double)plan->server_pauses[i].begin_ns * 1e-9,
                (double)plan->server_pauses[i].end_ns * 1e-9);
    for (uint32_t i = 0; i < plan->crash_count; i++)
        fprintf(out, "  server crashes %.3f s, down %.3f s, storage %d%s%s\n",
                (double)plan->crash_ns[i] * 1e-9, (double)plan->down_ns[i] * 1e-9,
                (int)plan->storage[i], plan->swaps[i] ? ", and another comes" : "",
                plan->end_crash_ns[i] < UINT64_MAX ? ", or when a session ends" : "");
    for (uint32_t i = 0; i < plan->crash_count; i++)
        for (uint32_t s = 0; plan->swaps[i] && s < plan->session_count; s++)
            fprintf(out, "  then session %u is %s%s\n", s,
                    seed_scenes[plan->swapped[i][s].scene].file,
                    plan->swapped[i][s].lockstep ? " in lockstep" : "");
    for (uint32_t s = 0; s < plan->session_count; s++)
        print_ends(plan, s, out);
    fprintf(out, "  log %.0f s, states every %.1f s in windows of %u\n", plan->limits.log_seconds,
            plan->limits.keyframe_seconds, plan->limits.window_bytes);
    for (uint32_t i = 0; i < plan->client_count; i++)
        print_client(plan, i, out);
}
