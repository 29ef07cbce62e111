// SPDX-License-Identifier: MIT
// time_of_impact.c: when two moving and turning shapes come to touch, by conservative advancement
// (Mirtich 1996): along a direction that separates them, no point of either closes in faster than a
// bound that follows from the velocities, so they may be moved on by gap / bound without looking.
// The work is bounded, and depends on the two paths alone.
#include "sim/ccd/impact.h"

#define STEPS 96     // looks at a pair
#define RESTS 2      // parts of the step by which a pair that touches without approach moves on
#define TOUCH 0x1p-9 // of the smaller core: as near as this is touching
#define PATIENCE 24 // looks that are as near as they can be; later ones may skip a part of a stride
#define CALM                                                                                       \
    256 // touches that a pair may yet move by which touches and of which no point approaches
#define STRIDE 128      // touches that a pair moves on at least where one of its points touches
#define SLOW 0x1p-16    // of the fastest that they might close in: rounding, not approach
#define MOMENT 0x1p-20  // of the step: what is left after is the next one's
#define NOWHERE 0x1p100 // farther than anything

// -- a pair on its way

typedef struct couple {
    const foliot__collider *c;
    foliot__sweep a, b;
    double d[3];          // from a's centre to b's
    double touch;         // as near as this is touching
    double surface_speed; // of the two surfaces by turning, at most, as a speed
    double gain;          // of the relative velocity, as an acceleration
    double n[3];          // what separates them, from a to b
    foliot__near_point points[FOLIOT__POINTS]; // none yet if the count is 0
    uint32_t count;
    double spin_a[3], spin_b[3]; // where they touch
} couple;

static void couple_to(couple *p, double time)
{
    foliot__sweep_move(p->c, &p->a, time);
    foliot__sweep_move(p->c, &p->b, time);
    for (int k = 0; k < 3; k++)
        p->d[k] = p->b.solid.x[k] - p->a.solid.x[k];
}

static void set_couple(couple *p, const foliot__collider *c, const foliot__sweep *a,
                       const foliot__sweep *b, double time, double gain)
{
    p->c = c;
    p->a = *a;
    p->b = *b;
    p->touch = TOUCH * foliot__smaller(a->inradius, b->inradius);
    p->surface_speed = a->surface_speed + b->surface_speed;
    p->gain = gain;
    if (c->paths.since[a->body] != time)
        foliot__sweep_move(c, &p->a, time);
    if (c->paths.since[b->body] != time)
        foliot__sweep_move(c, &p->b, time);
    for (int k = 0; k < 3; k++)
        p->d[k] = p->b.solid.x[k] - p->a.solid.x[k];
}

static double closing(const couple *p, const double n[3])
{
    const double v[3] = {p->a.v[0] - p->b.v[0], p->a.v[1] - p->b.v[1], p->a.v[2] - p->b.v[2]};
    return foliot__vec3_dot(v, n);
}

// How far the solid reaches along n from its centre, times the length of n.
static inline double support(const foliot__solid *s, const double n[3], double length)
{
    double sum = s->radius * length;
    if (s->kind == FOLIOT_SHAPE_CAPSULE)
        return sum + s->half[2] * foliot__absolute(foliot__vec3_dot(s->axis[2], n));
    for (int k = 0; k < 3 && s->kind == FOLIOT_SHAPE_BOX; k++)
        sum += s->half[k] * foliot__absolute(foliot__vec3_dot(s->axis[k], n));
    return sum;
}

// What is left of the step, as two that may touch in it see it.
typedef struct outlook {
    double d[3], v[3]; // from the first centre to the second; of the first as the second sees it
    double left, touch;
    double more;  // how much faster than v the centres may close in
    double turns; // how far the two surfaces may come by turning
} outlook;

// Whether the gap along n, which is of that length, outlasts the step; `reach` of both along it.
static bool lasts(const outlook *o, const double n[3], double length, double reach)
{
    double along = foliot__vec3_dot(o->d, n), speed = foliot__vec3_dot(o->v, n);
    double gap = foliot__absolute(along) - reach, closes = along < 0 ? -speed : speed;
    return (foliot__larger(closes, 0) + o->more * length) * o->left <=
           gap - (o->touch + o->turns) * length;
}

static bool lasts_over_faces(const outlook *o, const foliot__solid *box, const foliot__solid *other)
{
    for (int k = 0; k < 3 && box->kind == FOLIOT_SHAPE_BOX; k++)
        if (lasts(o, box->axis[k], 1, box->half[k] + support(other, box->axis[k], 1)))
            return true;
    return false;
}

static bool lasts_over_plane(const outlook *o, const double x[3], const double v[3],
                             const foliot__solid *solid, const foliot__solid *plane)
{
    double gap = foliot__vec3_dot(plane->half, x) - plane->offset - support(solid, plane->half, 1);
    double closes = -foliot__vec3_dot(plane->half, v);
    return (foliot__larger(closes, 0) + o->more) * o->left <= gap - (o->touch + o->turns);
}

// Whether a gap along one of a few directions outlasts the step, however both turn: most pairs are
// told so. Of their orientations those at their paths' begins are asked for: what they turn through
// from there is counted.
static bool stay_apart(const foliot__collider *c, const foliot__sweep *a, const foliot__sweep *b,
                       double since, double gain)
{
    double there[2][2][3], end = c->step->dt;
    const double *xa = a->solid.x, *va = a->v, *xb = b->solid.x, *vb = b->v;
    outlook o = {.left = end - since, .touch = TOUCH * foliot__smaller(a->inradius, b->inradius)};
    o.more = gain * o.left;
    o.turns = a->surface_speed * (end - c->paths.since[a->body]) +
              b->surface_speed * (end - c->paths.since[b->body]);
    if (c->paths.since[a->body] != since) {
        foliot__path_at(c, a->body, since, there[0][0], there[0][1]);
        xa = there[0][0], va = there[0][1];
    }
    if (c->paths.since[b->body] != since) {
        foliot__path_at(c, b->body, since, there[1][0], there[1][1]);
        xb = there[1][0], vb = there[1][1];
    }
    if (a->solid.kind == FOLIOT_SHAPE_PLANE)
        return lasts_over_plane(&o, xb, vb, &b->solid, &a->solid);
    if (b->solid.kind == FOLIOT_SHAPE_PLANE)
        return lasts_over_plane(&o, xa, va, &a->solid, &b->solid);
    for (int k = 0; k < 3; k++) {
        o.d[k] = xb[k] - xa[k];
        o.v[k] = va[k] - vb[k];
    }
    double length = foliot__sqrt(foliot__vec3_dot(o.d, o.d));
    double reach = support(&a->solid, o.d, length) + support(&b->solid, o.d, length);
    return lasts(&o, o.d, length, reach) || lasts_over_faces(&o, &a->solid, &b->solid) ||
           lasts_over_faces(&o, &b->solid, &a->solid);
}

// -- the point that strikes

static double approach_at(const couple *p, const double arm_a[3], const double arm_b[3],
                          const double n[3])
{
    double by_a[3], by_b[3];
    foliot__vec3_cross(p->spin_a, arm_a, by_a);
    foliot__vec3_cross(p->spin_b, arm_b, by_b);
    double turned = p->b.solid.kind == FOLIOT_SHAPE_PLANE ? 0 : -foliot__vec3_dot(by_b, n);
    if (p->a.solid.kind != FOLIOT_SHAPE_PLANE)
        turned += foliot__vec3_dot(by_a, n);
    return closing(p, n) + turned;
}

static void find_points(couple *p)
{
    p->count = foliot__near_points(&p->a.solid, p->a.q, &p->b.solid, p->b.q, p->d, NOWHERE, p->n,
                                   p->points);
}

// The gap, and what separates them. Points of two boxes are left for who wants them.
static double look_at(couple *p)
{
    double gap = NOWHERE;
    p->count = 0;
    if (p->a.solid.kind == FOLIOT_SHAPE_BOX && p->b.solid.kind == FOLIOT_SHAPE_BOX)
        return foliot__gap_of_boxes(&p->a.solid, &p->b.solid, p->d, p->n);
    find_points(p);
    for (uint32_t i = 0; i < p->count; i++)
        gap = foliot__smaller(gap, p->points[i].gap);
    return gap;
}

// The fastest that turning takes a point of the solid along n, where the balls of its ends touch by
// their foremost.
static double turned_along(const foliot__sweep *r, const double w[3], const double n[3])
{
    double way[3];
    foliot__vec3_cross(n, w, way);
    return r->solid.kind == FOLIOT_SHAPE_PLANE ? 0
                                               : support(&r->solid, way, 0); // 0: without the balls
}

// The fastest that any point of the two approaches the other body.
static double fastest(couple *p)
{
    foliot__spin_along(&p->a, p->a.solid.axis, p->spin_a);
    foliot__spin_along(&p->b, p->b.solid.axis, p->spin_b);
    double turned = turned_along(&p->a, p->spin_a, p->n) + turned_along(&p->b, p->spin_b, p->n);
    return closing(p, p->n) + turned;
}

// The middle of the points that touch and approach: a box that falls flat is struck in its middle.
// Else *next is the least gap of a point that does not touch yet: the next one to do so.
static bool strike(couple *p, double rest, foliot__toi *m, double *next)
{
    if (p->count == 0)
        find_points(p);
    const foliot__near_point *points = p->points;
    uint32_t struck = 0, count = p->count;
    for (int k = 0; k < 3; k++)
        m->normal[k] = p->n[k];
    *next = count > 1 || p->surface_speed == 0 ? NOWHERE : 0;
    for (uint32_t i = 0; i < count; i++)
        if (points[i].gap > p->touch)
            *next = foliot__smaller(*next, points[i].gap);
    double least = NOWHERE, sum_a[3] = {0, 0, 0}, sum_b[3] = {0, 0, 0};
    for (uint32_t i = 0; i < count; i++)
        if (points[i].gap <= 2 * p->touch &&
            approach_at(p, points[i].arm_a, points[i].arm_b, m->normal) > rest)
            least = foliot__smaller(least, points[i].gap);
    for (uint32_t i = 0; i < count; i++) {
        const foliot__near_point *at = &points[i];
        if (at->gap > least + p->touch || at->gap > 2 * p->touch ||
            !(approach_at(p, at->arm_a, at->arm_b, m->normal) > rest))
            continue;
        struck++;
        for (int k = 0; k < 3; k++) {
            sum_a[k] += at->arm_a[k];
            sum_b[k] += at->arm_b[k];
        }
    }
    if (struck == 0)
        return false;
    for (int k = 0; k < 3; k++) {
        m->arm_a[k] = sum_a[k] / struck;
        m->arm_b[k] = sum_b[k] / struck;
    }
    m->speed = approach_at(p, m->arm_a, m->arm_b, m->normal);
    return true;
}

// For how long no point of two that touch without approach can come to be deeper by a part of the
// core: what turns and travels has an acceleration of at most that along what separates them now.
static double harmless(const couple *p, double most)
{
    double turns = foliot__sqrt(foliot__vec3_dot(p->spin_a, p->spin_a)) +
                   foliot__sqrt(foliot__vec3_dot(p->spin_b, p->spin_b));
    double acceleration = p->gain + most * turns;
    return acceleration > 0 ? foliot__sqrt(2 * STRIDE * p->touch / acceleration) : NOWHERE;
}

static bool search(couple *p, double since, double rest, double way, double most, foliot__toi *m)
{
    double time = since, end = p->c->step->dt, pause = (end - since) / RESTS;
    for (int look = 0; look < STEPS; look++) {
        double gap = look_at(p), left = end - time, next = NOWHERE,
               slowest = foliot__larger(rest, way / left);
        double bound = foliot__larger(closing(p, p->n), 0) + p->gain * left + p->surface_speed,
               on = pause;
        if (gap > p->touch) {
            if (!(bound * left > gap - p->touch))
                return false;
            on = (gap - p->touch / 2) / bound;
            if (look >= PATIENCE) // something turns away as fast as it might come
                on = foliot__larger(on, p->touch * (STRIDE / 4) / most);
        } else {
            double speed = fastest(p);
            if (speed + p->gain * left <= slowest && most * left < CALM * p->touch)
                return false;
            if (speed > slowest && strike(p, slowest, m, &next)) {
                m->time = time;
                m->unresolved = false;
                return true;
            }
            // No point that touches approaches yet; if others do, as far as they may go.
            on = foliot__smaller(pause, harmless(p, most));
            if (next < NOWHERE)
                on = foliot__smaller(on,
                                     foliot__larger(next - p->touch / 2, p->touch * STRIDE) / most);
        }
        time += on;
        if (!(time < end))
            return false;
        couple_to(p, time);
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
    const double change[3] = {g.x[b] - g.x[a], g.y[b] - g.y[a], g.z[b] - g.z[a]};
    double gain = foliot__sqrt(foliot__vec3_dot(change, change)), end = c->step->dt;
    if (!(end - since > end * MOMENT) || stay_apart(c, ra, rb, since, gain))
        return false;
    couple p;
    set_couple(&p, c, ra, rb, since, gain);
    const double v[3] = {p.b.v[0] - p.a.v[0], p.b.v[1] - p.a.v[1], p.b.v[2] - p.a.v[2]};
    double most = foliot__sqrt(foliot__vec3_dot(v, v)) + gain * (end - since) + p.surface_speed;
    double rest = foliot__larger(foliot__impact_speed_min(c, a, b),
                                 foliot__smaller(p.touch / end, most * SLOW));
    return most > rest &&
           search(&p, since, rest, foliot__impact_displacement_min(c, a, b), most, m);
}
