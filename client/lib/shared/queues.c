// SPDX-License-Identifier: MIT
// queues.c: the two queues between a client and its host, both bounded. Orders wait until the
// server has stored them: they are sent reliably and in order, and after a reconnection those that
// the server lacks are sent again with the same sequences, so that none is lost and none acts
// twice. If samples are taken, events wait until the render time has reached their tick.
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define HELD_BACK_TICKS_MAX 600.0 // a server may send any tick: no event waits for longer

// -- events

static void drop_oldest(foliot_client *c)
{
    foliot__client_events *e = &c->events;
    foliot_client_event *oldest = &e->ring[e->first];
    e->bytes -= oldest->length + 1;
    free((void *)(uintptr_t)oldest->bytes);
    e->first = (e->first + 1) % FOLIOT__CLIENT_EVENTS_HELD;
    e->count--;
}

void foliot__events_add(foliot_client *c, const foliot_client_event *event, const void *bytes,
                        size_t length)
{
    foliot__client_events *e = &c->events;
    if (!e->ring)
        e->ring = calloc(FOLIOT__CLIENT_EVENTS_HELD, sizeof *e->ring);
    uint8_t *copy = e->ring ? malloc(length + 1) : NULL;
    if (!copy) {
        c->statistics.events_dropped++;
        return;
    }
    while (e->count == FOLIOT__CLIENT_EVENTS_HELD ||
           (e->count > 0 && e->bytes + length + 1 > FOLIOT__CLIENT_EVENT_BYTES)) {
        drop_oldest(c);
        c->statistics.events_dropped++;
    }
    if (length)
        memcpy(copy, bytes, length);
    copy[length] = 0;
    foliot_client_event *held = &e->ring[(e->first + e->count++) % FOLIOT__CLIENT_EVENTS_HELD];
    *held = *event;
    held->bytes = copy;
    held->length = length;
    e->bytes += length + 1;
}

bool foliot__client_is_ahead(const foliot_client *client, uint64_t tick)
{
    double ahead = (double)tick - client->shown_tick;
    return client->connection.state == FOLIOT_CLIENT_PLAYING && client->shown_tick > 0 &&
           ahead > 0 && ahead < HELD_BACK_TICKS_MAX;
}

uint64_t foliot__client_shown(const foliot_client *client)
{
    double tick = client->shown_tick;
    if (foliot__client_steps(client))
        tick = fmin(tick, client->stepper->shown_max(client));
    double parts = tick * FOLIOT_AIM_PARTS;
    return parts > 0 && parts < 0x1p53 ? (uint64_t)(parts + 0.5) : 0;
}

bool foliot_client_poll(foliot_client *client, foliot_client_event *event)
{
    foliot__client_events *e = &client->events;
    if (e->count == 0 || foliot__client_is_ahead(client, e->ring[e->first].tick))
        return false;
    *event = e->ring[e->first];
    free(e->shown);
    e->shown = (uint8_t *)(uintptr_t)event->bytes;
    e->bytes -= event->length + 1;
    e->first = (e->first + 1) % FOLIOT__CLIENT_EVENTS_HELD;
    e->count--;
    return true;
}

void foliot__events_release(foliot_client *c)
{
    foliot__client_events *e = &c->events;
    for (uint32_t i = 0; i < e->count; i++)
        e->ring[(e->first + i) % FOLIOT__CLIENT_EVENTS_HELD].tick = 0;
}

void foliot__events_free(foliot_client *c)
{
    while (c->events.count > 0)
        drop_oldest(c);
    free(c->events.ring);
    free(c->events.shown);
    c->events = (foliot__client_events){0};
}

// -- orders

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

foliot_status foliot_client_order(foliot_client *client, foliot_order_kind kind, const void *bytes,
                                  size_t length, uint32_t *sequence)
{
    foliot__client_orders *o = &client->orders;
    if (length > FOLIOT_ORDER_BYTES_MAX || client->config.spectates ||
        (kind != FOLIOT_ORDER_GAME && kind != FOLIOT_ORDER_CHAT))
        return FOLIOT_STATUS_INVALID;
    char text[FOLIOT_ORDER_BYTES_MAX + 1] = {0};
    if (length)
        memcpy(text, bytes, length);
    uint32_t character;
    for (size_t at = 0, step; kind == FOLIOT_ORDER_CHAT && at < length; at += step)
        if ((step = foliot__utf8_decode(text + at, &character)) == 0)
            return FOLIOT_STATUS_INVALID;
    if (!foliot__client_welcomed(client) || foliot__connection_is_over(client) ||
        client->connection.leaving)
        return FOLIOT_STATUS_AGAIN;
    if (!o->ring)
        o->ring = calloc(FOLIOT__CLIENT_ORDERS_HELD, sizeof *o->ring);
    if (!o->ring)
        return FOLIOT_STATUS_MEMORY;
    if (o->count == FOLIOT__CLIENT_ORDERS_HELD)
        return FOLIOT_STATUS_FULL;
    // A second's orders at once.
    if (!foliot__bucket_spend(&o->bucket, FOLIOT_ORDERS_PER_SECOND_MAX,
                              1e9 / FOLIOT_ORDERS_PER_SECOND_MAX, client->now_ns))
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

// A server may acknowledge anything: orders that were never given are ignored.
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
    if (!same_player) { // orders of another player are dropped
        o->count = o->first = 0;
        o->next = here + 1;
        o->bucket = (foliot__bucket){0};
        c->statistics.orders_waiting = 0;
        return;
    }
    foliot__orders_acknowledged(c, here);
    for (uint32_t i = 0; i < o->count; i++)
        send_order(c, i);
}
