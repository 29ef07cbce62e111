// SPDX-License-Identifier: MIT
// solver_prepare.c: finds manifolds at the present poses and puts those that may push in this tick
// into colours and blocks, with the impulses of the last substep (warm start).
//
// The order is total: by colour, then by kind (points of a manifold), then by (a, b). Colours are
// given in ascending (a, b): each manifold gets the lowest colour that no earlier manifold of its
// moving bodies has. Manifolds of one colour share no body that can move. A manifold for which none
// of the 64 colours is free comes last, alone in a block.
#include "sim/solver/solver_kernel.h"
#include "sim/state/contact_cache.h"
#include "sim/state/workspace.h"

#include <float.h>
#include <string.h>

// Kinds: by points, and by which of the two bodies cannot move: none, the first, the second. Then
// by points and by which of the two is kinematic.
enum {
    KINDS = FOLIOT__KINDS + FOLIOT__KINDS_CARRIED,
    SORTS = FOLIOT__REGIONS * KINDS,
    LIVE_PARTED = 1024
};
#define UNEVEN 64.0f // ratio of masses that iterations cope with
#define LIGHTEST                                                                                   \
    8.0f            // a body that carries others has at least this part of the heaviest one's mass
#define PRESSES 0.3 // cosine of the angle between a contact's normal and the pressing acceleration
#define CARRIES 0.5 // and the pull of the body below towards its support
#define HOLDS 0.1f  // coefficient of friction with which a support takes lateral pushes
#define LOAD_PASSES 32
#define THINNEST 0x1p16 // ratio of moments
#define SOONER 1.5f     // than the present speeds say: bodies may still gain some
#define KIND(n, of, swaps)                                                                         \
    {                                                                                              \
        .points = n, .side = FOLIOT__SIDE_##of, .swapped = swaps                                   \
    }
// clang-format off
static const foliot__solver_block kinds[KINDS] = {
    KIND(1, MOVES, false), KIND(1, STILL, false), KIND(1, STILL, true),
    KIND(2, MOVES, false), KIND(2, STILL, false), KIND(2, STILL, true),
    KIND(4, MOVES, false), KIND(4, STILL, false), KIND(4, STILL, true),
    KIND(1, CARRIES, false), KIND(1, CARRIES, true),
    KIND(2, CARRIES, false), KIND(2, CARRIES, true),
    KIND(4, CARRIES, false), KIND(4, CARRIES, true),
};
// clang-format on
#undef KIND

// The kind of a manifold whose first body (0) or second (1) has no inverse mass.
static inline uint32_t fixed_kind(const foliot_world *world, uint32_t slot, uint32_t of_points,
                                  uint32_t which)
{
    if (world->counts.kinematic > 0 && foliot__is_kinematic(world, slot))
        return FOLIOT__KINDS + of_points / 3 * 2 + which;
    return of_points + 1 + which;
}

static uint32_t kind_of(const foliot__solver *s, const foliot__manifold *m)
{
    uint32_t of_points = m->count == 1 ? 0 : m->count == 2 ? 3 : 6;
    if (s->masses[m->a].inverse_mass == 0)
        return fixed_kind(s->world, m->a, of_points, 0);
    return s->masses[m->b].inverse_mass == 0 ? fixed_kind(s->world, m->b, of_points, 1) : of_points;
}

static uint32_t kinds_of(const foliot_world *world)
{
    return world->counts.kinematic > 0 ? KINDS : FOLIOT__KINDS;
}

// -- bodies

vec3 foliot__solver_inverse_moments(const foliot_world *world, uint32_t i)
{
    vec3 inverse = foliot__v3_get(foliot__inverse_inertia(world), i);
    double most = THINNEST * foliot__smaller(foliot__smaller(inverse.x, inverse.y), inverse.z);
    return (vec3){foliot__smaller(inverse.x, most), foliot__smaller(inverse.y, most),
                  foliot__smaller(inverse.z, most)};
}

void foliot__solver_set_inertia(const foliot_world *world, uint32_t i, quat q,
                                foliot__solver_mass *mass)
{
    vec3 inverse = foliot__solver_inverse_moments(world, i);
    if (inverse.x == inverse.y && inverse.y == inverse.z) {
        mass->xx = mass->yy = mass->zz = (float)inverse.x;
        mass->xy = mass->xz = mass->yz = 0;
        return;
    }
    mat3 r = mat3_transpose(quat_axes(q));
    vec3 s[3];
    for (int k = 0; k < 3; k++)
        s[k] = vec3_multiply(r.row[k], inverse);
    mass->xx = (float)vec3_dot(s[0], r.row[0]);
    mass->yy = (float)vec3_dot(s[1], r.row[1]);
    mass->zz = (float)vec3_dot(s[2], r.row[2]);
    mass->xy = (float)vec3_dot(s[0], r.row[1]);
    mass->xz = (float)vec3_dot(s[0], r.row[2]);
    mass->yz = (float)vec3_dot(s[1], r.row[2]);
}

static void place_body(foliot__solver *s, uint32_t i)
{
    const foliot_world *world = s->world;
    double inverse_mass = foliot__inverse_mass(world)[i];
    foliot__solver_mass *mass = &s->masses[i];
    uint32_t shape = foliot__shape_kind(world)[i];
    bool flat = shape == FOLIOT_SHAPE_BOX || shape == FOLIOT_SHAPE_PLANE;
    s->bodies[i] = (foliot__solver_body){.flat = flat};
    *mass = (foliot__solver_mass){.friction = (float)foliot__sqrt(foliot__friction(world)[i])};
    s->speculative_distance[i] = s->travel[i] = 0;
    s->colours_taken[i] = 0;
    bool carries = world->counts.kinematic > 0 && foliot__is_kinematic(world, i);
    if (inverse_mass == 0 && !carries)
        return;
    if (!carries) {
        mass->inverse_mass = (float)inverse_mass;
        foliot__solver_set_inertia(world, i, foliot__quat_get(world, i), mass);
    }
    double left = s->step->left;
    double spin = vec3_length(foliot__v3_get(foliot__angular_velocity(world), i));
    double speed_max = vec3_length(foliot__v3_get(foliot__velocity(world), i)) +
                       spin * s->ccd.collider.bounding_radius[i] +
                       s->ccd.collider.paths.restitution_threshold[i];
    float inradius = s->ccd.collider.inradius[i], most = (float)(speed_max * left);
    s->speculative_distance[i] =
        inradius * (float)FOLIOT__SPECULATIVE_MARGIN + (most < inradius ? most : inradius);
    s->travel[i] =
        left > 0 && most >= inradius ? FOLIOT__FAR : (float)(speed_max * (left + s->step->dt));
}

static void place_range(void *context, uint32_t begin, uint32_t end)
{
    foliot__solver *s = context;
    foliot__v3 x = foliot__position(s->world);
    for (uint32_t i = begin; i < end; i++) {
        foliot__v3_put(s->found, i, foliot__v3_get(x, i));
        place_body(s, i);
    }
}

// -- manifolds that take part

// The approach speed of each point of a manifold. Returns the highest.
static double approach_of(const foliot__solver *s, const foliot__manifold *m,
                          double speed[FOLIOT__POINTS])
{
    foliot__v3 v = foliot__velocity(s->world), w = foliot__angular_velocity(s->world);
    vec3 va = foliot__v3_get(v, m->a), vb = foliot__v3_get(v, m->b);
    vec3 wa = foliot__v3_get(w, m->a), wb = foliot__v3_get(w, m->b);
    vec3 n = {m->normal[0], m->normal[1], m->normal[2]};
    double fastest = -(double)FOLIOT__FAR;
    for (uint32_t p = 0; p < m->count; p++) {
        const float *ra = m->point[p].arm_a, *rb = m->point[p].arm_b;
        vec3 d = {(vb.x + wb.y * rb[2] - wb.z * rb[1]) - (va.x + wa.y * ra[2] - wa.z * ra[1]),
                  (vb.y + wb.z * rb[0] - wb.x * rb[2]) - (va.y + wa.z * ra[0] - wa.x * ra[2]),
                  (vb.z + wb.x * rb[1] - wb.y * rb[0]) - (va.z + wa.x * ra[1] - wa.y * ra[0])};
        speed[p] = -vec3_dot(d, n);
        fastest = foliot__larger(fastest, speed[p]);
    }
    return fastest;
}

// Points of a pair that touches and bounces. One that is still apart and will rebound is left out:
// the solver would stop it without restitution. False if a point that touches will rebound, since
// its impact was not found before the substep's end: then all are left to the next one.
static bool keep_points(const foliot__solver *s, foliot__manifold *m,
                        const double speed[FOLIOT__POINTS])
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < m->count; p++) {
        bool leaves = foliot__will_rebound(&s->ccd.collider, m->a, m->b, speed[p]);
        if (leaves && m->point[p].gap <= 0)
            return false;
        if (!leaves)
            m->point[count++] = m->point[p];
    }
    m->count = count;
    return true;
}

static bool may_push(const foliot__solver *s, foliot__manifold *m)
{
    if (m->count == 0)
        return false;
    const double *e = foliot__restitution(s->world);
    bool bounces = e[m->a] > 0 || e[m->b] > 0;
    float inradius = foliot__inradius_min(s, m->a, m->b), gap = foliot__least_gap(m);
    double far = (double)gap - (double)inradius * 2 * FOLIOT__SPECULATIVE_MARGIN;
    if (!bounces && far <= 0)
        return true;
    const double *thresholds = s->ccd.collider.paths.restitution_threshold;
    double speed[FOLIOT__POINTS], approach = approach_of(s, m, speed),
                                  threshold = foliot__larger(thresholds[m->a], thresholds[m->b]);
    // A pair that will bounce takes no part until the substep in which it does, or the next one if
    // its impact was deferred. A body at rest approaches at the threshold before it is pushed.
    if (bounces && approach > 1.25 * threshold &&
        (gap > 0 || s->ccd.counts->stopped > 0 || !keep_points(s, m, speed)))
        return false;
    return far <= (approach + threshold) * s->step->left;
}

typedef struct finding {
    const foliot__solver *s;
    _Atomic(uint32_t) live;
} finding;

static void find_range(void *context, uint32_t begin, uint32_t end)
{
    finding *f = context;
    const foliot__solver *s = f->s;
    uint32_t live = 0;
    foliot__find_manifolds(s->world, s->ccd.collider.pairs + begin, end - begin,
                           s->speculative_distance, s->manifolds + begin);
    for (uint32_t k = begin; k < end; k++) {
        foliot__manifold *m = &s->manifolds[k];
        bool pushes = may_push(s, m);
        s->kind[k] = pushes ? (uint8_t)kind_of(s, m) : SORTS;
        live += pushes;
    }
    atomic_fetch_add_explicit(&f->live, live, memory_order_relaxed);
}

// -- light bodies that carry heavy ones

// Whether body i accelerates along sign * n, by a cosine of `least`.
static bool accelerates(const foliot__solver *s, uint32_t i, const float n[3], double sign,
                        double least)
{
    vec3 a = foliot__v3_get(s->ccd.collider.paths.acceleration, i);
    double along = sign * vec3_dot(a, (vec3){(double)n[0], (double)n[1], (double)n[2]});
    return along > 0 && along * along > least * least * vec3_dot(a, a);
}

static bool is_held(const foliot__solver *s, uint32_t i)
{
    return !(s->masses[i].inverse_mass > 0) || s->load[i] > 0;
}

// A body that weighs more within the solver takes less momentum from a push than it should. Where
// a support has friction, that momentum goes into it anyway.
static bool has_grip(const foliot__solver *s, const foliot__manifold *m)
{
    return s->masses[m->a].friction * s->masses[m->b].friction >= HOLDS;
}

// A body rests on another that is held: then its load is its mass, until others add theirs.
static bool spread_support(const foliot__solver *s, const foliot__manifold *m)
{
    uint32_t a = m->a, b = m->b;
    bool a_held = is_held(s, a), b_held = is_held(s, b);
    if (a_held == b_held || !has_grip(s, m))
        return false;
    uint32_t i = a_held ? b : a; // the normal points from a to b
    if (!accelerates(s, i, m->normal, a_held ? -1 : 1, PRESSES))
        return false;
    s->load[i] = 1 / s->masses[i].inverse_mass;
    return true;
}

// The heaviest body that stands on each, directly or by way of others. A body that is pushed but
// not held counts with its own mass: its momentum goes into no support.
static bool spread_load(const foliot__solver *s, const foliot__manifold *m)
{
    float *load = s->load, of_a = load[m->a], of_b = load[m->b];
    if (!(of_a > 0 && of_b > 0))
        return false;
    bool a_below = of_b > of_a;
    uint32_t below = a_below ? m->a : m->b, above = a_below ? m->b : m->a;
    double down = a_below ? -1 : 1;
    if (of_a == of_b || !has_grip(s, m) || !accelerates(s, above, m->normal, down, PRESSES) ||
        !accelerates(s, below, m->normal, down, CARRIES))
        return false;
    load[below] = load[above];
    return true;
}

// Pairs are examined only if two moving bodies differ that much.
static bool has_light_beside_heavy(const foliot__solver *s)
{
    float light = 0, heavy = FLT_MAX; // inverse masses
    for (uint32_t i = 0; i < s->step->count; i++) {
        float mass = s->masses[i].inverse_mass;
        light = mass > light ? mass : light;
        heavy = mass < heavy && mass > 0 ? mass : heavy;
    }
    if (!(light > UNEVEN * heavy))
        return false;
    for (uint32_t k = 0; k < s->ccd.collider.counts->pairs; k++) {
        if (s->kind[k] >= FOLIOT__KINDS || s->kind[k] % 3 != 0)
            continue;
        const foliot__manifold *m = &s->manifolds[k];
        float a = s->masses[m->a].inverse_mass, b = s->masses[m->b].inverse_mass;
        if (a > UNEVEN * b || b > UNEVEN * a)
            return true;
    }
    return false;
}

typedef bool (*spread)(const foliot__solver *s, const foliot__manifold *m);

static void spread_all(const foliot__solver *s, spread over)
{
    uint32_t pairs = s->ccd.collider.counts->pairs;
    bool changed = true;
    for (int pass = 0; pass < LOAD_PASSES && changed; pass++) {
        changed = false;
        for (uint32_t k = 0; k < pairs; k++) {
            uint32_t at = pass % 2 ? k : pairs - 1 - k;
            if (s->kind[at] != SORTS)
                changed |= over(s, &s->manifolds[at]);
        }
    }
}

// Impulses in sequence reach a body through a much lighter one only after as many iterations as it
// is lighter, and the springs of the lighter one's contacts are as weak as it is light. So within
// the solver a held body has at least a part of the mass of the heaviest body on it. Only the
// solver uses that mass.
static void carry_loads(foliot__solver *s)
{
    s->counts->loaded = 0;
    if (!has_light_beside_heavy(s))
        return;
    memset(s->load, 0, s->step->count * sizeof *s->load);
    spread_all(s, spread_support);
    spread_all(s, spread_load);
    // Constraints use the true masses: the bodies that they hold keep theirs.
    const foliot_world *world = s->world;
    for (uint32_t i = 0; i < world->constraint_count; i++) {
        const foliot_constraint_definition *d = &foliot__constraint(world)[i];
        if (foliot__constraint_is_broken(world, i))
            continue;
        s->load[d->a] = 0;
        if (d->b != FOLIOT_NO_BODY)
            s->load[d->b] = 0;
    }
    for (uint32_t i = 0; i < s->step->count; i++) {
        foliot__solver_mass *mass = &s->masses[i];
        float share = mass->inverse_mass * s->load[i] / LIGHTEST;
        if (!(share > 1))
            continue;
        s->counts->loaded = 1;
        mass->inverse_mass /= share;
        float *row = &mass->xx;
        for (int k = 0; k < 6; k++)
            row[k] /= share;
    }
}

// -- colours and blocks

// The lowest colour that is free for both bodies, as far as impulses move them.
static uint32_t colour_of(const foliot__solver *s, const foliot__body_pair *pair, uint32_t kind)
{
    uint64_t *a = &s->colours_taken[pair->a], *b = &s->colours_taken[pair->b];
    bool both = kinds[kind].side == FOLIOT__SIDE_MOVES, swapped = kinds[kind].swapped;
    uint64_t taken = (both || swapped ? *a : 0) | (both || !swapped ? *b : 0);
    if (taken == UINT64_MAX)
        return FOLIOT__COLOURS;
    uint32_t colour = (uint32_t)__builtin_ctzll(~taken);
    *a |= (uint64_t)1 << colour;
    *b |= (uint64_t)1 << colour;
    return colour;
}

// For every colour and kind: the number of manifolds, and the first of their blocks. Colours are
// used in order, and unused ones are not written.
typedef struct placing {
    foliot__solver *s;
    uint32_t colours; // that are used
    uint32_t sizes[FOLIOT__COLOURS + 1][SORTS], first[FOLIOT__COLOURS + 1][SORTS];
} placing;

// Lays out the blocks in the arena.
static void lay_out_blocks(placing *p)
{
    foliot__solver *s = p->s;
    uint32_t count = 0, at = 0, of_world = kinds_of(s->world);
    for (uint32_t colour = 0; colour < p->colours; colour++) {
        uint8_t columns = colour < FOLIOT__COLOURS ? FOLIOT__BLOCK : 1;
        s->colour_begin[colour] = count;
        for (uint32_t sort = 0; sort < FOLIOT__REGIONS * of_world; sort++) {
            uint32_t size = p->sizes[colour][sort];
            p->first[colour][sort] = count;
            if (size == 0)
                continue;
            uint32_t blocks = (size + columns - 1u) / columns;
            for (uint32_t k = 0; k < blocks; k++) {
                foliot__solver_block *block = &s->blocks[count++];
                *block = kinds[sort % of_world];
                block->at = at;
                block->columns = columns;
                block->followed = columns > 1 && k + 1 < blocks;
                at += foliot__block_words(block->points, columns);
            }
            if (size % columns)
                memset(foliot__block_names(s, &s->blocks[count - 1]), 0xff,
                       columns * sizeof(uint32_t)); // FOLIOT__NOTHING
        }
    }
    for (uint32_t colour = p->colours; colour <= FOLIOT__COLOURS + 1; colour++)
        s->colour_begin[colour] = count;
    s->counts->blocks = count;
}

static void make_blocks(placing *p)
{
    foliot__solver *s = p->s;
    uint32_t count = s->counts->live, n = 0, of_world = kinds_of(s->world);
    for (uint32_t k = 0; k < s->ccd.collider.counts->pairs; k++) {
        uint32_t kind = s->kind[k];
        if (kind == SORTS)
            continue;
        uint32_t colour = colour_of(s, &s->ccd.collider.pairs[k], kind);
        // Within a colour the lower half of the manifolds comes before the upper half: two threads
        // then mostly have different bodies. Manifolds without a colour keep their order.
        bool upper = count >= LIVE_PARTED && colour < FOLIOT__COLOURS && n >= count / 2;
        uint32_t sort = kind + (upper ? of_world : 0);
        for (; p->colours <= colour; p->colours++)
            memset(p->sizes[p->colours], 0, sizeof p->sizes[0]);
        s->live[n] = k;
        s->colour[n] = (uint8_t)colour;
        s->kind[k] = (uint8_t)sort;
        s->rank[n] = p->sizes[colour][sort]++;
        n++;
    }
    lay_out_blocks(p);
}

// The block of the live n, and its column there.
static inline __attribute__((always_inline)) const foliot__solver_block *
block_of(const placing *p, uint32_t n, uint32_t *column)
{
    const foliot__solver *s = p->s;
    uint32_t colour = s->colour[n], sort = s->kind[s->live[n]], at = s->rank[n];
    uint32_t columns = colour < FOLIOT__COLOURS ? FOLIOT__BLOCK : 1;
    *column = at % columns;
    return &s->blocks[p->first[colour][sort] + at / columns];
}

// Lists the bodies that may be pushed: those with a colour, or all if there are joints.
static void list_active(foliot__solver *s)
{
    bool joints = foliot__has_joints(s->world);
    uint32_t rows = 0;
    for (uint32_t first = 0; first < s->step->count; first += 8) {
        uint32_t bits = 0;
        for (uint32_t l = 0; l < 8 && first + l < s->step->count; l++) {
            uint32_t i = first + l;
            bits |= (uint32_t)(s->masses[i].inverse_mass > 0 && (joints || s->colours_taken[i]))
                    << l;
        }
        if (bits)
            s->active[rows++] = first / 8 << 8 | bits;
    }
    s->counts->active = rows;
}

// -- the manifolds' impulses: into the table `contact` at a tick's end, and from there to the next
// manifolds. Points are matched by feature.

static bool pushes(const foliot__warm *warm)
{
    const float *p = warm->impulse;
    return p[0] > 0 || p[1] > 0 || p[2] > 0 || p[3] > 0;
}

// Whether an impact stopped the body in this substep or the one before. The contact's impulse then
// removed the whole speed at once, so it does not predict the next impulse.
static bool was_stopped(const foliot__solver *s, uint32_t i)
{
    const uint32_t *stopped_in = s->ccd.stopped_in;
    return stopped_in[i] > 0 && stopped_in[i] >= s->step->index;
}

static void store_row(const foliot__solver *s, uint32_t k, foliot__contact_row *row)
{
    const foliot__manifold *m = &s->manifolds[k];
    bool cold = was_stopped(s, m->a) || was_stopped(s, m->b);
    row->a = m->a;
    row->b = m->b;
    uint32_t *feature = &row->feature_0;
    for (uint32_t p = 0; p < FOLIOT__POINTS; p++)
        feature[p] = p >= m->count ? FOLIOT__NO_FEATURE
                     : cold        ? FOLIOT__COLD_FEATURE + p
                                   : m->point[p].feature;
    memcpy(&row->normal_impulse_0, s->warm[k].impulse, sizeof s->warm[k].impulse);
}

// The live are taken in chunks: first how many rows each makes, then where they begin, then the
// rows.
static uint32_t chunk_end(const foliot__solver *s, uint32_t chunk)
{
    uint32_t live = s->counts->live, end = (chunk + 1) * FOLIOT__GRAIN_PAIRS;
    return end < live ? end : live;
}

static void count_rows(void *context, uint32_t begin, uint32_t last)
{
    const foliot__solver *s = context;
    for (uint32_t k = begin; k < last; k++) {
        uint32_t rows = 0;
        for (uint32_t n = k * FOLIOT__GRAIN_PAIRS; n < chunk_end(s, k); n++)
            rows += pushes(&s->warm[s->live[n]]);
        s->first_row[k] = rows;
    }
}

static void store_rows(void *context, uint32_t begin, uint32_t last)
{
    const foliot__solver *s = context;
    foliot__contact_row *rows = foliot__contact(s->world);
    for (uint32_t k = begin; k < last; k++) {
        uint32_t at = s->first_row[k];
        for (uint32_t n = k * FOLIOT__GRAIN_PAIRS; n < chunk_end(s, k); n++)
            if (pushes(&s->warm[s->live[n]]))
                store_row(s, s->live[n], &rows[at++]);
    }
}

void foliot__store_contacts(foliot__solver *s)
{
    uint32_t stored = 0;
    uint32_t chunks = (s->counts->live + FOLIOT__GRAIN_PAIRS - 1) / FOLIOT__GRAIN_PAIRS;
    foliot__parallel_enqueue(s->workers, 0, s->counts->blocks, FOLIOT__GRAIN_BLOCKS,
                             foliot__solver_of_cpu()->store_impulses, s);
    foliot__parallel_run(s->workers, 0, chunks, 1, count_rows, s);
    for (uint32_t k = 0; k < chunks; k++) {
        uint32_t rows = s->first_row[k];
        s->first_row[k] = stored;
        stored += rows;
    }
    foliot__parallel_run(s->workers, 0, chunks, 1, store_rows, s);
    s->world->contact_count = stored;
}

// Points of the same feature inherit their impulses; friction belongs to the pair.
static void match_points(const foliot__manifold *m, const foliot__contact_row *row,
                         foliot__warm *warm)
{
    const uint32_t *feature = &row->feature_0;
    const float *push = &row->normal_impulse_0;
    uint32_t from = 0;
    for (uint32_t p = 0; p < m->count; p++) {
        while (from < FOLIOT__POINTS && feature[from] < m->point[p].feature)
            from++;
        if (from < FOLIOT__POINTS && feature[from] == m->point[p].feature)
            warm->impulse[p] = push[from];
    }
    if (feature[0] < FOLIOT__COLD_FEATURE)
        memcpy(&warm->impulse[4], &row->friction_impulse_x, 4 * sizeof(float));
}

// The live [begin, end), which are of one chunk.
static uint32_t match_chunk(foliot__solver *s, uint32_t begin, uint32_t end, uint32_t at)
{
    const foliot__contact_row *rows = foliot__contact(s->world);
    uint32_t count = s->world->contact_count;
    foliot__approach *idle = &s->watched[begin];
    bool known = s->counts->known > 0;
    for (uint32_t n = begin; n < end; n++) {
        uint32_t k = s->live[n];
        const foliot__manifold *m = &s->manifolds[k];
        s->warm[k] = (foliot__warm){.impulse = {0}};
        while (at < count && (rows[at].a < m->a || (rows[at].a == m->a && rows[at].b < m->b)))
            at++;
        bool pressed = at < count && rows[at].a == m->a && rows[at].b == m->b;
        if (pressed)
            match_points(m, &rows[at], &s->warm[k]);
        if (pressed && !known)
            continue;
        uint32_t brief = known ? foliot__brief_of(s, m->a, m->b) : FOLIOT__NOT_BRIEF;
        if (pressed && brief == FOLIOT__NOT_BRIEF)
            continue;
        bool near = brief != FOLIOT__NOT_BRIEF ||
                    foliot__least_gap(m) <= SOONER * (s->travel[m->a] + s->travel[m->b]);
        *idle++ = (foliot__approach){.manifold = n, .columns = near, .brief = brief};
    }
    s->first_row[begin / FOLIOT__GRAIN_PAIRS] = (uint32_t)(idle - &s->watched[begin]);
    return at;
}

static void match_contacts(foliot__solver *s, uint32_t begin, uint32_t end)
{
    const foliot__manifold *first = &s->manifolds[s->live[begin]];
    uint32_t at = foliot__contact_lower_bound(s->world, first->a, first->b);
    for (uint32_t from = begin; from < end; from += FOLIOT__GRAIN_PAIRS) {
        uint32_t to = from + FOLIOT__GRAIN_PAIRS;
        at = match_chunk(s, from, to < end ? to : end, at);
    }
}

// -- all of it, shared

void foliot__plan_colours(foliot__solver *s, foliot__loop_body *part, void *context)
{
    const uint32_t *first = s->colour_begin;
    if (!s->workers || s->workers->helpers == 0) {
        part(context, 0, first[FOLIOT__COLOURS + 1]);
        return;
    }
    for (uint32_t colour = 0; colour < FOLIOT__COLOURS; colour++)
        foliot__parallel_enqueue(s->workers, first[colour], first[colour + 1], FOLIOT__GRAIN_BLOCKS,
                                 part, context);
    uint32_t alone = first[FOLIOT__COLOURS], end = first[FOLIOT__COLOURS + 1];
    foliot__parallel_enqueue(s->workers, alone, end, end - alone, part, context);
}

// Writes the live [begin, end) into the names of their blocks, and finds their old impulses.
static void match_range(void *context, uint32_t begin, uint32_t end)
{
    const placing *p = context;
    foliot__solver *s = p->s;
    for (uint32_t n = begin; n < end; n++) {
        uint32_t column;
        const foliot__solver_block *block = block_of(p, n, &column);
        foliot__block_names(s, block)[column] = s->live[n];
    }
    match_contacts(s, begin, end);
}

void foliot__prepare_contacts(foliot__solver *s)
{
    foliot__workers *workers = s->workers;
    const foliot__solver_kernel *kernel = foliot__solver_of_cpu();
    placing p;
    p.s = s;
    p.colours = 0;
    foliot__parallel_run(workers, 0, s->step->count, FOLIOT__GRAIN_BODIES, place_range, s);
    uint32_t spare = s->world->capacity.slots;
    s->bodies[spare] = (foliot__solver_body){.v = {0}};
    s->masses[spare] = (foliot__solver_mass){.friction = 0};
    finding f = {.s = s};
    foliot__parallel_run(workers, 0, s->ccd.collider.counts->pairs, FOLIOT__GRAIN_PAIRS, find_range,
                         &f);
    s->counts->live = f.live;
    carry_loads(s);
    make_blocks(&p);
    list_active(s);
    foliot__parallel_enqueue(workers, 0, s->counts->live, 4 * FOLIOT__GRAIN_PAIRS, match_range, &p);
    foliot__parallel_enqueue(workers, 0, s->counts->blocks, FOLIOT__GRAIN_BLOCKS, kernel->prepare,
                             s);
    foliot__plan_colours(s, kernel->warm, s);
    // The poses are those at the substep's end.
    foliot__parallel_enqueue(workers, 0, s->counts->active, FOLIOT__GRAIN_ACTIVE,
                             kernel->begin_tick, s);
    foliot__parallel_wait(workers);
    foliot__watch_approaches(s);
    // Where the impulses of the watched manifolds are: normal_impulse comes last in a point.
    const uint32_t first = FOLIOT__HEAD_ROWS + FOLIOT__POINT_ROWS - 1;
    for (uint32_t i = 0; i < s->counts->watched; i++) {
        foliot__approach *watched = &s->watched[i];
        uint32_t column;
        const foliot__solver_block *block = block_of(&p, watched->manifold, &column);
        watched->manifold = s->live[watched->manifold];
        watched->impulses = block->at + first * block->columns + column;
        watched->columns = block->columns;
    }
}
