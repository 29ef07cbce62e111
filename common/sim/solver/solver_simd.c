// SPDX-License-Identifier: MIT
// solver_simd.c: the kernel for blocks of eight columns and of one, for one instruction set
// (base/cpu.h). Two blocks of eight are solved at once where the machine has vectors of sixteen
// floats.
#include "sim/solver/solver_kernel.h"

#include <string.h>

#include "sim/ccd/impact.h"
#include "sim/integrator/scheme.h"
#include "sim/math/simd.h"

#define COLUMNS 8
#define LANE_NAME(name) name##_8
#include "sim/solver/solver_lanes.h"
#include "sim/solver/solver_fill.h"

#define COLUMNS 1
#define LANE_NAME(name) name##_1
#include "sim/solver/solver_lanes.h"
#include "sim/solver/solver_fill.h"

#if !FOLIOT__VECTORS
// One column after the other: eight at once are 20 kB of scalar operations. Heads are rows of 32
// bits.
static void hold_8(head_8 *t, size_t next, const foliot__phase *phase, foliot__solver_body *bodies,
                   uint32_t spare, const foliot__side side, const lanes_8 *limit,
                   const lanes_8 *most)
{
    (void)next;
    for (int l = 0; l < 8; l++) {
        head_1 column;
        for (int row = 0; row < FOLIOT__HEAD_ROWS; row++)
            memcpy((char *)&column + 4 * row, (const char *)t + 4 * (8 * row + l), 4);
        const float limit_1 = (*limit)[l], most_1 = (*most)[l];
        hold_1(&column, 0, phase, bodies, spare, side, &limit_1, &most_1);
        t->friction_impulse[0][l] = column.friction_impulse[0];
        t->friction_impulse[1][l] = column.friction_impulse[1];
        t->twist_impulse[0][l] = column.twist_impulse[0];
    }
}
#endif

#if defined(__AVX512F__)
#define COLUMNS 16
#define LANE_NAME(name) name##_16
#include "sim/solver/solver_lanes.h"
#include "sim/solver/solver_fill.h"
#define AT_ONCE(call)                                                                              \
    if (block->followed && k + 1 < end) {                                                          \
        call(16);                                                                                  \
        k++;                                                                                       \
    } else
#else
#define AT_ONCE(call)
#endif

#define ONE_BY_ONE(call)

// Calls the function of the block's width.
#define EACH_BLOCK(call, at_once)                                                                  \
    for (uint32_t k = begin; k < end; k++) {                                                       \
        const foliot__solver_block *block = &s->blocks[k];                                         \
        void *t = s->arena + block->at;                                                            \
        at_once(call) if (block->columns == 8) call(8);                                            \
        else call(1);                                                                              \
    }

static void prepare(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
#define CALL(n) prepare_one_##n(t, s, block)
    EACH_BLOCK(CALL, ONE_BY_ONE)
#undef CALL
}

static void warm(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
#define CALL(n) warm_one_##n(t, s, block)
    EACH_BLOCK(CALL, AT_ONCE)
#undef CALL
}

static void iterate(void *context, uint32_t begin, uint32_t end)
{
    const foliot__iteration *iteration = context;
    const foliot__solver *s = iteration->solver;
    const foliot__phase *phase = &iteration->phase;
#define CALL(n) iterate_one_##n(t, s, phase, block)
    EACH_BLOCK(CALL, AT_ONCE)
#undef CALL
}

static void store_impulses(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
#define CALL(n) store_one_##n(t, s, block)
    EACH_BLOCK(CALL, ONE_BY_ONE)
#undef CALL
}

// -- bodies apart from their contacts, eight slots at a time: solver bodies around the iterations.
// Every slot is computed alone. A body without contacts and joints keeps its bits.

#define WIDE FOLIOT__SIMD_DOUBLES
typedef double wide FOLIOT__SIMD(double, WIDE);
typedef int64_t wide_marks FOLIOT__SIMD(int64_t, WIDE);
typedef float slim FOLIOT__SIMD(float, WIDE);
typedef int32_t slim_marks FOLIOT__SIMD(int32_t, WIDE);

#define WIDEN(v) FOLIOT__SIMD_WIDEN(wide, v)
#define NARROW(v) FOLIOT__SIMD_NARROW(slim, v)
#define WIDEN_MARKS(v) FOLIOT__SIMD_WIDEN_MASK(wide_marks, v)
#define ROOT(v) FOLIOT__SIMD_SQRT_F64(v)
#define PICK(mark, yes, no) FOLIOT__SELECT(wide, mark, yes, no)
#define AT(table, slot) FOLIOT__SIMD_AT(wide, table, slot)
#define HALF(row, p) (((slim *)(void *)&(row))[p])
#define MARKS_HALF(row, p) (((slim_marks *)(void *)&(row))[p])
// p: parts of eight slots, as many as a vector holds; i: their first slot
#define EACH_HALF(p, i, first)                                                                     \
    UNROLL for (uint32_t p = 0, i = (first); p < 8 / WIDE; p++, i += WIDE)
#define IN static inline __attribute__((always_inline)) void
#define FOLLOWS_MOVED 0x1p-6f   // of the inradius
#define FOLLOWS_TURNED 0x1p-13f // radians

typedef struct field {
    double *axis[3];
} field;

static inline field field_of(foliot__v3 v)
{
    return (field){{v.x, v.y, v.z}};
}

// Marks the active slots of an entry.
IN unpack_active(uint32_t entry, uint32_t *first, marks_8 *mine)
{
    const marks_8 bits = {1, 2, 4, 8, 16, 32, 64, 128};
    *first = foliot__active_first(entry);
    *mine = (((marks_8){0} + (int32_t)foliot__active_bits(entry)) & bits) != 0;
}

IN gather_bodies(const foliot__solver *s, uint32_t first, lanes_8 speed[8])
{
    const float *row[8];
    EACH (l, 8)
        row[l] = s->bodies[first + (uint32_t)l].v;
    gather_8(row, speed);
}

IN gather_moved(const foliot__solver *s, uint32_t first, lanes_8 displacement[8])
{
    const float *row[8];
    EACH (l, 8)
        row[l] = s->bodies[first + (uint32_t)l].moved;
    gather_8(row, displacement);
}

IN scatter_bodies(const foliot__solver *s, uint32_t entry, const lanes_8 speed[8])
{
    float *row[8];
    bool there[8];
    uint32_t first = foliot__active_first(entry), bits = foliot__active_bits(entry);
    EACH (l, 8) {
        row[l] = (float *)(void *)&s->bodies[first + (uint32_t)l]; // v, w, unused
        there[l] = bits >> l & 1;
    }
    scatter_8(row, there, speed);
}

IN scatter_moved(const foliot__solver *s, uint32_t entry, const lanes_8 displacement[8])
{
    float *row[8];
    bool there[8];
    uint32_t first = foliot__active_first(entry), bits = foliot__active_bits(entry);
    EACH (l, 8) {
        row[l] = s->bodies[first + (uint32_t)l].moved; // moved, turned, follows, spare
        there[l] = bits >> l & 1;
    }
    scatter_8(row, there, displacement);
}

// Sets whether the places of contact must follow the bodies: where these have moved by more than a
// part of their inradius, or have turned, or turn in the time `ahead`. Resting bodies need not.
IN set_follows(const foliot__solver *s, uint32_t first, float ahead, const lanes_8 speed[8],
               lanes_8 displacement[8])
{
    const lanes_8 one = (lanes_8){0} + 1,
                  inradius = *(const lanes_8 *)(const void *)&s->ccd.collider.inradius[first];
    lanes_8 moved = {0}, turned = {0}, turns = {0}, least = inradius * FOLLOWS_MOVED;
    EACH (n, 3) {
        lanes_8 turn = ahead * speed[3 + n];
        moved += displacement[n] * displacement[n];
        turned += displacement[3 + n] * displacement[3 + n];
        turns += turn * turn;
    }
    marks_8 follows = (moved > least * least) | (turned > FOLLOWS_TURNED * FOLLOWS_TURNED) |
                      (turns > FOLLOWS_TURNED * FOLLOWS_TURNED);
    displacement[6] = FOLIOT__SELECT(lanes_8, follows, one, (lanes_8){0});
}

// given := the velocities of the solver bodies.
static void remember_given(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
    for (uint32_t k = begin; k < end; k++) {
        uint32_t first = foliot__active_first(s->active[k]);
        lanes_8 speed[8], *given = (lanes_8 *)(void *)s->given[first / 8].row;
        gather_bodies(s, first, speed);
        EACH (n, 6)
            given[n] = speed[n];
    }
}

// The same. It also sets how far they have turned since the contacts were found, at the substep's
// end.
static void begin_tick(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
    field w = field_of(foliot__angular_velocity(s->world));
    float h = (float)s->step->dt;
    remember_given(context, begin, end);
    for (uint32_t k = begin; k < end; k++) {
        uint32_t first = foliot__active_first(s->active[k]);
        lanes_8 displacement[8];
        gather_moved(s, first, displacement);
        EACH_HALF (p, i, first)
            EACH (n, 3)
                HALF(displacement[3 + n], p) = -h * NARROW(AT(w.axis[n], i));
        scatter_moved(s, s->active[k], displacement);
    }
}

IN begin_phase(const foliot__solver *s, uint32_t lane, float share, lanes_8 speed[8])
{
    const lanes_8 *given = (const lanes_8 *)(const void *)s->given[lane].row;
    lanes_8 *begun = (lanes_8 *)(void *)s->begun[lane].row;
    EACH (n, 6) {
        speed[n] += share * given[n];
        begun[n] = speed[n];
    }
}

// Adds the earlier delta velocities to the solver bodies: the soft phase begins.
static void begin_soft(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
    float share = (float)foliot__response(s->world);
    for (uint32_t k = begin; k < end; k++) {
        uint32_t first = foliot__active_first(s->active[k]);
        lanes_8 speed[8];
        gather_bodies(s, first, speed);
        begin_phase(s, first / 8, share, speed);
        scatter_bodies(s, s->active[k], speed);
    }
}

IN load_bodies(const foliot__solver *s, uint32_t begin, uint32_t end, const bool begins)
{
    const foliot_world *world = s->world;
    field x = field_of(foliot__position(world)), w = field_of(foliot__angular_velocity(world));
    field start = field_of(s->ccd.collider.paths.start), found = field_of(s->found);
    double per_h = 1 / s->step->dt;
    float share = (float)foliot__response(world);
    for (uint32_t k = begin; k < end; k++) {
        uint32_t first = foliot__active_first(s->active[k]);
        lanes_8 speed[8] = {{0}}, displacement[8];
        gather_moved(s, first, displacement);
        EACH_HALF (p, i, first)
            EACH (n, 3) {
                wide from = AT(start.axis[n], i);
                HALF(speed[n], p) = NARROW((AT(x.axis[n], i) - from) * per_h);
                HALF(speed[3 + n], p) = NARROW(AT(w.axis[n], i));
                HALF(displacement[n], p) = NARROW(from - AT(found.axis[n], i));
            }
        set_follows(s, first, (float)s->step->dt, speed, displacement);
        if (begins)
            begin_phase(s, first / 8, share, speed);
        scatter_bodies(s, s->active[k], speed);
        scatter_moved(s, s->active[k], displacement);
    }
}

static void load(void *context, uint32_t begin, uint32_t end)
{
    load_bodies(context, begin, end, false);
}

static void load_and_begin(void *context, uint32_t begin, uint32_t end)
{
    load_bodies(context, begin, end, true);
}

// Rotates by the small vector `turn` where it is not 0.
IN rotate(double *const q[4], uint32_t i, const wide_marks *mine, const wide turn[3])
{
    wide w = AT(q[0], i), x = AT(q[1], i), y = AT(q[2], i), z = AT(q[3], i);
    wide a = turn[0] / 2, b = turn[1] / 2, d = turn[2] / 2;
    wide nw = w - ((a * x + b * y) + d * z), nx = x + ((a * w + b * z) - d * y);
    wide ny = y + ((b * w + d * x) - a * z), nz = z + ((d * w + a * y) - b * x);
    wide length = (nw * nw + nx * nx) + (ny * ny + nz * nz);
    ROOT(length);
    wide scale = 1 / length;
    wide_marks turning = ((turn[0] != 0) | (turn[1] != 0) | (turn[2] != 0)) & *mine;
    AT(q[0], i) = PICK(turning, nw * scale, w);
    AT(q[1], i) = PICK(turning, nx * scale, x);
    AT(q[2], i) = PICK(turning, ny * scale, y);
    AT(q[3], i) = PICK(turning, nz * scale, z);
}

// Positions move by the delta velocities. The scheme has turned the body by u h, and the solver
// turns it further by p: together that is a turn by (u h + p) if half of the product of p with u h
// is subtracted from p (the formula of Baker, Campbell and Hausdorff). Without that, a body that is
// pushed while it turns would also turn about a third axis. The solver bodies get the resulting
// velocities, for the relaxing phase.
static void advance(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
    const foliot_world *world = s->world;
    field x = field_of(foliot__position(world)), v = field_of(foliot__velocity(world));
    field w = field_of(foliot__angular_velocity(world)), found = field_of(s->found);
    double *const q[4] = {foliot__orientation_w(world), foliot__orientation_x(world),
                          foliot__orientation_y(world), foliot__orientation_z(world)};
    float h = (float)s->step->dt, share = (float)foliot__response(world);
    for (uint32_t k = begin; k < end; k++) {
        uint32_t entry = s->active[k], first;
        marks_8 mine;
        unpack_active(entry, &first, &mine);
        lanes_8 *given = (lanes_8 *)(void *)s->given[first / 8].row, steps[6], speed[8],
                displacement[8];
        lanes_8 *begun = (lanes_8 *)(void *)s->begun[first / 8].row;
        gather_bodies(s, first, speed);
        gather_moved(s, first, displacement);
        EACH (n, 6) {
            lanes_8 change = (lanes_8)((marks_8)(speed[n] - begun[n]) & mine);
            steps[n] = h * (share * given[n] + change);
            given[n] += change;
        }
        EACH (n, 3)
            displacement[3 + n] += h * speed[3 + n];
        const lanes_8 half = (lanes_8){0} + h / 2;
        vec_8 turn, spin, across;
        load_vec_8(steps + 3, &turn);
        load_vec_8(speed + 3, &spin);
        cross_8(&turn, &spin, &across);
        subtract_8(&turn, &half, &across);
        store_vec_8(steps + 3, &turn);
        EACH_HALF (p, i, first) {
            wide turns[3];
            wide_marks here = WIDEN_MARKS(MARKS_HALF(mine, p));
            EACH (n, 3) {
                wide old = AT(x.axis[n], i), at = PICK(here, old + WIDEN(HALF(steps[n], p)), old);
                AT(x.axis[n], i) = at;
                turns[n] = WIDEN(HALF(steps[3 + n], p));
                HALF(displacement[n], p) = NARROW(at - AT(found.axis[n], i));
                HALF(speed[n], p) = NARROW(AT(v.axis[n], i)) + HALF(given[n], p);
                HALF(speed[3 + n], p) = NARROW(AT(w.axis[n], i)) + HALF(given[3 + n], p);
            }
            rotate(q, i, &here, turns);
        }
        EACH (n, 6)
            begun[n] = speed[n];
        set_follows(s, first, 0, speed, displacement);
        scatter_bodies(s, entry, speed);
        scatter_moved(s, entry, displacement);
    }
}

// Adds the delta velocities to the velocities.
static void store(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
    const foliot_world *world = s->world;
    field v = field_of(foliot__velocity(world)), w = field_of(foliot__angular_velocity(world));
    const double most = FOLIOT__FAR_TURN / s->step->dt;
    for (uint32_t k = begin; k < end; k++) {
        uint32_t first;
        marks_8 mine, pushed = {0};
        unpack_active(s->active[k], &first, &mine);
        lanes_8 *given = (lanes_8 *)(void *)s->given[first / 8].row, speed[8];
        const lanes_8 *begun = (const lanes_8 *)(const void *)s->begun[first / 8].row;
        gather_bodies(s, first, speed);
        EACH (n, 6) {
            given[n] += (lanes_8)((marks_8)(speed[n] - begun[n]) & mine);
            pushed |= given[n] != 0;
        }
        pushed &= mine;
        EACH_HALF (p, i, first) {
            wide_marks here = WIDEN_MARKS(MARKS_HALF(pushed, p));
            wide turns[3];
            EACH (n, 3) {
                wide old = AT(v.axis[n], i), spin = AT(w.axis[n], i);
                turns[n] = PICK(here, spin + WIDEN(HALF(given[3 + n], p)), spin);
                AT(v.axis[n], i) = PICK(here, old + WIDEN(HALF(given[n], p)), old);
                AT(w.axis[n], i) = turns[n];
            }
            wide_marks fast =
                here &
                ((turns[0] * turns[0] + turns[1] * turns[1]) + turns[2] * turns[2] > most * most);
            EACH (l, WIDE)
                if (fast[l])
                    foliot__clamp_spin(world, i + (uint32_t)l, most);
        }
        // As foliot__velocity_changed.
        marks_8 *flags = (marks_8 *)(void *)&foliot__flags(world)[first];
        *flags &= ~(pushed & (int32_t)FOLIOT_BODY_STARTED);
    }
}

const foliot__solver_kernel FOLIOT__KERNEL(foliot__solver) = {
    prepare, warm,       iterate,        store_impulses, remember_given, begin_tick,
    load,    begin_soft, load_and_begin, advance,        store};
