// SPDX-License-Identifier: MIT
// test_force.c: every kind of force against its formula, its potential by differences, its
// derivative by differences, and Newton's third law. Worlds are made by the library; the functions
// of force.h are called between their steps.
#include "../support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "foliot/foliot.h"
#include "sim/force.h"
#include "base/cpu.h"
#include "sim/force_spring_lanes.h"
#include "sim/force_workspace.h"

#define BODIES_MAX 64
#define FORCES_MAX 16

// A scene under construction, its world, and a step of it.
typedef struct bench {
    foliot_scene scene;
    foliot_body_definition body[BODIES_MAX];
    foliot_force_definition force[FORCES_MAX];
    foliot_world *world;
    foliot_host host;
    foliot__step step;
} bench;

static foliot__rng rng;

static double uniform(double low, double high)
{
    return low + (high - low) * foliot__rng_unit(&rng);
}

static void begin(bench *b, uint32_t bodies)
{
    memset(b, 0, sizeof *b);
    rng = foliot__rng_seeded(7);
    b->scene = foliot_scene_default();
    b->scene.name = "test";
    b->scene.dt = 0.01;
    b->scene.bodies = b->body;
    b->scene.body_count = bodies;
    b->scene.forces = b->force;
    for (uint32_t i = 0; i < bodies; i++) {
        b->body[i] = foliot_body_default();
        b->body[i].mass = uniform(0.5, 2);
        for (int c = 0; c < 3; c++) {
            b->body[i].position[c] = uniform(-2, 2);
            b->body[i].velocity[c] = uniform(-1, 1);
        }
    }
}

static void hold(bench *b, uint32_t body)
{
    b->body[body].is_static = true;
    memset(b->body[body].velocity, 0, sizeof b->body[body].velocity);
}

static foliot_force_definition *add(bench *b, foliot_force_kind kind)
{
    foliot_force_definition *force = &b->force[b->scene.force_count++];
    *force = foliot_force_default(kind);
    return force;
}

static foliot_force_definition *add_spring(bench *b, uint32_t from, uint32_t to, double stiffness,
                                           double damping, double length, foliot_damping kind)
{
    foliot_force_definition *force = add(b, FOLIOT_FORCE_SPRING);
    force->a = from;
    force->b = to;
    force->as.spring.stiffness = stiffness;
    force->as.spring.damping = damping;
    force->as.spring.length = length;
    force->as.spring.damping_kind = kind;
    return force;
}

static void make(bench *b)
{
    foliot_scene_problem problem;
    if (foliot_scene_check(&b->scene, &problem) != FOLIOT_OK)
        fail_msg("%s: %s", problem.path, problem.text);
    assert_int_equal(foliot_world_create(&b->scene, &b->world), FOLIOT_OK);
    b->step = (foliot__step){.world = b->world,
                             .host = &b->host,
                             .dt = b->scene.dt,
                             .time_end = b->scene.dt,
                             .count = b->world->body_count};
}

static void end(bench *b)
{
    foliot_world_destroy(b->world);
}

// A vector field outside the world.
typedef struct field {
    double x[BODIES_MAX], y[BODIES_MAX], z[BODIES_MAX];
} field;

static foliot__v3 of(field *f)
{
    return (foliot__v3){f->x, f->y, f->z};
}

static double *component(foliot__v3 f, int c)
{
    return c == 0 ? f.x : c == 1 ? f.y : f.z;
}

static field random_field(bench *b, double size)
{
    field f = {0};
    for (uint32_t i = 0; i < b->world->body_count; i++)
        for (int c = 0; c < 3; c++)
            component(of(&f), c)[i] = uniform(-size, size);
    return f;
}

static field copy_of(foliot__v3 from, uint32_t count)
{
    field f = {0};
    for (int c = 0; c < 3; c++)
        memcpy(component(of(&f), c), component(from, c), sizeof(double) * count);
    return f;
}

static field moved(foliot__v3 at, foliot__v3 along, double s, uint32_t count)
{
    field f = {0};
    for (int c = 0; c < 3; c++)
        for (uint32_t i = 0; i < count; i++)
            component(of(&f), c)[i] = component(at, c)[i] + s * component(along, c)[i];
    return f;
}

static field positions_part(bench *b, double time)
{
    field a;
    foliot__force_position(&b->step, foliot__position(b->world), time, of(&a));
    return a;
}

// -- formulas
// ---------------------------------------------------------------------------------------

static void gravity_and_uniform_forces_add_up(void **state)
{
    (void)state;
    bench b;
    begin(&b, 3);
    hold(&b, 1);
    b.scene.gravity[2] = -9.81;
    add(&b, FOLIOT_FORCE_UNIFORM)->as.uniform.acceleration[0] = 1.5;
    make(&b);
    field a = positions_part(&b, 0);
    for (uint32_t i = 0; i < 8; i++) {
        bool moves = i == 0 || i == 2;
        check_bits(a.x[i], moves ? 1.5 : 0);
        check_bits(a.y[i], 0);
        check_bits(a.z[i], moves ? -9.81 : 0);
    }
    end(&b);
}

static void a_constant_force_acts_between_its_times(void **state)
{
    (void)state;
    bench b;
    begin(&b, 2);
    foliot_force_definition *f = add(&b, FOLIOT_FORCE_CONSTANT);
    f->a = 1;
    f->as.constant.force[1] = 10;
    f->as.constant.start = 0.5;
    f->as.constant.end = 0.75;
    make(&b);
    check_bits(positions_part(&b, 0.49).y[1], 0);
    check_bits(positions_part(&b, 0.5).y[1], 10 * (1 / b.body[1].mass));
    check_bits(positions_part(&b, 0.74).y[1], 10 * (1 / b.body[1].mass));
    check_bits(positions_part(&b, 0.75).y[1], 0);
    check_bits(positions_part(&b, 0.5).y[0], 0);
    end(&b);
}

static void springs_pull_by_their_stretch(void **state)
{
    (void)state;
    bench b;
    begin(&b, 3);
    double at[3][3] = {{0, 0, 0}, {3, 4, 0}, {0, 0, 2}};
    for (int i = 0; i < 3; i++) {
        memcpy(b.body[i].position, at[i], sizeof at[i]);
        b.body[i].mass = 1 << i;
    }
    add_spring(&b, 0, 1, 10, 0, 2, FOLIOT_DAMPING_ALONG);
    add_spring(&b, 2, FOLIOT_NO_BODY, 3, 0, 0, FOLIOT_DAMPING_ALONG)->as.spring.point[2] = 1;
    make(&b);
    field a = positions_part(&b, 0);
    check_near(a.x[0], 30 * 0.6, 1e-14); // stretched by 3
    check_near(a.y[0], 30 * 0.8, 1e-14);
    check_near(a.x[1], -30 * 0.6 / 2, 1e-14);
    check_near(a.y[1], -30 * 0.8 / 2, 1e-14);
    check_bits(a.z[2], -3.0 / 4);
    end(&b);
}

static void a_spring_without_direction_pulls_nothing_and_makes_no_nan(void **state)
{
    (void)state;
    bench b;
    begin(&b, 2);
    memcpy(b.body[1].position, b.body[0].position, sizeof b.body[0].position);
    add_spring(&b, 0, 1, 10, 1, 2, FOLIOT_DAMPING_ALONG);
    make(&b);
    field a, da, d = random_field(&b, 1);
    foliot__force_total(&b.step, foliot__position(b.world), foliot__velocity(b.world), 0, of(&a));
    foliot__force_jacobian_apply(&b.step, foliot__position(b.world), foliot__velocity(b.world), 0,
                                 of(&d), of(&d), of(&da));
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 2; i++) {
            check_near(component(of(&a), c)[i], 0, 0);
            check_near(component(of(&da), c)[i], 0, 0);
        }
    end(&b);
}

static void springs_have_the_same_bits_in_every_width(void **state)
{
    (void)state;
    foliot__springs_kernel *kernels[3] = {foliot__springs_pull_base, NULL, NULL};
#if defined(__x86_64__)
    if (foliot__cpu_simd() >= FOLIOT__SIMD_AVX2)
        kernels[1] = foliot__springs_pull_avx2;
    if (foliot__cpu_simd() >= FOLIOT__SIMD_AVX512)
        kernels[2] = foliot__springs_pull_avx512;
#endif
    rng = foliot__rng_seeded(11);
    for (uint32_t count = 1; count <= FOLIOT__SPRINGS_BATCH; count++) {
        foliot__springs_batch in, out[3] __attribute__((aligned(64)));
        for (uint32_t n = 0; n < FOLIOT__SPRINGS_BATCH; n++) {
            in.dx[n] = n % 7 ? uniform(-1, 1) : 0;
            in.dy[n] = n % 7 ? uniform(-1, 1) : 0;
            in.dz[n] = n % 7 ? uniform(-1, 1) : 0;
            in.stiffness[n] = uniform(0, 100);
            in.length[n] = n % 3 ? uniform(0, 2) : 0;
        }
        for (int k = 0; k < 3 && kernels[k]; k++) {
            out[k] = in;
            kernels[k](&out[k], count);
            assert_memory_equal(out[k].dx, out[0].dx, sizeof(double) * count);
            assert_memory_equal(out[k].dy, out[0].dy, sizeof(double) * count);
            assert_memory_equal(out[k].dz, out[0].dz, sizeof(double) * count);
        }
        for (uint32_t n = 0; n < count; n++)
            assert_true(isfinite(out[0].dx[n]));
    }
}

static void dampers_act_along_the_line_or_in_every_direction(void **state)
{
    (void)state;
    bench b;
    begin(&b, 2);
    double x[2][3] = {{0, 0, 0}, {2, 0, 0}}, v[2][3] = {{1, 1, 0}, {-2, 0, 3}};
    for (int i = 0; i < 2; i++) {
        memcpy(b.body[i].position, x[i], sizeof x[i]);
        memcpy(b.body[i].velocity, v[i], sizeof v[i]);
        b.body[i].mass = 1;
    }
    add_spring(&b, 0, 1, 0, 0.5, 1, FOLIOT_DAMPING_ALONG);
    add_spring(&b, 0, 1, 0, 0.25, 1, FOLIOT_DAMPING_ISOTROPIC);
    add_spring(&b, 1, FOLIOT_NO_BODY, 0, 2, 1, FOLIOT_DAMPING_ISOTROPIC);
    add_spring(&b, 1, FOLIOT_NO_BODY, 0, 4, 1, FOLIOT_DAMPING_ALONG);
    make(&b);
    field a = {0};
    assert_true(foliot__force_has_velocity_part(&b.step));
    foliot__force_add_velocity_part(&b.step, foliot__position(b.world), foliot__velocity(b.world),
                                    0, of(&a));
    check_near(a.x[0], 0.5 * -3 + 0.25 * -3, 1e-15);
    check_near(a.y[0], 0.25 * -1, 1e-15);
    check_near(a.z[0], 0.25 * 3, 1e-15);
    check_near(a.x[1], 0.75 * 3 + 2 * 2 + 4 * 2, 1e-15);
    check_near(a.y[1], 0.25, 1e-15);
    check_near(a.z[1], -0.25 * 3 - 2 * 3, 1e-15);
    end(&b);
}

static void drag_is_linear_and_quadratic(void **state)
{
    (void)state;
    bench b;
    begin(&b, 1);
    b.body[0].mass = 2;
    double v[3] = {3, 0, 4};
    memcpy(b.body[0].velocity, v, sizeof v);
    add(&b, FOLIOT_FORCE_DRAG)->as.drag.linear = 0.5;
    add(&b, FOLIOT_FORCE_DRAG)->as.drag.quadratic = 0.1;
    make(&b);
    field a = {0};
    foliot__force_add_velocity_part(&b.step, foliot__position(b.world), foliot__velocity(b.world),
                                    0, of(&a));
    check_near(a.x[0], -(0.5 + 0.1 * 5) * 3 / 2, 1e-15);
    check_near(a.y[0], 0, 0);
    check_near(a.z[0], -(0.5 + 0.1 * 5) * 4 / 2, 1e-15);
    end(&b);
}

static void an_attractor_pulls_by_the_inverse_square_and_not_at_its_centre(void **state)
{
    (void)state;
    bench b;
    begin(&b, 2);
    double centre[3] = {1, 2, 3}, x[3] = {1, 2, 5};
    memcpy(b.body[0].position, centre, sizeof centre);
    memcpy(b.body[1].position, x, sizeof x);
    foliot_force_definition *f = add(&b, FOLIOT_FORCE_ATTRACTOR);
    memcpy(f->as.attractor.point, centre, sizeof centre);
    f->as.attractor.strength = 8;
    make(&b);
    field a = positions_part(&b, 0);
    check_near(a.z[0], 0, 0);
    check_bits(a.z[1], -2);
    end(&b);
}

static void applied_force_is_divided_by_mass(void **state)
{
    (void)state;
    bench b;
    begin(&b, 2);
    b.body[0].mass = 4;
    b.body[0].force[2] = 2;
    make(&b);
    field a = {0};
    foliot__force_add_applied(&b.step, of(&a));
    check_bits(a.z[0], 0.5);
    check_near(a.z[1], 0, 0);
    end(&b);
}

// -- callbacks
// --------------------------------------------------------------------------------------

// A cubic well (x^4 / 4 in each coordinate), and a magnetic field along z: a = v x (0, 0, *user).
static void well(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                 double *az)
{
    double k = *(const double *)user;
    for (uint32_t i = 0; i < at->count; i++) {
        ax[i] -= k * at->x[i] * at->x[i] * at->x[i] + at->vx[i]; // vx is 0 for it
        ay[i] -= k * at->y[i] * at->y[i] * at->y[i];
        az[i] -= k * at->z[i] * at->z[i] * at->z[i];
    }
}

static double well_potential(void *user, const foliot_callback_arguments *at)
{
    double k = *(const double *)user, sum = 0;
    for (uint32_t i = 0; i < at->count; i++)
        if (at->inverse_mass[i] > 0)
            sum += at->mass[i] * k / 4 *
                   ((at->x[i] * at->x[i] * at->x[i] * at->x[i] +
                     at->y[i] * at->y[i] * at->y[i] * at->y[i]) +
                    at->z[i] * at->z[i] * at->z[i] * at->z[i]);
    return sum;
}

static void magnet(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                   double *az)
{
    double k = *(const double *)user;
    (void)az;
    for (uint32_t i = 0; i < at->count; i++) {
        ax[i] += k * at->vy[i];
        ay[i] -= k * at->vx[i];
    }
}

static void friction(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                     double *az)
{
    double k = *(const double *)user;
    for (uint32_t i = 0; i < at->count; i++) {
        ax[i] -= k * at->vx[i];
        ay[i] -= k * at->vy[i];
        az[i] -= k * at->vz[i];
    }
}

static void a_missing_callback_refuses_the_step(void **state)
{
    (void)state;
    bench b;
    begin(&b, 1);
    add(&b, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 1;
    make(&b);
    double k = 1;
    foliot_callback lent[2] = {{well, NULL, &k, false}, {NULL, NULL, NULL, false}};
    foliot_digest before = foliot_world_digest(b.world);
    assert_int_equal(foliot_world_step(b.world, NULL, 0, NULL), FOLIOT_INVALID);
    b.host = (foliot_host){.callbacks = lent, .callback_count = 1};
    assert_int_equal(foliot_world_step(b.world, NULL, 0, &b.host), FOLIOT_INVALID);
    b.host.callback_count = 2;
    assert_int_equal(foliot_world_step(b.world, NULL, 0, &b.host), FOLIOT_INVALID);
    assert_true(foliot_digest_equal(before, foliot_world_digest(b.world)));
    lent[1] = lent[0];
    assert_int_equal(foliot_world_step(b.world, NULL, 0, &b.host), FOLIOT_OK);
    end(&b);
}

static void callbacks_see_velocities_only_if_they_say_so(void **state)
{
    (void)state;
    bench b;
    begin(&b, 2);
    hold(&b, 1);
    add(&b, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 0;
    add(&b, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 1;
    make(&b);
    double k = 2;
    foliot_callback lent[2] = {{well, NULL, &k, false}, {magnet, NULL, &k, true}};
    b.host = (foliot_host){.callbacks = lent, .callback_count = 2};
    field a = positions_part(&b, 0);
    double x = b.body[0].position[0];
    check_near(a.x[0], -2 * x * x * x, 1e-14);
    check_near(a.x[1], 0, 0); // static, whatever the callback added
    field v = {0};
    foliot__force_add_velocity_part(&b.step, foliot__position(b.world), foliot__velocity(b.world),
                                    0, of(&v));
    check_bits(v.x[0], 2 * b.body[0].velocity[1]);
    foliot_invariants sum = foliot_world_invariants(b.world, &b.host);
    assert_false(sum.potential_complete);
    lent[0].potential = well_potential;
    sum = foliot_world_invariants(b.world, &b.host);
    assert_true(sum.potential_complete);
    end(&b);
}

// -- potentials and derivatives
// ---------------------------------------------------------------------

static void everything(bench *b)
{
    begin(b, 9);
    hold(b, 4);
    b->scene.gravity[1] = -1.25;
    foliot_force_definition *f = add(b, FOLIOT_FORCE_CONSTANT);
    f->a = 3;
    f->as.constant.force[0] = 0.75;
    add_spring(b, 0, 1, 3, 0.2, 0.5, FOLIOT_DAMPING_ALONG);
    add_spring(b, 1, 4, 5, 0.3, 0.25, FOLIOT_DAMPING_ISOTROPIC);
    add_spring(b, 2, FOLIOT_NO_BODY, 4, 0.1, 0.75, FOLIOT_DAMPING_ALONG)->as.spring.point[1] = 0.3;
    add_spring(b, 5, 6, 2, 0.7, 0, FOLIOT_DAMPING_ISOTROPIC);
    add_spring(b, 7, FOLIOT_NO_BODY, 2, 0.4, 0, FOLIOT_DAMPING_ISOTROPIC);
    add_spring(b, 4, 3, 1, 0.6, 0.5, FOLIOT_DAMPING_ISOTROPIC); // the static end first
    add_spring(b, 1, 2, 2, 1.1, 0.5,
               FOLIOT_DAMPING_ALONG); // dampers that share bodies do not commute
    b->body[6].force[1] = 0.35;
    f = add(b, FOLIOT_FORCE_NEWTON);
    f->as.newton.constant = 0.8;
    f->as.newton.softening = 0.1;
    f = add(b, FOLIOT_FORCE_ATTRACTOR);
    f->as.attractor.strength = 1.5;
    f->as.attractor.point[2] = 3;
    f = add(b, FOLIOT_FORCE_DRAG);
    f->as.drag.linear = 0.15;
    f->as.drag.quadratic = 0.25;
    add(b, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 0;
    add(b, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 1;
    make(b);
}

static void the_force_is_the_gradient_of_the_potential(void **state)
{
    (void)state;
    bench b;
    everything(&b);
    double k = 0.5;
    foliot_callback lent[2] = {{well, well_potential, &k, false}, {magnet, NULL, &k, true}};
    b.host = (foliot_host){.callbacks = lent, .callback_count = 2};
    field a = positions_part(&b, 0);
    foliot__force_add_applied(&b.step, of(&a));
    foliot__v3 x = foliot__position(b.world);
    bool complete;
    const double e = 1e-5;
    for (uint32_t i = 0; i < 9; i++)
        for (int c = 0; c < 3; c++) {
            double *p = &component(x, c)[i], was = *p, u[4];
            for (int s = 0; s < 4; s++) {
                *p = was + e * (s < 2 ? s - 2 : s - 1);
                u[s] = foliot__force_potential(b.world, &b.host, &complete);
                assert_true(complete);
            }
            *p = was;
            double slope = ((u[0] - u[3]) + 8 * (u[2] - u[1])) / (12 * e);
            double force = component(of(&a), c)[i] * b.body[i].mass;
            check_near(i == 4 ? 0 : -slope, force, 1e-8);
        }
    end(&b);
}

static void the_jacobian_agrees_with_differences(void **state)
{
    (void)state;
    bench b;
    everything(&b);
    double k = 0.5;
    foliot_callback lent[2] = {{well, NULL, &k, false}, {magnet, NULL, &k, true}};
    b.host = (foliot_host){.callbacks = lent, .callback_count = 2};
    foliot__v3 x = foliot__position(b.world), v = foliot__velocity(b.world);
    const double e = 1e-5;
    for (int trial = 0; trial < 20; trial++) {
        field dx = random_field(&b, 1), dv = random_field(&b, trial < 10 ? 1 : 30), da, up, down;
        dx.x[4] = dx.y[4] = dx.z[4] = dv.x[4] = dv.y[4] = dv.z[4] = 0; // static
        foliot__force_jacobian_apply(&b.step, x, v, 0, of(&dx), of(&dv), of(&da));
        field xu = moved(x, of(&dx), e, 9), vu = moved(v, of(&dv), e, 9);
        field xd = moved(x, of(&dx), -e, 9), vd = moved(v, of(&dv), -e, 9);
        foliot__force_total(&b.step, of(&xu), of(&vu), 0, of(&up));
        foliot__force_total(&b.step, of(&xd), of(&vd), 0, of(&down));
        for (uint32_t i = 0; i < 9; i++)
            for (int c = 0; c < 3; c++) {
                double slope = (component(of(&up), c)[i] - component(of(&down), c)[i]) / (2 * e);
                check_near(component(of(&da), c)[i], slope, 2e-6);
            }
    }
    end(&b);
}

static void the_exact_part_of_the_jacobian_is_exact(void **state)
{
    (void)state;
    // Without callbacks the product is linear in its direction, to rounding.
    bench b;
    everything(&b);
    foliot_callback none[2] = {{0}};
    b.host = (foliot_host){.callbacks = none, .callback_count = 2};
    foliot__v3 x = foliot__position(b.world), v = foliot__velocity(b.world);
    field dx = random_field(&b, 1), dv = random_field(&b, 1), once, twice;
    foliot__force_jacobian_apply(&b.step, x, v, 0, of(&dx), of(&dv), of(&once));
    field dx2 = moved(of(&dx), of(&dx), 1023, 9), dv2 = moved(of(&dv), of(&dv), 1023, 9);
    foliot__force_jacobian_apply(&b.step, x, v, 0, of(&dx2), of(&dv2), of(&twice));
    for (uint32_t i = 0; i < 9; i++)
        for (int c = 0; c < 3; c++)
            check_bits(component(of(&twice), c)[i], 1024 * component(of(&once), c)[i]);
    end(&b);
}

static void pairs_keep_momentum(void **state)
{
    (void)state;
    bench b;
    begin(&b, 20);
    for (uint32_t k = 0; k < 8; k++)
        add_spring(&b, k, k + 1, 3, 0.5, 0.5,
                   k % 2 ? FOLIOT_DAMPING_ALONG : FOLIOT_DAMPING_ISOTROPIC);
    add(&b, FOLIOT_FORCE_NEWTON)->as.newton.constant = 1;
    make(&b);
    field a;
    foliot__force_total(&b.step, foliot__position(b.world), foliot__velocity(b.world), 0, of(&a));
    for (int c = 0; c < 3; c++) {
        double sum = 0, size = 0;
        for (uint32_t i = 0; i < 20; i++) {
            sum += b.body[i].mass * component(of(&a), c)[i];
            size += fabs(b.body[i].mass * component(of(&a), c)[i]);
        }
        check_below(fabs(sum), 1e-15 * size);
    }
    end(&b);
}

static void two_bodies_pull_each_other_with_equal_force(void **state)
{
    (void)state;
    // Masses that are powers of two make the two accelerations exactly opposite.
    for (int trial = 0; trial < 200; trial++) {
        bench b;
        begin(&b, 2);
        rng = foliot__rng_seeded((uint64_t)trial);
        for (int i = 0; i < 2; i++)
            for (int c = 0; c < 3; c++)
                b.body[i].position[c] = uniform(-5, 5);
        b.body[0].mass = 1;
        b.body[1].mass = 0.125;
        if (trial % 2)
            add_spring(&b, 0, 1, uniform(1, 2), uniform(0, 1), uniform(0, 3), FOLIOT_DAMPING_ALONG);
        else
            add(&b, FOLIOT_FORCE_NEWTON)->as.newton.constant = uniform(1, 2);
        make(&b);
        field a;
        foliot__force_total(&b.step, foliot__position(b.world), foliot__velocity(b.world), 0,
                            of(&a));
        for (int c = 0; c < 3; c++)
            check_bits(component(of(&a), c)[1], -8 * component(of(&a), c)[0]);
        end(&b);
    }
}

static void bodies_that_do_not_move_have_rows_of_zero(void **state)
{
    (void)state;
    bench b;
    everything(&b);
    double k = 0.5;
    foliot_callback lent[2] = {{well, NULL, &k, false}, {magnet, NULL, &k, true}};
    b.host = (foliot_host){.callbacks = lent, .callback_count = 2};
    foliot__flags(b.world)[0] |= FOLIOT_BODY_FROZEN;
    foliot__body_refresh(b.world, 0);
    foliot__position(b.world).x[0] =
        NAN; // what lies in a row that is not used must not spread by gravity
    foliot__force(b.world)[2].as.spring.stiffness = 0; // nor has it springs
    foliot__force(b.world)[2].as.spring.damping = 0;
    foliot__force_prepare(b.world);
    field a, da, d = random_field(&b, 1);
    foliot__v3 x = foliot__position(b.world), v = foliot__velocity(b.world);
    foliot__force_total(&b.step, x, v, 0, of(&a));
    foliot__force_jacobian_apply(&b.step, x, v, 0, of(&d), of(&d), of(&da));
    for (int c = 0; c < 3; c++)
        for (uint32_t i = 0; i < 16; i++) {
            bool moves = i < 9 && i != 0 && i != 4;
            double value = component(of(&a), c)[i];
            assert_true(isfinite(value));
            if (!moves) {
                check_near(value, 0, 0);
                check_near(component(of(&da), c)[i], 0, 0);
            }
        }
    end(&b);
}

static void the_acceleration_is_computed_once(void **state)
{
    (void)state;
    bench b;
    everything(&b);
    foliot_callback none[2] = {{0}};
    b.host = (foliot_host){.callbacks = none, .callback_count = 2};
    uint64_t before = b.world->counters.force_evaluations;
    foliot__acceleration_now(&b.step, 0);
    foliot__acceleration_now(&b.step, 0);
    assert_int_equal(b.world->counters.force_evaluations - before, 1);
    foliot__acceleration_now(&b.step, 0.5); // another time
    assert_int_equal(b.world->counters.force_evaluations - before, 2);
    b.world->acceleration_valid = 0;
    foliot__v3 a = foliot__acceleration_now(&b.step, 0.5);
    assert_int_equal(b.world->counters.force_evaluations - before, 3);
    field again = positions_part(&b, 0.5);
    for (uint32_t i = 0; i < 9; i++)
        check_bits(again.x[i], a.x[i]);
    end(&b);
}

static void invariants_sum_motion_and_spin(void **state)
{
    (void)state;
    bench b;
    begin(&b, 2);
    b.body[0].mass = 2;
    double x[3] = {1, 0, 0}, v[3] = {0, 3, 0}, w[3] = {0, 0, 5};
    memcpy(b.body[0].position, x, sizeof x);
    memcpy(b.body[0].velocity, v, sizeof v);
    memcpy(b.body[0].angular_velocity, w, sizeof w);
    b.body[0].inertia[0] = 1;
    b.body[0].inertia[1] = 2;
    b.body[0].inertia[2] = 2.5;
    b.body[0].orientation[0] = cos(M_PI / 12); // 30 degrees about x
    b.body[0].orientation[1] = sin(M_PI / 12);
    b.body[0].shape.kind = FOLIOT_SHAPE_SPHERE;
    b.body[0].shape.radius = 0.1;
    hold(&b, 1);
    b.scene.gravity[0] = -2;
    make(&b);
    foliot_invariants sum = foliot_world_invariants(b.world, NULL);
    // In the body's axes w is (0, 5/2, 5 c) and the spin (0, 5, 12.5 c), c the cosine of 30
    // degrees.
    const double c = sqrt(0.75);
    check_near(sum.kinetic, 9 + 0.5 * (12.5 + 62.5 * 0.75), 1e-13);
    check_near(sum.momentum[1], 6, 0);
    check_near(sum.angular_momentum[2], 6 + 2.5 + 12.5 * 0.75, 1e-14);
    check_near(sum.angular_momentum[1], c * 5 - 0.5 * 12.5 * c, 1e-14);
    check_near(sum.angular_momentum[0], 0, 1e-14);
    check_near(sum.potential, 2 * 2 * 1, 1e-15);
    assert_true(sum.potential_complete);
    end(&b);
}

static void steps_keep_energy_and_momentum(void **state)
{
    (void)state;
    bench b;
    begin(&b, 12);
    b.scene.integrator = FOLIOT_KAHAN_LI8;
    b.scene.dt = 1.0 / 128;
    for (uint32_t k = 0; k < 11; k++)
        add_spring(&b, k, k + 1, 3, 0, 0.5, FOLIOT_DAMPING_ALONG);
    foliot_force_definition *f = add(&b, FOLIOT_FORCE_NEWTON);
    f->as.newton.constant = 0.5;
    f->as.newton.softening = 0.2;
    make(&b);
    foliot_invariants before = foliot_world_invariants(b.world, NULL);
    for (int n = 0; n < 500; n++)
        assert_int_equal(foliot_world_step(b.world, NULL, 0, NULL), FOLIOT_OK);
    foliot_invariants after = foliot_world_invariants(b.world, NULL);
    check_near(after.kinetic + after.potential, before.kinetic + before.potential, 1e-7);
    assert_true(fabs(after.kinetic - before.kinetic) > 0.1);
    for (int c = 0; c < 3; c++) {
        check_near(after.momentum[c], before.momentum[c], 1e-12);
        check_near(after.angular_momentum[c], before.angular_momentum[c], 1e-12);
    }
    end(&b);
}

// -- kicks
// ------------------------------------------------------------------------------------------

static field kicked(bench *b, double time, double h, foliot__kick_rule rule)
{
    field a = positions_part(b, time), v = copy_of(foliot__velocity(b->world), 16);
    foliot__force_kick(&b->step, foliot__position(b->world), of(&v), of(&a), time, h, rule);
    return v;
}

static void a_plain_kick_is_acceleration_times_duration(void **state)
{
    (void)state;
    bench b;
    begin(&b, 3);
    b.scene.gravity[2] = -10;
    b.body[1].force[0] = 3;
    hold(&b, 2);
    make(&b);
    field v = kicked(&b, 0, 0.25, FOLIOT__KICK_EXACT);
    check_bits(v.z[0], b.body[0].velocity[2] - 2.5);
    check_near(v.x[1], b.body[1].velocity[0] + 3 / b.body[1].mass * 0.25, 1e-15);
    check_near(v.z[2], 0, 0);
    end(&b);
}

// Drag coefficients and an acceleration against what the exact flow of one body is.
static void drag_alone_is_exact(void **state)
{
    (void)state;
    static const double linear[] = {0.7, 0, 0.7, 40}, quadratic[] = {0, 0.9, 0.9, 13};
    for (int n = 0; n < 4; n++)
        for (int s = 0; s < 2; s++) {
            bench b;
            begin(&b, 3);
            foliot_force_definition *f = add(&b, FOLIOT_FORCE_DRAG);
            f->as.drag.linear = linear[n];
            f->as.drag.quadratic = quadratic[n];
            make(&b);
            double h = s ? 0.8 : 0.01;
            field v = kicked(&b, 0, h, FOLIOT__KICK_EXACT);
            for (uint32_t i = 0; i < 3; i++) {
                double l = linear[n] / b.body[i].mass, q = quadratic[n] / b.body[i].mass;
                const double *u = b.body[i].velocity;
                double speed = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
                double e = exp(-l * h), phi = l > 0 ? (1 - e) / l : h;
                double exact = e / (1 + q * speed * phi);
                check_near(v.x[i], exact * u[0], 4e-15);
                check_near(v.z[i], exact * u[2], 4e-15);
            }
            end(&b);
        }
}

static void linear_drag_with_gravity_reaches_its_terminal_velocity(void **state)
{
    (void)state;
    bench b;
    begin(&b, 1);
    b.body[0].mass = 2;
    b.scene.gravity[2] = -10;
    add(&b, FOLIOT_FORCE_DRAG)->as.drag.linear = 4;                       // rate 2
    add_spring(&b, 0, FOLIOT_NO_BODY, 0, 1, 0, FOLIOT_DAMPING_ISOTROPIC); // and 1/2 more
    make(&b);
    double v0 = b.body[0].velocity[2], h = 0.3;
    check_near(kicked(&b, 0, h, FOLIOT__KICK_EXACT).z[0], -4 + (v0 + 4) * exp(-2.5 * h), 2e-15);
    check_near(kicked(&b, 0, 1e3, FOLIOT__KICK_EXACT).z[0], -4, 1e-15);
    check_near(kicked(&b, 0, h, FOLIOT__KICK_CAYLEY).z[0],
               (v0 * (1 - 1.25 * h) - 10 * h) / (1 + 1.25 * h), 2e-15);
    end(&b);
}

static void one_damper_is_exact_and_keeps_momentum(void **state)
{
    (void)state;
    for (int isotropic = 0; isotropic < 2; isotropic++) {
        bench b;
        begin(&b, 2);
        add_spring(&b, 0, 1, 0, 0.8, 1,
                   isotropic ? FOLIOT_DAMPING_ISOTROPIC : FOLIOT_DAMPING_ALONG);
        make(&b);
        double h = 0.6, mu = 1 / b.body[0].mass + 1 / b.body[1].mass, e = exp(-0.8 * mu * h);
        double d[3], w[3], along = 0, d2 = 0;
        for (int c = 0; c < 3; c++) {
            d[c] = b.body[1].position[c] - b.body[0].position[c];
            w[c] = b.body[1].velocity[c] - b.body[0].velocity[c];
            along += d[c] * w[c];
            d2 += d[c] * d[c];
        }
        field v = kicked(&b, 0, h, FOLIOT__KICK_EXACT);
        for (int c = 0; c < 3; c++) {
            double *u = component(of(&v), c);
            double kept = isotropic ? e * w[c] : w[c] + (e - 1) * along / d2 * d[c];
            check_near(u[1] - u[0], kept, 1e-15);
            check_near(b.body[0].mass * u[0] + b.body[1].mass * u[1],
                       b.body[0].mass * b.body[0].velocity[c] +
                           b.body[1].mass * b.body[1].velocity[c],
                       1e-15);
        }
        end(&b);
    }
}

static void a_kick_and_its_reverse_cancel(void **state)
{
    (void)state;
    bench b;
    everything(&b);
    double k = 0.5;
    foliot_callback lent[2] = {{well, NULL, &k, false}, {magnet, NULL, &k, true}};
    b.host = (foliot_host){.callbacks = lent, .callback_count = 2};
    for (int rule = 0; rule < 2; rule++) {
        field before = copy_of(foliot__velocity(b.world), 16), a = positions_part(&b, 0),
              v = before;
        foliot__v3 x = foliot__position(b.world);
        foliot__force_kick(&b.step, x, of(&v), of(&a), 0, 0.2, (foliot__kick_rule)rule);
        assert_true(fabs(v.x[0] - before.x[0]) > 1e-3);
        foliot__force_kick(&b.step, x, of(&v), of(&a), 0, -0.2, (foliot__kick_rule)rule);
        for (uint32_t i = 0; i < 9; i++)
            for (int c = 0; c < 3; c++)
                check_near(component(of(&v), c)[i], component(of(&before), c)[i], 2e-14);
    }
    assert_int_equal(b.world->counters.solver_failures, 0);
    end(&b);
}

static double distance(field *a, field *b, uint32_t count)
{
    double sum = 0;
    for (int c = 0; c < 3; c++)
        for (uint32_t i = 0; i < count; i++) {
            double d = component(of(a), c)[i] - component(of(b), c)[i];
            sum += d * d;
        }
    return sqrt(sum);
}

static field kicked_often(bench *b, double h, int times, foliot__kick_rule rule)
{
    field a = positions_part(b, 0), v = copy_of(foliot__velocity(b->world), 16);
    for (int n = 0; n < times; n++)
        foliot__force_kick(&b->step, foliot__position(b->world), of(&v), of(&a), 0, h / times,
                           rule);
    return v;
}

// rk4 in v with the total acceleration: an independent way to the same flow.
static field by_rk4(bench *b, double h, int times)
{
    foliot__v3 x = foliot__position(b->world);
    field v = copy_of(foliot__velocity(b->world), 16), k1, k2, k3, k4, at;
    h /= times;
    for (int n = 0; n < times; n++) {
        foliot__force_total(&b->step, x, of(&v), 0, of(&k1));
        at = moved(of(&v), of(&k1), h / 2, 9);
        foliot__force_total(&b->step, x, of(&at), 0, of(&k2));
        at = moved(of(&v), of(&k2), h / 2, 9);
        foliot__force_total(&b->step, x, of(&at), 0, of(&k3));
        at = moved(of(&v), of(&k3), h, 9);
        foliot__force_total(&b->step, x, of(&at), 0, of(&k4));
        v = moved(of(&v), of(&k1), h / 6, 9);
        v = moved(of(&v), of(&k2), h / 3, 9);
        v = moved(of(&v), of(&k3), h / 3, 9);
        v = moved(of(&v), of(&k4), h / 6, 9);
    }
    return v;
}

static void kicks_are_of_second_order(void **state)
{
    (void)state;
    bench b;
    everything(&b);
    double k = 0.5;
    foliot_callback lent[2] = {{well, NULL, &k, false}, {magnet, NULL, &k, true}};
    b.host = (foliot_host){.callbacks = lent, .callback_count = 2};
    field exact = by_rk4(&b, 0.5, 400);
    for (int rule = 0; rule < 2; rule++) {
        field coarse = kicked_often(&b, 0.5, 16, (foliot__kick_rule)rule);
        field fine = kicked_often(&b, 0.5, 32, (foliot__kick_rule)rule);
        double ratio = distance(&coarse, &exact, 9) / distance(&fine, &exact, 9);
        check_near(ratio, 4, 0.05);
    }
    end(&b);
}

static void a_magnetic_callback_keeps_speed_and_a_stiff_one_converges(void **state)
{
    (void)state;
    bench b;
    begin(&b, 2);
    add(&b, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 0;
    make(&b);
    double k = 100;
    foliot_callback lent[1] = {{magnet, NULL, &k, true}};
    b.host = (foliot_host){.callbacks = lent, .callback_count = 1};
    field v = kicked(&b, 0, 0.1, FOLIOT__KICK_EXACT); // 10 radians
    for (uint32_t i = 0; i < 2; i++) {
        const double *u = b.body[i].velocity;
        check_near(v.x[i] * v.x[i] + v.y[i] * v.y[i], u[0] * u[0] + u[1] * u[1], 1e-14);
        check_near(v.z[i], u[2], 1e-15);
    }
    lent[0].acceleration = friction;
    k = 1e6;
    v = kicked(&b, 0, 0.1, FOLIOT__KICK_EXACT); // (1 - 5e4) / (1 + 5e4)
    check_near(v.x[0], b.body[0].velocity[0] * (1 - 5e4) / (1 + 5e4), 1e-12);
    assert_int_equal(b.world->counters.solver_failures, 0);
    end(&b);
}

static void kinematic_worlds_leave_out_what_their_scheme_moves(void **state)
{
    (void)state;
    bench b;
    begin(&b, 2);
    b.scene.integrator = FOLIOT_KINEMATIC_STRANG;
    b.scene.gravity[2] = -10;
    b.body[0].force[0] = 5;
    add(&b, FOLIOT_FORCE_DRAG)->as.drag.linear = 1;
    add_spring(&b, 0, FOLIOT_NO_BODY, 3, 0, 0, FOLIOT_DAMPING_ALONG);
    foliot_force_definition *f = add(&b, FOLIOT_FORCE_ATTRACTOR);
    f->as.attractor.strength = 1;
    make(&b);
    field a;
    foliot__force_total(&b.step, foliot__position(b.world), foliot__velocity(b.world), 0, of(&a));
    const double *x = b.body[0].position;
    double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    check_near(a.z[0], -x[2] / (r2 * sqrt(r2)), 1e-15);
    check_near(a.x[0], -x[0] / (r2 * sqrt(r2)), 1e-15);
    field v = kicked(&b, 0, 1, FOLIOT__KICK_EXACT);
    check_near(v.x[0], b.body[0].velocity[0] + a.x[0], 1e-15);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gravity_and_uniform_forces_add_up),
        cmocka_unit_test(a_constant_force_acts_between_its_times),
        cmocka_unit_test(springs_pull_by_their_stretch),
        cmocka_unit_test(a_spring_without_direction_pulls_nothing_and_makes_no_nan),
        cmocka_unit_test(springs_have_the_same_bits_in_every_width),
        cmocka_unit_test(dampers_act_along_the_line_or_in_every_direction),
        cmocka_unit_test(drag_is_linear_and_quadratic),
        cmocka_unit_test(an_attractor_pulls_by_the_inverse_square_and_not_at_its_centre),
        cmocka_unit_test(applied_force_is_divided_by_mass),
        cmocka_unit_test(a_missing_callback_refuses_the_step),
        cmocka_unit_test(callbacks_see_velocities_only_if_they_say_so),
        cmocka_unit_test(the_force_is_the_gradient_of_the_potential),
        cmocka_unit_test(the_jacobian_agrees_with_differences),
        cmocka_unit_test(the_exact_part_of_the_jacobian_is_exact),
        cmocka_unit_test(pairs_keep_momentum),
        cmocka_unit_test(two_bodies_pull_each_other_with_equal_force),
        cmocka_unit_test(bodies_that_do_not_move_have_rows_of_zero),
        cmocka_unit_test(the_acceleration_is_computed_once),
        cmocka_unit_test(invariants_sum_motion_and_spin),
        cmocka_unit_test(steps_keep_energy_and_momentum),
        cmocka_unit_test(a_plain_kick_is_acceleration_times_duration),
        cmocka_unit_test(drag_alone_is_exact),
        cmocka_unit_test(linear_drag_with_gravity_reaches_its_terminal_velocity),
        cmocka_unit_test(one_damper_is_exact_and_keeps_momentum),
        cmocka_unit_test(a_kick_and_its_reverse_cancel),
        cmocka_unit_test(kicks_are_of_second_order),
        cmocka_unit_test(a_magnetic_callback_keeps_speed_and_a_stiff_one_converges),
        cmocka_unit_test(kinematic_worlds_leave_out_what_their_scheme_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
