// SPDX-License-Identifier: MIT
// collider.c: where the collider's arrays lie; paths of bodies; the table of body pairs that the
// broad phase fills; and for how long these are valid. Pairs are found once a tick for the
// displacement that every body's velocity promises; a margin allows for what changes it.
//
// The table of pairs has a fixed room: a pair without room is dropped and counted. Invariant: after
// foliot__order_pairs, pairs ascend by (a, b) and each is there once.
#include "sim/state/workspace.h"
#include "sim/collide/collide.h"

#include <string.h>

#include "foliot/digest.h"
#include "sim/collide/sweep.h"

#define NOWHERE 0x1p100 // farther than anything

void foliot__collider_carve(foliot__collider *c, foliot__carver *from, size_t slots,
                            size_t contacts)
{
    foliot__paths *p = &c->paths;
    foliot__body_grid *g = &c->grid;
    FOLIOT__CARVE(from, c->counts, 1);
    FOLIOT__CARVE(from, c->inradius, slots + 1);
    FOLIOT__CARVE(from, c->bounding_radius, slots);
    p->start = foliot__carve_v3(from, slots);
    for (int k = 0; k < 4; k++)
        FOLIOT__CARVE(from, p->start_orientation[k], slots);
    p->acceleration = p->start_velocity = foliot__carve_v3(from, slots);
    p->end_velocity = foliot__carve_v3(from, slots);
    FOLIOT__CARVE(from, p->since, slots);
    FOLIOT__CARVE(from, p->restitution_threshold, slots);
    FOLIOT__CARVE(from, p->displacement_max, slots);
    FOLIOT__CARVE(from, p->revision, slots);
    FOLIOT__CARVE(from, p->sweep_valid, slots);
    FOLIOT__CARVE(from, p->struck, slots);
    FOLIOT__CARVE(from, p->sweeps, slots);
    FOLIOT__CARVE(from, g->bounds, slots);
    FOLIOT__CARVE(from, g->sorted, slots);
    for (int axis = 0; axis < 3; axis++) {
        FOLIOT__CARVE(from, g->low[axis], slots + FOLIOT__LANES);
        FOLIOT__CARVE(from, g->high[axis], slots + FOLIOT__LANES);
    }
    FOLIOT__CARVE(from, g->keys, slots);
    FOLIOT__CARVE(from, g->keys_spare, slots);
    g->pairs_of_a = FOLIOT__CARVE(from, g->order, slots);
    g->pairs_of_b = FOLIOT__CARVE(from, g->order_spare, slots);
    FOLIOT__CARVE(from, g->planes, slots);
    FOLIOT__CARVE(from, g->levels, FOLIOT__LEVELS);
    FOLIOT__CARVE(from, c->fat_bounds, slots);
    FOLIOT__CARVE(from, c->pairs, contacts);
    FOLIOT__CARVE(from, c->pairs_spare, contacts);
}

foliot__collider foliot__collider_of(const foliot__step *step)
{
    foliot_world *world = step->world;
    foliot__carver from = {(char *)foliot__contact_workspace(world), 0};
    foliot__collider c = {.world = world, .step = step, .workers = step->workers};
    foliot__collider_carve(&c, &from, world->capacity.slots, world->capacity.contacts);
    return c;
}

static void copy_v3(foliot__v3 to, foliot__v3 from, uint32_t begin, uint32_t end)
{
    size_t bytes = (end - begin) * sizeof(double);
    memcpy(to.x + begin, from.x + begin, bytes);
    memcpy(to.y + begin, from.y + begin, bytes);
    memcpy(to.z + begin, from.z + begin, bytes);
}

static void begin_range(void *context, uint32_t begin, uint32_t end)
{
    const foliot__collider *c = context;
    const foliot_world *world = c->world;
    copy_v3(c->paths.start, foliot__position(world), begin, end);
    copy_v3(c->paths.start_velocity, foliot__velocity(world), begin, end);
    const double *const q[4] = {foliot__orientation_w(world), foliot__orientation_x(world),
                                foliot__orientation_y(world), foliot__orientation_z(world)};
    for (int k = 0; k < 4; k++)
        memcpy(c->paths.start_orientation[k] + begin, q[k] + begin, (end - begin) * sizeof *q[k]);
}

void foliot__paths_begin(const foliot__step *step)
{
    if (!foliot__uses_contact_solver(step->world))
        return;
    foliot__collider c = foliot__collider_of(step);
    foliot__parallel_run(c.workers, 0, step->count, FOLIOT__GRAIN_BODIES, begin_range, &c);
}

// -- where a body is on its path through the substep, and how it turns
//
// The data that every pair needs (the pose where the path begins, the speed of turning) is computed
// once a path, on first use.

double foliot__inradius(const foliot_world *world, uint32_t i)
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

double foliot__turning_radius(const foliot_world *world, uint32_t i)
{
    const vec3 half = {foliot__half_x(world)[i], foliot__half_y(world)[i],
                       foliot__half_z(world)[i]};
    uint32_t kind = foliot__shape_kind(world)[i];
    if (kind == FOLIOT_SHAPE_BOX)
        return vec3_length(half);
    return kind == FOLIOT_SHAPE_CAPSULE ? half.z : 0;
}

foliot__motion foliot__path_at(const foliot__collider *c, uint32_t i, double time)
{
    vec3 end = foliot__v3_get(foliot__position(c->world), i);
    vec3 v = foliot__v3_get(c->paths.end_velocity, i), a = foliot__v3_get(c->paths.acceleration, i);
    double s = c->step->dt - time, half = s * s / 2;
    return (foliot__motion){
        .x = vec3_add(vec3_sub(end, vec3_scale(v, s)), vec3_scale(a, half)),
        .v = vec3_sub(v, vec3_scale(a, s)),
    };
}

// -- orientations along the path

quat foliot__turn_on(quat q, vec3 w, double duration)
{
    double speed = vec3_length(w), half = speed * duration / 2;
    if (!(speed > 0))
        return q;
    double c = foliot_cos(half);
    vec3 s = vec3_scale(w, foliot_sin(half) / speed), u = quat_vector(q);
    vec3 v = vec3_add(vec3_scale(u, c), vec3_add(vec3_scale(s, q.w), vec3_cross(s, u)));
    return quat_normalise((quat){c * q.w - vec3_dot(s, u), v.x, v.y, v.z});
}

quat foliot__orientation_at(const foliot__collider *c, const foliot__sweep *r, double time)
{
    double since = c->paths.since[r->body];
    if (r->turning == FOLIOT__TURNING_FREE)
        return foliot__turn_on(r->from, r->spin, time - since);
    if (r->turning == FOLIOT__TURNING_FAST)
        return foliot__turn_on(r->to, r->spin, time - c->step->dt);
    if (r->turning == FOLIOT__TURNING_NONE)
        return r->to;
    double share = (time - since) / (c->step->dt - since), rest = 1 - share;
    quat p = r->from, q = r->to;
    return quat_normalise((quat){rest * p.w + share * q.w, rest * p.x + share * q.x,
                                 rest * p.y + share * q.y, rest * p.z + share * q.z});
}

vec3 foliot__spin_along(const foliot__sweep *r, const mat3 *axis)
{
    return r->precesses ? mat3_apply_transposed(*axis, r->own) : r->spin;
}

bool foliot__clamp_spin(const foliot_world *world, uint32_t slot, double most)
{
    foliot__v3 moment = foliot__inertia(world), w = foliot__angular_velocity(world);
    if ((moment.x[slot] == moment.y[slot] && moment.y[slot] == moment.z[slot]) ||
        foliot__is_kinematic(world, slot))
        return false;
    double spin2 = (w.x[slot] * w.x[slot] + w.y[slot] * w.y[slot]) + w.z[slot] * w.z[slot];
    double scale = most / foliot__sqrt(spin2);
    w.x[slot] *= scale;
    w.y[slot] *= scale;
    w.z[slot] *= scale;
    return true;
}

// -- sweeps

void foliot__sweep_move(const foliot__collider *c, foliot__sweep *r, double time)
{
    foliot__motion at = foliot__path_at(c, r->body, time);
    r->solid.x = at.x;
    r->v = at.v;
    uint32_t kind = r->solid.kind;
    if (kind == FOLIOT_SHAPE_BOX || kind == FOLIOT_SHAPE_CAPSULE) {
        r->q = foliot__orientation_at(c, r, time);
        r->solid.axis = quat_axes(r->q);
    }
}

// Sets how the body turns. Returns its highest angular speed: for a blend, 4 tan(angle / 4) over
// the duration, in its middle.
static double set_turning(const foliot__collider *c, foliot__sweep *r)
{
    uint32_t i = r->body;
    double *const *start = c->paths.start_orientation;
    quat p = {start[0][i], start[1][i], start[2][i], start[3][i]};
    quat q = foliot__quat_get(c->world, i);
    double dt = c->step->dt, cosine = ((p.w * q.w + p.x * q.x) + p.y * q.y) + p.z * q.z;
    if (!(cosine >= 0)) { // the other sign is the same orientation
        p = (quat){-p.w, -p.x, -p.y, -p.z};
        cosine = -cosine;
    }
    r->from = p;
    r->to = q;
    r->spin = foliot__v3_get(foliot__angular_velocity(c->world), i);
    double speed = vec3_length(r->spin);
    r->turning = FOLIOT__TURNING_NONE;
    if (!(dt > c->paths.since[i]) || memcmp(&r->from, &r->to, sizeof r->from) == 0)
        return 0;
    r->turning = c->paths.struck[i]              ? FOLIOT__TURNING_FREE
                 : speed * dt > FOLIOT__FAR_TURN ? FOLIOT__TURNING_FAST
                                                 : FOLIOT__TURNING_BLENDED;
    if (r->turning != FOLIOT__TURNING_BLENDED)
        return speed;
    cosine = foliot__smaller(cosine, 1);
    double tangent2 = (1 - cosine) / (1 + cosine);
    return 4 * foliot__sqrt(foliot__larger(tangent2, 0)) / (dt - c->paths.since[i]);
}

const foliot__sweep *foliot__sweep_of(const foliot__collider *c, uint32_t i)
{
    static const quat upright = {1, 0, 0, 0};
    foliot__sweep *r = &c->paths.sweeps[i];
    if (c->paths.sweep_valid[i])
        return r;
    c->paths.sweep_valid[i] = true;
    r->body = i;
    foliot__solid_shape(c->world, i, &r->solid);
    r->q = (quat){0, 0, 0, 0};
    r->solid.axis = quat_axes(upright);
    r->inradius = foliot__inradius(c->world, i);
    double swing = foliot__turning_radius(c->world, i), fastest = set_turning(c, r);
    r->surface_speed = swing > 0 ? swing * fastest : 0;
    // The spin of a body with unequal moments precesses. Expressed in the body's own axes and taken
    // to another pose, it keeps the kinetic energy that the scheme left it with. Kept constant in
    // space it would not: a thin rod that bounces between its ends would gain some energy each
    // time, without end. A kinematic body's spin is constant in space.
    vec3 moment = foliot__v3_get(foliot__inertia(c->world), i);
    bool even = (moment.x == moment.y && moment.y == moment.z) || foliot__is_kinematic(c->world, i);
    r->precesses = !even && r->turning == FOLIOT__TURNING_BLENDED;
    if (r->precesses)
        r->own = mat3_apply(quat_axes(r->to), r->spin);
    foliot__sweep_move(c, r, c->paths.since[i]);
    return r;
}

// -- pairs

// One pass of a counting sort by member a (0) or b (1). `begin` holds how many pairs each slot has.
// Stable.
static void count_sort_pairs(const foliot__collider *c, const foliot__body_pair *from,
                             uint32_t member, uint32_t *begin, foliot__body_pair *to)
{
    const uint32_t *key = (const uint32_t *)(const void *)from + member, count = c->counts->pairs;
    for (uint32_t i = 0, sum = 0; i < c->step->count; i++) {
        uint32_t n = begin[i];
        begin[i] = sum;
        sum += n;
    }
    for (uint32_t k = 0; k < count; k++)
        to[begin[key[2 * k]]++] = from[k];
}

void foliot__sort_pairs(foliot__collider *c)
{
    uint32_t *of_a = c->grid.pairs_of_a, *of_b = c->grid.pairs_of_b, count = c->counts->pairs;
    memset(of_a, 0, sizeof *of_a * c->step->count);
    memset(of_b, 0, sizeof *of_b * c->step->count);
    for (uint32_t k = 0; k < count; k++) {
        of_a[c->pairs[k].a]++;
        of_b[c->pairs[k].b]++;
    }
    count_sort_pairs(c, c->pairs, 1, of_b, c->pairs_spare);
    count_sort_pairs(c, c->pairs_spare, 0, of_a, c->pairs);
}

void foliot__order_pairs(foliot__collider *c)
{
    foliot__sort_pairs(c);
    uint32_t count = c->counts->pairs, kept = 0;
    for (uint32_t k = 0; k < count; k++) {
        foliot__body_pair pair = c->pairs[k];
        if (kept == 0 || c->pairs[kept - 1].a != pair.a || c->pairs[kept - 1].b != pair.b)
            c->pairs[kept++] = pair;
    }
    c->counts->pairs = kept;
}

void foliot__add_pair(foliot__collider *c, uint32_t a, uint32_t b)
{
    uint32_t *count = &c->counts->pairs, most = c->world->capacity.contacts;
    if (*count == most && !c->counts->full) { // repeats may fill it
        foliot__order_pairs(c);
        c->counts->full = *count > most - most / 16;
    }
    if (*count == most) {
        c->world->counters.contacts_dropped++;
        return;
    }
    c->pairs[(*count)++] = a < b ? (foliot__body_pair){a, b} : (foliot__body_pair){b, a};
}

// -- fat bounds

// The contacts of a capsule that turns by more than the first in a tick are found again after the
// second, rad. It spins in place: its centre moves slower than this part of its surface.
#define TURN_A_TICK 0.7
#define TURN_MAX 0.25
#define SPINS 0.5

void foliot__fat_bounds_reset(const foliot__collider *c, uint32_t i)
{
    const foliot_world *world = c->world;
    double left = c->step->left;
    foliot__fat_bounds *fat = &c->fat_bounds[i];
    *fat = (foliot__fat_bounds){.at = foliot__v3_get(foliot__position(world), i),
                                .margin = FOLIOT__FAR};
    if (foliot__inverse_mass(world)[i] == 0 || !foliot__is_solid(world, i))
        return;
    vec3 displacement = vec3_scale(foliot__v3_get(foliot__velocity(world), i), left);
    fat->displacement[0] = (float)displacement.x;
    fat->displacement[1] = (float)displacement.y;
    fat->displacement[2] = (float)displacement.z;
    fat->margin = c->inradius[i] * (float)FOLIOT__FAT_MARGIN +
                  (float)(c->paths.restitution_threshold[i] * left);
}

static void reset_range(void *context, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++)
        foliot__fat_bounds_reset(context, i);
}

void foliot__fat_bounds_reset_all(foliot__collider *c)
{
    c->counts->found_left = c->step->left;
    foliot__parallel_run(c->workers, 0, c->step->count, FOLIOT__GRAIN_BODIES, reset_range, c);
}

typedef struct search {
    const foliot__collider *c;
    double time; // since the bounds were set
    _Atomic(bool) left;
} search;

static inline bool is_within(float d, float displacement, float margin)
{
    float low = displacement < 0 ? displacement : 0, high = displacement > 0 ? displacement : 0;
    return d >= low - margin && d <= high + margin;
}

// The place of contact on a capsule follows its axis, and not its spin. Contacts turn with the
// whole body, and keep the moments of inertia that it had: both are near enough for a part of a
// turn. A capsule that rolls needs nothing: its contacts do not turn.
static bool has_turned(const search *s, uint32_t i)
{
    const foliot_world *world = s->c->world;
    if (foliot__shape_kind(world)[i] != FOLIOT_SHAPE_CAPSULE)
        return false;
    vec3 w = foliot__v3_get(foliot__angular_velocity(world), i),
         v = foliot__v3_get(foliot__velocity(world), i);
    double tick = world->scene.dt, rate2 = vec3_dot(w, w), r = SPINS * s->c->inradius[i];
    return rate2 * (tick * tick) > TURN_A_TICK * TURN_A_TICK &&
           rate2 * (s->time * s->time) > TURN_MAX * TURN_MAX && vec3_dot(v, v) < r * r * rate2;
}

static void search_range(void *context, uint32_t begin, uint32_t end)
{
    search *s = context;
    foliot__v3 x = foliot__position(s->c->world);
    for (uint32_t i = begin; i < end; i++) {
        const foliot__fat_bounds *fat = &s->c->fat_bounds[i];
        vec3 d = vec3_sub(foliot__v3_get(x, i), fat->at);
        if (!is_within((float)d.x, fat->displacement[0], fat->margin) ||
            !is_within((float)d.y, fat->displacement[1], fat->margin) ||
            !is_within((float)d.z, fat->displacement[2], fat->margin) || has_turned(s, i)) {
            atomic_store_explicit(&s->left, true, memory_order_relaxed);
            return;
        }
    }
}

bool foliot__fat_bounds_left(foliot__collider *c)
{
    search s = {.c = c, .time = c->counts->found_left - c->step->left};
    foliot__parallel_run(c->workers, 0, c->step->count, FOLIOT__GRAIN_BODIES, search_range, &s);
    return s.left;
}
