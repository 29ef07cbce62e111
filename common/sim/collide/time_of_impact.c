// SPDX-License-Identifier: MIT
// time_of_impact.c: when two moving and turning shapes come to touch, by conservative advancement
// (Mirtich 1996): along a direction that separates them, no point of either closes in faster than a
// bound that follows from the velocities, so they may be moved on by gap / bound without looking.
// The work is bounded, and depends on the two paths alone.
#include "sim/collide/impact.h"

#include "foliot/math.h"

#include <string.h>

#define STEPS 96        // looks at a pair
#define RESTS 2         // parts of the step by which a pair that touches without approach moves on
#define TOUCH 0x1p-9    // of the smaller core: as near as this is touching
#define PATIENCE 24     // looks that are as near as they can be; later ones may skip a part of a stride
#define STRIDE 128      // touches that a pair moves on at least where one of its points touches
#define SLOW 0x1p-16    // of the fastest that they might close in: rounding, not approach
#define MOMENT 0x1p-20  // of the step: what is left after is the next one's
#define FAR_TURN 2.0    // radians in a step
#define NOWHERE 0x1p100 // farther than anything

double foliot__core(const foliot_world *world, uint32_t i)
{
    switch (foliot__shape_kind(world)[i]) {
    case FOLIOT_SHAPE_PLANE:
        return NOWHERE;
    case FOLIOT_SHAPE_BOX:
        return foliot__smaller(foliot__smaller(foliot__half_x(world)[i], foliot__half_y(world)[i]),
                               foliot__half_z(world)[i]);
    default:
        return foliot__radius(world)[i];
    }
}

double foliot__swing(const foliot_world *world, uint32_t i)
{
    const double half[3] = {foliot__half_x(world)[i], foliot__half_y(world)[i],
                            foliot__half_z(world)[i]};
    uint32_t kind = foliot__shape_kind(world)[i];
    if (kind == FOLIOT_SHAPE_BOX)
        return foliot__sqrt(foliot__dot(half, half));
    return kind == FOLIOT_SHAPE_CAPSULE ? half[2] : 0;
}

// -- orientations on the way ----------------------------------------------------------------------

static void normalise(double q[4])
{
    double n = foliot__sqrt((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
    for (int k = 0; k < 4; k++)
        q[k] /= n;
}

// The orientations at the path's begin and end, of like sign. Returns their product: the cosine of
// half the angle between.
static double ends_of(const foliot__collider *c, uint32_t i, double from[4], double to[4])
{
    double product = 0;
    foliot__orientation_of(c->world, i, to);
    for (int k = 0; k < 4; k++) {
        from[k] = c->begin_q[k][i];
        product += from[k] * to[k];
    }
    if (product >= 0)
        return foliot__smaller(product, 1);
    for (int k = 0; k < 4; k++)
        from[k] = -from[k];
    return foliot__smaller(-product, 1);
}

void foliot__turn_on(double q[4], const double w[3], double duration)
{
    double speed = foliot__sqrt(foliot__dot(w, w)), half = speed * duration / 2;
    if (!(speed > 0))
        return;
    double c = foliot_cos(half), scale = foliot_sin(half) / speed;
    const double s[3] = {w[0] * scale, w[1] * scale, w[2] * scale};
    double a = q[0], x = q[1], y = q[2], z = q[3];
    q[0] = c * a - ((s[0] * x + s[1] * y) + s[2] * z);
    q[1] = c * x + (a * s[0] + (s[1] * z - s[2] * y));
    q[2] = c * y + (a * s[1] + (s[2] * x - s[0] * z));
    q[3] = c * z + (a * s[2] + (s[0] * y - s[1] * x));
    normalise(q);
}

// How a body turns on its path.
typedef enum turning {
    STILL,
    BLENDED, // between the orientations that the scheme went from and to
    FREELY,  // about its spin, on from where an impact let it go
    FAST,    // about its spin, back from where the scheme left it: too far for the shortest way
} turning;

static double spin_of(const foliot__collider *c, uint32_t i, double w[3])
{
    foliot__v3 spin = foliot__angular_velocity(c->world);
    w[0] = spin.x[i];
    w[1] = spin.y[i];
    w[2] = spin.z[i];
    return foliot__sqrt(foliot__dot(w, w));
}

static turning turning_of(const foliot__collider *c, uint32_t i, double from[4], double to[4],
                          double *cosine)
{
    double w[3];
    *cosine = ends_of(c, i, from, to);
    if (!(c->step->dt > c->since[i]) || memcmp(from, to, sizeof from[0] * 4) == 0)
        return STILL;
    if (c->age[i] > 0)
        return FREELY;
    return spin_of(c, i, w) * c->step->dt > FAR_TURN ? FAST : BLENDED;
}

void foliot__turned_at(const foliot__collider *c, uint32_t i, double time, double q[4])
{
    double from[4], to[4], w[3], cosine;
    turning how = turning_of(c, i, from, to, &cosine);
    spin_of(c, i, w);
    memcpy(q, how == FREELY ? from : to, sizeof to);
    if (how == FREELY)
        foliot__turn_on(q, w, time - c->since[i]);
    if (how == FAST)
        foliot__turn_on(q, w, time - c->step->dt);
    if (how != BLENDED)
        return;
    double share = (time - c->since[i]) / (c->step->dt - c->since[i]);
    for (int k = 0; k < 4; k++)
        q[k] = (1 - share) * from[k] + share * to[k];
    normalise(q);
}

// The fastest that foliot__turned_at turns: when it blends, 4 tan(angle / 4) a path in its middle.
static double spin_max(const foliot__collider *c, uint32_t i)
{
    double from[4], to[4], w[3], cosine;
    turning how = turning_of(c, i, from, to, &cosine);
    if (how == STILL)
        return 0;
    if (how != BLENDED)
        return spin_of(c, i, w);
    double tangent2 = (1 - cosine) / (1 + cosine);
    return 4 * foliot__sqrt(foliot__larger(tangent2, 0)) / (c->step->dt - c->since[i]);
}

// -- a pair on its way ----------------------------------------------------------------------------

typedef struct ride {
    foliot__solid solid;
    uint32_t body;
    double v[3], q[4];
} ride;

typedef struct couple {
    const foliot__collider *c;
    ride a, b;
    double d[3];  // from a's centre to b's
    double touch; // as near as this is touching
    double sweep; // of the two surfaces by turning, at most, as a speed
    double gain;  // of the relative velocity, as an acceleration
} couple;

static void ride_to(const foliot__collider *c, ride *r, double time)
{
    foliot__path_at(c, r->body, time, r->solid.x, r->v);
    uint32_t kind = r->solid.kind;
    if (kind == FOLIOT_SHAPE_BOX || kind == FOLIOT_SHAPE_CAPSULE) {
        foliot__turned_at(c, r->body, time, r->q);
        foliot__axes_of(r->q, r->solid.axis);
    }
}

static void couple_to(couple *p, double time)
{
    ride_to(p->c, &p->a, time);
    ride_to(p->c, &p->b, time);
    for (int k = 0; k < 3; k++)
        p->d[k] = p->b.solid.x[k] - p->a.solid.x[k];
}

static void set_couple(couple *p, const foliot__collider *c, uint32_t a, uint32_t b)
{
    static const double upright[4] = {1, 0, 0, 0};
    memset(p, 0, sizeof *p);
    p->c = c;
    p->a.body = a;
    p->b.body = b;
    foliot__solid_shape(c->world, a, &p->a.solid);
    foliot__solid_shape(c->world, b, &p->b.solid);
    foliot__axes_of(upright, p->a.solid.axis);
    foliot__axes_of(upright, p->b.solid.axis);
    p->touch = TOUCH * foliot__smaller(foliot__core(c->world, a), foliot__core(c->world, b));
    double swing_a = foliot__swing(c->world, a), swing_b = foliot__swing(c->world, b);
    p->sweep = (swing_a > 0 ? swing_a * spin_max(c, a) : 0) +
               (swing_b > 0 ? swing_b * spin_max(c, b) : 0);
    foliot__v3 g = c->acceleration;
    const double gain[3] = {g.x[b] - g.x[a], g.y[b] - g.y[a], g.z[b] - g.z[a]};
    p->gain = foliot__sqrt(foliot__dot(gain, gain));
}

static double closing(const couple *p, const double n[3])
{
    const double v[3] = {p->a.v[0] - p->b.v[0], p->a.v[1] - p->b.v[1], p->a.v[2] - p->b.v[2]};
    return foliot__dot(v, n);
}

// -- the point that strikes -----------------------------------------------------------------------

static double approach_at(const couple *p, const double arm_a[3], const double arm_b[3],
                          const double n[3])
{
    foliot__v3 w = foliot__angular_velocity(p->c->world);
    uint32_t a = p->a.body, b = p->b.body;
    const double wa[3] = {w.x[a], w.y[a], w.z[a]}, wb[3] = {w.x[b], w.y[b], w.z[b]};
    double by_a[3], by_b[3];
    foliot__cross(wa, arm_a, by_a);
    foliot__cross(wb, arm_b, by_b);
    double turned = p->b.solid.kind == FOLIOT_SHAPE_PLANE ? 0 : -foliot__dot(by_b, n);
    if (p->a.solid.kind != FOLIOT_SHAPE_PLANE)
        turned += foliot__dot(by_a, n);
    return closing(p, n) + turned;
}

// The middle of the points that touch and approach: a box that falls flat is struck in its middle.
// Else *next is the least gap of a point that does not touch yet: the next one to do so.
static bool strike(const couple *p, double rest, foliot__meeting *m, double *next)
{
    foliot__near_point points[FOLIOT__POINTS];
    uint32_t struck = 0, count = foliot__near_points(&p->a.solid, p->a.q, &p->b.solid, p->b.q, p->d,
                                                     NOWHERE, m->normal, points);
    *next = count > 1 || p->sweep == 0 ? NOWHERE : 0;
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

bool foliot__time_of_impact(const foliot__collider *c, uint32_t a, uint32_t b, double since,
                            double rest, double way, foliot__meeting *m)
{
    couple p;
    double n[3], time = since, end = c->step->dt, pause = (end - since) / RESTS;
    set_couple(&p, c, a, b);
    couple_to(&p, time);
    const double v[3] = {p.b.v[0] - p.a.v[0], p.b.v[1] - p.a.v[1], p.b.v[2] - p.a.v[2]};
    double most = foliot__sqrt(foliot__dot(v, v)) + p.gain * (end - since) + p.sweep;
    rest = foliot__larger(rest, foliot__smaller(p.touch / end, most * SLOW));
    if (!(most > rest) || !(end - since > end * MOMENT))
        return false;
    for (int look = 0; look < STEPS; look++) {
        double gap = foliot__gap_of(&p.a.solid, &p.b.solid, p.d, n), left = end - time, next;
        double bound = foliot__larger(closing(&p, n), 0) + p.gain * left + p.sweep, on = pause;
        if (gap > p.touch) {
            if (!(bound * left > gap - p.touch))
                return false;
            on = (gap - p.touch / 2) / bound;
            if (look >= PATIENCE) // something turns away as fast as it might come
                on = foliot__larger(on, p.touch * (STRIDE / 4) / most);
        } else if (strike(&p, foliot__larger(rest, way / left), m, &next)) {
            m->time = time;
            m->endless = false;
            return true;
        } else if (next < NOWHERE) {
            // No point that touches approaches, but others do: as far as they may go.
            double room = foliot__larger(next - p.touch / 2, p.touch * STRIDE);
            on = foliot__smaller(pause, room / most);
        }
        time += on;
        if (!(time < end))
            return false;
        couple_to(&p, time);
    }
    m->time = time;
    m->endless = true;
    return true;
}
