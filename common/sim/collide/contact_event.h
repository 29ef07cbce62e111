// SPDX-License-Identifier: MIT
// contact_event.h: how the step records what foliot/query.h reports.
#ifndef FOLIOT_SIM_COLLIDE_CONTACT_EVENT_H
#define FOLIOT_SIM_COLLIDE_CONTACT_EVENT_H

#include "foliot/query.h"

// At a step's start, and where a world begins: remembers which pairs are in contact.
void foliot__contact_events_begin(foliot_world *world);
// Appends a hit event; counted if there is no room. They are in the order of time.
void foliot__hit_event(foliot_world *world, const foliot_hit_event *impact);

#endif
