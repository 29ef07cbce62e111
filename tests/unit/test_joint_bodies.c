// SPDX-License-Identifier: MIT
// test_joint_bodies.c: goal: joints that their bodies cannot take, as one that holds the direction
// of a point, which does not turn, do no harm: a command that makes one is refused, and worlds that
// have come to one otherwise are stepped. Method: a body that is freed after it was joined, and
// captured bytes with every kind of joint between every two bodies. Tier: check
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "foliot/foliot.h"
#include "scene_builder.h"
#include "sim/state/state.h"
#include "status.h"

#define HAS(kind, field) FOLIOT_COMMAND_HAS(kind, field)
// In a joint's record: kind and both bodies, 4 bytes each; both anchors, before axis and start.
#define AT_KIND 4
#define AT_ANCHORS (FOLIOT__JOINT_RECORD_BYTES - (4 + 9) * 8)

enum { BOX, PILLAR, POINT }; // a box of 1 m, a static point, a point that moves

typedef struct stage {
    scene_builder builder;
    foliot_world *world;
    uint32_t sequence;
} stage;

static stage *stage_new(void)
{
    stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->builder = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    builder_add_box(&s->builder, 2, 0.5, 0.5, 0.5, 0, 0, 5);
    builder_set_spin(&s->builder, 1, 2, 3);
    uint32_t pillar = builder_add_point(&s->builder, 1, 2, 0, 5);
    builder_add_point(&s->builder, 1, -2, 0, 5);
    s->builder.bodies[pillar].is_static = true;
    s->builder.scene.gravity[2] = -9.81;
    s->builder.scene.commands_max = 8;
    s->builder.scene.joints_max = 4;
    s->builder.scene.bodies_max = 4;
    s->world = builder_create_world(&s->builder);
    return s;
}

static void stage_free(stage *s)
{
    foliot_world_destroy(s->world);
    builder_free(&s->builder);
    free(s);
}

static foliot_command_reason issue(stage *s, foliot_command command)
{
    command.sequence = ++s->sequence;
    return step_command(s->world, &command);
}

// A box and another, held where the other is.
static foliot_command join(const stage *s, foliot_constraint_kind kind, uint32_t other)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_joint);
    c.fields = HAS(joint, kind) | HAS(joint, a) | HAS(joint, b) | HAS(joint, anchor_a);
    c.as.joint.kind = kind;
    c.as.joint.a = foliot_world_get_body_id(s->world, BOX);
    c.as.joint.b = foliot_world_get_body_id(s->world, other);
    c.as.joint.anchor_a[0] = other == PILLAR ? 2 : -2;
    return c;
}

static foliot_command set_motion(const stage *s, uint32_t body, foliot_body_motion motion)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_set_body);
    c.fields = HAS(set_body, body) | HAS(set_body, motion);
    c.as.set_body.body = foliot_world_get_body_id(s->world, body);
    c.as.set_body.motion = motion;
    return c;
}

// Whatever was restored is stepped, and stays among the numbers.
static void run_second(const stage *s)
{
    for (int i = 0; i < 60; i++)
        demand(foliot_world_step(s->world, NULL, 0, NULL));
    for (uint32_t i = BOX; i <= POINT; i++) {
        foliot_body_state body = foliot_world_get_body_state(s->world, i);
        for (int k = 0; k < 3; k++)
            assert_true(body.position[k] > -1000 && body.position[k] < 1000);
    }
}

TEST(a_point_that_holds_a_weld_may_be_freed)
{
    stage *s = stage_new();
    foliot_command weld = join(s, FOLIOT_CONSTRAINT_WELD, POINT);
    assert_int_equal(issue(s, weld), FOLIOT_COMMAND_REASON_motion);
    assert_int_equal(issue(s, set_motion(s, POINT, FOLIOT_MOTION_STATIC)),
                     FOLIOT_COMMAND_REASON_none);
    assert_int_equal(issue(s, weld), FOLIOT_COMMAND_REASON_none);
    assert_int_equal(issue(s, set_motion(s, POINT, FOLIOT_MOTION_DYNAMIC)),
                     FOLIOT_COMMAND_REASON_none);
    run_second(s);
    stage_free(s);
}

// Puts another joint into the bytes of a world with one. False: it is not restored.
static bool forge(stage *s, const uint32_t kind_and_bodies[3], const double anchors[6])
{
    size_t length;
    demand(foliot_world_capture(s->world, NULL, 0, &length));
    uint8_t *bytes = malloc(length);
    assert_non_null(bytes);
    demand(foliot_world_capture(s->world, bytes, length, &length));
    uint8_t *record = bytes + length - FOLIOT__JOINT_RECORD_BYTES; // the last thing there
    memcpy(record + AT_KIND, kind_and_bodies, 12);
    memcpy(record + AT_ANCHORS, anchors, 6 * sizeof *anchors);
    foliot_status status = foliot_world_restore(s->world, bytes, length);
    free(bytes);
    return status == FOLIOT_STATUS_OK;
}

TEST(forged_joints_are_refused_or_stepped)
{
    unsigned restored = 0, refused = 0;
    for (uint32_t draw = 0; draw < 5 * 3 * 4 * 4; draw++) {
        uint32_t b = draw / 15 % 4;
        const uint32_t joint[3] = {draw % 5, draw / 5 % 3, b == 3 ? FOLIOT_NO_BODY : b};
        const double anchors[6] = {draw / 60 & 1 ? 1.5 : 0, 0, 0, draw / 120 & 1 ? 1.5 : 0, 0, 0};
        stage *s = stage_new();
        assert_int_equal(issue(s, join(s, FOLIOT_CONSTRAINT_BALL, PILLAR)),
                         FOLIOT_COMMAND_REASON_none);
        if (forge(s, joint, anchors)) {
            restored++;
            run_second(s);
        } else {
            refused++;
        }
        stage_free(s);
    }
    assert_true(restored > 100 && refused > 50); // rods, and bodies that hold themselves
}
