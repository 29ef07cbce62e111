// SPDX-License-Identifier: MIT
// orders.c: orders of players, from their arrival until they are closed with a tick. An order is
// accepted once, in order, whichever connection of its player brings it; it is acknowledged when it
// will outlive this server. Nothing here touches the world.
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "game.h"
#include "peer.h"
#include "player.h"
#include "session.h"

// -- receiving

static bool hold_order(foliot__game *game, uint32_t player, foliot__order_book *book,
                       const foliot__order_message *message)
{
    if (book->waiting == FOLIOT__ORDERS_HELD)
        return false;
    if (!foliot__array_grow(&game->waiting, game->waiting_count, &game->waiting_capacity, 16,
                            sizeof *game->waiting))
        return false;
    foliot_order *order = &game->waiting[game->waiting_count].order;
    game->waiting[game->waiting_count++].shown = message->shown;
    *order = (foliot_order){.player = player,
                            .sequence = message->sequence, // its own one is given at the close
                            .kind = (uint8_t)message->kind,
                            .length = (uint8_t)message->length};
    memcpy(order->bytes, message->bytes, message->length);
    book->waiting++;
    return true;
}

void foliot__orders_receive(foliot__session *session, foliot__peer *peer,
                            const foliot__order_message *message)
{
    foliot_server *server = session->server;
    foliot__player_slot *player =
        peer->player == FOLIOT_NO_PLAYER ? NULL : &session->players[peer->player];
    if (!player) {
        server->counters.orders_refused++;
        foliot__peer_offended(server, peer);
        return;
    }
    foliot__order_book *book = &player->orders;
    if (message->sequence < book->next) {
        server->counters.orders_repeated++;
        return;
    }
    // After a server's death the next one may be later than expected: some were lost.
    if (book->gap && message->sequence - book->next <= FOLIOT__GAP_MAX)
        book->next = message->sequence;
    if (message->sequence != book->next) {
        server->counters.orders_refused++; // the way is reliable and in order: there are no holes
        foliot__peer_offended(server, peer);
        return;
    }
    book->gap = false;
    book->next++;
    if (foliot__bucket_spend(&book->bucket, FOLIOT__ORDERS_BURST, FOLIOT__ORDERS_EVERY_NS,
                             server->now_ns) &&
        hold_order(&session->game, peer->player, book, message))
        server->counters.orders++;
    else
        server->counters.orders_refused++;
}

// -- players

void foliot__orders_enter(foliot__order_book *book, uint64_t now_ns)
{
    *book = (foliot__order_book){.next = 2, // joining is the first
                                 .closed = 1,
                                 .safe = 1,
                                 .acknowledged = 1,
                                 .bucket = {FOLIOT_ORDERS_PER_SECOND_MAX, now_ns}};
}

void foliot__orders_keep(foliot__order_book *book, uint32_t sequence, uint32_t aims,
                         uint64_t now_ns)
{
    uint32_t here = sequence > aims ? sequence - aims : 0; // the server gave those by itself
    *book = (foliot__order_book){.sequence = sequence,
                                 .next = here + 1,
                                 .closed = here,
                                 .safe = here,
                                 .acknowledged = here,
                                 .bucket = {FOLIOT__ORDERS_BURST, now_ns},
                                 .gap = true};
}

// -- closing

static void close_order(foliot__session *session, uint32_t player, foliot_order_kind kind,
                        const void *bytes, size_t length)
{
    foliot__game *game = &session->game;
    if (!foliot__array_grow(&game->orders, game->order_count, &game->order_capacity, 16,
                            sizeof *game->orders)) {
        session->server->counters.orders_abandoned++;
        return;
    }
    foliot_order *order = &game->orders[game->order_count++];
    *order = (foliot_order){.player = player,
                            .sequence = ++session->players[player].orders.sequence,
                            .kind = (uint8_t)kind,
                            .length = (uint8_t)length};
    memcpy(order->bytes, bytes, length);
}

bool foliot__orders_reserve(foliot__session *session, uint32_t count)
{
    foliot__game *game = &session->game;
    const uint32_t most = game->order_count + count;
    return foliot__array_reserve(&game->orders, &game->order_capacity, most, most,
                                 sizeof *game->orders);
}

// -- aims of players

// The newest tick that the peer has acknowledged. False: none.
static bool find_acknowledged(const foliot__session *session, const foliot__peer *peer,
                              uint64_t *tick)
{
    bool watches =
        foliot__peer_watches(peer) &&
        peer->snapshots.baseline == FOLIOT__BASELINE_ACKNOWLEDGED; // while it changes, it does both
    *tick = foliot__peer_steps(peer) ? peer->lockstep.acked : 0;
    // A client that predicts shows guesses of future ticks. It aims at its guess, but the hit is
    // judged by the world's actual state.
    if (foliot__peer_steps(peer) && peer->lockstep.early_until_ns > session->server->now_ns)
        *tick += FOLIOT__AIM_AHEAD_TICKS;
    if (watches && peer->snapshots.baseline_tick > *tick)
        *tick = peer->snapshots.baseline_tick;
    return peer->state == FOLIOT__PEER_IN && peer->session == session &&
           (foliot__peer_steps(peer) || watches);
}

// Bounds `shown`, which a client reports: it is never in the future, nor a tick that the client has
// neither acknowledged nor can have predicted, nor older than a slow connection explains. The step
// of the current tick produces tick + 1.
static uint32_t bounded_aim(const foliot__session *session, uint64_t shown, uint64_t acknowledged)
{
    uint64_t now = (session->tick + 1) * FOLIOT_AIM_PARTS, latest = now;
    uint64_t back =
        (uint64_t)(FOLIOT__AIM_BACK_SECONDS * session->clock.pace_hz * FOLIOT_AIM_PARTS);
    back = back < UINT16_MAX ? back : UINT16_MAX;
    if (acknowledged <= session->tick)
        latest = acknowledged * FOLIOT_AIM_PARTS;
    uint64_t oldest = now > back ? now - back : 0, at = shown < latest ? shown : latest;
    at = at > oldest ? at : oldest;
    session->server->counters.aims_clamped += at != shown;
    return (uint32_t)(now - at);
}

void foliot__orders_close_aimed(foliot__session *session, uint32_t p, uint64_t shown, bool steady)
{
    foliot__player_slot *player = &session->players[p];
    uint64_t acknowledged;
    if (!session->game.looks_back || player->state != FOLIOT__PLAYER_IN_WORLD || player->peer < 0 ||
        !find_acknowledged(session, &session->server->peers[player->peer], &acknowledged))
        return;
    uint32_t aim = bounded_aim(session, shown, acknowledged);
    uint32_t off = aim > player->aim ? aim - player->aim : player->aim - aim;
    if (off == 0 || (steady && off < FOLIOT__AIM_STEADY))
        return;
    const uint8_t bytes[FOLIOT_ORDER_AIMED_BYTES] = {(uint8_t)aim, (uint8_t)(aim >> 8)};
    close_order(session, p, FOLIOT_ORDER_AIMED, bytes, sizeof bytes);
    session->server->counters.aims++;
    player->aim = aim;
}

// -- closing the rest

void foliot__orders_close_joined(foliot__session *session, uint32_t p)
{
    const char *name = session->players[p].name;
    session->players[p].aim = UINT32_MAX;
    close_order(session, p, FOLIOT_ORDER_JOINED, name, strlen(name));
}

void foliot__orders_close_left(foliot__session *session, uint32_t p)
{
    const char *reason = session->players[p].leave_reason;
    close_order(session, p, FOLIOT_ORDER_LEFT, reason, strlen(reason));
}

void foliot__orders_close(foliot__session *session, uint32_t p, bool all)
{
    foliot__game *game = &session->game;
    foliot__order_book *book = &session->players[p].orders;
    uint32_t most = all ? FOLIOT__ORDERS_HELD : FOLIOT__ORDERS_A_TICK, kept = 0, closed = 0;
    uint64_t aims = session->server->counters.aims;
    if (book->waiting == 0)
        return;
    for (uint32_t i = 0; i < game->waiting_count; i++) {
        const foliot__waiting_order *waiting = &game->waiting[i];
        const foliot_order *order = &waiting->order;
        if (order->player != p || closed == most) {
            if (kept != i)
                game->waiting[kept] = *waiting;
            kept++;
            continue;
        }
        book->closed = order->sequence;
        if (waiting->shown && session->server->counters.aims - aims < FOLIOT__AIMS_A_TICK)
            foliot__orders_close_aimed(session, p, waiting->shown, false);
        close_order(session, p, (foliot_order_kind)order->kind, order->bytes, order->length);
        book->waiting--;
        closed++;
    }
    game->waiting_count = kept;
}

void foliot__orders_forget(foliot__session *session, uint32_t p)
{
    foliot__game *game = &session->game;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < game->waiting_count; i++)
        if (game->waiting[i].order.player != p)
            game->waiting[kept++] = game->waiting[i];
    session->server->counters.orders_abandoned += game->waiting_count - kept;
    game->waiting_count = kept;
    session->players[p].orders.waiting = 0;
}

// -- acknowledging

void foliot__orders_acknowledge(foliot__session *session)
{
    foliot_server *server = session->server;
    for (uint32_t p = 0; p < session->player_limit; p++) {
        foliot__player_slot *player = &session->players[p];
        foliot__order_book *book = &player->orders;
        if (player->state == FOLIOT__PLAYER_NONE ||
            (book->closed == book->safe && book->safe == book->acknowledged))
            continue;
        foliot_recording_state state = {.written_tick = UINT64_MAX}; // no recording: safe at once
        if (book->saving_tick && session->recording)
            state = foliot_recording_get_state(session->recording);
        if (book->saving_tick &&
            (state.stopped != FOLIOT_STATUS_OK || state.written_tick >= book->saving_tick)) {
            book->safe = book->saving;
            book->saving_tick = 0;
        }
        if (!book->saving_tick && book->closed != book->safe) {
            book->saving = book->closed;
            book->saving_tick = session->tick; // the state that its tick's step gave
        }
        if (player->peer < 0 || book->safe == book->acknowledged ||
            server->now_ns - book->acknowledged_ns < FOLIOT__ORDER_ACKNOWLEDGE_NS ||
            server->peers[player->peer].state != FOLIOT__PEER_IN)
            continue;
        foliot__message m = {.kind = FOLIOT__ORDER_ACKNOWLEDGE,
                             .as.order_acknowledge.sequence = book->safe};
        foliot__server_send(server, server->peers[player->peer].id, &m);
        book->acknowledged = book->safe;
        book->acknowledged_ns = server->now_ns;
    }
}
