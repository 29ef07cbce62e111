// SPDX-License-Identifier: MIT
// body.c: a body's row across the tables. A row out of use is all zeros but its generation.
#include "sim/state/body.h"

#include <string.h>

#include "sim/math/vec3.h"
#include "sim/state/contact_cache.h"
#include "sim/state/state.h"
#include "sim/state/workspace.h"

// A share of the greatest moment. A body that turns about its length so much more easily than
// across it changes its spin faster within a step than contacts can follow, and gains energy from
// it.
#define SLENDER 0x1p-8

// Principal moments of the solid shape, uniform density; a rod's about its length are no less than
// SLENDER says.
static void shape_inertia(const foliot_shape *shape, double mass, double inertia[3])
{
    const double *h = shape->half;
    double r2 = shape->radius * shape->radius;
    inertia[0] = inertia[1] = inertia[2] = 0;
    if (shape->kind == FOLIOT_SHAPE_SPHERE) {
        inertia[0] = inertia[1] = inertia[2] = 0.4 * mass * r2;
    } else if (shape->kind == FOLIOT_SHAPE_BOX) {
        inertia[0] = mass / 3 * (h[1] * h[1] + h[2] * h[2]);
        inertia[1] = mass / 3 * (h[0] * h[0] + h[2] * h[2]);
        inertia[2] = mass / 3 * (h[0] * h[0] + h[1] * h[1]);
    } else if (shape->kind == FOLIOT_SHAPE_CAPSULE) {
        // A cylinder of length 2 h and two half balls, whose centres of mass are 3 r / 8 beyond its
        // ends.
        double length = 2 * h[2], cylinder = length / (length + shape->radius * 4 / 3);
        double tube = mass * cylinder, balls = mass - tube;
        double reach = h[2] * h[2] + 0.75 * h[2] * shape->radius;
        inertia[2] = tube * r2 / 2 + balls * r2 * 0.4;
        inertia[0] = inertia[1] =
            tube * (r2 / 4 + length * length / 12) + balls * (r2 * 0.4 + reach);
    }
    double most = foliot__larger(foliot__larger(inertia[0], inertia[1]), inertia[2]);
    for (int k = 0; k < 3; k++)
        inertia[k] = foliot__larger(inertia[k], SLENDER * most);
}

foliot__body_row foliot__body_row_of(const foliot_body_definition *body)
{
    bool still = body->is_static, plane = body->shape.kind == FOLIOT_SHAPE_PLANE;
    double inertia[3] = {0, 0, 0};
    if (!still && (body->inertia[0] != 0 || body->inertia[1] != 0 || body->inertia[2] != 0))
        memcpy(inertia, body->inertia, sizeof inertia);
    else if (!still)
        shape_inertia(&body->shape, body->mass, inertia);
    const double *extent = plane ? body->shape.normal : body->shape.half;
    return (foliot__body_row){
        .mass = still ? 0 : body->mass,
        .inertia_x = inertia[0],
        .inertia_y = inertia[1],
        .inertia_z = inertia[2],
        .constant_x = still ? 0 : body->force[0],
        .constant_y = still ? 0 : body->force[1],
        .constant_z = still ? 0 : body->force[2],
        .friction = body->friction,
        .restitution = body->restitution,
        .radius = body->shape.radius,
        .half_x = extent[0],
        .half_y = extent[1],
        .half_z = extent[2],
        .plane_offset = body->shape.offset,
        .shape_kind = body->shape.kind,
        .gravity_scale = body->gravity_scale,
        .linear_damping = body->linear_damping,
        .angular_damping = body->angular_damping,
        .category = body->category,
        .mask = body->mask,
        .group = (uint32_t)body->group,
    };
}

void foliot__body_set_orientation(foliot_world *world, uint32_t slot, const double q[4])
{
    double unit[4];
    foliot__quat_normalise(q, unit);
    foliot__orientation_w(world)[slot] = unit[0];
    foliot__orientation_x(world)[slot] = unit[1];
    foliot__orientation_y(world)[slot] = unit[2];
    foliot__orientation_z(world)[slot] = unit[3];
}

void foliot__body_write(foliot_world *world, uint32_t slot, const foliot_body_definition *body,
                        const double position[3], uint32_t flags)
{
    static const double zero[3];
    bool still = body->is_static;
    uint32_t kind = (still ? FOLIOT_BODY_STATIC : 0u) |
                    (body->is_kinematic ? FOLIOT_BODY_KINEMATIC : 0u) |
                    (body->is_sensor ? FOLIOT_BODY_SENSOR : 0u);
    foliot__body_row row = foliot__body_row_of(body);
    row.generation = foliot__generation(world)[slot];
#define WRITE(type, name) foliot__##name(world)[slot] = row.name;
    FOLIOT__BODY_DEFINITION(WRITE)
#undef WRITE
    foliot__tag(world)[slot] = body->tag;
    world->digests.session_dirty = 1;
    foliot__put_vector(foliot__position(world), slot, position);
    foliot__put_vector(foliot__velocity(world), slot, still ? zero : body->velocity);
    foliot__body_set_orientation(world, slot, body->orientation);
    foliot__put_vector(foliot__angular_velocity(world), slot,
                       still ? zero : body->angular_velocity);
    foliot__flags(world)[slot] = FOLIOT_BODY_ALIVE | kind | flags;
    foliot__body_refresh(world, slot);
    foliot__lattice_enter(world, slot);
}

void foliot__body_erase(foliot_world *world, uint32_t slot)
{
    uint32_t generation = foliot__generation(world)[slot] + 1;
#define ERASE_STATE(type, name, text) foliot__##name(world)[slot] = 0;
#define ERASE_BODY(type, name) foliot__##name(world)[slot] = 0;
    FOLIOT_BODY_STATE(ERASE_STATE)
    FOLIOT__BODY_DEFINITION(ERASE_BODY)
    FOLIOT__BODY_CACHE(ERASE_BODY)
#undef ERASE_STATE
#undef ERASE_BODY
    foliot__tag(world)[slot] = 0;
    world->digests.session_dirty = 1;
    foliot__generation(world)[slot] = generation;
    foliot__contact_forget(world, slot);
}

static bool may_become(const foliot_world *world, uint32_t slot, foliot_body_motion motion)
{
    uint32_t flags = foliot__flags(world)[slot];
    if (!(flags & FOLIOT_BODY_ALIVE) || (flags & FOLIOT_BODY_FROZEN))
        return false;
    if (motion == FOLIOT_MOTION_STATIC)
        return true;
    bool plane = foliot__shape_kind(world)[slot] == FOLIOT_SHAPE_PLANE;
    return !plane && (motion == FOLIOT_MOTION_KINEMATIC || foliot__mass(world)[slot] > 0);
}

bool foliot__body_set_motion(foliot_world *world, uint32_t slot, foliot_body_motion motion)
{
    static const double zero[3];
    const uint32_t of_motion =
        FOLIOT_BODY_STATIC | FOLIOT_BODY_KINEMATIC | FOLIOT_BODY_TARGETED | FOLIOT_BODY_ASLEEP;
    if (!may_become(world, slot, motion))
        return false;
    uint32_t *flags = &foliot__flags(world)[slot];
    *flags &= ~of_motion;
    if (motion == FOLIOT_MOTION_STATIC) {
        *flags |= FOLIOT_BODY_STATIC;
        foliot__put_vector(foliot__velocity(world), slot, zero);
        foliot__put_vector(foliot__angular_velocity(world), slot, zero);
    } else if (motion == FOLIOT_MOTION_KINEMATIC) {
        *flags |= FOLIOT_BODY_KINEMATIC;
    }
    foliot__velocity_changed(world, slot);
    foliot__body_refresh(world, slot);
    foliot__joints_changed(world);
    world->acceleration_valid = 0;
    return true;
}

void foliot__bodies_count(foliot_world *world)
{
    world->counts = (foliot__body_counts){0};
    for (uint32_t i = 0; i < world->body_count; i++) {
        uint32_t flags = foliot__flags(world)[i];
        if (!(flags & FOLIOT_BODY_ALIVE))
            continue;
        world->counts.kinematic += (flags & FOLIOT_BODY_KINEMATIC) != 0;
        world->counts.damped +=
            foliot__linear_damping(world)[i] != 0 || foliot__angular_damping(world)[i] != 0;
        world->counts.scaled += foliot__gravity_scale(world)[i] != 1;
        world->counts.filtered += foliot__category(world)[i] != 1 ||
                                  foliot__mask(world)[i] != UINT32_MAX ||
                                  foliot__group(world)[i] != 0;
    }
}

void foliot__body_freeze(foliot_world *world, uint32_t slot)
{
    static const double zero[3], upright[4] = {1, 0, 0, 0};
    foliot__v3 x = foliot__position(world), before = foliot__before_position(world);
    x.x[slot] = before.x[slot];
    x.y[slot] = before.y[slot];
    x.z[slot] = before.z[slot];
    foliot__put_vector(foliot__velocity(world), slot, zero);
    if (world->scene.rotates) { // elsewhere they are constant, and no state
        foliot__put_vector(foliot__angular_velocity(world), slot, zero);
        foliot__body_set_orientation(world, slot, upright);
    }
    foliot__flags(world)[slot] |= FOLIOT_BODY_FROZEN;
    foliot__joints_changed(world);
    foliot__flags(world)[slot] &= ~(uint32_t)FOLIOT_BODY_STARTED;
    foliot__put_vector(foliot__previous(world), slot, zero);
    foliot__body_refresh(world, slot);
    foliot__lattice_enter(world, slot);
    if (world->counters.frozen_bodies++ == 0) {
        world->counters.first_frozen_tick = world->tick;
        world->counters.first_frozen_body = foliot__body_id(world, slot);
    }
    foliot__event(world, &(foliot_event){.kind = FOLIOT_EVENT_FROZEN,
                                         .player = FOLIOT_NO_PLAYER,
                                         .body = foliot__body_id(world, slot)});
    world->acceleration_valid = 0;
}

void foliot__body_refresh(foliot_world *world, uint32_t slot)
{
    static const double zero[3];
    uint32_t flags = foliot__flags(world)[slot];
    bool moves =
        (flags & FOLIOT_BODY_ALIVE) && !(flags & (FOLIOT_BODY_STATIC | FOLIOT_BODY_KINEMATIC |
                                                  FOLIOT_BODY_FROZEN | FOLIOT_BODY_ASLEEP));
    foliot__v3 i = foliot__inertia(world), inverse = foliot__inverse_inertia(world);
    bool turns = moves && world->scene.rotates;
    foliot__inverse_mass(world)[slot] = moves ? 1 / foliot__mass(world)[slot] : 0;
    inverse.x[slot] = turns && i.x[slot] > 0 ? 1 / i.x[slot] : 0;
    inverse.y[slot] = turns && i.y[slot] > 0 ? 1 / i.y[slot] : 0;
    inverse.z[slot] = turns && i.z[slot] > 0 ? 1 / i.z[slot] : 0;
    foliot__v3 constant = foliot__constant(world);
    const double force[3] = {constant.x[slot], constant.y[slot], constant.z[slot]};
    foliot__put_vector(foliot__applied(world), slot, moves ? force : zero);
    foliot__put_vector(foliot__torque(world), slot, zero);
}
