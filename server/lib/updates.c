// SPDX-License-Identifier: MIT
// updates.c: what peers are sent in addition to poses: messages, and for watchers the changes by
// commands and steps. Each is encoded once for all peers. Delayed spectators get everything with
// its tick. In a session with interest, bodies and joints go to nearby watchers, from fanout.c.
// Every update goes out through foliot__update_emit. Invariant: `now` is the state of a peer that
// has read everything so far.
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/transport.h"
#include "game.h"
#include "peer.h"
#include "session.h"
#include "wire/session_state.h"

// -- to peers

static bool is_behind(const foliot__session *session, const foliot__peer *peer)
{
    return session->delay_ticks > 0 && peer->player == FOLIOT_NO_PLAYER;
}

typedef enum audience {
    ALL,
    WATCHERS, // steppers see it in their own world
    STEPPERS,
} audience;

// Sends to the session's up-to-date peers, or to its delayed ones.
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

// Our own records are valid. Without memory `state` lacks some, and newcomers get fewer.
static void keep(foliot__session_state *state, uint64_t tick, const uint8_t *bytes, size_t length)
{
    foliot_status status = foliot__session_state_apply(state, tick, bytes, length, NULL, NULL);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_MEMORY);
}

// -- sessions with interest

typedef struct sorting {
    foliot__session *session;
    const foliot__session_state *state; // has the records already
    bool behind;
    foliot__update_writer common; // for all watchers
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

// Applies records to `state`, sends updates to all watchers, and notes bodies and joints as news.
static void sort_records(foliot__session *session, foliot__session_state *state, bool behind,
                         uint64_t tick, const uint8_t *bytes, size_t length)
{
    sorting s = {.session = session, .state = state, .behind = behind};
    foliot__update_target target = {
        .session = session, .route = FOLIOT__UPDATE_COMMON, .tick = tick, .behind = behind};
    foliot__update_begin(&s.common, state->slots_max, foliot__update_emit, &target);
    foliot_status status = foliot__session_state_apply(state, tick, bytes, length, sort_record, &s);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_MEMORY);
    foliot__update_finish(&s.common, false);
}

// An update goes to the up-to-date watchers, or to the delayed ones. `packet` is the whole message.
static void show_update(foliot__session *session, bool behind, uint64_t tick, const uint8_t *bytes,
                        size_t length, const uint8_t *packet, size_t packet_length)
{
    foliot__session_state *state = behind ? &session->game.shown : &session->game.now;
    if (session->interest) {
        sort_records(session, state, behind, tick, bytes, length);
        return;
    }
    keep(state, tick, bytes, length);
    send_group(session, WATCHERS, behind, FOLIOT_DELIVERY_RELIABLE, packet, packet_length);
}

// -- the queue of delayed spectators

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

static void show_delayed(foliot__session *session)
{
    foliot__game *game = &session->game;
    while (game->delayed_count > 0) {
        foliot__delayed *d = &game->delayed[game->delayed_first];
        foliot__message m;
        if (d->tick + session->delay_ticks > session->tick)
            return;
        if (!d->update)
            send_group(session, ALL, true, d->delivery, d->bytes, d->length);
        else if (foliot__message_decode(d->bytes, d->length, &m) == FOLIOT_STATUS_OK)
            show_update(session, true, m.as.update.tick, m.as.update.bytes, m.as.update.length,
                        d->bytes, d->length);
        free(d->bytes);
        game->delayed_bytes -= d->length;
        game->delayed_first = (game->delayed_first + 1) % game->delayed_capacity;
        game->delayed_count--;
    }
}

// -- messages

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
                       .from = from == FOLIOT_NO_PLAYER ? FOLIOT__FROM_GAME : FOLIOT__FROM_PLAYER,
                       .player = from,
                       .bytes = bytes,
                       .length = (uint32_t)length}};
    if (foliot__message_encode(&m, packet, sizeof packet, &packet_length) != FOLIOT_STATUS_OK)
        return;
    server->counters.messages++;
    foliot__record_message(session, to, bytes, length, reliable);
    if (to == FOLIOT_TO_ALL) {
        send_group(session, ALL, false, delivery, packet, packet_length);
        if (session->delay_ticks > 0)
            delay(session, false, delivery, packet, packet_length);
        return;
    }
    int64_t peer = to < session->player_limit ? session->players[to].peer : -1;
    if (peer >= 0 && server->peers[peer].state == FOLIOT__PEER_IN)
        foliot__server_send_packet(server, server->peers[peer].id, delivery, packet, packet_length);
    else
        server->counters.messages_missed++;
}

// -- changes

void foliot__update_emit(void *user, const uint8_t *bytes, size_t length)
{
    foliot__update_target *t = user;
    foliot__session *session = t->session;
    foliot_server *server = session->server;
    uint8_t packet[FOLIOT__CONTROL_BYTES_MAX];
    size_t packet_length = 0;
    foliot__message m = {
        .kind = FOLIOT__UPDATE,
        .as.update = {.tick = t->tick,
                      .full = t->route == FOLIOT__UPDATE_GREETING && t->messages == 0,
                      .bytes = bytes,
                      .length = (uint32_t)length}};
    foliot_status status = foliot__message_encode(&m, packet, sizeof packet, &packet_length);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    t->messages++;
    t->bytes += length;
    switch (t->route) {
    case FOLIOT__UPDATE_NONE:
        keep(&session->game.now, t->tick, bytes, length);
        keep(&session->game.shown, t->tick, bytes, length);
        return;
    case FOLIOT__UPDATE_COMMON:
        send_group(session, WATCHERS, t->behind, FOLIOT_DELIVERY_RELIABLE, packet, packet_length);
        return;
    case FOLIOT__UPDATE_GREETING:
        foliot__server_send_packet(server, t->peer->id, FOLIOT_DELIVERY_RELIABLE, packet,
                                   packet_length);
        return;
    case FOLIOT__UPDATE_CHANGE:
        show_update(session, false, t->tick, bytes, length, packet, packet_length);
        if (session->delay_ticks > 0)
            delay(session, true, FOLIOT_DELIVERY_RELIABLE, packet, packet_length);
        break;
    case FOLIOT__UPDATE_END:
        send_group(session, STEPPERS, false, FOLIOT_DELIVERY_RELIABLE, packet, packet_length);
        break;
    case FOLIOT__UPDATE_NEAR:
        foliot__server_send_packet(server, t->peer->id, FOLIOT_DELIVERY_RELIABLE, packet,
                                   packet_length);
        foliot__interest_charge(
            t->peer->interest,
            packet_length + foliot__transport_overhead(server->config.transport, t->peer->id));
        break;
    }
    server->counters.updates++;
    server->counters.update_bytes += length;
}

void foliot__updates_step(foliot__session *session)
{
    foliot_server *server = session->server;
    foliot__game *game = &session->game;
    // Unacknowledged messages stay in memory, and rules may send megabytes a second. A newcomer may
    // also lack the scene, a complete snapshot and a full update.
    const foliot_snapshot_pieces *complete = &session->snapshots.complete;
    bool has_complete = session->snapshots.complete_tick != FOLIOT__NO_TICK;
    size_t lacks = session->setup.length + game->greeting_bytes +
                   (has_complete ? complete->offsets[complete->count] : 0),
           most = FOLIOT__BACKLOG_MAX + lacks / FOLIOT__BACKLOG_PIECE_BYTES;
    for (foliot__peer *peer = session->peers; peer; peer = peer->next)
        if (peer->state == FOLIOT__PEER_IN &&
            foliot_transport_get_backlog(server->config.transport, peer->id) > most)
            foliot__peer_drop(server, peer, FOLIOT__REFUSE_SLOW,
                              "it does not acknowledge what the server sends");
    foliot__update_target to = {
        .session = session, .route = FOLIOT__UPDATE_CHANGE, .tick = session->tick};
    foliot__update_begin(&game->writer, game->now.slots_max, foliot__update_emit, &to);
    if (game->updates)
        foliot__write_step(&game->writer, &game->now, session->world, &game->commands,
                           &game->packed);
    foliot__update_finish(&game->writer, false);
    if (session->world && foliot_world_get_end(session->world, NULL)) {
        // Steppers are dismissed before their own worlds reach the end.
        to.route = FOLIOT__UPDATE_END;
        foliot__update_begin(&game->writer, game->now.slots_max, foliot__update_emit, &to);
        foliot__write_end(&game->writer, session->world);
        foliot__update_finish(&game->writer, false);
    }
    show_delayed(session);
}

void foliot__updates_greet(foliot__session *session, foliot__peer *peer)
{
    foliot__game *game = &session->game;
    foliot__update_target to = {
        .session = session, .route = FOLIOT__UPDATE_GREETING, .tick = session->tick, .peer = peer};
    foliot__update_begin(&game->writer, game->now.slots_max, foliot__update_emit, &to);
    const foliot__session_state *known = is_behind(session, peer) ? &game->shown : &game->now;
    if (session->interest)
        foliot__update_common(&game->writer, known); // the rest as it comes near
    else if (foliot__peer_watches(peer))
        foliot__update_state(&game->writer, known);
    foliot__update_finish(&game->writer, to.messages == 0);
    game->greeting_bytes = to.bytes;
}

// -- a session's beginning and end

foliot_status foliot__updates_begin(foliot__session *session)
{
    foliot__game *game = &session->game;
    foliot__update_target to = {
        .session = session, .route = FOLIOT__UPDATE_NONE, .tick = session->tick};
    foliot__update_begin(&game->writer, game->now.slots_max, foliot__update_emit, &to);
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
