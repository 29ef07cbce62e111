// SPDX-License-Identifier: MIT
// events.c: the events that a host polls, in a queue of bounded size. An event is held back until
// the render time has reached its tick, where samples are taken.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#define HELD_BACK_TICKS_MAX 600.0 // a server may send any tick: no event waits for longer

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
