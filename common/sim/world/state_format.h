// SPDX-License-Identifier: MIT
// state_format.h: sizes and bit patterns of captured state, for the files that write, read and name
// it: state_io.c, state_restore.c and state_io_parts.c. docs/reference/state.md describes the
// format.
#ifndef FOLIOT_SIM_WORLD_STATE_FORMAT_H
#define FOLIOT_SIM_WORLD_STATE_FORMAT_H

#include <string.h>

#include "base/bytes.h"
#include "sim/state/body.h"
#include "sim/state/state.h"

// State words, body_count, and state_fields, which defines what arrays follow.
#define FOLIOT__STATE_HEAD_BYTES 64
#define FOLIOT__STATE_PLAYER_BYTES 12 // body, axes, buttons, joined
#define FOLIOT__STATE_CONTACT_BYTES (4 * FOLIOT__CONTACT_WORDS)

// The tables of a body's definition in their order.
enum {
#define NUMBER(type, name) FOLIOT__DEFINITION_##name,
    FOLIOT__BODY_DEFINITION(NUMBER)
#undef NUMBER
        FOLIOT__STATE_DEFINITION_COUNT,
};

// Whether this world's state has the field of FOLIOT_BODY_STATE.
static inline bool foliot__is_state_field(const foliot_world *world, unsigned field)
{
    return world->scene.state_fields >> field & 1;
}

// -- values as bit patterns

static inline uint64_t foliot__load_little(const uint8_t *bytes, uint32_t width)
{
    uint64_t value = 0;
    for (uint32_t k = 0; k < width; k++)
        value |= (uint64_t)bytes[k] << (8 * k);
    return value;
}

static inline uint64_t foliot__bits_f64(double value)
{
    return foliot__f64_bits(value);
}
static inline uint64_t foliot__bits_i64(int64_t value)
{
    return (uint64_t)value;
}
static inline uint64_t foliot__bits_u32(uint32_t value)
{
    return value;
}
static inline double foliot__value_f64(uint64_t bits)
{
    return foliot__f64_of(bits);
}
static inline int64_t foliot__value_i64(uint64_t bits)
{
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t foliot__value_u32(uint64_t bits)
{
    return (uint32_t)bits;
}

// -- state_restore_session.c: the parts of captured bytes that commands may change: properties of
// bodies, and the session's section

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

// The tag of a body, and the slot that a player drives.
uint32_t foliot__session_tag(const foliot__session_layout *layout, uint32_t slot);
uint32_t foliot__session_driven(const foliot__session_layout *layout, uint32_t player);

// Whether a body of a world with commands may have this row and these flags.
bool foliot__row_valid(const foliot_world *world, uint32_t slot, uint32_t flags,
                       const foliot__body_row *row);

#endif
