// SPDX-License-Identifier: MIT
// rattle.c: rods, exactly as long after a step as before it. SHAKE (Ryckaert, Ciccotti and
// Berendsen 1977) moves positions along the rods' directions at the start of the motion; RATTLE
// (Andersen 1983) takes the relative velocities along the rods out. Both to rounding, whatever the
// rods form: chains, loops, nets.
//
// The multipliers of all rods are coupled through the bodies they share. Both halves solve the
// symmetric system (D W D^t) lambda = error, D the rods' directions and W the inverse masses, by
// conjugate gradients with the diagonal as preconditioner: a chain of n rods takes n iterations,
// where visiting the rods by turns takes n^2. Sums run in index order. Stops where the error no
// longer falls, which is rounding.
#include "sim/constraint/constraint.h"

#define OUTER_MAX 100           // corrections; each leaves the square of the turn in a step
#define SHAKE_TOLERANCE 0x1p-52 // of the squared length: the error of one rounding
#define GRADIENT_TOLERANCE                                                                         \
    0x1p-48 // of the squared error: the correction after it sees what is left
#define CURVATURE_MIN                                                                              \
    0x1p-36          // of the diagonal's: flatter are rods that say what others say already
#define PROGRESS 0.9 // an error that does not fall to this share of itself is rounding

typedef struct rods {
    const foliot__distance_link *link;
    uint32_t count;
    const double *inverse_mass;
    double *impulse;        // the step's, for break_force
    double *dx, *dy, *dz;   // directions, not normalised
    double *error, *lambda; // right-hand side, solution
    double *residual, *search, *product;
    foliot__v3 body; // D^t of something, of the bodies that have rods
} rods;

static rods rods_of(const foliot_world *world)
{
    foliot__links links = foliot__links_of(world);
    return (rods){.link = links.rods,
                  .count = foliot__rod_count(&links),
                  .inverse_mass = foliot__inverse_mass(world),
                  .impulse = links.impulse + foliot__distance_count(&links),
                  .dx = links.rod[0],
                  .dy = links.rod[1],
                  .dz = links.rod[2],
                  .error = links.rod[3],
                  .lambda = links.rod[4],
                  .residual = links.rod[5],
                  .search = links.rod[6],
                  .product = links.rod[7],
                  .body = links.body};
}

bool foliot__has_rods(const foliot_world *world)
{
    if (world->capacity.constraints == 0)
        return false;
    foliot__links links = foliot__links_of(world);
    return foliot__rod_count(&links) > 0;
}

static void span_of(const foliot__distance_link *link, foliot__v3 x, double d[3])
{
    uint32_t a = link->a, b = link->b;
    bool anchored = b == FOLIOT_NO_BODY;
    d[0] = (anchored ? link->anchor[0] : x.x[b]) - x.x[a];
    d[1] = (anchored ? link->anchor[1] : x.y[b]) - x.y[a];
    d[2] = (anchored ? link->anchor[2] : x.z[b]) - x.z[a];
}

static void compute_directions(const rods *r, foliot__v3 x)
{
    for (uint32_t i = 0; i < r->count; i++) {
        double d[3];
        span_of(&r->link[i], x, d);
        r->dx[i] = d[0];
        r->dy[i] = d[1];
        r->dz[i] = d[2];
    }
}

static double diagonal(const rods *r, uint32_t i)
{
    double wb = r->link[i].b == FOLIOT_NO_BODY ? 0 : r->inverse_mass[r->link[i].b];
    return (r->inverse_mass[r->link[i].a] + wb) *
           ((r->dx[i] * r->dx[i] + r->dy[i] * r->dy[i]) + r->dz[i] * r->dz[i]);
}

// field += scale W D^t value: the effect of multipliers on positions or velocities.
static void spread_multipliers(const rods *r, const double *value, double scale, foliot__v3 field)
{
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t a = r->link[i].a, b = r->link[i].b;
        double wa = value[i] * scale * r->inverse_mass[a];
        field.x[a] += wa * r->dx[i];
        field.y[a] += wa * r->dy[i];
        field.z[a] += wa * r->dz[i];
        if (b == FOLIOT_NO_BODY)
            continue;
        double wb = value[i] * scale * r->inverse_mass[b];
        field.x[b] -= wb * r->dx[i];
        field.y[b] -= wb * r->dy[i];
        field.z[b] -= wb * r->dz[i];
    }
}

// How fast `field` lengthens each rod, times the rod's length: D field.
static double rate_along(const rods *r, uint32_t i, foliot__v3 field)
{
    uint32_t a = r->link[i].a, b = r->link[i].b;
    bool anchored = b == FOLIOT_NO_BODY;
    double x = (anchored ? 0 : field.x[b]) - field.x[a];
    double y = (anchored ? 0 : field.y[b]) - field.y[a];
    double z = (anchored ? 0 : field.z[b]) - field.z[a];
    return (x * r->dx[i] + y * r->dy[i]) + z * r->dz[i];
}

// The sum residual^2 / diagonal, and search := residual / diagonal + blend search.
static double precondition_search(const rods *r, bool fresh, double before)
{
    double sum = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        double d = diagonal(r, i);
        sum += d > 0 ? r->residual[i] * r->residual[i] / d : 0;
    }
    double blend = fresh || !(before > 0) ? 0 : sum / before;
    for (uint32_t i = 0; i < r->count; i++) {
        double d = diagonal(r, i);
        double scaled = d > 0 ? r->residual[i] / d : 0; // both ends held: nothing can move
        r->search[i] = fresh ? scaled : scaled + blend * r->search[i];
    }
    return sum;
}

// lambda := (D W D^t)^-1 error, by conjugate gradients (Hestenes and Stiefel 1952).
static void solve_multipliers(const rods *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        r->lambda[i] = 0;
        r->residual[i] = r->error[i];
    }
    double first = precondition_search(r, true, 0), rest = first;
    for (uint32_t k = 0; k < 2 * r->count + 8 && rest > first * GRADIENT_TOLERANCE; k++) {
        // product := D W D^t search
        for (uint32_t i = 0; i < r->count; i++) {
            uint32_t a = r->link[i].a, b = r->link[i].b;
            r->body.x[a] = r->body.y[a] = r->body.z[a] = 0;
            if (b != FOLIOT_NO_BODY)
                r->body.x[b] = r->body.y[b] = r->body.z[b] = 0;
        }
        spread_multipliers(r, r->search, -1, r->body);
        for (uint32_t i = 0; i < r->count; i++)
            r->product[i] = rate_along(r, i, r->body);
        double curvature = 0, scale = 0;
        for (uint32_t i = 0; i < r->count; i++) {
            curvature += r->search[i] * r->product[i];
            scale += r->search[i] * r->search[i] * diagonal(r, i);
        }
        if (!(curvature > scale * CURVATURE_MIN))
            return;
        double length = rest / curvature;
        for (uint32_t i = 0; i < r->count; i++) {
            r->lambda[i] += length * r->search[i];
            r->residual[i] -= length * r->product[i];
        }
        rest = precondition_search(r, false, rest);
    }
}

// error := (|span|^2 - length^2) / 2; returns the largest, as a share of the squared length.
static double length_errors(const rods *r, foliot__v3 x)
{
    double worst = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        double d[3], length2 = r->link[i].length * r->link[i].length;
        span_of(&r->link[i], x, d);
        r->error[i] = (((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]) - length2) / 2;
        double share = foliot__absolute(r->error[i]) / length2;
        worst = share > worst ? share : worst;
    }
    return worst;
}

void foliot__shake(const foliot__step *step, foliot__v3 x_before, foliot__v3 x, foliot__v3 v,
                   double duration)
{
    rods r = rods_of(step->world);
    compute_directions(&r, x_before);
    double worst = length_errors(&r, x), last = 2 * worst;
    for (int k = 0; k < OUTER_MAX && worst > SHAKE_TOLERANCE && worst <= last * PROGRESS; k++) {
        solve_multipliers(&r);
        spread_multipliers(&r, r.lambda, 1, x);
        spread_multipliers(&r, r.lambda, 1 / duration, v);
        for (uint32_t i = 0; i < r.count; i++)
            r.impulse[i] += r.lambda[i] * r.link[i].length / duration;
        last = worst;
        worst = length_errors(&r, x);
    }
}

// error := D v; returns the largest, as a speed.
static double speed_errors(const rods *r, foliot__v3 v)
{
    double worst = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        r->error[i] = rate_along(r, i, v);
        double speed = foliot__absolute(r->error[i]) / r->link[i].length;
        worst = speed > worst ? speed : worst;
    }
    return worst;
}

void foliot__rattle(const foliot__step *step, foliot__v3 x, foliot__v3 v)
{
    rods r = rods_of(step->world);
    compute_directions(&r, x);
    double worst = speed_errors(&r, v), last = 2 * worst;
    for (int k = 0; k < OUTER_MAX && worst > 0 && worst <= last * PROGRESS; k++) {
        solve_multipliers(&r);
        spread_multipliers(&r, r.lambda, 1, v);
        for (uint32_t i = 0; i < r.count; i++)
            r.impulse[i] += r.lambda[i] * r.link[i].length;
        last = worst;
        worst = speed_errors(&r, v);
    }
}
