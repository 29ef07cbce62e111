// SPDX-License-Identifier: MIT
// seed_check.c: what must hold when a server is back (players are those that they were) and when
// all have left: nobody is left over, the recordings replay to what was seen, and every counter
// adds up.
#include "seed_run.h"
#include "slots.h"

#include <string.h>

#include "sim/math/hash.h"

typedef unsigned long long count;

static void check_equal(seed_run *run, const char *what, uint64_t a, uint64_t b)
{
    if (a != b)
        seed_fail(run, "%s: %llu and %llu", what, (count)a, (count)b);
}

static void check_zero(seed_run *run, const char *what, uint64_t value)
{
    if (value)
        seed_fail(run, "%s: %llu, and nothing explains it", what, (count)value);
}

// Every packet that was sent is somewhere.
void seed_check_hub(seed_run *run)
{
    foliot__hub_ledger l = foliot__hub_account(run->hub);
    if (l.unposted > l.posted || l.attempts < l.posted - l.unposted)
        seed_fail(run, "the hub took %llu packets and tried to carry %llu",
                  (count)(l.posted - l.unposted), (count)l.attempts);
    check_equal(run, "packets carried or copied, and lost or scheduled", l.attempts + l.duplicated,
                l.lost + l.scheduled);
    check_equal(run, "packets scheduled, and arrived, gone or on their way", l.scheduled,
                l.delivered + l.gone + l.waiting);
}

// Orders came once and in order, whatever happened; and rules go on with the score.
void seed_check_game(seed_run *run, uint32_t s)
{
    const seed_host *h = &run->hosts[s];
    foliot_var var = {.integer = 0};
    bool fair = !seed_plan_has(run->plan, SEED_HOSTILE) && !seed_plan_has(run->plan, SEED_SICK) &&
                !seed_plan_has(run->plan, SEED_FOE) && !run->back && !run->plan->small_queue;
    if (!h->rules || !fair)
        return;
    if (*foliot_rules_get_problem(h->rules))
        seed_fail(run, "session %u: its rules stopped: %s", s, foliot_rules_get_problem(h->rules));
    if (foliot_world_get_var(h->world, "wrong", &var))
        seed_fail(run, "session %u: %llu orders came out of order, or not at all", s,
                  (count)var.integer);
}

void seed_check_gone(seed_run *run)
{
    if (!run->server) {
        seed_fail(run, "the server has not come back");
        return;
    }
    foliot_server_presence present = foliot_server_get_presence(run->server);
    check_zero(run, "peers are left when all have gone", present.peers);
    check_zero(run, "players are left when all have gone", present.players);
    check_zero(run, "inputs are left when all have gone", present.inputs);
    for (uint32_t s = 0; s < run->plan->session_count; s++)
        seed_check_game(run, s);
    for (uint32_t s = 0; s < run->plan->session_count; s++)
        for (uint32_t p = 0; p < foliot_world_get_players_max(run->hosts[s].world); p++)
            if (!run->hosts[s].over && player_slot(run->hosts[s].world, p) != FOLIOT_NO_BODY)
                seed_fail(run, "session %u still has a body of player %u, though all have gone", s,
                          p);
}

// -- players that outlive their server

// Which player the client has a right to when the server is back. Nothing where storage does harm
// or another server comes.
void seed_note_kept(seed_run *run, seed_caller *c)
{
    const seed_plan *plan = run->plan;
    const foliot_client *client = c->client;
    c->kept_player = FOLIOT_NO_PLAYER;
    if (!client || c->plan->kind != SEED_PLAYER || c->plan->session >= plan->session_count ||
        c->leaving || seed_plan_has(plan, SEED_HOSTILE) || plan->swaps[run->generation] ||
        plan->storage[run->generation] != SEED_STORAGE_SOUND ||
        foliot_client_get_state(client) != FOLIOT_CLIENT_PLAYING)
        return;
    const seed_host *h = &run->hosts[c->plan->session];
    uint32_t player = foliot_client_get_player(client);
    uint64_t durable = foliot_recording_get_state(h->recording).written_tick;
    if (player < SEED_PLAYERS && player == c->player && h->owners[player].known &&
        h->owners[player].client == c->index && h->owners[player].life == c->life &&
        player_slot(h->world, player) != FOLIOT_NO_BODY &&
        c->player_tick + (uint64_t)foliot_client_get_pace_hz(client) < durable)
        c->kept_player = player;
}

// After a crash a player whose JOIN was durable is given to the same client again.
void seed_check_kept(seed_run *run, const foliot_server_event *event)
{
    seed_caller *c = seed_client_find(run, event->text);
    if (!c || c->kept_player == FOLIOT_NO_PLAYER)
        return;
    if (run->now_ns < c->kept_until_ns &&
        (event->kind == FOLIOT_SERVER_JOINED || event->player != c->kept_player))
        seed_fail(run, "client %u: was player %u when the server died, and is now player %u",
                  c->index, c->kept_player, event->player);
    c->kept_player = FOLIOT_NO_PLAYER;
}

// -- recordings

typedef struct recorded { // what a recording says
    uint64_t controls, joins, leaves;
    uint64_t points; // orders that ask for one, of this session
    struct {         // of a player since it joined
        uint64_t orders, tick;
    } lives[SEED_PLAYERS];
} recorded;

#define ORDERS_BURST 256 // at once, after a silence

// The server's state at that tick, in the life that the recording continued with.
static const foliot_digest *digest_at(const seed_host *h, uint64_t tick)
{
    for (uint32_t i = h->era + 1; i-- > h->anew;) {
        const seed_digests *t = &h->trace[i];
        if (t->count && tick >= t->base)
            return tick < t->base + t->count ? &t->digests[tick - t->base] : NULL;
    }
    return NULL;
}

static void compare_tick(seed_run *run, seed_host *h, uint32_t s, foliot_replay *replay)
{
    uint64_t tick = foliot_replay_get_tick(replay);
    const foliot_digest *expected = digest_at(h, tick);
    if (!expected ||
        !foliot_digest_equal(seed_state_digest(run, h, foliot_replay_get_world(replay)), *expected))
        seed_fail(run, "session %u: its recording replays tick %llu to another state", s,
                  (count)tick);
}

static void count_inputs(foliot_replay *replay, uint64_t tick, recorded *t)
{
    const foliot_input *inputs;
    uint32_t n;
    if (foliot_replay_get_inputs(replay, tick, &inputs, &n) != FOLIOT_STATUS_OK)
        return;
    for (uint32_t i = 0; i < n; i++) {
        t->controls += inputs[i].kind == FOLIOT_INPUT_CONTROL;
        t->joins += inputs[i].kind == FOLIOT_INPUT_JOIN;
        t->leaves += inputs[i].kind == FOLIOT_INPUT_LEAVE;
    }
}

// A server whose steps take longer than a tick closes fewer in a second.
static double seconds_a_tick(const seed_plan *plan, double pace_hz)
{
    double step_s = 1e-9 * (double)(plan->step_ns ? plan->step_ns + plan->server_poll_ns : 0);
    return step_s * pace_hz > 1 ? step_s : 1 / pace_hz;
}

// Nobody may give more than some a second, however it asks for them. Aims are the server's own.
static void count_order(seed_run *run, double pace_hz, uint64_t tick, const foliot_order *order,
                        recorded *t)
{
    if (order->player >= SEED_PLAYERS || order->kind == FOLIOT_ORDER_LEFT ||
        order->kind == FOLIOT_ORDER_AIMED)
        return;
    if (order->kind == FOLIOT_ORDER_JOINED) {
        t->lives[order->player].orders = 0;
        t->lives[order->player].tick = tick;
        return;
    }
    double seconds =
        (double)(tick - t->lives[order->player].tick) * seconds_a_tick(run->plan, pace_hz) + 1 +
        2 * run->plan->server_pause_count;
    double most = 1.02 * FOLIOT_ORDERS_PER_SECOND_MAX * (1 + seconds) +
                  (double)run->plan->crash_count * ORDERS_BURST;
    if ((double)++t->lives[order->player].orders > most)
        seed_fail(run, "player %u gave %llu orders in %.1f s, at tick %llu", order->player,
                  (count)t->lives[order->player].orders, seconds, (count)tick);
}

static void count_points(seed_run *run, foliot_replay *replay, uint64_t tick, recorded *t)
{
    double pace_hz = foliot_replay_get_summary(replay)->scene->pace_hz;
    const foliot_order *orders;
    uint32_t n;
    if (foliot_replay_get_orders(replay, tick, &orders, &n) != FOLIOT_STATUS_OK)
        return;
    for (uint32_t i = 0; i < n; i++) {
        count_order(run, pace_hz, tick, &orders[i], t);
        t->points += orders[i].kind == FOLIOT_ORDER_GAME && orders[i].length > 0 &&
                     orders[i].bytes[0] == 'p';
    }
}

// The score counts every order of the recording, over deaths of the server and all. The last tick's
// orders were never answered.
static void check_score(seed_run *run, foliot_replay *replay, uint64_t points)
{
    foliot_var var = {.integer = 0};
    const foliot_world *world = foliot_replay_get_world(replay);
    foliot_world_get_var(world, "score", &var);
    if (!run->back && !foliot_world_get_end(world, NULL)) // whose tick's last commands are refused
        check_equal(run, "points asked for, and the score", points, (uint64_t)var.integer);
}

static void read_recording(seed_run *run, seed_host *h, uint32_t s, foliot_replay *replay,
                           recorded *t)
{
    foliot_verdict verdict;
    bool stopped = h->recorded != FOLIOT_STATUS_OK;
    if (foliot_replay_verify(replay, NULL, &verdict) != FOLIOT_STATUS_OK ||
        verdict.status != (stopped ? FOLIOT_STATUS_TRUNCATED : FOLIOT_STATUS_OK)) {
        seed_fail(run, "session %u: its recording does not verify: %s %s", s,
                  foliot_status_get_text(verdict.status), verdict.damage.text);
        return;
    }
    if (foliot_replay_seek(replay, foliot_replay_get_summary(replay)->first_tick) !=
        FOLIOT_STATUS_OK)
        seed_fail(run, "session %u: its recording cannot be rewound", s);
    compare_tick(run, h, s, replay);
    foliot_rules *rules = seed_game_begin_again(run, h, replay);
    for (uint64_t ticks = 0; !run->failed && ticks < verdict.ticks; ticks++) {
        count_inputs(replay, foliot_replay_get_tick(replay), t);
        if (ticks + 1 < verdict.ticks)
            count_points(run, replay, foliot_replay_get_tick(replay), t);
        if (foliot_replay_step(replay) != FOLIOT_STATUS_OK)
            seed_fail(run, "session %u: its recording ends before it was verified to", s);
        compare_tick(run, h, s, replay);
        if (!run->failed)
            seed_game_tick_again(run, h, rules, replay);
    }
    foliot_rules_destroy(rules);
    if (!run->failed && h->rules && !stopped)
        check_score(run, replay, t->points);
    const seed_digests *last = &h->trace[h->era];
    uint64_t reached = last->count ? last->base + last->count - 1 : 0;
    if (!run->failed)
        check_equal(run, "ticks stepped, and recorded or counted as lost", reached,
                    foliot_replay_get_tick(replay) + h->ticks_lost);
}

static void check_recording(seed_run *run, uint32_t s, recorded *all)
{
    seed_host *h = &run->hosts[s];
    foliot__span span = {h->written.bytes, h->written.length, 1};
    foliot_replay *replay;
    foliot_damage damage;
    seed_mix(run, foliot__hash(&span, 1).low);
    run->result.tally.recordings_stopped += h->recorded != FOLIOT_STATUS_OK;
    if (h->recorded != FOLIOT_STATUS_OK && !run->plan->small_queue)
        seed_fail(run, "a recording stopped, and nothing explains it");
    if (run->failed)
        return;
    if (foliot_replay_open_bytes(h->written.bytes, h->written.length, &foliot_world_kind, &replay,
                                 &damage) != FOLIOT_STATUS_OK) {
        seed_fail(run, "session %u: its recording cannot be read: %s", s, damage.text);
        return;
    }
    all->points = 0;
    memset(all->lives, 0, sizeof all->lives);
    read_recording(run, h, s, replay, all);
    foliot_replay_close(replay);
}

void seed_check_recording(seed_run *run, uint32_t s)
{
    recorded all = {0};
    check_recording(run, s, &all);
}

void seed_check_recordings(seed_run *run)
{
    recorded all = {0};
    for (uint32_t s = 0; s < run->plan->session_count; s++)
        check_recording(run, s, &all);
    if (run->failed || run->result.tally.recordings_stopped || run->result.tally.ends)
        return;
    check_equal(run, "players who came and who left in the recordings", all.joins, all.leaves);
    if (run->plan->crash_count || seed_plan_in_lockstep(run->plan))
        return;
    const foliot_server_counters *c = &run->counted;
    check_equal(run, "inputs taken, and recorded or abandoned", c->inputs,
                all.controls + c->inputs_abandoned);
    check_equal(run, "players who left, and recorded so", c->leaves, all.leaves);
}

// -- what foes may cost

#define JOINS_AT_ONCE 20   // of one address, and the same number a second
#define SEARCHES_AT_ONCE 5 // of one protocol violator, and one a second
#define EVENTS_A_SECOND 10 // per peer: what a log must hold
#define CHANGES_AT_ONCE 6  // of the kind of one connection: wished, to be healed, and unhealed
#define CHANGERS 4         // connections of a foe at once, each with a change a second

static void check_budgets(seed_run *run)
{
    const foliot_server_counters *c = &run->counted;
    uint64_t seconds = 1 + (run->now_ns - SEED_BEGIN_NS) / SEED_SECOND,
             foes = seed_plan_foes(run->plan, SEED_SCHEME_COUNT);
    uint64_t others = run->plan->client_count - foes, events = run->result.tally.events;
    if (foes && events > EVENTS_A_SECOND * (1 + foes + others) * (1 + seconds))
        seed_fail(run, "%llu foes made the server report %llu events in %llu s", (count)foes,
                  (count)events, (count)seconds);
    uint64_t violators = seed_plan_foes(run->plan, SEED_lies), joins = run->result.tally.foe_joins;
    if (joins > foes * (JOINS_AT_ONCE * (1 + seconds)))
        seed_fail(run, "%llu foes joined %llu times in %llu s", (count)foes, (count)joins,
                  (count)seconds);
    if (violators == foes && !run->plan->faults && !seed_plan_has(run->plan, SEED_HOSTILE) &&
        !seed_plan_has(run->plan, SEED_SICK) &&
        c->searches > violators * (SEARCHES_AT_ONCE + seconds))
        seed_fail(run, "%llu violators were searched %llu times in %llu s", (count)violators,
                  (count)c->searches, (count)seconds);
}

static void check_kinds(seed_run *run)
{
    const foliot_server_counters *c = &run->counted;
    uint64_t seconds = 1 + (run->now_ns - SEED_BEGIN_NS) / SEED_SECOND,
             foes = seed_plan_foes(run->plan, SEED_SCHEME_COUNT);
    if (run->plan->mixed || seed_plan_has(run->plan, SEED_HOSTILE) ||
        seed_plan_has(run->plan, SEED_SICK))
        return;
    if (c->kind_changes > CHANGES_AT_ONCE * run->result.tally.foe_joins + CHANGERS * foes * seconds)
        seed_fail(run, "%llu foes changed their kind %llu times in %llu s", (count)foes,
                  (count)c->kind_changes, (count)seconds);
    if (c->heals > run->result.tally.foe_joins + CHANGERS * foes * seconds / 10)
        seed_fail(run, "%llu foes were healed %llu times in %llu s", (count)foes, (count)c->heals,
                  (count)seconds);
}

// -- counters

void seed_check_counters(seed_run *run)
{
    const foliot_server_counters *c = &run->counted;
    const seed_plan *plan = run->plan;
    bool trouble = seed_plan_has(plan, SEED_HOSTILE) || seed_plan_has(plan, SEED_SICK) ||
                   seed_plan_has(plan, SEED_FOE);
    seed_tally *tally = &run->result.tally;
    tally->inputs += c->inputs;
    tally->late += c->inputs_late;
    tally->malformed += c->messages_malformed;
    tally->commands += c->commands;
    tally->orders_again += c->orders_repeated;
    tally->kind_changes += c->kind_changes;
    tally->heals += c->heals;
    check_equal(run, "packets received, and what became of them", run->received,
                c->joins + c->resumes + c->refusals + c->byes + c->input_packets + c->early_asked +
                    c->answers + c->messages_malformed + c->messages_unexpected +
                    c->messages_ignored + c->orders + c->orders_repeated + c->orders_refused +
                    c->interest_acknowledgements);
    check_zero(run, "events dropped", c->events_dropped);
    if (!plan->small_queue)
        check_zero(run, "ticks unrecorded", c->ticks_unrecorded);
    if (plan->server_pause_count == 0 && plan->step_ns == 0)
        check_zero(run, "ticks late", c->ticks_late);
    if (!trouble) {
        check_zero(run, "messages malformed", c->messages_malformed);
        check_zero(run, "messages unexpected", c->messages_unexpected);
        check_zero(run, "inputs refused", c->inputs_refused);
        check_zero(run, "orders refused", c->orders_refused);
        check_zero(run, "commands refused", c->commands_refused);
        if (!plan->faults)
            check_zero(run, "divergences", c->divergences);
#define LIE(name, help) check_zero(run, #name, c->name);
        FOLIOT_SERVER_VIOLATIONS(LIE)
#undef LIE
    }
    check_budgets(run);
    check_kinds(run);
    foliot__hub_ledger l = foliot__hub_account(run->hub);
    tally->packets = l.attempts + l.duplicated;
    tally->packets_lost = l.lost;
    check_zero(run, "connections are left in the hub", l.connections);
#define MIX(name, help) seed_mix(run, c->name);
    FOLIOT_SERVER_COUNTERS(MIX)
#undef MIX
}
