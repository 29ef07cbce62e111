// SPDX-License-Identifier: MIT
// impact.c: impacts on the way from the step's start to its end, in the order of time (then of
// indices), so that a bullet stops at the wall that it would jump over and a ball bounces to the
// height that it should.
//
// The scheme has moved a body from x0 to x1 with velocity v1 at the end. Between, its path is the
// parabola that ends there with the step's mean acceleration a = (v1 - v0) / dt:
//
//     x(t) = x1 - w1 s + a s^2 / 2,   s = dt - t,   w1 = v1 + (c - 1/2) a dt,
//
// where c tells how the scheme lets an acceleration act on the position, x1 = x0 + v0 dt + c a
// dt^2: the velocity of semi-implicit Euler (c = 1) lags half a step behind the motion that its
// positions make, and a bounce computed from it would lose a tenth of its energy. An impulse P at
// time t adds P/m to w1 and v1 and s P/m to x1: momentum is kept to rounding, whatever the scheme.
//
// What counts as an impact: shapes that come to touch while approaching faster than their
// acceleration makes them in a step (slower ones rest), and bounce or would pass by half a radius.
// The rest is the solver's.
#include "sim/ccd/impact.h"

#include "sim/integrator/response.h"
#include "sim/state/joint_table.h"

#define IMPACTS_MAX 4096 // of one step; more are taken at its end, and counted
#define NEWTON_STEPS 3

typedef foliot__meeting meeting;

static double radius_of(const foliot__collider *c, uint32_t i)
{
    return foliot__radius(c->world)[i];
}

static void plane_normal(const foliot__collider *c, uint32_t plane, double n[3])
{
    n[0] = foliot__half_x(c->world)[plane];
    n[1] = foliot__half_y(c->world)[plane];
    n[2] = foliot__half_z(c->world)[plane];
}

// Whether an approach at that speed is an impact.
static bool counts(const foliot__collider *c, uint32_t a, uint32_t b, double speed, double left)
{
    return speed > foliot__rest_of(c, a, b) && speed * left >= foliot__way_of(c, a, b);
}

// False where `counts` would be, whenever the two meet: nearly always in a pile.
static bool lively(const foliot__collider *c, uint32_t a, uint32_t b)
{
    float core = c->core[a] < c->core[b] ? c->core[a] : c->core[b];
    return c->way[a] + c->way[b] > (double)core / 2;
}

static bool meet_plane(const foliot__collider *c, uint32_t plane, uint32_t ball, double since,
                       meeting *m)
{
    double x[3], w[3], n[3];
    foliot__path_at(c, ball, since, x, w);
    plane_normal(c, plane, n);
    const double a[3] = {c->acceleration.x[ball], c->acceleration.y[ball], c->acceleration.z[ball]};
    double gap = foliot__dot(n, x) - foliot__plane_offset(c->world)[plane] - radius_of(c, ball);
    double speed = foliot__dot(n, w), gain = foliot__dot(n, a), left = c->step->dt - since;
    double after = 0;
    if (gap > 0) {
        // First root of gap + speed t + gain t^2 / 2.
        double root = speed * speed - 2 * gain * gap;
        if (!(root > 0))
            return false;
        double sum = foliot__sqrt(root) - speed;
        if (!(sum > 0) || 2 * gap > left * sum)
            return false;
        after = 2 * gap / sum;
    }
    bool first = plane < ball; // the normal points from the lower slot to the higher
    *m = (meeting){.time = since + after,
                   .endless = false,
                   .speed = -(speed + gain * after),
                   .normal = {first ? n[0] : -n[0], first ? n[1] : -n[1], first ? n[2] : -n[2]}};
    for (int k = 0; k < 3; k++) {
        double arm = -radius_of(c, ball) * n[k];
        m->arm_a[k] = first ? 0 : arm;
        m->arm_b[k] = first ? arm : 0;
    }
    return true;
}

// First time after which two spheres at distance d touch: on the chord of their relative path, then
// refined on the path itself. False if they do not.
static bool touch_time(const double d[3], const double w[3], const double a[3], double radius,
                       double left, double *time)
{
    double way[3];
    for (int k = 0; k < 3; k++)
        way[k] = (w[k] + a[k] * left / 2) * left;
    double outside = foliot__dot(d, d) - radius * radius;
    double length2 = foliot__dot(way, way), toward = -foliot__dot(d, way);
    *time = 0;
    if (outside <= 0)
        return true;
    double root = toward * toward - length2 * outside;
    if (toward <= 0 || root < 0)
        return false;
    double share = outside / (toward + foliot__sqrt(root));
    if (share > 1)
        return false;
    double t = share * left;
    for (int k = 0; k < NEWTON_STEPS; k++) {
        double at[3], speed[3];
        for (int i = 0; i < 3; i++) {
            at[i] = d[i] + (w[i] + a[i] * t / 2) * t;
            speed[i] = w[i] + a[i] * t;
        }
        double slope = 2 * foliot__dot(at, speed);
        if (!(slope < 0))
            break;
        t -= (foliot__dot(at, at) - radius * radius) / slope;
        t = t < 0 ? 0 : t > left ? left : t;
    }
    *time = t;
    return true;
}

static bool meet_sphere(const foliot__collider *c, uint32_t a, uint32_t b, double since, meeting *m)
{
    double xa[3], xb[3], wa[3], wb[3], d[3], w[3], time;
    foliot__v3 acceleration = c->acceleration;
    foliot__path_at(c, a, since, xa, wa);
    foliot__path_at(c, b, since, xb, wb);
    const double gain[3] = {acceleration.x[b] - acceleration.x[a],
                            acceleration.y[b] - acceleration.y[a],
                            acceleration.z[b] - acceleration.z[a]};
    for (int k = 0; k < 3; k++) {
        d[k] = xb[k] - xa[k];
        w[k] = wb[k] - wa[k];
    }
    if (!touch_time(d, w, gain, radius_of(c, a) + radius_of(c, b), c->step->dt - since, &time))
        return false;
    for (int k = 0; k < 3; k++) {
        d[k] += (w[k] + gain[k] * time / 2) * time;
        w[k] += gain[k] * time;
    }
    double distance = foliot__sqrt(foliot__dot(d, d));
    if (!(distance > 0))
        return false; // one in the other's place: no direction to bounce
    double half = (distance - radius_of(c, a) - radius_of(c, b)) / 2;
    for (int k = 0; k < 3; k++) {
        m->normal[k] = d[k] / distance;
        m->arm_a[k] = (radius_of(c, a) + half) * m->normal[k];
        m->arm_b[k] = m->arm_a[k] - d[k];
    }
    m->time = since + time;
    m->endless = false;
    m->speed = -foliot__dot(w, m->normal);
    return true;
}

// The next impact of a pair on its present paths.
static bool meet(const foliot__collider *c, uint32_t a, uint32_t b, meeting *m)
{
    double since = foliot__larger(c->since[a], c->since[b]);
    uint32_t kind_a = foliot__shape_kind(c->world)[a], kind_b = foliot__shape_kind(c->world)[b];
    bool met = false;
    if (kind_a == FOLIOT_SHAPE_PLANE && kind_b == FOLIOT_SHAPE_SPHERE)
        met = meet_plane(c, a, b, since, m);
    else if (kind_b == FOLIOT_SHAPE_PLANE && kind_a == FOLIOT_SHAPE_SPHERE)
        met = meet_plane(c, b, a, since, m);
    else if (kind_a == FOLIOT_SHAPE_SPHERE && kind_b == FOLIOT_SHAPE_SPHERE)
        met = meet_sphere(c, a, b, since, m);
    else if (kind_a != FOLIOT_SHAPE_PLANE || kind_b != FOLIOT_SHAPE_PLANE)
        return foliot__time_of_impact(c, a, b, since, m);
    return met && counts(c, a, b, m->speed, c->step->dt - m->time);
}

// -- the queue: a binary heap by (time, a, b)

static bool earlier(const foliot__impact *p, const foliot__impact *q)
{
    if (p->time != q->time)
        return p->time < q->time;
    return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static void push(foliot__collider *c, const foliot__impact *impact)
{
    uint32_t *count = &c->counts[FOLIOT__COUNT_IMPACTS];
    if (*count == c->world->capacity.contacts) {
        c->counts[FOLIOT__COUNT_LOST]++;
        return;
    }
    uint32_t at = (*count)++;
    foliot__impact *heap = c->impacts;
    for (; at > 0 && earlier(impact, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = *impact;
}

static foliot__impact pop(foliot__collider *c)
{
    foliot__impact *heap = c->impacts, first = heap[0];
    uint32_t count = --c->counts[FOLIOT__COUNT_IMPACTS], at = 0;
    foliot__impact last = heap[count];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && earlier(&heap[child + 1], &heap[child]))
            child++;
        if (!earlier(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

static void expect(foliot__collider *c, uint32_t a, uint32_t b)
{
    meeting m;
    if (meet(c, a, b, &m)) {
        foliot__impact impact = {m.time, a, b, c->age[a], c->age[b]};
        push(c, &impact);
    }
}

bool foliot__changed_now(const foliot__collider *c, uint32_t i)
{
    return c->age[i] > 1 ||
           (c->age[i] == 1 && c->changed_at[i] >= c->counts[FOLIOT__COUNT_REMEMBERED]);
}

static bool stale(const foliot__collider *c, const foliot__impact *impact)
{
    return impact->age_a != c->age[impact->a] || impact->age_b != c->age[impact->b];
}

// -- what an impact does

// Where the body's turning begins anew, and where it ends: with the spin that it has, or at once.
static void turn_from(foliot__collider *c, uint32_t i, double time, double q[4], bool goes_on)
{
    foliot_world *world = c->world;
    if (!world->rotates)
        return;
    for (int k = 0; k < 4; k++)
        c->begin_q[k][i] = q[k];
    foliot__v3 spin = foliot__angular_velocity(world);
    const double w[3] = {spin.x[i], spin.y[i], spin.z[i]};
    if (goes_on)
        foliot__turn_on(q, w, c->step->dt - time);
    foliot__orientation_w(world)[i] = q[0];
    foliot__orientation_x(world)[i] = q[1];
    foliot__orientation_y(world)[i] = q[2];
    foliot__orientation_z(world)[i] = q[3];
}

// A body's path changes at `time`, where it has orientation q; from now on it is one of the
// changed.
static void change(foliot__collider *c, uint32_t i, double time, double q[4], bool goes_on)
{
    if (foliot__inverse_mass(c->world)[i] == 0)
        return;
    if (c->age[i]++ == 0) {
        c->changed_at[i] = c->counts[FOLIOT__COUNT_CHANGED]++;
        c->changed[c->changed_at[i]] = i;
    }
    turn_from(c, i, time, q, goes_on);
    c->since[i] = time;
    c->riding[i] = false;
    c->changed_bounds[c->changed_at[i]] = foliot__bounds_of(c, i, time);
}

typedef struct search {
    foliot__collider *c;
    uint32_t body;
} search;

static void expect_pair(foliot__collider *c, uint32_t i, uint32_t j)
{
    const double *inverse_mass = foliot__inverse_mass(c->world);
    if (i != j && (inverse_mass[i] > 0 || inverse_mass[j] > 0) &&
        !foliot__joints_separate(c->world, i, j))
        expect(c, i < j ? i : j, i < j ? j : i);
}

static void found(void *context, uint32_t body)
{
    const search *s = context;
    if (s->c->age[body] == 0) // the changed are looked at in their own list
        expect_pair(s->c, s->body, body);
}

// Calls expect_pair, or whatever else `act` is, for all that a body may meet on its new path.
static void look_around(foliot__collider *c, uint32_t i,
                        void (*act)(foliot__collider *c, uint32_t i, uint32_t j),
                        void (*meet_unchanged)(void *context, uint32_t body))
{
    const foliot__bounds *box = &c->changed_bounds[c->changed_at[i]];
    for (uint32_t k = 0; k < c->counts[FOLIOT__COUNT_CHANGED]; k++)
        if (foliot__bounds_meet(&c->changed_bounds[k], box))
            act(c, i, c->changed[k]);
    search s = {c, i};
    foliot__query(c, box, meet_unchanged, &s);
    for (uint32_t p = 0; p < c->counts[FOLIOT__COUNT_PLANES]; p++)
        act(c, i, c->planes[p]);
}

static void add_pair(foliot__collider *c, uint32_t i, uint32_t j)
{
    const double *inverse_mass = foliot__inverse_mass(c->world);
    // Of two that have changed now, the lower slot adds the pair.
    bool mine = !foliot__changed_now(c, j) || i < j;
    if (i != j && mine && (inverse_mass[i] > 0 || inverse_mass[j] > 0) &&
        !foliot__joints_separate(c->world, i, j))
        foliot__add_pair(c, i, j);
}

static void add_found(void *context, uint32_t body)
{
    const search *s = context;
    if (s->c->age[body] == 0)
        add_pair(s->c, s->body, body);
}

// Where there are more impacts than one step may take, bodies stop where the next one happens, for
// the rest of the step, and keep their velocity; the solver ends it. Nothing passes through
// anything.
static void stop(foliot__collider *c, uint32_t i, double time)
{
    foliot__v3 end = foliot__position(c->world), path = c->path, a = c->acceleration;
    double x[3], w[3], q[4];
    foliot__path_at(c, i, time, x, w);
    foliot__turned_at(c, i, time, q);
    end.x[i] = x[0];
    end.y[i] = x[1];
    end.z[i] = x[2];
    path.x[i] = path.y[i] = path.z[i] = 0;
    a.x[i] = a.y[i] = a.z[i] = 0;
    c->counts[FOLIOT__COUNT_HELD]++;
    c->held[i] = c->step->index + 1;
    change(c, i, time, q, false);
}

static bool is_held(const foliot__collider *c, uint32_t i)
{
    double q[4];
    foliot__orientation_of(c->world, i, q);
    for (int k = 0; k < 4; k++)
        if (c->begin_q[k][i] != q[k])
            return false;
    return c->path.x[i] == 0 && c->path.y[i] == 0 && c->path.z[i] == 0;
}

static void hold(foliot__collider *c, uint32_t i, double time)
{
    if (foliot__inverse_mass(c->world)[i] == 0 || is_held(c, i))
        return;
    stop(c, i, time);
    look_around(c, i, expect_pair, found);
}

static void take(foliot__collider *c, const foliot__impact *impact)
{
    uint32_t a = impact->a, b = impact->b;
    meeting m;
    if (!meet(c, a, b, &m))
        return;
    if (m.endless) {
        hold(c, a, m.time);
        hold(c, b, m.time);
        c->world->counters.hits_deferred++;
        return;
    }
    double qa[4], qb[4];
    foliot__turned_at(c, a, m.time, qa);
    foliot__turned_at(c, b, m.time, qb);
    foliot__blow(c, a, b, &m);
    change(c, a, m.time, qa, true);
    change(c, b, m.time, qb, true);
    const double *inverse_mass = foliot__inverse_mass(c->world);
    if (inverse_mass[a] > 0)
        look_around(c, a, expect_pair, found);
    if (inverse_mass[b] > 0)
        look_around(c, b, expect_pair, found);
}

// The queue itself was too small: nothing that could pass by half its radius moves on from where
// its path began.
static void hold_all(foliot__collider *c)
{
    double dt = c->step->dt;
    c->counts[FOLIOT__COUNT_IMPACTS] = 0;
    for (uint32_t k = 0; k < c->counts[FOLIOT__COUNT_SORTED]; k++) {
        uint32_t i = c->bounds[k].body;
        const double w[3] = {c->path.x[i], c->path.y[i], c->path.z[i]};
        double way = (foliot__sqrt(foliot__dot(w, w)) + c->rest[i]) * (dt - c->since[i]);
        if (foliot__inverse_mass(c->world)[i] > 0 && way > foliot__core(c->world, i) / 2)
            stop(c, i, c->since[i]);
    }
    c->world->counters.hits_deferred += c->counts[FOLIOT__COUNT_LOST];
}

static void defer(foliot__collider *c)
{
    while (c->counts[FOLIOT__COUNT_IMPACTS] > 0 && c->counts[FOLIOT__COUNT_LOST] == 0) {
        foliot__impact impact = pop(c);
        if (stale(c, &impact))
            continue;
        hold(c, impact.a, impact.time);
        hold(c, impact.b, impact.time);
        c->world->counters.hits_deferred++;
    }
}

// The grid knows bodies by the bounds that they had when pairs were found: those whose path has
// changed since stay in the list of the changed, with bounds of their present path.
static void remember_changed(foliot__collider *c)
{
    if (c->counts[FOLIOT__COUNT_STALE])
        c->counts[FOLIOT__COUNT_CHANGED] = 0;
    c->counts[FOLIOT__COUNT_REMEMBERED] = c->counts[FOLIOT__COUNT_CHANGED];
    for (uint32_t k = 0; k < c->counts[FOLIOT__COUNT_CHANGED]; k++) {
        uint32_t i = c->changed[k];
        c->age[i] = 1;
        c->changed_bounds[k] = foliot__bounds_of(c, i, 0);
    }
}

// Whether even the two fastest bodies, were they the two smallest, would not be lively.
static bool all_slow(const foliot__collider *c)
{
    const uint32_t *kind = foliot__shape_kind(c->world);
    float core = FOLIOT__FAR;
    double way = 0;
    for (uint32_t i = 0; i < c->step->count; i++) {
        way = c->way[i] > way ? c->way[i] : way;
        core = c->core[i] < core && kind[i] != FOLIOT_SHAPE_POINT ? c->core[i] : core;
    }
    return way + way <= (double)core / 2;
}

void foliot__run_impacts(foliot__collider *c)
{
    c->counts[FOLIOT__COUNT_IMPACTS] = 0;
    c->counts[FOLIOT__COUNT_HELD] = 0;
    c->counts[FOLIOT__COUNT_LOST] = 0;
    remember_changed(c);
    bool slow = all_slow(c);
    uint32_t pairs = c->counts[FOLIOT__COUNT_PAIRS];
    for (uint32_t k = 0; k < pairs && !slow; k++)
        if (lively(c, c->pairs[k].a, c->pairs[k].b))
            expect(c, c->pairs[k].a, c->pairs[k].b);
    if (c->counts[FOLIOT__COUNT_IMPACTS] == 0)
        return;
    c->world->acceleration_valid = 0;
    c->counts[FOLIOT__COUNT_STALE] = 1; // manifolds of what they move
    uint32_t taken = 0;
    while (c->counts[FOLIOT__COUNT_IMPACTS] > 0 && c->counts[FOLIOT__COUNT_LOST] == 0 &&
           taken < IMPACTS_MAX) {
        foliot__impact impact = pop(c);
        if (stale(c, &impact))
            continue;
        take(c, &impact);
        taken++;
    }
    if (c->counts[FOLIOT__COUNT_IMPACTS] > 0)
        defer(c);
    if (c->counts[FOLIOT__COUNT_LOST] > 0)
        hold_all(c);
    for (uint32_t k = 0; k < c->counts[FOLIOT__COUNT_CHANGED]; k++)
        if (foliot__changed_now(c, c->changed[k]))
            look_around(c, c->changed[k], add_pair, add_found);
    foliot__order_pairs(c);
}
