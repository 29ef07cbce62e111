// SPDX-License-Identifier: MIT
// test_force_kick.c: kicks against the exact motion that they stand for; their order; their
// reversal.
#include "../support/force_bench.h"

static field kicked(bench *b, double time, double h, foliot__kick_rule rule)
{
    field a = positions_part(b, time), v = copy_of(foliot__velocity(b->world), 16);
    foliot__force_kick(&b->step, foliot__position(b->world), of(&v), of(&a), time, h, rule);
    return v;
}

TEST(a_plain_kick_is_acceleration_times_duration)
{
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
TEST(drag_alone_is_exact)
{
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

TEST(linear_drag_with_gravity_reaches_its_terminal_velocity)
{
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

TEST(one_damper_is_exact_and_keeps_momentum)
{
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

TEST(a_kick_and_its_reverse_cancel)
{
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
        check_gt(fabs(v.x[0] - before.x[0]), 1e-3);
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

TEST(kicks_are_of_second_order)
{
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

TEST(a_magnetic_callback_keeps_speed_and_a_stiff_one_converges)
{
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

TEST(kinematic_worlds_leave_out_what_their_scheme_moves)
{
    bench b;
    begin(&b, 2);
    b.scene.integrator = FOLIOT_INTEGRATOR_KINEMATIC_STRANG;
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
