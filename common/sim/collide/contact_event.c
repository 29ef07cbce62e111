// SPDX-License-Identifier: MIT
// contact_event.c: the contact events of a step. Contact events compare two lists of pairs: the
// table `contact` when the step began, and as it is now. Contact points are computed on demand.
#include "foliot/query.h"

#include "sim/collide/shape.h"

#define PROJECTIONS 16
#define DISTANCE_MAX                                                                               \
    (2 * FOLIOT__SPECULATIVE_MARGIN) // of the smaller inradius: points within it may push

const foliot_hit_event *foliot_world_get_hit_events(const foliot_world *world, uint32_t *count)
{
    *count = world->reported.impact_count;
    return foliot__impacts(world);
}

// -- events

static double inradius_of(const foliot__solid *s)
{
    if (s->kind == FOLIOT_SHAPE_PLANE)
        return (double)FOLIOT__FAR;
    double least = foliot__smaller(foliot__smaller(s->half[0], s->half[1]), s->half[2]);
    return s->kind == FOLIOT_SHAPE_BOX ? least : s->radius;
}

// The point of the box that is nearest to p.
static vec3 clamp_to(const foliot__solid *box, vec3 p)
{
    vec3 at = box->x, d = vec3_sub(p, at);
    for (int k = 0; k < 3; k++) {
        double along = foliot__clamp(vec3_dot(d, box->axis.row[k]), -box->half[k], box->half[k]);
        at = vec3_add(at, vec3_scale(box->axis.row[k], along));
    }
    return at;
}

// The present contact of the two: the middle of the points, and the normal.
static void find_contact_point(const foliot_world *world, foliot_contact_event *event)
{
    uint32_t slot_a = foliot_body_id_get_slot(event->a), slot_b = foliot_body_id_get_slot(event->b);
    foliot__solid a = foliot__solid_of(world, slot_a), b = foliot__solid_of(world, slot_b);
    quat qa = foliot__quat_get(world, slot_a), qb = foliot__quat_get(world, slot_b);
    vec3 d = vec3_sub(b.x, a.x), n = {0, 0, 0}, point = {0, 0, 0};
    foliot__near_point points[FOLIOT__POINTS];
    double distance_max = foliot__smaller(inradius_of(&a), inradius_of(&b)) * DISTANCE_MAX;
    uint32_t count = foliot__near_points(&a, qa, &b, qb, d, distance_max, &n, points);
    if (count == 0)
        count = foliot__near_points(&a, qa, &b, qb, d, (double)FOLIOT__FAR, &n, points);
    if (count == 0) {
        // Two boxes that pressed in the last substep and have passed each other's corners since
        // have no points that face each other. The contact is then halfway between the nearest
        // points (by alternating projection), along the separating direction.
        vec3 on_a = a.x, on_b = b.x;
        for (int k = 0; k < PROJECTIONS; k++) {
            on_a = clamp_to(&a, on_b);
            on_b = clamp_to(&b, on_a);
        }
        foliot__gap_of(&a, &b, d, &n);
        point = vec3_divide(vec3_add(on_a, on_b), 2);
    }
    for (uint32_t i = 0; i < count; i++) {
        // A plane has no place: use the arm of the other.
        vec3 at = a.kind == FOLIOT_SHAPE_PLANE ? vec3_add(b.x, points[i].arm_b)
                                               : vec3_add(a.x, points[i].arm_a);
        point = vec3_add(point, vec3_divide(at, count));
    }
    vec3_store(n, event->normal);
    vec3_store(point, event->point);
}

static double approach_of(const foliot_world *world, const foliot_contact_event *event)
{
    foliot__v3 v = foliot__before_velocity(world);
    vec3 w = vec3_sub(foliot__v3_get(v, foliot_body_id_get_slot(event->a)),
                      foliot__v3_get(v, foliot_body_id_get_slot(event->b)));
    return vec3_dot(w, vec3_of(event->normal));
}

static foliot_contact_event event_of(const foliot_world *world, const foliot__contact_row *row,
                                     bool begins)
{
    foliot_contact_event event = {.a = foliot__body_id(world, row->a),
                                  .b = foliot__body_id(world, row->b)};
    event.change = begins ? FOLIOT_CONTACT_BEGIN : FOLIOT_CONTACT_PERSIST;
    const float *normal = &row->normal_impulse_0, *friction = &row->friction_impulse_x;
    double rate = world->scene.substeps / world->scene.dt;
    for (uint32_t p = 0; p < FOLIOT__POINTS; p++) {
        event.points += normal[p] > 0;
        event.force += (double)normal[p];
    }
    event.force *= rate;
    vec3 force = {(double)friction[0], (double)friction[1], (double)friction[2]};
    vec3_store(vec3_scale(force, rate), event.friction);
    find_contact_point(world, &event);
    event.speed = begins ? approach_of(world, &event) : 0;
    return event;
}

// The begin of a contact that has ended already: the mean force over the whole step.
static foliot_contact_event brief_event(const foliot_world *world, const foliot__brief_contact *row)
{
    foliot_contact_event event = {.a = foliot__body_id(world, row->a),
                                  .b = foliot__body_id(world, row->b),
                                  .change = FOLIOT_CONTACT_BEGIN,
                                  .points = row->points};
    vec3_store(vec3_of(row->point), event.point);
    vec3_store(vec3_of(row->normal), event.normal);
    event.force = row->impulse / world->scene.dt;
    event.speed = approach_of(world, &event);
    return event;
}

static foliot_contact_event end_event(foliot_body_id a, foliot_body_id b)
{
    return (foliot_contact_event){.a = a, .b = b, .change = FOLIOT_CONTACT_END};
}

static uint64_t pair_key(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

uint32_t foliot_world_get_contact_events(const foliot_world *world, foliot_contact_event *events,
                                         uint32_t capacity)
{
    const foliot__contact_row *row = foliot__contact(world);
    const foliot__contact_before *before = foliot__contacts_before(world);
    const foliot__brief_contact *brief = foliot__brief_contacts(world);
    uint32_t count = 0, i = 0, n = 0, k = 0;
    uint32_t then = world->reported.contacts_before_count, now = world->contact_count,
             within = world->reported.brief_count;
    while (i < then || n < now || k < within) {
        uint64_t ended = i < then ? pair_key(foliot_body_id_get_slot(before[i].a),
                                             foliot_body_id_get_slot(before[i].b))
                                  : UINT64_MAX;
        uint64_t present = n < now ? pair_key(row[n].a, row[n].b) : UINT64_MAX;
        if (k < within && pair_key(brief[k].a, brief[k].b) < (ended < present ? ended : present)) {
            if (count < capacity)
                events[count] = brief_event(world, &brief[k]);
            if (count + 1 < capacity)
                events[count + 1] = end_event(foliot__body_id(world, brief[k].a),
                                              foliot__body_id(world, brief[k].b));
            count += 2;
            k++;
            continue;
        }
        // Where another body has the slot now, one contact ends and another one begins.
        bool persists = ended == present &&
                        before[i].a.value == foliot__body_id(world, row[n].a).value &&
                        before[i].b.value == foliot__body_id(world, row[n].b).value;
        bool ends = ended <= present && !persists;
        if (count < capacity)
            events[count] =
                ends ? end_event(before[i].a, before[i].b) : event_of(world, &row[n], !persists);
        count++;
        i += ends || persists;
        n += !ends;
    }
    return count;
}
