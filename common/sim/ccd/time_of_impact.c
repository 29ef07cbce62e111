// SPDX-License-Identifier: MIT
// time_of_impact.c: the time at which two moving and rotating shapes come into contact, by
// conservative advancement (Mirtich 1996). Along a separating direction, a bound that follows from
// the velocities limits how fast any point closes in. Both bodies can advance by gap / bound
// without a check. The work is bounded and depends on the two paths alone.
#include "sim/ccd/impact.h"

#define STEPS_MAX 96 // of the search for one pair
#define STEPS_EXACT                                                                                \
    24 // that are as short as the bound demands; later ones may skip a part of a stride
#define CALM_ADVANCES 2 // a pair in contact without approach advances by this part of the step
// In units of FOLIOT__CONTACT_GAP: a pair in contact without approach is ignored if it can move no
// further than this, and the least advance of a pair with a point in contact.
#define CALM_DISPLACEMENT 256
#define STRIDE 128
#define REMAINDER_MIN                                                                              \
    0x1p-20             // of the step: an impact in a shorter remainder is left to the next step
#define NOWHERE 0x1p100 // farther than anything

// -- a pair of sweeps

typedef struct swept_pair {
    const foliot__collider *c;
    foliot__sweep a, b;
    vec3 d;               // from a's centre to b's
    double contact_gap;   // a smaller gap is contact
    double surface_speed; // of the two surfaces by turning, at most, as a speed
    double gain;          // of the relative velocity, as an acceleration
    vec3 n;               // what separates them, from a to b
    foliot__near_point points[FOLIOT__POINTS]; // none yet if the count is 0
    uint32_t count;
    vec3 spin_a, spin_b; // in contact
} swept_pair;

static double closing_speed(const swept_pair *p, vec3 n)
{
    return vec3_dot(vec3_sub(p->a.v, p->b.v), n);
}

// The support of the solid along n from its centre, times the length of n.
static inline double support(const foliot__solid *s, vec3 n, double length)
{
    double sum = s->radius * length;
    if (s->kind == FOLIOT_SHAPE_CAPSULE)
        return sum + s->half[2] * foliot__absolute(vec3_dot(s->axis.row[2], n));
    for (int k = 0; k < 3 && s->kind == FOLIOT_SHAPE_BOX; k++)
        sum += s->half[k] * foliot__absolute(vec3_dot(s->axis.row[k], n));
    return sum;
}

// The remainder of the step, relative to two bodies that may come into contact in it.
typedef struct remaining_step {
    vec3 d, v; // from the first centre to the second; of the first as the second sees it
    double left, contact_gap;
    double more;  // how much faster than v the centres may close in
    double turns; // how far the two surfaces may come by turning
} remaining_step;

// Whether the gap along n outlasts the step. `length` is that of n; `support_sum` is the support of
// both.
static bool gap_lasts(const remaining_step *o, vec3 n, double length, double support_sum)
{
    double along = vec3_dot(o->d, n), speed = vec3_dot(o->v, n);
    double gap = foliot__absolute(along) - support_sum, closes = along < 0 ? -speed : speed;
    return (foliot__larger(closes, 0) + o->more * length) * o->left <=
           gap - (o->contact_gap + o->turns) * length;
}

static bool face_gap_lasts(const remaining_step *o, const foliot__solid *box,
                           const foliot__solid *other)
{
    for (int k = 0; k < 3 && box->kind == FOLIOT_SHAPE_BOX; k++) {
        vec3 n = box->axis.row[k];
        if (gap_lasts(o, n, 1, box->half[k] + support(other, n, 1)))
            return true;
    }
    return false;
}

static bool plane_gap_lasts(const remaining_step *o, foliot__motion at, const foliot__solid *solid,
                            const foliot__solid *plane)
{
    vec3 n = vec3_of(plane->half);
    double gap = vec3_dot(n, at.x) - plane->offset - support(solid, n, 1);
    double closes = -vec3_dot(n, at.v);
    return (foliot__larger(closes, 0) + o->more) * o->left <= gap - (o->contact_gap + o->turns);
}

// Whether a gap along one of a few directions outlasts the step, however both turn. This rejects
// most pairs. It uses the orientations where the paths begin and bounds what they turn through
// later.
static bool stay_apart(const foliot__collider *c, const foliot__sweep *a, const foliot__sweep *b,
                       double since, double gain)
{
    double end = c->step->dt;
    foliot__motion at_a = {a->solid.x, a->v}, at_b = {b->solid.x, b->v};
    remaining_step o = {.left = end - since,
                        .contact_gap =
                            FOLIOT__CONTACT_GAP * foliot__smaller(a->inradius, b->inradius)};
    o.more = gain * o.left;
    o.turns = a->surface_speed * (end - c->paths.since[a->body]) +
              b->surface_speed * (end - c->paths.since[b->body]);
    if (c->paths.since[a->body] != since)
        at_a = foliot__path_at(c, a->body, since);
    if (c->paths.since[b->body] != since)
        at_b = foliot__path_at(c, b->body, since);
    if (a->solid.kind == FOLIOT_SHAPE_PLANE)
        return plane_gap_lasts(&o, at_b, &b->solid, &a->solid);
    if (b->solid.kind == FOLIOT_SHAPE_PLANE)
        return plane_gap_lasts(&o, at_a, &a->solid, &b->solid);
    o.d = vec3_sub(at_b.x, at_a.x);
    o.v = vec3_sub(at_a.v, at_b.v);
    double length = vec3_length(o.d);
    double support_sum = support(&a->solid, o.d, length) + support(&b->solid, o.d, length);
    return gap_lasts(&o, o.d, length, support_sum) || face_gap_lasts(&o, &a->solid, &b->solid) ||
           face_gap_lasts(&o, &b->solid, &a->solid);
}

// -- the point that is hit

static double approach_at(const swept_pair *p, vec3 arm_a, vec3 arm_b, vec3 n)
{
    double turned =
        p->b.solid.kind == FOLIOT_SHAPE_PLANE ? 0 : -vec3_dot(vec3_cross(p->spin_b, arm_b), n);
    if (p->a.solid.kind != FOLIOT_SHAPE_PLANE)
        turned += vec3_dot(vec3_cross(p->spin_a, arm_a), n);
    return closing_speed(p, n) + turned;
}

// The highest speed along n that rotation gives a point of the solid. The contact of a ball at its
// end is its foremost point, which rotation does not move.
static double turned_along(const foliot__sweep *r, vec3 w, vec3 n)
{
    return r->solid.kind == FOLIOT_SHAPE_PLANE
               ? 0
               : support(&r->solid, vec3_cross(n, w), 0); // 0: without the balls
}

// Finds the middle of the points that are in contact and approach: a box that lands flat is hit in
// its middle. If there is none, *next is the least gap of a point that is not in contact yet.
static bool find_hit_point(swept_pair *p, double speed_min, foliot__toi *m, double *next)
{
    if (p->count == 0)
        p->count = foliot__near_points(&p->a.solid, p->a.q, &p->b.solid, p->b.q, p->d, NOWHERE,
                                       &p->n, p->points);
    const foliot__near_point *points = p->points;
    uint32_t hit_count = 0, count = p->count;
    m->normal = p->n;
    *next = count > 1 || p->surface_speed == 0 ? NOWHERE : 0;
    for (uint32_t i = 0; i < count; i++)
        if (points[i].gap > p->contact_gap)
            *next = foliot__smaller(*next, points[i].gap);
    double least = NOWHERE;
    vec3 sum_a = {0, 0, 0}, sum_b = {0, 0, 0};
    for (uint32_t i = 0; i < count; i++)
        if (points[i].gap <= 2 * p->contact_gap &&
            approach_at(p, points[i].arm_a, points[i].arm_b, m->normal) > speed_min)
            least = foliot__smaller(least, points[i].gap);
    for (uint32_t i = 0; i < count; i++) {
        const foliot__near_point *at = &points[i];
        if (at->gap > least + p->contact_gap || at->gap > 2 * p->contact_gap ||
            !(approach_at(p, at->arm_a, at->arm_b, m->normal) > speed_min))
            continue;
        hit_count++;
        sum_a = vec3_add(sum_a, at->arm_a);
        sum_b = vec3_add(sum_b, at->arm_b);
    }
    if (hit_count == 0)
        return false;
    m->arm_a = vec3_divide(sum_a, hit_count);
    m->arm_b = vec3_divide(sum_b, hit_count);
    m->speed = approach_at(p, m->arm_a, m->arm_b, m->normal);
    return true;
}

static bool search_impact(swept_pair *p, double since, double speed_min, double displacement_min,
                          double most, foliot__toi *m)
{
    double time = since, end = p->c->step->dt, pause = (end - since) / CALM_ADVANCES;
    bool boxes = p->a.solid.kind == FOLIOT_SHAPE_BOX && p->b.solid.kind == FOLIOT_SHAPE_BOX;
    for (int step = 0; step < STEPS_MAX; step++) {
        // The gap, and the direction that separates them. The points of two boxes are found only
        // when they are needed.
        double gap = NOWHERE, left = end - time, next = NOWHERE,
               slowest = foliot__larger(speed_min, displacement_min / left);
        p->count = 0;
        if (boxes)
            gap = foliot__gap_of_boxes(&p->a.solid, &p->b.solid, p->d, &p->n);
        else
            p->count = foliot__near_points(&p->a.solid, p->a.q, &p->b.solid, p->b.q, p->d, NOWHERE,
                                           &p->n, p->points);
        for (uint32_t i = 0; i < p->count; i++)
            gap = foliot__smaller(gap, p->points[i].gap);
        double bound =
                   foliot__larger(closing_speed(p, p->n), 0) + p->gain * left + p->surface_speed,
               on = pause;
        if (gap > p->contact_gap) {
            if (!(bound * left > gap - p->contact_gap))
                return false;
            on = (gap - p->contact_gap / 2) / bound;
            if (step >= STEPS_EXACT) // a surface rotates away as fast as it might come
                on = foliot__larger(on, p->contact_gap * (STRIDE / 4) / most);
        } else {
            // The highest speed at which any point of the two approaches the other body.
            p->spin_a = foliot__spin_along(&p->a, &p->a.solid.axis);
            p->spin_b = foliot__spin_along(&p->b, &p->b.solid.axis);
            double speed = closing_speed(p, p->n) + (turned_along(&p->a, p->spin_a, p->n) +
                                                     turned_along(&p->b, p->spin_b, p->n));
            if (speed + p->gain * left <= slowest &&
                most * left < CALM_DISPLACEMENT * p->contact_gap)
                return false;
            if (speed > slowest && find_hit_point(p, slowest, m, &next)) {
                m->time = time;
                m->unresolved = false;
                return true;
            }
            // No point in contact approaches yet; others may advance as far as their gaps allow,
            // and the two as long as they cannot get deeper by a part of the inradius: rotation and
            // translation give at most this acceleration along the separating direction.
            double turns = vec3_length(p->spin_a) + vec3_length(p->spin_b);
            double acceleration = p->gain + most * turns;
            double safe = acceleration > 0
                              ? foliot__sqrt(2 * STRIDE * p->contact_gap / acceleration)
                              : NOWHERE;
            on = foliot__smaller(pause, safe);
            if (next < NOWHERE)
                on = foliot__smaller(
                    on, foliot__larger(next - p->contact_gap / 2, p->contact_gap * STRIDE) / most);
        }
        time += on;
        if (!(time < end))
            return false;
        foliot__sweep_move(p->c, &p->a, time);
        foliot__sweep_move(p->c, &p->b, time);
        p->d = vec3_sub(p->b.solid.x, p->a.solid.x);
    }
    m->time = time;
    m->unresolved = true;
    return true;
}

bool foliot__time_of_impact(const foliot__collider *c, uint32_t a, uint32_t b, double since,
                            foliot__toi *m)
{
    const foliot__sweep *ra = foliot__sweep_of(c, a), *rb = foliot__sweep_of(c, b);
    foliot__v3 g = c->paths.acceleration;
    double gain = vec3_length(vec3_sub(foliot__v3_get(g, b), foliot__v3_get(g, a)));
    double end = c->step->dt;
    if (!(end - since > end * REMAINDER_MIN) || stay_apart(c, ra, rb, since, gain))
        return false;
    swept_pair p;
    p.c = c;
    p.a = *ra;
    p.b = *rb;
    p.contact_gap = FOLIOT__CONTACT_GAP * foliot__smaller(ra->inradius, rb->inradius);
    p.surface_speed = ra->surface_speed + rb->surface_speed;
    p.gain = gain;
    if (c->paths.since[a] != since)
        foliot__sweep_move(c, &p.a, since);
    if (c->paths.since[b] != since)
        foliot__sweep_move(c, &p.b, since);
    p.d = vec3_sub(p.b.solid.x, p.a.solid.x);
    double most = vec3_length(vec3_sub(p.b.v, p.a.v)) + gain * (end - since) + p.surface_speed;
    double speed_min = foliot__larger(foliot__impact_speed_min(c, a, b),
                                      foliot__approach_min(c, p.contact_gap, most));
    return most > speed_min &&
           search_impact(&p, since, speed_min, foliot__impact_displacement_min(c, a, b), most, m);
}
