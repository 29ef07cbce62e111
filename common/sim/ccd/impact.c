// SPDX-License-Identifier: MIT
// impact.c: finds and applies impacts from the step's start to its end, in the order of time, then
// of slots. A bullet therefore stops at a thin wall, and a ball bounces to the right height.
//
// The scheme has moved a body from x0 to x1 with velocity v1 at the end. The path between is the
// parabola that ends there with the step's mean acceleration a = (v1 - v0) / dt:
//
//     x(t) = x1 - w1 s + a s^2 / 2,   s = dt - t,   w1 = v1 + (c - 1/2) a dt,
//
// where c is the share with which the scheme lets an acceleration act on the position, x1 = x0 + v0
// dt + c a dt^2. The velocity of semi-implicit Euler (c = 1) lags half a step behind the motion of
// its positions, and a bounce computed from it would lose a tenth of its energy. An impulse P at
// time t adds P/m to w1 and v1 and s P/m to x1: momentum is exact to rounding with every scheme.
//
// An impact is a new contact whose speed of approach exceeds what acceleration gives in a step. The
// bodies also bounce, or would pass each other by half a radius. The solver handles all other
// contacts. Work is bounded: impacts beyond the bound stop their bodies, so nothing tunnels.
#include "sim/ccd/impact.h"

#include "base/cpu.h"
#include "sim/collide/sensor.h"
#include "sim/integrator/scheme.h"
#include "sim/state/workspace.h"

#include <string.h>

#define IMPACTS_MAX 4096 // of one step; further ones are resolved at its end, and counted
#define NEWTON_STEPS 3

static bool find_plane_impact(const foliot__collider *c, uint32_t plane, uint32_t ball,
                              double since, foliot__toi *m)
{
    foliot__motion at = foliot__path_at(c, ball, since);
    const vec3 n = {foliot__half_x(c->world)[plane], foliot__half_y(c->world)[plane],
                    foliot__half_z(c->world)[plane]},
               none = {0, 0, 0};
    double radius = foliot__radius(c->world)[ball];
    double gap = vec3_dot(n, at.x) - foliot__plane_offset(c->world)[plane] - radius;
    double speed = vec3_dot(n, at.v), left = c->step->dt - since;
    double gain = vec3_dot(n, foliot__v3_get(c->paths.acceleration, ball));
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
    vec3 arm = vec3_scale(n, -radius);
    *m = (foliot__toi){.time = since + after,
                       .normal = first ? n : vec3_negate(n),
                       .arm_a = first ? none : arm,
                       .arm_b = first ? arm : none,
                       .speed = -(speed + gain * after)};
    return true;
}

// The motion after the time t, at the acceleration a.
static foliot__motion motion_after(foliot__motion from, vec3 a, double t)
{
    vec3 mean = vec3_add(from.v, vec3_divide(vec3_scale(a, t), 2));
    return (foliot__motion){vec3_add(from.x, vec3_scale(mean, t)),
                            vec3_add(from.v, vec3_scale(a, t))};
}

// The first time at which two spheres in relative motion, with the relative acceleration a, are in
// contact. It is found on the chord of their relative path, then refined on the path itself. False
// if there is none.
static bool sphere_impact_time(foliot__motion at, vec3 a, double radius, double left, double *time)
{
    vec3 displacement = vec3_scale(vec3_add(at.v, vec3_divide(vec3_scale(a, left), 2)), left);
    double outside = vec3_dot(at.x, at.x) - radius * radius;
    double length2 = vec3_dot(displacement, displacement), toward = -vec3_dot(at.x, displacement);
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
        foliot__motion then = motion_after(at, a, t);
        double slope = 2 * vec3_dot(then.x, then.v);
        if (!(slope < 0))
            break;
        t -= (vec3_dot(then.x, then.x) - radius * radius) / slope;
        t = t < 0 ? 0 : t > left ? left : t;
    }
    *time = t;
    return true;
}

static bool find_sphere_impact(const foliot__collider *c, uint32_t a, uint32_t b, double since,
                               foliot__toi *m)
{
    foliot__v3 acceleration = c->paths.acceleration;
    foliot__motion of_a = foliot__path_at(c, a, since), of_b = foliot__path_at(c, b, since);
    foliot__motion at = {vec3_sub(of_b.x, of_a.x), vec3_sub(of_b.v, of_a.v)};
    vec3 gain = vec3_sub(foliot__v3_get(acceleration, b), foliot__v3_get(acceleration, a));
    double ra = foliot__radius(c->world)[a], rb = foliot__radius(c->world)[b], time;
    if (!sphere_impact_time(at, gain, ra + rb, c->step->dt - since, &time))
        return false;
    at = motion_after(at, gain, time);
    double distance = vec3_length(at.x);
    if (!(distance > 0))
        return false; // one in the other's place: no direction to bounce
    double half = (distance - ra - rb) / 2;
    m->normal = vec3_divide(at.x, distance);
    m->arm_a = vec3_scale(m->normal, ra + half);
    m->arm_b = vec3_sub(m->arm_a, at.x);
    m->time = since + time;
    m->unresolved = false;
    m->speed = -vec3_dot(at.v, m->normal);
    return true;
}

// The next impact of a pair on its present paths.
static bool find_impact(const foliot__collider *c, uint32_t a, uint32_t b, foliot__toi *m)
{
    double since = foliot__larger(c->paths.since[a], c->paths.since[b]);
    uint32_t kind_a = foliot__shape_kind(c->world)[a], kind_b = foliot__shape_kind(c->world)[b];
    bool met = false;
    if (kind_a == FOLIOT_SHAPE_PLANE && kind_b == FOLIOT_SHAPE_SPHERE)
        met = find_plane_impact(c, a, b, since, m);
    else if (kind_b == FOLIOT_SHAPE_PLANE && kind_a == FOLIOT_SHAPE_SPHERE)
        met = find_plane_impact(c, b, a, since, m);
    else if (kind_a == FOLIOT_SHAPE_SPHERE && kind_b == FOLIOT_SHAPE_SPHERE)
        met = find_sphere_impact(c, a, b, since, m);
    else if (kind_a != FOLIOT_SHAPE_PLANE || kind_b != FOLIOT_SHAPE_PLANE)
        return foliot__time_of_impact(c, a, b, since, m);
    return met && m->speed > foliot__impact_speed_min(c, a, b) &&
           m->speed * (c->step->dt - m->time) >= foliot__impact_displacement_min(c, a, b);
}

// -- layout

void foliot__ccd_carve(foliot__ccd *ccd, foliot__carver *from, size_t slots, size_t contacts)
{
    foliot__collider_carve(&ccd->collider, from, slots, contacts);
    FOLIOT__CARVE(from, ccd->counts, 1);
    FOLIOT__CARVE(from, ccd->stopped_in, slots);
    FOLIOT__CARVE(from, ccd->changed, slots);
    FOLIOT__CARVE(from, ccd->changed_at, slots);
    FOLIOT__CARVE(from, ccd->changed_bounds, slots);
    FOLIOT__CARVE(from, ccd->queue, contacts);
}

foliot__ccd foliot__ccd_of(const foliot__step *step)
{
    foliot_world *world = step->world;
    foliot__carver from = {(char *)foliot__contact_workspace(world), 0};
    foliot__ccd ccd = {.collider = {.world = world, .step = step, .workers = step->workers}};
    foliot__ccd_carve(&ccd, &from, world->capacity.slots, world->capacity.contacts);
    return ccd;
}

// -- the queue: a binary heap by (time, a, b)

static bool comes_before(const foliot__impact *p, const foliot__impact *q)
{
    if (p->time != q->time)
        return p->time < q->time;
    return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static foliot__impact pop_impact(foliot__ccd *ccd)
{
    foliot__impact *heap = ccd->queue, first = heap[0];
    uint32_t count = --ccd->counts->queued, at = 0;
    foliot__impact last = heap[count];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && comes_before(&heap[child + 1], &heap[child]))
            child++;
        if (!comes_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

// Queues the next impact of the pair, if there is one.
static void queue_impact(foliot__ccd *ccd, uint32_t a, uint32_t b)
{
    const foliot__collider *c = &ccd->collider;
    foliot__toi toi;
    if (!find_impact(c, a, b, &toi))
        return;
    foliot__impact impact = {toi.time, a, b, c->paths.revision[a], c->paths.revision[b]};
    uint32_t *count = &ccd->counts->queued;
    if (*count == c->world->capacity.contacts) {
        ccd->counts->lost++;
        return;
    }
    uint32_t at = (*count)++;
    foliot__impact *heap = ccd->queue;
    for (; at > 0 && comes_before(&impact, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = impact;
}

// -- paths that change

bool foliot__path_changed_now(const foliot__ccd *ccd, uint32_t i)
{
    uint32_t revision = ccd->collider.paths.revision[i];
    return revision > 1 || (revision == 1 && ccd->changed_at[i] >= ccd->counts->remembered);
}

// A body's path changes at `time`, where it has orientation q. From there it turns on with the spin
// that it has, or its turning ends. From now on the body is one of the changed.
static void change_path(foliot__ccd *ccd, uint32_t i, double time, quat q, bool goes_on)
{
    foliot__collider *c = &ccd->collider;
    foliot_world *world = c->world;
    if (foliot__inverse_mass(world)[i] == 0)
        return;
    if (c->paths.revision[i]++ == 0) {
        ccd->changed_at[i] = ccd->counts->changed++;
        ccd->changed[ccd->changed_at[i]] = i;
    }
    if (world->capacity.sensed > 0)
        foliot__sensors_bend(world, i, time / c->step->dt, foliot__path_at(c, i, time).x, q);
    if (world->scene.rotates) {
        double *const *start = c->paths.start_orientation;
        start[0][i] = q.w;
        start[1][i] = q.x;
        start[2][i] = q.y;
        start[3][i] = q.z;
        vec3 spin = foliot__v3_get(foliot__angular_velocity(world), i);
        foliot__quat_put(world, i, goes_on ? foliot__turn_on(q, spin, c->step->dt - time) : q);
    }
    c->paths.since[i] = time;
    c->paths.sweep_valid[i] = false;
    c->paths.struck[i] = true;
    ccd->changed_bounds[ccd->changed_at[i]] = foliot__bounds_of(c, i, time);
}

// -- what a body may meet on its new path

typedef void pair_action(foliot__ccd *ccd, uint32_t i, uint32_t j);

typedef struct neighbour_search {
    foliot__ccd *ccd;
    uint32_t body;
    pair_action *act;
} neighbour_search;

// Whether the two can collide: one of them moves, and neither a joint nor a filter lets them pass.
static bool may_collide(const foliot_world *world, uint32_t i, uint32_t j)
{
    const double *inverse_mass = foliot__inverse_mass(world);
    return i != j && (inverse_mass[i] > 0 || inverse_mass[j] > 0) &&
           !foliot__joints_separate(world, i, j) && foliot__may_touch(world, i, j);
}

static void queue_pair(foliot__ccd *ccd, uint32_t i, uint32_t j)
{
    if (may_collide(ccd->collider.world, i, j))
        queue_impact(ccd, i < j ? i : j, i < j ? j : i);
}

static void add_pair(foliot__ccd *ccd, uint32_t i, uint32_t j)
{
    // The lower slot of two that have changed now adds the pair.
    bool mine = !foliot__path_changed_now(ccd, j) || i < j;
    if (mine && may_collide(ccd->collider.world, i, j))
        foliot__add_pair(&ccd->collider, i, j);
}

static void act_on_unchanged(void *context, uint32_t body)
{
    const neighbour_search *s = context;
    if (s->ccd->collider.paths.revision[body] == 0) // the changed are in another list
        s->act(s->ccd, s->body, body);
}

// Calls `act` for every body that body i may meet on its new path.
static void each_neighbour(foliot__ccd *ccd, uint32_t i, pair_action *act)
{
    const foliot__collider *c = &ccd->collider;
    const foliot__bounds *box = &ccd->changed_bounds[ccd->changed_at[i]];
    for (uint32_t k = 0; k < ccd->counts->changed; k++)
        if (foliot__bounds_meet(&ccd->changed_bounds[k], box))
            act(ccd, i, ccd->changed[k]);
    neighbour_search s = {ccd, i, act};
    foliot__query(c, box, act_on_unchanged, &s);
    for (uint32_t p = 0; p < c->counts->planes; p++)
        act(ccd, i, c->grid.planes[p]);
}

// -- what an impact does

// Stops the body at `time` for the rest of the step. It keeps its velocity, which the solver ends.
static void stop_body(foliot__ccd *ccd, uint32_t i, double time)
{
    const foliot__collider *c = &ccd->collider;
    const vec3 none = {0, 0, 0};
    quat q = foliot__orientation_at(c, foliot__sweep_of(c, i), time);
    foliot__v3_put(foliot__position(c->world), i, foliot__path_at(c, i, time).x);
    foliot__v3_put(c->paths.end_velocity, i, none);
    foliot__v3_put(c->paths.acceleration, i, none);
    ccd->counts->stopped++;
    ccd->stopped_in[i] = c->step->index + 1;
    change_path(ccd, i, time, q, false);
}

static void stop_if_moving(foliot__ccd *ccd, uint32_t i, double time)
{
    const foliot__collider *c = &ccd->collider;
    double *const *start = c->paths.start_orientation;
    quat q = foliot__quat_get(c->world, i);
    vec3 v = foliot__v3_get(c->paths.end_velocity, i);
    bool turns =
        start[0][i] != q.w || start[1][i] != q.x || start[2][i] != q.y || start[3][i] != q.z;
    if (foliot__inverse_mass(c->world)[i] == 0 || (!turns && v.x == 0 && v.y == 0 && v.z == 0))
        return;
    stop_body(ccd, i, time);
    each_neighbour(ccd, i, queue_pair);
}

// `resolves`: else its bodies stop.
static void apply_impact(foliot__ccd *ccd, const foliot__impact *impact, bool resolves)
{
    foliot__collider *c = &ccd->collider;
    uint32_t a = impact->a, b = impact->b;
    foliot__toi toi = {.time = impact->time, .unresolved = true};
    if (resolves && !find_impact(c, a, b, &toi))
        return;
    if (toi.unresolved) {
        stop_if_moving(ccd, a, toi.time);
        stop_if_moving(ccd, b, toi.time);
        c->world->counters.hits_deferred++;
        return;
    }
    quat qa = foliot__orientation_at(c, foliot__sweep_of(c, a), toi.time);
    quat qb = foliot__orientation_at(c, foliot__sweep_of(c, b), toi.time);
    foliot__collision_impulse(c, a, b, &toi);
    change_path(ccd, a, toi.time, qa, true);
    change_path(ccd, b, toi.time, qb, true);
    const double *inverse_mass = foliot__inverse_mass(c->world);
    if (inverse_mass[a] > 0)
        each_neighbour(ccd, a, queue_pair);
    if (inverse_mass[b] > 0)
        each_neighbour(ccd, b, queue_pair);
}

// -- a step

// The queue was too small: every body that could pass by half its radius stops where its path
// began.
static void stop_fast_bodies(foliot__ccd *ccd)
{
    const foliot__collider *c = &ccd->collider;
    foliot__v3 v = c->paths.end_velocity;
    double dt = c->step->dt;
    ccd->counts->queued = 0;
    for (uint32_t k = 0; k < c->counts->sorted; k++) {
        uint32_t i = c->grid.bounds[k].body;
        double displacement =
            (vec3_length(foliot__v3_get(v, i)) + c->paths.restitution_threshold[i]) *
            (dt - c->paths.since[i]);
        if (foliot__inverse_mass(c->world)[i] > 0 &&
            displacement > foliot__inradius(c->world, i) / 2)
            stop_body(ccd, i, c->paths.since[i]);
    }
    c->world->counters.hits_deferred += ccd->counts->lost;
}

static void queue_impacts(foliot__ccd *ccd)
{
    const foliot__collider *c = &ccd->collider;
    const uint32_t *kind = foliot__shape_kind(c->world);
    const double *displacement = c->paths.displacement_max;
    float least = FOLIOT__FAR;
    double most = 0;
    for (uint32_t i = 0; i < c->step->count; i++) {
        most = displacement[i] > most ? displacement[i] : most;
        bool smaller = c->inradius[i] < least && kind[i] != FOLIOT_SHAPE_POINT;
        least = smaller ? c->inradius[i] : least;
    }
    // Not even the two fastest bodies could have an impact if they were the two smallest.
    if (most + most <= (double)least / 2)
        return;
    uint32_t pairs = c->counts->pairs;
    for (uint32_t k = 0; k < pairs; k++) {
        // A cheap bound: find_impact would be false whenever the two meet, as for most pairs of a
        // pile.
        uint32_t a = c->pairs[k].a, b = c->pairs[k].b;
        float inradius = c->inradius[a] < c->inradius[b] ? c->inradius[a] : c->inradius[b];
        if (displacement[a] + displacement[b] > (double)inradius / 2)
            queue_impact(ccd, a, b);
    }
}

void foliot__run_impacts(foliot__ccd *ccd)
{
    foliot__collider *c = &ccd->collider;
    ccd->counts->queued = ccd->counts->stopped = ccd->counts->lost = 0;
    // The grid holds the bounds of the time when pairs were found. Bodies whose path has changed
    // since stay in the list of the changed, with bounds of their present path.
    if (c->counts->stale)
        ccd->counts->changed = 0;
    ccd->counts->remembered = ccd->counts->changed;
    for (uint32_t k = 0; k < ccd->counts->changed; k++) {
        uint32_t i = ccd->changed[k];
        c->paths.revision[i] = 1;
        ccd->changed_bounds[k] = foliot__bounds_of(c, i, 0);
    }
    queue_impacts(ccd);
    if (ccd->counts->queued == 0)
        return;
    c->world->acceleration_valid = 0;
    c->counts->stale = 1; // manifolds of what they move
    for (uint32_t applied = 0; ccd->counts->queued > 0 && ccd->counts->lost == 0;) {
        foliot__impact impact = pop_impact(ccd);
        const uint32_t *revision = c->paths.revision;
        // One that was computed from a path which has changed since is void.
        if (impact.revision_a == revision[impact.a] && impact.revision_b == revision[impact.b])
            apply_impact(ccd, &impact, applied++ < IMPACTS_MAX);
    }
    if (ccd->counts->lost > 0)
        stop_fast_bodies(ccd);
    for (uint32_t k = 0; k < ccd->counts->changed; k++)
        if (foliot__path_changed_now(ccd, ccd->changed[k]))
            each_neighbour(ccd, ccd->changed[k], add_pair);
    foliot__order_pairs(c);
}

void foliot__find_paths(foliot__collider *c)
{
    foliot__parallel_run(c->workers, 0, c->step->count, FOLIOT__GRAIN_BODIES,
                         FOLIOT__KERNEL_OF_CPU(foliot__find_paths), c);
}

void foliot__collide(const foliot__step *step)
{
    if (!foliot__uses_contact_solver(step->world))
        return;
    foliot__ccd ccd = foliot__ccd_of(step);
    foliot__collider *c = &ccd.collider;
    foliot__find_paths(c);
    if (step->index == 0)
        memset(ccd.stopped_in, 0, step->count * sizeof *ccd.stopped_in);
    if (!step->world->scene.collides) {
        c->counts->stale = step->index == 0;
        c->counts->pairs = 0;
        return;
    }
    c->counts->stale = step->index == 0 || foliot__fat_bounds_left(c);
    if (c->counts->stale) {
        foliot__find_pairs(c);
        if (step->left > 0)
            foliot__fat_bounds_reset_all(c);
    }
    foliot__run_impacts(&ccd);
    // Pairs of their new paths were added, if there was an impact.
    for (uint32_t k = 0; k < ccd.counts->changed && c->counts->stale; k++)
        if (foliot__path_changed_now(&ccd, ccd.changed[k]))
            foliot__fat_bounds_reset(c, ccd.changed[k]);
}
