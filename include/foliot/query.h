// SPDX-License-Identifier: MIT
// query.h: what lies where, asked of a world between two steps. A question changes nothing, keeps
// nothing and allocates nothing; its answer depends on the world's truth alone and has the same
// bits on every machine. Every solid body is looked at: points are not solid, what lies below a
// plane is.
//
// Directions need not have length 1 (but more than 0); results do. Lengths are in the scene's unit.
#ifndef FOLIOT_QUERY_H
#define FOLIOT_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "foliot/scene.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Whether a body counts. `accepts` NULL: all do. Asked at most once a body, in ascending order of
// slots.
typedef struct foliot_query_filter {
    bool (*accepts)(void *user, uint32_t slot);
    void *user;
} foliot_query_filter;

typedef struct foliot_query_hit {
    uint32_t body;    // slot
    double distance;  // travelled until it was hit
    double point[3];  // on its surface
    double normal[3]; // out of its surface there
} foliot_query_hit;

// The first body that a ray meets within `distance`: the nearest, of equally near ones that of the
// lower slot. A ray that starts within a body meets it at distance 0, with a normal against the
// ray. False if there is none; then *hit is unchanged. `filter` may be NULL in all of these.
bool foliot_world_cast_ray(const foliot_world *world, const double from[3],
                           const double direction[3], double distance,
                           const foliot_query_filter *filter, foliot_query_hit *hit);
// All bodies that the ray meets, in order of (distance, slot). Writes the first `capacity` of them
// and returns how many there are.
uint32_t foliot_world_cast_ray_all(const foliot_world *world, const double from[3],
                                   const double direction[3], double distance,
                                   const foliot_query_filter *filter, foliot_query_hit *hits,
                                   uint32_t capacity);
// As foliot_world_cast_ray for a sphere, box or capsule that moves without turning from `position`.
// It stops at most 2^-20 of its own size before it touches. FOLIOT_SHAPE_POINT is a ray; no planes.
bool foliot_world_cast_shape(const foliot_world *world, const foliot_shape *shape,
                             const double position[3], const double orientation[4],
                             const double direction[3], double distance,
                             const foliot_query_filter *filter, foliot_query_hit *hit);
// All bodies that touch or overlap a sphere, box or capsule there, ascending. Writes the first
// `capacity` slots and returns how many there are.
uint32_t foliot_world_overlap_shape(const foliot_world *world, const foliot_shape *shape,
                                    const double position[3], const double orientation[4],
                                    const foliot_query_filter *filter, uint32_t *slots,
                                    uint32_t capacity);
// The point of any body's surface that is nearest to `from`, at most `distance` away. hit->distance
// is negative if `from` lies within the body: the body that it lies deepest in comes first.
bool foliot_world_find_nearest(const foliot_world *world, const double from[3], double distance,
                               const foliot_query_filter *filter, foliot_query_hit *hit);

#ifdef __cplusplus
}
#endif

#endif
