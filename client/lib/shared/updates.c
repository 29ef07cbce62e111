// SPDX-License-Identifier: MIT
// updates.c: the session's state apart from poses, from the server or from the stepped world:
// players, variables, tags, prototypes, joints; and the events that follow from its changes. A host
// sees this state as of the render time: records wait for their tick. Invariant: `shown` is the
// server's state, or that of the stepped world if the client steps, without the records that wait.
// Trusts no length and no number.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_WORK 4 // slots of a table that are set up for one unit of an update's work

// -- events

typedef struct update_visit {
    foliot_client *client;
    uint64_t tick;
    bool full; // a full update: its records are not events
} update_visit;

static void visit_record(void *user, const foliot__record *record)
{
    const update_visit *u = user;
    foliot_client_event e = foliot__event_at(FOLIOT_CLIENT_VAR, u->tick);
    const char *text = "";
    if (u->full && record->kind != FOLIOT__RECORD_END)
        return;
    if (foliot__updates_is_stepped(&u->client->updates, u->tick) &&
        record->kind != FOLIOT__RECORD_END)
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
    foliot_client_event e = foliot__event_at(kind, tick);
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

// -- the shown state, and records that wait for their tick

static void show_part(foliot__client_updates *u, const foliot__held_part *part,
                      const uint8_t *bytes)
{
    if (part->clears)
        foliot__session_state_clear(&u->shown);
    // Errors in it were counted when it arrived.
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

void foliot__updates_drop_newer(foliot__client_updates *u, uint64_t tick)
{
    while (u->count > 0 &&
           u->ring[(u->first + u->count - 1) % FOLIOT__CLIENT_PARTS_HELD].tick > tick)
        drop_held(u, u->count - 1);
}

void foliot__updates_drop_all(foliot__client_updates *u)
{
    while (u->count > 0)
        drop_held(u, u->count - 1);
}

void foliot__updates_show_all(foliot__client_updates *u)
{
    while (u->count > 0)
        show_oldest(u);
}

void foliot__updates_show(foliot_client *c)
{
    foliot__client_updates *u = &c->updates;
    while (u->count > 0 && !foliot__client_is_ahead(c, u->ring[u->first].tick))
        show_oldest(u);
}

void foliot__updates_hold(foliot_client *c, foliot__held_part part, const uint8_t *bytes)
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
        foliot__updates_show_all(u);
        show_part(u, &part, bytes);
        return;
    }
    memcpy(copy, bytes, part.length);
    part.bytes = copy;
    u->ring[(u->first + u->count++) % FOLIOT__CLIENT_PARTS_HELD] = part;
    u->bytes += part.length;
    foliot__updates_show(c);
}

void foliot__updates_hold_beginning(foliot_client *c, uint64_t tick, const uint8_t *bytes,
                                    size_t length)
{
    foliot__updates_hold(
        c,
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
    foliot__updates_drop_all(u);
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

// A full update begins. A stepper that is to watch reports its own steps until then; a watcher
// shows the known state until that tick.
static void begin_served(foliot_client *c, uint64_t tick)
{
    foliot__client_updates *u = &c->updates;
    // The server has listed all players: earlier ones that are not listed have left.
    for (uint32_t p = 0; p < FOLIOT__PLAYER_NAMES; p++) {
        if (u->players[p].was_here && !u->players[p].here)
            add_player_event(c, FOLIOT_CLIENT_LEFT, p, u->players[p].name);
        u->players[p].was_here = false;
    }
    u->served_full = tick;
    foliot__session_state_clear(&u->served);
    if (foliot__client_steps(c) && foliot__client_watches(c) && u->stepped_to == UINT64_MAX)
        u->stepped_to = tick > u->stepped_told ? tick : u->stepped_told;
    if (foliot__client_steps(c))
        return;
    u->clears = true;
    if (c->role.given == FOLIOT__KIND_ANY) {
        foliot__updates_drop_all(u);
        foliot__session_state_clear(&u->shown);
    } else {
        foliot__updates_drop_newer(u, tick);
    }
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
    // A full update belongs to one tick, in as many parts as it needs.
    bool begins = u.full = update->tick == own->served_full;
    uint32_t slots = own->served.slot_count;
    if (foliot__session_state_apply(&own->served, update->tick, update->bytes, update->length,
                                    visit_record, &u) != FOLIOT_STATUS_OK)
        c->statistics.pieces_malformed++;
    // A few bytes may set up a million slots.
    c->work += (own->served.slot_count - (begins ? 0 : slots)) / SLOTS_WORK;
    own->served_tick = update->tick;
    if (!begins && !foliot__updates_is_stepped(own, update->tick))
        own->served_told = update->tick;
    foliot__held_part part = {.tick = update->tick, .begins = begins, .length = update->length};
    if (foliot__client_steps(c))
        return;
    if (!begins)
        foliot__updates_hold(c, part, update->bytes);
    else if (c->role.given != FOLIOT__KIND_ANY)
        foliot__updates_hold_beginning(c, update->tick, update->bytes, update->length);
    else
        show_part(own, &part, update->bytes);
}

void foliot__updates_receive_message(foliot_client *c, const foliot__game_message *m)
{
    foliot_client_event e = foliot__event_at(
        m->from == FOLIOT__FROM_PLAYER ? FOLIOT_CLIENT_CHAT : FOLIOT_CLIENT_MESSAGE, m->tick);
    e.player = m->from == FOLIOT__FROM_PLAYER ? m->player : FOLIOT_NO_PLAYER;
    if (foliot__client_welcomed_here(c))
        foliot__events_add(c, &e, m->bytes, m->length);
}

void foliot__updates_given(foliot_client *c)
{
    c->updates.served_full = UINT64_MAX;
}

// -- the host's queries

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
