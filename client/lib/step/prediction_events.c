// SPDX-License-Identifier: MIT
// prediction_events.c: see prediction_events.h. Linear scans on purpose: the ring is small, and
// most steps have no event.
#include "prediction_events.h"

#include <stdlib.h>

foliot_status foliot__prediction_events_open(foliot__prediction_events *events)
{
    if (!events->ring)
        events->ring = calloc(FOLIOT__PREDICTED_EVENTS, sizeof *events->ring);
    return events->ring ? FOLIOT_STATUS_OK : FOLIOT_STATUS_MEMORY;
}

void foliot__prediction_events_close(foliot__prediction_events *events)
{
    free(events->ring);
    *events = (foliot__prediction_events){.identities = events->identities};
}

void foliot__prediction_events_clear(foliot__prediction_events *events)
{
    for (uint32_t i = 0; i < FOLIOT__PREDICTED_EVENTS; i++)
        events->ring[i].event.identity = 0;
}

// The event of the same kind about the same objects. `open`: one that waits for its confirmation.
static foliot__predicted_event *find(foliot__prediction_events *events,
                                     const foliot_client_event *event, bool open)
{
    for (uint32_t i = 0; i < FOLIOT__PREDICTED_EVENTS; i++) {
        foliot__predicted_event *p = &events->ring[i];
        const foliot_client_event *e = &p->event;
        uint64_t apart = e->tick > event->tick ? e->tick - event->tick : event->tick - e->tick;
        if (e->identity && e->kind == event->kind && e->slot == event->slot &&
            e->value == event->value && apart <= FOLIOT__EVENT_TICKS && !(open && p->confirmed))
            return p;
    }
    return NULL;
}

static void add(foliot__prediction_events *events, foliot_client_event *event, bool confirmed)
{
    event->identity = ++events->identities;
    event->predicted = !confirmed;
    events->ring[events->next] = (foliot__predicted_event){*event, confirmed};
    events->next = (events->next + 1) % FOLIOT__PREDICTED_EVENTS;
}

bool foliot__prediction_events_predict(foliot__prediction_events *events,
                                       foliot_client_event *event)
{
    if (find(events, event, false))
        return false;
    add(events, event, false);
    return true;
}

bool foliot__prediction_events_confirm(foliot__prediction_events *events,
                                       foliot_client_event *event)
{
    foliot__predicted_event *open = find(events, event, true);
    if (open) {
        open->confirmed = true;
        return false;
    }
    if (event->kind == FOLIOT_CLIENT_HIT && find(events, event, false))
        return false; // the same bodies again: one sound
    add(events, event, true);
    return true;
}

bool foliot__prediction_events_cancel(foliot__prediction_events *events, uint64_t tick,
                                      foliot_client_event *event)
{
    for (uint32_t i = 0; events->ring && i < FOLIOT__PREDICTED_EVENTS; i++) {
        foliot__predicted_event *e = &events->ring[i];
        if (!e->event.identity || e->event.tick + FOLIOT__EVENT_TICKS >= tick)
            continue;
        *event = e->event;
        bool confirmed = e->confirmed;
        e->event.identity = 0;
        if (confirmed)
            continue; // nobody asks for it any more
        event->kind = FOLIOT_CLIENT_CANCELLED;
        return true;
    }
    return false;
}
