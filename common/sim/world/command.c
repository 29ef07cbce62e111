// SPDX-License-Identifier: MIT
// command.c: commands that make, remove, move and change bodies, and bodies that are sent to a
// pose. Knows nothing of their source. A command is checked before anything changes, so that a
// refused one leaves no trace but its event.
#include "sim/world/command_internal.h"

#include <string.h>

#include "base/assert.h"
#include "foliot/digest.h"
#include "foliot/query.h"
#include "sim/constraint/constraint.h"
#include "sim/force/force.h"
#include "sim/island/sleep.h"
#include "sim/math/vec3.h"
#include "sim/scene/scene.h"
#include "sim/state/body.h"
#include "sim/state/contact_cache.h"
#include "sim/state/state.h"
#include "sim/state/workspace.h"
#include "sim/world/stage.h"

#define MASS_SCALE_MAX 0x1p20
#define OVERLAP_SHARE 0.96875 // of a shape: a body that merely touches may be spawned

// Data that the commands of one tick share.
typedef struct batch {
    foliot_world *world;
    uint32_t free_slots; // beyond those that players who may still join need
    uint32_t search;     // no free slot lies before it
} batch;

// -- numbers

static bool in_range(const float *values, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        if (!foliot__is_coordinate((double)values[k]))
            return false;
    return true;
}

static bool is_rotation(const float q[4])
{
    double length2 = 0;
    for (unsigned k = 0; k < 4; k++)
        length2 += (double)q[k] * (double)q[k];
    return length2 > 1e-12 && length2 < 1e12;
}

static void widen(const float *values, unsigned count, double *out)
{
    for (unsigned k = 0; k < count; k++)
        out[k] = (double)values[k];
}

// -- spawn and despawn

static uint32_t free_slot(batch *b)
{
    foliot_world *world = b->world;
    if (b->free_slots == 0)
        return FOLIOT_NO_BODY;
    for (; b->search < world->body_count; b->search++)
        if (!(foliot__flags(world)[b->search] & FOLIOT_BODY_ALIVE))
            return b->search;
    return world->body_count < world->bodies_max ? world->body_count++ : FOLIOT_NO_BODY;
}

// The prototype, changed by the fields of the command.
static reason read_spawn(const foliot_world *world, const foliot_command *c,
                         foliot_body_definition *body)
{
    if (c->as.spawn.prototype >= world->scene.prototype_count)
        return FOLIOT_COMMAND_REASON_prototype;
    *body = foliot__prototypes(world)[c->as.spawn.prototype];
    double scale = GIVEN(c, spawn, mass_scale) ? (double)c->as.spawn.mass_scale : 1;
    bool moves = !body->is_static;
    if (!foliot__are_coordinates(c->as.spawn.position, 3) || !(scale >= 1 / MASS_SCALE_MAX) ||
        !(scale <= MASS_SCALE_MAX))
        return FOLIOT_COMMAND_REASON_range;
    if (GIVEN(c, spawn, orientation)) {
        if (!is_rotation(c->as.spawn.orientation))
            return FOLIOT_COMMAND_REASON_range;
        widen(c->as.spawn.orientation, 4, body->orientation);
    }
    if ((GIVEN(c, spawn, velocity) || GIVEN(c, spawn, angular_velocity)) && !moves)
        return FOLIOT_COMMAND_REASON_motion;
    if (GIVEN(c, spawn, velocity)) {
        if (!in_range(c->as.spawn.velocity, 3))
            return FOLIOT_COMMAND_REASON_range;
        widen(c->as.spawn.velocity, 3, body->velocity);
    }
    if (GIVEN(c, spawn, angular_velocity)) {
        if (!in_range(c->as.spawn.angular_velocity, 3))
            return FOLIOT_COMMAND_REASON_range;
        widen(c->as.spawn.angular_velocity, 3, body->angular_velocity);
    }
    memcpy(body->position, c->as.spawn.position, sizeof body->position);
    body->mass *= scale;
    vec3_store(vec3_scale(vec3_of(body->inertia), scale), body->inertia);
    if (GIVEN(c, spawn, tag))
        body->tag = c->as.spawn.tag;
    return FINE;
}

typedef struct meeting {
    const foliot_world *world;
    foliot__filter filter;
} meeting;

static bool solid_for(void *user, foliot_body_id body)
{
    uint32_t slot = foliot_body_id_get_slot(body);
    const meeting *m = user;
    return !(foliot__flags(m->world)[slot] & FOLIOT_BODY_SENSOR) &&
           foliot__filters_match(foliot__filter_of(m->world, slot), m->filter);
}

// Whether the body would start inside another one that it collides with.
static bool starts_inside(const foliot_world *world, const foliot_body_definition *body)
{
    foliot_shape shape = body->shape;
    if (body->is_sensor || shape.kind == FOLIOT_SHAPE_POINT || shape.kind == FOLIOT_SHAPE_PLANE)
        return false;
    shape.radius *= OVERLAP_SHARE;
    vec3_store(vec3_scale(vec3_of(shape.half), OVERLAP_SHARE), shape.half);
    meeting m = {world, {body->category, body->mask, (uint32_t)body->group}};
    const foliot_query_filter filter = {.accepts = solid_for, .user = &m};
    double q[4];
    foliot__quat_normalise(body->orientation, q);
    return foliot_world_overlap_shape(world, &shape, body->position, q, &filter, NULL, 0) > 0;
}

static reason spawn_body(batch *b, const foliot_command *c)
{
    foliot_world *world = b->world;
    foliot_body_definition body;
    reason refused = read_spawn(world, c, &body);
    if (refused != FINE)
        return refused;
    if (starts_inside(world, &body))
        return FOLIOT_COMMAND_REASON_overlap;
    uint32_t slot = free_slot(b);
    if (slot == FOLIOT_NO_BODY)
        return FOLIOT_COMMAND_REASON_full;
    b->free_slots--;
    foliot__body_write(world, slot, &body, body.position, 0);
    foliot__prototype(world)[slot] = c->as.spawn.prototype + 1;
    foliot__sleep_change(world, slot);
    world->digests.definition_dirty = 1;
    world->acceleration_valid = 0;
    foliot_event event = foliot__command_event(FOLIOT_EVENT_SPAWNED, c);
    event.body = foliot__body_id(world, slot);
    foliot__event(world, &event);
    return FINE;
}

void foliot__body_despawn(foliot_world *world, uint32_t slot, uint32_t player)
{
    foliot__event(world, &(foliot_event){.kind = FOLIOT_EVENT_DESPAWNED,
                                         .player = player,
                                         .body = foliot__body_id(world, slot)});
    foliot__sleep_change(world, slot);
    for (uint32_t i = 0; i < world->constraint_count; i++) {
        const foliot_constraint_definition *d = &foliot__constraint(world)[i];
        if (foliot__constraint_is_broken(world, i) || (d->a != slot && d->b != slot))
            continue;
        foliot__constraint_break(world, i, FOLIOT_BREAK_COMMAND);
        foliot__joints_changed(world);
        world->input.links_changed = 1;
    }
    for (uint32_t p = 0; p < world->player.limit; p++) {
        if (foliot__player_body(world, p) == slot)
            foliot__sleep_change_player(world, p);
        if (foliot__players(world)[p].body == slot)
            foliot__players(world)[p].body = FOLIOT_NO_BODY;
        if (foliot__driven(world)[p] == slot)
            foliot__driven(world)[p] = FOLIOT_NO_BODY;
    }
    foliot__body_erase(world, slot);
    if (slot < world->scene.body_count) // forces of the scene refer only to its own bodies
        foliot__forces_body_gone(world);
    world->digests.definition_dirty = 1;
    world->acceleration_valid = 0;
}

// -- motion

static reason push_body(batch *b, const foliot_command *c)
{
    foliot_world *world = b->world;
    uint32_t slot = foliot__body_slot(world, c->as.impulse.body);
    if (slot == FOLIOT_NO_BODY)
        return FOLIOT_COMMAND_REASON_body;
    const uint32_t not_moved = FOLIOT_BODY_STATIC | FOLIOT_BODY_KINEMATIC | FOLIOT_BODY_FROZEN;
    if (foliot__flags(world)[slot] & not_moved)
        return FOLIOT_COMMAND_REASON_motion;
    if (GIVEN(c, impulse, point) && !foliot__are_coordinates(c->as.impulse.point, 3))
        return FOLIOT_COMMAND_REASON_range;
    foliot__sleep_change(world, slot);
    vec3 x = foliot__v3_get(foliot__position(world), slot);
    double given[3] = {0, 0, 0}, mass = foliot__mass(world)[slot];
    if (GIVEN(c, impulse, linear))
        widen(c->as.impulse.linear, 3, given);
    vec3 linear = vec3_of(given), angular = {0, 0, 0};
    if (GIVEN(c, impulse, angular)) {
        widen(c->as.impulse.angular, 3, given);
        angular = vec3_of(given);
    }
    if (GIVEN(c, impulse, point)) {
        vec3 arm = vec3_sub(vec3_of(c->as.impulse.point), x);
        angular = vec3_add(angular, vec3_cross(arm, linear));
    }
    foliot__v3_add(foliot__velocity(world), slot, vec3_divide(linear, mass));
    if (world->scene.rotates) {
        // Change of angular velocity by an angular impulse, both in world axes.
        vec3 moment = foliot__v3_get(foliot__inertia(world), slot);
        quat q = foliot__quat_get(world, slot);
        vec3 v = quat_rotate(quat_conjugate(q), angular);
        v.x = moment.x > 0 ? v.x / moment.x : 0;
        v.y = moment.y > 0 ? v.y / moment.y : 0;
        v.z = moment.z > 0 ? v.z / moment.z : 0;
        foliot__v3_add(foliot__angular_velocity(world), slot, quat_rotate(q, v));
    }
    foliot__velocity_changed(world, slot);
    foliot__sleep_change(world, slot);
    return FINE;
}

// The body is elsewhere: none of its contacts is valid.
static void leave_place(foliot_world *world, uint32_t slot)
{
    foliot__contact_forget(world, slot);
    world->acceleration_valid = 0;
    foliot__joints_changed(world);
}

static reason check_motion(const foliot_world *world, uint32_t slot, const foliot_command *c)
{
    uint32_t flags = foliot__flags(world)[slot];
    bool moves = GIVEN(c, set_motion, velocity) || GIVEN(c, set_motion, angular_velocity);
    if (flags & FOLIOT_BODY_FROZEN || (flags & FOLIOT_BODY_STATIC && moves))
        return FOLIOT_COMMAND_REASON_motion;
    if (foliot__shape_kind(world)[slot] == FOLIOT_SHAPE_PLANE) // its place is its shape
        return FOLIOT_COMMAND_REASON_motion;
    if ((GIVEN(c, set_motion, orientation) || GIVEN(c, set_motion, angular_velocity)) &&
        !world->scene.rotates)
        return FOLIOT_COMMAND_REASON_motion;
    if ((GIVEN(c, set_motion, position) &&
         !foliot__are_coordinates(c->as.set_motion.position, 3)) ||
        (GIVEN(c, set_motion, velocity) && !in_range(c->as.set_motion.velocity, 3)) ||
        (GIVEN(c, set_motion, angular_velocity) &&
         !in_range(c->as.set_motion.angular_velocity, 3)) ||
        (GIVEN(c, set_motion, orientation) && !is_rotation(c->as.set_motion.orientation)))
        return FOLIOT_COMMAND_REASON_range;
    return FINE;
}

static reason set_motion(batch *b, const foliot_command *c)
{
    foliot_world *world = b->world;
    uint32_t slot = foliot__body_slot(world, c->as.set_motion.body);
    if (slot == FOLIOT_NO_BODY)
        return FOLIOT_COMMAND_REASON_body;
    reason refused = check_motion(world, slot, c);
    if (refused != FINE)
        return refused;
    double v[3], q[4];
    foliot__sleep_change(world, slot);
    foliot__target_drop(world, slot);
    if (GIVEN(c, set_motion, position))
        foliot__put_vector(foliot__position(world), slot, c->as.set_motion.position);
    if (GIVEN(c, set_motion, orientation)) {
        widen(c->as.set_motion.orientation, 4, q);
        foliot__body_set_orientation(world, slot, q);
    }
    if (GIVEN(c, set_motion, position) || GIVEN(c, set_motion, orientation))
        leave_place(world, slot);
    if (GIVEN(c, set_motion, velocity)) {
        widen(c->as.set_motion.velocity, 3, v);
        foliot__put_vector(foliot__velocity(world), slot, v);
    }
    if (GIVEN(c, set_motion, angular_velocity)) {
        widen(c->as.set_motion.angular_velocity, 3, v);
        foliot__put_vector(foliot__angular_velocity(world), slot, v);
    }
    foliot__velocity_changed(world, slot);
    foliot__lattice_enter(world, slot);
    foliot__sleep_change(world, slot);
    return FINE;
}

// -- kinematic bodies on their way to a pose
//
// The state is the flag FOLIOT_BODY_TARGETED and the velocity; the table `target` is read only in
// the tick that writes it.

static double *target_of(const foliot_world *world, uint32_t slot)
{
    return foliot__target(world) + (size_t)FOLIOT__TARGET_DOUBLES * slot;
}

static void read_pose(const foliot_world *world, uint32_t slot, double pose[FOLIOT__TARGET_DOUBLES])
{
    foliot_body_state body = foliot_world_get_body_state(world, foliot__body_id(world, slot));
    memcpy(pose, body.position, sizeof body.position);
    memcpy(pose + 3, body.orientation, sizeof body.orientation);
}

static void velocity_towards(const foliot_world *world, uint32_t slot, const double *target,
                             double velocity[3], double angular_velocity[3])
{
    double pose[FOLIOT__TARGET_DOUBLES];
    read_pose(world, slot, pose);
    double dt = world->scene.dt;
    vec3 spin = {0, 0, 0};
    if (world->scene.rotates) { // the constant one that turns the body in dt, the shorter way
        quat turn = quat_multiply(quat_of(target + 3), quat_conjugate(quat_of(pose + 3)));
        double sine = vec3_length(quat_vector(turn));
        double angle = 2 * foliot_atan2(sine, turn.w < 0 ? -turn.w : turn.w);
        double scale = sine > 0 ? (turn.w < 0 ? -angle : angle) / (sine * dt) : 0;
        spin = vec3_scale(quat_vector(turn), scale);
    }
    vec3_store(vec3_divide(vec3_sub(vec3_of(target), vec3_of(pose)), dt), velocity);
    vec3_store(spin, angular_velocity);
}

bool foliot__target_set(foliot_world *world, uint32_t slot, const double position[3],
                        const double orientation[4])
{
    uint32_t *flags = &foliot__flags(world)[slot];
    if (world->capacity.targets == 0 || !(*flags & FOLIOT_BODY_ALIVE) ||
        !(*flags & FOLIOT_BODY_KINEMATIC) || (*flags & FOLIOT_BODY_FROZEN))
        return false;
    double target[FOLIOT__TARGET_DOUBLES], v[3], w[3];
    if (*flags & FOLIOT__TARGET_NEW)
        memcpy(target, target_of(world, slot), sizeof target);
    else
        read_pose(world, slot, target);
    if (position)
        memcpy(target, position, 3 * sizeof *position);
    if (orientation && world->scene.rotates)
        foliot__quat_normalise(orientation, target + 3);
    velocity_towards(world, slot, target, v, w);
    if (!foliot__are_coordinates(target, 3) || !foliot__are_coordinates(v, 3) ||
        !foliot__are_coordinates(w, 3))
        return false;
    memcpy(target_of(world, slot), target, sizeof target);
    *flags |= FOLIOT_BODY_TARGETED | FOLIOT__TARGET_NEW;
    return true;
}

void foliot__target_drop(foliot_world *world, uint32_t slot)
{
    foliot__flags(world)[slot] &= ~((uint32_t)FOLIOT_BODY_TARGETED | FOLIOT__TARGET_NEW);
}

void foliot__targets_begin(foliot_world *world)
{
    if (world->capacity.targets == 0)
        return;
    uint32_t *flags = foliot__flags(world);
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (!(flags[i] & FOLIOT_BODY_TARGETED))
            continue;
        double v[3] = {0, 0, 0}, w[3] = {0, 0, 0};
        if (flags[i] & FOLIOT__TARGET_NEW)
            velocity_towards(world, i, target_of(world, i), v, w);
        else
            flags[i] &= ~(uint32_t)FOLIOT_BODY_TARGETED;
        flags[i] &= ~FOLIOT__TARGET_NEW;
        foliot__put_vector(foliot__velocity(world), i, v);
        foliot__put_vector(foliot__angular_velocity(world), i, w);
    }
}

void foliot__targets_end(foliot_world *world)
{
    if (world->capacity.targets == 0)
        return;
    double *const q[4] = {foliot__orientation_w(world), foliot__orientation_x(world),
                          foliot__orientation_y(world), foliot__orientation_z(world)};
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (!(foliot__flags(world)[i] & FOLIOT_BODY_TARGETED))
            continue;
        const double *target = target_of(world, i);
        foliot__put_vector(foliot__position(world), i, target);
        for (int k = 0; k < 4 && world->scene.rotates; k++)
            q[k][i] = target[3 + k];
        world->acceleration_valid = 0;
    }
}

static reason aim_body(batch *b, const foliot_command *c)
{
    foliot_world *world = b->world;
    uint32_t slot = foliot__body_slot(world, c->as.target.body);
    if (slot == FOLIOT_NO_BODY)
        return FOLIOT_COMMAND_REASON_body;
    bool turns = GIVEN(c, target, orientation), goes = GIVEN(c, target, position);
    if (!(foliot__flags(world)[slot] & FOLIOT_BODY_KINEMATIC) || (turns && !world->scene.rotates))
        return FOLIOT_COMMAND_REASON_motion;
    if ((goes && !foliot__are_coordinates(c->as.target.position, 3)) ||
        (turns && !is_rotation(c->as.target.orientation)))
        return FOLIOT_COMMAND_REASON_range;
    double q[4], unit[4];
    if (turns) {
        widen(c->as.target.orientation, 4, q);
        foliot__quat_normalise(q, unit);
    }
    bool sent =
        foliot__target_set(world, slot, goes ? c->as.target.position : NULL, turns ? unit : NULL);
    return sent ? FINE : FOLIOT_COMMAND_REASON_range;
}

// -- properties

static bool not_negative(float value)
{
    return foliot__within((double)value, 0, FOLIOT_POSITION_MAX);
}

static reason check_properties(const foliot_world *world, uint32_t slot, const foliot_command *c)
{
    bool plane = foliot__shape_kind(world)[slot] == FOLIOT_SHAPE_PLANE;
    if ((GIVEN(c, set_body, friction) && !not_negative(c->as.set_body.friction)) ||
        (GIVEN(c, set_body, restitution) &&
         !(c->as.set_body.restitution >= 0 && c->as.set_body.restitution <= 1)) ||
        (GIVEN(c, set_body, gravity_scale) && !in_range(&c->as.set_body.gravity_scale, 1)) ||
        (GIVEN(c, set_body, linear_damping) && !not_negative(c->as.set_body.linear_damping)) ||
        (GIVEN(c, set_body, angular_damping) && !not_negative(c->as.set_body.angular_damping)) ||
        (GIVEN(c, set_body, category) && c->as.set_body.category == 0))
        return FOLIOT_COMMAND_REASON_range;
    if (!GIVEN(c, set_body, motion))
        return FINE;
    if (c->as.set_body.motion > FOLIOT_MOTION_KINEMATIC)
        return FOLIOT_COMMAND_REASON_range;
    bool massless = !(foliot__mass(world)[slot] > 0);
    if (foliot__flags(world)[slot] & FOLIOT_BODY_FROZEN ||
        (plane && c->as.set_body.motion != FOLIOT_MOTION_STATIC) ||
        (massless && c->as.set_body.motion == FOLIOT_MOTION_DYNAMIC))
        return FOLIOT_COMMAND_REASON_motion;
    return FINE;
}

static reason set_body(batch *b, const foliot_command *c)
{
    foliot_world *world = b->world;
    uint32_t slot = foliot__body_slot(world, c->as.set_body.body);
    if (slot == FOLIOT_NO_BODY)
        return FOLIOT_COMMAND_REASON_body;
    reason refused = check_properties(world, slot, c);
    if (refused != FINE)
        return refused;
    if (GIVEN(c, set_body, tag)) {
        foliot__tag(world)[slot] = c->as.set_body.tag;
        world->digests.session_dirty = 1;
    }
    const uint32_t physical =
        ~(uint32_t)(FOLIOT_COMMAND_HAS(set_body, tag) | FOLIOT_COMMAND_HAS(set_body, body));
    if (!(c->fields & physical))
        return FINE; // a new tag wakes nobody
    foliot__sleep_change(world, slot);
#define PUT(name, table)                                                                           \
    if (GIVEN(c, set_body, name))                                                                  \
        foliot__##table(world)[slot] = c->as.set_body.name;
#define PUT_WIDE(name)                                                                             \
    if (GIVEN(c, set_body, name))                                                                  \
        foliot__##name(world)[slot] = (double)c->as.set_body.name;
    PUT_WIDE(friction)
    PUT_WIDE(restitution)
    PUT_WIDE(gravity_scale)
    PUT_WIDE(linear_damping)
    PUT_WIDE(angular_damping)
    PUT(category, category)
    PUT(mask, mask)
    if (GIVEN(c, set_body, group))
        foliot__group(world)[slot] = (uint32_t)c->as.set_body.group;
#undef PUT
#undef PUT_WIDE
    if (GIVEN(c, set_body, motion)) {
        foliot__target_drop(world, slot);
        FOLIOT_ASSERT(foliot__body_set_motion(
            world, slot, (foliot_body_motion)c->as.set_body.motion)); // as check_properties found
        foliot__forces_body_gone(world);
    }
    if (GIVEN(c, set_body, category) || GIVEN(c, set_body, mask) || GIVEN(c, set_body, group))
        leave_place(world, slot); // bodies in contact with it may let it pass from now on
    foliot__sleep_change(world, slot);
    world->acceleration_valid = 0;
    world->digests.definition_dirty = 1;
    return FINE;
}

// -- all of them

static reason apply_command(batch *b, const foliot_command *c)
{
    reason refused = FINE;
    if (!foliot_command_valid(c, &refused))
        return refused;
    if (b->world->session.ended)
        return FOLIOT_COMMAND_REASON_ended;
    switch ((foliot_command_kind)c->kind) {
    case FOLIOT_COMMAND_spawn:
        return spawn_body(b, c);
    case FOLIOT_COMMAND_despawn: {
        uint32_t slot = foliot__body_slot(b->world, c->as.despawn.body);
        if (slot == FOLIOT_NO_BODY)
            return FOLIOT_COMMAND_REASON_body;
        uint32_t flags = foliot__flags(b->world)[slot];
        foliot__body_despawn(b->world, slot, FOLIOT_NO_PLAYER);
        // The slot of a player's body is not free: a JOIN of the same player may need it again.
        if (slot >= b->world->scene.body_count && !(flags & FOLIOT_BODY_PLAYER)) {
            b->free_slots++;
            b->search = slot < b->search ? slot : b->search;
        }
        return FINE;
    }
    case FOLIOT_COMMAND_impulse:
        return push_body(b, c);
    case FOLIOT_COMMAND_set_motion:
        return set_motion(b, c);
    case FOLIOT_COMMAND_target:
        return aim_body(b, c);
    case FOLIOT_COMMAND_set_body:
        return set_body(b, c);
    case FOLIOT_COMMAND_joint:
        return foliot__command_joint(b->world, c);
    case FOLIOT_COMMAND_set_joint:
        return foliot__command_set_joint(b->world, c);
    case FOLIOT_COMMAND_break_joint:
        return foliot__command_break_joint(b->world, c);
    case FOLIOT_COMMAND_control:
        return foliot__command_control(b->world, c);
    case FOLIOT_COMMAND_gravity:
        return foliot__command_gravity(b->world, c);
    case FOLIOT_COMMAND_var:
        return foliot__command_var(b->world, c);
    case FOLIOT_COMMAND_end:
        return foliot__command_end(b->world, c);
    default:
        return FOLIOT_COMMAND_REASON_kind;
    }
}

bool foliot__commands_ordered(const foliot_world *world, const foliot_command *commands,
                              uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (commands[i].sequence <= commands[i - 1].sequence)
            return false;
    return count <= world->scene.commands_max;
}

void foliot__commands_apply(foliot_world *world, const foliot_command *commands, uint32_t count)
{
    if (count == 0)
        return;
    // Slots that are free now, without those that players who have not joined will need.
    uint32_t used = 0, reserved = 0, slots = world->bodies_max - world->scene.body_count;
    for (uint32_t i = world->scene.body_count; i < world->body_count; i++)
        used += foliot__flags(world)[i] & FOLIOT_BODY_ALIVE;
    for (uint32_t p = 0; p < world->player.limit; p++)
        reserved += !world->player.bodiless && !foliot__players(world)[p].joined;
    batch b = {.world = world,
               .free_slots = slots > used + reserved ? slots - used - reserved : 0,
               .search = world->scene.body_count};
    for (uint32_t i = 0; i < count; i++) {
        reason refused = apply_command(&b, &commands[i]);
        if (refused == FINE)
            continue;
        world->counters.commands_refused++;
        foliot_event event = foliot__command_event(FOLIOT_EVENT_COMMAND_REFUSED, &commands[i]);
        event.reason = refused;
        foliot__event(world, &event);
    }
}
