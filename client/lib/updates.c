// SPDX-License-Identifier: MIT
// updates.c: what a session holds beside poses, as the server tells it or the stepped world has it:
// players, variables, tags, prototypes, joints; and the events that follow from its changes. A host
// sees all that as it was at the render time: records wait for their tick. Invariant: `shown` is
// `newest` without the records that wait. Trusts no length and no number.
#include "internal.h"

#include "foliot/contact.h"

#include <stdlib.h>
#include <string.h>

#include "wire/step_changes.h"

#define HITS_MAX 64  // of one step
#define SLOTS_WORK 4 // slots of a table that are set up for one unit of an update's work

// -- events

static foliot_client_event event_of(foliot_client_event_kind kind, uint64_t tick)
{
    return (foliot_client_event){
        .kind = kind, .tick = tick, .player = FOLIOT__NO_PLAYER, .slot = FOLIOT_NO_BODY};
}

typedef struct update_visit {
    foliot_client *client;
    uint64_t tick;
    bool full; // a beginning: what was there before is no event
} update_visit;

static void visit_record(void *user, const foliot__record *record)
{
    const update_visit *u = user;
    foliot_client_event e = event_of(FOLIOT_CLIENT_VAR, u->tick);
    const char *text = "";
    if (u->full && record->kind != FOLIOT__RECORD_END)
        return;
    switch (record->kind) {
    case FOLIOT__RECORD_VAR:
        text = record->var->key;
        e.value = record->removed ? 0 : record->var->type;
        break;
    case FOLIOT__RECORD_SPAWNED:
        e.kind = FOLIOT_CLIENT_SPAWNED;
        e.slot = record->slot;
        e.value = record->value;
        break;
    case FOLIOT__RECORD_DESPAWNED:
        e.kind = FOLIOT_CLIENT_DESPAWNED;
        e.slot = record->slot;
        break;
    case FOLIOT__RECORD_JOINT:
    case FOLIOT__RECORD_JOINT_BROKEN:
        e.kind = record->kind == FOLIOT__RECORD_JOINT ? FOLIOT_CLIENT_JOINT_MADE
                                                      : FOLIOT_CLIENT_JOINT_BROKEN;
        e.value = record->slot;
        break;
    case FOLIOT__RECORD_END:
        e.kind = FOLIOT_CLIENT_ENDED;
        text = u->client->updates.newest.reason;
        break;
    case FOLIOT__RECORD_TAGS:
    case FOLIOT__RECORD_GRAVITY:
    default:
        return;
    }
    foliot__events_add(u->client, &e, text, strlen(text));
}

// -- players

static void add_player_event(foliot_client *c, foliot_client_event_kind kind, uint32_t player,
                             const char *name)
{
    uint64_t tick = c->tracks              ? c->tracks->newest
                    : c->buffer.has_newest ? c->buffer.newest
                                           : c->welcome.tick;
    foliot_client_event e = event_of(kind, tick);
    e.player = player;
    foliot__events_add(c, &e, name, strlen(name));
}

void foliot__updates_forget_players(foliot_client *c)
{
    for (uint32_t p = 0; p < FOLIOT__PLAYER_NAMES; p++) {
        c->players[p].was_here |= c->players[p].here;
        c->players[p].here = false;
    }
}

void foliot__updates_take_player(foliot_client *c, const foliot__player_message *m)
{
    if (m->player >= FOLIOT__PLAYER_NAMES)
        return;
    foliot__player_name *player = &c->players[m->player];
    bool known = player->here || player->was_here,
         same = known && strcmp(player->name, m->name) == 0;
    if (known && (!same || !m->joined))
        add_player_event(c, FOLIOT_CLIENT_LEFT, m->player, player->name);
    if (m->joined && !same)
        add_player_event(c, FOLIOT_CLIENT_JOINED, m->player, m->name);
    player->here = m->joined;
    player->was_here = false;
    player->slot = m->slot;
    memcpy(player->name, m->name, sizeof m->name);
}

// The server has listed all players: who was there before and is not listed has left.
static void end_player_list(foliot_client *c)
{
    for (uint32_t p = 0; p < FOLIOT__PLAYER_NAMES; p++) {
        if (c->players[p].was_here && !c->players[p].here)
            add_player_event(c, FOLIOT_CLIENT_LEFT, p, c->players[p].name);
        c->players[p].was_here = false;
    }
}

// -- what is shown, and what waits for its tick

static void show_part(foliot__client_updates *u, uint64_t tick, const uint8_t *bytes, size_t length)
{
    // What is wrong in it was counted when it came.
    foliot_status status = foliot__session_state_take(&u->shown, tick, bytes, length, NULL, NULL);
    (void)status;
}

static void show_beginning(foliot_client *c, const uint8_t *bytes, size_t length)
{
    foliot__client_updates *u = &c->updates;
    show_part(u, u->full_tick, bytes, length);
    foliot__session_state_begun(&u->shown);
}

static void drop_oldest(foliot__client_updates *u)
{
    foliot__held_part *part = &u->ring[u->first];
    u->bytes -= part->length;
    free(part->bytes);
    u->first = (u->first + 1) % FOLIOT__CLIENT_PARTS_HELD;
    u->count--;
}

static void show_oldest(foliot__client_updates *u)
{
    const foliot__held_part *part = &u->ring[u->first];
    show_part(u, part->tick, part->bytes, part->length);
    drop_oldest(u);
}

static void drop_held(foliot__client_updates *u)
{
    while (u->count > 0)
        drop_oldest(u);
}

void foliot__updates_show(foliot_client *c)
{
    foliot__client_updates *u = &c->updates;
    while (u->count > 0 && !foliot__client_is_ahead(c, u->ring[u->first].tick))
        show_oldest(u);
}

static void hold_part(foliot_client *c, uint64_t tick, const uint8_t *bytes, size_t length)
{
    foliot__client_updates *u = &c->updates;
    bool waits = u->count > 0 || foliot__client_is_ahead(c, tick);
    if (waits && !u->ring)
        u->ring = calloc(FOLIOT__CLIENT_PARTS_HELD, sizeof *u->ring);
    while (u->count == FOLIOT__CLIENT_PARTS_HELD ||
           (u->count > 0 && u->bytes + length > FOLIOT__CLIENT_PART_BYTES))
        show_oldest(u);
    uint8_t *copy = waits && u->ring ? malloc(length + 1) : NULL;
    if (!copy) { // in order, and early rather than never
        while (u->count > 0)
            show_oldest(u);
        show_part(u, tick, bytes, length);
        return;
    }
    memcpy(copy, bytes, length);
    u->ring[(u->first + u->count++) % FOLIOT__CLIENT_PARTS_HELD] =
        (foliot__held_part){tick, length, copy};
    u->bytes += length;
    foliot__updates_show(c);
}

void foliot__updates_reset(foliot_client *c, uint32_t slots_max)
{
    foliot__client_updates *u = &c->updates;
    drop_held(u);
    foliot__session_state_free(&u->newest);
    foliot__session_state_free(&u->shown);
    foliot__session_state_init(&u->newest, slots_max);
    foliot__session_state_init(&u->shown, slots_max);
    u->full_tick = UINT64_MAX;
}

void foliot__updates_free(foliot_client *c)
{
    foliot__updates_reset(c, 0);
    free(c->updates.ring);
    foliot__buffer_free(&c->updates.scratch);
    free(c->writer);
}

// -- messages of the server

// An end alone is told in lockstep: peers know the rest from the world that they step.
static void take_end(foliot_client *c, const foliot__update *update, update_visit *u)
{
    foliot__session_state none;
    foliot__session_state_init(&none, 0);
    if (foliot__session_state_take(&none, update->tick, update->bytes, update->length, NULL,
                                   NULL) != FOLIOT_STATUS_OK)
        c->statistics.pieces_malformed++;
    else if (none.ended) {
        memcpy(c->updates.newest.reason, none.reason, sizeof none.reason);
        visit_record(u, &(foliot__record){.kind = FOLIOT__RECORD_END});
    }
    foliot__session_state_free(&none);
}

void foliot__updates_take(foliot_client *c, const foliot__update *update)
{
    foliot__client_updates *own = &c->updates;
    if (!c->welcomed_here)
        return;
    update_visit u = {c, update->tick, update->full};
    c->statistics.updates_received++;
    c->statistics.update_bytes += update->length;
    if (update->full)
        end_player_list(c);
    if (c->lockstep) {
        take_end(c, update, &u);
        return;
    }
    if (update->full) {
        own->full_tick = update->tick;
        drop_held(own);
        foliot__session_state_clear(&own->newest);
        foliot__session_state_clear(&own->shown);
    }
    // A full update is one tick's, in as many parts as it needs.
    bool begins = u.full = update->tick == own->full_tick;
    uint32_t slots = own->newest.slot_count;
    if (foliot__session_state_take(&own->newest, update->tick, update->bytes, update->length,
                                   visit_record, &u) != FOLIOT_STATUS_OK)
        c->statistics.pieces_malformed++;
    // A few bytes may set up a million slots.
    c->work += (own->newest.slot_count - (begins ? 0 : slots)) / SLOTS_WORK;
    if (begins)
        show_beginning(c, update->bytes, update->length);
    else
        hold_part(c, update->tick, update->bytes, update->length);
}

void foliot__updates_take_message(foliot_client *c, const foliot__game_message *m)
{
    foliot_client_event e = event_of(
        m->from == FOLIOT__FROM_PLAYER ? FOLIOT_CLIENT_CHAT : FOLIOT_CLIENT_MESSAGE, m->tick);
    e.player = m->from == FOLIOT__FROM_PLAYER ? m->player : FOLIOT__NO_PLAYER;
    if (c->welcomed_here)
        foliot__events_add(c, &e, m->bytes, m->length);
}

// -- in lockstep

static const foliot_world *stepped_world(const foliot_client *client)
{
    return client->lockstep ? foliot__lockstep_client_world(client->lockstep) : NULL;
}

// Gives an event of a step: of a client that predicts only once, whichever world had it first.
static void give_event(foliot_client *c, foliot_client_event *e, bool predicted)
{
    foliot__prediction_events *events = &c->predictor.events;
    bool given = predicted             ? foliot__prediction_events_predict(events, e)
                 : c->predictor.worlds ? foliot__prediction_events_confirm(events, e)
                                       : true;
    if (given)
        foliot__events_add(c, e, "", 0);
}

// The events of the last step in lockstep, from the world that was stepped.
static void add_world_event(foliot_client *c, const foliot_world *world, const foliot_event *event,
                            bool predicted)
{
    foliot_client_event e = event_of(FOLIOT_CLIENT_SPAWNED, foliot_world_get_tick(world));
    switch ((foliot_event_kind)event->kind) {
    case FOLIOT_EVENT_COMMAND_SPAWN:
        e.slot = event->a;
        e.value = foliot_world_get_body_prototype(world, event->a);
        break;
    case FOLIOT_EVENT_DESPAWN:
        e.kind = FOLIOT_CLIENT_DESPAWNED;
        e.slot = event->a;
        break;
    case FOLIOT_EVENT_JOINT:
    case FOLIOT_EVENT_BREAK:
        e.kind = event->kind == FOLIOT_EVENT_JOINT ? FOLIOT_CLIENT_JOINT_MADE
                                                   : FOLIOT_CLIENT_JOINT_BROKEN;
        e.value = event->a;
        break;
    case FOLIOT_EVENT_END: // the server says so, ahead of its goodbye
    case FOLIOT_EVENT_SPAWN:
    case FOLIOT_EVENT_FROZEN:
    case FOLIOT_EVENT_REFUSED:
    case FOLIOT_EVENT_COMMAND_REFUSED:
    default:
        return;
    }
    give_event(c, &e, predicted);
}

// What can be heard. Clients that do not predict look at their world.
static void add_hits(foliot_client *c, const foliot_world *world, bool predicted)
{
    uint32_t count;
    const foliot_hit_event *hits = foliot_world_get_hit_events(world, &count);
    for (uint32_t i = 0; i < count && i < HITS_MAX; i++) {
        foliot_client_event e = event_of(FOLIOT_CLIENT_HIT, foliot_world_get_tick(world));
        e.slot = hits[i].a;
        e.value = hits[i].b;
        give_event(c, &e, predicted);
    }
}

static void add_world_events(foliot_client *c, const foliot_world *world, bool predicted)
{
    uint32_t count;
    const foliot_event *events = foliot_world_get_events(world, &count);
    for (uint32_t i = 0; i < count; i++)
        add_world_event(c, world, &events[i], predicted);
    if (c->predictor.worlds)
        add_hits(c, world, predicted);
}

void foliot__updates_predicted(foliot_client *c, const foliot_world *world)
{
    add_world_events(c, world, true);
}

static void emit_stepped(void *user, const uint8_t *bytes, size_t length)
{
    foliot_client *c = user;
    foliot__client_updates *u = &c->updates;
    uint64_t tick = foliot_world_get_tick(stepped_world(c));
    foliot_status status = foliot__session_state_take(&u->newest, tick, bytes, length, NULL, NULL);
    (void)status; // without memory less is shown
    if (tick == u->full_tick)
        show_beginning(c, bytes, length);
    else
        hold_part(c, tick, bytes, length);
}

void foliot__updates_state_begun(foliot_client *c)
{
    const foliot_world *world = stepped_world(c);
    if (!world || !c->scene)
        return;
    foliot__updates_reset(c, FOLIOT_BODIES_MAX);
    if (!c->writer)
        c->writer = calloc(1, sizeof *c->writer);
    if (!c->writer)
        return;
    c->updates.full_tick = foliot_world_get_tick(world);
    foliot__update_begin(c->writer, c->updates.newest.slots_max, emit_stepped, c);
    foliot__write_world(c->writer, world, c->scene);
}

void foliot__updates_stepped(foliot_client *c)
{
    const foliot_world *world = stepped_world(c);
    const foliot_command_list *commands = &c->lockstep->step_commands;
    if (!world)
        return;
    if (c->writer) {
        foliot__update_begin(c->writer, c->updates.newest.slots_max, emit_stepped, c);
        foliot__write_step(c->writer, &c->updates.newest, world, commands, &c->updates.scratch);
    }
    add_world_events(c, world, false);
    for (uint32_t i = 0; i < commands->count; i++) {
        const foliot_command *command = &commands->commands[i];
        foliot_client_event e = event_of(FOLIOT_CLIENT_VAR, foliot_world_get_tick(world));
        foliot_var var;
        if (command->kind != FOLIOT_COMMAND_var)
            continue;
        e.value = foliot_world_get_var(world, command->as.var.key, &var) ? var.type : 0;
        foliot__events_add(c, &e, command->as.var.key, strlen(command->as.var.key));
    }
}

// -- what a host asks for

uint32_t foliot_client_get_var_count(const foliot_client *client)
{
    return client->updates.shown.var_count;
}

foliot_var foliot_client_get_var_at(const foliot_client *client, uint32_t index)
{
    return client->updates.shown.vars[index];
}

bool foliot_client_get_var(const foliot_client *client, const char *key, foliot_var *var)
{
    const foliot_var *found = foliot__session_state_var(&client->updates.shown, key);
    if (found)
        *var = *found;
    return found != NULL;
}

uint32_t foliot_client_get_tag(const foliot_client *client, uint32_t slot)
{
    return foliot__session_state_tag(&client->updates.shown, slot);
}

uint32_t foliot_client_get_prototype(const foliot_client *client, uint32_t slot)
{
    return foliot__session_state_prototype(&client->updates.shown, slot);
}

uint32_t foliot_client_get_joint_count(const foliot_client *client)
{
    uint32_t scene = client->scene ? client->scene->constraint_count : 0,
             known = client->updates.shown.joint_end;
    return scene > known ? scene : known;
}

bool foliot_client_get_joint(const foliot_client *client, uint32_t index,
                             foliot_constraint_definition *joint)
{
    const foliot_scene *scene = client->scene;
    const foliot__known_joint *known = foliot__session_state_joint(&client->updates.shown, index);
    if (known && known->state == FOLIOT__JOINT_BROKEN)
        return false;
    if (!known && (!scene || index >= scene->constraint_count))
        return false;
    if (!known) {
        *joint = scene->constraints[index];
        return true;
    }
    *joint = foliot_constraint_definition_default((foliot_constraint_kind)known->kind);
    joint->a = known->a;
    joint->b = known->b;
    for (int k = 0; k < 3; k++) {
        joint->anchor_a[k] = (double)known->anchor_a[k];
        joint->anchor_b[k] = (double)known->anchor_b[k];
    }
    return true;
}

bool foliot_client_get_shape(const foliot_client *client, uint32_t slot, foliot_shape *shape)
{
    const foliot_scene *scene = client->scene;
    uint32_t prototype = foliot_client_get_prototype(client, slot);
    if (!scene)
        return false;
    if (prototype != FOLIOT_NO_BODY) {
        if (prototype >= scene->prototype_count)
            return false; // the server may name any
        *shape = scene->prototypes[prototype].shape;
    } else if (slot < scene->body_count) {
        *shape = scene->bodies[slot].shape;
    } else {
        *shape = scene->players.body.shape;
    }
    return true;
}

const char *foliot_client_get_name(const foliot_client *client, uint32_t player)
{
    return player < FOLIOT__PLAYER_NAMES && client->players[player].here
               ? client->players[player].name
               : NULL;
}
