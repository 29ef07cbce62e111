// SPDX-License-Identifier: MIT
// kind.c: whether a client steps the world or watches it, and how it becomes the other. While it
// changes it has both: it shows what it was until it has enough of what it will be, and only then
// says that it is ready. Invariant: controls go out one way at a time, for later ticks than those
// that went out the other way.
#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/selftest/fingerprint.h"

#define WISH_EVERY_NS 2200000000u   // a server takes one every two seconds
#define CAUGHT_UP_TICKS 8           // closed ticks that a stepper may have before it
#define SHOWN_WITHIN_NS 1000000000u // by then the other is shown, though ticks in between lack
#define OWN_WITHIN_NS 5000000000u   // and inputs that the server has not acknowledged are given up
#define SLOW_NS 5000000000u         // that it does not catch up
#define OLD_SNAPSHOT_TICKS 60
#define RETRY_NS 10000000000u      // to step, after it could not
#define RETRY_NS_MAX 320000000000u // ... again and again
#define STEPS_WELL_NS 60000000000u // and then it is forgotten that it could not

// -- making what is stepped

// Leaves lockstep as soon as nothing of it is missing.
static bool is_closing(const foliot_client *c)
{
    return c->role.now == FOLIOT__ROLE_STEPPER_CLOSING ||
           c->role.now == FOLIOT__ROLE_WATCHER_CLOSING;
}

static void note_impossible(foliot_client *c)
{
    if (c->role.stepping == FOLIOT__STEPPING_POSSIBLE)
        c->role.stepping = FOLIOT__STEPPING_IMPOSSIBLE;
}

// Whether the world that the scene describes is within the limit: a few bytes may ask for
// gigabytes.
static bool world_fits(const foliot_client *c)
{
    if (!c->scene || c->simulation.kind.create != foliot_world_kind.create)
        return true;
    foliot_world_config config = foliot_world_config_default(c->scene);
    size_t bytes = foliot_world_config_get_bytes(&config);
    return bytes > 0 && bytes <= FOLIOT__WORLD_BYTES_FREE +
                                     (uint64_t)c->setup.length * FOLIOT__WORLD_BYTES_A_BYTE;
}

// Whether this build computes the scene as the server does. With `forces` it does not matter.
static bool computes_alike(const foliot_client *c)
{
    return c->config.forces || c->config.simulation || !c->scene ||
           foliot_digest_equal(c->welcome.fingerprint, c->simulation.fingerprint) ||
           foliot__fingerprint_fits(c->scene, c->welcome.fingerprint);
}

static void refuse_build(foliot_client *c)
{
    char ours[FOLIOT_DIGEST_TEXT_BYTES], theirs[FOLIOT_DIGEST_TEXT_BYTES];
    char reason[FOLIOT__SENTENCE_BYTES];
    foliot_digest_print(foliot__fingerprint_of_scene(c->scene), ours);
    foliot_digest_print(c->welcome.fingerprint, theirs);
    snprintf(reason, sizeof reason,
             "this build does not compute the scene as the server does, and would diverge in "
             "lockstep: its fingerprint is %.8s, the server's %.8s (--force joins all the same)",
             ours, theirs);
    foliot_client_leave(c, c->now_ns);
    c->connection.refusal = FOLIOT__REFUSE_FINGERPRINT;
    foliot__connection_end(c, FOLIOT_CLIENT_REFUSED, reason);
}

static void send_kind(foliot_client *c, foliot__kind kind, foliot__kind_reason reason)
{
    foliot__message m = {.kind = FOLIOT__KIND};
    uint64_t tick = foliot__client_in_lockstep(c) && c->lockstep->begun ? c->lockstep->tick : 0;
    m.as.kind = (foliot__kind_message){.kind = kind, .tick = tick, .reason = reason};
    foliot__connection_send(c, &m);
}

// At once: it cannot step here.
static void watch_instead(foliot_client *c, foliot__kind_reason reason)
{
    c->role.asked = FOLIOT__KIND_WATCHER;
    c->role.wished = FOLIOT__KIND_ANY;
    c->role.wish_ns = c->now_ns;
    c->role.stepping = FOLIOT__STEPPING_GIVEN_UP;
    send_kind(c, FOLIOT__KIND_WATCHER, reason);
}

bool foliot__kind_unfit(foliot_client *c)
{
    if (c->welcome.watchable)
        watch_instead(c, FOLIOT__KIND_FINGERPRINT);
    return c->welcome.watchable;
}

// The setup is complete: creates the simulation.
void foliot__kind_setup(foliot_client *c)
{
    if (!foliot__client_in_lockstep(c))
        return;
    if (!computes_alike(c) && c->welcome.watchable) {
        watch_instead(c, FOLIOT__KIND_FINGERPRINT);
        return;
    }
    if (!computes_alike(c)) {
        refuse_build(c);
        return;
    }
    if (!world_fits(c) && c->welcome.watchable) {
        watch_instead(c, FOLIOT__KIND_SLOW);
        return;
    }
    if (!world_fits(c)) {
        foliot__connection_end(
            c, FOLIOT_CLIENT_LOST,
            "the server's scene has room for more than this client has memory for");
        return;
    }
    foliot_status status =
        foliot__lockstep_client_setup(c->lockstep, c->setup.bytes, c->setup.length);
    if (status != FOLIOT_STATUS_OK)
        foliot__connection_end(c, FOLIOT_CLIENT_LOST, foliot_status_get_text(status));
}

static void forget_given_up(foliot_client *c)
{
    if (c->role.stepping == FOLIOT__STEPPING_GIVEN_UP)
        c->role.stepping = FOLIOT__STEPPING_IMPOSSIBLE;
}

static foliot_status open_lockstep(foliot_client *c)
{
    foliot_status status = FOLIOT_STATUS_OK;
    if (!c->lockstep)
        status = foliot__lockstep_client_create(c->config.simulation ? &c->simulation.kind : NULL,
                                                &c->simulation.host, &c->lockstep);
    forget_given_up(c);
    c->role.slow_ns = c->now_ns;
    if (status == FOLIOT_STATUS_OK)
        foliot__lockstep_client_reconnect(c->lockstep);
    return status;
}

static void close_lockstep(foliot_client *c)
{
    foliot__predict_end(c);
    if (c->lockstep)
        foliot__lockstep_client_forget(c->lockstep); // its world's memory too
    forget_given_up(c);
}

foliot_status foliot__kind_enter(foliot_client *c, const foliot__welcome *w)
{
    // A client that stepped until now has not failed, and may step at once in the next session.
    if (foliot__client_steps(c) && c->role.stepping != FOLIOT__STEPPING_GIVEN_UP)
        c->role.retry_after_ns = 0;
    c->role.now = w->lockstep ? FOLIOT__ROLE_STEPPER : FOLIOT__ROLE_WATCHER;
    c->controls.by_ticks = w->lockstep;
    c->controls.last_meant = c->controls.least_meant = 0;
    c->role.given = FOLIOT__KIND_ANY;
    c->role.stepping =
        w->kind_reason == FOLIOT__KIND_FINGERPRINT || w->kind_reason == FOLIOT__KIND_IMPOSSIBLE
            ? FOLIOT__STEPPING_IMPOSSIBLE
            : FOLIOT__STEPPING_POSSIBLE;
    // As the server says: it may have come back with a session of the other mode.
    if (c->role.asked == FOLIOT__KIND_ANY && !c->config.steps_if_cheap)
        c->role.preferred = w->lockstep ? FOLIOT__KIND_STEPPER : FOLIOT__KIND_ANY;
    c->role.since_ns = c->now_ns;
    // By change nothing goes out while it steps. Numbers of changes that a dead server did not
    // acknowledge would be old ones when it watches again; what it holds goes out by tick.
    if (w->lockstep)
        c->controls.change_count = 0;
    if (!w->lockstep) {
        close_lockstep(c);
        return FOLIOT_STATUS_OK;
    }
    foliot_status status = open_lockstep(c);
    if (!c->lockstep) { // nothing to step can be made: nobody looks for it
        c->role.now = FOLIOT__ROLE_NONE;
        c->controls.by_ticks = false;
    }
    if (status == FOLIOT_STATUS_OK)
        status = foliot__predict_begin(c);
    if (status == FOLIOT_STATUS_OK && w->scene_bytes == 0)
        foliot__kind_setup(c);
    return status;
}

// -- what the server gives

static void clear_buffer(foliot_client *c, foliot__snapshot_buffer *buffer, uint64_t tick)
{
    int capacity = buffer->capacity;
    c->loss.too_large_before += buffer == &c->buffer ? buffer->dropped : 0;
    foliot__buffer_close(buffer);
    if (foliot__buffer_init(buffer, &c->welcome.format, c->welcome.dt, tick) != FOLIOT_STATUS_OK)
        foliot__connection_end(c, FOLIOT_CLIENT_LOST, foliot_status_get_text(FOLIOT_STATUS_MEMORY));
    buffer->capacity = capacity;
    buffer->received = c->connection.received_bytes;
}

static void wait_to_try(foliot_client *c)
{
    if (c->role.retry_after_ns == 0)
        c->role.retry_after_ns = RETRY_NS;
}

static void show_snapshots(foliot_client *c, foliot__role role)
{
    foliot__predict_leave(c);
    foliot__client_change_role(c, role);
    c->role.since_ns = c->now_ns;
    foliot__updates_switch(c);
}

// The role of a client that the server lets watch. One that leaves lockstep has no use
// for a state to heal with.
static foliot__role watching_role(const foliot_client *c, foliot__kind_reason reason)
{
    bool steps = foliot__client_steps(c);
    if (!foliot__client_in_lockstep(c))
        return FOLIOT__ROLE_WATCHER;
    if (reason != FOLIOT__KIND_DIVERGED)
        return steps ? FOLIOT__ROLE_STEPPER_CLOSING : FOLIOT__ROLE_WATCHER_CLOSING;
    if (is_closing(c))
        return c->role.now;
    return steps ? FOLIOT__ROLE_STEPPER_HEALING : FOLIOT__ROLE_WATCHER_HEALING;
}

static void become_watched(foliot_client *c, const foliot__kind_message *given)
{
    bool old = !c->buffer.has_newest || c->buffer.newest + OLD_SNAPSHOT_TICKS < given->tick;
    if (!foliot__client_watches(c) && old)
        clear_buffer(c, &c->buffer, given->tick); // of an earlier time as a watcher
    foliot__client_change_role(c, watching_role(c, (foliot__kind_reason)given->reason));
    foliot__updates_given(c);
    if (!foliot__client_in_lockstep(c))
        return;
    foliot__predict_leave(c);
    if (given->reason == FOLIOT__KIND_DIVERGED) {
        c->lockstep->diverged = true;
        return;
    }
    if (given->reason != FOLIOT__KIND_WISHED) {
        c->role.asked = FOLIOT__KIND_WATCHER;
        wait_to_try(c);
    }
    if (c->controls.by_ticks)
        foliot__stream_by_changes(c);
    if (c->controls.change_count == 0 && given->sequence > c->controls.next_sequence)
        c->controls.next_sequence = given->sequence;
}

// A stepper is sent another state, and shows what it steps meanwhile.
static void begin_catching_up(foliot_client *c)
{
    if (open_lockstep(c) != FOLIOT_STATUS_OK) {
        watch_instead(c, FOLIOT__KIND_SLOW);
        return;
    }
    if (c->role.now != FOLIOT__ROLE_STEPPER && foliot__client_steps(c))
        show_snapshots(c, FOLIOT__ROLE_CATCHING_UP);
    else if (c->role.now != FOLIOT__ROLE_STEPPER)
        foliot__client_change_role(c, FOLIOT__ROLE_CATCHING_UP);
    clear_buffer(c, &c->stepped, c->lockstep->tick);
    if (c->setup.complete || c->welcome.scene_bytes == 0)
        foliot__kind_setup(c);
}

static bool is_refusal(const foliot_client *c, const foliot__kind_message *m)
{
    return m->reason == FOLIOT__KIND_TOO_SOON || m->reason == FOLIOT__KIND_IMPOSSIBLE ||
           (m->reason == FOLIOT__KIND_UNHEALED && !foliot__client_in_lockstep(c));
}

// Of one that has come, or older than that.
static bool is_copy(const foliot_client *c, const foliot__kind_message *m)
{
    return c->role.given != FOLIOT__KIND_ANY &&
           (m->tick < c->role.given_tick ||
            (m->tick == c->role.given_tick && m->kind == c->role.given &&
             m->reason == FOLIOT__KIND_DIVERGED));
}

void foliot__kind_apply(foliot_client *c, const foliot__kind_message *m)
{
    if (c->join.state != FOLIOT__WELCOME_PRESENT || is_copy(c, m))
        return;
    if (is_refusal(c, m)) {
        if (m->reason != FOLIOT__KIND_TOO_SOON)
            c->role.wished = FOLIOT__KIND_ANY;
        if (m->reason == FOLIOT__KIND_IMPOSSIBLE)
            note_impossible(c);
        return;
    }
    if (m->kind == FOLIOT__KIND_ANY || !c->welcome.watchable) {
        c->statistics.pieces_malformed++;
        return;
    }
    c->statistics.kind_changes++;
    c->role.given_ns = c->now_ns;
    c->role.given_tick = m->tick;
    c->role.given = (foliot__kind)m->kind;
    if (m->reason == FOLIOT__KIND_FINGERPRINT)
        note_impossible(c);
    if (m->kind == FOLIOT__KIND_WATCHER)
        become_watched(c, m);
    else
        begin_catching_up(c);
}

// -- becoming it

static void predict(foliot_client *c)
{
    if (foliot__predict_begin(c) != FOLIOT_STATUS_OK)
        foliot__predict_end(c); // it shows closed ticks alone
}

// What was stepped last is told, and what the server tells goes on from there.
static bool may_show_snapshots(const foliot_client *c)
{
    const foliot__lockstep_client *l = c->lockstep;
    bool healing = c->role.now == FOLIOT__ROLE_STEPPER_HEALING;
    if ((!healing && c->role.now != FOLIOT__ROLE_STEPPER_CLOSING) || !c->buffer.has_newest ||
        c->buffer.newest < c->role.given_tick)
        return false;
    return healing || !l->begun || l->diverged || l->tick >= c->updates.served_full ||
           c->now_ns - c->role.given_ns > SHOWN_WITHIN_NS;
}

static bool may_show_steps(const foliot_client *c)
{
    const foliot__lockstep_client *l = c->lockstep;
    if (!l->begun || l->diverged || foliot__lockstep_client_backlog(l) >= CAUGHT_UP_TICKS)
        return false;
    // Enough to interpolate from, where anybody takes samples.
    uint64_t first = UINT64_MAX;
    for (int i = 0; i < c->stepped.capacity; i++)
        if (c->stepped.entries[i].complete && c->stepped.entries[i].snapshot.tick < first)
            first = c->stepped.entries[i].snapshot.tick;
    return c->stepped.has_newest &&
           (c->shown_tick < 1 || (double)first <= c->shown_tick ||
            c->stepped.newest - first >= (uint64_t)c->stepped.capacity - 1);
}

static void become_stepper(foliot_client *c)
{
    const foliot__lockstep_client *l = c->lockstep;
    if (!c->controls.by_ticks && l->begun && !l->diverged && l->deadline.known &&
        foliot__lockstep_client_backlog(l) < CAUGHT_UP_TICKS)
        foliot__stream_by_ticks(c);
    if (!c->controls.by_ticks || c->controls.change_count > 0 || !may_show_steps(c))
        return;
    c->statistics.heals += c->role.now == FOLIOT__ROLE_WATCHER_HEALING;
    foliot__client_change_role(c, FOLIOT__ROLE_STEPPER);
    c->role.since_ns = c->now_ns;
    foliot__updates_switch(c);
    predict(c);
    send_kind(c, FOLIOT__KIND_STEPPER, FOLIOT__KIND_READY);
    clear_buffer(c, &c->buffer, c->lockstep->tick);
}

static void become_watcher(foliot_client *c)
{
    if (!foliot__lockstep_client_own_known(c->lockstep) &&
        c->now_ns - c->role.given_ns <= OWN_WITHIN_NS)
        return;
    close_lockstep(c);
    foliot__client_change_role(c, FOLIOT__ROLE_WATCHER);
    send_kind(c, FOLIOT__KIND_WATCHER, FOLIOT__KIND_READY);
}

void foliot__kind_state_begins(foliot_client *c)
{
    if (c->role.now == FOLIOT__ROLE_STEPPER_HEALING) // no snapshot has come
        show_snapshots(c, FOLIOT__ROLE_WATCHER_HEALING);
    if (c->role.now != FOLIOT__ROLE_WATCHER_HEALING)
        return;
    clear_buffer(c, &c->stepped, c->lockstep->tick);
}

// A simulation that is no world stands still until it has the server's state.
static void heal_in_place(foliot_client *c)
{
    foliot__lockstep_client *l = c->lockstep;
    if (l->begun && l->diverged) {
        foliot__predict_leave(c);
        foliot__client_change_role(c, FOLIOT__ROLE_HEALING_IN_PLACE);
    } else if (c->role.now == FOLIOT__ROLE_HEALING_IN_PLACE && l->begun &&
               foliot__lockstep_client_backlog(l) < CAUGHT_UP_TICKS) {
        foliot__client_change_role(c, FOLIOT__ROLE_STEPPER);
        c->statistics.heals++;
        predict(c);
        send_kind(c, FOLIOT__KIND_STEPPER, FOLIOT__KIND_READY);
    }
}

// -- wishes

static bool is_already(const foliot_client *c, foliot__kind kind)
{
    bool steps = foliot__client_in_lockstep(c) && !is_closing(c);
    return kind == FOLIOT__KIND_STEPPER ? steps : !steps;
}

static void send_wish(foliot_client *c)
{
    if (c->role.wished == FOLIOT__KIND_ANY)
        return;
    if (is_already(c, c->role.wished)) {
        c->role.wished = FOLIOT__KIND_ANY;
    } else if (c->role.wish_ns == 0 || c->now_ns - c->role.wish_ns >= WISH_EVERY_NS) {
        c->role.wish_ns = c->now_ns;
        send_kind(c, c->role.wished, c->role.wish_reason);
    }
}

// Whether closed ticks come faster than they are stepped. One that waits to be healed steps none.
static bool falls_behind(foliot_client *c)
{
    const foliot__lockstep_client *l = c->lockstep;
    uint64_t behind = l->begun && l->diverged ? 0 : foliot__lockstep_client_backlog(l);
    if (c->now_ns - c->role.slow_ns < SLOW_NS && (double)behind >= c->welcome.pace_hz)
        return false;
    bool slow = (double)behind >= c->welcome.pace_hz && behind >= c->role.slow_backlog;
    c->role.slow_ns = c->now_ns;
    c->role.slow_backlog = behind;
    return slow;
}

foliot_status foliot_client_set_kind(foliot_client *client, foliot_peer_kind kind)
{
    if (kind != FOLIOT_PEER_WATCHER && kind != FOLIOT_PEER_STEPPER)
        return FOLIOT_STATUS_INVALID;
    if (foliot__client_welcomed(client) && !client->welcome.watchable &&
        kind == FOLIOT_PEER_WATCHER)
        return FOLIOT_STATUS_UNSUPPORTED;
    client->role.asked = client->role.wished = client->role.preferred = (foliot__kind)kind;
    client->role.retry_ns = client->role.retry_after_ns = 0;
    client->role.wish_reason = FOLIOT__KIND_WISHED;
    return FOLIOT_STATUS_OK;
}

// A machine that was too slow, or a state that came too slowly, may do better later.
static void try_again(foliot_client *c)
{
    if (c->role.preferred != FOLIOT__KIND_STEPPER || c->role.wished != FOLIOT__KIND_ANY ||
        c->role.stepping != FOLIOT__STEPPING_POSSIBLE)
        return;
    if (!is_already(c, FOLIOT__KIND_WATCHER)) {
        if (foliot__client_steps(c) && c->now_ns - c->role.since_ns > STEPS_WELL_NS)
            c->role.retry_after_ns = 0;
        c->role.retry_ns = 0;
        return;
    }
    if (foliot__client_in_lockstep(c) || !c->buffer.has_newest ||
        !(c->setup.complete || c->welcome.scene_bytes == 0))
        return; // it is not yet what it is to go on from
    if (c->role.retry_ns == 0 && c->role.retry_after_ns > 0)
        c->role.retry_ns = c->now_ns + c->role.retry_after_ns;
    if (c->now_ns < c->role.retry_ns)
        return;
    c->role.retry_after_ns = c->role.retry_after_ns == 0             ? RETRY_NS
                             : c->role.retry_after_ns < RETRY_NS_MAX ? 2 * c->role.retry_after_ns
                                                                     : RETRY_NS_MAX;
    c->role.retry_ns = c->now_ns + c->role.retry_after_ns;
    c->role.wished = FOLIOT__KIND_STEPPER;
    c->role.wish_reason = FOLIOT__KIND_WISHED;
}

void foliot__kind_paused(foliot_client *c, uint64_t ns)
{
    c->role.slow_ns += ns;
    c->role.given_ns += ns;
    c->role.retry_ns += c->role.retry_ns ? ns : 0;
}

// A client that steps only where a step is cheap stops stepping where it is not.
static bool costs_too_much(const foliot_client *c)
{
    return c->config.steps_if_cheap && c->config.kind == FOLIOT_PEER_ANY &&
           foliot__client_steps(c) && c->predictor.slow;
}

void foliot__kind_update(foliot_client *c)
{
    if (c->connection.state != FOLIOT_CLIENT_PLAYING || !foliot__client_welcomed_here(c) ||
        c->connection.leaving)
        return;
    try_again(c);
    send_wish(c);
    if (!foliot__client_in_lockstep(c))
        return;
    if (!c->welcome.watchable) {
        heal_in_place(c);
        return;
    }
    if (c->role.wished == FOLIOT__KIND_ANY && !is_closing(c) &&
        (falls_behind(c) || costs_too_much(c))) {
        c->role.asked = c->role.wished = FOLIOT__KIND_WATCHER;
        c->role.wish_reason = FOLIOT__KIND_SLOW;
        wait_to_try(c);
    }
    if (may_show_snapshots(c))
        show_snapshots(c, c->role.now == FOLIOT__ROLE_STEPPER_HEALING
                              ? FOLIOT__ROLE_WATCHER_HEALING
                              : FOLIOT__ROLE_WATCHER_CLOSING);
    if (c->role.now == FOLIOT__ROLE_CATCHING_UP || c->role.now == FOLIOT__ROLE_WATCHER_HEALING)
        become_stepper(c);
    else if (c->role.now == FOLIOT__ROLE_WATCHER_CLOSING)
        become_watcher(c);
}
