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
