// SPDX-License-Identifier: MIT
// history.h: the last ticks of a world, for questions about the past: whom would this shot have hit
// where its player saw them?
//
// A history keeps the poses of all bodies at every tick, their shapes, ids, filters and tags. A
// view of it is a world that is read and queried (query.h) and never stepped: the bodies as they
// were at a fractional tick, between two ticks as a client shows them: cubic between positions and
// velocities, along the arc between orientations. A body that was spawned, removed, or moved
// farther than its speeds explain is not interpolated: it stays where the earlier tick has it.
//
// Positions are kept in the steps of snapshots (snapshot.h: 2^-16 to 2^-9 of the unit of length),
// orientations in steps of 2^-15; static bodies exactly. Everything has the same bits on every
// machine.
#ifndef FOLIOT_HISTORY_H
#define FOLIOT_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "foliot/scene.h"
#include "foliot/status.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct foliot_history foliot_history;

// Of the last `ticks` ticks, FOLIOT_HISTORY_TICKS_MIN to FOLIOT_HISTORY_TICKS_MAX (scene.h), of a
// world of that scene. The caller frees it with foliot_history_destroy (NULL is allowed). It holds
// at most 172 bytes a body and tick, most of it only where bodies are spawned all the time.
// FOLIOT_STATUS_INVALID: too few or too many ticks, or more than FOLIOT_HISTORY_POSES_MAX times
// bodies; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_history_create(const foliot_scene *scene, uint32_t ticks,
                                                      foliot_history **history);
void foliot_history_destroy(foliot_history *history);
void foliot_history_clear(foliot_history *history);

// Keeps the world as it is now, after every step. Where the tick does not follow the last one that
// was kept, the history begins anew. Costs what moved. FOLIOT_STATUS_FULL: the world has more slots
// than the scene asks for; then nothing is kept.
FOLIOT_MUST_CHECK foliot_status foliot_history_append(foliot_history *history,
                                                      const foliot_world *world);

uint32_t foliot_history_get_count(const foliot_history *history);  // of ticks that are kept
uint64_t foliot_history_get_oldest(const foliot_history *history); // ticks; 0 where none is kept
uint64_t foliot_history_get_newest(const foliot_history *history);

// The world at a tick, clamped to what is kept; NULL where nothing is. It lends poses, shapes, ids,
// tags, prototypes and queries; velocities are 0, and it has no joints, players or events. Valid
// until the next call that is given the history. One thread at a time.
const foliot_world *foliot_history_view(foliot_history *history, double tick);

// Everything that is kept, as bytes that are the same on every machine. `bytes` NULL asks for the
// length alone. FOLIOT_STATUS_FULL if `capacity` is too small.
FOLIOT_MUST_CHECK foliot_status foliot_history_capture(const foliot_history *history,
                                                       uint8_t *bytes, size_t capacity,
                                                       size_t *length);
// Into a history of the same scene and ticks. Hostile bytes give FOLIOT_STATUS_TRUNCATED or
// FOLIOT_STATUS_CORRUPT and leave it as it was; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_history_restore(foliot_history *history,
                                                       const uint8_t *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#endif
