// SPDX-License-Identifier: MIT
// details.c: joints and contacts of the bodies on a session's page, as segments. The simulation's
// own code finds contacts in the shown poses, so that they fit the picture between two ticks too.
// Knows no client, steps nothing, and keeps no state between pictures.
#include "page.h"

#include "sim/collide/shape.h"

#include <stdlib.h>

#define NEAR FOLIOT__SPECULATIVE_MARGIN // of the smaller one's inradius: so near counts as contact
#define LOOKS_MAX 20000000u             // at pairs of bounds, in one picture: the page stays usable
#define POINTS_LOOKS 64                 // as much work as looking for a pair's points
#define CONTACTS_MAX 65536u             // points

enum { JOINTS = 1, CONTACTS = 2 };

typedef struct solid {
    double low[3], high[3];
    double inradius; // a plane's is infinite
    uint32_t slot;
} solid;

static struct {
    web_details *block;
    uint32_t capacity; // bytes
    const web_detail_body *bodies;
    const foliot_constraint_definition *joints;
    uint32_t body_count, joint_count;
    solid *solids;   // those that are not planes come first
    uint64_t *apart; // pairs that a joint holds apart, ascending
    uint32_t solid_count, plane_count, apart_count, room;
    double rounding, length;
    uint32_t contacts, looks;
    bool cut;
} d;

// Memory for a block of that many bytes; NULL: there is none.
WEB_EXPORT(room) void *web_details_room(uint32_t bytes)
{
    if (bytes > d.capacity) {
        free(d.block);
        d.block = malloc(bytes);
        d.capacity = d.block ? bytes : 0;
    }
    return d.block;
}

static const foliot_body_state *state_at(uint32_t slot)
{
    bool here = slot < d.body_count && d.bodies[slot].state.flags & FOLIOT_BODY_ALIVE;
    return here ? &d.bodies[slot].state : NULL;
}

// -- finding pairs that may be in contact

static bool make_room(void)
{
    uint32_t wanted = d.body_count > d.joint_count ? d.body_count : d.joint_count;
    if (wanted <= d.room)
        return true;
    free(d.solids);
    free(d.apart);
    d.solids = malloc(wanted * sizeof *d.solids);
    d.apart = malloc(wanted * sizeof *d.apart);
    d.room = d.solids && d.apart ? wanted : 0;
    return d.room > 0;
}

static uint64_t pair_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool is_solid(const web_detail_body *body)
{
    double sum = 0; // no number if one of them is none
    for (int k = 0; k < 3; k++)
        sum += body->state.position[k];
    for (int k = 0; k < 4; k++)
        sum += body->state.orientation[k];
    return (body->state.flags & (FOLIOT_BODY_ALIVE | FOLIOT_BODY_SENSOR)) == FOLIOT_BODY_ALIVE &&
           body->shape.kind != FOLIOT_SHAPE_POINT && sum - sum == 0;
}

static foliot__solid place_solid(const web_detail_body *body)
{
    const foliot_shape *shape = &body->shape;
    bool plane = shape->kind == FOLIOT_SHAPE_PLANE, round = shape->kind == FOLIOT_SHAPE_SPHERE;
    foliot__solid s = {.kind = shape->kind, .offset = shape->offset};
    s.radius = shape->kind == FOLIOT_SHAPE_BOX ? 0 : shape->radius;
    if (!round)
        vec3_store(vec3_of(plane ? shape->normal : shape->half), s.half);
    s.x = vec3_of(body->state.position);
    s.axis = quat_axes(quat_of(body->state.orientation));
    return s;
}

static void bound_solid(const foliot__solid *s, solid *out)
{
    const double *half = s->half;
    bool box = s->kind == FOLIOT_SHAPE_BOX;
    out->inradius = box ? foliot__smaller(half[0], foliot__smaller(half[1], half[2])) : s->radius;
    if (s->kind == FOLIOT_SHAPE_PLANE)
        out->inradius = __builtin_inf();
    double least = s->radius + out->inradius * NEAR + d.rounding;
    vec3 reach = {least, least, least};
    for (int axis = box ? 0 : 2; axis < 3; axis++) {
        vec3 along = s->axis.row[axis];
        along =
            (vec3){foliot__absolute(along.x), foliot__absolute(along.y), foliot__absolute(along.z)};
        reach = vec3_add(reach, vec3_scale(along, half[axis]));
    }
    vec3_store(vec3_sub(s->x, reach), out->low);
    vec3_store(vec3_add(s->x, reach), out->high);
}

static void list_solids(void)
{
    uint32_t first = 0, last = d.body_count;
    for (uint32_t i = 0; i < d.body_count; i++) {
        if (!is_solid(&d.bodies[i]))
            continue;
        foliot__solid placed = place_solid(&d.bodies[i]);
        solid *to = &d.solids[placed.kind == FOLIOT_SHAPE_PLANE ? --last : first++];
        to->slot = i;
        bound_solid(&placed, to);
    }
    d.solid_count = first;
    d.plane_count = d.body_count - last;
}

static bool may_touch(uint32_t i, uint32_t j)
{
    const uint32_t still = FOLIOT_BODY_STATIC | FOLIOT_BODY_KINEMATIC | FOLIOT_BODY_FROZEN;
    const web_detail_body *a = &d.bodies[i], *b = &d.bodies[j];
    uint64_t key = pair_key(i, j);
    return !(a->state.flags & still && b->state.flags & still) &&
           foliot__filters_match((foliot__filter){a->category, a->mask, a->group},
                                 (foliot__filter){b->category, b->mask, b->group}) &&
           !bsearch(&key, d.apart, d.apart_count, sizeof key, compare_keys);
}

// -- finding the contact points

static bool may_look(void)
{
    return d.looks < LOOKS_MAX && d.contacts < CONTACTS_MAX;
}

static void add_contacts_of(const solid *one, const solid *two)
{
    const solid *a = one->slot < two->slot ? one : two, *b = a == one ? two : one;
    if (!may_touch(a->slot, b->slot))
        return;
    const web_detail_body *of_a = &d.bodies[a->slot], *of_b = &d.bodies[b->slot];
    foliot__solid first = place_solid(of_a), second = place_solid(of_b);
    foliot__near_point points[FOLIOT__POINTS];
    vec3 normal;
    double inradius = foliot__smaller(a->inradius, b->inradius);
    double near = inradius * NEAR + d.rounding, length = foliot__smaller(d.length, inradius);
    d.looks += POINTS_LOOKS;
    uint32_t count = foliot__near_points(&first, quat_of(of_a->state.orientation), &second,
                                         quat_of(of_b->state.orientation),
                                         vec3_sub(second.x, first.x), near, &normal, points);
    for (uint32_t i = 0; i < count && d.contacts < CONTACTS_MAX; i++, d.contacts++) {
        double at[3], n[3];
        vec3_store(vec3_add(first.x, points[i].arm_a), at);
        vec3_store(normal, n);
        web_lines_add_contact(at, n, length);
    }
}

static int sort_axis; // along which the bodies are spread most

static int compare_solids(const void *a, const void *b)
{
    double x = ((const solid *)a)->low[sort_axis], y = ((const solid *)b)->low[sort_axis];
    return (x > y) - (x < y);
}

static bool bounds_meet(const solid *a, const solid *b)
{
    return (a->low[0] <= b->high[0]) & (b->low[0] <= a->high[0]) & (a->low[1] <= b->high[1]) &
           (b->low[1] <= a->high[1]) & (a->low[2] <= b->high[2]) & (b->low[2] <= a->high[2]);
}

static void add_contacts(void)
{
    if (!make_room())
        return;
    // As in the simulation: a joint's two bodies pass through each other unless it collides.
    d.apart_count = 0;
    for (uint32_t i = 0; i < d.joint_count; i++) {
        const foliot_constraint_definition *c = &d.joints[i];
        if (c->kind > FOLIOT_CONSTRAINT_ROD && !c->collides && c->b != FOLIOT_NO_BODY)
            d.apart[d.apart_count++] = pair_key(c->a, c->b);
    }
    qsort(d.apart, d.apart_count, sizeof *d.apart, compare_keys);
    list_solids();
    double widest = -1;
    for (int k = 0; k < 3; k++) {
        double sum = 0, squares = 0, n = d.solid_count;
        for (uint32_t i = 0; i < d.solid_count; i++) {
            double middle = (d.solids[i].low[k] + d.solids[i].high[k]) / 2;
            sum += middle;
            squares += middle * middle;
        }
        double spread = squares - sum * sum / n;
        if (spread > widest) {
            widest = spread;
            sort_axis = k;
        }
    }
    qsort(d.solids, d.solid_count, sizeof *d.solids, compare_solids);
    const solid *planes = d.solids + d.body_count - d.plane_count;
    for (uint32_t i = 0; i < d.solid_count && may_look(); i++) {
        const solid *a = &d.solids[i];
        for (uint32_t p = 0; p < d.plane_count && may_look(); p++, d.looks++)
            add_contacts_of(a, &planes[p]);
        for (uint32_t j = i + 1; j < d.solid_count && may_look(); j++, d.looks++) {
            if (d.solids[j].low[sort_axis] > a->high[sort_axis])
                break;
            if (bounds_meet(a, &d.solids[j]))
                add_contacts_of(a, &d.solids[j]);
        }
    }
}

// Returns how many segments there are at `lines`: joints, then contacts. `length`: of a contact's
// normal, whose middle is the point; it is shorter where a body is small.
WEB_EXPORT(draw) uint32_t web_details_draw(uint32_t what, double length)
{
    web_lines_begin();
    d.length = length;
    d.contacts = d.looks = 0;
    // The page may have written other data there.
    const web_details *head = d.block;
    if (d.capacity < sizeof *head || head->bytes > d.capacity)
        return 0;
    uint64_t bytes = sizeof *head + head->body_count * (uint64_t)sizeof(web_detail_body) +
                     head->joint_count * (uint64_t)sizeof(foliot_constraint_definition);
    d.bodies = (const web_detail_body *)(head + 1);
    d.joints = (const foliot_constraint_definition *)(d.bodies + head->body_count);
    d.body_count = head->body_count;
    d.joint_count = head->joint_count;
    d.rounding = head->rounding;
    if (bytes != head->bytes)
        return 0;
    if (what & JOINTS)
        for (uint32_t i = 0; i < d.joint_count; i++) {
            const foliot_constraint_definition *c = &d.joints[i];
            const foliot_body_state *a = state_at(c->a), *b = state_at(c->b);
            if (a && (b || c->b == FOLIOT_NO_BODY))
                web_lines_add_constraint(c, a, b);
        }
    uint32_t joints = web_lines_end();
    if (what & CONTACTS)
        add_contacts();
    uint32_t lines = web_lines_end();
    d.cut = !may_look() || d.contacts > lines - joints;
    d.contacts = lines - joints;
    return lines;
}

// How many of the segments are points of contact.
WEB_EXPORT(contact_count) uint32_t web_details_contacts(void)
{
    return d.contacts;
}

// Whether the limit of contacts was reached.
WEB_EXPORT(cut) uint32_t web_details_cut(void)
{
    return d.cut;
}
