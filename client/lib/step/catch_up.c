// SPDX-License-Identifier: MIT
// catch_up.c: how a client becomes a stepper, heals after a divergence, and becomes a watcher.
// While it changes it has both kinds of data: it shows the old kind until it has enough of the new
// one, and only then reports that it is ready. Invariant: controls are sent one way at a time, for
// later ticks than those that were sent the other way.
#include "stepper.h"

#include <stdio.h>

#include "sim/selftest/fingerprint.h"

#define CAUGHT_UP_TICKS 8           // closed ticks that a stepper may have before it
#define SHOWN_WITHIN_NS 1000000000u // then the other kind is shown, even with missing ticks
#define OWN_WITHIN_NS 5000000000u   // and then inputs that are not acknowledged are dropped
#define SLOW_NS 5000000000u         // of not catching up

// -- the simulation

// Whether this build computes the scene like the server. With `forces` it does not matter.
static bool computes_alike(const foliot_client *c)
{
    return c->config.force_stepping || c->config.simulation || !c->scene ||
           foliot_digest_equal(c->welcome.fingerprint, c->simulation.fingerprint) ||
           foliot__fingerprint_fits(c->scene, c->welcome.fingerprint);
}

// Whether the scene's world is within the limit: a few bytes may describe gigabytes.
static bool world_fits(const foliot_client *c)
{
    if (!c->scene || c->simulation.kind.create != foliot_world_kind.create)
        return true;
    foliot_world_config config = foliot_world_config_default(c->scene);
    size_t bytes = foliot_world_config_get_bytes(&config);
    return bytes > 0 && bytes <= FOLIOT__WORLD_BYTES_FREE +
                                     (uint64_t)c->setup.length * FOLIOT__WORLD_BYTES_A_BYTE;
}

void foliot__catch_up_create_simulation(foliot_client *c)
{
    bool alike = computes_alike(c), fits = alike && world_fits(c);
    if (!fits && c->welcome.watchable) {
        foliot__kind_watch_instead(c, alike ? FOLIOT__KIND_SLOW : FOLIOT__KIND_FINGERPRINT);
    } else if (!alike) {
        char ours[FOLIOT_DIGEST_TEXT_BYTES], theirs[FOLIOT_DIGEST_TEXT_BYTES];
        char reason[FOLIOT__SENTENCE_BYTES];
        foliot_digest_print(foliot__fingerprint_of_scene(c->scene), ours);
        foliot_digest_print(c->welcome.fingerprint, theirs);
        snprintf(reason, sizeof reason,
                 "this build computes the scene differently from the server, and would diverge in "
                 "lockstep: its fingerprint is %.8s, the server's %.8s (--force joins anyway)",
                 ours, theirs);
        foliot_client_leave(c, c->now_ns);
        c->connection.refusal = FOLIOT__REFUSE_FINGERPRINT;
        foliot__connection_end(c, FOLIOT_CLIENT_REFUSED, reason);
    } else if (!fits) {
        foliot__connection_end(c, FOLIOT_CLIENT_LOST,
                               "the server's scene needs more memory than this client has");
    } else {
        foliot_status status =
            foliot__lockstep_client_setup(c->lockstep, c->setup.bytes, c->setup.length);
        if (status != FOLIOT_STATUS_OK)
            foliot__connection_end(c, FOLIOT_CLIENT_LOST, foliot_status_get_text(status));
    }
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

void foliot__catch_up_close(foliot_client *c)
{
    foliot__predict_end(c);
    if (c->lockstep)
        foliot__lockstep_client_forget(c->lockstep); // its world's memory too
    forget_given_up(c);
}

foliot_status foliot__catch_up_enter(foliot_client *c, const foliot__welcome *w)
{
    foliot_status status = open_lockstep(c);
    if (!c->lockstep) { // nothing to step can be made: nobody looks for it
        c->role.now = FOLIOT__ROLE_NONE;
        c->controls.by_ticks = false;
    }
    if (status == FOLIOT_STATUS_OK)
        status = foliot__predict_begin(c);
    if (status == FOLIOT_STATUS_OK && w->scene_bytes == 0)
        foliot__catch_up_create_simulation(c);
    return status;
}

// -- to a watcher

static void show_snapshots(foliot_client *c, foliot__role role)
{
    foliot__predict_leave(c);
    foliot__client_change_role(c, role);
    c->role.since_ns = c->now_ns;
    foliot__stepped_hand_over(c);
}

void foliot__catch_up_stop(foliot_client *c, const foliot__kind_message *given)
{
    bool steps = foliot__client_steps(c);
    foliot__predict_leave(c);
    // A client that leaves lockstep does not need a healing state.
    if (given->reason == FOLIOT__KIND_DIVERGED) {
        if (!foliot__client_is_closing(c))
            foliot__client_change_role(c, steps ? FOLIOT__ROLE_STEPPER_HEALING
                                                : FOLIOT__ROLE_WATCHER_HEALING);
        c->lockstep->diverged = true;
        return;
    }
    foliot__client_change_role(c,
                               steps ? FOLIOT__ROLE_STEPPER_CLOSING : FOLIOT__ROLE_WATCHER_CLOSING);
    if (given->reason != FOLIOT__KIND_WISHED) {
        c->role.asked = FOLIOT__KIND_WATCHER;
        foliot__kind_wait_to_try(c);
    }
    if (c->controls.by_ticks) { // from now on controls go out by change
        double tick_ns = foliot__client_tick_ns(c);
        uint64_t tick = foliot__lockstep_client_input_tick(c->lockstep, c->now_ns, tick_ns,
                                                           c->welcome.input_delay);
        c->controls.by_ticks = false;
        c->controls.least_meant = c->controls.last_meant + 1;
        c->outgoing.offset_ns = (double)c->now_ns - (double)tick * tick_ns;
        c->outgoing.clock_set = false;
    }
    if (c->controls.change_count == 0 && given->sequence > c->controls.next_sequence)
        c->controls.next_sequence = given->sequence;
}

// The world's last events are reported, and the server's continue from there.
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

// -- to a stepper

// The server sends a state. A stepper keeps showing its own steps meanwhile.
void foliot__catch_up_begin(foliot_client *c)
{
    if (open_lockstep(c) != FOLIOT_STATUS_OK) {
        foliot__kind_watch_instead(c, FOLIOT__KIND_SLOW);
        return;
    }
    if (c->role.now != FOLIOT__ROLE_STEPPER && foliot__client_steps(c))
        show_snapshots(c, FOLIOT__ROLE_CATCHING_UP);
    else if (c->role.now != FOLIOT__ROLE_STEPPER)
        foliot__client_change_role(c, FOLIOT__ROLE_CATCHING_UP);
    foliot__kind_clear_buffer(c, &c->stepped, c->lockstep->tick);
    if (c->setup.complete || c->welcome.scene_bytes == 0)
        foliot__catch_up_create_simulation(c);
}

void foliot__catch_up_state_begun(foliot_client *c)
{
    if (c->role.now == FOLIOT__ROLE_STEPPER_HEALING) // no snapshot has come
        show_snapshots(c, FOLIOT__ROLE_WATCHER_HEALING);
    if (c->role.now == FOLIOT__ROLE_WATCHER_HEALING)
        foliot__kind_clear_buffer(c, &c->stepped, c->lockstep->tick);
}

// Whether enough was stepped to interpolate, if the host takes samples.
static bool may_show_steps(const foliot_client *c)
{
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
    c->statistics.heals +=
        c->role.now == FOLIOT__ROLE_WATCHER_HEALING || c->role.now == FOLIOT__ROLE_HEALING_IN_PLACE;
    foliot__client_change_role(c, FOLIOT__ROLE_STEPPER);
    if (c->welcome.watchable) {
        c->role.since_ns = c->now_ns;
        foliot__stepped_show(c);
    }
    if (foliot__predict_begin(c) != FOLIOT_STATUS_OK)
        foliot__predict_end(c); // it shows closed ticks alone
    foliot__kind_send(c, FOLIOT__KIND_STEPPER, FOLIOT__KIND_READY);
    if (c->welcome.watchable)
        foliot__kind_clear_buffer(c, &c->buffer, c->lockstep->tick);
}

// Whether closed ticks arrive faster than they are stepped. A client that heals steps none.
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

void foliot__catch_up_update(foliot_client *c)
{
    const foliot__lockstep_client *l = c->lockstep;
    bool caught_up = l->begun && foliot__lockstep_client_backlog(l) < CAUGHT_UP_TICKS;
    if (!c->welcome.watchable) { // it stands still until it has the server's state
        if (l->begun && l->diverged) {
            foliot__predict_leave(c);
            foliot__client_change_role(c, FOLIOT__ROLE_HEALING_IN_PLACE);
        } else if (c->role.now == FOLIOT__ROLE_HEALING_IN_PLACE && caught_up) {
            become_stepper(c);
        }
        return;
    }
    // A client that steps only if a step is cheap stops stepping when it is not.
    bool costs_too_much = c->config.steps_if_cheap && c->config.kind == FOLIOT_PEER_ANY &&
                          foliot__client_steps(c) && c->predictor.slow;
    if (c->role.wished == FOLIOT__KIND_ANY && !foliot__client_is_closing(c) &&
        (falls_behind(c) || costs_too_much)) {
        c->role.asked = c->role.wished = FOLIOT__KIND_WATCHER;
        c->role.wish_reason = FOLIOT__KIND_SLOW;
        foliot__kind_wait_to_try(c);
    }
    if (may_show_snapshots(c))
        show_snapshots(c, c->role.now == FOLIOT__ROLE_STEPPER_HEALING
                              ? FOLIOT__ROLE_WATCHER_HEALING
                              : FOLIOT__ROLE_WATCHER_CLOSING);
    if (c->role.now == FOLIOT__ROLE_CATCHING_UP || c->role.now == FOLIOT__ROLE_WATCHER_HEALING) {
        caught_up = caught_up && !l->diverged;
        if (!c->controls.by_ticks && caught_up && l->deadline.known) {
            c->controls.by_ticks = true;
            c->controls.least_meant = c->controls.last_meant + 1;
        }
        if (c->controls.by_ticks && c->controls.change_count == 0 && caught_up && may_show_steps(c))
            become_stepper(c);
    } else if (c->role.now == FOLIOT__ROLE_WATCHER_CLOSING &&
               (foliot__lockstep_client_own_known(l) ||
                c->now_ns - c->role.given_ns > OWN_WITHIN_NS)) {
        foliot__catch_up_close(c);
        foliot__client_change_role(c, FOLIOT__ROLE_WATCHER);
        foliot__kind_send(c, FOLIOT__KIND_WATCHER, FOLIOT__KIND_READY);
    }
}
