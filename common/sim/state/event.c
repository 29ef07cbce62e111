// SPDX-License-Identifier: MIT
// event.c: the events of a step, in the order in which they occur. Events are output: no stage
// reads them.
#include "sim/state/event.h"

void foliot__event(foliot_world *world, foliot_event_kind kind, uint32_t a, uint32_t b)
{
    if (world->reported.event_count == world->capacity.events) {
        world->counters.events_dropped++;
        return;
    }
    foliot__events(world)[world->reported.event_count++] = (foliot_event){kind, a, b};
}

const foliot_event *foliot_world_get_events(const foliot_world *world, uint32_t *count)
{
    *count = world->reported.event_count;
    return foliot__events(world);
}
