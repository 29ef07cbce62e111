// SPDX-License-Identifier: MIT
#include "problems.h"

#include <math.h>
#include <string.h>

#include "check.h"

void problem_body(problem *p, foliot_integrator integrator, double dt)
{
    memset(p, 0, sizeof *p);
    p->scene = foliot_scene_default();
    p->scene.name = "problem";
    p->scene.dt = dt;
    p->scene.integrator = integrator;
    p->scene.tolerance = 1e-14;
    p->scene.bodies = p->bodies;
    p->scene.forces = p->forces;
    for (int i = 0; i < PROBLEM_BODIES; i++)
        p->bodies[i] = foliot_body_definition_default();
    p->scene.body_count = 1;
    p->host.callbacks = &p->callback;
}

foliot_force_definition *problem_force(problem *p, foliot_force_kind kind)
{
    check_lt(p->scene.force_count, PROBLEM_FORCES);
    foliot_force_definition *force = &p->forces[p->scene.force_count++];
    *force = foliot_force_definition_default(kind);
    return force;
}

static void add_callback(problem *p,
                         void (*acceleration)(void *, const foliot_callback_arguments *, double *,
                                              double *, double *),
                         double (*potential)(void *, const foliot_callback_arguments *))
{
    problem_force(p, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 0;
    p->callback = (foliot_callback){.acceleration = acceleration, .potential = potential};
    p->host.callback_count = 1;
}

void problem_oscillator(problem *p, foliot_integrator integrator, double dt, double k, double x0)
{
    problem_body(p, integrator, dt);
    p->bodies[0].position[0] = x0;
    foliot_force_definition *spring = problem_force(p, FOLIOT_FORCE_SPRING);
    spring->a = 0;
    spring->as.spring.stiffness = k;
}

void problem_damped_oscillator(problem *p, foliot_integrator integrator, double dt, double k,
                               double b, double x0)
{
    problem_oscillator(p, integrator, dt, k, x0);
    if (b > 0)
        problem_force(p, FOLIOT_FORCE_DRAG)->as.drag.linear = b;
}

double damped_oscillator_exact(double k, double b, double x0, double time, double *velocity)
{
    double w = sqrt(k - b * b / 4), decay = x0 * exp(-b * time / 2);
    double s = sin(w * time), c = cos(w * time);
    if (velocity)
        *velocity = -decay * k / w * s;
    return decay * (c + b / (2 * w) * s);
}

static void pendulum(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                     double *az)
{
    (void)user, (void)ay, (void)az;
    for (uint32_t i = 0; i < at->count; i++)
        ax[i] -= foliot_sin(at->x[i]);
}

static double pendulum_potential(void *user, const foliot_callback_arguments *at)
{
    (void)user;
    return -foliot_cos(at->x[0]);
}

const double pendulum_1[2] = {6.0008536612750643779047454e-01, -7.5496371395313082490398179e-01};
const double pendulum_10[2] = {-9.9894981462385065173066787e-01, -4.2033377534212293679921979e-02};

void problem_pendulum(problem *p, foliot_integrator integrator, double dt)
{
    problem_body(p, integrator, dt);
    p->bodies[0].position[0] = 1;
    add_callback(p, pendulum, pendulum_potential);
}

void problem_kepler(problem *p, foliot_integrator integrator, double dt, double e)
{
    problem_body(p, integrator, dt);
    p->bodies[0].position[0] = 1 - e;
    p->bodies[0].velocity[1] = sqrt((1 + e) / (1 - e));
    problem_force(p, FOLIOT_FORCE_ATTRACTOR)->as.attractor.strength = 1;
}

void kepler_exact(double e, double time, double position[2], double velocity[2])
{
    double E = time;
    for (int i = 0; i < 60; i++)
        E -= (E - e * sin(E) - time) / (1 - e * cos(E));
    double root = sqrt(1 - e * e), r = 1 - e * cos(E);
    position[0] = cos(E) - e;
    position[1] = root * sin(E);
    velocity[0] = -sin(E) / r;
    velocity[1] = root * cos(E) / r;
}

static void henon_heiles(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                         double *az)
{
    (void)user, (void)az;
    double x = at->x[0], y = at->y[0];
    ax[0] += -x - 2 * x * y;
    ay[0] += (-y - x * x) + y * y;
}

static double henon_heiles_potential(void *user, const foliot_callback_arguments *at)
{
    (void)user;
    double x = at->x[0], y = at->y[0];
    return (x * x + y * y) / 2 + x * x * y - y * y * y / 3;
}

const double henon_heiles_10[4] = {3.6708919703026082557151060e-02, 6.8269223990171486363881235e-01,
                                   4.7163967175845155951330096e-02,
                                   -2.5305958813863047637950488e-02};

void problem_henon_heiles(problem *p, foliot_integrator integrator, double dt)
{
    problem_body(p, integrator, dt);
    p->bodies[0].position[0] = 0.1;
    p->bodies[0].velocity[1] = 0.5;
    add_callback(p, henon_heiles, henon_heiles_potential);
}

static void put_body(problem *p, uint32_t i, double mass, const double x[3], const double v[3])
{
    p->bodies[i].mass = mass;
    memcpy(p->bodies[i].position, x, sizeof p->bodies[i].position);
    memcpy(p->bodies[i].velocity, v, sizeof p->bodies[i].velocity);
}

void problem_outer_solar_system(problem *p, foliot_integrator integrator, double dt)
{
    static const double mass[6] = {1.00000597682,      0.000954786104043,  0.000285583733151,
                                   0.0000437273164546, 0.0000517759138449, 1 / 1.3e8};
    static const double x[6][3] = {{0, 0, 0},
                                   {-3.5023653, -3.8169847, -1.5507963},
                                   {9.0755314, -3.0458353, -1.6483708},
                                   {8.3101420, -16.2901086, -7.2521278},
                                   {11.4707666, -25.7294829, -10.8169456},
                                   {-15.5387357, -25.2225594, -3.1902382}};
    static const double v[6][3] = {{0, 0, 0},
                                   {0.00565429, -0.00412490, -0.00190589},
                                   {0.00168318, 0.00483525, 0.00192462},
                                   {0.00354178, 0.00137102, 0.00055029},
                                   {0.00288930, 0.00114527, 0.00039677},
                                   {0.00276725, -0.00170702, -0.00136504}};
    problem_body(p, integrator, dt);
    p->scene.body_count = 6;
    for (uint32_t i = 0; i < 6; i++)
        put_body(p, i, mass[i], x[i], v[i]);
    problem_force(p, FOLIOT_FORCE_NEWTON)->as.newton.constant = 2.95912208286e-4;
}

const double outer_solar_system_200000[6][3] = {
    {1.2358425423546087273656e+00, -4.8994382114427497636789e-01, -2.4610536181432130998409e-01},
    {2.6110795701128633600810e+00, -5.0795254967879869637772e+00, -2.2447206778530572445305e+00},
    {-7.6691362473913092588232e+00, -4.0520522454878257950088e+00, -1.3311156697113814695464e+00},
    {-5.8247439498477433320438e+00, 1.5337173753572523356606e+01, 6.7824634099176084875467e+00},
    {2.0663980247515021757075e+01, 2.0582956042459864745106e+01, 7.8947954147482020899407e+00},
    {3.6566950698822604379843e+01, -1.3767684401259625256064e+01, -1.5043469221823263493829e+01}};

void problem_figure_eight(problem *p, foliot_integrator integrator, double dt)
{
    const double p1 = 0.3471168881189269382427769203, p2 = 0.5327249453880302292620279877;
    const double x[3][3] = {{-1, 0, 0}, {1, 0, 0}, {0, 0, 0}};
    const double v[3][3] = {{p1, p2, 0}, {p1, p2, 0}, {-2 * p1, -2 * p2, 0}};
    problem_body(p, integrator, dt);
    p->scene.body_count = 3;
    for (uint32_t i = 0; i < 3; i++)
        put_body(p, i, 1, x[i], v[i]);
    problem_force(p, FOLIOT_FORCE_NEWTON)->as.newton.constant = 1;
}

bool problem_admitted(problem *p)
{
    return foliot_scene_check(&p->scene, NULL) == FOLIOT_STATUS_OK;
}

foliot_world *problem_world(problem *p)
{
    foliot_error wrong = {.text = ""};
    if (foliot_scene_check(&p->scene, &wrong) != FOLIOT_STATUS_OK)
        fail_msg("%s", wrong.text);
    foliot_world *world = NULL;
    assert_int_equal(foliot_world_create(&p->scene, &world, NULL), FOLIOT_STATUS_OK);
    return world;
}

void problem_step(problem *p, foliot_world *world, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++)
        if (foliot_world_step(world, NULL, 0, &p->host) != FOLIOT_STATUS_OK)
            fail_msg("a step was refused");
}

double problem_energy(problem *p, const foliot_world *world)
{
    foliot_invariants now = foliot_world_get_invariants(world, &p->host);
    return now.kinetic + now.potential;
}
