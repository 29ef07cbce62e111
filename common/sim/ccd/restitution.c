// SPDX-License-Identifier: MIT
// restitution.c: whether two bodies bounce, and the impulses with which they do. Slow approaches do
// not bounce: they are the beginning of rest, and the contact solver ends them. The solver leaves
// out the pairs that will bounce (keep_points in solver/solver_prepare.c). Impulses of an impact
// act at the point that strikes and with the whole inertia of both bodies. They change velocities
// and the rest of the paths. The step reports them as a hit event.
#include "sim/ccd/impact.h"
#include "sim/state/contact_cache.h"

#define CALM_TICKS 4
#define BOUNCES 6    // of two bodies together
#define SLOW 0x1p-16 // of the greatest closing speed: rounding, not approach
#define MARGIN 1.25  // between speeds now and at the impact

// -- which approaches bounce

// A body that bounces needs no displacement.
double foliot__impact_displacement_min(const foliot__collider *c, uint32_t a, uint32_t b)
{
    const double *e = foliot__restitution(c->world);
    if (foliot__larger(e[a], e[b]) > 0)
        return 0;
    return foliot__smaller(foliot__inradius(c->world, a), foliot__inradius(c->world, b)) / 2;
}

// The threshold for pairs that push each other.
static double calm_threshold(const foliot_world *world, double threshold)
{
    return threshold * (CALM_TICKS * world->scene.substeps);
}

// For pairs that pushed each other in the last substep, and for bodies that have bounced often in
// this one, the threshold is the speed that several ticks of acceleration give. Otherwise bodies in
// a pile would bounce between their neighbours without end.
double foliot__impact_speed_min(const foliot__collider *c, uint32_t a, uint32_t b)
{
    double threshold =
        foliot__larger(c->paths.restitution_threshold[a], c->paths.restitution_threshold[b]);
    bool calms = c->paths.revision[a] + c->paths.revision[b] >= BOUNCES ||
                 foliot__contact_was_active(c->world, a, b);
    return calms ? calm_threshold(c->world, threshold) : threshold;
}

double foliot__approach_min(const foliot__collider *c, double contact_gap, double most)
{
    return foliot__smaller(contact_gap / c->step->dt, most * SLOW);
}

// The highest speed of any point of the body.
static double speed_max(const foliot__collider *c, uint32_t i)
{
    double turned = vec3_length(foliot__v3_get(foliot__angular_velocity(c->world), i));
    return vec3_length(foliot__v3_get(foliot__velocity(c->world), i)) +
           (turned > 0 ? turned * (double)c->bounding_radius[i] : 0);
}

bool foliot__will_rebound(const foliot__collider *c, uint32_t a, uint32_t b, double speed)
{
    const double *e = foliot__restitution(c->world);
    double threshold =
        foliot__larger(c->paths.restitution_threshold[a], c->paths.restitution_threshold[b]);
    if (!(foliot__larger(e[a], e[b]) * speed > MARGIN * calm_threshold(c->world, threshold)))
        return false;
    float inradius = foliot__smaller(c->inradius[a], c->inradius[b]);
    double most = speed_max(c, a) + speed_max(c, b);
    return speed > MARGIN * foliot__approach_min(c, FOLIOT__CONTACT_GAP * (double)inradius, most);
}

// -- the impulses of an impact

// Inverse inertia * turn, at the orientation q: the change of spin by an angular impulse.
static vec3 spin_change(const foliot_world *world, uint32_t i, quat q, vec3 turn)
{
    vec3 inverse = foliot__v3_get(foliot__inverse_inertia(world), i);
    if (inverse.x == inverse.y && inverse.y == inverse.z)
        return vec3_scale(turn, inverse.x);
    const vec3 none = {0, 0, 0}; // added, so that no part is -0
    mat3 axis = quat_axes(q);
    vec3 own = vec3_multiply(mat3_apply(axis, turn), inverse);
    return vec3_add(none, mat3_apply_transposed(axis, own));
}

// One of the two bodies of an impact.
typedef struct struck_body {
    uint32_t body;
    double share; // -1 / mass, or 1 / mass for the second
    double sign;
    quat q;
    vec3 x, v, w;
    vec3 given; // velocity
    vec3 arm;
} struck_body;

static struck_body struck_body_of(const foliot__collider *c, uint32_t i, double sign, vec3 arm,
                                  double time)
{
    const foliot__sweep *sweep = foliot__sweep_of(c, i);
    foliot__motion at = foliot__path_at(c, i, time);
    quat q = foliot__orientation_at(c, sweep, time);
    mat3 axis = quat_axes(q);
    return (struck_body){.body = i,
                         .share = sign * foliot__inverse_mass(c->world)[i],
                         .sign = sign,
                         .q = q,
                         .x = at.x,
                         .v = at.v,
                         .w = foliot__spin_along(sweep, &axis),
                         .arm = arm};
}

static vec3 point_velocity(const struck_body *p)
{
    return vec3_add(vec3_cross(p->w, p->arm), p->v);
}

// The speed of the point along n that a unit of impulse along n gives: the inverse of its effective
// mass.
static double inverse_mass_along(const foliot__collider *c, const struck_body *p, vec3 n)
{
    vec3 turn = vec3_cross(p->arm, n);
    return foliot__absolute(p->share) + vec3_dot(turn, spin_change(c->world, p->body, p->q, turn));
}

static void apply_impulse(const foliot__collider *c, struck_body *p, vec3 n, double size)
{
    vec3 impulse = vec3_scale(n, size), gain = vec3_scale(impulse, p->share);
    vec3 change = spin_change(c->world, p->body, p->q, vec3_cross(p->arm, impulse));
    p->v = vec3_add(p->v, gain);
    p->given = vec3_add(p->given, gain);
    p->w = vec3_add(p->w, vec3_scale(change, p->sign));
}

// Stores the new velocities, and moves the end of the path.
static void store_result(foliot__collider *c, const struck_body *p, double left)
{
    uint32_t i = p->body;
    if (foliot__inverse_mass(c->world)[i] == 0)
        return;
    foliot_world *world = c->world;
    foliot__v3_add(foliot__velocity(world), i, p->given);
    foliot__v3_add(c->paths.end_velocity, i, p->given);
    foliot__v3_add(foliot__position(world), i, vec3_scale(p->given, left));
    foliot__v3_put(foliot__angular_velocity(world), i, p->w);
    double most = FOLIOT__FAR_TURN / c->step->dt;
    if (vec3_dot(p->w, p->w) > most * most)
        foliot__clamp_spin(world, i, most);
    foliot__velocity_changed(world, i);
}

// Newton's restitution along the normal at the point that strikes. Then Coulomb's friction across
// it, at most what stops the remaining sliding. Neither of the two adds energy.
void foliot__collision_impulse(foliot__collider *c, uint32_t a, uint32_t b, const foliot__toi *m)
{
    foliot_world *world = c->world;
    const double *restitution = foliot__restitution(world), *friction = foliot__friction(world);
    struck_body of_a = struck_body_of(c, a, -1, m->arm_a, m->time);
    struck_body of_b = struck_body_of(c, b, 1, m->arm_b, m->time);
    double e = foliot__larger(restitution[a], restitution[b]);
    double inverse_mass =
        inverse_mass_along(c, &of_a, m->normal) + inverse_mass_along(c, &of_b, m->normal);
    double along = (1 + e) * m->speed / inverse_mass;
    foliot_hit_event impact = {.a = foliot__body_id(c->world, a),
                               .b = foliot__body_id(c->world, b),
                               .speed = m->speed,
                               .impulse = along};
    bool plane = foliot__shape_kind(world)[a] == FOLIOT_SHAPE_PLANE; // its arm has no meaning
    const struck_body *where = plane ? &of_b : &of_a;
    impact.time = c->step->index * c->step->dt + m->time;
    vec3_store(vec3_add(where->x, where->arm), impact.point);
    vec3_store(m->normal, impact.normal);
    foliot__hit_event(world, &impact);
    apply_impulse(c, &of_a, m->normal, along);
    apply_impulse(c, &of_b, m->normal, along);
    double limit = foliot__sqrt(friction[a] * friction[b]) * along;
    vec3 slide = vec3_sub(point_velocity(&of_b), point_velocity(&of_a));
    slide = vec3_sub(slide, vec3_scale(m->normal, vec3_dot(slide, m->normal)));
    double sliding = vec3_length(slide);
    if (limit > 0 && sliding > 0) {
        slide = vec3_divide(slide, -sliding);
        inverse_mass = inverse_mass_along(c, &of_a, slide) + inverse_mass_along(c, &of_b, slide);
        double across = foliot__smaller(limit, sliding / inverse_mass);
        apply_impulse(c, &of_a, slide, across);
        apply_impulse(c, &of_b, slide, across);
    }
    store_result(c, &of_a, c->step->dt - m->time);
    store_result(c, &of_b, c->step->dt - m->time);
}
