// SPDX-License-Identifier: MIT
// solver.c: contacts at the end of the step, by sequential impulses (Catto 2006): each contact
// visited sees what the former have done, the same number of times in every step. The order is
// total: by colour, then by (a, b, feature). Colours are given in ascending (a, b, feature), each
// contact the lowest that no other of its moving bodies' contacts has; contacts of one colour share
// no body, so four of them go through one vector. What finds no colour of 64, or has an anisotropic
// inertia, is visited last, one by one. They start from the impulses that the same contacts ended
// the last step with, which are truth.
//
// Velocities: no contact that touches approaches any more, friction lies in Coulomb's cone (a
// vector, not a box). Positions: a body moves by dt times the sum of share * impulse / mass. A
// force that acts all through the step (as much as pushed in the last one) has share c
// (response.h), so what rests stays where it was under every scheme; an impact within it has the
// part of the step that was left. What overlap remains is pushed out afterwards, velocities
// untouched.
#include "sim/collide/collide.h"

#include "base/cpu.h"
#include "sim/collide/solver_kernel.h"
#include "sim/integrator/response.h"

#include <string.h>

#define PUSH_SWEEPS 4
#define PUSH_SHARE 0.25  // of the overlap that one visit removes
#define SLOP 0x1p-13     // of a radius: overlap that is left alone
#define PUSH_MAX 0.2     // of a radius in one visit
#define BLOW_WAY_MAX 0.5 // of a radius: what moves further in a step is impact.c's

enum { ANISOTROPIC = 1 };

double foliot__pair_friction(const foliot_world *world, uint32_t a, uint32_t b)
{
    const double *friction = foliot__friction(world);
    return foliot__sqrt(friction[a] * friction[b]);
}

static bool isotropic(const foliot_world *world, uint32_t i)
{
    foliot__v3 inverse = foliot__inverse_inertia(world);
    return inverse.x[i] == inverse.y[i] && inverse.y[i] == inverse.z[i];
}

double foliot__turn_ease(const foliot_world *world, uint32_t i)
{
    foliot__v3 inverse = foliot__inverse_inertia(world);
    return foliot__larger(foliot__larger(inverse.x[i], inverse.y[i]), inverse.z[i]);
}

// out := R diag(inverse inertia) R^t turn
static void turning_of(const foliot_world *world, uint32_t i, const double turn[3], double out[3])
{
    foliot__v3 inverse = foliot__inverse_inertia(world);
    const double ease[3] = {inverse.x[i], inverse.y[i], inverse.z[i]};
    double w = foliot__orientation_w(world)[i], x = foliot__orientation_x(world)[i];
    double y = foliot__orientation_y(world)[i], z = foliot__orientation_z(world)[i];
    const double r[3][3] = {
        {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
        {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
        {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)},
    };
    double own[3];
    for (int k = 0; k < 3; k++)
        own[k] = ((r[0][k] * turn[0] + r[1][k] * turn[1]) + r[2][k] * turn[2]) * ease[k];
    for (int k = 0; k < 3; k++)
        out[k] = (r[k][0] * own[0] + r[k][1] * own[1]) + r[k][2] * own[2];
}

void foliot__turn(const foliot_world *world, uint32_t i, const double turn[3])
{
    double change[3];
    if (isotropic(world, i)) {
        double ease = foliot__inverse_inertia(world).x[i];
        for (int k = 0; k < 3; k++)
            change[k] = turn[k] * ease;
    } else {
        turning_of(world, i, turn, change);
    }
    foliot__v3 spin = foliot__angular_velocity(world);
    spin.x[i] += change[0];
    spin.y[i] += change[1];
    spin.z[i] += change[2];
}

// -- making contacts ------------------------------------------------------------------------------

static bool touch_spheres(const foliot_world *world, foliot__contact *t)
{
    foliot__v3 x = foliot__position(world);
    uint32_t a = t->a, b = t->b;
    const double d[3] = {x.x[b] - x.x[a], x.y[b] - x.y[a], x.z[b] - x.z[a]};
    t->arm_a = foliot__radius(world)[a];
    t->arm_b = foliot__radius(world)[b];
    double radius = t->arm_a + t->arm_b, reach = radius * (1 + FOLIOT__MARGIN);
    double distance = foliot__sqrt(foliot__dot(d, d));
    t->gap = distance - radius;
    if (!(distance > 0)) { // one in the other's place: upwards is as good as any direction
        t->normal[0] = t->normal[1] = 0;
        t->normal[2] = 1;
        return true;
    }
    for (int k = 0; k < 3; k++)
        t->normal[k] = d[k] / distance;
    return distance <= reach;
}

static bool touch_plane(const foliot_world *world, foliot__contact *t, bool plane_first)
{
    foliot__v3 x = foliot__position(world);
    uint32_t plane = plane_first ? t->a : t->b, ball = plane_first ? t->b : t->a;
    double radius = foliot__radius(world)[ball], sign = plane_first ? 1 : -1;
    const double n[3] = {foliot__half_x(world)[plane], foliot__half_y(world)[plane],
                         foliot__half_z(world)[plane]};
    const double at[3] = {x.x[ball], x.y[ball], x.z[ball]};
    t->gap = foliot__dot(n, at) - foliot__plane_offset(world)[plane] - radius;
    t->arm_a = plane_first ? 0 : radius;
    t->arm_b = plane_first ? radius : 0;
    for (int k = 0; k < 3; k++)
        t->normal[k] = sign * n[k];
    return t->gap <= radius * FOLIOT__MARGIN;
}

static bool touch(const foliot_world *world, foliot__contact *t)
{
    const uint32_t *kind = foliot__shape_kind(world);
    uint32_t a = kind[t->a], b = kind[t->b];
    if (a == FOLIOT_SHAPE_SPHERE && b == FOLIOT_SHAPE_SPHERE)
        return touch_spheres(world, t);
    if (a == FOLIOT_SHAPE_PLANE && b == FOLIOT_SHAPE_SPHERE)
        return touch_plane(world, t, true);
    if (b == FOLIOT_SHAPE_PLANE && a == FOLIOT_SHAPE_SPHERE)
        return touch_plane(world, t, false);
    return false;
}

static double approach_of(const foliot__collider *c, const foliot__contact *t)
{
    foliot__v3 v = foliot__velocity(c->world);
    const double w[3] = {v.x[t->b] - v.x[t->a], v.y[t->b] - v.y[t->a], v.z[t->b] - v.z[t->a]};
    return -foliot__dot(w, t->normal);
}

// What the contact demands of velocities, and which share of its impulse moves positions.
static bool set_demand(const foliot__collider *c, foliot__contact *t)
{
    const foliot_world *world = c->world;
    double dt = c->step->dt, response = foliot__response(world);
    double approach = approach_of(c, t), rest = foliot__larger(c->rest[t->a], c->rest[t->b]);
    double e = foliot__larger(foliot__restitution(world)[t->a], foliot__restitution(world)[t->b]);
    t->share = response;
    t->target = t->blow = 0;
    if (t->gap > 0) {
        // Not touching yet. What will bounce is left to the step in which it does; else the others
        // of a pile may push it no further than to the touch.
        if (e > 0 && approach > rest)
            return false;
        t->target = -approach - t->gap / (dt * foliot__larger(response, 0.5));
        return true;
    }
    if (e > 0 && approach > rest && c->counts[FOLIOT__COUNT_HELD] > 0)
        t->target = e * approach; // an impact that was deferred
    if (approach > rest)
        t->blow = (t->target + approach - rest) * t->mass;
    double yields = rest * dt;
    if (approach > 0 && approach * dt + yields > 0) {
        double share = (response * yields - t->gap) / (approach * dt + yields);
        t->share = foliot__smaller(share, 1);
    }
    return true;
}

static void set_masses(const foliot_world *world, foliot__contact *t)
{
    const double *inverse_mass = foliot__inverse_mass(world);
    double w = inverse_mass[t->a] + inverse_mass[t->b];
    double turning = t->arm_a * t->arm_a * foliot__turn_ease(world, t->a) +
                     t->arm_b * t->arm_b * foliot__turn_ease(world, t->b);
    t->mass = 1 / w;
    t->mass_tangent = 1 / (w + turning);
    t->friction = foliot__pair_friction(world, t->a, t->b);
    t->flags = isotropic(world, t->a) && isotropic(world, t->b) ? 0 : ANISOTROPIC;
}

// The impulse of the same contact in the last step; `at` moves through the kept ones, which are in
// order.
static void start_warm(const foliot_world *world, foliot__contact *t, uint32_t *at)
{
    const uint64_t *keys = foliot__contact_key(world);
    const uint32_t *features = foliot__contact_feature(world);
    uint64_t key = (uint64_t)t->a << 32 | t->b;
    uint32_t k = *at;
    while (k < world->contact_count &&
           (keys[k] < key || (keys[k] == key && features[k] < t->feature)))
        k++;
    *at = k;
    t->push = t->kept = t->drag[0] = t->drag[1] = t->drag[2] = 0;
    if (k == world->contact_count || keys[k] != key || features[k] != t->feature)
        return;
    const double impulse[3] = {foliot__contact_impulse_x(world)[k],
                               foliot__contact_impulse_y(world)[k],
                               foliot__contact_impulse_z(world)[k]};
    double push = foliot__larger(foliot__dot(impulse, t->normal), 0);
    for (int i = 0; i < 3; i++)
        t->drag[i] = impulse[i] - push * t->normal[i];
    double across = foliot__dot(t->drag, t->normal); // not 0 where the normal has turned
    for (int i = 0; i < 3; i++)
        t->drag[i] -= across * t->normal[i];
    t->push = t->kept = push;
}

void foliot__make_contacts(foliot__collider *c)
{
    uint32_t count = 0, warm = 0;
    for (uint32_t k = 0; k < c->counts[FOLIOT__COUNT_PAIRS]; k++) {
        foliot__contact *t = &c->contacts[count];
        t->a = c->pairs[k].a;
        t->b = c->pairs[k].b;
        t->feature = 0;
        if (!touch(c->world, t))
            continue;
        set_masses(c->world, t);
        if (!set_demand(c, t))
            continue;
        start_warm(c->world, t, &warm);
        count++;
    }
    c->counts[FOLIOT__COUNT_CONTACTS] = count;
}

// -- velocities -----------------------------------------------------------------------------------

static inline void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

// The spin that an impulse across the normal gives: the same n x impulse for both, each with its
// arm.
static inline void spin(const foliot__collider *c, const foliot__contact *t, foliot__old_mover *a,
                        foliot__old_mover *b, const double across[3])
{
    double turn[3];
    cross(t->normal, across, turn);
    if (t->flags & ANISOTROPIC) {
        double da[3], db[3];
        turning_of(c->world, t->a, turn, da);
        turning_of(c->world, t->b, turn, db);
        for (int k = 0; k < 3; k++) {
            a->w[k] -= t->arm_a * da[k];
            b->w[k] -= t->arm_b * db[k];
        }
        return;
    }
    double ease_a = t->arm_a * a->inverse_inertia, ease_b = t->arm_b * b->inverse_inertia;
    for (int k = 0; k < 3; k++) {
        a->w[k] -= ease_a * turn[k];
        b->w[k] -= ease_b * turn[k];
    }
}

static inline void shove(const foliot__contact *t, foliot__old_mover *a, foliot__old_mover *b,
                         const double p[3])
{
    (void)t;
    for (int k = 0; k < 3; k++) {
        a->v[k] -= a->inverse_mass * p[k];
        b->v[k] += b->inverse_mass * p[k];
    }
}

static inline void visit(const foliot__collider *c, foliot__contact *t)
{
    foliot__old_mover *a = &c->old_movers[t->a], *b = &c->old_movers[t->b];
    const double *n = t->normal;
    double v[3], arms[3], turning[3], impulse[3];
    for (int k = 0; k < 3; k++) {
        v[k] = b->v[k] - a->v[k];
        arms[k] = t->arm_a * a->w[k] + t->arm_b * b->w[k];
    }
    double apart = foliot__dot(v, n);
    double before = t->push, push = before + (t->target - apart) * t->mass;
    t->push = push = push > 0 ? push : 0;
    double along = push - before;
    // Sliding of the surfaces; what the push along the normal changes is not part of it.
    cross(arms, n, turning);
    double drag[3], drag2 = 0, limit = t->friction * push;
    for (int k = 0; k < 3; k++) {
        drag[k] = t->drag[k] - t->mass_tangent * (v[k] - apart * n[k] - turning[k]);
        drag2 += drag[k] * drag[k];
    }
    if (drag2 > limit * limit) {
        double scale = limit / foliot__sqrt(drag2);
        for (int k = 0; k < 3; k++)
            drag[k] *= scale;
    }
    double across[3];
    for (int k = 0; k < 3; k++) {
        across[k] = drag[k] - t->drag[k];
        t->drag[k] = drag[k];
        impulse[k] = along * n[k] + across[k];
    }
    shove(t, a, b, impulse);
    spin(c, t, a, b, across);
}

static void load(foliot__collider *c)
{
    const foliot_world *world = c->world;
    foliot__v3 v = foliot__velocity(world), w = foliot__angular_velocity(world);
    const double *inverse_mass = foliot__inverse_mass(world);
    foliot__v3 ease = foliot__inverse_inertia(world);
    for (uint32_t i = 0; i < c->step->count; i++)
        c->old_movers[i] = (foliot__old_mover){.v = {v.x[i], v.y[i], v.z[i]},
                                       .w = {w.x[i], w.y[i], w.z[i]},
                                       .inverse_mass = inverse_mass[i],
                                       .inverse_inertia = ease.x[i]};
    c->old_movers[c->world->capacity.slots] = (foliot__old_mover){.v = {0}}; // of columns out of use
}

// -- blocks ---------------------------------------------------------------------------------------

static uint32_t colour_of(const foliot__collider *c, const foliot__contact *t)
{
    const double *inverse_mass = foliot__inverse_mass(c->world);
    uint64_t *used = c->keys, *a = &used[t->a], *b = &used[t->b];
    uint64_t taken = (inverse_mass[t->a] > 0 ? *a : 0) | (inverse_mass[t->b] > 0 ? *b : 0);
    if (t->flags & ANISOTROPIC || taken == UINT64_MAX)
        return FOLIOT__COLOURS;
    uint32_t colour = (uint32_t)__builtin_ctzll(~taken);
    *a |= (uint64_t)1 << colour;
    *b |= (uint64_t)1 << colour;
    return colour;
}

static void fill_column(const foliot__collider *c, const foliot__contact *t)
{
    foliot__block *block = &c->blocks[t->column / FOLIOT__BLOCK];
    uint32_t l = t->column % FOLIOT__BLOCK;
    const foliot__old_mover *a = &c->old_movers[t->a], *b = &c->old_movers[t->b];
    double radius =
        t->arm_a > 0 && t->arm_b > 0 ? foliot__smaller(t->arm_a, t->arm_b) : t->arm_a + t->arm_b;
    block->a[l] = t->a;
    block->b[l] = t->b;
    for (int k = 0; k < 3; k++) {
        block->normal[k][l] = t->normal[k];
        block->drag[k][l] = t->drag[k];
    }
    block->arm_a[l] = t->arm_a;
    block->arm_b[l] = t->arm_b;
    block->inverse_mass_a[l] = a->inverse_mass;
    block->inverse_mass_b[l] = b->inverse_mass;
    block->ease_a[l] = t->arm_a * a->inverse_inertia;
    block->ease_b[l] = t->arm_b * b->inverse_inertia;
    block->mass[l] = t->mass;
    block->mass_tangent[l] = t->mass_tangent;
    block->friction[l] = t->friction;
    block->target[l] = t->target;
    block->push[l] = t->push;
    block->gap[l] = t->gap;
    block->slop[l] = SLOP * radius;
    block->way_max[l] = PUSH_MAX * radius;
}

// Colours contacts and puts them in blocks, each colour from a block of its own on. Returns how
// many stay alone.
static uint32_t make_blocks(foliot__collider *c, uint32_t count)
{
    uint32_t sizes[FOLIOT__COLOURS] = {0}, at[FOLIOT__COLOURS], blocks = 0;
    uint32_t alone = 0;
    for (uint32_t i = 0; i < c->step->count; i++)
        c->keys[i] = 0;
    for (uint32_t k = 0; k < count; k++) {
        foliot__contact *t = &c->contacts[k];
        t->colour = colour_of(c, t);
        if (t->colour < FOLIOT__COLOURS)
            sizes[t->colour]++;
        else
            alone++;
    }
    for (uint32_t colour = 0; colour < FOLIOT__COLOURS; colour++) {
        at[colour] = blocks * FOLIOT__BLOCK;
        blocks += (sizes[colour] + FOLIOT__BLOCK - 1) / FOLIOT__BLOCK;
    }
    for (uint32_t colour = 0; colour < FOLIOT__COLOURS; colour++) {
        if (sizes[colour] % FOLIOT__BLOCK == 0)
            continue;
        foliot__block *last = &c->blocks[(at[colour] + sizes[colour]) / FOLIOT__BLOCK];
        memset(last, 0, sizeof *last);
        for (int l = 0; l < FOLIOT__BLOCK; l++)
            last->a[l] = last->b[l] = c->world->capacity.slots;
    }
    for (uint32_t k = 0; k < count; k++) {
        foliot__contact *t = &c->contacts[k];
        if (t->colour == FOLIOT__COLOURS)
            continue;
        t->column = at[t->colour]++;
        fill_column(c, t);
    }
    c->counts[FOLIOT__COUNT_BLOCKS] = blocks;
    return alone;
}

static void take_impulses(foliot__collider *c, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        foliot__contact *t = &c->contacts[k];
        if (t->colour == FOLIOT__COLOURS)
            continue;
        const foliot__block *block = &c->blocks[t->column / FOLIOT__BLOCK];
        uint32_t l = t->column % FOLIOT__BLOCK;
        t->push = block->push[l];
        for (int i = 0; i < 3; i++)
            t->drag[i] = block->drag[i][l];
    }
}

static const foliot__solver_kernel *kernel_of_cpu(void)
{
#if defined(__x86_64__)
    if (foliot__cpu_simd() != FOLIOT__SIMD_BASE)
        return &foliot__solver_avx2;
#endif
    return &foliot__solver_base;
}

static void store(foliot__collider *c, uint32_t i)
{
    foliot_world *world = c->world;
    const foliot__old_mover *m = &c->old_movers[i];
    foliot__v3 v = foliot__velocity(world), w = foliot__angular_velocity(world);
    v.x[i] = m->v[0];
    v.y[i] = m->v[1];
    v.z[i] = m->v[2];
    w.x[i] = m->w[0];
    w.y[i] = m->w[1];
    w.z[i] = m->w[2];
    foliot__velocity_changed(world, i);
}

static void warm(foliot__collider *c, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        foliot__contact *t = &c->contacts[k];
        if (t->push == 0)
            continue;
        foliot__old_mover *a = &c->old_movers[t->a], *b = &c->old_movers[t->b];
        double impulse[3];
        for (int i = 0; i < 3; i++)
            impulse[i] = t->push * t->normal[i] + t->drag[i];
        shove(t, a, b, impulse);
        spin(c, t, a, b, t->drag);
    }
}

// -- positions ------------------------------------------------------------------------------------

// What a body is given by forces that last, it gets all through the step; the rest (a blow that may
// have come through others) in the part of the step that its own touching left.
static void follow_lasting(foliot__collider *c, uint32_t count)
{
    double *share = c->since;
    foliot__v3 lasting = c->path;
    for (uint32_t k = 0; k < count; k++) {
        const foliot__contact *t = &c->contacts[k];
        if (t->push == 0)
            continue;
        double lasts = foliot__smaller(t->kept / t->push, 1);
        double wa = -lasts * c->old_movers[t->a].inverse_mass,
               wb = lasts * c->old_movers[t->b].inverse_mass;
        double impulse[3];
        for (int i = 0; i < 3; i++)
            impulse[i] = t->push * t->normal[i] + t->drag[i];
        lasting.x[t->a] += wa * impulse[0];
        lasting.y[t->a] += wa * impulse[1];
        lasting.z[t->a] += wa * impulse[2];
        lasting.x[t->b] += wb * impulse[0];
        lasting.y[t->b] += wb * impulse[1];
        lasting.z[t->b] += wb * impulse[2];
        c->age[t->a] = c->age[t->b] = 1;
        share[t->a] = foliot__smaller(share[t->a], t->share);
        share[t->b] = foliot__smaller(share[t->b], t->share);
    }
}

// How far the impulses of this step move body i within it.
static void follow(const foliot__collider *c, uint32_t i, double moved[3])
{
    const foliot_world *world = c->world;
    foliot__v3 v = foliot__velocity(world), last = c->path;
    const foliot__old_mover *m = &c->old_movers[i];
    double dt = c->step->dt, response = foliot__response(world), share = c->since[i];
    double given[3] = {m->v[0] - v.x[i] - last.x[i], m->v[1] - v.y[i] - last.y[i],
                       m->v[2] - v.z[i] - last.z[i]};
    double way = share * dt, length = way * foliot__sqrt(foliot__dot(given, given));
    double limit = foliot__radius(world)[i] * BLOW_WAY_MAX;
    if (length > limit)
        way *= limit / length;
    const double lasting[3] = {last.x[i], last.y[i], last.z[i]};
    for (int k = 0; k < 3; k++)
        moved[k] = response * dt * lasting[k] + way * given[k];
}

// One contact of the last colour, as push_block of solver_lanes.h.
static void push_out(foliot__collider *c, const foliot__contact *t)
{
    double *a = c->old_movers[t->a].v, *b = c->old_movers[t->b].v;
    double radius =
        t->arm_a > 0 && t->arm_b > 0 ? foliot__smaller(t->arm_a, t->arm_b) : t->arm_a + t->arm_b;
    const double apart[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    double gap = t->gap + foliot__dot(apart, t->normal), overlap = -gap - SLOP * radius;
    if (gap > 0 && t->push > 0) // rests open
        overlap = -gap;
    else if (!(overlap > 0))
        return;
    double moved = foliot__smaller(overlap * PUSH_SHARE, radius * PUSH_MAX) * t->mass;
    for (int k = 0; k < 3; k++) {
        a[k] -= moved * c->old_movers[t->a].inverse_mass * t->normal[k];
        b[k] += moved * c->old_movers[t->b].inverse_mass * t->normal[k];
    }
}

static void move(foliot__collider *c, uint32_t i)
{
    foliot__v3 x = foliot__position(c->world);
    const double *v = c->old_movers[i].v;
    if (v[0] == 0 && v[1] == 0 && v[2] == 0)
        return;
    x.x[i] += c->old_movers[i].v[0];
    x.y[i] += c->old_movers[i].v[1];
    x.z[i] += c->old_movers[i].v[2];
}

// What the next step starts from: the part that pushes on, not the blow of an impact.
static void keep(foliot__collider *c, uint32_t count)
{
    foliot_world *world = c->world;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < count; k++) {
        const foliot__contact *t = &c->contacts[k];
        if (!(t->push > t->blow))
            continue;
        double lasts = (t->push - t->blow) / t->push;
        foliot__contact_key(world)[kept] = (uint64_t)t->a << 32 | t->b;
        foliot__contact_feature(world)[kept] = t->feature;
        foliot__contact_impulse_x(world)[kept] = lasts * (t->push * t->normal[0] + t->drag[0]);
        foliot__contact_impulse_y(world)[kept] = lasts * (t->push * t->normal[1] + t->drag[1]);
        foliot__contact_impulse_z(world)[kept] = lasts * (t->push * t->normal[2] + t->drag[2]);
        kept++;
    }
    world->contact_count = kept;
}

// Velocities to the world; the movers' become what the bodies move by.
static void give_velocities(foliot__collider *c, uint32_t count)
{
    for (uint32_t i = 0; i < c->step->count; i++) {
        c->since[i] = 1;
        c->age[i] = 0; // from here on: is pushed by a contact. What floats free keeps its bits
        c->path.x[i] = c->path.y[i] = c->path.z[i] = 0;
    }
    follow_lasting(c, count);
    for (uint32_t i = 0; i < c->step->count; i++) {
        double moved[3] = {0, 0, 0};
        if (c->age[i] && c->old_movers[i].inverse_mass > 0) {
            follow(c, i, moved);
            store(c, i);
        }
        memcpy(c->old_movers[i].v, moved, sizeof moved);
    }
}

void foliot__solve(foliot__collider *c)
{
    foliot_world *world = c->world;
    uint32_t count = c->counts[FOLIOT__COUNT_CONTACTS];
    if (count == 0) {
        world->contact_count = 0;
        return;
    }
    load(c);
    bool alone = make_blocks(c, count) > 0;
    warm(c, count);
    const foliot__solver_kernel *kernel = kernel_of_cpu();
    uint32_t blocks = c->counts[FOLIOT__COUNT_BLOCKS];
    for (uint32_t sweep = 0; sweep < world->constraint_iterations; sweep++) {
        kernel->visit(c->blocks, blocks, c->old_movers);
        for (uint32_t k = 0; k < count && alone; k++)
            if (c->contacts[k].colour == FOLIOT__COLOURS)
                visit(c, &c->contacts[k]);
    }
    take_impulses(c, count);
    keep(c, count);
    give_velocities(c, count);
    for (int sweep = 0; sweep < PUSH_SWEEPS; sweep++) {
        kernel->push_out(c->blocks, blocks, c->old_movers, PUSH_SHARE);
        for (uint32_t k = 0; k < count && alone; k++)
            if (c->contacts[k].colour == FOLIOT__COLOURS)
                push_out(c, &c->contacts[k]);
    }
    for (uint32_t i = 0; i < c->step->count; i++)
        if (c->old_movers[i].inverse_mass > 0)
            move(c, i);
    world->acceleration_valid = 0;
}
