// SPDX-License-Identifier: MIT
// updates.c: what peers are told beside poses: messages, and in sessions of snapshots what commands
// and steps changed. Each is encoded once for all peers. Spectators who are behind get everything
// with its tick. Invariant: `now` is what a peer knows that has read everything so far.
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "internal.h"

// -- to peers

static bool is_behind(const foliot__session *session, const foliot__peer *peer)
{
    return session->delay_ticks > 0 && peer->player == FOLIOT__NO_PLAYER;
}

typedef enum audience {
    ALL,
    WATCHERS, // what steppers see in the world that they step
    STEPPERS,
} audience;

// To those peers of the session that are up to date, or those that are behind.
static void send_group(foliot__session *session, audience to, bool behind, foliot_delivery delivery,
                       const uint8_t *bytes, size_t length)
{
    foliot_server *server = session->server;
    uint32_t count = 0;
    for (uint32_t i = 0; i < server->peers_max; i++) {
        const foliot__peer *peer = &server->peers[i];
        if (peer->state == FOLIOT__PEER_IN && peer->session == session &&
            is_behind(session, peer) == behind && (to != WATCHERS || peer->watches) &&
            (to != STEPPERS || !peer->watches))
            server->group[count++] = peer->id;
    }
    if (count > 0)
        foliot_transport_send_many(server->config.transport, server->group, count, delivery, bytes,
                                   length);
}

// Records of ours are right. Without memory `state` lacks some, and newcomers are told less.
static void keep(foliot__session_state *state, uint64_t tick, const uint8_t *bytes, size_t length)
{
    foliot_status status = foliot__session_state_take(state, tick, bytes, length, NULL, NULL);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_MEMORY);
}

// Doubles the ring, its oldest entry first.
static bool grow_delayed(foliot__game *game)
{
    size_t capacity = game->delayed_capacity ? 2 * game->delayed_capacity : 64;
    foliot__delayed *grown = malloc(capacity * sizeof *grown);
    if (!grown)
        return false;
    for (size_t i = 0; i < game->delayed_count; i++)
        grown[i] = game->delayed[(game->delayed_first + i) % game->delayed_capacity];
    free(game->delayed);
    game->delayed = grown;
    game->delayed_first = 0;
    game->delayed_capacity = capacity;
    return true;
}

static void delay(foliot__session *session, bool update, foliot_delivery delivery,
                  const uint8_t *bytes, size_t length)
{
    foliot__game *game = &session->game;
    uint8_t *copy = malloc(length);
    if (!copy || (game->delayed_count == game->delayed_capacity && !grow_delayed(game))) {
        session->server->counters.updates_dropped++;
        free(copy);
        return;
    }
    memcpy(copy, bytes, length);
    size_t at = (game->delayed_first + game->delayed_count++) % game->delayed_capacity;
    game->delayed[at] = (foliot__delayed){session->tick, delivery, update, length, copy};
}

// Now to those who are up to date, later to the others.
static void send_all(foliot__session *session, bool update, foliot_delivery delivery,
                     const uint8_t *bytes, size_t length)
{
    send_group(session, update ? WATCHERS : ALL, false, delivery, bytes, length);
    if (session->delay_ticks > 0)
        delay(session, update, delivery, bytes, length);
}

static void show_delayed(foliot__session *session)
{
    foliot__game *game = &session->game;
    while (game->delayed_count > 0) {
        foliot__delayed *d = &game->delayed[game->delayed_first];
        foliot__message m;
        if (d->tick + session->delay_ticks > session->tick)
            return;
        send_group(session, d->update ? WATCHERS : ALL, true, d->delivery, d->bytes, d->length);
        if (d->update && foliot__message_decode(d->bytes, d->length, &m) == FOLIOT_STATUS_OK)
            keep(&game->shown, m.as.update.tick, m.as.update.bytes, m.as.update.length);
        free(d->bytes);
        game->delayed_first = (game->delayed_first + 1) % game->delayed_capacity;
        game->delayed_count--;
    }
}

// -- messages

typedef struct said_message { // and its bytes behind it
    uint32_t to, length;
    bool reliable;
} said_message;

// A recording is not touched while a step runs.
static void keep_for_recording(foliot__session *session, uint32_t to, const uint8_t *bytes,
                               size_t length, bool reliable)
{
    foliot__game *game = &session->game;
    said_message head = {to, (uint32_t)length, reliable};
    if (!session->recording || (game->commands_max == 0 && !game->rules))
        return;
    foliot__pack_raw(&game->said, &head, sizeof head);
    foliot__pack_raw(&game->said, bytes, length);
}

void foliot__messages_record(foliot__session *session)
{
    foliot__buffer *said = &session->game.said;
    said_message head;
    for (size_t at = 0; !said->failed && at < said->length; at += sizeof head + head.length) {
        memcpy(&head, said->bytes + at, sizeof head);
        foliot_status status =
            foliot_recording_note_message(session->recording, head.to, head.reliable,
                                          said->bytes + at + sizeof head, head.length);
        session->server->counters.messages_unrecorded += status != FOLIOT_STATUS_OK;
    }
    session->server->counters.messages_unrecorded += said->failed;
    said->length = 0;
    said->failed = false;
}

void foliot__session_message(foliot__session *session, uint32_t to, uint32_t from,
                             const uint8_t *bytes, size_t length, bool reliable)
{
    foliot_server *server = session->server;
    uint8_t packet[FOLIOT__CONTROL_BYTES_MAX];
    size_t packet_length;
    foliot_delivery delivery = reliable ? FOLIOT_DELIVERY_RELIABLE : FOLIOT_DELIVERY_UNRELIABLE;
    foliot__message m = {
        .kind = FOLIOT__MESSAGE,
        .as.message = {.tick = session->tick,
                       .from = from == FOLIOT__NO_PLAYER ? FOLIOT__FROM_GAME : FOLIOT__FROM_PLAYER,
                       .player = from,
                       .bytes = bytes,
                       .length = (uint32_t)length}};
    if (foliot__message_encode(&m, packet, sizeof packet, &packet_length) != FOLIOT_STATUS_OK)
        return;
    server->counters.messages++;
    keep_for_recording(session, to, bytes, length, reliable);
    if (to == FOLIOT_TO_ALL) {
        send_all(session, false, delivery, packet, packet_length);
        return;
    }
    int64_t peer = to < session->player_limit ? session->players[to].peer : -1;
    if (peer >= 0 && server->peers[peer].state == FOLIOT__PEER_IN)
        foliot__server_send_packet(server, server->peers[peer].id, delivery, packet, packet_length);
    else
        server->counters.messages_missed++;
}

// -- what changed

static size_t pack_update(foliot__session *session, bool full, const uint8_t *bytes, size_t length,
                          uint8_t packet[FOLIOT__CONTROL_BYTES_MAX])
{
    size_t packet_length = 0;
    foliot__message m = {
        .kind = FOLIOT__UPDATE,
        .as.update = {
            .tick = session->tick, .full = full, .bytes = bytes, .length = (uint32_t)length}};
    foliot_status status =
        foliot__message_encode(&m, packet, FOLIOT__CONTROL_BYTES_MAX, &packet_length);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    return packet_length;
}

static void emit_change(void *user, const uint8_t *bytes, size_t length)
{
    foliot__session *session = user;
    uint8_t packet[FOLIOT__CONTROL_BYTES_MAX];
    keep(&session->game.now, session->tick, bytes, length);
    size_t packet_length = pack_update(session, false, bytes, length, packet);
    session->server->counters.updates++;
    session->server->counters.update_bytes += length;
    send_all(session, true, FOLIOT_DELIVERY_RELIABLE, packet, packet_length);
}

static void emit_end(void *user, const uint8_t *bytes, size_t length)
{
    foliot__session *session = user;
    uint8_t packet[FOLIOT__CONTROL_BYTES_MAX];
    size_t packet_length = pack_update(session, false, bytes, length, packet);
    session->server->counters.updates++;
    session->server->counters.update_bytes += length;
    send_group(session, STEPPERS, false, FOLIOT_DELIVERY_RELIABLE, packet, packet_length);
}

static void write_tag(foliot__session *session, uint32_t slot)
{
    foliot__game *game = &session->game;
    if (slot >= game->now.slots_max)
        return;
    uint32_t tag = foliot_world_get_body_tag(session->world, slot);
    if (tag != foliot__session_state_tag(&game->now, slot))
        foliot__update_tag(&game->writer, slot, tag);
}

static void write_spawned(foliot__session *session, uint32_t slot)
{
    uint32_t prototype = foliot_world_get_body_prototype(session->world, slot);
    if (prototype != FOLIOT_NO_BODY)
        foliot__update_spawned(&session->game.writer, slot,
                               foliot_world_get_body_generation(session->world, slot), prototype);
}

static bool same_var(const foliot_var *a, const foliot_var *b)
{
    return a->type == b->type && a->integer == b->integer &&
           memcmp(&a->number, &b->number, sizeof a->number) == 0 && strcmp(a->text, b->text) == 0;
}

static void write_changed_vars(foliot__session *session)
{
    foliot__game *game = &session->game;
    uint32_t count = foliot_world_get_var_count(session->world);
    for (uint32_t i = 0; i < count; i++) {
        foliot_var var = foliot_world_get_var_at(session->world, i);
        const foliot_var *known = foliot__session_state_var(&game->now, var.key);
        if (!known || !same_var(known, &var))
            foliot__update_var(&game->writer, &var);
    }
}

// From the end on: a part that is sent takes them out of `now`.
static void write_removed_vars(foliot__session *session)
{
    foliot__game *game = &session->game;
    foliot_var var;
    for (uint32_t i = game->now.var_count; i-- > 0;)
        if (!foliot_world_get_var(session->world, game->now.vars[i].key, &var))
            foliot__update_var_removed(&game->writer, game->now.vars[i].key);
}

static void write_gravity(foliot__session *session)
{
    double gravity[3];
    foliot_world_get_gravity(session->world, gravity);
    foliot__update_gravity(&session->game.writer, gravity);
}

static bool gives(const foliot_command_list *commands, foliot_command_kind kind)
{
    for (uint32_t i = 0; i < commands->count; i++)
        if (commands->commands[i].kind == (uint32_t)kind)
            return true;
    return false;
}

static void write_end(foliot__session *session)
{
    const char *next = "", *reason = foliot_world_get_end(session->world, &next);
    foliot__update_end(&session->game.writer, reason ? reason : "", next ? next : "");
}

static void write_event(foliot__session *session, const foliot_event *event)
{
    foliot__update_writer *w = &session->game.writer;
    switch ((foliot_event_kind)event->kind) {
    case FOLIOT_EVENT_COMMAND_SPAWN:
        write_spawned(session, event->a);
        break;
    case FOLIOT_EVENT_DESPAWN:
        foliot__update_despawned(w, event->a);
        break;
    case FOLIOT_EVENT_BREAK:
        foliot__update_joint(w, event->a, true);
        break;
    case FOLIOT_EVENT_JOINT:
        foliot__update_joint(w, event->a, false);
        break;
    case FOLIOT_EVENT_END:
        write_end(session);
        break;
    case FOLIOT_EVENT_SPAWN:
    case FOLIOT_EVENT_FROZEN:
    case FOLIOT_EVENT_REFUSED:
    case FOLIOT_EVENT_COMMAND_REFUSED:
    default:
        break;
    }
}

static int by_slot(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// Slots whose tags this step may have changed, in order, each once.
static void write_tags(foliot__session *session, const foliot_event *events, uint32_t event_count)
{
    const foliot_command_list *commands = &session->game.commands;
    foliot__buffer *scratch = &session->game.packed;
    uint32_t count = 0;
    if (!foliot__buffer_reserve(scratch, (event_count + commands->count + 1) * sizeof(uint32_t)))
        return;
    uint32_t *slots = (uint32_t *)(void *)scratch->bytes;
    for (uint32_t i = 0; i < commands->count; i++)
        if (commands->commands[i].kind == FOLIOT_COMMAND_set_body)
            slots[count++] = (uint32_t)commands->commands[i].as.set_body.body.value;
    for (uint32_t i = 0; i < event_count; i++)
        if (events[i].kind == FOLIOT_EVENT_SPAWN || events[i].kind == FOLIOT_EVENT_COMMAND_SPAWN ||
            events[i].kind == FOLIOT_EVENT_DESPAWN)
            slots[count++] = events[i].a;
    qsort(slots, count, sizeof *slots, by_slot);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || slots[i] != slots[i - 1])
            write_tag(session, slots[i]);
}

// All that the last step changed.
static void write_step(foliot__session *session)
{
    foliot__game *game = &session->game;
    uint32_t count;
    const foliot_event *events = foliot_world_get_events(session->world, &count);
    if (count == 0 && game->commands.count == 0)
        return;
    if (gives(&game->commands, FOLIOT_COMMAND_gravity))
        write_gravity(session);
    for (uint32_t i = 0; i < count; i++)
        write_event(session, &events[i]);
    write_tags(session, events, count);
    if (gives(&game->commands, FOLIOT_COMMAND_var))
        write_changed_vars(session);
    foliot__update_finish(&game->writer, false); // `now` has them
    if (gives(&game->commands, FOLIOT_COMMAND_var))
        write_removed_vars(session);
    foliot__update_finish(&game->writer, false);
}

void foliot__updates_step(foliot__session *session)
{
    foliot__game *game = &session->game;
    foliot__update_begin(&game->writer, emit_change, session);
    if (game->updates)
        write_step(session);
    foliot__update_finish(&game->writer, false);
    if (session->world && foliot_world_get_end(session->world, NULL)) {
        foliot__update_begin(&game->writer, emit_end, session);
        write_end(session); // peers that step are dismissed before they come so far
        foliot__update_finish(&game->writer, false);
    }
    show_delayed(session);
}

// -- to newcomers

typedef struct greeting {
    foliot__session *session;
    const foliot__peer *peer;
    bool begun;
} greeting;

static void emit_full(void *user, const uint8_t *bytes, size_t length)
{
    greeting *g = user;
    uint8_t packet[FOLIOT__CONTROL_BYTES_MAX];
    size_t packet_length = pack_update(g->session, !g->begun, bytes, length, packet);
    g->begun = true;
    foliot__server_send_packet(g->session->server, g->peer->id, FOLIOT_DELIVERY_RELIABLE, packet,
                               packet_length);
}

void foliot__updates_greet(foliot__session *session, const foliot__peer *peer)
{
    foliot__game *game = &session->game;
    greeting g = {.session = session, .peer = peer};
    foliot__update_begin(&game->writer, emit_full, &g);
    if (peer->watches)
        foliot__update_state(&game->writer, is_behind(session, peer) ? &game->shown : &game->now);
    foliot__update_finish(&game->writer, !g.begun);
}

// -- a session's beginning and end

static void emit_nothing(void *user, const uint8_t *bytes, size_t length)
{
    foliot__session *session = user;
    foliot__game *game = &session->game;
    keep(&game->now, session->tick, bytes, length);
    keep(&game->shown, session->tick, bytes, length);
}

foliot_status foliot__updates_begin(foliot__session *session)
{
    foliot__update_writer *w = &session->game.writer;
    const foliot_world *world = session->world;
    double gravity[3];
    foliot__update_begin(w, emit_nothing, session);
    for (uint32_t i = 0; i < foliot_world_get_var_count(world); i++) {
        foliot_var var = foliot_world_get_var_at(world, i);
        foliot__update_var(w, &var);
    }
    uint32_t count = foliot_world_get_body_count(world);
    for (uint32_t slot = 0; slot < count; slot++)
        if (foliot_world_get_body_tag(world, slot) != 0)
            foliot__update_tag(w, slot, foliot_world_get_body_tag(world, slot));
    for (uint32_t slot = 0; slot < count; slot++)
        write_spawned(session, slot);
    foliot_world_get_gravity(world, gravity);
    if (session->game.commands_max > 0)
        foliot__update_gravity(w, gravity);
    foliot__update_finish(w, false);
    return FOLIOT_STATUS_OK;
}

void foliot__updates_end(foliot__session *session)
{
    foliot__game *game = &session->game;
    for (size_t i = 0; i < game->delayed_count; i++)
        free(game->delayed[(game->delayed_first + i) % game->delayed_capacity].bytes);
    free(game->delayed);
    foliot__session_state_free(&game->now);
    foliot__session_state_free(&game->shown);
}
