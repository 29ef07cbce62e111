// SPDX-License-Identifier: MIT
// path_simd.c: the paths of bodies through a substep, eight slots at a time, for one instruction
// set (base/cpu.h). Every slot is computed alone.
#include "sim/collide/collide.h"

#include <string.h>

#include "sim/collide/sweep.h"
#include "sim/integrator/scheme.h"
#include "sim/math/simd.h"

#define WIDE FOLIOT__SIMD_DOUBLES
typedef double wide FOLIOT__SIMD(double, WIDE);
typedef int64_t wide_marks FOLIOT__SIMD(int64_t, WIDE);
typedef float slim FOLIOT__SIMD(float, WIDE);
typedef int32_t slim_marks FOLIOT__SIMD(int32_t, WIDE);

#if FOLIOT__VECTORS
#define UNROLL FOLIOT__UNROLL(16)
#else
#define UNROLL
#endif
#define EACH(k, n) UNROLL for (int k = 0; k < (n); k++)
#define WIDEN(v) FOLIOT__SIMD_WIDEN(wide, v)
#define NARROW(v) FOLIOT__SIMD_NARROW(slim, v)
#define WIDEN_MARKS(v) FOLIOT__SIMD_WIDEN_MASK(wide_marks, v)
#define ROOT(v) FOLIOT__SIMD_SQRT_F64(v)
#define PICK(mark, yes, no) FOLIOT__SELECT(wide, mark, yes, no)
#define AT(table, slot) FOLIOT__SIMD_AT(wide, table, slot)
#define HALF(row, p) (((slim *)(void *)&(row))[p])
// p: parts of eight slots, as many as a vector holds; i: their first slot
#define EACH_HALF(p, i, first)                                                                     \
    UNROLL for (uint32_t p = 0, i = (first); p < 8 / WIDE; p++, i += WIDE)
#define AXES(v)                                                                                    \
    {                                                                                              \
        (v).x, (v).y, (v).z                                                                        \
    }

// Inradius and bounding radius of slots [begin, end), rounded up to eight. They are constant
// through a tick.
static void measure(const foliot__collider *c, uint32_t begin, uint32_t end)
{
    const foliot_world *world = c->world;
    double *const half[3] = {foliot__half_x(world), foliot__half_y(world), foliot__half_z(world)};
    const wide far = (wide){0} + (double)FOLIOT__FAR;
    for (uint32_t first = begin; first < end; first += 8) {
        slim_marks *kinds = (slim_marks *)(void *)&foliot__shape_kind(world)[first];
        EACH_HALF (p, i, first) {
            wide x = AT(half[0], i), y = AT(half[1], i), z = AT(half[2], i),
                 inradius = PICK(x < y, x, y);
            wide radius = AT(foliot__radius(world), i), bounding_radius = (x * x + y * y) + z * z;
            wide_marks box = WIDEN_MARKS(kinds[p] == FOLIOT_SHAPE_BOX);
            wide_marks plane = WIDEN_MARKS(kinds[p] == FOLIOT_SHAPE_PLANE);
            wide_marks capsule = WIDEN_MARKS(kinds[p] == FOLIOT_SHAPE_CAPSULE);
            inradius = PICK(inradius < z, inradius, z);
            ROOT(bounding_radius);
            bounding_radius = PICK(box, bounding_radius, PICK(capsule, radius + z, radius));
            inradius = PICK(box, inradius, PICK(plane, far, radius));
            HALF(c->inradius[i], 0) = NARROW(inradius);
            HALF(c->bounding_radius[i], 0) = NARROW(bounding_radius);
        }
    }
}

// Repeats the rotation of a body whose spin was clamped from the start of the substep, with the new
// spin about its own axes. The scheme's orientation came from the wrong spin.
static void turn_again(const foliot__collider *c, uint32_t slot)
{
    foliot_world *world = c->world;
    foliot__v3 spin = foliot__angular_velocity(world);
    double *const *start = c->paths.start_orientation;
    quat q = {start[0][slot], start[1][slot], start[2][slot], start[3][slot]};
    vec3 own = mat3_apply(quat_axes(foliot__quat_get(world, slot)), foliot__v3_get(spin, slot));
    vec3 turns = mat3_apply_transposed(quat_axes(q), own);
    foliot__quat_put(world, slot, foliot__turn_on(q, turns, c->step->dt));
    foliot__v3_put(spin, slot, turns);
}

// Paths of slots [begin, end), rounded up to eight. Velocities at the start become mean
// accelerations; the paths end where the positions are (impact.c).
void FOLIOT__KERNEL(foliot__find_paths)(void *context, uint32_t begin, uint32_t end)
{
    const foliot__collider *c = context;
    const foliot_world *world = c->world;
    double *const v[3] = AXES(foliot__velocity(world)),
                  *const w[3] = AXES(foliot__angular_velocity(world)),
                  *const acceleration[3] = AXES(c->paths.acceleration),
                  *const path[3] = AXES(c->paths.end_velocity);
    double dt = c->step->dt, per_dt = 1 / dt, response = foliot__response(world),
           lag = (response - 0.5) * dt;
    // Positions that do not respond to the force of the same step fall for one more step before
    // they come to rest.
    double steps = response > 0 ? 1 : 2;
    const wide infinite = (wide){0} + (double)__builtin_inf();
    const double most = FOLIOT__FAR_TURN * per_dt;
    if (c->step->index == 0)
        measure(c, begin, end);
    memset(&c->paths.sweep_valid[begin], 0, (end - begin) * sizeof *c->paths.sweep_valid);
    memset(&c->paths.struck[begin], 0, (end - begin) * sizeof *c->paths.struck);
    for (uint32_t first = begin; first < end; first += 8) {
        slim_marks *kinds = (slim_marks *)(void *)&foliot__shape_kind(world)[first];
        EACH_HALF (p, i, first) {
            wide a[3], u[3], s[3];
            EACH (n, 3) {
                wide after = AT(v[n], i);
                a[n] = (after - AT(acceleration[n], i)) * per_dt;
                u[n] = after + a[n] * lag;
                s[n] = AT(w[n], i);
                AT(acceleration[n], i) = a[n];
                AT(path[n], i) = u[n];
            }
            wide gain = (a[0] * a[0] + a[1] * a[1]) + a[2] * a[2];
            wide speed = (u[0] * u[0] + u[1] * u[1]) + u[2] * u[2];
            wide spin = (s[0] * s[0] + s[1] * s[1]) + s[2] * s[2];
            ROOT(gain);
            ROOT(speed);
            ROOT(spin);
            wide_marks fast = spin > most;
            EACH (l, WIDE)
                if (fast[l] && foliot__clamp_spin(world, i + (uint32_t)l, most))
                    turn_again(c, i + (uint32_t)l);
            wide threshold = steps * dt * gain, displacement = (speed + threshold) * dt;
            AT(c->paths.restitution_threshold, i) = threshold;
            AT(c->paths.since, i) = (wide){0};
            // Turning moves a surface further than its centre, except that of a sphere.
            wide further = displacement + spin * WIDEN(HALF(c->bounding_radius[i], 0)) * dt;
            displacement =
                PICK(WIDEN_MARKS(kinds[p] == FOLIOT_SHAPE_SPHERE), displacement, further);
            displacement = PICK(AT(foliot__restitution(world), i) > 0, infinite, displacement);
            AT(c->paths.displacement_max, i) =
                PICK(WIDEN_MARKS(kinds[p] == FOLIOT_SHAPE_POINT), (wide){0}, displacement);
        }
        memset(&c->paths.revision[first], 0, 8 * sizeof *c->paths.revision);
    }
}
