// SPDX-License-Identifier: MIT
// implicit.c: implicit Euler and the implicit midpoint rule (Hairer, Lubich and Wanner, Geometric
// Numerical Integration, II.1). Both solve one equation for a stage velocity w,
//
//     g(w) = w - v - h a(x + h w, w, t + h) = 0,
//
// with h = dt, and (x + dt w, w) as the result, for implicit Euler; with h = dt / 2 and (x + dt w,
// 2 w - v) for the midpoint rule. Newton's method with the forces' Jacobians, halving an update
// that does not make g smaller; its linear systems by BiCGSTAB (van der Vorst, SIAM J. Sci. Stat.
// Comput. 13, 631, 1992), which needs products with the Jacobian alone and no symmetry. Every sum
// has a fixed order.
//
// Solved means, for every body: the last update was below `tolerance` of its speed, or the residual
// is no larger than what rounding makes of it. A step that is not solved is counted as a failure,
// and the iterate with the smallest g is used.
#include "sim/integrator/scheme.h"

#include <float.h>

#include "foliot/digest.h"
#include "sim/state/state.h"
#include "sim/state/lanes.h"

#define LINEAR_ITERATIONS_MAX 1000 // of BiCGSTAB, two products each
// Relative tolerance of a linear system's residual: Newton's next iteration corrects the rest.
#define LINEAR_TOLERANCE_MIN 1e-4
#define LINEAR_TOLERANCE_MAX 0.1
#define HALVINGS_MAX 12      // of one update
#define BREAKDOWN 1e-10      // cosine between residual and shadow at which BiCGSTAB starts afresh
#define ROUNDING DBL_EPSILON // of a coordinate or velocity, relative

typedef enum vector {
    STAGE_VELOCITY, // w
    STAGE_POSITION, // x + h w
    RESIDUAL,       // g(w)
    UPDATE,
    LINEAR_RESIDUAL,
    SHADOW,
    DIRECTION,
    DIRECTION_IMAGE,
    DISPLACEMENT,
    TRIAL_VELOCITY, // also the best update so far of a linear solve
    TRIAL_RESIDUAL, // also the image of the linear residual
    FLOOR,          // x: the residual of a body from rounding alone
    VECTORS
} vector;

// One solve. Rows of bodies that do not move are 0 in every vector but STAGE_POSITION.
typedef struct stage {
    const foliot__step *step;
    double h, time;
    uint32_t lanes;
    foliot__v3 field[VECTORS];
} stage;

// -- vectors

static void combine_rows(double *to, double a, const double *x, double b, const double *y,
                         uint32_t rows)
{
    FOLIOT__FOR_LANES (rows, i)
        to[i] = a * x[i] + b * y[i];
}

// to = a x + b y; any of them may be the same.
static void combine_vectors(const stage *s, vector to, double a, vector x, double b, vector y)
{
    const foliot__v3 *t = &s->field[to], *p = &s->field[x], *q = &s->field[y];
    combine_rows(t->x, a, p->x, b, q->x, s->lanes);
    combine_rows(t->y, a, p->y, b, q->y, s->lanes);
    combine_rows(t->z, a, p->z, b, q->z, s->lanes);
}

static void assign_vector(const stage *s, vector to, vector from)
{
    foliot__copy(s->field[to], s->field[from], s->lanes);
}

typedef double lanes __attribute__((vector_size(8 * FOLIOT__LANES), aligned(8), may_alias));
#define LOAD(array, index) (*(const lanes *)((array) + (index)))

// Summed in lanes of fixed width: the order is the same whatever vectors the machine has.
static double dot(const stage *s, vector a, vector b)
{
    const foliot__v3 *p = &s->field[a], *q = &s->field[b];
    lanes sum = {0};
    for (uint32_t i = 0; i < s->lanes; i += FOLIOT__LANES)
        sum += (LOAD(p->x, i) * LOAD(q->x, i) + LOAD(p->y, i) * LOAD(q->y, i)) +
               LOAD(p->z, i) * LOAD(q->z, i);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static double norm(const stage *s, vector a)
{
    return foliot__sqrt(dot(s, a, a));
}

static double largest(double x, double y, double z)
{
    return foliot_max(foliot_max(foliot__absolute(x), foliot__absolute(y)), foliot__absolute(z));
}

// -- the equation

// to = g(w) and STAGE_POSITION = x + h w.
static void evaluate_equation(const stage *s, vector w, vector to)
{
    const foliot_world *world = s->step->world;
    const double *inverse_mass = foliot__inverse_mass(world);
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    const foliot__v3 *y = &s->field[STAGE_POSITION], *u = &s->field[w], *g = &s->field[to];
    for (uint32_t i = 0; i < s->lanes; i++) {
        y->x[i] = x.x[i] + s->h * u->x[i];
        y->y[i] = x.y[i] + s->h * u->y[i];
        y->z[i] = x.z[i] + s->h * u->z[i];
    }
    foliot__force_total(s->step, *y, *u, s->time, *g);
    for (uint32_t i = 0; i < s->lanes; i++) {
        bool moves = inverse_mass[i] > 0;
        g->x[i] = moves ? (u->x[i] - v.x[i]) - s->h * g->x[i] : 0;
        g->y[i] = moves ? (u->y[i] - v.y[i]) - s->h * g->y[i] : 0;
        g->z[i] = moves ? (u->z[i] - v.z[i]) - s->h * g->z[i] : 0;
    }
}

// to = g'(w) from: from - h (da/dx h from + da/dv from).
static void apply_jacobian(const stage *s, vector from, vector to)
{
    combine_vectors(s, DISPLACEMENT, s->h, from, 0, from);
    foliot__force_jacobian_apply(s->step, s->field[STAGE_POSITION], s->field[STAGE_VELOCITY],
                                 s->time, s->field[DISPLACEMENT], s->field[from], s->field[to]);
    combine_vectors(s, to, 1, from, -s->h, to);
}

// -- linear systems

static double restart_linear(const stage *s)
{
    assign_vector(s, SHADOW, LINEAR_RESIDUAL);
    assign_vector(s, DIRECTION, LINEAR_RESIDUAL);
    return dot(s, LINEAR_RESIDUAL, LINEAR_RESIDUAL);
}

// One iteration of BiCGSTAB on UPDATE. Returns the next rho, 0 where it must start afresh.
static double iterate_linear(const stage *s, double rho)
{
    vector image = TRIAL_RESIDUAL;
    apply_jacobian(s, DIRECTION, DIRECTION_IMAGE);
    double sigma = dot(s, SHADOW, DIRECTION_IMAGE);
    if (sigma == 0)
        return 0;
    double alpha = rho / sigma;
    combine_vectors(s, LINEAR_RESIDUAL, 1, LINEAR_RESIDUAL, -alpha, DIRECTION_IMAGE);
    combine_vectors(s, UPDATE, 1, UPDATE, alpha, DIRECTION);
    apply_jacobian(s, LINEAR_RESIDUAL, image);
    double square = dot(s, image, image);
    double omega = square > 0 ? dot(s, image, LINEAR_RESIDUAL) / square : 0;
    combine_vectors(s, UPDATE, 1, UPDATE, omega, LINEAR_RESIDUAL);
    combine_vectors(s, LINEAR_RESIDUAL, 1, LINEAR_RESIDUAL, -omega, image);
    double next = dot(s, SHADOW, LINEAR_RESIDUAL);
    if (omega == 0 ||
        foliot__absolute(next) <= BREAKDOWN * norm(s, SHADOW) * norm(s, LINEAR_RESIDUAL))
        return 0;
    combine_vectors(s, DIRECTION, 1, DIRECTION, -omega, DIRECTION_IMAGE);
    combine_vectors(s, DIRECTION, 1, LINEAR_RESIDUAL, next / rho * (alpha / omega), DIRECTION);
    return next;
}

// UPDATE solves g'(w) UPDATE = -g(w) up to a residual of `enough`; false where it is only the best
// found.
static bool solve_linear(const stage *s, double enough)
{
    double best = norm(s, RESIDUAL);
    foliot__clear(s->field[UPDATE], s->lanes);
    foliot__clear(s->field[TRIAL_VELOCITY], s->lanes);
    combine_vectors(s, LINEAR_RESIDUAL, -1, RESIDUAL, 0, RESIDUAL);
    double rho = restart_linear(s);
    for (uint32_t n = 0; n < LINEAR_ITERATIONS_MAX && best > enough; n++) {
        rho = iterate_linear(s, rho);
        double residual = norm(s, LINEAR_RESIDUAL);
        if (!(residual < DBL_MAX))
            break;
        if (residual < best) {
            best = residual;
            assign_vector(s, TRIAL_VELOCITY, UPDATE);
        }
        if (rho == 0)
            rho = restart_linear(s);
    }
    assign_vector(s, UPDATE, TRIAL_VELOCITY);
    return best <= enough;
}

// -- Newton's method

static stage stage_begin(const foliot__step *step, double h, double time)
{
    foliot_world *world = step->world;
    stage s = {.step = step, .h = h, .time = time, .lanes = foliot__lanes(world)};
    for (uint32_t k = 0; k < VECTORS; k++)
        s.field[k] = foliot__scratch_vector(world, k);
    const double *inverse_mass = foliot__inverse_mass(world);
    foliot__v3 v = foliot__velocity(world), w = s.field[STAGE_VELOCITY];
    for (uint32_t i = 0; i < s.lanes; i++) {
        bool moves =
            inverse_mass[i] > 0 || (world->counts.kinematic > 0 && foliot__is_kinematic(world, i));
        w.x[i] = moves ? v.x[i] : 0;
        w.y[i] = moves ? v.y[i] : 0;
        w.z[i] = moves ? v.z[i] : 0;
    }
    return s;
}

// The largest coordinate or length in the forces of the table, from which they subtract positions.
static double reach_of_forces(const foliot_world *world)
{
    double reach = 0;
    for (uint32_t k = 0; k < world->force_count; k++) {
        const foliot_force_definition *force = &foliot__force(world)[k];
        const double *point = force->kind == FOLIOT_FORCE_ATTRACTOR ? force->as.attractor.point
                                                                    : force->as.spring.point;
        if (force->kind == FOLIOT_FORCE_SPRING)
            reach = foliot_max(reach, force->as.spring.length);
        else if (force->kind != FOLIOT_FORCE_ATTRACTOR)
            continue;
        for (int d = 0; d < 3; d++)
            reach = foliot_max(reach, foliot__absolute(point[d]));
    }
    return reach;
}

// +1 or -1, without a pattern that neighbours share.
static double sign(uint32_t i)
{
    return i * 2654435761u & 0x8000 ? 1 : -1;
}

// No body's residual is larger than rounding makes it.
static bool at_floor(const stage *s)
{
    const foliot__v3 *g = &s->field[RESIDUAL];
    const double *floor = s->field[FLOOR].x;
    bool all = true;
    for (uint32_t i = 0; i < s->step->count && all; i++)
        all = largest(g->x[i], g->y[i], g->z[i]) <= floor[i];
    return all;
}

// No body's update is larger than `tolerance` of its speed.
static bool negligible(const stage *s)
{
    const foliot__v3 *u = &s->field[UPDATE], *w = &s->field[STAGE_VELOCITY];
    double tolerance = s->step->world->scheme.tolerance;
    bool all = true;
    for (uint32_t i = 0; i < s->step->count && all; i++)
        all = largest(u->x[i], u->y[i], u->z[i]) <= tolerance * largest(w->x[i], w->y[i], w->z[i]);
    return all;
}

// w += UPDATE, halved until g is smaller than `size`; its new size, or `size` and w as it was.
static double descend_step(const stage *s, double size)
{
    double share = 1;
    for (int n = 0; n <= HALVINGS_MAX; n++, share *= 0.5) {
        combine_vectors(s, TRIAL_VELOCITY, 1, STAGE_VELOCITY, share, UPDATE);
        evaluate_equation(s, TRIAL_VELOCITY, TRIAL_RESIDUAL);
        double trial = norm(s, TRIAL_RESIDUAL);
        if (trial < size) {
            assign_vector(s, STAGE_VELOCITY, TRIAL_VELOCITY);
            assign_vector(s, RESIDUAL, TRIAL_RESIDUAL);
            return trial;
        }
    }
    return size;
}

// How far a linear system is worth solving: Eisenstat and Walker's second choice (SIAM J. Sci.
// Comput. 17, 16, 1996).
static double forcing(double size, double before)
{
    double ratio = size / before;
    return foliot_clamp(ratio * ratio, LINEAR_TOLERANCE_MIN, LINEAR_TOLERANCE_MAX);
}

static bool newton_converges(const stage *s)
{
    foliot_world *world = s->step->world;
    evaluate_equation(s, STAGE_VELOCITY, RESIDUAL);
    double size = norm(s, RESIDUAL);
    if (!(size < DBL_MAX)) {
        // A fault: let it show in the bodies that have it, so that the world freezes them.
        combine_vectors(s, STAGE_VELOCITY, 1, STAGE_VELOCITY, -1, RESIDUAL);
        return false;
    }
    // FLOOR: how far g moves when coordinates and velocities move by their rounding, in two
    // directions chosen blindly.
    const foliot__v3 *w = &s->field[STAGE_VELOCITY], *y = &s->field[STAGE_POSITION];
    const foliot__v3 *dx = &s->field[DISPLACEMENT], *dv = &s->field[DIRECTION];
    const foliot__v3 *da = &s->field[DIRECTION_IMAGE];
    double reach = reach_of_forces(s->step->world), *floor = s->field[FLOOR].x;
    foliot__clear(s->field[FLOOR], s->lanes);
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < s->lanes; i++) {
            double far = ROUNDING * (largest(y->x[i], y->y[i], y->z[i]) + reach);
            double fast = ROUNDING * largest(w->x[i], w->y[i], w->z[i]);
            uint32_t seed = 6 * i + 3 * pass;
            dx->x[i] = sign(seed) * far, dv->x[i] = sign(seed) * fast;
            dx->y[i] = sign(seed + 1) * far, dv->y[i] = sign(seed + 1) * fast;
            dx->z[i] = sign(seed + 2) * far, dv->z[i] = sign(seed + 2) * fast;
            floor[i] += fast;
        }
        foliot__force_jacobian_apply(s->step, *y, *w, s->time, *dx, *dv, *da);
        for (uint32_t i = 0; i < s->lanes; i++)
            floor[i] += s->h * largest(da->x[i], da->y[i], da->z[i]);
    }
    double before = size;
    for (uint32_t n = 0; n < world->scheme.iterations_max && !at_floor(s); n++) {
        world->counters.solver_iterations++;
        bool solved = solve_linear(s, forcing(size, before) * size);
        if (solved && negligible(s)) {
            combine_vectors(s, STAGE_VELOCITY, 1, STAGE_VELOCITY, 1, UPDATE);
            return true;
        }
        double smaller = descend_step(s, size);
        if (!(smaller < 0.5 * size)) {
            if (norm(s, RESIDUAL) <= norm(s, FLOOR))
                return true;
            if (!(smaller < size))
                return false;
        }
        before = size;
        size = smaller;
    }
    return at_floor(s);
}

static stage solve_stage(const foliot__step *step, double h, double time)
{
    stage s = stage_begin(step, h, time);
    if (!newton_converges(&s))
        step->world->counters.solver_failures++;
    return s;
}

// -- schemes

// x += dt w, v = share w + (1 - share) v.
static void finish_step(const stage *s, double share)
{
    foliot_world *world = s->step->world;
    const double *inverse_mass = foliot__inverse_mass(world);
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot__v3 w = s->field[STAGE_VELOCITY];
    for (uint32_t i = 0; i < s->step->count; i++) {
        if (!(inverse_mass[i] > 0))
            continue;
        x.x[i] += s->step->dt * w.x[i];
        x.y[i] += s->step->dt * w.y[i];
        x.z[i] += s->step->dt * w.z[i];
        v.x[i] = share * w.x[i] + (1 - share) * v.x[i];
        v.y[i] = share * w.y[i] + (1 - share) * v.y[i];
        v.z[i] = share * w.z[i] + (1 - share) * v.z[i];
    }
    world->acceleration_valid = 0;
}

void foliot__advance_implicit_euler(const foliot__step *step)
{
    stage s = solve_stage(step, step->dt, step->time_end);
    finish_step(&s, 1);
}

void foliot__advance_implicit_midpoint(const foliot__step *step)
{
    stage s = solve_stage(step, 0.5 * step->dt, 0.5 * (step->time + step->time_end));
    finish_step(&s, 2);
}
