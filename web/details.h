// SPDX-License-Identifier: MIT
// details.h: what a session's module gives the module that finds contacts and draws them and joints
// (details.c): the bodies of the last picture with their shapes, and the joints. One block of
// bytes, which the page copies from one memory to the other: both are built from this file.
#ifndef FOLIOT_WEB_DETAILS_H
#define FOLIOT_WEB_DETAILS_H

#include "foliot/world.h"

// At its slot. The flags of a free slot are 0.
typedef struct web_detail_body {
    foliot_body_state state;
    foliot_shape shape;
    uint32_t category, mask, group; // as foliot__filter has them
    uint32_t unused;
} web_detail_body;

typedef struct web_details {
    uint32_t bytes; // of all of it
    uint32_t body_count, joint_count, unused;
    double rounding; // of the positions
    // Then the bodies, and the joints: foliot_constraint_definition.
} web_details;

#endif
