// SPDX-License-Identifier: MIT
// kind.c: the kinds of peers, a watcher of snapshots or a stepper of the world, and the change from
// one to the other. The machinery of a kind is created when its first peer comes, while no step
// runs. A changing peer is sent both until it is ready, so that it always has something to show,
// and its inputs are accepted either way. Invariant: a change that was not wished is never refused.
#include <stdio.h>
#include <string.h>

#include "admission.h"
#include "fanout.h"
#include "game.h"
#include "lockstep.h"
#include "peer.h"
#include "session.h"
#include "divergence/state_layers.h"
#include "sim/selftest/fingerprint.h"

#define CLOSE_WITHIN_NS 10000000000u // an old stepper's last inputs come by then
#define REOPENS_EVERY_NS 1000000000u // a complete snapshot is large
#define REST_AFTER_NS 30000000000u   // without steppers
#define REST_EVERY_NS 1000000000u
#define SEARCH_BEGINS_NS 1000000000u // or the peer is healed without one

// -- permission to step

foliot_digest foliot__session_fingerprint(foliot__session *s)
{
    const foliot_digest *given = &s->server->config.fingerprint;
    if (!foliot__fingerprint_is_known(s->roles.fingerprint))
        s->roles.fingerprint =
            !s->scene ? foliot_simulation_kind_get_fingerprint(s->simulation.kind)
            : (given->high | given->low) != 0 ? *given
                                              : foliot__fingerprint_of_scene(s->scene);
    return s->roles.fingerprint;
}

// In a world a client that does not insist compares the other inputs of the fingerprint itself,
// once it has the scene.
static bool computes_alike(foliot__session *s, const foliot__peer *peer)
{
    const foliot_server *server = s->server;
    bool forces = peer->build.rules == FOLIOT__RULES_SAME_FORCED;
    if (peer->build.rules == FOLIOT__RULES_OTHER)
        return false;
    if ((forces && !s->roles.refuses_forced) ||
        foliot_digest_equal(peer->build.fingerprint, foliot__session_fingerprint(s)))
        return true;
    return s->simulation.kind->create == foliot_world_kind.create &&
           (foliot_digest_equal(peer->build.fingerprint, server->fingerprint) ||
            (!forces && foliot_digest_equal(peer->build.fingerprint, server->fingerprint_base)));
}

// A stepper has the whole world, including bodies that interest would hide from it. Delayed
// spectators would have the current world as soon as inputs are relayed early.
static bool only_watches(const foliot__session *s, bool spectates)
{
    return s->interest || (spectates && s->delay_ticks > 0);
}

foliot__kind foliot__kind_of_newcomer(foliot__session *s, foliot__peer *peer,
                                      const foliot__hello_message *hello,
                                      foliot__kind_reason *reason)
{
    const foliot_simulation_kind *kind = s->simulation.kind;
    bool same = strcmp(hello->simulation, kind->name) == 0;
    foliot__kind wished = (foliot__kind)hello->kind;
    peer->build.fingerprint = hello->fingerprint;
    peer->build.rules = !same || hello->rules != kind->version ? FOLIOT__RULES_OTHER
                        : hello->force_stepping                ? FOLIOT__RULES_SAME_FORCED
                                                               : FOLIOT__RULES_SAME;
    *reason = FOLIOT__KIND_WISHED;
    if (!s->world && wished == FOLIOT__KIND_WATCHER)
        *reason = FOLIOT__KIND_IMPOSSIBLE;
    if (!s->world)
        return computes_alike(s, peer) ? FOLIOT__KIND_STEPPER : FOLIOT__KIND_ANY;
    bool lockstep = s->roles.mode == FOLIOT_SESSION_LOCKSTEP;
    if (wished == FOLIOT__KIND_ANY)
        wished = lockstep ? FOLIOT__KIND_STEPPER : FOLIOT__KIND_WATCHER;
    if (wished == FOLIOT__KIND_WATCHER)
        return wished;
    if (!same && lockstep)
        return FOLIOT__KIND_ANY; // it is here for another game
    if (only_watches(s, hello->spectates))
        *reason = FOLIOT__KIND_IMPOSSIBLE;
    else if (!computes_alike(s, peer))
        *reason = FOLIOT__KIND_FINGERPRINT;
    return *reason == FOLIOT__KIND_WISHED ? FOLIOT__KIND_STEPPER : FOLIOT__KIND_WATCHER;
}

// -- machinery of kinds

bool foliot__session_is_watched(const foliot__session *s)
{
    if (!s->snapshots.coder)
        return false;
    if (s->interest || s->delay_ticks > 0)
        return true;
    for (const foliot__peer *peer = s->peers; peer; peer = peer->next)
        if (peer->state == FOLIOT__PEER_IN && foliot__peer_watches(peer))
            return true;
    return false;
}

bool foliot__kind_has_machinery(const foliot__session *s, foliot__kind kind)
{
    if (kind == FOLIOT__KIND_STEPPER)
        return s->lockstep != NULL;
    return s->game.updates && foliot__fanout_is_recent(s);
}

foliot_status foliot__kind_make_machinery(foliot__session *s, foliot__kind kind)
{
    foliot_status status = FOLIOT_STATUS_OK;
    if (kind == FOLIOT__KIND_STEPPER) {
        if (!s->lockstep && (status = foliot__lockstep_create(s)) != FOLIOT_STATUS_OK)
            foliot__lockstep_destroy(s);
        s->roles.stepped_ns = s->server->now_ns;
        return status;
    }
    bool opens = !s->snapshots.coder;
    if (opens && (status = foliot__fanout_init(s)) != FOLIOT_STATUS_OK) {
        foliot__fanout_close(s);
    } else if (opens) {
        s->snapshots.newest = s->tick - s->snapshots.every; // there is none
        s->snapshots.broadcast_ns = s->server->now_ns;
    }
    if (status == FOLIOT_STATUS_OK)
        status = foliot__fanout_refresh(s);
    if (status == FOLIOT_STATUS_OK && !s->game.updates) {
        status = foliot__updates_begin(s);
        s->game.updates = status == FOLIOT_STATUS_OK;
    }
    return status;
}

// -- changing

void foliot__kind_open(foliot__session *s, foliot__peer *peer, foliot__kind kind)
{
    if (kind == FOLIOT__KIND_STEPPER) {
        foliot__peer_close_lockstep(peer);
        foliot__peer_change_role(peer, foliot__peer_watches(peer) ? FOLIOT__PEER_CATCHING_UP
                                                                  : FOLIOT__PEER_STEPPER);
        peer->stepper_input_ns = peer->stepper_status_ns = 0;
        s->server->bulk.waits = true;
        if (peer->scene_sent == s->setup.length) // else from the end of the scene on
            peer->lockstep.transfer.begun_ns = s->server->now_ns;
        return;
    }
    if (peer->role == FOLIOT__PEER_ROLE_NONE)
        foliot__peer_change_role(peer, FOLIOT__PEER_WATCHER);
    else if (peer->role == FOLIOT__PEER_STEPPER)
        foliot__peer_change_role(peer, FOLIOT__PEER_CATCHING_UP);
    else if (peer->role == FOLIOT__PEER_DIVERGED)
        foliot__peer_change_role(peer, FOLIOT__PEER_HEALING);
    peer->snapshots.baseline = FOLIOT__BASELINE_NONE;
    peer->input.arrived_ns = peer->snapshots.status_ns = 0;
    foliot__fanout_greet(s, peer);
}

static void send_kind(foliot__session *s, const foliot__peer *peer, foliot__kind kind,
                      foliot__kind_reason reason)
{
    foliot__message m = {.kind = FOLIOT__KIND};
    m.as.kind = (foliot__kind_message){.kind = kind, .tick = s->tick, .reason = reason};
    if (peer->player != FOLIOT_NO_PLAYER) {
        const foliot__player_slot *player = &s->players[peer->player];
        uint32_t next = player->state == FOLIOT__PLAYER_IN_WORLD
                            ? player->input.sequence - player->input.join_sequence + 1
                            : 1;
        m.as.kind.sequence =
            next > player->input.next_sequence ? next : player->input.next_sequence;
    }
    if (reason == FOLIOT__KIND_DIVERGED) // it shows a wrong state: it must not wait for a resend
        foliot__server_send_twice(s->server, peer->id, &m);
    foliot__server_send(s->server, peer->id, &m);
}

static const char *reason_text(foliot__kind_reason reason)
{
    switch (reason) {
    case FOLIOT__KIND_SLOW:
        return "it could not keep up";
    case FOLIOT__KIND_FINGERPRINT:
        return "it computes differently";
    case FOLIOT__KIND_UNHEALED:
        return "it differed again soon after it had been given the server's state";
    case FOLIOT__KIND_WISHED:
    case FOLIOT__KIND_READY:
    case FOLIOT__KIND_DIVERGED:
    case FOLIOT__KIND_TOO_SOON:
    case FOLIOT__KIND_IMPOSSIBLE:
    default:
        return "it wished to";
    }
}

// The client keeps the old kind until it has enough data of the new one.
static void change_kind(foliot__session *s, foliot__peer *peer)
{
    foliot__kind kind = peer->change.wanted;
    foliot__kind_reason reason = peer->change.wanted_reason;
    bool watched = foliot__peer_watches(peer), diverged = reason == FOLIOT__KIND_DIVERGED;
    peer->change.wanted = FOLIOT__KIND_ANY;
    peer->change.count++;
    s->server->counters.kind_changes++;
    send_kind(s, peer, kind, reason);
    if (!diverged) {
        char text[160];
        snprintf(text, sizeof text, "%s %s: %s", peer->name,
                 kind == FOLIOT__KIND_STEPPER ? "steps the world now" : "watches now",
                 reason_text(reason));
        foliot__server_event(s->server, FOLIOT_SERVER_KIND, s, peer->player, kind, text);
    }
    if (kind == FOLIOT__KIND_STEPPER) {
        foliot__kind_open(s, peer, kind);
        return;
    }
    peer->change.kind = kind;
    if (!diverged && foliot__peer_steps(peer)) {
        foliot__peer_change_role(peer, FOLIOT__PEER_CLOSING);
        peer->change.close_ns = s->server->now_ns + CLOSE_WITHIN_NS;
        if (reason == FOLIOT__KIND_UNHEALED)
            peer->change.unhealed_ns = s->server->now_ns;
    }
    if (!watched)
        foliot__kind_open(s, peer, kind);
    foliot__updates_greet(s, peer); // it may know the rest from its own world
    if (s->player_limit && peer->player != FOLIOT_NO_PLAYER)
        s->players[peer->player].input.gap = true; // its changes may continue with a later sequence
}

static void refuse_change(foliot__session *s, foliot__peer *peer, foliot__kind_reason reason)
{
    s->server->counters.kind_changes_refused++;
    send_kind(s, peer, peer->change.kind, reason);
}

// Token bucket for changes: burst, refill interval, minimum gap.
static bool spend_change(const foliot__session *s, foliot__peer *peer)
{
    uint64_t now = s->server->now_ns;
    foliot__bucket bucket = peer->change.bucket;
    if ((bucket.filled_ns != 0 && now - bucket.filled_ns < FOLIOT__KIND_CHANGE_LEAST_NS) ||
        !foliot__bucket_spend(&bucket, FOLIOT__KIND_CHANGES_AT_ONCE, FOLIOT__KIND_CHANGE_EVERY_NS,
                              now))
        return false;
    peer->change.bucket = bucket;
    return true;
}

static void apply_wish(foliot__session *s, foliot__peer *peer, const foliot__kind_message *wish)
{
    bool steps = wish->kind == FOLIOT__KIND_STEPPER;
    bool is_stepper = foliot__peer_is_stepper(peer);
    uint64_t now = s->server->now_ns;
    if (wish->kind == FOLIOT__KIND_ANY || steps == is_stepper ||
        peer->change.wanted != FOLIOT__KIND_ANY)
        return;
    if (!spend_change(s, peer)) {
        refuse_change(s, peer, FOLIOT__KIND_TOO_SOON);
        foliot__peer_violated(s, peer, FOLIOT__VIOLATION_violations_kinds);
    } else if (steps && peer->change.unhealed_ns &&
               now - peer->change.unhealed_ns < FOLIOT__HEAL_LEAST_NS) {
        refuse_change(s, peer, FOLIOT__KIND_UNHEALED);
    } else if (!s->world || (steps && (only_watches(s, peer->player == FOLIOT_NO_PLAYER) ||
                                       !computes_alike(s, peer)))) {
        refuse_change(s, peer, FOLIOT__KIND_IMPOSSIBLE);
    } else {
        if (foliot__peer_is_healing(peer))
            foliot__peer_change_role(peer, foliot__peer_watches(peer) ? FOLIOT__PEER_CATCHING_UP
                                                                      : FOLIOT__PEER_STEPPER);
        foliot__peer_want(peer, (foliot__kind)wish->kind,
                          wish->reason == FOLIOT__KIND_SLOW ||
                                  wish->reason == FOLIOT__KIND_FINGERPRINT
                              ? (foliot__kind_reason)wish->reason
                              : FOLIOT__KIND_WISHED);
    }
}

// The peer shows its new kind, and needs no more data of the old one.
static void apply_ready(foliot__session *s, foliot__peer *peer, const foliot__kind_message *ready)
{
    if (ready->kind == FOLIOT__KIND_WATCHER && peer->role == FOLIOT__PEER_CLOSING) {
        foliot__peer_close_lockstep(peer);
        return;
    }
    const foliot__lockstep_peer *p = &peer->lockstep;
    bool steps = foliot__peer_is_stepper(peer) && p->transfer.bulk_sent,
         healing = foliot__peer_is_healing(peer);
    if (ready->kind != FOLIOT__KIND_STEPPER || (s->world ? !foliot__peer_watches(peer) : !healing))
        return;
    bool diverged = p->check.state != FOLIOT__CHECK_EQUAL;
    if (!steps || diverged) { // that changed in the meantime: it has nothing to continue with
        uint64_t now = s->server->now_ns;
        if (peer->change.reopen_ns == 0) // the rate is limited
            peer->change.reopen_ns = now > peer->change.reopened_ns + REOPENS_EVERY_NS
                                         ? now
                                         : peer->change.reopened_ns + REOPENS_EVERY_NS;
        s->pending |= FOLIOT__PENDING_ROLES;
        return;
    }
    if (healing) {
        s->server->counters.heals++;
        foliot__server_event(s->server, FOLIOT_SERVER_HEALED, s, peer->player, p->start,
                             peer->name);
    }
    foliot__peer_change_role(peer, FOLIOT__PEER_STEPPER);
    peer->change.kind = FOLIOT__KIND_STEPPER;
}

void foliot__kind_receive(foliot__session *s, foliot__peer *peer,
                          const foliot__kind_message *message)
{
    if (message->reason == FOLIOT__KIND_READY)
        apply_ready(s, peer, message);
    else
        apply_wish(s, peer, message);
}

// -- healing

static bool is_searched(const foliot__session *s, const foliot__peer *peer)
{
    const foliot__divergence_search *q = &s->lockstep->search;
    return (q->active || q->running) && q->id.value == peer->id.value;
}

// The peer is sent a state during the search, and begins with it as soon as it has repeated the
// step in question. Its inputs always count. A fault that belongs to a tick would return with an
// earlier state: the state is one after this tick.
static void advance_heal(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    uint64_t now = s->server->now_ns;
    if (!foliot__peer_is_healing(peer) || p->check.state == FOLIOT__CHECK_EQUAL)
        return;
    bool soon = peer->change.healed_ns != 0 && now - peer->change.healed_ns < FOLIOT__HEAL_LEAST_NS,
         searched = is_searched(s, peer);
    // The peer may begin with another state once it has repeated the step in question and no longer
    // needs its own ticks; or when no search is to come.
    bool may = (!searched || foliot__search_has_layers(&s->lockstep->search.search)) &&
               (p->check.state == FOLIOT__CHECK_SEARCHED ||
                now - p->check.diverged_ns >= SEARCH_BEGINS_NS);
    if (p->transfer.heal == FOLIOT__HEAL_NONE && soon) {
        if (may && !searched && s->world) // a watcher is not searched any more
            foliot__peer_want(peer, FOLIOT__KIND_WATCHER, FOLIOT__KIND_UNHEALED);
        return;
    }
    if (p->transfer.heal == FOLIOT__HEAL_NONE) {
        p->transfer.heal = FOLIOT__HEAL_HELD;
        p->transfer.heal_after = s->tick;
        peer->change.healed_ns = now;
        s->lockstep->keyframe_wanted = true;
    }
    if (may && p->transfer.heal == FOLIOT__HEAL_HELD) {
        p->transfer.heal = FOLIOT__HEAL_RELEASED;
        s->server->bulk.waits = true;
    }
}

// Frees the machinery of steppers after a while without any, if clients watch by default: a client
// that stepped for a moment must not cost memory for ever.
static void release_lockstep(foliot__session *s)
{
    const foliot_server *server = s->server;
    if (!s->lockstep || !s->world || s->roles.mode == FOLIOT_SESSION_LOCKSTEP ||
        server->now_ns - s->roles.rest_ns < REST_EVERY_NS)
        return;
    s->roles.rest_ns = server->now_ns;
    for (const foliot__peer *peer = s->peers; peer; peer = peer->next)
        if (foliot__peer_is_admitted(peer) &&
            (foliot__peer_steps(peer) || peer->change.kind == FOLIOT__KIND_STEPPER ||
             peer->change.wanted == FOLIOT__KIND_STEPPER))
            s->roles.stepped_ns = server->now_ns;
    const foliot__divergence_search *q = &s->lockstep->search;
    if (server->now_ns - s->roles.stepped_ns >= REST_AFTER_NS && !q->active && !q->running)
        foliot__lockstep_destroy(s);
}

// A peer reported that it is ready for a kind other than its own: it is sent its own kind again,
// and begins with it. The rate is limited: full snapshots and updates cost more than its message.
static void reopen_kind(foliot__session *s, foliot__peer *peer)
{
    uint64_t now = s->server->now_ns;
    if (peer->change.reopen_ns == 0 || now < peer->change.reopen_ns)
        return;
    peer->change.reopen_ns = 0;
    peer->change.reopened_ns = now;
    if (!s->world || !foliot__peer_watches(peer))
        return;
    if (foliot__peer_steps(peer))
        foliot__kind_open(s, peer, FOLIOT__KIND_WATCHER);
    if (foliot__peer_is_healing(peer))
        foliot__peer_want(peer, FOLIOT__KIND_WATCHER, FOLIOT__KIND_DIVERGED);
}

void foliot__kinds_update(foliot__session *s)
{
    foliot_server *server = s->server;
    release_lockstep(s);
    bool any = (s->pending & FOLIOT__PENDING_ROLES) && !foliot__session_has_ended(s);
    s->pending &= ~(uint32_t)FOLIOT__PENDING_ROLES;
    for (foliot__peer *peer = s->peers; any && peer; peer = peer->next) {
        if (peer->state != FOLIOT__PEER_IN)
            continue;
        if (foliot__peer_is_stepper(peer))
            advance_heal(s, peer);
        reopen_kind(s, peer);
        if (peer->change.wanted != FOLIOT__KIND_ANY &&
            foliot__kind_make_machinery(s, peer->change.wanted) == FOLIOT_STATUS_OK)
            change_kind(s, peer);
        if (peer->role == FOLIOT__PEER_CLOSING && server->now_ns >= peer->change.close_ns)
            foliot__peer_close_lockstep(peer);
        if (peer->change.wanted != FOLIOT__KIND_ANY || peer->role == FOLIOT__PEER_CLOSING ||
            peer->change.reopen_ns ||
            (foliot__peer_is_healing(peer) && peer->lockstep.check.state != FOLIOT__CHECK_EQUAL))
            s->pending |= FOLIOT__PENDING_ROLES;
    }
}
