// SPDX-License-Identifier: MIT
// contact_event.h: how the step fills what foliot/contact.h tells.
#ifndef FOLIOT_SIM_COLLIDE_TOUCH_H
#define FOLIOT_SIM_COLLIDE_TOUCH_H

#include "foliot/contact.h"

// At a step's start, and where a world begins: what touches now did so before.
void foliot__contact_events_begin(foliot_world *world);
// In the order in which they happen; counted if there is no room.
void foliot__hit_event(foliot_world *world, const foliot_hit_event *impact);

#endif
