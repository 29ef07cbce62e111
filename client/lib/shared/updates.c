// SPDX-License-Identifier: MIT
// updates.c: what a session holds beside poses, as the server tells it or the stepped world has it:
// players, variables, tags, prototypes, joints; and the events that follow from its changes. A host
// sees all that as it was at the render time: records wait for their tick. Invariant: `shown` is
// what the server says, or what is stepped here if the client steps, without the records that wait.
// Trusts no length and no number.
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

// What was stepped here is told by the world.
static bool is_stepped(const foliot__client_updates *u, uint64_t tick)
{
    return tick > u->stepped_from && tick <= u->stepped_to;
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
    if (is_stepped(&u->client->updates, u->tick) && record->kind != FOLIOT__RECORD_END)
        return;
    switch (record->kind) {
    case FOLIOT__RECORD_VAR:
        text = record->var->key;
        e.value = record->removed ? 0 : record->var->type;
        break;
    case FOLIOT__RECORD_SPAWNED:
        if (record->known)
            return;
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
        text = u->client->updates.served.reason;
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
    const foliot__snapshot_buffer *b = foliot__client_buffer_now(c);
    uint64_t tick = c->tracks ? c->tracks->newest : b->has_newest ? b->newest : c->welcome.tick;
    foliot_client_event e = event_of(kind, tick);
    e.player = player;
    foliot__events_add(c, &e, name, strlen(name));
}

void foliot__updates_forget_players(foliot_client *c)
{
    for (uint32_t p = 0; p < FOLIOT__PLAYER_NAMES; p++) {
        c->updates.players[p].was_here |= c->updates.players[p].here;
        c->updates.players[p].here = false;
    }
}

void foliot__updates_receive_player(foliot_client *c, const foliot__player_message *m)
{
    if (m->player >= FOLIOT__PLAYER_NAMES)
        return;
    foliot__player_name *player = &c->updates.players[m->player];
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
        if (c->updates.players[p].was_here && !c->updates.players[p].here)
            add_player_event(c, FOLIOT_CLIENT_LEFT, p, c->updates.players[p].name);
        c->updates.players[p].was_here = false;
    }
}

// -- what is shown, and what waits for its tick

static void show_part(foliot__client_updates *u, const foliot__held_part *part,
                      const uint8_t *bytes)
{
    if (part->clears)
        foliot__session_state_clear(&u->shown);
    // What is wrong in it was counted when it came.
    foliot_status status =
        foliot__session_state_apply(&u->shown, part->tick, bytes, part->length, NULL, NULL);
    (void)status;
    if (part->begins)
        foliot__session_state_begun(&u->shown);
}

static void drop_held(foliot__client_updates *u, uint32_t index)
{
    foliot__held_part *part = &u->ring[(u->first + index) % FOLIOT__CLIENT_PARTS_HELD];
    u->bytes -= part->length;
    free(part->bytes);
    u->count--;
}

static void show_oldest(foliot__client_updates *u)
{
    show_part(u, &u->ring[u->first], u->ring[u->first].bytes);
    drop_held(u, 0);
    u->first = (u->first + 1) % FOLIOT__CLIENT_PARTS_HELD;
}

// Those after a tick: they are told in another way.
static void drop_newer(foliot__client_updates *u, uint64_t tick)
{
    while (u->count > 0 &&
           u->ring[(u->first + u->count - 1) % FOLIOT__CLIENT_PARTS_HELD].tick > tick)
        drop_held(u, u->count - 1);
}

static void drop_all(foliot__client_updates *u)
{
    while (u->count > 0)
        drop_held(u, u->count - 1);
}

void foliot__updates_show(foliot_client *c)
{
    foliot__client_updates *u = &c->updates;
    while (u->count > 0 && !foliot__client_is_ahead(c, u->ring[u->first].tick))
        show_oldest(u);
}

static void hold_part(foliot_client *c, foliot__held_part part, const uint8_t *bytes)
{
    foliot__client_updates *u = &c->updates;
    bool waits = u->count > 0 || foliot__client_is_ahead(c, part.tick);
    if (waits && !u->ring)
        u->ring = calloc(FOLIOT__CLIENT_PARTS_HELD, sizeof *u->ring);
    while (u->count == FOLIOT__CLIENT_PARTS_HELD ||
           (u->count > 0 && u->bytes + part.length > FOLIOT__CLIENT_PART_BYTES))
        show_oldest(u);
    uint8_t *copy = waits && u->ring ? malloc(part.length + 1) : NULL;
    if (!copy) { // in order, and early rather than never
        while (u->count > 0)
            show_oldest(u);
        show_part(u, &part, bytes);
        return;
    }
    memcpy(copy, bytes, part.length);
    part.bytes = copy;
    u->ring[(u->first + u->count++) % FOLIOT__CLIENT_PARTS_HELD] = part;
    u->bytes += part.length;
    foliot__updates_show(c);
}

// A part of all that there is: from its tick on nothing else is.
static void hold_beginning(foliot_client *c, uint64_t tick, const uint8_t *bytes, size_t length)
{
    hold_part(c,
              (foliot__held_part){
                  .tick = tick, .clears = c->updates.clears, .begins = true, .length = length},
              bytes);
    c->updates.clears = false;
}

static void reset_state(foliot__session_state *state, uint32_t slots_max)
{
    foliot__session_state_free(state);
    foliot__session_state_init(state, slots_max);
}

void foliot__updates_reset(foliot_client *c)
{
    foliot__client_updates *u = &c->updates;
    uint32_t slots_max = foliot__client_welcomed(c) ? c->welcome.format.bodies_max : 0;
    drop_all(u);
    reset_state(&u->served, slots_max);
    reset_state(&u->stepped, slots_max);
    reset_state(&u->shown, slots_max);
    u->served_full = UINT64_MAX;
    u->served_tick = u->served_told = u->stepped_told = u->stepped_from = 0;
    u->stepped_to = foliot__client_steps(c) ? UINT64_MAX : 0;
}

void foliot__updates_free(foliot_client *c)
{
    foliot__updates_reset(c);
    free(c->updates.ring);
    foliot__buffer_free(&c->updates.scratch);
    free(c->updates.writer);
}

// -- messages of the server

// A full update begins. A stepper that was told to watch tells what it steps until then; one that
// watches shows what it knows until that tick.
static void begin_served(foliot_client *c, uint64_t tick)
{
    foliot__client_updates *u = &c->updates;
    end_player_list(c);
    u->served_full = tick;
    foliot__session_state_clear(&u->served);
    if (foliot__client_steps(c) && foliot__client_watches(c) && u->stepped_to == UINT64_MAX)
        u->stepped_to = tick > u->stepped_told ? tick : u->stepped_told;
    if (foliot__client_steps(c))
        return;
    u->clears = true;
    if (c->role.given == FOLIOT__KIND_ANY) {
        drop_all(u);
        foliot__session_state_clear(&u->shown);
    } else {
        drop_newer(u, tick);
    }
}

static void show_served(foliot_client *c, const foliot__update *update, bool begins)
{
    foliot__held_part part = {.tick = update->tick, .begins = begins, .length = update->length};
    if (!begins)
        hold_part(c, part, update->bytes);
    else if (c->role.given != FOLIOT__KIND_ANY)
        hold_beginning(c, update->tick, update->bytes, update->length);
    else
        show_part(&c->updates, &part, update->bytes);
}

void foliot__updates_receive(foliot_client *c, const foliot__update *update)
{
    foliot__client_updates *own = &c->updates;
    if (!foliot__client_welcomed_here(c))
        return;
    update_visit u = {c, update->tick, update->full};
    c->statistics.updates_received++;
    c->statistics.update_bytes += update->length;
    if (update->full)
        begin_served(c, update->tick);
    // A full update is one tick's, in as many parts as it needs.
    bool begins = u.full = update->tick == own->served_full;
    uint32_t slots = own->served.slot_count;
    if (foliot__session_state_apply(&own->served, update->tick, update->bytes, update->length,
                                    visit_record, &u) != FOLIOT_STATUS_OK)
        c->statistics.pieces_malformed++;
    // A few bytes may set up a million slots.
    c->work += (own->served.slot_count - (begins ? 0 : slots)) / SLOTS_WORK;
    own->served_tick = update->tick;
    if (!begins && !is_stepped(own, update->tick))
        own->served_told = update->tick;
    if (!foliot__client_steps(c))
        show_served(c, update, begins);
}

void foliot__updates_receive_message(foliot_client *c, const foliot__game_message *m)
{
    foliot_client_event e = event_of(
        m->from == FOLIOT__FROM_PLAYER ? FOLIOT_CLIENT_CHAT : FOLIOT_CLIENT_MESSAGE, m->tick);
    e.player = m->from == FOLIOT__FROM_PLAYER ? m->player : FOLIOT__NO_PLAYER;
    if (foliot__client_welcomed_here(c))
        foliot__events_add(c, &e, m->bytes, m->length);
}

// -- of a stepper

static const foliot_world *stepped_world(const foliot_client *client)
{
    return foliot__client_steps(client) ? foliot__lockstep_client_world(client->lockstep) : NULL;
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
    hold_part(c, (foliot__held_part){.tick = tick, .length = length}, bytes);
}

static void emit_world(void *user, const uint8_t *bytes, size_t length)
{
    foliot_client *c = user;
    uint64_t tick = foliot_world_get_tick(stepped_world(c));
    apply_stepped(c, tick, bytes, length);
    hold_beginning(c, tick, bytes, length);
}

static void emit_served(void *user, const uint8_t *bytes, size_t length)
{
    foliot_client *c = user;
    hold_beginning(c, c->updates.served_tick, bytes, length);
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

// The world as it is now is what there is, from its tick on.
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

void foliot__updates_state_begun(foliot_client *c)
{
    if (!foliot__client_steps(c))
        return;
    drop_all(&c->updates);
    foliot__session_state_clear(&c->updates.shown);
    begin_stepped(c);
    while (c->updates.count > 0) // at once
        show_oldest(&c->updates);
}

void foliot__updates_given(foliot_client *c)
{
    c->updates.served_full = UINT64_MAX;
}

// The host is given each event once, whoever told the last tick; and what is shown goes on to the
// tick from which on the other tells.
void foliot__updates_switch(foliot_client *c)
{
    foliot__client_updates *u = &c->updates;
    if (foliot__client_steps(c)) {
        u->stepped_from = c->lockstep->tick;
        u->stepped_to = UINT64_MAX;
        drop_newer(u, c->lockstep->tick);
        begin_stepped(c);
        return;
    }
    if (u->stepped_to > u->stepped_told)
        u->stepped_to = u->stepped_told;
    if (u->served_full == UINT64_MAX)
        return; // that shows it when it comes
    drop_newer(u, u->served_tick);
    u->clears = true;
    if (!begin_writer(c, emit_served))
        return;
    foliot__update_state(c->updates.writer, &u->served);
    foliot__update_finish(c->updates.writer, true);
}

void foliot__updates_stepped(foliot_client *c)
{
    const foliot_world *world = stepped_world(c);
    const foliot_command_list *commands = &c->lockstep->step.commands;
    foliot__client_updates *u = &c->updates;
    if (!world)
        return;
    if (begin_writer(c, emit_step))
        foliot__write_step(c->updates.writer, &u->stepped, world, commands, &u->scratch);
    uint64_t tick = foliot_world_get_tick(world);
    if (!is_stepped(u, tick) || tick <= u->served_told)
        return; // the server tells
    u->stepped_told = tick;
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
    const foliot__session_state *shown = &client->updates.shown;
    return index < shown->var_count ? shown->vars[index] : (foliot_var){.type = FOLIOT_VAR_INTEGER};
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
        joint->anchor_a[k] = known->anchor_a[k];
        joint->anchor_b[k] = known->anchor_b[k];
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
    return player < FOLIOT__PLAYER_NAMES && client->updates.players[player].here
               ? client->updates.players[player].name
               : NULL;
}
