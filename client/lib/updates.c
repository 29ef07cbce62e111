// SPDX-License-Identifier: MIT
// updates.c: what a session holds beside poses, as the server tells it or the stepped world has it:
// players, variables, tags, prototypes; and the events that follow from its changes. Trusts no
// length and no number.
#include "internal.h"

#include <string.h>

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
    // What was stepped here has been told already.
    if (u->tick > u->client->stepped_from && u->tick <= u->client->stepped_to &&
        record->kind != FOLIOT__RECORD_END)
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
        text = u->client->session_state.reason;
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
    const foliot__snapshot_buffer *b = foliot__client_shows(c);
    uint64_t tick = b->has_newest ? b->newest : c->welcome.tick;
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

// -- messages of the server

void foliot__updates_take(foliot_client *c, const foliot__update *update)
{
    update_visit u = {c, update->tick, update->full};
    if (!c->welcomed_here)
        return;
    if (update->full) {
        end_player_list(c);
        c->full_tick = update->tick;
        if (c->steps && c->watches)
            c->stepped_to = update->tick;
        foliot__session_state_clear(&c->session_state);
    }
    c->statistics.updates_received++;
    c->statistics.update_bytes += update->length;
    if (foliot__session_state_take(&c->session_state, update->tick, update->bytes, update->length,
                                   visit_record, &u) != FOLIOT_STATUS_OK)
        c->statistics.pieces_malformed++;
}

void foliot__updates_take_message(foliot_client *c, const foliot__game_message *m)
{
    foliot_client_event e = event_of(
        m->from == FOLIOT__FROM_PLAYER ? FOLIOT_CLIENT_CHAT : FOLIOT_CLIENT_MESSAGE, m->tick);
    e.player = m->from == FOLIOT__FROM_PLAYER ? m->player : FOLIOT__NO_PLAYER;
    if (c->welcomed_here)
        foliot__events_add(c, &e, m->bytes, m->length);
}

// -- what a host asks for

static const foliot_world *stepped_world(const foliot_client *client)
{
    return client->steps ? foliot__lockstep_client_world(client->lockstep) : NULL;
}

// The events of the last step in lockstep, from the world that was stepped.
static void add_world_event(foliot_client *c, const foliot_world *world, const foliot_event *event)
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
    foliot__events_add(c, &e, "", 0);
}

void foliot__updates_stepped(foliot_client *c)
{
    const foliot_world *world = stepped_world(c);
    const foliot_command_list *commands = &c->lockstep->step_commands;
    uint32_t count;
    if (!world)
        return;
    if (foliot_world_get_tick(world) > c->stepped_to)
        return; // the server tells
    const foliot_event *events = foliot_world_get_events(world, &count);
    for (uint32_t i = 0; i < count; i++)
        add_world_event(c, world, &events[i]);
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

uint32_t foliot_client_get_var_count(const foliot_client *client)
{
    const foliot_world *world = stepped_world(client);
    return world ? foliot_world_get_var_count(world) : client->session_state.var_count;
}

foliot_var foliot_client_get_var_at(const foliot_client *client, uint32_t index)
{
    const foliot_world *world = stepped_world(client);
    return world ? foliot_world_get_var_at(world, index) : client->session_state.vars[index];
}

bool foliot_client_get_var(const foliot_client *client, const char *key, foliot_var *var)
{
    const foliot_world *world = stepped_world(client);
    if (world)
        return foliot_world_get_var(world, key, var);
    const foliot_var *found = foliot__session_state_var(&client->session_state, key);
    if (found)
        *var = *found;
    return found != NULL;
}

uint32_t foliot_client_get_tag(const foliot_client *client, uint32_t slot)
{
    const foliot_world *world = stepped_world(client);
    if (world)
        return slot < foliot_world_get_body_count(world) ? foliot_world_get_body_tag(world, slot)
                                                         : 0;
    return foliot__session_state_tag(&client->session_state, slot);
}

uint32_t foliot_client_get_prototype(const foliot_client *client, uint32_t slot)
{
    const foliot_world *world = stepped_world(client);
    if (world)
        return slot < foliot_world_get_body_count(world)
                   ? foliot_world_get_body_prototype(world, slot)
                   : FOLIOT_NO_BODY;
    return foliot__session_state_prototype(&client->session_state, slot);
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
