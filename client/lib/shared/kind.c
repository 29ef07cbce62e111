// SPDX-License-Identifier: MIT
// kind.c: whether a client steps the world or watches it: the client's wish, and the server's
// decision. client/lib/step/catch_up.c prepares a change. Invariant: it wishes one kind at a time,
// and no more often than a server accepts a wish.
#include "internal.h"

#include "base/assert.h"

#define WISH_EVERY_NS 2200000000u // a server takes one every two seconds
#define OLD_SNAPSHOT_TICKS 60
#define RETRY_NS 10000000000u      // to step, after it could not
#define RETRY_NS_MAX 320000000000u // ... again and again
#define STEPS_WELL_NS 60000000000u // and then it is forgotten that it could not

#define IN(role) (1u << FOLIOT__ROLE_##role)

void foliot__client_change_role(foliot_client *c, foliot__role role)
{
    // The roles that may follow each. A welcome sets any.
    static const uint16_t next[] = {
        [FOLIOT__ROLE_NONE] = 0,
        [FOLIOT__ROLE_WATCHER] = IN(CATCHING_UP),
        [FOLIOT__ROLE_CATCHING_UP] = IN(STEPPER) | IN(WATCHER_CLOSING) | IN(WATCHER_HEALING),
        [FOLIOT__ROLE_STEPPER] = IN(STEPPER_CLOSING) | IN(STEPPER_HEALING) | IN(HEALING_IN_PLACE),
        [FOLIOT__ROLE_STEPPER_CLOSING] = IN(WATCHER_CLOSING) | IN(CATCHING_UP),
        [FOLIOT__ROLE_WATCHER_CLOSING] = IN(WATCHER) | IN(CATCHING_UP),
        [FOLIOT__ROLE_STEPPER_HEALING] =
            IN(WATCHER_HEALING) | IN(STEPPER_CLOSING) | IN(CATCHING_UP),
        [FOLIOT__ROLE_WATCHER_HEALING] = IN(STEPPER) | IN(WATCHER_CLOSING) | IN(CATCHING_UP),
        [FOLIOT__ROLE_HEALING_IN_PLACE] = IN(STEPPER),
    };
    FOLIOT_ASSERT(role == c->role.now || (next[c->role.now] >> role & 1));
    c->role.now = role;
}

static void note_impossible(foliot_client *c)
{
    if (c->role.stepping == FOLIOT__STEPPING_POSSIBLE)
        c->role.stepping = FOLIOT__STEPPING_IMPOSSIBLE;
}

void foliot__kind_send(foliot_client *c, foliot__kind kind, foliot__kind_reason reason)
{
    foliot__message m = {.kind = FOLIOT__KIND};
    uint64_t tick = foliot__client_in_lockstep(c) && c->lockstep->begun ? c->lockstep->tick : 0;
    m.as.kind = (foliot__kind_message){.kind = kind, .tick = tick, .reason = reason};
    foliot__connection_send(c, &m);
}

void foliot__kind_watch_instead(foliot_client *c, foliot__kind_reason reason)
{
    c->role.asked = FOLIOT__KIND_WATCHER;
    c->role.wished = FOLIOT__KIND_ANY;
    c->role.wish_ns = c->now_ns;
    c->role.stepping = FOLIOT__STEPPING_GIVEN_UP;
    foliot__kind_send(c, FOLIOT__KIND_WATCHER, reason);
}

void foliot__kind_wait_to_try(foliot_client *c)
{
    if (c->role.retry_after_ns == 0)
        c->role.retry_after_ns = RETRY_NS;
}

void foliot__kind_clear_buffer(foliot_client *c, foliot__snapshot_buffer *buffer, uint64_t tick)
{
    int capacity = buffer->capacity;
    c->loss.too_large_before += buffer == &c->buffer ? buffer->dropped : 0;
    foliot__buffer_close(buffer);
    if (foliot__buffer_init(buffer, &c->welcome.format, c->welcome.dt, tick) != FOLIOT_STATUS_OK)
        foliot__connection_end(c, FOLIOT_CLIENT_LOST, foliot_status_get_text(FOLIOT_STATUS_MEMORY));
    buffer->capacity = capacity;
    buffer->received = c->connection.received_bytes;
}

// -- the server's decision

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
    // As the server states: it may have returned with a session of the other mode.
    if (c->role.asked == FOLIOT__KIND_ANY && !c->config.steps_if_cheap)
        c->role.preferred = w->lockstep ? FOLIOT__KIND_STEPPER : FOLIOT__KIND_ANY;
    c->role.since_ns = c->now_ns;
    // A stepper sends its controls by tick, not by change. Changes that a dead server did not
    // acknowledge would have outdated numbers when the client watches again.
    if (w->lockstep)
        c->controls.change_count = 0;
    if (w->lockstep && c->stepper)
        return c->stepper->enter(c, w);
    if (!w->lockstep) {
        if (c->stepper)
            c->stepper->close(c);
        return FOLIOT_STATUS_OK;
    }
    c->role.now = FOLIOT__ROLE_NONE;
    c->controls.by_ticks = false;
    return FOLIOT_STATUS_UNSUPPORTED;
}

void foliot__kind_apply(foliot_client *c, const foliot__kind_message *m)
{
    // A copy of an order that has arrived, or an older one.
    bool copy = c->role.given != FOLIOT__KIND_ANY &&
                (m->tick < c->role.given_tick ||
                 (m->tick == c->role.given_tick && m->kind == c->role.given &&
                  m->reason == FOLIOT__KIND_DIVERGED));
    if (c->join.state != FOLIOT__WELCOME_PRESENT || copy)
        return;
    if (m->reason == FOLIOT__KIND_TOO_SOON)
        return;
    if (m->reason == FOLIOT__KIND_IMPOSSIBLE ||
        (m->reason == FOLIOT__KIND_UNHEALED && !foliot__client_in_lockstep(c))) {
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
    if (m->kind != FOLIOT__KIND_WATCHER && c->stepper) {
        c->stepper->catch_up(c);
    } else if (m->kind != FOLIOT__KIND_WATCHER) {
        foliot__kind_watch_instead(c, FOLIOT__KIND_SLOW);
    } else {
        bool old = !c->buffer.has_newest || c->buffer.newest + OLD_SNAPSHOT_TICKS < m->tick;
        if (!foliot__client_watches(c) && old)
            foliot__kind_clear_buffer(c, &c->buffer, m->tick); // of an earlier time as a watcher
        foliot__updates_given(c);
        if (foliot__client_in_lockstep(c))
            c->stepper->stop(c, m);
        else
            foliot__client_change_role(c, FOLIOT__ROLE_WATCHER);
    }
}

// -- wishes

static bool is_already(const foliot_client *c, foliot__kind kind)
{
    bool steps = foliot__client_in_lockstep(c) && !foliot__client_is_closing(c);
    return kind == FOLIOT__KIND_STEPPER ? steps : !steps;
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

// A machine that was too slow, or a state that arrived too slowly, may do better later.
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
        return; // its data as a watcher is incomplete
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

void foliot__kind_update(foliot_client *c)
{
    if (c->connection.state != FOLIOT_CLIENT_PLAYING || !foliot__client_welcomed_here(c) ||
        c->connection.leaving)
        return;
    try_again(c);
    if (c->role.wished != FOLIOT__KIND_ANY && is_already(c, c->role.wished)) {
        c->role.wished = FOLIOT__KIND_ANY;
    } else if (c->role.wished != FOLIOT__KIND_ANY &&
               (c->role.wish_ns == 0 || c->now_ns - c->role.wish_ns >= WISH_EVERY_NS)) {
        c->role.wish_ns = c->now_ns;
        foliot__kind_send(c, c->role.wished, c->role.wish_reason);
    }
    if (foliot__client_in_lockstep(c))
        c->stepper->update_role(c);
}
