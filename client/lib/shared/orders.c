// SPDX-License-Identifier: MIT
// orders.c: orders of this player, from the call until the server has them for good. They travel
// reliably and in order; after a reconnection those that the server lacks go out again with the
// same sequences, so that none is lost and none acts twice.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const foliot_order *order_at(const foliot__client_orders *o, uint32_t index)
{
    return &o->ring[(o->first + index) % FOLIOT__CLIENT_ORDERS_HELD];
}

static void send_order(foliot_client *c, uint32_t index)
{
    const foliot_order *order = order_at(&c->orders, index);
    uint32_t place = (uint32_t)(order - c->orders.ring);
    foliot__message m = {.kind = FOLIOT__ORDER,
                         .as.order = {.sequence = order->sequence,
                                      .kind = order->kind,
                                      .bytes = order->bytes,
                                      .length = order->length,
                                      .shown = c->orders.shown[place]}};
    foliot__connection_send(c, &m);
}

static bool spend_token(foliot__client_orders *o, uint64_t now_ns)
{
    o->tokens += (double)(now_ns - o->tokens_ns) * 1e-9 * FOLIOT_ORDERS_PER_SECOND_MAX;
    o->tokens_ns = now_ns;
    if (o->tokens > FOLIOT_ORDERS_PER_SECOND_MAX)
        o->tokens = FOLIOT_ORDERS_PER_SECOND_MAX;
    if (o->tokens < 1)
        return false;
    o->tokens -= 1;
    return true;
}

static bool is_utf8(const void *bytes, size_t length)
{
    char text[FOLIOT_ORDER_BYTES_MAX + 1] = {0};
    uint32_t character;
    memcpy(text, bytes, length);
    for (size_t at = 0, step; at < length; at += step)
        if ((step = foliot__utf8_decode(text + at, &character)) == 0)
            return false;
    return true;
}

foliot_status foliot_client_order(foliot_client *client, foliot_order_kind kind, const void *bytes,
                                  size_t length, uint32_t *sequence)
{
    foliot__client_orders *o = &client->orders;
    if (length > FOLIOT_ORDER_BYTES_MAX || client->config.spectates ||
        (kind != FOLIOT_ORDER_GAME && kind != FOLIOT_ORDER_CHAT) ||
        (kind == FOLIOT_ORDER_CHAT && !is_utf8(bytes, length)))
        return FOLIOT_STATUS_INVALID;
    if (!foliot__client_welcomed(client) || foliot__connection_is_over(client) ||
        client->connection.leaving)
        return FOLIOT_STATUS_AGAIN;
    if (!o->ring)
        o->ring = calloc(FOLIOT__CLIENT_ORDERS_HELD, sizeof *o->ring);
    if (!o->ring)
        return FOLIOT_STATUS_MEMORY;
    if (o->count == FOLIOT__CLIENT_ORDERS_HELD || !spend_token(o, client->now_ns))
        return FOLIOT_STATUS_FULL;
    uint32_t place = (o->first + o->count++) % FOLIOT__CLIENT_ORDERS_HELD;
    foliot_order *order = &o->ring[place];
    o->shown[place] = foliot__client_shown(client);
    *order = (foliot_order){.player = client->welcome.player,
                            .sequence = o->next++,
                            .kind = (uint8_t)kind,
                            .length = (uint8_t)length};
    if (length)
        memcpy(order->bytes, bytes, length);
    client->statistics.orders_sent++;
    client->statistics.orders_waiting = o->count;
    if (client->connection.state == FOLIOT_CLIENT_PLAYING && foliot__client_welcomed_here(client))
        send_order(client, o->count - 1);
    if (sequence)
        *sequence = order->sequence;
    return FOLIOT_STATUS_OK;
}

// A server may acknowledge anything: what was never given is not.
void foliot__orders_acknowledged(foliot_client *c, uint32_t sequence)
{
    foliot__client_orders *o = &c->orders;
    while (o->count > 0 && order_at(o, 0)->sequence <= sequence) {
        o->first = (o->first + 1) % FOLIOT__CLIENT_ORDERS_HELD;
        o->count--;
    }
    c->statistics.orders_waiting = o->count;
}

void foliot__orders_resume(foliot_client *c, uint32_t here, bool same_player)
{
    foliot__client_orders *o = &c->orders;
    if (!same_player) { // what was for another player is for none
        o->count = o->first = 0;
        o->next = here + 1;
        o->tokens = FOLIOT_ORDERS_PER_SECOND_MAX;
        o->tokens_ns = c->now_ns;
        c->statistics.orders_waiting = 0;
        return;
    }
    foliot__orders_acknowledged(c, here);
    for (uint32_t i = 0; i < o->count; i++)
        send_order(c, i);
}
