// SPDX-License-Identifier: MIT
// history.h (internal): the data of a history.
//
// Every slot has a ring of `ticks` poses and one of as many definitions. A new entry is written
// when the pose or definition changes, and each tick's row has the place of each slot's entry in
// its ring. A place is overwritten `ticks` changes later, when no kept row refers to it.
#ifndef FOLIOT_HISTORY_HISTORY_H
#define FOLIOT_HISTORY_HISTORY_H

#include <stdbool.h>

#include "foliot/query.h"
#include "sim/state/past.h"

#define FOLIOT__HISTORY_UNLOADED UINT8_MAX // no place of a ring

// The pose of a body that is alive and not static; all zeros for others.
typedef struct foliot__past_pose {
    int32_t position[3]; // in steps
    int32_t velocity[3]; // in quarters of a step a tick
    foliot__packed_orientation orientation;
} foliot__past_pose;

// The contents of a slot without its pose; all zeros but the generation if it is free.
#define FOLIOT__PAST_DOUBLES(X)                                                                    \
    X(position_x) /* of static bodies: they stay where they are */                                 \
    X(position_y)                                                                                  \
    X(position_z)                                                                                  \
    X(orientation_w)                                                                               \
    X(orientation_x)                                                                               \
    X(orientation_y)                                                                               \
    X(orientation_z)                                                                               \
    X(mass)                                                                                        \
    X(radius)                                                                                      \
    X(half_x)                                                                                      \
    X(half_y)                                                                                      \
    X(half_z)                                                                                      \
    X(plane_offset)
#define FOLIOT__PAST_WORDS(X)                                                                      \
    X(flags)                                                                                       \
    X(generation)                                                                                  \
    X(shape_kind)                                                                                  \
    X(category)                                                                                    \
    X(mask)                                                                                        \
    X(prototype)                                                                                   \
    X(tag)
typedef struct foliot__past_body {
#define FOLIOT__PAST_MEMBER(name) double name;
    FOLIOT__PAST_DOUBLES(FOLIOT__PAST_MEMBER)
#undef FOLIOT__PAST_MEMBER
#define FOLIOT__PAST_MEMBER(name) uint32_t name;
    FOLIOT__PAST_WORDS(FOLIOT__PAST_MEMBER)
#undef FOLIOT__PAST_MEMBER
    uint32_t reserved; // 0: no padding, so that two may be compared as bytes
} foliot__past_body;
_Static_assert(sizeof(foliot__past_body) == 13 * 8 + 8 * 4, "no padding");

struct foliot_history {
    foliot_world_config config; // of the view
    uint32_t ticks, slots;      // slots: padded to whole lanes
    double step, dt;            // of positions; of a tick
    uint32_t count;             // of ticks that are kept
    uint64_t newest;            // the last of them
    foliot__past_pose *poses;   // [place][slot]
    foliot__past_body *bodies;
    uint8_t *pose_rows, *body_rows; // [tick % ticks][slot]: a place
    uint8_t *pose_head, *body_head; // the newest place of each slot
    uint8_t *pose_there;            // in the view: its place; UNLOADED where it is between two
    uint8_t *body_there;
    uint8_t *awake;                     // a slot: moved by itself after the last step
    uint32_t *counts;                   // [tick % ticks]: slots up to the last one in use
    foliot_digest definitions, session; // of the newest tick, as the world has them
    foliot_world *view;
};

static inline uint64_t foliot__history_oldest(const foliot_history *h)
{
    return h->newest + 1 - h->count;
}

static inline uint8_t *foliot__history_poses_at(const foliot_history *h, uint64_t tick)
{
    return h->pose_rows + (size_t)(tick % h->ticks) * h->slots;
}

static inline uint8_t *foliot__history_bodies_at(const foliot_history *h, uint64_t tick)
{
    return h->body_rows + (size_t)(tick % h->ticks) * h->slots;
}

static inline foliot__past_pose *foliot__history_pose(const foliot_history *h, uint8_t place,
                                                      uint32_t slot)
{
    return &h->poses[(size_t)place * h->slots + slot];
}

static inline foliot__past_body *foliot__history_body(const foliot_history *h, uint8_t place,
                                                      uint32_t slot)
{
    return &h->bodies[(size_t)place * h->slots + slot];
}

// An empty one.
foliot_status foliot__history_create_like(const foliot_history *like, foliot_history **history);
// Opens the tick after the newest one, as that one was; of an empty history `tick`.
void foliot__history_open_tick(foliot_history *h, uint64_t tick, uint32_t count);
// Stores the newest tick's data of a slot; equal data changes nothing.
void foliot__history_put_pose(foliot_history *h, uint32_t slot, const foliot__past_pose *pose);
void foliot__history_put_body(foliot_history *h, uint32_t slot, const foliot__past_body *body);

#endif
