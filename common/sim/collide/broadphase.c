// SPDX-License-Identifier: MIT
// broadphase.c: which bodies may touch in this step. Every pair whose bounds meet is found. The
// list depends on positions alone: no order is carried from one step to the next.
//
// Bodies are put in levels by size (powers of two). A level is a grid of rows along x whose cells
// are as wide as its widest body, sorted by (level, row, x) with a radix sort. The partners of a
// body in its own level lie in its own row and in four rows ahead, each a window that only moves
// forward. Partners in coarser levels are found by search. Work grows with the number of bodies
// times the levels in use.
#include "sim/collide/collide.h"

#include "sim/collide/shape.h"

#include "sim/math/simd.h"
#include "sim/math/vec3.h"
#include "sim/state/workspace.h"

#include <string.h>

#define SORTED_BY_INSERTION 100 // bodies: fewer than passes over 256 digits are worth
#define CELLS_MAX 16383.0
#define X_MAX 1073741823.0
#define X_PER_CELL 1024.0
#define BATCH_PAIRS 64
#define LANES 4
#define ROW_BOUNDS 64 // bounds that are looked at in lanes in the time that it takes to find a row
#define NOWHERE UINT32_MAX

typedef float lanes FOLIOT__SIMD_ALIGNED(float, LANES, 4);
typedef int32_t marks FOLIOT__SIMD(int32_t, LANES);
typedef int64_t halves FOLIOT__SIMD(int64_t, LANES / 2);

// How much further than its straight path the body's surface may come in this tick: by gravity, by
// contacts before pairs are found again, and by the speculative margin.
static double margin_of(const foliot__collider *c, uint32_t i)
{
    const foliot__step *step = c->step;
    if (foliot__inverse_mass(c->world)[i] == 0)
        return 0;
    // A parabola leaves its chord by at most a dt^2 / 8.
    double inradius = (double)c->inradius[i],
           margin = inradius * FOLIOT__SPECULATIVE_MARGIN +
                    c->paths.restitution_threshold[i] * step->dt / 8;
    return step->left > 0 ? margin + inradius * (FOLIOT__FAT_MARGIN + FOLIOT__SPECULATIVE_MARGIN) +
                                c->paths.restitution_threshold[i] * step->left
                          : margin;
}

// The half extents of the shape along the world's axes, wherever it turns within `turn` (radians).
static vec3 half_extents_of(const foliot__collider *c, uint32_t i, double turn)
{
    const foliot_world *world = c->world;
    uint32_t kind = foliot__shape_kind(world)[i];
    double radius = kind == FOLIOT_SHAPE_BOX ? 0 : foliot__radius(world)[i];
    double most = (double)c->bounding_radius[i], more = turn * most;
    vec3 half = {radius, radius, radius};
    if (kind == FOLIOT_SHAPE_SPHERE)
        return half;
    mat3 axis = quat_axes(foliot__quat_get(world, i));
    const double size[3] = {foliot__half_x(world)[i], foliot__half_y(world)[i],
                            foliot__half_z(world)[i]};
    for (int k = 0; k < 3; k++) {
        vec3 row = axis.row[k];
        half.x += foliot__absolute(row.x) * size[k];
        half.y += foliot__absolute(row.y) * size[k];
        half.z += foliot__absolute(row.z) * size[k];
    }
    return (vec3){foliot__smaller(half.x + more, most), foliot__smaller(half.y + more, most),
                  foliot__smaller(half.z + more, most)};
}

foliot__bounds foliot__bounds_of(const foliot__collider *c, uint32_t i, double since)
{
    const foliot_world *world = c->world;
    double dt = c->step->dt, ahead = c->step->left, margin = margin_of(c, i);
    vec3 end = foliot__v3_get(foliot__position(world), i);
    vec3 begin = foliot__v3_get(c->paths.start, i);
    if (since > 0) {
        double left = dt - since, half = left * left / 2;
        vec3 v = foliot__v3_get(c->paths.end_velocity, i);
        vec3 a = foliot__v3_get(c->paths.acceleration, i);
        begin = vec3_add(vec3_sub(end, vec3_scale(v, left)), vec3_scale(a, half));
    }
    vec3 then = vec3_add(end, vec3_scale(foliot__v3_get(foliot__velocity(world), i), ahead));
    double spin = vec3_length(foliot__v3_get(foliot__angular_velocity(world), i));
    vec3 half = half_extents_of(c, i, spin * (dt + ahead));
#define LOW(x) (foliot__smaller(foliot__smaller(begin.x, end.x), then.x) - (half.x + margin))
#define HIGH(x) (foliot__larger(foliot__larger(begin.x, end.x), then.x) + (half.x + margin))
    return (foliot__bounds){
        .min = {LOW(x), LOW(y), LOW(z)}, .max = {HIGH(x), HIGH(y), HIGH(z)}, .body = i};
#undef LOW
#undef HIGH
}

static double size_of(const foliot__bounds *b)
{
    double x = b->max[0] - b->min[0], y = b->max[1] - b->min[1], z = b->max[2] - b->min[2];
    return foliot__larger(foliot__larger(x, y), z);
}

static int exponent_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 52 & 0x7ff);
}

// Monotone in x, so that whatever is beyond the grid falls into its last cell.
static uint32_t cell_of(double x, double origin, double per_cell, double cells_max)
{
    double cell = (x - origin) * per_cell;
    return cell > 0 ? (uint32_t)(cell < cells_max ? cell : cells_max) : 0;
}

static void bound_range(void *context, uint32_t begin, uint32_t end)
{
    const foliot__collider *c = context;
    for (uint32_t k = begin; k < end; k++)
        c->grid.bounds[k] = foliot__bounds_of(c, c->grid.order[k], 0);
}

// The lowest of the levels in the mask.
#define LOWEST(levels) ((uint32_t)__builtin_ctzll(levels))

// Levels by the exponent of the size; the largest body is in the last level.
static void place_levels(foliot__collider *c)
{
    uint32_t count = c->counts->sorted;
    int largest = 0;
    for (uint32_t k = 0; k < count; k++) {
        int exponent = exponent_of(size_of(&c->grid.bounds[k]));
        largest = exponent > largest ? exponent : largest;
    }
    uint64_t levels = 0;
    for (uint32_t k = 0; k < count; k++) {
        foliot__bounds *b = &c->grid.bounds[k];
        double extent = size_of(b);
        int l = exponent_of(extent) - largest + FOLIOT__LEVELS - 1;
        l = l < 0 ? 0 : l;
        foliot__level *level = &c->grid.levels[l];
        if (!(levels >> l & 1))
            *level = (foliot__level){.cell = 0};
        levels |= (uint64_t)1 << l;
        bool first = level->cell == 0;
        level->cell = foliot__larger(level->cell, extent);
        for (int axis = 0; axis < 3; axis++)
            level->origin[axis] =
                first ? b->min[axis] : foliot__smaller(level->origin[axis], b->min[axis]);
        b->row = (uint32_t)l;
    }
    c->counts->levels = levels;
    for (uint64_t rest = levels; rest; rest &= rest - 1) {
        foliot__level *level = &c->grid.levels[LOWEST(rest)];
        if (level->cell == 0)
            continue;
        level->cell *= 1 + 0x1p-20; // rounding never puts two that meet two cells apart
        level->per_cell = 1 / level->cell;
        level->per_x = level->per_cell * X_PER_CELL;
    }
}

// Insertion sort of a few; else radix sort, least significant digit first, eight bits a pass. A
// pass whose digits are all equal is left out. Both are stable.
static void sort_keys(foliot__collider *c, uint32_t count)
{
    if (count <= SORTED_BY_INSERTION) {
        for (uint32_t k = 1; k < count; k++) {
            uint64_t key = c->grid.keys[k];
            uint32_t body = c->grid.order[k], at = k;
            for (; at > 0 && c->grid.keys[at - 1] > key; at--) {
                c->grid.keys[at] = c->grid.keys[at - 1];
                c->grid.order[at] = c->grid.order[at - 1];
            }
            c->grid.keys[at] = key;
            c->grid.order[at] = body;
        }
        for (uint32_t k = 0; k < count; k++)
            c->grid.sorted[k] = c->grid.bounds[c->grid.order[k]];
        return;
    }
    uint64_t *keys = c->grid.keys, *keys_to = c->grid.keys_spare, varies = 0;
    uint32_t *order = c->grid.order, *order_to = c->grid.order_spare;
    for (uint32_t k = 1; k < count; k++)
        varies |= keys[k] ^ keys[0];
    for (int d = 0; d < 8; d++) {
        if ((varies >> 8 * d & 255) == 0)
            continue;
        uint32_t begin[256] = {0}, sum = 0;
        for (uint32_t k = 0; k < count; k++)
            begin[keys[k] >> 8 * d & 255]++;
        for (int digit = 0; digit < 256; digit++) {
            uint32_t n = begin[digit];
            begin[digit] = sum;
            sum += n;
        }
        for (uint32_t k = 0; k < count; k++) {
            uint32_t to = begin[keys[k] >> 8 * d & 255]++;
            keys_to[to] = keys[k];
            order_to[to] = order[k];
        }
        uint64_t *swap_keys = keys;
        uint32_t *swap_order = order;
        keys = keys_to, keys_to = swap_keys;
        order = order_to, order_to = swap_order;
    }
    for (uint32_t k = 0; k < count; k++)
        c->grid.sorted[k] = c->grid.bounds[order[k]];
}

// Bounds in binary32, rounded outwards: bounds that meet also meet after rounding.
static float below(double x)
{
    return (float)(x - (foliot__larger(x, -x) * 0x1p-23 + 0x1p-120));
}

static float above(double x)
{
    return -below(-x);
}

static void sort_bounds(foliot__collider *c)
{
    uint32_t count = c->counts->sorted;
    uint32_t sizes[FOLIOT__LEVELS] = {0};
    for (uint32_t k = 0; k < count; k++) {
        foliot__bounds *b = &c->grid.bounds[k];
        uint32_t l = b->row;
        const foliot__level *level = &c->grid.levels[l];
        uint32_t y = cell_of(b->min[1], level->origin[1], level->per_cell, CELLS_MAX);
        uint32_t z = cell_of(b->min[2], level->origin[2], level->per_cell, CELLS_MAX);
        b->x = cell_of(b->min[0], level->origin[0], level->per_x, X_MAX);
        b->row = z << 14 | y;
        c->grid.keys[k] = (uint64_t)l << 58 | (uint64_t)b->row << 30 | b->x;
        c->grid.order[k] = k;
        sizes[l]++;
    }
    if (count > 0)
        sort_keys(c, count);
    for (uint32_t k = 0; k < count; k++)
        for (int axis = 0; axis < 3; axis++) {
            c->grid.low[axis][k] = below(c->grid.sorted[k].min[axis]);
            c->grid.high[axis][k] = above(c->grid.sorted[k].max[axis]);
        }
    uint32_t sum = 0;
    for (uint64_t rest = c->counts->levels; rest; rest &= rest - 1) {
        foliot__level *level = &c->grid.levels[LOWEST(rest)];
        level->begin = sum;
        sum += sizes[LOWEST(rest)];
        level->end = sum;
    }
}

// Whether two spheres come within their margins on the straight path from the step's start to the
// tick's end.
static bool spheres_near(const foliot__collider *c, uint32_t i, uint32_t j)
{
    const foliot_world *world = c->world;
    foliot__v3 x = foliot__position(world), s = c->paths.start, v = foliot__velocity(world);
    double radius = foliot__radius(world)[i] + foliot__radius(world)[j];
    double half = radius + margin_of(c, i) + margin_of(c, j), reach2 = half * half;
    vec3 speed = vec3_sub(foliot__v3_get(v, j), foliot__v3_get(v, i));
    vec3 d1 = vec3_add(vec3_sub(foliot__v3_get(x, j), foliot__v3_get(x, i)),
                       vec3_scale(speed, c->step->left));
    if (vec3_dot(d1, d1) <= reach2)
        return true;
    vec3 d0 = vec3_sub(foliot__v3_get(s, j), foliot__v3_get(s, i)), displacement = vec3_sub(d1, d0);
    double length2 = vec3_dot(displacement, displacement), along = -vec3_dot(d0, displacement);
    double distance2 = vec3_dot(d0, d0);
    if (along <= 0)
        return distance2 <= reach2;
    if (along >= length2)
        return false; // nearest at the end
    return distance2 * length2 - along * along <= reach2 * length2;
}

// A search for pairs of some bodies. Searches on several threads append to the shared table in
// batches. That order is not deterministic, so the pairs are sorted afterwards.
typedef struct finder {
    foliot__collider *c;
    _Atomic(uint32_t)
        *shared; // length of the table, perhaps beyond its room; NULL: one looks alone
    uint32_t body, waiting;
    foliot__body_pair found[BATCH_PAIRS];
} finder;

static void hand_over_found(finder *f)
{
    uint32_t most = f->c->world->capacity.contacts;
    uint32_t at = atomic_fetch_add_explicit(f->shared, f->waiting, memory_order_relaxed);
    for (uint32_t k = 0; k < f->waiting && at + k < most; k++)
        f->c->pairs[at + k] = f->found[k];
    f->waiting = 0;
}

static void consider_pair(finder *f, uint32_t i, uint32_t j)
{
    const foliot__collider *c = f->c;
    const double *inverse_mass = foliot__inverse_mass(c->world);
    if (inverse_mass[i] == 0 && inverse_mass[j] == 0)
        return;
    if ((foliot__has_joints(c->world) || c->world->counts.filtered) &&
        (foliot__joints_separate(c->world, i, j) || !foliot__may_touch(c->world, i, j)))
        return; // they pass through each other
    const uint32_t *kind = foliot__shape_kind(c->world);
    if (kind[i] == FOLIOT_SHAPE_SPHERE && kind[j] == FOLIOT_SHAPE_SPHERE && !spheres_near(c, i, j))
        return;
    if (!f->shared) {
        foliot__add_pair(f->c, i, j);
        return;
    }
    f->found[f->waiting++] = i < j ? (foliot__body_pair){i, j} : (foliot__body_pair){j, i};
    if (f->waiting == BATCH_PAIRS)
        hand_over_found(f);
}

// The first of the sorted bounds in [begin, end) that is not before (row, x).
static uint32_t lower_bound(const foliot__bounds *sorted, uint32_t begin, uint32_t end,
                            uint32_t row, uint32_t x)
{
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        const foliot__bounds *b = &sorted[middle];
        if (b->row < row || (b->row == row && b->x < x))
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static inline marks meets(const float *from, const float *to, float low, float high)
{
    return (*(const lanes *)from <= high) & (*(const lanes *)to >= low);
}

// Compares all bounds of a level with the box: several at once in binary32, then exactly.
static void scan_level(const foliot__collider *c, const foliot__level *level,
                       const foliot__bounds *box, void (*meet)(void *context, uint32_t body),
                       void *context)
{
    const float low[3] = {below(box->min[0]), below(box->min[1]), below(box->min[2])};
    const float high[3] = {above(box->max[0]), above(box->max[1]), above(box->max[2])};
    const float *const *from = (const float *const *)c->grid.low, *const *to =
                                                                      (const float *const *)
                                                                          c->grid.high;
    for (uint32_t k = level->begin; k < level->end;
         k += LANES) { // beyond the end it reads what it does not use
        marks met = meets(from[0] + k, to[0] + k, low[0], high[0]) &
                    meets(from[1] + k, to[1] + k, low[1], high[1]) &
                    meets(from[2] + k, to[2] + k, low[2], high[2]);
        if (!(((halves)met)[0] | ((halves)met)[1]))
            continue;
        for (uint32_t at = k; at < k + LANES && at < level->end; at++)
            if (met[at - k] && foliot__bounds_meet(&c->grid.sorted[at], box))
                meet(context, c->grid.sorted[at].body);
    }
}

static void query_level(const foliot__collider *c, const foliot__level *level,
                        const foliot__bounds *box, void (*meet)(void *context, uint32_t body),
                        void *context)
{
    uint32_t low[3], high[3];
    for (int axis = 1; axis < 3; axis++) {
        low[axis] =
            cell_of(box->min[axis] - level->cell, level->origin[axis], level->per_cell, CELLS_MAX);
        high[axis] = cell_of(box->max[axis], level->origin[axis], level->per_cell, CELLS_MAX);
    }
    uint64_t rows = (uint64_t)(high[1] - low[1] + 1) * (high[2] - low[2] + 1);
    if (rows * ROW_BOUNDS > level->end - level->begin) {
        scan_level(c, level, box, meet, context);
        return;
    }
    const foliot__bounds *sorted = c->grid.sorted;
    uint32_t x0 = cell_of(box->min[0] - level->cell, level->origin[0], level->per_x, X_MAX);
    uint32_t x1 = cell_of(box->max[0], level->origin[0], level->per_x, X_MAX);
    for (uint32_t z = low[2]; z <= high[2]; z++)
        for (uint32_t y = low[1]; y <= high[1]; y++) {
            uint32_t row = z << 14 | y;
            uint32_t k = lower_bound(sorted, level->begin, level->end, row, x0);
            for (; k < level->end && sorted[k].row == row && sorted[k].x <= x1; k++)
                if (foliot__bounds_meet(&sorted[k], box))
                    meet(context, sorted[k].body);
        }
}

void foliot__query(const foliot__collider *c, const foliot__bounds *box,
                   void (*meet)(void *context, uint32_t body), void *context)
{
    for (uint64_t rest = c->counts->levels; rest; rest &= rest - 1)
        query_level(c, &c->grid.levels[LOWEST(rest)], box, meet, context);
}

static void pair_with(void *context, uint32_t body)
{
    finder *f = context;
    consider_pair(f, f->body, body);
}

// Pairs sorted[k] with bodies of the same level: those behind it in its row, and those of the four
// rows ahead. The other four rows find it themselves. `from` are the starts of the rows' windows,
// which never move back; NOWHERE at first.
static void pair_in_level(finder *f, const foliot__level *level, uint32_t k, uint32_t from[4])
{
    const foliot__bounds *sorted = f->c->grid.sorted, *box = &sorted[k];
    uint32_t x1 = cell_of(box->max[0], level->origin[0], level->per_x, X_MAX);
    for (uint32_t m = k + 1; m < level->end && sorted[m].row == box->row && sorted[m].x <= x1; m++)
        if (foliot__bounds_meet(&sorted[m], box))
            consider_pair(f, box->body, sorted[m].body);
    uint32_t x0 = cell_of(box->min[0] - level->cell, level->origin[0], level->per_x, X_MAX);
    uint32_t y = box->row & 0x3fff, z = box->row >> 14;
    const uint32_t rows[4][2] = {{y + 1, z}, {y - 1, z + 1}, {y, z + 1}, {y + 1, z + 1}};
    for (int r = 0; r < 4; r++) {
        if (rows[r][0] > 0x3fff || rows[r][1] > 0x3fff) // y - 1 of 0 wraps to far beyond
            continue;
        uint32_t row = rows[r][1] << 14 | rows[r][0];
        uint32_t m = from[r] == NOWHERE ? lower_bound(sorted, k, level->end, row, x0) : from[r];
        while (m < level->end &&
               (sorted[m].row < row || (sorted[m].row == row && sorted[m].x < x0)))
            m++;
        from[r] = m;
        for (; m < level->end && sorted[m].row == row && sorted[m].x <= x1; m++)
            if (foliot__bounds_meet(&sorted[m], box))
                consider_pair(f, box->body, sorted[m].body);
    }
}

// Pairs of the sorted bounds [begin, end), level by level.
static void pair_levels(finder *f, uint32_t begin, uint32_t end)
{
    const foliot__collider *c = f->c;
    for (uint64_t levels = c->counts->levels; levels; levels &= levels - 1) {
        const foliot__level *level = &c->grid.levels[LOWEST(levels)];
        uint32_t first = begin > level->begin ? begin : level->begin;
        uint32_t last = end < level->end ? end : level->end;
        uint32_t from[4] = {NOWHERE, NOWHERE, NOWHERE, NOWHERE};
        for (uint32_t k = first; k < last; k++) {
            pair_in_level(f, level, k, from);
            f->body = c->grid.sorted[k].body;
            for (uint64_t rest = levels & (levels - 1); rest; rest &= rest - 1) // coarser ones
                query_level(c, &c->grid.levels[LOWEST(rest)], &c->grid.sorted[k], pair_with, f);
        }
    }
}

typedef struct search {
    foliot__collider *c;
    _Atomic(uint32_t) count;
} search;

static void pair_range(void *context, uint32_t begin, uint32_t end)
{
    search *s = context;
    finder f = {.c = s->c, .shared = &s->count, .waiting = 0};
    pair_levels(&f, begin, end);
    hand_over_found(&f);
}

static void pair_planes(foliot__collider *c)
{
    const foliot_world *world = c->world;
    const double *inverse_mass = foliot__inverse_mass(world);
    for (uint32_t k = 0; k < c->counts->sorted; k++) {
        const foliot__bounds *box = &c->grid.bounds[k];
        if (inverse_mass[box->body] == 0)
            continue;
        for (uint32_t p = 0; p < c->counts->planes; p++) {
            uint32_t plane = c->grid.planes[p];
            const double n[3] = {foliot__half_x(world)[plane], foliot__half_y(world)[plane],
                                 foliot__half_z(world)[plane]};
            double low = 0; // of the bounds along the normal
            for (int axis = 0; axis < 3; axis++)
                low += n[axis] * (n[axis] > 0 ? box->min[axis] : box->max[axis]);
            if (low <= foliot__plane_offset(world)[plane] &&
                foliot__may_touch(world, plane, box->body))
                foliot__add_pair(c, plane, box->body);
        }
    }
}

void foliot__find_pairs(foliot__collider *c)
{
    uint32_t count = 0, planes = 0;
    c->counts->pairs = 0;
    c->counts->full = 0;
    for (uint32_t i = 0; i < c->step->count; i++) {
        if (!foliot__is_solid(c->world, i))
            continue;
        if (foliot__shape_kind(c->world)[i] == FOLIOT_SHAPE_PLANE)
            c->grid.planes[planes++] = i;
        else
            c->grid.order[count++] = i;
    }
    foliot__parallel_run(c->workers, 0, count, FOLIOT__GRAIN_BODIES, bound_range, c);
    c->counts->sorted = count;
    c->counts->planes = planes;
    place_levels(c);
    sort_bounds(c);
    pair_planes(c); // first: where the table is full, it is not the floor that gives
    search s = {c, c->counts->pairs};
    foliot__parallel_run(c->workers, 0, count, FOLIOT__GRAIN_BODIES, pair_range, &s);
    if (s.count <= c->world->capacity.contacts) {
        c->counts->pairs = s.count;
    } else {
        // The table is full: one thread searches again in a fixed order, so that always the same
        // pairs are dropped.
        finder f = {.c = c};
        pair_levels(&f, 0, count);
    }
    foliot__sort_pairs(c); // each was found once
}
