// SPDX-License-Identifier: MIT
// stepped.c: events and records of the stepped world, in the form that updates.c has for the
// server's. A host is given each event once, whichever of the two had it and, if the client
// predicts, whichever world had it first.
#include "stepper.h"

#include "foliot/query.h"

#include <stdlib.h>
#include <string.h>

#include "wire/session_state.h"

#define HITS_MAX 64 // of one step

static const foliot_world *stepped_world(const foliot_client *client)
{
    return foliot__client_steps(client) ? foliot__lockstep_client_world(client->lockstep) : NULL;
}

// -- events

static void add_event(foliot_client *c, foliot_client_event *e, bool predicted)
{
    foliot__prediction_events *events = &c->predictor.events;
    bool first = predicted             ? foliot__prediction_events_predict(events, e)
                 : c->predictor.worlds ? foliot__prediction_events_confirm(events, e)
                                       : true;
    if (first)
        foliot__events_add(c, e, "", 0);
}

static void add_world_events(foliot_client *c, const foliot_world *world, bool predicted)
{
    uint32_t count;
    uint64_t tick = foliot_world_get_tick(world);
    const foliot_event *events = foliot_world_get_events(world, &count);
    for (uint32_t i = 0; i < count; i++) {
        foliot_client_event e = foliot__event_at(FOLIOT_CLIENT_SPAWNED, tick);
        foliot_body body = {.prototype = FOLIOT_NO_BODY};
        switch (events[i].kind) {
        case FOLIOT_EVENT_SPAWNED:
            if (events[i].player != FOLIOT_NO_PLAYER)
                continue;
            (void)!foliot_world_get_body(world, events[i].body, &body);
            e.slot = foliot_body_id_get_slot(events[i].body);
            e.value = body.prototype;
            break;
        case FOLIOT_EVENT_DESPAWNED:
            e.kind = FOLIOT_CLIENT_DESPAWNED;
            e.slot = foliot_body_id_get_slot(events[i].body);
            break;
        case FOLIOT_EVENT_JOINT_MADE:
        case FOLIOT_EVENT_JOINT_BROKEN:
            e.kind = events[i].kind == FOLIOT_EVENT_JOINT_MADE ? FOLIOT_CLIENT_JOINT_MADE
                                                               : FOLIOT_CLIENT_JOINT_BROKEN;
            e.value = foliot_joint_id_get_index(events[i].joint);
            break;
        case FOLIOT_EVENT_ENDED: // the server sends it, ahead of its goodbye
        case FOLIOT_EVENT_FROZEN:
        case FOLIOT_EVENT_INPUT_REFUSED:
        case FOLIOT_EVENT_COMMAND_REFUSED:
        default:
            continue;
        }
        add_event(c, &e, predicted);
    }
    if (!c->predictor.worlds)
        return; // hosts that do not predict read hits from their world
    const foliot_hit_event *hits = foliot_world_get_hit_events(world, &count);
    for (uint32_t i = 0; i < count && i < HITS_MAX; i++) {
        foliot_client_event e = foliot__event_at(FOLIOT_CLIENT_HIT, tick);
        e.slot = foliot_body_id_get_slot(hits[i].a);
        e.value = foliot_body_id_get_slot(hits[i].b);
        add_event(c, &e, predicted);
    }
}

void foliot__stepped_predict(foliot_client *c, const foliot_world *world)
{
    add_world_events(c, world, true);
}

// -- records

static void apply_stepped(foliot_client *c, uint64_t tick, const uint8_t *bytes, size_t length)
{
    foliot_status status =
        foliot__session_state_apply(&c->updates.stepped, tick, bytes, length, NULL, NULL);
    (void)status; // without memory less is shown
}

static void emit_step(void *user, const uint8_t *bytes, size_t length)
{
    foliot_client *c = user;
    uint64_t tick = foliot_world_get_tick(stepped_world(c));
    apply_stepped(c, tick, bytes, length);
    foliot__updates_hold(c, (foliot__held_part){.tick = tick, .length = length}, bytes);
}

static void emit_world(void *user, const uint8_t *bytes, size_t length)
{
    foliot_client *c = user;
    uint64_t tick = foliot_world_get_tick(stepped_world(c));
    apply_stepped(c, tick, bytes, length);
    foliot__updates_hold_beginning(c, tick, bytes, length);
}

static void emit_served(void *user, const uint8_t *bytes, size_t length)
{
    foliot_client *c = user;
    foliot__updates_hold_beginning(c, c->updates.served_tick, bytes, length);
}

static bool begin_writer(foliot_client *c,
                         void (*emit)(void *user, const uint8_t *bytes, size_t length))
{
    if (!c->updates.writer)
        c->updates.writer = calloc(1, sizeof *c->updates.writer);
    if (c->updates.writer)
        foliot__update_begin(c->updates.writer, c->updates.shown.slots_max, emit, c);
    return c->updates.writer != NULL;
}

// Replaces the state by that of the current world, from its tick on.
static void begin_stepped(foliot_client *c)
{
    const foliot_world *world = stepped_world(c);
    if (!world || !c->scene)
        return;
    foliot__session_state_clear(&c->updates.stepped);
    c->updates.clears = true;
    if (!begin_writer(c, emit_world))
        return;
    foliot__write_world(c->updates.writer, world, c->scene);
    if (c->updates.clears) // there is nothing
        emit_world(c, c->updates.writer->bytes, 0);
}

void foliot__stepped_state_begun(foliot_client *c)
{
    if (!foliot__client_steps(c))
        return;
    foliot__updates_drop_all(&c->updates);
    foliot__session_state_clear(&c->updates.shown);
    begin_stepped(c);
    foliot__updates_show_all(&c->updates); // at once
}

void foliot__stepped_show(foliot_client *c)
{
    foliot__client_updates *u = &c->updates;
    u->stepped_from = c->lockstep->tick;
    u->stepped_to = UINT64_MAX;
    foliot__updates_drop_newer(u, c->lockstep->tick);
    begin_stepped(c);
}

// Shows the stepped world until the tick from which on the host is given the server's events.
void foliot__stepped_hand_over(foliot_client *c)
{
    foliot__client_updates *u = &c->updates;
    if (u->stepped_to > u->stepped_told)
        u->stepped_to = u->stepped_told;
    if (u->served_full == UINT64_MAX)
        return; // that shows it when it comes
    foliot__updates_drop_newer(u, u->served_tick);
    u->clears = true;
    if (!begin_writer(c, emit_served))
        return;
    foliot__update_state(c->updates.writer, &u->served);
    foliot__update_finish(c->updates.writer, true);
}

void foliot__stepped_update(foliot_client *c)
{
    const foliot_world *world = stepped_world(c);
    const foliot_command_list *commands = &c->lockstep->step.commands;
    foliot__client_updates *u = &c->updates;
    if (!world)
        return;
    if (begin_writer(c, emit_step))
        foliot__write_step(c->updates.writer, &u->stepped, world, commands, &u->scratch);
    uint64_t tick = foliot_world_get_tick(world);
    if (!foliot__updates_is_stepped(u, tick) || tick <= u->served_told)
        return; // the server's events are given
    u->stepped_told = tick;
    add_world_events(c, world, false);
    for (uint32_t i = 0; i < commands->count; i++) {
        const foliot_command *command = &commands->commands[i];
        foliot_client_event e = foliot__event_at(FOLIOT_CLIENT_VAR, tick);
        foliot_var var;
        if (command->kind != FOLIOT_COMMAND_var)
            continue;
        e.value = foliot_world_get_var(world, command->as.var.key, &var) ? var.type : 0;
        foliot__events_add(c, &e, command->as.var.key, strlen(command->as.var.key));
    }
}
