// SPDX-License-Identifier: MIT
// kind.h: whether the page's client steps the world. The viewer has watches.c, the stepper steps.c.
#ifndef FOLIOT_WEB_KIND_H
#define FOLIOT_WEB_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "details.h"
#include "foliot/client.h"

// Before the client is made.
void web_kind_configure(foliot_client_config *config);
// Whether what a datagram begins with can be read now; if not it counts as lost.
bool web_kind_takes(uint8_t packet);
// After each update. NULL: there is no client any more.
void web_kind_updated(foliot_client *client);
// What the page tells of it: members of the object that is open.
void web_kind_write(foliot__json *j, const foliot_client *client);
// How far a shown position may be from the simulation's, at rest.
double web_kind_rounding(const foliot_client *client);
// What the body in a slot meets, where more is known than what it was made as.
void web_kind_filter(const foliot_client *client, uint32_t slot, web_detail_body *body);

#endif
