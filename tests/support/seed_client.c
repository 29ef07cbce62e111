// SPDX-License-Identifier: MIT
// seed_client.c: the simulated clients of a run: players and spectators with random controls,
// clients whose packets are damaged, and hostile ones that send noise, packets of others, and
// mixtures of both.
#include "seed_run.h"

#include <stdlib.h>
#include <string.h>

#include "../../client/lib/shared/internal.h"
#include "base/assert.h"
#include "status.h"
#include "slots.h"

#define LEAVE_NS (3 * (uint64_t)SEED_SECOND) // time for a goodbye to arrive
#define JOIN_NS                                                                                    \
    (6 * (uint64_t)SEED_SECOND) // in a calm network a join has ended by then, one way or the other
#define JOIN_CLEAR_NS (3 * (uint64_t)SEED_SECOND) // and in one that does nothing to packets
#define FOE_PLAYERS 2 // places that one address may take by coming and going
#define APPLIED_NS (3 * (uint64_t)SEED_SECOND) // by then a change of controls has reached the world
#define FOLLOWED_NS (9 * (uint64_t)SEED_SECOND) // a peer that missed the message asks again
#define LOOK_NS (SEED_SECOND / 4)
#define RECOVERED_NS (6 * (uint64_t)SEED_SECOND) // after a gap all is as it should be

static const seed_life *life_of(const seed_caller *c)
{
    return &c->plan->lives[c->life];
}

// Keeps packets that hostile clients may send again.
static void capture_packet(void *user, foliot_delivery delivery, const uint8_t *bytes,
                           size_t length)
{
    seed_run *run = user;
    seed_capture *capture = &run->captures[run->capture_count++ % SEED_CAPTURES];
    if (length > sizeof capture->bytes)
        length = sizeof capture->bytes;
    capture->delivery = delivery;
    capture->length = (uint16_t)length;
    memcpy(capture->bytes, bytes, length);
}

static bool any_hostile(const seed_run *run)
{
    return seed_plan_has(run->plan, SEED_HOSTILE);
}

static void open_wire(seed_run *run, seed_caller *c)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot_transport *inner = NULL;
    config.send = c->plan->send;
    config.receive = c->plan->receive;
    config.send.seed += c->life;
    config.receive.seed += c->life;
    config.timeout_ms = run->plan->timeout_ms;
    if (c->plan->kind == SEED_FOE)
        config.peers_max = SEED_LINKS;
    FOLIOT_ASSERT(foliot_transport_create_memory(run->hub, &config, run->now_ns, &inner) ==
                  FOLIOT_STATUS_OK);
    c->serial = ++run->serial;
    seed_wire_config wire = {
        .clock = c->clock, .damage = c->plan->damage, .seed = c->plan->send.seed ^ c->life};
    if (any_hostile(run) && c->plan->kind != SEED_HOSTILE && c->plan->kind != SEED_FOE) {
        wire.tap = capture_packet;
        wire.tap_user = run;
    }
    c->wire = seed_wire_create(inner, &wire);
    c->cut_off = false;
}

void seed_client_open(seed_run *run, uint32_t index)
{
    seed_caller *c = &run->callers[index];
    c->plan = &run->plan->clients[index];
    c->index = index;
    c->rng = foliot__rng_seeded(run->plan->seed * SEED_CLIENTS + index +
                                (index < SEED_CLIENTS ? 0 : (uint64_t)1 << 60));
    c->clock = (seed_clock){&run->now_ns, SEED_BEGIN_NS, c->plan->skew_ns, c->plan->drift};
    c->done = c->plan->life_count == 0;
    c->next_ns = c->done ? UINT64_MAX : life_of(c)->join_ns;
}

// -- coming and going

static void begin_life(seed_run *run, seed_caller *c)
{
    open_wire(run, c);
    c->alive = true;
    c->leaving = false;
    c->joined_ns = run->now_ns;
    c->render_tick = -1;
    c->predicted_tick = 0;
    c->claimed_tick = UINT64_MAX;
    c->claims = false;
    c->player = FOLIOT_NO_PLAYER;
    c->playing = false;
    c->undecodable = 0;
    memset(c->controls, 0, sizeof c->controls);
    c->control_count = 1; // nothing, at first
    c->unrest = !seed_plan_calm(run->plan, c->plan);
    c->order_sequence = c->number = c->heard = 0;
    c->heard_ns = c->followed_ns = 0;
    c->reconnects_before = c->reconnects_stale = 0;
    c->kept_player = FOLIOT_NO_PLAYER;
    seed_foe_begin(c);
    if (c->plan->kind == SEED_HOSTILE || c->plan->kind == SEED_FOE)
        return;
    char name[32], session[16];
    bool no_players =
        c->plan->session < SEED_SESSIONS && run->hosts[c->plan->session].scene.players.limit == 0;
    snprintf(name, sizeof name, "guest-%u-%u", c->index, c->life);
    snprintf(session, sizeof session, "session-%u", c->plan->session);
    foliot_client_config config = foliot_client_config_default();
    config.transport = c->wire;
    config.port = 7777;
    config.session = session;
    config.name = name;
    config.spectates = c->plan->kind == SEED_SPECTATOR || (no_players && c->index != 7);
    config.reconnects = c->plan->reconnects;
    config.input_hz = c->plan->input_hz;
    config.predicts = c->plan->predicts;
    config.input_delay = c->plan->input_delay;
    config.kind = (foliot_peer_kind)c->plan->peer_kind;
    c->faulted = false;
    c->heals = c->kind_changes = 0;
    config.fingerprint = run->resources->fingerprint;
    FOLIOT_ASSERT(foliot_client_create(&config, seed_clock_local(&c->clock), &c->client) ==
                  FOLIOT_STATUS_OK);
    seed_log(run, "client %u: comes", c->index);
}

// The player slots that one address may hold, however it comes and goes: a dropped player keeps its
// slot for a while.
static uint32_t foe_players(const seed_client *foe)
{
    return foe->scheme == SEED_holds ? 0 : FOE_PLAYERS;
}

// Those who play there, or did so a while ago and may be kept; of foes, as many as one address may
// have.
static uint32_t players_due(const seed_run *run, uint32_t session)
{
    uint64_t kept_ns =
        1000000u * (uint64_t)(run->plan->timeout_ms + run->plan->reconnect_ms) + SEED_SECOND;
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->plan->client_count; i++) {
        const seed_caller *c = &run->callers[i];
        if (c->plan->session != session || c->plan->kind == SEED_SPECTATOR)
            continue;
        if (c->plan->kind == SEED_FOE) {
            count += foe_players(c->plan);
            continue;
        }
        for (uint32_t n = 0; n < c->plan->life_count; n++) {
            const seed_life *life = &c->plan->lives[n];
            count += life->join_ns <= run->now_ns &&
                     (life->exit == SEED_STAYS || life->end_ns + kept_ns > run->now_ns);
        }
    }
    return count;
}

// Whoever else is there, nobody honest stays outside for want of room that others have no right to.
static void check_refusal(seed_run *run, const seed_caller *c)
{
    if (c->plan->session >= run->plan->session_count || !foliot_client_get_retryable(c->client) ||
        run->hosts[c->plan->session].over)
        return;
    uint32_t limit = run->hosts[c->plan->session].scene.players.limit,
             players = players_due(run, c->plan->session);
    if (seed_plan_foes(run->plan, SEED_SCHEME_COUNT) &&
        (players <= limit || c->plan->kind == SEED_SPECTATOR))
        seed_fail(run, "client %u: refused ('%s') though with it %u of %u players are due",
                  c->index, foliot_client_get_reason(c->client), players, limit);
}

static bool is_clear(const seed_client *client)
{
    const foliot_impairment *s = &client->send, *r = &client->receive;
    return s->delay_ms + r->delay_ms + s->jitter_ms_max + r->jitter_ms_max + s->loss + r->loss +
               s->reorder + r->reorder ==
           0;
}

// A join has ended in a world that is seen, or with a sentence.
static void check_join(seed_run *run, const seed_caller *c, const foliot_client_statistics *seen)
{
    foliot_client_state state = foliot_client_get_state(c->client);
    const char *reason = foliot_client_get_reason(c->client);
    bool over = state == FOLIOT_CLIENT_REFUSED || state == FOLIOT_CLIENT_CLOSED ||
                state == FOLIOT_CLIENT_LOST;
    if (over && *reason == '\0')
        seed_fail(run, "client %u: it ended without a sentence", c->index);
    if (c->unrest || c->leaving)
        return;
    if (state == FOLIOT_CLIENT_LOST)
        seed_fail(run, "client %u: lost in a calm network: %s", c->index, reason);
    if (state == FOLIOT_CLIENT_REFUSED)
        check_refusal(run, c);
    if (run->now_ns - c->joined_ns > (is_clear(c->plan) ? JOIN_CLEAR_NS : JOIN_NS) && !over &&
        seen->snapshots_received == 0)
        seed_fail(run, "client %u: has not joined after %.1f s", c->index,
                  (double)(run->now_ns - c->joined_ns) * 1e-9);
    if (c->plan->session == SEED_SESSIONS && state == FOLIOT_CLIENT_PLAYING)
        seed_fail(run, "client %u: is in a session that is not there", c->index);
    // Through a tiny window in a network that loses packets, a state is a while on its way, and
    // nothing else is sent.
    bool slow = run->plan->limits.window_bytes < FOLIOT_PACKET_BYTES_MAX && !is_clear(c->plan);
    if (seen->reconnects && !slow)
        seed_fail(run, "client %u: had to reconnect in a calm network", c->index);
}

static void end_life(seed_run *run, seed_caller *c, bool dumb)
{
    seed_tally *tally = &run->result.tally;
    if (c->client) {
        foliot_client_statistics seen = foliot_client_get_statistics(c->client);
        foliot_client_state state = foliot_client_get_state(c->client);
        check_join(run, c, &seen);
        if (seen.pieces_malformed && c->plan->kind != SEED_SICK)
            seed_fail(run, "client %u: %llu malformed pieces", c->index,
                      (unsigned long long)seen.pieces_malformed);
        if (state == FOLIOT_CLIENT_REFUSED && !c->leaving && c->kept_player != FOLIOT_NO_PLAYER &&
            run->now_ns < c->kept_until_ns)
            seed_fail(run, "client %u: refused ('%s'), and player %u was kept for it", c->index,
                      foliot_client_get_reason(c->client), c->kept_player);
        tally->refused += state == FOLIOT_CLIENT_REFUSED;
        tally->lost += state == FOLIOT_CLIENT_LOST;
        tally->left += state == FOLIOT_CLIENT_CLOSED;
        tally->reconnects += seen.reconnects;
        tally->snapshots += seen.snapshots_received;
        tally->undecodable += seen.snapshots_without_baseline;
        tally->samples += seen.samples;
        tally->starved += seen.samples_starved;
        seed_mix(run, seen.snapshots_received);
        seed_mix(run, seen.samples_starved);
        seed_log(run,
                 "client %u: goes, state %d '%s', %llu snapshots, %llu that could not be decoded",
                 c->index, (int)state, foliot_client_get_reason(c->client),
                 (unsigned long long)seen.snapshots_received,
                 (unsigned long long)seen.snapshots_without_baseline);
    }
    tally->crashed += dumb;
    tally->damaged += seed_wire_damaged(c->wire);
    if (dumb)
        seed_wire_mute(c->wire);
    foliot_client_destroy(c->client);
    foliot_transport_destroy(c->wire);
    c->client = NULL;
    c->wire = NULL;
    c->alive = c->connected = false;
    c->life++;
    c->done = run->stopping || c->life >= c->plan->life_count;
    c->next_ns = c->done ? UINT64_MAX : life_of(c)->join_ns;
    if (c->next_ns < run->now_ns)
        c->next_ns = run->now_ns;
}

void seed_client_close(seed_run *run, seed_caller *c)
{
    if (c->alive)
        end_life(run, c, true);
}

seed_caller *seed_client_find(seed_run *run, const char *text)
{
    unsigned client, life;
    if (sscanf(text, "guest-%u-%u", &client, &life) != 2 || client >= run->plan->client_count ||
        !run->callers[client].client || run->callers[client].life != life)
        return NULL;
    return &run->callers[client];
}

static void start_leaving(seed_run *run, seed_caller *c)
{
    c->leaving = true;
    c->leaving_ns = run->now_ns;
    if (c->client)
        foliot_client_leave(c->client, seed_clock_local(&c->clock));
}

// True if the life has ended.
static bool end_life_if_due(seed_run *run, seed_caller *c)
{
    const seed_life *life = life_of(c);
    bool due = life->exit != SEED_STAYS && run->now_ns >= life->end_ns;
    if (due && life->exit == SEED_CRASHES_DOWN && !c->leaving) {
        end_life(run, c, true);
        return true;
    }
    if ((due || run->stopping) && !c->leaving)
        start_leaving(run, c);
    if (!c->client) {
        if (c->leaving)
            end_life(run, c, true);
        return c->client == NULL && !c->alive;
    }
    foliot_client_state state = foliot_client_get_state(c->client);
    bool over = state == FOLIOT_CLIENT_REFUSED || state == FOLIOT_CLIENT_CLOSED ||
                state == FOLIOT_CLIENT_LOST;
    if (over || (c->leaving && run->now_ns - c->leaving_ns > LEAVE_NS)) {
        end_life(run, c, false);
        return true;
    }
    return false;
}

// -- the network breaks and is mended

static void mind_outages(seed_run *run, seed_caller *c)
{
    bool out = seed_after_gaps(c->plan->outages, c->plan->outage_count, run->now_ns) != run->now_ns;
    if (out == c->cut_off)
        return;
    c->cut_off = out;
    foliot_impairment send = c->plan->send, receive = c->plan->receive;
    if (out)
        send.loss = receive.loss = 1;
    demand(foliot_transport_set_impairment(seed_wire_inner(c->wire), &send, &receive));
    seed_log(run, "client %u: %s", c->index, out ? "its network is gone" : "its network is back");
}

// -- playing

static void change_controls(seed_run *run, seed_caller *c)
{
    if (c->plan->changes_hz <= 0 || run->now_ns < c->think_ns)
        return;
    double wait = 2 * foliot__rng_unit(&c->rng) / c->plan->changes_hz;
    c->think_ns = run->now_ns + (uint64_t)(wait * 1e9);
    c->controls[(c->control_count - 1) % SEED_CONTROLS].over_ns = run->now_ns;
    seed_control *control = &c->controls[c->control_count++ % SEED_CONTROLS];
    *control = (seed_control){.over_ns = 0};
    for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
        control->axes[k] = (int8_t)(foliot__rng_below(&c->rng, 255) - 127);
    control->buttons = (uint16_t)foliot__rng_below(&c->rng, 8);
    foliot_client_set_input(c->client, control->axes, control->buttons);
}

static uint32_t give_order(seed_run *run, seed_caller *c, const uint8_t *bytes, size_t length)
{
    uint32_t sequence = 0;
    foliot_order_kind kind = bytes[0] == '"' ? FOLIOT_ORDER_CHAT : FOLIOT_ORDER_GAME;
    if (foliot_client_order(c->client, kind, bytes, length, &sequence) != FOLIOT_STATUS_OK)
        return 0;
    run->result.tally.orders++;
    return sequence;
}

// A sequence that does not follow is another player's: its numbers begin again.
static bool follows(seed_caller *c, uint32_t sequence)
{
    bool follows = sequence == c->order_sequence + 1;
    c->order_sequence = sequence;
    if (!follows)
        c->number = 0;
    return follows;
}

// Anything, and then the next number: the rules count those that are out of order.
static void give_orders(seed_run *run, seed_caller *c)
{
    static const char moves[] = "pppsssxtcccmMMi\"";
    uint8_t bytes[8] = {(uint8_t)moves[foliot__rng_below(&c->rng, sizeof moves - 1)], 7};
    seed_host *h = &run->hosts[c->plan->session];
    if (run->now_ns < c->order_ns)
        return;
    c->order_ns = run->now_ns + 50000000u + foliot__rng_below(&c->rng, 300000000u);
    if (h->asks)
        bytes[0] = (uint8_t)h->asks;
    uint32_t sequence = give_order(run, c, bytes, 2);
    if (sequence == 0)
        return;
    h->asks = 0;
    if (!follows(c, sequence)) {
        bytes[0] = 'r';
        sequence = give_order(run, c, bytes, 1);
        if (sequence == 0)
            c->order_sequence = 0; // once more
        if (sequence == 0 || !follows(c, sequence))
            return;
    }
    uint32_t number = c->number + 1;
    bytes[0] = 'n';
    memcpy(bytes + 1, &number, sizeof number);
    sequence = give_order(run, c, bytes, 5);
    if (sequence != 0 && follows(c, sequence))
        c->number = number;
}

// The world's controls of it are those that it held a short while ago.
static bool is_heard(const seed_run *run, const seed_caller *c, const foliot_input *has)
{
    uint32_t kept = c->control_count < SEED_CONTROLS ? c->control_count : SEED_CONTROLS;
    for (uint32_t i = 1; i <= kept; i++) {
        const seed_control *control = &c->controls[(c->control_count - i) % SEED_CONTROLS];
        if (control->over_ns && control->over_ns + APPLIED_NS < run->now_ns)
            return false;
        if (control->buttons == has->buttons &&
            memcmp(control->axes, has->axes, sizeof control->axes) == 0)
            return true;
    }
    return kept == SEED_CONTROLS; // the ring does not reach back so far
}

// Once a baseline was acknowledged, only acknowledged ones are used: whatever comes can be decoded.
static void check_decodes(seed_run *run, seed_caller *c, const foliot_client_statistics *seen)
{
    uint64_t undecodable = seen->snapshots_without_baseline;
    bool settled = c->playing && run->now_ns > c->playing_ns + APPLIED_NS &&
                   run->now_ns > c->settled_ns && seen->kind_changes == c->kind_changes &&
                   seed_plan_calm(run->plan, c->plan);
    if (settled && undecodable > c->undecodable)
        seed_fail(run, "client %u: a snapshot came against a baseline that it does not have",
                  c->index);
    c->undecodable = undecodable;
    if (seen->kind_changes != c->kind_changes) // deltas may overtake the first of them
        c->settled_ns = run->now_ns + APPLIED_NS;
    c->kind_changes = seen->kind_changes;
}

static bool any_within(const seed_gap *gaps, uint32_t count, uint64_t from_ns, uint64_t to_ns)
{
    for (uint32_t i = 0; i < count; i++)
        if (gaps[i].begin_ns <= to_ns && gaps[i].end_ns >= from_ns)
            return true;
    return false;
}

// Whatever was lost in a gap: a while later nothing is missing any more.
static void check_up_to_date(seed_run *run, const seed_caller *c,
                             const foliot_client_statistics *seen, const foliot_world *world)
{
    const seed_client *g = c->plan;
    uint64_t from_ns = run->now_ns - RECOVERED_NS;
    // Reliable data sent in an outage may never arrive: the connection is then given up.
    uint64_t timeout_ns = (uint64_t)run->plan->timeout_ms * 1000000u;
    uint64_t given_up_ns = from_ns > timeout_ns ? from_ns - timeout_ns : 0;
    if (run->now_ns < c->playing_ns + RECOVERED_NS || !seed_plan_fair(run->plan, g) ||
        any_within(g->outages, g->outage_count, given_up_ns, run->now_ns) ||
        any_within(g->pauses, g->pause_count, from_ns, run->now_ns))
        return;
    seed_game_check_vars(run, c);
    double late_s = run->plan->sessions[g->session].spectator_delay_s + 1e-9 * APPLIED_NS;
    uint64_t newest = seen->newest_tick, now = foliot_world_get_tick(world);
    if ((double)newest + late_s * foliot_client_get_pace_hz(c->client) < (double)now)
        seed_fail(run, "client %u: has tick %llu when the server is at %llu", c->index,
                  (unsigned long long)newest, (unsigned long long)now);
}

static void check_heard(seed_run *run, seed_caller *c)
{
    const foliot_world *world = run->hosts[c->plan->session].world;
    if (c->player == FOLIOT_NO_PLAYER || !seed_plan_audible(run->plan, c->plan) ||
        player_slot(world, c->player) == FOLIOT_NO_BODY)
        return;
    foliot_input has = foliot_world_get_player_controls(world, c->player);
    if (!is_heard(run, c, &has))
        seed_fail(run, "client %u: what it does is not heard: axes %d %d %d %d, buttons %u",
                  c->index, has.axes[0], has.axes[1], has.axes[2], has.axes[3], has.buttons);
}

// Its scene is that of the session, though another server came.
static void check_scene(seed_run *run, const seed_caller *c)
{
    if (!c->playing || run->now_ns < c->playing_ns + APPLIED_NS ||
        c->playing_ns <= run->hosts[c->plan->session].up_ns || !run->server)
        return;
    const foliot_scene *has = foliot_client_get_scene(c->client),
                       *is = &run->hosts[c->plan->session].scene;
    if (has && (strcmp(has->name, is->name) != 0 || has->body_count != is->body_count))
        seed_fail(run, "client %u: has the scene '%s' of %u bodies, and plays in '%s' of %u",
                  c->index, has->name, has->body_count, is->name, is->body_count);
}

static void check_service(seed_run *run, seed_caller *c, const foliot_client_statistics *seen)
{
    bool playing = foliot_client_get_state(c->client) == FOLIOT_CLIENT_PLAYING &&
                   c->plan->session < run->plan->session_count;
    if (playing && !c->playing)
        c->playing_ns = run->now_ns;
    c->playing = playing;
    if (c->plan->kind == SEED_SICK)
        return;
    check_decodes(run, c, seen);
    check_scene(run, c);
    if (!playing)
        check_join(run, c, seen);
    if (!playing || run->now_ns < c->look_ns || !run->server || run->job_count || c->leaving)
        return;
    c->look_ns = run->now_ns + LOOK_NS;
    const seed_host *h = &run->hosts[c->plan->session];
    if (h->over || c->playing_ns <= h->up_ns || run->now_ns <= c->playing_ns + APPLIED_NS)
        return;
    check_heard(run, c);
    check_up_to_date(run, c, seen, h->world);
}

// False while the server has not stepped that tick: in lockstep clients may be first.
static bool compare_claim(seed_run *run, seed_caller *c)
{
    const seed_host *h = &run->hosts[c->plan->session];
    if (c->claim_era < h->anew) {
        c->claims = false; // the claim is of a world that no longer exists
        return true;
    }
    const seed_digests *now = &h->trace[h->era];
    bool known = now->count > 0 && c->claim_tick < now->base + now->count;
    if (!known && c->claim_era == h->era)
        return false;
    c->claims = false;
    run->result.tally.claims++;
    if (known && !seed_state_matches(h, c->claim_tick, c->claim_steps, c->claim))
        seed_fail(run, "client %u: its state of tick %llu is not the server's", c->index,
                  (unsigned long long)c->claim_tick);
    return true; // a tick that was never stepped before a crash has no digest to compare with
}

// The session, or its server, ends now. A welcome of it may still be on its way to a client that
// reconnects.
void seed_client_mark(seed_caller *c)
{
    foliot_client_statistics seen = foliot_client_get_statistics(c->client);
    bool welcomed = seen.snapshots_received > 0 || seen.ticks_stepped > 0;
    bool plays = foliot_client_get_state(c->client) == FOLIOT_CLIENT_PLAYING;
    c->reconnects_before = seen.reconnects;
    c->reconnects_stale = seen.reconnects + (welcomed && !plays);
}

// The client's state must equal the one that the server had at that tick, or in lockstep will have.
static void check_claim(seed_run *run, seed_caller *c, const foliot_client_statistics *seen)
{
    if (c->plan->session >= run->plan->session_count || (c->claims && !compare_claim(run, c)))
        return;
    const seed_host *h = &run->hosts[c->plan->session];
    if (h->anew && c->joined_ns < h->anew_ns &&
        (seen->reconnects <= c->reconnects_stale ||
         foliot_client_get_state(c->client) != FOLIOT_CLIENT_PLAYING))
        return; // it has not connected to the new server yet
    // Nor to one that goes on where the dead one's recording ends: what it shows may be beyond.
    if (h->era > h->anew && foliot_client_get_state(c->client) != FOLIOT_CLIENT_PLAYING)
        return;
    if ((seen->snapshots_received == 0 && seen->ticks_stepped == 0) ||
        (seen->digest.high | seen->digest.low) == 0 || seen->newest_tick == c->claimed_tick ||
        c->plan->kind == SEED_SICK ||
        (c->faulted && (foliot_client_get_kind(c->client) == FOLIOT_PEER_STEPPER)))
        return;
    c->claimed_tick = c->claim_tick = seen->newest_tick;
    c->claim = seen->digest;
    c->claim_steps = foliot_client_get_kind(c->client) == FOLIOT_PEER_STEPPER;
    c->claim_era = h->era;
    c->claims = true;
    compare_claim(run, c);
}

static void check_sample(seed_run *run, seed_caller *c)
{
    foliot_sample sample;
    if (foliot_client_sample(c->client, seed_clock_local(&c->clock), &sample) != FOLIOT_STATUS_OK)
        return;
    bool same_era =
        c->plan->session < run->plan->session_count && !run->hosts[c->plan->session].anew;
    if (!(sample.render_tick >= c->render_tick) && c->plan->kind != SEED_SICK && same_era &&
        !run->back)
        seed_fail(run, "client %u: render time ran backwards, from %.4f to %.4f", c->index,
                  c->render_tick, sample.render_tick);
    c->render_tick = sample.render_tick;
    uint64_t bits;
    memcpy(&bits, &sample.render_tick, sizeof bits);
    seed_mix(run, bits);
}

// A predicted state is near the closed one, and is exact if no guess was wrong: the state that was
// noted is looked at when its tick is closed.
static void check_prediction(seed_run *run, seed_caller *c, const foliot_client_statistics *seen)
{
    const foliot_simulation *predicted = foliot_client_get_predicted(c->client);
    const foliot__prediction *p = c->client->predictor.worlds;
    if (!predicted || !foliot__prediction_holds(p) || seen->rollbacks != c->rollbacks || c->faulted)
        c->predicted_tick = 0;
    c->rollbacks = seen->rollbacks;
    if (!predicted || c->faulted)
        return;
    uint64_t tick = foliot_simulation_get_tick(predicted);
    uint32_t most = c->client->config.rollback_ticks_max;
    if (tick < seen->newest_tick || tick > seen->newest_tick + most + (most + 7) / 8)
        seed_fail(run, "client %u: predicts tick %llu at tick %llu", c->index,
                  (unsigned long long)tick, (unsigned long long)seen->newest_tick);
    if (c->predicted_tick && seen->newest_tick == c->predicted_tick &&
        !foliot_digest_equal(seen->digest, c->predicted))
        seed_fail(run,
                  "client %u: predicted tick %llu otherwise than it was, and no guess was wrong",
                  c->index, (unsigned long long)c->predicted_tick);
    if (seen->newest_tick >= c->predicted_tick && foliot__prediction_holds(p)) {
        c->predicted_tick = tick;
        c->predicted = foliot_simulation_get_digest(predicted);
    }
}

// A player that this life was given, other than the one that it plays.
static uint32_t ghost_of(const seed_run *run, const seed_caller *c)
{
    const seed_host *h = &run->hosts[c->plan->session];
    for (uint32_t p = 0; p < SEED_PLAYERS && p < foliot_world_get_players_max(h->world); p++)
        if (p != c->player && h->owners[p].client == c->index && h->owners[p].life == c->life &&
            h->owners[p].known && player_slot(h->world, p) != FOLIOT_NO_BODY)
            return p;
    return UINT32_MAX;
}

// Nobody is two for longer than it takes to find out: for the other one's leaving to be stepped
// there is a second.
static void check_player(seed_run *run, seed_caller *c)
{
    if (foliot_client_get_state(c->client) != FOLIOT_CLIENT_PLAYING ||
        c->plan->session >= run->plan->session_count)
        return;
    const foliot_world *world = run->hosts[c->plan->session].world;
    uint32_t player = foliot_client_get_player(c->client);
    if (player != c->player && world)
        c->player_tick = foliot_world_get_tick(world);
    c->player = player;
    if (!world || run->job_count || !run->server || seed_plan_has(run->plan, SEED_HOSTILE) ||
        seed_plan_has(run->plan, SEED_SICK) ||
        foliot_world_get_tick(world) <=
            c->player_tick + (uint64_t)foliot_client_get_pace_hz(c->client))
        return;
    uint32_t ghost = ghost_of(run, c);
    if (ghost != UINT32_MAX)
        seed_fail(
            run,
            "client %u: is player %u, and player %u, who was given to it too, stands there still",
            c->index, player, ghost);
}

// Whoever played when the session ended plays in the one after it, where there is room.
static void check_followed(seed_run *run, seed_caller *c, const foliot_client_statistics *seen)
{
    foliot_client_state state = foliot_client_get_state(c->client);
    if (!c->followed_ns)
        return;
    if (c->leaving || run->stopping || state == FOLIOT_CLIENT_REFUSED ||
        (seen->reconnects > c->reconnects_before && state == FOLIOT_CLIENT_PLAYING)) {
        c->followed_ns = 0;
        return;
    }
    if (state == FOLIOT_CLIENT_LOST || state == FOLIOT_CLIENT_CLOSED ||
        run->now_ns - c->followed_ns > FOLLOWED_NS)
        seed_fail(run, "client %u: has not followed to the next scene: %s", c->index,
                  foliot_client_get_reason(c->client));
}

#define HEALED_NS (8 * (uint64_t)SEED_SECOND) // in a calm network

// Wishes to be the other kind now and then; and once a bit of what it steps flips.
static void change_kind(seed_run *run, seed_caller *c, const foliot_client_statistics *seen)
{
    bool steps = foliot_client_get_kind(c->client) == FOLIOT_PEER_STEPPER;
    if (c->plan->kind_hz > 0 && run->now_ns >= c->kind_ns) {
        c->kind_ns = run->now_ns + (uint64_t)(2e9 * foliot__rng_unit(&c->rng) / c->plan->kind_hz);
        allow_failure(foliot_client_set_kind(
            c->client, foliot__rng_below(&c->rng, 2) ? FOLIOT_PEER_STEPPER : FOLIOT_PEER_WATCHER));
    }
    const foliot_simulation *simulation = foliot_client_get_simulation(c->client);
    if (c->faulted && (seen->heals > c->heals || !steps))
        c->faulted = false;
    if (c->faulted && run->now_ns > c->faulted_ns + HEALED_NS && !c->unrest && !c->leaving &&
        foliot_client_get_state(c->client) == FOLIOT_CLIENT_PLAYING && seen->reconnects == 0)
        seed_fail(run, "client %u: has not been healed", c->index);
    if (seen->heals > 0 && !c->faulted_ns && c->plan->kind != SEED_SICK)
        seed_fail(run, "client %u: was healed, and nothing explains it", c->index);
    if (c->plan->fault_ns && run->now_ns >= c->plan->fault_ns && !c->faulted_ns && simulation) {
        const foliot_hosted_world *hosted = simulation->self;
        uint64_t bits = slot_field(hosted->world, 0, FOLIOT_FIELD_position_x);
        (void)!slot_set_field(hosted->world, 0, FOLIOT_FIELD_position_x, bits ^ 1u << 20);
        c->faulted = true;
        c->faulted_ns = run->now_ns;
        c->heals = seen->heals;
        c->claims = false;
        seed_log(run, "client %u: a bit flips", c->index);
    }
}

static void update_client(seed_run *run, seed_caller *c)
{
    foliot_client_update(c->client, seed_clock_local(&c->clock));
    check_player(run, c);
    if (run->plan->unchecked) {
        change_controls(run, c);
        check_sample(run, c);
        return;
    }
    foliot_client_statistics seen =
        foliot_client_get_statistics(c->client); // takes a digest: once a frame
    check_service(run, c, &seen);
    check_followed(run, c, &seen);
    seed_game_hear(run, c);
    change_controls(run, c);
    if (run->plan->mixed)
        change_kind(run, c, &seen);
    if (c->plan->session < run->plan->session_count && run->hosts[c->plan->session].rules &&
        !c->leaving && !run->stopping)
        give_orders(run, c);
    check_sample(run, c);
    check_prediction(run, c, &seen);
    if (c->plan->session < run->plan->session_count)
        seed_check_interest(run, c);
    check_claim(run, c, &seen);
}

// -- one turn

void seed_client_act(seed_run *run, seed_caller *c)
{
    if (!c->alive) {
        if (run->stopping) {
            c->done = true;
            return;
        }
        begin_life(run, c);
    }
    mind_outages(run, c);
    if (c->client)
        update_client(run, c);
    else if (c->plan->kind == SEED_FOE)
        seed_foe_act(run, c);
    else
        seed_noise_act(run, c);
    if (end_life_if_due(run, c))
        return;
    double wait = c->client ? (double)c->plan->frame_ns
                            : 2e9 * foliot__rng_unit(&c->rng) / c->plan->packets_hz;
    uint64_t next = run->now_ns + 1000 + (uint64_t)wait;
    c->next_ns = seed_after_gaps(c->plan->pauses, c->plan->pause_count, next);
}
