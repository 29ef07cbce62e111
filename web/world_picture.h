// SPDX-License-Identifier: MIT
// world_picture.h: the bodies of a world as what is drawn.
#ifndef FOLIOT_WEB_WORLD_PICTURE_H
#define FOLIOT_WEB_WORLD_PICTURE_H

#include "foliot/world.h"

// Returns how many instances there are to draw, -1 without a world or without memory.
// `marked_body`: a slot, or FOLIOT_NO_BODY.
int web_world_picture(const foliot_world *world, uint32_t marked_body);

// Three doubles a slot, NaN where there is no body; valid until the next call. NULL: no memory.
const double *web_world_positions(const foliot_world *world);

#endif
