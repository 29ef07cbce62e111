// SPDX-License-Identifier: MIT
// kinematic.c: schemes in which forces move bodies by their own exact motion. Forces without a
// closed form are force.c's, as accelerations; which are which is decided in force.c. Static,
// frozen and dead bodies never move here.
//
// kinematic: each force alone would change (v, x) by (dv, v dt + dx) over the step; all changes are
// added to free motion. kinematic-average takes dx = dv dt / 2 instead. Both after "True Physics"
// (physicsforgames, 2010), for any number of forces and dimensions. kinematic-strang sums what is
// linear per body and moves that exactly, between half kicks of the rest (Strang, SIAM J. Numer.
// Anal. 5, 506, 1968).
#include "sim/integrator/scheme.h"

#include "foliot/digest.h"
#include "sim/state/lanes.h"
#include "sim/math/floating_point.h"

// -- the damped oscillator in closed form, accurate over the whole range: no spring, no
// drag, weak, under-, critically and over-damped. Knows no bodies. The solution is in every
// textbook; the forms below are chosen so that nothing large cancels.

#define SERIES_TERMS                                                                               \
    24 // of which the last is below 1e-20 where drag t and stiffness t^2 are at most 1

// Power series of the push's response, in t: s'' + A s' + B s = 0, s(0) = 0, s'(0) = 1 over unit
// time.
static foliot__oscillator weak(double stiffness, double drag, double t)
{
    double A = drag * t, B = stiffness * t * t;
    double before = 0, term = 1, lag = 0, reach = 0.5;
    for (int n = 0; n < SERIES_TERMS; n++) {
        double next = -(A * (n + 1) * term + B * before) / ((n + 1) * (n + 2));
        before = term;
        term = next;
        lag += term;
        reach += term / (n + 3);
    }
    foliot__oscillator o = {.gain = t + t * lag, .reach = t * t * reach, .lag = t * lag};
    o.loss = -(drag * o.gain + stiffness * o.reach);
    return o;
}

// (1 - exp(-rate t)) / rate.
static double saturation(double rate, double t)
{
    return rate * t > 0 ? -foliot_expm1(-(rate * t)) / rate : t;
}

static foliot__oscillator underdamped(double stiffness, double drag, double frequency, double t)
{
    double decay = foliot_exp(-0.5 * drag * t);
    double sine = foliot_sin(frequency * t) / frequency;
    double cosine = foliot_cos(frequency * t) - 0.5 * drag * sine;
    foliot__oscillator o = {.gain = decay * sine, .loss = decay * cosine - 1};
    o.lag = o.gain - t;
    o.reach = -(o.loss + drag * o.gain) / stiffness;
    return o;
}

// Two real rates half +- split; split is 0 for critical damping.
static foliot__oscillator overdamped(double stiffness, double drag, double split, double t)
{
    double fast = 0.5 * drag + split, slow = stiffness / fast;
    double decay = foliot_exp(-(slow * t));
    foliot__oscillator o = {.gain = decay * saturation(2 * split, t)};
    o.lag = o.gain - t;
    o.loss = decay - fast * o.gain - 1;
    // Where the rates lie close together the first form would cancel, where they lie far apart the
    // second.
    if (split > 0.25 * drag)
        o.reach = (saturation(slow, t) - saturation(fast, t)) / (2 * split);
    else
        o.reach = -(o.loss + drag * o.gain) / stiffness;
    return o;
}

foliot__oscillator foliot__oscillator_after(double stiffness, double drag, double t)
{
    if (stiffness == 0 && drag == 0)
        return (foliot__oscillator){.gain = t, .reach = 0.5 * t * t};
    if (drag * t <= 1 && stiffness * t * t <= 1)
        return weak(stiffness, drag, t);
    double discriminant = stiffness - 0.25 * drag * drag;
    if (discriminant > 0)
        return underdamped(stiffness, drag, foliot__sqrt(discriminant), t);
    return overdamped(stiffness, drag, foliot__sqrt(-discriminant), t);
}

enum { DX, DV, REST, KINEMATIC_VECTORS }; // scratch of kinematic, kinematic-average
enum { PULL, LINEAR, STRANG_VECTORS };    // scratch of kinematic-strang

// The oscillator of the last parameters asked for: neighbours mostly have the same.
typedef struct memo {
    double stiffness, drag, t;
    foliot__oscillator after;
} memo;

static const foliot__oscillator *recall_oscillator(memo *last, double stiffness, double drag,
                                                   double t)
{
    if (!(last->stiffness == stiffness && last->drag == drag && last->t == t))
        *last = (memo){stiffness, drag, t, foliot__oscillator_after(stiffness, drag, t)};
    return &last->after;
}

static memo memo_empty(void)
{
    return (memo){.stiffness = -1};
}

// -- kinematic and kinematic-average

typedef struct sums {
    const foliot__step *step;
    foliot__v3 x, v;   // the state at the step's start
    foliot__v3 dx, dv; // what the forces add to free motion
    bool average;
    memo last;
} sums;

static void add_increment(sums *s, uint32_t i, vec3 dv, vec3 dx)
{
    foliot__v3_add(s->dv, i, dv);
    foliot__v3_add(s->dx, i, s->average ? vec3_scale(dv, 0.5 * s->step->dt) : dx);
}

// Acceleration a from time `begin` to `end` of the step.
static void add_constant(sums *s, uint32_t i, vec3 a, double begin, double end)
{
    double gain = end - begin, reach = gain * (s->step->dt - 0.5 * (begin + end));
    add_increment(s, i, vec3_scale(a, gain), vec3_scale(a, reach));
}

// `scale` of every body, or NULL.
static void add_uniform(sums *s, const double g[3], const double *scale)
{
    const double *inverse_mass = foliot__inverse_mass(s->step->world);
    for (uint32_t i = 0; i < s->step->count; i++) {
        if (inverse_mass[i] > 0)
            add_constant(s, i, vec3_scale(vec3_of(g), scale ? scale[i] : 1), 0, s->step->dt);
    }
}

static void add_pulse(sums *s, const foliot_force_definition *force)
{
    double inverse_mass = foliot__inverse_mass(s->step->world)[force->a];
    double begin = foliot_clamp(force->as.constant.start - s->step->time, 0, s->step->dt);
    double end = foliot_clamp(force->as.constant.end - s->step->time, 0, s->step->dt);
    vec3 a = vec3_scale(vec3_of(force->as.constant.force), inverse_mass);
    if (inverse_mass > 0 && end > begin)
        add_constant(s, force->a, a, begin, end);
}

// Two ends by their relative coordinate and reduced mass, the centre of mass moving on; an end that
// does not move has inverse mass 0, and a point of the world is such an end.
static void add_spring(sums *s, const foliot_force_definition *force)
{
    uint32_t a = force->a, b = force->b;
    const double *inverse_mass = foliot__inverse_mass(s->step->world);
    bool anchored = b == FOLIOT_NO_BODY;
    double ma = inverse_mass[a], mb = anchored ? 0 : inverse_mass[b], reduced = ma + mb;
    if (!(reduced > 0))
        return;
    double k = force->as.spring.stiffness * reduced;
    const foliot__oscillator *o =
        recall_oscillator(&s->last, k, force->as.spring.damping * reduced, s->step->dt);
    vec3 point = anchored ? vec3_of(force->as.spring.point) : foliot__v3_get(s->x, b);
    vec3 r = vec3_sub(point, foliot__v3_get(s->x, a));
    vec3 w =
        vec3_sub(anchored ? (vec3){0, 0, 0} : foliot__v3_get(s->v, b), foliot__v3_get(s->v, a));
    vec3 pull = vec3_scale(r, k);
    vec3 dw = vec3_sub(vec3_scale(w, o->loss), vec3_scale(pull, o->gain));
    vec3 dr = vec3_sub(vec3_scale(w, o->lag), vec3_scale(pull, o->reach));
    if (ma > 0)
        add_increment(s, a, vec3_scale(dw, -(ma / reduced)), vec3_scale(dr, -(ma / reduced)));
    if (mb > 0)
        add_increment(s, b, vec3_scale(dw, mb / reduced), vec3_scale(dr, mb / reduced));
}

// log(1 + z) / z for z >= 0, by Kahan's quotient: the error that 1 + z makes cancels.
static double log_ratio(double z)
{
    double u = 1 + z;
    return u == 1 ? 1 : foliot_log(u) / (u - 1);
}

// v' = -(linear + quadratic |v|) v keeps the direction: with E = (1 - exp(-linear t)) / linear and
// z = quadratic |v| E, the speed falls by exp(-linear t) / (1 + z) on the way E log(1 + z) / z |v|.
static void add_drag(sums *s, const foliot_force_definition *force)
{
    const double *inverse_mass = foliot__inverse_mass(s->step->world);
    for (uint32_t i = 0; i < s->step->count; i++) {
        if (!(inverse_mass[i] > 0))
            continue;
        vec3 v = foliot__v3_get(s->v, i);
        double linear = force->as.drag.linear * inverse_mass[i];
        const foliot__oscillator *o = recall_oscillator(&s->last, 0, linear, s->step->dt);
        double loss = o->loss, lag = o->lag;
        if (force->as.drag.quadratic > 0) {
            double z = force->as.drag.quadratic * inverse_mass[i] * vec3_length(v) * o->gain;
            loss = (o->loss - z) / (1 + z);
            lag = o->gain * log_ratio(z) - s->step->dt;
        }
        add_increment(s, i, vec3_scale(v, loss), vec3_scale(v, lag));
    }
}

static void add_force(sums *s, const foliot_force_definition *force)
{
    switch (force->kind) {
    case FOLIOT_FORCE_UNIFORM:
        add_uniform(s, force->as.uniform.acceleration,
                    foliot__gravity_scales(s->step->world, force));
        break;
    case FOLIOT_FORCE_CONSTANT:
        add_pulse(s, force);
        break;
    case FOLIOT_FORCE_SPRING:
        add_spring(s, force);
        break;
    case FOLIOT_FORCE_DRAG:
        add_drag(s, force);
        break;
    default:
        break;
    }
}

static void advance_kinematic(const foliot__step *step, bool average)
{
    foliot_world *world = step->world;
    sums s = {.step = step,
              .x = foliot__position(world),
              .v = foliot__velocity(world),
              .dx = foliot__scratch_vector(world, DX),
              .dv = foliot__scratch_vector(world, DV),
              .average = average,
              .last = memo_empty()};
    foliot__clear(s.dx, foliot__lanes(world));
    foliot__clear(s.dv, foliot__lanes(world));
    const double *inverse_mass = foliot__inverse_mass(s.step->world);
    foliot__v3 applied = foliot__applied(s.step->world);
    for (uint32_t i = 0; i < s.step->count; i++) {
        vec3 a = vec3_scale(foliot__v3_get(applied, i), inverse_mass[i]);
        if (inverse_mass[i] > 0)
            add_constant(&s, i, a, 0, s.step->dt);
    }
    for (uint32_t k = 0; k < world->force_count; k++)
        if (foliot__scheme_moves_force(world, &foliot__force(world)[k]))
            add_force(&s, &foliot__force(world)[k]);
    // Forces without a closed form, as semi-implicit Euler has them: dx = dv dt.
    double dt = s.step->dt;
    foliot__v3 a = foliot__scratch_vector(s.step->world, REST);
    foliot__force_total(s.step, s.x, s.v, s.step->time, a);
    for (uint32_t i = 0; i < s.step->count; i++) {
        s.dv.x[i] += a.x[i] * dt;
        s.dv.y[i] += a.y[i] * dt;
        s.dv.z[i] += a.z[i] * dt;
        s.dx.x[i] += a.x[i] * dt * dt;
        s.dx.y[i] += a.y[i] * dt * dt;
        s.dx.z[i] += a.z[i] * dt * dt;
    }
    for (uint32_t i = 0; i < s.step->count; i++) {
        if (!(inverse_mass[i] > 0))
            continue;
        s.x.x[i] += s.v.x[i] * dt + s.dx.x[i];
        s.x.y[i] += s.v.y[i] * dt + s.dx.y[i];
        s.x.z[i] += s.v.z[i] * dt + s.dx.z[i];
        s.v.x[i] += s.dv.x[i];
        s.v.y[i] += s.dv.y[i];
        s.v.z[i] += s.dv.z[i];
    }
    world->acceleration_valid = 0;
}

void foliot__advance_kinematic(const foliot__step *step)
{
    advance_kinematic(step, false);
}

void foliot__advance_kinematic_average(const foliot__step *step)
{
    advance_kinematic(step, true);
}

// -- kinematic-strang

// The forces on each body, per unit of mass: pull = constants + springs at the present position.
typedef struct field {
    const foliot__step *step;
    foliot__v3 pull;
    double *stiffness, *drag;
} field;

static void add_pull(const field *f, uint32_t i, double ax, double ay, double az)
{
    f->pull.x[i] += ax;
    f->pull.y[i] += ay;
    f->pull.z[i] += az;
}

static void gather_everywhere(const field *f, const foliot_force_definition *force)
{
    const double *inverse_mass = foliot__inverse_mass(f->step->world);
    bool uniform = force->kind == FOLIOT_FORCE_UNIFORM;
    const double *g = force->as.uniform.acceleration;
    const double *scales = foliot__gravity_scales(f->step->world, force);
    for (uint32_t i = 0; i < f->step->count; i++) {
        double scale = scales ? scales[i] : 1;
        if (!(inverse_mass[i] > 0))
            continue;
        if (uniform)
            add_pull(f, i, g[0] * scale, g[1] * scale, g[2] * scale);
        else
            f->drag[i] += force->as.drag.linear * inverse_mass[i];
    }
}

static void gather_constant(const field *f, const foliot_force_definition *force, double elapsed)
{
    double inverse_mass = foliot__inverse_mass(f->step->world)[force->a];
    const double *push = force->as.constant.force;
    if (force->as.constant.start - f->step->time <= elapsed &&
        force->as.constant.end - f->step->time > elapsed)
        add_pull(f, force->a, push[0] * inverse_mass, push[1] * inverse_mass,
                 push[2] * inverse_mass);
}

// Anchored to a point or to a static body; a moving end b on a static end a comes the other way
// round.
static void gather_spring(const field *f, const foliot_force_definition *force)
{
    foliot_world *world = f->step->world;
    const double *inverse_mass = foliot__inverse_mass(world);
    foliot__v3 x = foliot__position(world);
    bool a_moves = inverse_mass[force->a] > 0;
    uint32_t i = a_moves || force->b == FOLIOT_NO_BODY ? force->a : force->b;
    uint32_t j = i == force->a ? force->b : force->a;
    const double *point = force->as.spring.point;
    double k = force->as.spring.stiffness * inverse_mass[i];
    f->stiffness[i] += k;
    f->drag[i] += force->as.spring.damping * inverse_mass[i];
    add_pull(f, i, k * ((j == FOLIOT_NO_BODY ? point[0] : x.x[j]) - x.x[i]),
             k * ((j == FOLIOT_NO_BODY ? point[1] : x.y[j]) - x.y[i]),
             k * ((j == FOLIOT_NO_BODY ? point[2] : x.z[j]) - x.z[i]));
}

static void gather_force(const field *f, const foliot_force_definition *force, double elapsed)
{
    switch (force->kind) {
    case FOLIOT_FORCE_UNIFORM:
    case FOLIOT_FORCE_DRAG:
        gather_everywhere(f, force);
        break;
    case FOLIOT_FORCE_CONSTANT:
        gather_constant(f, force, elapsed);
        break;
    case FOLIOT_FORCE_SPRING:
        gather_spring(f, force);
        break;
    default:
        break;
    }
}

static field gather_field(const foliot__step *step, double elapsed)
{
    foliot_world *world = step->world;
    foliot__v3 linear = foliot__scratch_vector(world, LINEAR);
    field f = {step, foliot__scratch_vector(world, PULL), linear.x, linear.y};
    foliot__clear(f.pull, foliot__lanes(world));
    foliot__clear(linear, foliot__lanes(world));
    const double *inverse_mass = foliot__inverse_mass(f.step->world);
    foliot__v3 applied = foliot__applied(f.step->world);
    for (uint32_t i = 0; i < f.step->count; i++)
        add_pull(&f, i, applied.x[i] * inverse_mass[i], applied.y[i] * inverse_mass[i],
                 applied.z[i] * inverse_mass[i]);
    for (uint32_t k = 0; k < world->force_count; k++)
        if (foliot__scheme_moves_force(world, &foliot__force(world)[k]))
            gather_force(&f, &foliot__force(world)[k], elapsed);
    return f;
}

// The exact flow while no pulse begins or ends.
static void flow_exactly(const foliot__step *step, double elapsed, double duration)
{
    foliot_world *world = step->world;
    const double *inverse_mass = foliot__inverse_mass(world);
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    field f = gather_field(step, elapsed);
    memo last = memo_empty();
    for (uint32_t i = 0; i < step->count; i++) {
        if (!(inverse_mass[i] > 0))
            continue;
        const foliot__oscillator *o = recall_oscillator(&last, f.stiffness[i], f.drag[i], duration);
        x.x[i] += v.x[i] * duration + (v.x[i] * o->lag + f.pull.x[i] * o->reach);
        x.y[i] += v.y[i] * duration + (v.y[i] * o->lag + f.pull.y[i] * o->reach);
        x.z[i] += v.z[i] * duration + (v.z[i] * o->lag + f.pull.z[i] * o->reach);
        v.x[i] += v.x[i] * o->loss + f.pull.x[i] * o->gain;
        v.y[i] += v.y[i] * o->loss + f.pull.y[i] * o->gain;
        v.z[i] += v.z[i] * o->loss + f.pull.z[i] * o->gain;
    }
}

// How far into the step the next pulse begins or ends, dt if none does.
static double next_edge(const foliot__step *step, double elapsed)
{
    double next = step->dt;
    for (uint32_t k = 0; k < step->world->force_count; k++) {
        const foliot_force_definition *force = &foliot__force(step->world)[k];
        if (force->kind != FOLIOT_FORCE_CONSTANT)
            continue;
        double start = force->as.constant.start - step->time;
        double end = force->as.constant.end - step->time;
        next = start > elapsed && start < next ? start : next;
        next = end > elapsed && end < next ? end : next;
    }
    return next;
}

static void kick_rest(const foliot__step *step, double time)
{
    foliot_world *world = step->world;
    foliot__v3 a = foliot__acceleration_now(step, time);
    foliot__force_kick(step, foliot__position(world), foliot__velocity(world), a, time,
                       0.5 * step->dt, FOLIOT__KICK_EXACT);
}

void foliot__advance_kinematic_strang(const foliot__step *step)
{
    kick_rest(step, step->time);
    for (double elapsed = 0, next; elapsed < step->dt; elapsed = next) {
        next = next_edge(step, elapsed);
        flow_exactly(step, elapsed, next - elapsed);
    }
    step->world->acceleration_valid = 0;
    kick_rest(step, step->time_end);
}
