// SPDX-License-Identifier: MIT
// sensor.c: overlaps of bodies with sensors, at the end of a step, what changed since the last one,
// and what overlapped in between. An overlap is a function of the present poses, so that a restored
// world knows those of the step before without any state of its own. Every body is tested against
// every sensor, first by their bounding balls.
//
// Within a step a path has a straight piece for each substep, and bends where an impact changed it.
// A body is tested on its way only if it came within reach of a sensor: `slack` is the distance
// that it may still move before that.
#include "sim/collide/sensor.h"

#include <string.h>

#include "sim/collide/shape.h"
#include "sim/collide/sweep.h"

#define STEPS_MAX 64 // of an advancement; the second half of them covers the whole way
#define STEP_MIN 0x1p-10
#define LISTED_MAX 64 // sensors; where there are more, all bodies are looked at

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

// The distance between the centres at which the balls around the two meet, at most.
static double reach_of(const foliot__solid *sensor, const foliot__solid *body)
{
    return foliot__sqrt(4 * (size2_of(body) + size2_of(sensor)) * (1 + 0x1p-40));
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

// The order of two pairs: negative if p comes first, 0 if both name the same two bodies. Where two
// bodies had one slot in turn, the one that has left comes first.
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

static foliot__sensed_pair pair_of(const foliot_world *world, uint32_t sensor, uint32_t body)
{
    const uint32_t *generation = foliot__generation(world);
    return (foliot__sensed_pair){sensor, body, generation[sensor], generation[body]};
}

static void append(foliot_world *world, uint32_t sensor, uint32_t body)
{
    if (world->sensors.count == world->capacity.sensed) {
        world->counters.events_dropped++;
        return;
    }
    foliot__sensed(world)[world->sensors.count++] = pair_of(world, sensor, body);
}

static double moved_by(const foliot_world *world, uint32_t i)
{
    const foliot__sensed_path *path = &foliot__sensed_paths(world)[i];
    foliot__v3 x = foliot__position(world);
    const double d[3] = {x.x[i] - path->x[0], x.y[i] - path->x[1], x.z[i] - path->x[2]};
    return foliot__vec3_length(d);
}

// Ascending (sensor, body). After a sweep, bodies that stayed out of reach are left out.
static void find_overlaps(foliot_world *world, bool swept)
{
    const foliot__sensed_path *path = foliot__sensed_paths(world);
    world->sensors.count = 0;
    for (uint32_t s = 0; s < world->body_count; s++) {
        if (!is_sensor(world, s))
            continue;
        foliot__solid sensor = foliot__solid_of(world, s);
        for (uint32_t i = 0; i < world->body_count; i++)
            if (is_visitor(world, i) && !(swept && path[i].slack > moved_by(world, i)) &&
                foliot__may_touch(world, s, i) && overlap(world, &sensor, i))
                append(world, s, i);
    }
    world->sensors.valid = 1;
}

void foliot__sensors_begin(foliot_world *world)
{
    world->sensors.passed_count = 0;
    if (world->capacity.sensed == 0)
        return;
    if (!world->sensors.valid)
        find_overlaps(world, false);
    memcpy(foliot__sensed_before(world), foliot__sensed(world),
           world->sensors.count * sizeof *foliot__sensed(world));
    world->sensors.before_count = world->sensors.count;
}

void foliot__sensors_end(foliot_world *world, bool swept)
{
    if (world->capacity.sensed == 0)
        return;
    find_overlaps(world, swept);
    foliot__sensed_pair *passed = foliot__sensed_passed(world);
    const foliot__sensed_pair *now = foliot__sensed(world);
    uint32_t kept = 0;
    for (uint32_t k = 0, n = 0; k < world->sensors.passed_count; k++) {
        while (n < world->sensors.count && compare(&now[n], &passed[k]) < 0)
            n++;
        if (n == world->sensors.count || compare(&now[n], &passed[k]) != 0)
            passed[kept++] = passed[k];
    }
    world->sensors.passed_count = kept;
}

// -- what overlaps on the way

// Two poses and the solid between them.
typedef struct sensor_piece {
    foliot__solid solid; // at the beginning
    double from[3], to[3], q_from[4], q_to[4];
    double turned; // of its surface by turning, at most, times the piece's duration
} sensor_piece;

static void path_pose(const foliot_world *world, uint32_t i, double x[3], double q[4])
{
    memcpy(x, foliot__sensed_paths(world)[i].x, 3 * sizeof *x);
    memcpy(q, foliot__sensed_paths(world)[i].q, 4 * sizeof *q);
}

static void present_pose(const foliot_world *world, uint32_t i, double x[3], double q[4])
{
    x[0] = foliot__position_x(world)[i];
    x[1] = foliot__position_y(world)[i];
    x[2] = foliot__position_z(world)[i];
    foliot__orientation_of(world, i, q);
}

// Between two orientations the turning is fastest in the middle: 4 tan(angle / 4).
static void measure_turning(const foliot_world *world, uint32_t i, sensor_piece *p)
{
    double cosine = 0;
    for (int k = 0; k < 4; k++)
        cosine += p->q_from[k] * p->q_to[k];
    for (int k = 0; k < 4 && cosine < 0; k++)
        p->q_from[k] = -p->q_from[k];
    cosine = foliot__smaller(foliot__absolute(cosine), 1);
    p->turned =
        memcmp(p->q_from, p->q_to, sizeof p->q_to) == 0
            ? 0
            : 4 * foliot__sqrt((1 - cosine) / (1 + cosine)) * foliot__turning_radius(world, i);
}

static void move_piece(sensor_piece *p, double share)
{
    double q[4];
    for (int k = 0; k < 3; k++)
        p->solid.x[k] = p->from[k] + (p->to[k] - p->from[k]) * share;
    for (int k = 0; k < 4; k++)
        q[k] = p->q_from[k] + (p->q_to[k] - p->q_from[k]) * share;
    foliot__quat_normalise(q, q);
    foliot__quat_axes(q, p->solid.axis);
}

// Whether the balls around the two meet on straight pieces.
static bool may_meet_on_way(const sensor_piece *s, const sensor_piece *b)
{
    if (s->solid.kind == FOLIOT_SHAPE_PLANE)
        return true;
    double d[3], v[3], reach = reach_of(&s->solid, &b->solid);
    for (int k = 0; k < 3; k++) {
        d[k] = b->from[k] - s->from[k];
        v[k] = (b->to[k] - s->to[k]) - d[k];
    }
    double v2 = foliot__vec3_dot(v, v);
    double share = v2 > 0 ? foliot__clamp(-foliot__vec3_dot(d, v) / v2, 0, 1) : 0;
    for (int k = 0; k < 3; k++)
        d[k] += v[k] * share;
    return !(foliot__vec3_dot(d, d) > reach * reach);
}

// Conservative advancement: the two are as far from each other as their gap, and close along the
// direction that separates them at most as fast as they move and turn.
static bool meet_on_way(sensor_piece *s, sensor_piece *b)
{
    double v[3], d[3], n[3], share = 0;
    for (int k = 0; k < 3; k++)
        v[k] = (b->to[k] - b->from[k]) - (s->to[k] - s->from[k]);
    for (int step = 0; step < STEPS_MAX; step++) {
        move_piece(s, share);
        move_piece(b, share);
        for (int k = 0; k < 3; k++)
            d[k] = b->solid.x[k] - s->solid.x[k];
        double gap = foliot__gap_of(&s->solid, &b->solid, d, n);
        if (gap <= 0)
            return true;
        double closes = s->turned + b->turned - foliot__vec3_dot(v, n);
        if (share >= 1 || !(closes * (1 - share) >= gap))
            return false;
        share += foliot__larger(gap / closes, step < STEPS_MAX / 2 ? STEP_MIN : 2.0 / STEPS_MAX);
        share = foliot__smaller(share, 1);
    }
    return false;
}

static uint32_t lower_bound(const foliot__sensed_pair *pairs, uint32_t count,
                            const foliot__sensed_pair *pair)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(&pairs[middle], pair) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The slots to look for sensors in, ascending: those of the sensors, or all.
typedef struct sensor_list {
    uint32_t slots[LISTED_MAX];
    uint32_t count;
    bool all;
} sensor_list;

static void list_sensors(const foliot_world *world, sensor_list *list)
{
    list->count = 0;
    list->all = false;
    for (uint32_t i = 0; i < world->body_count && !list->all; i++) {
        if (!is_sensor(world, i))
            continue;
        list->all = list->count == LISTED_MAX;
        if (!list->all)
            list->slots[list->count++] = i;
    }
    if (list->all)
        list->count = world->body_count;
}

// Tests a body that moves from its last known place at `from` to (x, q) at `to`, in shares of the
// substep, against all sensors.
static void test_way(foliot_world *world, const sensor_list *list, uint32_t body, double from,
                     double to, const double x[3], const double q[4])
{
    const foliot__sensed_pair *before = foliot__sensed_before(world);
    foliot__sensed_pair *passed = foliot__sensed_passed(world);
    sensor_piece b = {.turned = 0};
    foliot__solid_shape(world, body, &b.solid);
    path_pose(world, body, b.from, b.q_from);
    memcpy(b.to, x, sizeof b.to);
    memcpy(b.q_to, q, sizeof b.q_to);
    measure_turning(world, body, &b);
    for (uint32_t n = 0; n < list->count; n++) {
        uint32_t i = list->all ? n : list->slots[n];
        if (!is_sensor(world, i) || !foliot__may_touch(world, i, body))
            continue;
        sensor_piece s = {.turned = 0}, part;
        foliot__solid_shape(world, i, &part.solid);
        path_pose(world, i, s.from, s.q_from);
        present_pose(world, i, s.to, s.q_to);
        for (int k = 0; k < 3; k++) {
            part.from[k] = s.from[k] + (s.to[k] - s.from[k]) * from;
            part.to[k] = to < 1 ? s.from[k] + (s.to[k] - s.from[k]) * to : s.to[k];
        }
        if (!may_meet_on_way(&part, &b))
            continue;
        const foliot__sensed_pair pair = pair_of(world, i, body);
        uint32_t at = lower_bound(before, world->sensors.before_count, &pair);
        if (at < world->sensors.before_count && compare(&before[at], &pair) == 0)
            continue; // it overlaps already
        measure_turning(world, i, &s);
        part.turned = s.turned;
        for (int k = 0; k < 4; k++) {
            part.q_from[k] = s.q_from[k] + (s.q_to[k] - s.q_from[k]) * from;
            part.q_to[k] = to < 1 ? s.q_from[k] + (s.q_to[k] - s.q_from[k]) * to : s.q_to[k];
        }
        at = lower_bound(passed, world->sensors.passed_count, &pair);
        if ((at < world->sensors.passed_count && compare(&passed[at], &pair) == 0) ||
            !meet_on_way(&part, &b))
            continue;
        if (world->sensors.passed_count == world->capacity.sensed) {
            world->counters.events_dropped++;
            continue;
        }
        memmove(&passed[at + 1], &passed[at],
                (world->sensors.passed_count++ - at) * sizeof *passed);
        passed[at] = pair;
    }
}

void foliot__sensors_follow(foliot_world *world)
{
    if (world->capacity.sensed == 0)
        return;
    foliot__sensed_path *path = foliot__sensed_paths(world);
    for (uint32_t i = 0; i < world->body_count; i++) {
        path[i].share = 0;
        path[i].slack = (double)FOLIOT__FAR;
        present_pose(world, i, path[i].x, path[i].q);
    }
    for (uint32_t s = 0; s < world->body_count; s++) {
        if (!is_sensor(world, s))
            continue;
        foliot__solid sensor = foliot__solid_of(world, s), body;
        for (uint32_t i = 0; i < world->body_count; i++) {
            if (!is_visitor(world, i))
                continue;
            const double d[3] = {path[i].x[0] - sensor.x[0], path[i].x[1] - sensor.x[1],
                                 path[i].x[2] - sensor.x[2]};
            foliot__solid_shape(world, i, &body);
            double slack = sensor.kind == FOLIOT_SHAPE_PLANE
                               ? -1
                               : foliot__vec3_length(d) * (1 - 0x1p-40) - reach_of(&sensor, &body);
            path[i].slack = foliot__smaller(path[i].slack, slack);
        }
    }
}

void foliot__sensors_bend(foliot_world *world, uint32_t body, double share, const double x[3],
                          const double q[4])
{
    foliot__sensed_path *path = &foliot__sensed_paths(world)[body];
    if (world->capacity.sensed == 0 || !is_visitor(world, body))
        return;
    sensor_list list;
    list_sensors(world, &list);
    const double d[3] = {x[0] - path->x[0], x[1] - path->x[1], x[2] - path->x[2]};
    test_way(world, &list, body, path->share, share, x, q);
    path->slack -= foliot__vec3_length(d);
    path->share = share;
    memcpy(path->x, x, sizeof path->x);
    memcpy(path->q, q, sizeof path->q);
}

void foliot__sensors_sweep(foliot_world *world)
{
    if (world->capacity.sensed == 0)
        return;
    foliot__sensed_path *path = foliot__sensed_paths(world);
    sensor_list list;
    list_sensors(world, &list);
    double most = 0; // that a sensor moved
    for (uint32_t n = 0; n < list.count; n++) {
        uint32_t s = list.all ? n : list.slots[n];
        if (is_sensor(world, s))
            most = foliot__larger(most, moved_by(world, s));
    }
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (!is_visitor(world, i))
            continue;
        double x[3], q[4];
        path[i].slack -= moved_by(world, i) + most;
        present_pose(world, i, x, q);
        if (path[i].slack <= 0)
            test_way(world, &list, i, path[i].share, 1, x, q);
    }
    for (uint32_t i = 0; i < world->body_count; i++) {
        path[i].share = 0;
        present_pose(world, i, path[i].x, path[i].q);
    }
}

// -- events

uint32_t foliot_world_get_sensor_events(const foliot_world *world, foliot_sensor_event *events,
                                        uint32_t capacity)
{
    const foliot__sensed_pair *before = foliot__sensed_before(world), *now = foliot__sensed(world);
    const foliot__sensed_pair *passed = foliot__sensed_passed(world);
    uint32_t count = 0, i = 0, n = 0, k = 0;
    uint32_t then = world->sensors.before_count, present = world->sensors.count;
    if (!world->sensors.valid) // no step since the state was set
        return 0;
    while (i < then || n < present || k < world->sensors.passed_count) {
        int order = n == present ? -1 : i == then ? 1 : compare(&before[i], &now[n]);
        const foliot__sensed_pair *pair = i == then && n == present ? NULL
                                          : order < 0               ? &before[i]
                                                                    : &now[n];
        bool passes = k < world->sensors.passed_count && (!pair || compare(pair, &passed[k]) > 0);
        if (passes) {
            for (int change = FOLIOT_SENSOR_ENTER; change <= FOLIOT_SENSOR_LEAVE; change++, count++)
                if (count < capacity)
                    events[count] =
                        (foliot_sensor_event){passed[k].sensor, passed[k].body, (uint32_t)change};
            k++;
            continue;
        }
        if (order != 0 && count < capacity)
            events[count] = (foliot_sensor_event){
                pair->sensor, pair->body, order < 0 ? FOLIOT_SENSOR_LEAVE : FOLIOT_SENSOR_ENTER};
        count += order != 0;
        i += order <= 0;
        n += order >= 0;
    }
    return count;
}
