// SPDX-License-Identifier: MIT
// updates.c: what peers are told beside poses: messages, and in sessions of snapshots what commands
// and steps changed. Each is encoded once for all peers. Spectators who are behind get everything
// with its tick. Where the session has interest, bodies and joints are told by fanout.c, to those
// who are near. Invariant: `now` is what a peer knows that has read everything so far.
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "game.h"
#include "peer.h"
#include "session.h"
#include "wire/step_changes.h"

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
    for (const foliot__peer *peer = session->peers; peer; peer = peer->next)
        if (peer->state == FOLIOT__PEER_IN && is_behind(session, peer) == behind &&
            (to != WATCHERS || foliot__peer_watches(peer)) &&
            (to != STEPPERS || !foliot__peer_watches(peer)))
            server->group[count++] = peer->id;
    if (count > 0)
        foliot_transport_send_many(server->config.transport, server->group, count, delivery, bytes,
                                   length);
}

// Records of ours are right. Without memory `state` lacks some, and newcomers are told less.
static void keep(foliot__session_state *state, uint64_t tick, const uint8_t *bytes, size_t length)
{
    foliot_status status = foliot__session_state_apply(state, tick, bytes, length, NULL, NULL);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_MEMORY);
}

// -- of sessions with interest

typedef struct sorting {
    foliot__session *session;
    const foliot__session_state *state; // that takes the records
    bool behind;
    foliot__update_writer common; // what is told to all
} sorting;

static void sort_record(void *user, const foliot__record *record)
{
    sorting *s = user;
    foliot__interest_map *map = s->session->interest;
    switch (record->kind) {
    case FOLIOT__RECORD_VAR:
        if (record->removed)
            foliot__update_var_removed(&s->common, record->var->key);
        else
            foliot__update_var(&s->common, record->var);
        break;
    case FOLIOT__RECORD_GRAVITY:
        foliot__update_gravity(&s->common, s->state->gravity);
        break;
    case FOLIOT__RECORD_END:
        foliot__update_end(&s->common, s->state->reason, s->state->next);
        break;
    case FOLIOT__RECORD_JOINT:
    case FOLIOT__RECORD_JOINT_BROKEN:
        foliot__interest_note_joint(map, s->behind, record->slot, record->joint);
        break;
    case FOLIOT__RECORD_TAGS:
    case FOLIOT__RECORD_SPAWNED:
    case FOLIOT__RECORD_DESPAWNED:
    default:
        foliot__interest_note_body(map, s->behind, record->slot,
                                   record->kind == FOLIOT__RECORD_TAGS);
        break;
    }
}

static size_t pack_update(uint64_t tick, bool full, const uint8_t *bytes, size_t length,
                          uint8_t packet[FOLIOT__CONTROL_BYTES_MAX])
{
    size_t packet_length = 0;
    foliot__message m = {
        .kind = FOLIOT__UPDATE,
        .as.update = {.tick = tick, .full = full, .bytes = bytes, .length = (uint32_t)length}};
    foliot_status status =
        foliot__message_encode(&m, packet, FOLIOT__CONTROL_BYTES_MAX, &packet_length);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    return packet_length;
}

typedef struct common_update {
    foliot__session *session;
    uint64_t tick;
    bool behind;
} common_update;

static void emit_common(void *user, const uint8_t *bytes, size_t length)
{
    const common_update *u = user;
    uint8_t packet[FOLIOT__CONTROL_BYTES_MAX];
    size_t packet_length = pack_update(u->tick, false, bytes, length, packet);
    send_group(u->session, WATCHERS, u->behind, FOLIOT_DELIVERY_RELIABLE, packet, packet_length);
}

// Takes records into `state`, tells the group what is told to all, and notes the rest.
static void sort_records(foliot__session *session, foliot__session_state *state, bool behind,
                         uint64_t tick, const uint8_t *bytes, size_t length)
{
    sorting s = {.session = session, .state = state, .behind = behind};
    common_update u = {session, tick, behind};
    foliot__update_begin(&s.common, state->slots_max, emit_common, &u);
    foliot_status status = foliot__session_state_apply(state, tick, bytes, length, sort_record, &s);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_MEMORY);
    foliot__update_finish(&s.common, false);
}

// -- what waits for spectators who are behind

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
    bool full = !update && game->delayed_bytes + length > FOLIOT__DELAYED_BYTES_MAX;
    uint8_t *copy = full ? NULL : malloc(length);
    if (!copy || (game->delayed_count == game->delayed_capacity && !grow_delayed(game))) {
        session->server->counters.updates_dropped++;
        free(copy);
        return;
    }
    memcpy(copy, bytes, length);
    game->delayed_bytes += length;
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
        bool sorts = d->update && session->interest;
        if (!sorts)
            send_group(session, d->update ? WATCHERS : ALL, true, d->delivery, d->bytes, d->length);
        if (d->update && foliot__message_decode(d->bytes, d->length, &m) == FOLIOT_STATUS_OK) {
            if (sorts)
                sort_records(session, &game->shown, true, m.as.update.tick, m.as.update.bytes,
                             m.as.update.length);
            else
                keep(&game->shown, m.as.update.tick, m.as.update.bytes, m.as.update.length);
        }
        free(d->bytes);
        game->delayed_bytes -= d->length;
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

static void emit_change(void *user, const uint8_t *bytes, size_t length)
{
    foliot__session *session = user;
    uint8_t packet[FOLIOT__CONTROL_BYTES_MAX];
    size_t packet_length = pack_update(session->tick, false, bytes, length, packet);
    session->server->counters.updates++;
    session->server->counters.update_bytes += length;
    if (session->interest) {
        sort_records(session, &session->game.now, false, session->tick, bytes, length);
        if (session->delay_ticks > 0)
            delay(session, true, FOLIOT_DELIVERY_RELIABLE, packet, packet_length);
        return;
    }
    keep(&session->game.now, session->tick, bytes, length);
    send_all(session, true, FOLIOT_DELIVERY_RELIABLE, packet, packet_length);
}

static void emit_end(void *user, const uint8_t *bytes, size_t length)
{
    foliot__session *session = user;
    uint8_t packet[FOLIOT__CONTROL_BYTES_MAX];
    size_t packet_length = pack_update(session->tick, false, bytes, length, packet);
    session->server->counters.updates++;
    session->server->counters.update_bytes += length;
    send_group(session, STEPPERS, false, FOLIOT_DELIVERY_RELIABLE, packet, packet_length);
}

// What a peer does not acknowledge stays in memory, and rules may send megabytes a second. A
// newcomer may lack the scene, a complete snapshot and a full update besides.
static void drop_slow(foliot__session *session)
{
    foliot_server *server = session->server;
    const foliot_snapshot_pieces *complete = &session->snapshots.complete;
    size_t bytes = session->setup.length + session->game.greeting_bytes +
                   (session->snapshots.complete_tick != FOLIOT__NO_TICK
                        ? complete->offsets[complete->count]
                        : 0),
           most = FOLIOT__BACKLOG_MAX + bytes / FOLIOT__BACKLOG_PIECE_BYTES;
    for (foliot__peer *peer = session->peers; peer; peer = peer->next)
        if (peer->state == FOLIOT__PEER_IN &&
            foliot_transport_get_backlog(server->config.transport, peer->id) > most)
            foliot__peer_drop(server, peer, FOLIOT__REFUSE_SLOW,
                              "it does not acknowledge what it is sent");
}

void foliot__updates_step(foliot__session *session)
{
    foliot__game *game = &session->game;
    drop_slow(session);
    foliot__update_begin(&game->writer, game->now.slots_max, emit_change, session);
    if (game->updates)
        foliot__write_step(&game->writer, &game->now, session->world, &game->commands,
                           &game->packed);
    foliot__update_finish(&game->writer, false);
    if (session->world && foliot_world_get_end(session->world, NULL)) {
        foliot__update_begin(&game->writer, game->now.slots_max, emit_end, session);
        foliot__write_end(&game->writer,
                          session->world); // peers that step are dismissed before they come so far
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
    size_t packet_length = pack_update(g->session->tick, !g->begun, bytes, length, packet);
    g->session->game.greeting_bytes = (g->begun ? g->session->game.greeting_bytes : 0) + length;
    g->begun = true;
    foliot__server_send_packet(g->session->server, g->peer->id, FOLIOT_DELIVERY_RELIABLE, packet,
                               packet_length);
}

void foliot__updates_greet(foliot__session *session, const foliot__peer *peer)
{
    foliot__game *game = &session->game;
    greeting g = {.session = session, .peer = peer};
    foliot__update_begin(&game->writer, game->now.slots_max, emit_full, &g);
    const foliot__session_state *known = is_behind(session, peer) ? &game->shown : &game->now;
    if (session->interest)
        foliot__update_common(&game->writer, known); // the rest as it comes near
    else if (foliot__peer_watches(peer))
        foliot__update_state(&game->writer, known);
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
    foliot__game *game = &session->game;
    foliot__update_begin(&game->writer, game->now.slots_max, emit_nothing, session);
    foliot__write_world(&game->writer, session->world, session->scene);
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
