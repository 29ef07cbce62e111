// SPDX-License-Identifier: MIT
// Goal: whatever saved state a world accepts, every state that it steps to from there is accepted
// too. A state at the bounds was taken whose successor lay beyond them: a server that resumed from
// it could write no keyframe that restores. Method: states captured from true runs, some bytes of
// them put to the bounds and beyond, restored and stepped.
#include "../support/check.h"

#include <float.h>
#include <string.h>

#include "base/bytes.h"
#include "foliot/foliot.h"

#define STATE_BYTES_MAX 4096
#define LAB_TIME 40 // docs/reference/state.md
#define LAB_DT 48
#define STEPS 3

typedef struct place {
    foliot_body_definition bodies[2];
    foliot_force_definition spring;
    foliot_scene scene;
    foliot_world *world, *other;
    uint8_t bytes[STATE_BYTES_MAX];
    size_t length;
} place;

static void capture(place *p, const foliot_world *world)
{
    assert_int_equal(foliot_world_capture(world, p->bytes, sizeof p->bytes, &p->length),
                     FOLIOT_STATUS_OK);
}

static void open_place(place *p, foliot_integrator integrator)
{
    *p = (place){0};
    p->bodies[0] = p->bodies[1] = foliot_body_definition_default();
    p->bodies[1].position[0] = 1.3;
    p->spring = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
    p->spring.a = 0;
    p->spring.b = 1;
    p->spring.as.spring.stiffness = 7.1;
    p->scene = foliot_scene_default();
    p->scene.name = "bounds";
    p->scene.dt = 0.02;
    p->scene.integrator = integrator;
    p->scene.bodies = p->bodies;
    p->scene.body_count = 2;
    p->scene.forces = &p->spring;
    p->scene.force_count = 1;
    assert_int_equal(foliot_world_create(&p->scene, &p->world, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_create(&p->scene, &p->other, NULL), FOLIOT_STATUS_OK);
    for (int i = 0; i < STEPS; i++)
        assert_int_equal(foliot_world_step(p->world, NULL, 0, NULL), FOLIOT_STATUS_OK);
    capture(p, p->world);
}

static void close_place(place *p)
{
    foliot_world_destroy(p->world);
    foliot_world_destroy(p->other);
}

static void put(place *p, size_t at, double value)
{
    uint64_t bits = foliot__f64_bits(value);
    for (int k = 0; k < 8; k++)
        p->bytes[at + (size_t)k] = (uint8_t)(bits >> (8 * k));
}

// Puts the state into the world and steps; every state on the way goes into the other one, and both
// agree.
static void go_on(place *p)
{
    assert_int_equal(foliot_world_restore(p->world, p->bytes, p->length), FOLIOT_STATUS_OK);
    for (int i = 0; i < STEPS; i++) {
        capture(p, p->world);
        assert_int_equal(foliot_world_restore(p->other, p->bytes, p->length), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_world_step(p->world, NULL, 0, NULL), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_world_step(p->other, NULL, 0, NULL), FOLIOT_STATUS_OK);
        assert_true(foliot_digest_equal(foliot_world_get_digest(p->world),
                                        foliot_world_get_digest(p->other)));
    }
    capture(p, p->world);
    assert_int_equal(foliot_world_restore(p->other, p->bytes, p->length), FOLIOT_STATUS_OK);
}

TEST(a_clock_at_its_bound_goes_on_to_states_that_restore)
{
    static const double times[] = {0, 1, 0x1p40, 0x1p41, 0x1p60, DBL_MAX};
    static const double steps[] = {0, 0x1p-1074, 1, 0x1p40};
    place p;
    open_place(&p, FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET);
    for (size_t t = 0; t < sizeof times / sizeof *times; t++)
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            put(&p, LAB_TIME, times[t]);
            put(&p, LAB_DT, steps[s]);
            go_on(&p);
        }
    close_place(&p);
}

TEST(long_steps_lead_to_states_that_restore)
{
    place p;
    open_place(&p, FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET);
    for (int i = 0; i < 4; i++)
        assert_int_equal(foliot_world_step_dt(p.world, 0x1p39, NULL), FOLIOT_STATUS_OK);
    capture(&p, p.world);
    go_on(&p);
    close_place(&p);
}

TEST(a_clock_that_no_step_leads_to_is_refused)
{
    static const struct {
        size_t at;
        double value;
    } bad[] = {{LAB_TIME, -1},
               {LAB_DT, -1},
               {LAB_DT, 0x1p41},
               {LAB_TIME, (double)__builtin_inf()},
               {LAB_DT, (double)__builtin_inf()},
               {LAB_TIME, (double)__builtin_nan("")},
               {LAB_DT, (double)__builtin_nan("")}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        place p;
        open_place(&p, FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET);
        foliot_digest before = foliot_world_get_digest(p.world);
        put(&p, bad[i].at, bad[i].value);
        assert_int_equal(foliot_world_restore(p.world, p.bytes, p.length), FOLIOT_STATUS_CORRUPT);
        assert_true(foliot_digest_equal(foliot_world_get_digest(p.world), before));
        close_place(&p);
    }
}

TEST(no_other_scheme_has_the_laboratorys_clock)
{
    static const size_t at[] = {LAB_TIME, LAB_DT};
    for (int i = 0; i < 2; i++) {
        place p;
        open_place(&p, FOLIOT_INTEGRATOR_VELOCITY_VERLET);
        go_on(&p);
        put(&p, at[i], 0.02);
        assert_int_equal(foliot_world_restore(p.world, p.bytes, p.length), FOLIOT_STATUS_CORRUPT);
        close_place(&p);
    }
}
