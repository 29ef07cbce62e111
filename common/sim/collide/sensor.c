// SPDX-License-Identifier: MIT
// sensor.c: overlaps of bodies with sensors, at the end of a step, and what changed since the last
// one. An overlap is a function of the present poses, so that a restored world knows those of the
// step before without any state of its own. Every body is tested against every sensor, first by
// their bounding balls.
#include "sim/collide/sensor.h"

#include <string.h>

#include "sim/collide/shape.h"

// -- what a sensor senses

static bool is_sensor(const foliot_world *world, uint32_t i)
{
    return (foliot__flags(world)[i] & (FOLIOT_BODY_ALIVE | FOLIOT_BODY_SENSOR)) ==
           (FOLIOT_BODY_ALIVE | FOLIOT_BODY_SENSOR);
}

static bool is_visitor(const foliot_world *world, uint32_t i)
{
    return foliot__is_solid(world, i) && !(foliot__flags(world)[i] & FOLIOT_BODY_STATIC);
}

// The square of the radius of a ball around the shape is at most twice this.
static double size2_of(const foliot__solid *s)
{
    return s->radius * s->radius + foliot__vec3_dot(s->half, s->half);
}

// False if not even the balls around the two meet: (p + q)^2 <= 2 p^2 + 2 q^2.
static bool may_meet(const foliot_world *world, const foliot__solid *sensor, uint32_t i)
{
    if (sensor->kind == FOLIOT_SHAPE_PLANE)
        return true;
    foliot__v3 x = foliot__position(world);
    foliot__solid body;
    foliot__solid_shape(world, i, &body);
    const double d[3] = {x.x[i] - sensor->x[0], x.y[i] - sensor->x[1], x.z[i] - sensor->x[2]};
    double reach2 = 4 * (size2_of(&body) + size2_of(sensor)) * (1 + 0x1p-40);
    return !(foliot__vec3_dot(d, d) > reach2);
}

static bool overlap(const foliot_world *world, const foliot__solid *sensor, uint32_t i)
{
    if (!may_meet(world, sensor, i))
        return false;
    foliot__solid body = foliot__solid_of(world, i);
    const double d[3] = {body.x[0] - sensor->x[0], body.x[1] - sensor->x[1],
                         body.x[2] - sensor->x[2]};
    double n[3];
    return foliot__gap_of(sensor, &body, d, n) <= 0;
}

// -- the lists

static void append(foliot_world *world, uint32_t sensor, uint32_t body)
{
    const uint32_t *generation = foliot__generation(world);
    if (world->sensed_count == world->capacity.sensed) {
        world->counters.events_dropped++;
        return;
    }
    foliot__sensed(world)[world->sensed_count++] =
        (foliot__sensed_pair){sensor, body, generation[sensor], generation[body]};
}

// Ascending (sensor, body).
static void find_overlaps(foliot_world *world)
{
    world->sensed_count = 0;
    for (uint32_t s = 0; s < world->body_count; s++) {
        if (!is_sensor(world, s))
            continue;
        foliot__solid sensor = foliot__solid_of(world, s);
        for (uint32_t i = 0; i < world->body_count; i++)
            if (is_visitor(world, i) && foliot__may_touch(world, s, i) &&
                overlap(world, &sensor, i))
                append(world, s, i);
    }
    world->sensed_valid = 1;
}

void foliot__sensors_begin(foliot_world *world)
{
    if (world->capacity.sensed == 0)
        return;
    if (!world->sensed_valid)
        find_overlaps(world);
    memcpy(foliot__sensed_before(world), foliot__sensed(world),
           world->sensed_count * sizeof *foliot__sensed(world));
    world->sensed_before_count = world->sensed_count;
}

void foliot__sensors_end(foliot_world *world)
{
    if (world->capacity.sensed > 0)
        find_overlaps(world);
}

// -- events

// Which head of two ascending lists comes first: negative for the first list, 0 if both name the
// same two bodies. Of two bodies that had one slot in turn, the one that has left comes first.
static int compare(const foliot__sensed_pair *p, const foliot__sensed_pair *q)
{
    if (p->sensor != q->sensor)
        return p->sensor < q->sensor ? -1 : 1;
    if (p->body != q->body)
        return p->body < q->body ? -1 : 1;
    return p->sensor_generation == q->sensor_generation && p->body_generation == q->body_generation
               ? 0
               : -1;
}

uint32_t foliot_world_get_sensor_events(const foliot_world *world, foliot_sensor_event *events,
                                        uint32_t capacity)
{
    const foliot__sensed_pair *before = foliot__sensed_before(world), *now = foliot__sensed(world);
    uint32_t count = 0, i = 0, n = 0;
    uint32_t then = world->sensed_before_count, present = world->sensed_count;
    if (!world->sensed_valid) // no step since the state was set
        return 0;
    while (i < then || n < present) {
        int order = n == present ? -1 : i == then ? 1 : compare(&before[i], &now[n]);
        if (order != 0 && count < capacity) {
            const foliot__sensed_pair *pair = order < 0 ? &before[i] : &now[n];
            events[count] = (foliot_sensor_event){
                pair->sensor, pair->body, order < 0 ? FOLIOT_SENSOR_LEAVE : FOLIOT_SENSOR_ENTER};
        }
        count += order != 0;
        i += order <= 0;
        n += order >= 0;
    }
    return count;
}
