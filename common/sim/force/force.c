// SPDX-License-Identifier: MIT
// force.c: forces as accelerations, in the scene's order. Makes the compact form of the
// definitions, and sums its runs. Keeps no state: the same x, v and t give the same bits, however
// often asked.
#include "sim/force/force.h"

#include "base/assert.h"
#include "sim/force/force_workspace.h"
#include "sim/state/workspace.h"

#include <string.h>

// -- which forces a kinematic scheme moves itself

static bool is_static(const foliot_world *world, uint32_t body)
{
    return body == FOLIOT_NO_BODY || (foliot__flags(world)[body] & FOLIOT_BODY_STATIC) != 0;
}

static bool is_there(const foliot_world *world, uint32_t body)
{
    return body == FOLIOT_NO_BODY || (foliot__flags(world)[body] & FOLIOT_BODY_ALIVE) != 0;
}

bool foliot__spring_holds(const foliot_world *world, const foliot_force_definition *spring)
{
    return is_there(world, spring->a) && is_there(world, spring->b);
}

bool foliot__scheme_moves_constants(const foliot_world *world)
{
    return world->scheme.integrator == FOLIOT_INTEGRATOR_KINEMATIC ||
           world->scheme.integrator == FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE ||
           world->scheme.integrator == FOLIOT_INTEGRATOR_KINEMATIC_STRANG;
}

bool foliot__scheme_moves_force(const foliot_world *world, const foliot_force_definition *force)
{
    // kinematic-strang sums its forces body by body: no force that couples two, and none that is
    // not linear.
    bool summed = world->scheme.integrator == FOLIOT_INTEGRATOR_KINEMATIC_STRANG;
    if (!foliot__scheme_moves_constants(world))
        return false;
    switch (force->kind) {
    case FOLIOT_FORCE_UNIFORM:
    case FOLIOT_FORCE_CONSTANT:
        return true;
    case FOLIOT_FORCE_DRAG:
        return !summed || force->as.drag.quadratic == 0.0;
    case FOLIOT_FORCE_SPRING:
        // A spring of length 0 whose damper does not depend on its direction is linear: an
        // oscillator with a closed form.
        return (force->as.spring.length == 0.0 &&
                (force->as.spring.damping == 0.0 ||
                 force->as.spring.damping_kind == FOLIOT_DAMPING_ISOTROPIC)) &&
               foliot__spring_holds(world, force) &&
               (!summed || is_static(world, force->a) || is_static(world, force->b));
    default:
        return false;
    }
}

// -- the compact form

static uint64_t align64(uint64_t bytes)
{
    return (bytes + 63) & ~(uint64_t)63;
}

// Lays the tables of the workspace out after one another; returns the bytes of all.
static uint64_t lay_out(foliot__forces *forces, uint64_t slots, uint64_t runs, uint64_t springs,
                        uint64_t tethers, uint64_t dampers, bool gravitates, bool calls_back)
{
    uint64_t at = align64(sizeof *forces);
    forces->runs = (size_t)at;
    at += align64(runs * sizeof(foliot__run));
    forces->springs = (size_t)at;
    at += align64(springs * sizeof(foliot__spring));
    forces->tethers = (size_t)at;
    at += align64(tethers * sizeof(foliot__tether));
    forces->dampers = (size_t)at;
    at += align64(dampers * sizeof(foliot__damper));
    forces->isotropic = (size_t)at;
    at += dampers ? align64(slots * sizeof(double)) : 0;
    forces->gravity = (size_t)at;
    uint64_t stride = slots + FOLIOT__NEWTON_AHEAD * FOLIOT__LANES;
    at += gravitates ? stride * sizeof(double) * (4 + 3 * FOLIOT__NEWTON_TASKS) : 0;
    forces->callbacks = (size_t)at;
    at += calls_back ? slots * sizeof(double) * 3 * FOLIOT__CALLBACK_VECTORS : 0;
    return at;
}

uint64_t foliot__force_workspace_bytes(const foliot_world_config *config)
{
    foliot__forces forces;
    uint64_t slots = foliot__slots_of(config->bodies_max);
    // A spring is one record in one of two tables; the larger bounds both.
    return lay_out(&forces, slots, config->forces_max, 0, config->springs_max, config->springs_max,
                   config->gravitates, config->calls_back) +
           128;
}

// Counts of records, as the definitions ask for them.
typedef struct counts {
    size_t runs, springs, tethers, dampers;
    bool gravitates, calls_back;
} counts;

static void append_run(foliot__forces *forces, uint32_t kind, uint32_t first)
{
    foliot__run *runs = foliot__forces_runs(forces), *last = runs + forces->run_count - 1;
    if (forces->run_count && last->kind == kind && last->first + last->count == first)
        last->count++;
    else
        runs[forces->run_count++] = (foliot__run){kind, first, 1};
}

static void prepare_spring(const foliot_world *world, foliot__forces *forces, counts *made,
                           const foliot_force_definition *f)
{
    const double k = f->as.spring.stiffness, length = f->as.spring.length;
    if (!foliot__spring_holds(world, f))
        return;
    if (k > 0 && f->b == FOLIOT_NO_BODY) {
        foliot__tether *tether = &foliot__forces_tethers(forces)[made->tethers];
        *tether = (foliot__tether){.a = f->a, .stiffness = k, .length = length};
        memcpy(tether->point, f->as.spring.point, sizeof tether->point);
        append_run(forces, FOLIOT__RUN_TETHER, (uint32_t)made->tethers++);
    } else if (k > 0) {
        foliot__forces_springs(forces)[made->springs] = (foliot__spring){f->a, f->b, k, length};
        append_run(forces, FOLIOT__RUN_SPRING, (uint32_t)made->springs++);
    }
    const double c = f->as.spring.damping;
    if (c == 0)
        return;
    if (f->as.spring.damping_kind == FOLIOT_DAMPING_ISOTROPIC &&
        (is_static(world, f->a) || is_static(world, f->b))) {
        foliot__forces_isotropic(forces)[is_static(world, f->a) ? f->b : f->a] += c;
        forces->has_isotropic = 1;
        return;
    }
    foliot__damper *damper = &foliot__forces_dampers(forces)[forces->damper_count++];
    *damper = (foliot__damper){.a = f->a,
                               .b = f->b,
                               .damping = c,
                               .along = f->as.spring.damping_kind == FOLIOT_DAMPING_ALONG};
    memcpy(damper->point, f->as.spring.point, sizeof damper->point);
}

static void prepare_force(const foliot_world *world, foliot__forces *forces, counts *made,
                          uint32_t k)
{
    static const uint8_t run_of[] = {
        [FOLIOT_FORCE_UNIFORM] = FOLIOT__RUN_UNIFORM,
        [FOLIOT_FORCE_CONSTANT] = FOLIOT__RUN_CONSTANT,
        [FOLIOT_FORCE_NEWTON] = FOLIOT__RUN_NEWTON,
        [FOLIOT_FORCE_ATTRACTOR] = FOLIOT__RUN_ATTRACTOR,
        [FOLIOT_FORCE_CALLBACK] = FOLIOT__RUN_CALLBACK,
    };
    const foliot_force_definition *f = &foliot__force(world)[k];
    if (foliot__scheme_moves_force(world, f))
        return;
    if (f->kind == FOLIOT_FORCE_DRAG) {
        forces->drag_linear += f->as.drag.linear;
        forces->drag_quadratic += f->as.drag.quadratic;
    } else if (f->kind == FOLIOT_FORCE_SPRING) {
        prepare_spring(world, forces, made, f);
    } else {
        append_run(forces, run_of[f->kind], k);
        forces->callback_count += f->kind == FOLIOT_FORCE_CALLBACK;
    }
}

static counts count_records(const foliot_world *world)
{
    counts n = {.runs = world->force_count};
    for (uint32_t k = 0; k < world->force_count; k++) {
        const foliot_force_definition *f = &foliot__force(world)[k];
        n.gravitates |= f->kind == FOLIOT_FORCE_NEWTON;
        n.calls_back |= f->kind == FOLIOT_FORCE_CALLBACK;
        if (f->kind != FOLIOT_FORCE_SPRING)
            continue;
        n.springs += f->b != FOLIOT_NO_BODY;
        n.tethers += f->b == FOLIOT_NO_BODY;
        n.dampers += f->as.spring.damping > 0;
    }
    return n;
}

void foliot__force_prepare(foliot_world *world)
{
    counts n = count_records(world), made = {0};
    foliot__forces *forces = foliot__forces_of(world);
    memset(forces, 0, (size_t)world->capacity.force_workspace_bytes);
    uint64_t bytes = lay_out(forces, world->capacity.slots, n.runs, n.springs, n.tethers, n.dampers,
                             n.gravitates, n.calls_back);
    FOLIOT_ASSERT(bytes <= world->capacity.force_workspace_bytes);
    forces->moved_constants = foliot__scheme_moves_constants(world);
    for (uint32_t k = 0; k < world->force_count; k++)
        prepare_force(world, forces, &made, k);
}

void foliot__forces_body_gone(foliot_world *world)
{
    world->input.forces_changed = 1;
    world->acceleration_valid = 0;
}

// -- the position part

static void add_uniform_axis(double *restrict a, const double *restrict inverse, double g,
                             uint32_t rows)
{
    FOLIOT__FOR_LANES (rows, i)
        a[i] += inverse[i] > 0 ? g : 0;
}

static void add_uniform(const foliot_world *world, const foliot_force_definition *f, foliot__v3 a)
{
    const double *g = f->as.uniform.acceleration, *scale = foliot__gravity_scales(world, f);
    if (scale) {
        const double *inverse = foliot__inverse_mass(world);
        for (uint32_t i = 0; i < world->body_count; i++) {
            if (!(inverse[i] > 0))
                continue;
            a.x[i] += g[0] * scale[i];
            a.y[i] += g[1] * scale[i];
            a.z[i] += g[2] * scale[i];
        }
        return;
    }
    const double *inverse = foliot__inverse_mass(world);
    uint32_t rows = foliot__lanes(world);
    add_uniform_axis(a.x, inverse, g[0], rows);
    add_uniform_axis(a.y, inverse, g[1], rows);
    add_uniform_axis(a.z, inverse, g[2], rows);
}

static void add_constant(const foliot_world *world, const foliot_force_definition *f, double time,
                         foliot__v3 a)
{
    if (!(time >= f->as.constant.start && time < f->as.constant.end))
        return;
    double inverse = foliot__inverse_mass(world)[f->a];
    a.x[f->a] += f->as.constant.force[0] * inverse;
    a.y[f->a] += f->as.constant.force[1] * inverse;
    a.z[f->a] += f->as.constant.force[2] * inverse;
}

// At the centre itself the force has no direction and is left out.
static void add_attractor(const foliot_world *world, const foliot_force_definition *f, foliot__v3 x,
                          foliot__v3 a)
{
    const double *inverse = foliot__inverse_mass(world), *p = f->as.attractor.point;
    for (uint32_t i = 0; i < world->body_count; i++) {
        double dx = x.x[i] - p[0], dy = x.y[i] - p[1], dz = x.z[i] - p[2];
        double r2 = (dx * dx + dy * dy) + dz * dz, r3 = r2 * foliot__sqrt(r2);
        double s = r3 > 0 && inverse[i] > 0 ? f->as.attractor.strength / r3 : 0;
        a.x[i] -= s * dx;
        a.y[i] -= s * dy;
        a.z[i] -= s * dz;
    }
}

static void add_callback(const foliot__step *step, const foliot_force_definition *f, foliot__v3 x,
                         foliot__v3 v, double time, bool velocity_dependent, foliot__v3 a)
{
    const foliot_callback *callback = foliot__callback_of(step->host, f);
    if (!callback || callback->velocity_dependent != velocity_dependent)
        return;
    const foliot_world *world = step->world;
    foliot_callback_arguments at = {
        world->body_count,           x.x, x.y, x.z, v.x, v.y, v.z, foliot__mass(world),
        foliot__inverse_mass(world), time};
    callback->acceleration(callback->user, &at, a.x, a.y, a.z);
}

static void add_run(const foliot__step *step, const foliot__run *run, foliot__v3 x, double time,
                    foliot__v3 a)
{
    const foliot_world *world = step->world;
    if (run->kind == FOLIOT__RUN_SPRING) {
        foliot__springs_add(world, run->first, run->count, x, a);
        return;
    }
    if (run->kind == FOLIOT__RUN_TETHER) {
        foliot__tethers_add(world, run->first, run->count, x, a);
        return;
    }
    const foliot_force_definition *f = foliot__force(world) + run->first, *end = f + run->count;
    for (; f < end; f++)
        switch (run->kind) {
        case FOLIOT__RUN_UNIFORM:
            add_uniform(world, f, a);
            break;
        case FOLIOT__RUN_CONSTANT:
            add_constant(world, f, time, a);
            break;
        case FOLIOT__RUN_NEWTON:
            foliot__newton_add(step, f, x, a);
            break;
        case FOLIOT__RUN_ATTRACTOR:
            add_attractor(world, f, x, a);
            break;
        default:
            add_callback(step, f, x, foliot__callback_vector(world, 0), time, false, a);
        }
}

void foliot__force_position(const foliot__step *step, foliot__v3 x, double time, foliot__v3 a)
{
    foliot_world *world = step->world;
    const foliot__forces *forces = foliot__forces_of(world);
    world->counters.force_evaluations++;
    foliot__v3_clear(a, foliot__lanes(world));
    for (uint32_t k = 0; k < forces->run_count; k++)
        add_run(step, &foliot__forces_runs(forces)[k], x, time, a);
    foliot__v3_mask(world, a);
}

foliot__v3 foliot__acceleration_now(const foliot__step *step, double time)
{
    foliot_world *world = step->world;
    foliot__v3 a = foliot__acceleration(world);
    if (!world->acceleration_valid || world->acceleration_time != time) {
        foliot__force_position(step, foliot__position(world), time, a);
        world->acceleration_valid = 1;
        world->acceleration_time = time;
    }
    return a;
}

// -- the other parts

void foliot__force_add_applied(const foliot__step *step, foliot__v3 a)
{
    const foliot_world *world = step->world;
    if (foliot__forces_of(world)->moved_constants)
        return;
    const double *inverse = foliot__inverse_mass(world);
    foliot__v3 f = foliot__applied(world);
    for (uint32_t i = 0, rows = foliot__lanes(world); i < rows; i++) {
        a.x[i] += f.x[i] * inverse[i];
        a.y[i] += f.y[i] * inverse[i];
        a.z[i] += f.z[i] * inverse[i];
    }
}

void foliot__callbacks_sum(const foliot__step *step, foliot__v3 x, foliot__v3 v, double time,
                           bool velocity_dependent, foliot__v3 out)
{
    const foliot_world *world = step->world;
    const foliot__forces *forces = foliot__forces_of(world);
    foliot__v3_clear(out, foliot__lanes(world));
    for (uint32_t k = 0; k < forces->run_count; k++) {
        const foliot__run *run = &foliot__forces_runs(forces)[k];
        for (uint32_t i = 0; run->kind == FOLIOT__RUN_CALLBACK && i < run->count; i++)
            add_callback(step, foliot__force(world) + run->first + i, x,
                         velocity_dependent ? v : foliot__callback_vector(world, 0), time,
                         velocity_dependent, out);
    }
    foliot__v3_mask(world, out);
}

bool foliot__callbacks_any(const foliot__step *step, bool velocity_dependent)
{
    const foliot_world *world = step->world;
    const foliot__forces *forces = foliot__forces_of(world);
    for (uint32_t k = 0; forces->callback_count && k < forces->run_count; k++) {
        const foliot__run *run = &foliot__forces_runs(forces)[k];
        for (uint32_t i = 0; run->kind == FOLIOT__RUN_CALLBACK && i < run->count; i++) {
            const foliot_callback *callback =
                foliot__callback_of(step->host, foliot__force(world) + run->first + i);
            if (callback && callback->velocity_dependent == velocity_dependent)
                return true;
        }
    }
    return false;
}

bool foliot__force_callbacks_present(const foliot_world *world, const foliot_host *host)
{
    const foliot__forces *forces = foliot__forces_of(world);
    for (uint32_t k = 0; forces->callback_count && k < forces->run_count; k++) {
        const foliot__run *run = &foliot__forces_runs(forces)[k];
        for (uint32_t i = 0; run->kind == FOLIOT__RUN_CALLBACK && i < run->count; i++)
            if (!foliot__callback_of(host, foliot__force(world) + run->first + i))
                return false;
    }
    return true;
}

bool foliot__force_has_velocity_part(const foliot__step *step)
{
    const foliot__forces *forces = foliot__forces_of(step->world);
    return forces->drag_linear > 0 || forces->drag_quadratic > 0 || forces->has_isotropic ||
           forces->damper_count || foliot__callbacks_any(step, true);
}

static void add_damper(const foliot_world *world, const foliot__damper *damper, foliot__v3 x,
                       foliot__v3 v, foliot__v3 out)
{
    const double *inverse = foliot__inverse_mass(world);
    uint32_t a = damper->a, b = damper->b;
    bool fixed = b == FOLIOT_NO_BODY;
    double wx = (fixed ? 0 : v.x[b]) - v.x[a], wy = (fixed ? 0 : v.y[b]) - v.y[a];
    double wz = (fixed ? 0 : v.z[b]) - v.z[a];
    double fx = damper->damping * wx, fy = damper->damping * wy, fz = damper->damping * wz;
    if (damper->along) {
        double dx = (fixed ? damper->point[0] : x.x[b]) - x.x[a];
        double dy = (fixed ? damper->point[1] : x.y[b]) - x.y[a];
        double dz = (fixed ? damper->point[2] : x.z[b]) - x.z[a];
        double r2 = (dx * dx + dy * dy) + dz * dz;
        double s = r2 > 0 ? ((fx * dx + fy * dy) + fz * dz) / r2 : 0;
        fx = s * dx;
        fy = s * dy;
        fz = s * dz;
    }
    out.x[a] += fx * inverse[a];
    out.y[a] += fy * inverse[a];
    out.z[a] += fz * inverse[a];
    if (fixed)
        return;
    out.x[b] -= fx * inverse[b];
    out.y[b] -= fy * inverse[b];
    out.z[b] -= fz * inverse[b];
}

void foliot__force_add_velocity_part(const foliot__step *step, foliot__v3 x, foliot__v3 v,
                                     double time, foliot__v3 a)
{
    const foliot_world *world = step->world;
    const foliot__forces *forces = foliot__forces_of(world);
    if (forces->drag_linear > 0 || forces->drag_quadratic > 0 || forces->has_isotropic) {
        const double *inverse = foliot__inverse_mass(world);
        const double *isotropic = forces->has_isotropic ? foliot__forces_isotropic(forces) : NULL;
        for (uint32_t i = 0; i < world->body_count; i++) {
            double speed = foliot__sqrt((v.x[i] * v.x[i] + v.y[i] * v.y[i]) + v.z[i] * v.z[i]);
            double b = forces->drag_linear + forces->drag_quadratic * speed;
            double s = (isotropic ? b + isotropic[i] : b) * inverse[i];
            a.x[i] -= s * v.x[i];
            a.y[i] -= s * v.y[i];
            a.z[i] -= s * v.z[i];
        }
    }
    for (uint32_t k = 0; k < forces->damper_count; k++)
        add_damper(world, &foliot__forces_dampers(forces)[k], x, v, a);
    for (uint32_t k = 0; forces->callback_count && k < forces->run_count; k++) {
        const foliot__run *run = &foliot__forces_runs(forces)[k];
        for (uint32_t i = 0; run->kind == FOLIOT__RUN_CALLBACK && i < run->count; i++)
            add_callback(step, foliot__force(world) + run->first + i, x, v, time, true, a);
    }
    foliot__v3_mask(world, a);
}

void foliot__force_total(const foliot__step *step, foliot__v3 x, foliot__v3 v, double time,
                         foliot__v3 a)
{
    foliot__force_position(step, x, time, a);
    foliot__force_add_applied(step, a);
    if (foliot__force_has_velocity_part(step))
        foliot__force_add_velocity_part(step, x, v, time, a);
}
