// SPDX-License-Identifier: MIT
// query.h: queries of a world between two steps: bodies along a ray, along the path of a shape,
// within a shape or near a point; contacts, hits and sensor events of the last step; and the same
// queries in the past.
#ifndef FOLIOT_QUERY_H
#define FOLIOT_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/scene.h"
#include "foliot/status.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// -- rays, shapes and points
//
// Query a world between two steps. A query changes nothing and allocates nothing. Its result
// depends only on the state of the world and has the same bits on every machine. It considers every
// solid body, including sleeping ones. Points and sensors are not solid; everything below a plane
// is.
//
// Positions and directions are in world axes, lengths in the unit of the scene. Directions need not
// have unit length, but more than 0; returned normals have unit length. Orientations are w, x, y,
// z. Several threads may query one world at the same time while none steps it.

// Decides whether a body counts. A filter of zeros accepts all but sensors, and so does NULL.
typedef struct foliot_query_filter {
    // NULL accepts all. Called at most once per body, in ascending order of slots, after the other
    // conditions.
    bool (*accepts)(void *user, foliot_body_id body);
    void *user;
    // As a body's (scene.h): the body's mask admits `category`, and its category is among `mask`.
    // 0: all.
    uint32_t category, mask;
    bool sensors; // they count as well
} foliot_query_filter;

typedef struct foliot_query_hit {
    foliot_body_id body;
    double distance;  // travelled until the hit
    double point[3];  // on the surface of the body
    double normal[3]; // unit length, out of that surface
} foliot_query_hit;

// Finds the first body that a ray hits within `distance`; of equally near ones the one with the
// lowest slot. A ray that starts inside a body hits it at distance 0, with a normal against the
// ray. Returns false if there is none; then *hit is unchanged.
bool foliot_world_cast_ray(const foliot_world *world, const double from[3],
                           const double direction[3], double distance,
                           const foliot_query_filter *filter, foliot_query_hit *hit);
// Finds all bodies that the ray hits, in order of (distance, slot). Writes the first `capacity` of
// them and returns how many there are.
uint32_t foliot_world_cast_ray_all(const foliot_world *world, const double from[3],
                                   const double direction[3], double distance,
                                   const foliot_query_filter *filter, foliot_query_hit *hits,
                                   uint32_t capacity);
// As foliot_world_cast_ray for a sphere, box or capsule that moves from `position` without turning.
// It stops at most 2^-20 of the shape's size before it touches. FOLIOT_SHAPE_POINT is a ray; planes
// are not allowed.
bool foliot_world_cast_shape(const foliot_world *world, const foliot_shape *shape,
                             const double position[3], const double orientation[4],
                             const double direction[3], double distance,
                             const foliot_query_filter *filter, foliot_query_hit *hit);
// Finds all bodies that touch or overlap a sphere, box or capsule, in ascending order of slots.
// Writes the first `capacity` and returns how many there are.
uint32_t foliot_world_overlap_shape(const foliot_world *world, const foliot_shape *shape,
                                    const double position[3], const double orientation[4],
                                    const foliot_query_filter *filter, foliot_body_id *bodies,
                                    uint32_t capacity);
// Finds the nearest point on the surface of any body, at most `distance` from `from`. If `from` is
// inside a body, hit->distance is negative; of several such bodies, the one with the deepest
// penetration is returned.
bool foliot_world_find_nearest(const foliot_world *world, const double from[3], double distance,
                               const foliot_query_filter *filter, foliot_query_hit *hit);

// -- contacts and hits of the last step
//
// The contacts, collisions and sensor overlaps of the last step.
//
// Contact events report which pairs pressed on each other: begin, persist, end. Hit events report
// which pairs collided within the step, with their impulse. Both lists have a total order that is
// the same on every machine and with any number of threads.
//
// The lists describe the last step alone, like the events of world.h. They are not part of the
// state or the digest. A world restored from bytes produces the same lists as the captured one from
// the next step on; before that step it has no hit events, and all its contacts persist.
//
// Positions and directions are in world axes; lengths, times and masses are in the units of the
// scene. `a` is the body with the lower slot; lists are ordered by slots.

// A collision. Either it was resolved at its time of impact: the two met within the step and
// bounced, or one was so fast that it would have passed the other by half its size. Or the solver
// resolved it: two bodies that were not in contact before began to press, and approached faster
// than a step's acceleration explains (and faster than 1/512 of the smaller body's inradius per
// step). The list is ordered by time; at the same instant by cause and effect; independent
// collisions by (a, b), those of the solver last.
typedef struct foliot_hit_event {
    foliot_body_id a, b;
    double time; // since the start of the step; for the solver's, the end of the first substep in
                 // which they press
    double point[3];  // of contact
    double normal[3]; // unit length, from a to b
    double speed;     // of approach at that point along the normal, as they meet; > 0
    double impulse; // mass times speed along the normal, on b; -impulse on a. Without friction. For
                    // the solver's: the sum over the step, plus the impulse that would end the
                    // remaining approach
} foliot_hit_event;

// Maximum per step, or contacts_max if that is less. Further ones are counted in
// counters.events_dropped.
#define FOLIOT_HIT_EVENTS_MAX 1024

// Owned by the world, valid until its next step.
const foliot_hit_event *foliot_world_get_hit_events(const foliot_world *world, uint32_t *count);

// Two bodies are in contact after a step if they press on each other in its last substep. A pair
// that touched only within the step, and is in contact neither before nor after it, has both
// events: begin, then end. A bounce is such a contact.
typedef enum foliot_contact_change {
    FOLIOT_CONTACT_BEGIN,   // not in contact in the step before
    FOLIOT_CONTACT_PERSIST, // in contact in both
    FOLIOT_CONTACT_END,     // in contact only in the step before; one of the two may be gone
} foliot_contact_change;

typedef struct foliot_contact_event {
    foliot_body_id a, b;
    uint32_t change;  // foliot_contact_change
    uint32_t points;  // that press, 1 to 4. At END this and all members below are 0
    double point[3];  // the mean of these points
    double normal[3]; // unit length, from a to b
    double force;     // on b along the normal, -force on a; mean over the last substep, or over the
                      // step where the contact has ended
    double friction[3]; // force on b, -friction on a; 0 where the contact has ended
    double speed; // at BEGIN: of approach of the two centres along the normal, at the start of the
                  // step; may be negative
} foliot_contact_event;

// All contacts of the last step, ascending by (a, b), a begin before its end. Writes the first
// `capacity` (`events` may be NULL if it is 0) and returns how many there are. Sleeping bodies stay
// in contact. A pair that lands is reported once, in the first step that ends while it presses.
// Contacts within the step beyond FOLIOT_HIT_EVENTS_MAX are counted in counters.events_dropped.
uint32_t foliot_world_get_contact_events(const foliot_world *world, foliot_contact_event *events,
                                         uint32_t capacity);

// A body began or ceased to overlap a sensor (scene.h) in the last step. Sensors detect dynamic and
// kinematic bodies with a shape that their filter admits, including sleeping ones; no static bodies
// and no other sensors. A body that passes through within a step enters and leaves in that step.
// Its path is straight between two substeps and bends at impacts; a body that leaves and returns
// within one step stays inside. A body that overlaps a sensor when the scene starts has not entered
// it.
typedef enum foliot_sensor_change {
    FOLIOT_SENSOR_ENTER,
    FOLIOT_SENSOR_LEAVE, // one of the two may be gone
} foliot_sensor_change;

typedef struct foliot_sensor_event {
    foliot_body_id sensor, body;
    uint32_t change; // foliot_sensor_change
    uint32_t unused; // 0
} foliot_sensor_event;

// All changes of the last step, ascending by (sensor, body); where one slot had two bodies in turn,
// those of the first come first. Writes the first `capacity` (`events` may be NULL if it is 0) and
// returns how many there are. None before the
// first step after a restore; overlaps beyond contacts_max are counted in counters.events_dropped.
uint32_t foliot_world_get_sensor_events(const foliot_world *world, foliot_sensor_event *events,
                                        uint32_t capacity);

// -- the past
//
// The last ticks of a world, for lag compensation: which body would this shot have hit where its
// player saw it?
//
// A history keeps the poses of all bodies at every tick, their shapes, ids, filters and tags. A
// view of it is a world that is read and queried (query.h) and never stepped. It holds the bodies
// at a fractional tick, interpolated as on a client: cubic from positions and velocities, along the
// arc between orientations. A body that was spawned, removed, or moved farther than its speeds
// explain is not interpolated: it has its pose of the earlier tick.
//
// Positions are quantised in the steps of snapshots (snapshot.h: 2^-16 to 2^-9 of the unit of
// length), orientations in steps of 2^-15; static bodies are exact. Everything has the same bits on
// every machine.

typedef struct foliot_history foliot_history;

// Creates a history of the last `ticks` ticks, FOLIOT_HISTORY_TICKS_MIN to FOLIOT_HISTORY_TICKS_MAX
// (scene.h), for a world of that scene. The caller frees it with foliot_history_destroy (NULL is
// allowed). It takes at most 172 bytes per body and tick, most of them only if bodies are spawned
// all the time. FOLIOT_STATUS_INVALID: too few or too many ticks, or more than
// FOLIOT_HISTORY_POSES_MAX times bodies; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_history_create(const foliot_scene *scene, uint32_t ticks,
                                                      foliot_history **history);
void foliot_history_destroy(foliot_history *history);
void foliot_history_clear(foliot_history *history);

// Appends the world's present state; call it after every step. If the tick does not follow the last
// one, the history starts over. The cost is proportional to the bodies that moved.
// FOLIOT_STATUS_FULL: the world has more slots than the scene asks for; then nothing is kept.
FOLIOT_MUST_CHECK foliot_status foliot_history_append(foliot_history *history,
                                                      const foliot_world *world);

uint64_t foliot_history_get_oldest(const foliot_history *history); // ticks; 0 where none is kept
uint64_t foliot_history_get_newest(const foliot_history *history);

// The world at a tick, clamped to the ticks that are kept; NULL if there are none. It has poses,
// shapes, ids, tags, prototypes and queries; velocities are 0, and it has no joints, players or
// events. Valid until the next call with this history. One thread at a time.
const foliot_world *foliot_history_view(foliot_history *history, double tick);

// Writes the whole history as bytes that are the same on every machine. `bytes` NULL asks for the
// length alone. FOLIOT_STATUS_FULL if `capacity` is too small.
FOLIOT_MUST_CHECK foliot_status foliot_history_capture(const foliot_history *history,
                                                       uint8_t *bytes, size_t capacity,
                                                       size_t *length);
// Restores into a history of the same scene and ticks. Hostile bytes give FOLIOT_STATUS_TRUNCATED
// or FOLIOT_STATUS_CORRUPT and leave it as it was; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_history_restore(foliot_history *history,
                                                       const uint8_t *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#endif
