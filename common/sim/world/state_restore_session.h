// SPDX-License-Identifier: MIT
// state_restore_session.h: the parts of captured bytes that commands may change: properties of
// bodies, and the session's section. For state_restore.c.
#ifndef FOLIOT_SIM_WORLD_STATE_RESTORE_SESSION_H
#define FOLIOT_SIM_WORLD_STATE_RESTORE_SESSION_H

#include "sim/state/body.h"
#include "sim/state/state.h"

// Where the arrays of the section begin, counted from its start.
typedef struct foliot__session_layout {
    const uint8_t *bytes;
    uint32_t body_count, var_count, joint_count;
    size_t tags, driven, type, changed, value, key, text, joints;
    size_t length;
} foliot__session_layout;

#define FOLIOT__SESSION_HEAD_BYTES 16 // var_count, ended, joint_count, reserved

// From the section's first bytes, FOLIOT__SESSION_HEAD_BYTES at least. False: it counts more than
// this world has room for.
bool foliot__session_lay_out(const foliot_world *world, const uint8_t *bytes, uint32_t body_count,
                             foliot__session_layout *layout);
// Whether a step and the commands of this scene could have left it. flags(context, slot) gives the
// captured flags of a body; `broken` are the captured flags of all constraints.
bool foliot__session_valid(const foliot_world *world, const foliot__session_layout *layout,
                           uint32_t (*flags)(const void *context, uint32_t slot),
                           const uint8_t *broken, const void *context);
void foliot__session_restore(foliot_world *world, const foliot__session_layout *layout);

// Of a body, and the slot that a player drives.
uint32_t foliot__session_tag(const foliot__session_layout *layout, uint32_t slot);
uint32_t foliot__session_driven(const foliot__session_layout *layout, uint32_t player);

// Whether a body of a world with commands may have this row and these flags.
bool foliot__row_valid(const foliot_world *world, uint32_t slot, uint32_t flags,
                       const foliot__body_row *row);

#endif
