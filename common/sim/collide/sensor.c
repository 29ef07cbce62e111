// SPDX-License-Identifier: MIT
// sensor.c: overlaps of bodies with sensors: those at the end of a step, the changes since the last
// one, and overlaps in between. An overlap is a function of the present poses, so that a restored
// world knows those of the step before without further state. Every body is tested against every
// sensor, first by their bounding balls.
//
// Within a step a path has a straight piece for each substep, and bends where an impact changed it.
// A body's path is tested only if it came within reach of a sensor: `slack` is the distance that it
// may still move before that.
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

// The square of the distance between the centres at which the balls around the two meet, at most:
// (p + q)^2 <= 2 p^2 + 2 q^2.
static double reach2_of(const foliot__solid *sensor, const foliot__solid *body)
{
    return 4 * (foliot__size2_of(body) + foliot__size2_of(sensor)) * (1 + 0x1p-40);
}

static bool overlap(const foliot_world *world, const foliot__solid *sensor, uint32_t i)
{
    foliot__solid body;
    if (sensor->kind != FOLIOT_SHAPE_PLANE) { // not even the balls around the two meet
        foliot__solid_shape(world, i, &body);
        vec3 d = vec3_sub(foliot__v3_get(foliot__position(world), i), sensor->x);
        if (vec3_dot(d, d) > reach2_of(sensor, &body))
            return false;
    }
    vec3 n;
    body = foliot__solid_of(world, i);
    return foliot__gap_of(sensor, &body, vec3_sub(body.x, sensor->x), &n) <= 0;
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

static double moved_by(const foliot_world *world, uint32_t i)
{
    return vec3_length(vec3_sub(foliot__v3_get(foliot__position(world), i),
                                vec3_of(foliot__sensed_paths(world)[i].x)));
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
                foliot__may_touch(world, s, i) && overlap(world, &sensor, i)) {
                if (world->sensors.count == world->capacity.sensed)
                    world->counters.events_dropped++;
                else
                    foliot__sensed(world)[world->sensors.count++] = pair_of(world, s, i);
            }
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

typedef struct pose {
    vec3 x;
    quat q;
} pose;

// Two poses and the solid between them.
typedef struct sensor_piece {
    foliot__solid solid; // at the beginning
    pose from, to;
    double turned; // of its surface by turning, at most, times the piece's duration
} sensor_piece;

static pose path_pose(const foliot_world *world, uint32_t i)
{
    const foliot__sensed_path *path = &foliot__sensed_paths(world)[i];
    return (pose){vec3_of(path->x), quat_of(path->q)};
}

static pose present_pose(const foliot_world *world, uint32_t i)
{
    return (pose){foliot__v3_get(foliot__position(world), i), foliot__quat_get(world, i)};
}

static void set_path(foliot__sensed_path *path, pose at)
{
    vec3_store(at.x, path->x);
    quat_store(at.q, path->q);
}

static vec3 position_between(const sensor_piece *p, double share)
{
    return vec3_add(p->from.x, vec3_scale(vec3_sub(p->to.x, p->from.x), share));
}

static quat orientation_between(const sensor_piece *p, double share)
{
    quat a = p->from.q, b = p->to.q;
    return (quat){a.w + (b.w - a.w) * share, a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share,
                  a.z + (b.z - a.z) * share};
}

// Between two orientations the turning is fastest in the middle: 4 tan(angle / 4).
static void measure_turning(const foliot_world *world, uint32_t i, sensor_piece *p)
{
    quat a = p->from.q, b = p->to.q;
    double cosine = ((a.w * b.w + a.x * b.x) + a.y * b.y) + a.z * b.z;
    if (cosine < 0)
        p->from.q = (quat){-a.w, -a.x, -a.y, -a.z};
    cosine = foliot__smaller(foliot__absolute(cosine), 1);
    p->turned =
        memcmp(&p->from.q, &p->to.q, sizeof p->to.q) == 0
            ? 0
            : 4 * foliot__sqrt((1 - cosine) / (1 + cosine)) * foliot__turning_radius(world, i);
}

// Whether the balls around the two meet on straight pieces.
static bool may_meet_on_way(const sensor_piece *s, const sensor_piece *b)
{
    if (s->solid.kind == FOLIOT_SHAPE_PLANE)
        return true;
    double reach = foliot__sqrt(reach2_of(&s->solid, &b->solid));
    vec3 d = vec3_sub(b->from.x, s->from.x), v = vec3_sub(vec3_sub(b->to.x, s->to.x), d);
    double v2 = vec3_dot(v, v);
    double share = v2 > 0 ? foliot__clamp(-vec3_dot(d, v) / v2, 0, 1) : 0;
    d = vec3_add(d, vec3_scale(v, share));
    return !(vec3_dot(d, d) > reach * reach);
}

static void move_piece(sensor_piece *p, double share)
{
    p->solid.x = position_between(p, share);
    p->solid.axis = quat_axes(quat_normalise(orientation_between(p, share)));
}

// Conservative advancement: the two are as far from each other as their gap, and close along the
// direction that separates them at most as fast as they move and turn.
static bool meet_on_way(sensor_piece *s, sensor_piece *b)
{
    vec3 v = vec3_sub(vec3_sub(b->to.x, b->from.x), vec3_sub(s->to.x, s->from.x)), n;
    double share = 0;
    for (int step = 0; step < STEPS_MAX; step++) {
        move_piece(s, share);
        move_piece(b, share);
        double gap = foliot__gap_of(&s->solid, &b->solid, vec3_sub(b->solid.x, s->solid.x), &n);
        if (gap <= 0)
            return true;
        double closes = s->turned + b->turned - vec3_dot(v, n);
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

// Tests a body that moves from its last known place at `from` to the pose `at` at `to`, in shares
// of the substep, against all sensors.
static void test_way(foliot_world *world, const sensor_list *list, uint32_t body, double from,
                     double to, pose at)
{
    const foliot__sensed_pair *before = foliot__sensed_before(world);
    foliot__sensed_pair *passed = foliot__sensed_passed(world);
    sensor_piece b = {.from = path_pose(world, body), .to = at};
    foliot__solid_shape(world, body, &b.solid);
    measure_turning(world, body, &b);
    for (uint32_t n = 0; n < list->count; n++) {
        uint32_t i = list->all ? n : list->slots[n];
        if (!is_sensor(world, i) || !foliot__may_touch(world, i, body))
            continue;
        sensor_piece s = {.from = path_pose(world, i), .to = present_pose(world, i)}, part;
        foliot__solid_shape(world, i, &part.solid);
        part.from.x = position_between(&s, from);
        part.to.x = to < 1 ? position_between(&s, to) : s.to.x;
        if (!may_meet_on_way(&part, &b))
            continue;
        const foliot__sensed_pair pair = pair_of(world, i, body);
        uint32_t row = lower_bound(before, world->sensors.before_count, &pair);
        if (row < world->sensors.before_count && compare(&before[row], &pair) == 0)
            continue; // it overlaps already
        measure_turning(world, i, &s);
        part.turned = s.turned;
        part.from.q = orientation_between(&s, from);
        part.to.q = to < 1 ? orientation_between(&s, to) : s.to.q;
        row = lower_bound(passed, world->sensors.passed_count, &pair);
        if ((row < world->sensors.passed_count && compare(&passed[row], &pair) == 0) ||
            !meet_on_way(&part, &b))
            continue;
        if (world->sensors.passed_count == world->capacity.sensed) {
            world->counters.events_dropped++;
            continue;
        }
        memmove(&passed[row + 1], &passed[row],
                (world->sensors.passed_count++ - row) * sizeof *passed);
        passed[row] = pair;
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
        set_path(&path[i], present_pose(world, i));
    }
    for (uint32_t s = 0; s < world->body_count; s++) {
        if (!is_sensor(world, s))
            continue;
        foliot__solid sensor = foliot__solid_of(world, s), body;
        for (uint32_t i = 0; i < world->body_count; i++) {
            if (!is_visitor(world, i))
                continue;
            foliot__solid_shape(world, i, &body);
            double distance = vec3_length(vec3_sub(vec3_of(path[i].x), sensor.x));
            double slack = sensor.kind == FOLIOT_SHAPE_PLANE
                               ? -1
                               : distance * (1 - 0x1p-40) - foliot__sqrt(reach2_of(&sensor, &body));
            path[i].slack = foliot__smaller(path[i].slack, slack);
        }
    }
}

void foliot__sensors_bend(foliot_world *world, uint32_t body, double share, vec3 x, quat q)
{
    foliot__sensed_path *path = &foliot__sensed_paths(world)[body];
    if (world->capacity.sensed == 0 || !is_visitor(world, body))
        return;
    sensor_list list;
    list_sensors(world, &list);
    const pose at = {x, q};
    test_way(world, &list, body, path->share, share, at);
    path->slack -= vec3_length(vec3_sub(x, vec3_of(path->x)));
    path->share = share;
    set_path(path, at);
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
        path[i].slack -= moved_by(world, i) + most;
        if (path[i].slack <= 0)
            test_way(world, &list, i, path[i].share, 1, present_pose(world, i));
    }
    for (uint32_t i = 0; i < world->body_count; i++) {
        path[i].share = 0;
        set_path(&path[i], present_pose(world, i));
    }
}

// -- events

static foliot_sensor_event sensor_event(const foliot__sensed_pair *pair,
                                        foliot_sensor_change change)
{
    return (foliot_sensor_event){
        .sensor = {((uint64_t)pair->sensor_generation + 1) << 32 | pair->sensor},
        .body = {((uint64_t)pair->body_generation + 1) << 32 | pair->body},
        .change = change};
}

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
                    events[count] = sensor_event(&passed[k], (foliot_sensor_change)change);
            k++;
            continue;
        }
        if (order != 0 && count < capacity)
            events[count] =
                sensor_event(pair, order < 0 ? FOLIOT_SENSOR_LEAVE : FOLIOT_SENSOR_ENTER);
        count += order != 0;
        i += order <= 0;
        n += order >= 0;
    }
    return count;
}
