// SPDX-License-Identifier: MIT
// test_force.c: every kind of force against its formula, and callbacks. Worlds are made by the
// library; the functions of force.h are called between their steps.

#include "../support/force_bench.h"
#include "base/cpu.h"
#include "sim/force/force_simd.h"

TEST(gravity_and_uniform_forces_add_up)
{
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

TEST(a_constant_force_acts_between_its_times)
{
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

TEST(springs_pull_by_their_stretch)
{
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

TEST(a_spring_without_direction_pushes_along_x)
{
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
            double push = c == 0 ? (i ? 20 : -20) * foliot__inverse_mass(b.world)[i] : 0;
            check_near(component(of(&a), c)[i], push, 1e-12);
            check_near(component(of(&da), c)[i], 0, 0);
        }
    end(&b);
}

TEST(springs_have_the_same_bits_in_every_width)
{
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

TEST(dampers_act_along_the_line_or_in_every_direction)
{
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

TEST(drag_is_linear_and_quadratic)
{
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

TEST(an_attractor_pulls_by_the_inverse_square_and_not_at_its_centre)
{
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

TEST(applied_force_is_divided_by_mass)
{
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

TEST(a_missing_callback_refuses_the_step)
{
    bench b;
    begin(&b, 1);
    add(&b, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 1;
    make(&b);
    double k = 1;
    foliot_callback lent[2] = {{well, NULL, &k, false}, {NULL, NULL, NULL, false}};
    foliot_digest before = foliot_world_get_digest(b.world);
    assert_int_equal(foliot_world_step(b.world, NULL, 0, NULL), FOLIOT_STATUS_INVALID);
    b.host = (foliot_host){.callbacks = lent, .callback_count = 1};
    assert_int_equal(foliot_world_step(b.world, NULL, 0, &b.host), FOLIOT_STATUS_INVALID);
    b.host.callback_count = 2;
    assert_int_equal(foliot_world_step(b.world, NULL, 0, &b.host), FOLIOT_STATUS_INVALID);
    assert_true(foliot_digest_equal(before, foliot_world_get_digest(b.world)));
    lent[1] = lent[0];
    assert_int_equal(foliot_world_step(b.world, NULL, 0, &b.host), FOLIOT_STATUS_OK);
    end(&b);
}

TEST(callbacks_see_velocities_only_if_they_say_so)
{
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
    foliot_invariants sum = foliot_world_get_invariants(b.world, &b.host);
    assert_false(sum.potential_complete);
    lent[0].potential = well_potential;
    sum = foliot_world_get_invariants(b.world, &b.host);
    assert_true(sum.potential_complete);
    end(&b);
}

// -- force potential: forces against their potentials and their derivatives by differences,
// Newton's third law, and what steps keep.

TEST(the_force_is_the_gradient_of_the_potential)
{
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

TEST(the_jacobian_agrees_with_differences)
{
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

TEST(the_exact_part_of_the_jacobian_is_exact)
{
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

TEST(pairs_keep_momentum)
{
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

TEST(two_bodies_pull_each_other_with_equal_force)
{
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

TEST(bodies_that_do_not_move_have_rows_of_zero)
{
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

TEST(the_acceleration_is_computed_once)
{
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

TEST(invariants_sum_motion_and_spin)
{
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
    foliot_invariants sum = foliot_world_get_invariants(b.world, NULL);
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

TEST(steps_keep_energy_and_momentum)
{
    bench b;
    begin(&b, 12);
    b.scene.integrator = FOLIOT_INTEGRATOR_KAHAN_LI8;
    b.scene.dt = 1.0 / 128;
    for (uint32_t k = 0; k < 11; k++)
        add_spring(&b, k, k + 1, 3, 0, 0.5, FOLIOT_DAMPING_ALONG);
    foliot_force_definition *f = add(&b, FOLIOT_FORCE_NEWTON);
    f->as.newton.constant = 0.5;
    f->as.newton.softening = 0.2;
    make(&b);
    foliot_invariants before = foliot_world_get_invariants(b.world, NULL);
    for (int n = 0; n < 500; n++)
        assert_int_equal(foliot_world_step(b.world, NULL, 0, NULL), FOLIOT_STATUS_OK);
    foliot_invariants after = foliot_world_get_invariants(b.world, NULL);
    check_near(after.kinetic + after.potential, before.kinetic + before.potential, 1e-7);
    check_gt(fabs(after.kinetic - before.kinetic), 0.1);
    for (int c = 0; c < 3; c++) {
        check_near(after.momentum[c], before.momentum[c], 1e-12);
        check_near(after.angular_momentum[c], before.angular_momentum[c], 1e-12);
    }
    end(&b);
}
