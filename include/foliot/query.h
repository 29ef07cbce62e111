// SPDX-License-Identifier: MIT
// query.h: finds bodies along a ray, along the path of a shape, within a shape, or near a point.
//
// A query is asked of a world between two steps. It changes nothing and allocates nothing. Its
// answer depends on the state of the world alone and has the same bits on every machine. Every
// solid body is considered, sleeping ones too: points and sensors are not solid, everything below a
// plane is.
//
// Positions and directions are in world axes, lengths in the unit of the scene. Directions need not
// have unit length, but more than 0; returned normals have unit length. Orientations are w, x, y,
// z. Several threads may query one world at the same time while none steps it.
#ifndef FOLIOT_QUERY_H
#define FOLIOT_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "foliot/scene.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Decides whether a body counts. A filter of zeros accepts all but sensors, and so does NULL.
typedef struct foliot_query_filter {
    // NULL accepts all. It is called at most once a body, in ascending order of slots, and last.
    bool (*accepts)(void *user, uint32_t slot);
    void *user;
    // As a body's (scene.h): the body's mask admits `category`, and its category is among `mask`.
    // 0: all.
    uint32_t category, mask;
    bool sensors; // they count as well
} foliot_query_filter;

typedef struct foliot_query_hit {
    uint32_t body;    // slot
    double distance;  // travelled up to the hit
    double point[3];  // on the surface of the body
    double normal[3]; // unit length, out of that surface
} foliot_query_hit;

// The first body that a ray meets within `distance`; of equally near ones that of the lower slot. A
// ray that starts inside a body meets it at distance 0, with a normal against the ray. Returns
// false if there is none; then *hit is unchanged.
bool foliot_world_cast_ray(const foliot_world *world, const double from[3],
                           const double direction[3], double distance,
                           const foliot_query_filter *filter, foliot_query_hit *hit);
// All bodies that the ray meets, in order of (distance, slot). Writes the first `capacity` of them
// and returns how many there are.
uint32_t foliot_world_cast_ray_all(const foliot_world *world, const double from[3],
                                   const double direction[3], double distance,
                                   const foliot_query_filter *filter, foliot_query_hit *hits,
                                   uint32_t capacity);
// As foliot_world_cast_ray for a sphere, box or capsule that moves from `position` without turning.
// It stops at most 2^-20 of its own size before it touches. FOLIOT_SHAPE_POINT is a ray; planes are
// not admitted.
bool foliot_world_cast_shape(const foliot_world *world, const foliot_shape *shape,
                             const double position[3], const double orientation[4],
                             const double direction[3], double distance,
                             const foliot_query_filter *filter, foliot_query_hit *hit);
// All bodies that touch or overlap a sphere, box or capsule, in ascending order. Writes the first
// `capacity` slots and returns how many there are.
uint32_t foliot_world_overlap_shape(const foliot_world *world, const foliot_shape *shape,
                                    const double position[3], const double orientation[4],
                                    const foliot_query_filter *filter, uint32_t *slots,
                                    uint32_t capacity);
// The nearest point on the surface of any body, at most `distance` from `from`. If `from` is inside
// a body, hit->distance is negative; the body that it lies deepest in is returned.
bool foliot_world_find_nearest(const foliot_world *world, const double from[3], double distance,
                               const foliot_query_filter *filter, foliot_query_hit *hit);

#ifdef __cplusplus
}
#endif

#endif
