// SPDX-License-Identifier: MIT
// command_session.c: commands that concern no single body: the body that a player drives, joints,
// gravity, session variables, the end. Variables are kept ascending by key, so that equal stores
// have equal bytes.
#include <string.h>

#include "sim/constraint/constraint.h"
#include "sim/force/force.h"
#include "sim/island/sleep.h"
#include "sim/math/vec3.h"
#include "sim/scene/scene.h"
#include "sim/state/state.h"
#include "sim/world/command_internal.h"
#include "sim/state/workspace.h"
#include "sim/world/state_format.h"

#define APART_MAX 0x1p-6 // of the arms: a joint keeps two anchors together, it does not join them

reason foliot__command_control(foliot_world *world, const foliot_command *c)
{
    uint32_t player = c->as.control.player, slot = FOLIOT_NO_BODY;
    if (player >= world->player.limit || !foliot__players(world)[player].joined)
        return FOLIOT_COMMAND_REASON_player;
    if (GIVEN(c, control, body) && c->as.control.body.value != 0) {
        slot = foliot__body_slot(world, c->as.control.body);
        if (slot == FOLIOT_NO_BODY)
            return FOLIOT_COMMAND_REASON_body;
    }
    foliot__sleep_change_player(world, player);
    uint32_t *driven = &foliot__driven(world)[player];
    if (*driven != FOLIOT_NO_BODY)
        foliot__body_refresh(world, *driven); // nobody pushes it any more
    *driven = slot;
    foliot__sleep_change_player(world, player);
    world->digests.session_dirty = 1;
    world->acceleration_valid = 0;
    return FINE;
}

// -- joints
//
// A joint that a command made lies in a row beyond the scene's constraints, and as bytes in the
// state (state/state.c).

// -- where the two bodies are

typedef struct pose {
    vec3 x;
    quat q;
} pose;

static pose pose_of(const foliot_world *world, uint32_t slot)
{
    if (slot == FOLIOT_NO_BODY)
        return (pose){.q = {1, 0, 0, 0}};
    return (pose){foliot__v3_get(foliot__position(world), slot), foliot__quat_get(world, slot)};
}

static vec3 to_world(const pose *p, vec3 arm)
{
    return vec3_add(quat_rotate(p->q, arm), p->x);
}

static bool turns(const foliot_world *world, uint32_t slot)
{
    return slot != FOLIOT_NO_BODY && foliot__inertia_x(world)[slot] > 0;
}

static bool fixed(const foliot_world *world, uint32_t slot)
{
    return slot == FOLIOT_NO_BODY || foliot__flags(world)[slot] & FOLIOT_BODY_STATIC;
}

// -- the given fields

static void apply(double *to, double from, uint32_t given)
{
    if (given)
        *to = from;
}

static void apply_vector(double to[3], const double from[3], uint32_t given)
{
    if (given)
        memcpy(to, from, 3 * sizeof *to);
}

static foliot_constraint_definition read_joint(const foliot_command *c)
{
    foliot_constraint_definition d =
        foliot_constraint_definition_default((foliot_constraint_kind)c->as.joint.kind);
#define TAKE(name) apply(&d.name, (double)c->as.joint.name, GIVEN(c, joint, name));
    TAKE(length)
    TAKE(length_min)
    TAKE(angle_min)
    TAKE(angle_max)
    TAKE(motor_speed)
    TAKE(motor_torque)
    TAKE(break_force)
    TAKE(break_torque)
#undef TAKE
    apply_vector(d.anchor_a, c->as.joint.anchor_a, GIVEN(c, joint, anchor_a));
    apply_vector(d.anchor_b, c->as.joint.anchor_b, GIVEN(c, joint, anchor_b));
    for (unsigned k = 0; GIVEN(c, joint, axis) && k < 3; k++)
        d.axis[k] = (double)c->as.joint.axis[k];
    d.collides = GIVEN(c, joint, collides) && c->as.joint.collides != 0;
    return d;
}

// -- making one

// Anchors and lengths that follow from where the bodies are; whether they can be held.
static reason place_joint(const foliot_world *world, const foliot_command *c,
                          foliot_constraint_definition *d)
{
    pose a = pose_of(world, d->a), b = pose_of(world, d->b);
    vec3 at_a = to_world(&a, vec3_of(d->anchor_a));
    bool spans = d->kind == FOLIOT_CONSTRAINT_DISTANCE;
    if (!GIVEN(c, joint, anchor_b) && !spans)
        vec3_store(quat_rotate(quat_conjugate(b.q), vec3_sub(at_a, b.x)), d->anchor_b);
    double apart = vec3_length(vec3_sub(to_world(&b, vec3_of(d->anchor_b)), at_a));
    if (spans) {
        if (!GIVEN(c, joint, length))
            d->length = apart;
        if (d->b == FOLIOT_NO_BODY && !GIVEN(c, joint, anchor_b))
            return FOLIOT_COMMAND_REASON_field;
    } else if (apart >
               APART_MAX * (foliot__vec3_length(d->anchor_a) + foliot__vec3_length(d->anchor_b))) {
        return FOLIOT_COMMAND_REASON_range;
    }
    double axis = vec3_length(vec3_of(d->axis));
    if (!(axis > 1e-6 && axis < 1e6))
        return FOLIOT_COMMAND_REASON_range;
    vec3_store(vec3_divide(vec3_of(d->axis), axis), d->axis);
    return foliot__joint_numbers_valid(d) ? FINE : FOLIOT_COMMAND_REASON_range;
}

static bool holds_point(const foliot_world *world, uint32_t slot, const double anchor[3])
{
    return !fixed(world, slot) && !turns(world, slot) && foliot__vec3_length(anchor) > 0;
}

// A point does not turn: only its centre can be held, not its direction.
static bool bodies_fit(const foliot_world *world, const foliot_constraint_definition *d)
{
    bool stiff = d->kind == FOLIOT_CONSTRAINT_HINGE || d->kind == FOLIOT_CONSTRAINT_WELD;
    if (fixed(world, d->a) && fixed(world, d->b))
        return false;
    if (stiff && ((!fixed(world, d->a) && !turns(world, d->a)) ||
                  (!fixed(world, d->b) && !turns(world, d->b))))
        return false;
    return !holds_point(world, d->a, d->anchor_a) && !holds_point(world, d->b, d->anchor_b);
}

static void joint_changed(foliot_world *world, const foliot_constraint_definition *d)
{
    foliot__joints_changed(world);
    world->input.links_changed = 1;
    foliot__sleep_wake(world, d->a);
    foliot__sleep_wake(world, d->b);
    world->acceleration_valid = 0;
    world->digests.session_dirty = world->digests.definition_dirty = 1;
}

static void add_joint(foliot_world *world, uint32_t row, const foliot_constraint_definition *d)
{
    uint32_t index = world->scene.constraint_count + row;
    foliot__joint_record record = {.definition = *d};
    if (row == world->session.joint_count) {
        world->session.joint_count++;
        world->constraint_count++;
    } else {
        record.generation = foliot__joint_record_generation(world, row) + 1;
    }
    pose a = pose_of(world, d->a), b = pose_of(world, d->b);
    quat_store(quat_multiply(quat_conjugate(a.q), b.q), record.start);
    foliot__joint_record_write(world, row, &record);
    foliot__joint_record_load(world, row);
    foliot__constraint_state(world)[index] = 0;
    foliot__constraint_force(world)[index] = 0;
    // A world that was brought back to fewer joints may have a row of a later one there.
    if (world->scene.fast_joints)
        foliot__joint_impulse(world)[index] = (foliot__joint_warm){0};
}

reason foliot__command_joint(foliot_world *world, const foliot_command *c)
{
    if (c->as.joint.kind > FOLIOT_CONSTRAINT_WELD || c->as.joint.kind == FOLIOT_CONSTRAINT_ROD)
        return FOLIOT_COMMAND_REASON_range;
    foliot_constraint_definition d = read_joint(c);
    d.a = foliot__body_slot(world, c->as.joint.a);
    d.b = GIVEN(c, joint, b) ? foliot__body_slot(world, c->as.joint.b) : FOLIOT_NO_BODY;
    if (d.a == FOLIOT_NO_BODY || (GIVEN(c, joint, b) && d.b == FOLIOT_NO_BODY))
        return FOLIOT_COMMAND_REASON_body;
    if (d.a == d.b)
        return FOLIOT_COMMAND_REASON_range;
    reason refused = place_joint(world, c, &d);
    if (refused != FINE)
        return refused;
    if (!bodies_fit(world, &d))
        return FOLIOT_COMMAND_REASON_motion;
    uint32_t row = 0; // the lowest whose joint is broken, or a new one
    while (row < world->session.joint_count &&
           !foliot__constraint_is_broken(world, world->scene.constraint_count + row))
        row++;
    if (row == world->capacity.joints_added)
        return FOLIOT_COMMAND_REASON_full;
    add_joint(world, row, &d);
    joint_changed(world, &d);
    foliot_event event = foliot__command_event(FOLIOT_EVENT_JOINT_MADE, c);
    event.joint = foliot_world_get_joint_id(world, world->scene.constraint_count + row);
    foliot__event(world, &event);
    return FINE;
}

// -- changing and breaking one

static uint32_t index_of(const foliot_world *world, foliot_joint_id id)
{
    uint32_t index = (uint32_t)id.value;
    bool known = index < world->constraint_count && !foliot__constraint_is_broken(world, index);
    return known && foliot_world_get_joint_id(world, index).value == id.value ? index : UINT32_MAX;
}

reason foliot__command_set_joint(foliot_world *world, const foliot_command *c)
{
    uint32_t index = index_of(world, c->as.set_joint.joint);
    if (index == UINT32_MAX)
        return FOLIOT_COMMAND_REASON_joint;
    // The scene's own definitions are not state: only joints that commands made can be changed.
    if (index < world->scene.constraint_count)
        return FOLIOT_COMMAND_REASON_motion;
    foliot_constraint_definition d = foliot__constraint(world)[index];
#define TAKE(name) apply(&d.name, (double)c->as.set_joint.name, GIVEN(c, set_joint, name));
    TAKE(length)
    TAKE(length_min)
    TAKE(angle_min)
    TAKE(angle_max)
    TAKE(motor_speed)
    TAKE(motor_torque)
    TAKE(break_force)
    TAKE(break_torque)
#undef TAKE
    if (!foliot__joint_numbers_valid(&d))
        return FOLIOT_COMMAND_REASON_range;
    uint32_t row = index - world->scene.constraint_count;
    foliot__joint_record record = foliot__joint_record_read(foliot__joint_bytes_at(world, row));
    record.definition = d;
    foliot__joint_record_write(world, row, &record);
    foliot__joint_record_load(world, row);
    joint_changed(world, &d);
    return FINE;
}

reason foliot__command_break_joint(foliot_world *world, const foliot_command *c)
{
    uint32_t index = index_of(world, c->as.break_joint.joint);
    if (index == UINT32_MAX)
        return FOLIOT_COMMAND_REASON_joint;
    foliot__constraint_break(world, index, FOLIOT_BREAK_COMMAND);
    joint_changed(world, &foliot__constraint(world)[index]);
    return FINE;
}

uint32_t foliot_world_get_joint_count(const foliot_world *world)
{
    return world->constraint_count;
}

foliot_status foliot_world_get_joint(const foliot_world *world, foliot_joint_id id,
                                     foliot_joint *joint)
{
    uint32_t index = foliot_joint_id_get_index(id);
    if (id.value == 0 || foliot_world_get_joint_id(world, index).value != id.value)
        return FOLIOT_STATUS_NOT_FOUND;
    const foliot_constraint_definition *d = &foliot__constraint(world)[index];
    *joint = (foliot_joint){.definition = *d,
                            .a = foliot_world_get_body_id(world, d->a),
                            .b = foliot_world_get_body_id(world, d->b),
                            .broken = foliot__constraint_is_broken(world, index),
                            .force = foliot__constraint_force(world)[index]};
    return FOLIOT_STATUS_OK;
}

// -- gravity

void foliot__gravity_set(foliot_world *world, const double gravity[3])
{
    memcpy(world->gravity, gravity, sizeof world->gravity);
    memcpy(world->session.gravity, gravity, sizeof world->session.gravity);
    memcpy(foliot__force(world)[0].as.uniform.acceleration, gravity, sizeof world->gravity);
    world->input.forces_changed = 1;
    world->acceleration_valid = 0;
    world->digests.session_dirty = 1;
}

reason foliot__command_gravity(foliot_world *world, const foliot_command *c)
{
    double gravity[3];
    for (unsigned k = 0; k < 3; k++)
        gravity[k] = (double)c->as.gravity.acceleration[k];
    if (!foliot__are_coordinates(gravity, 3))
        return FOLIOT_COMMAND_REASON_range;
    foliot__gravity_set(world, gravity);
    for (uint32_t i = 0; world->scene.sleeps && i < world->body_count; i++)
        foliot__sleep_wake(world, i);
    return FINE;
}

// -- variables

// The first one whose key is not before `key`; *found: it is that key.
static uint32_t lower_bound(const foliot_world *world, const char *key, bool *found)
{
    uint32_t low = 0, high = world->session.var_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(foliot__var_key_at(world, middle), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < world->session.var_count && strcmp(foliot__var_key_at(world, low), key) == 0;
    return low;
}

// Moves the rows from `from` on to `to`.
static void shift_rows(foliot_world *world, uint32_t from, uint32_t to)
{
    size_t count = world->session.var_count - from;
    memmove(foliot__var_key_at(world, to), foliot__var_key_at(world, from),
            count * FOLIOT_VAR_KEY_BYTES);
    memmove(foliot__var_text_at(world, to), foliot__var_text_at(world, from),
            count * FOLIOT_VAR_TEXT_BYTES);
#define SHIFT(table)                                                                               \
    memmove(&foliot__##table(world)[to], &foliot__##table(world)[from],                            \
            count * sizeof *foliot__##table(world));
    SHIFT(var_type)
    SHIFT(var_changed)
    SHIFT(var_value)
#undef SHIFT
}

// `text` is zero to its end: equal values have equal bytes.
static void copy_text(char *to, size_t bytes, const char *text)
{
    memset(to, 0, bytes);
    memcpy(to, text, strlen(text));
}

reason foliot__command_var(foliot_world *world, const foliot_command *c)
{
    bool found;
    uint32_t values =
        (GIVEN(c, var, integer) != 0) + (GIVEN(c, var, number) != 0) + (GIVEN(c, var, text) != 0);
    if (values > 1)
        return FOLIOT_COMMAND_REASON_range;
    uint32_t at = lower_bound(world, c->as.var.key, &found);
    if (values == 0 && !found)
        return FOLIOT_COMMAND_REASON_key;
    if (values == 1 && !found && world->session.var_count == world->capacity.vars)
        return FOLIOT_COMMAND_REASON_full;
    world->digests.session_dirty = 1;
    if (values == 0) {
        shift_rows(world, at + 1, at);
        world->session.var_count--;
        return FINE;
    }
    if (!found) {
        shift_rows(world, at, at + 1);
        world->session.var_count++;
        copy_text(foliot__var_key_at(world, at), FOLIOT_VAR_KEY_BYTES, c->as.var.key);
    }
    uint32_t type = GIVEN(c, var, integer)  ? FOLIOT_VAR_INTEGER
                    : GIVEN(c, var, number) ? FOLIOT_VAR_NUMBER
                                            : FOLIOT_VAR_TEXT;
    foliot__var_type(world)[at] = type;
    foliot__var_changed(world)[at] = (uint32_t)world->tick;
    foliot__var_value(world)[at] = type == FOLIOT_VAR_INTEGER  ? (uint64_t)c->as.var.integer
                                   : type == FOLIOT_VAR_NUMBER ? foliot__f64_bits(c->as.var.number)
                                                               : 0;
    copy_text(foliot__var_text_at(world, at), FOLIOT_VAR_TEXT_BYTES,
              type == FOLIOT_VAR_TEXT ? c->as.var.text : "");
    return FINE;
}

bool foliot_world_get_var_at(const foliot_world *world, uint32_t index, foliot_var *var)
{
    if (index >= world->session.var_count)
        return false;
    uint64_t value = foliot__var_value(world)[index];
    *var = (foliot_var){.type = (foliot_var_type)foliot__var_type(world)[index],
                        .changed = foliot__var_changed(world)[index]};
    var->integer = var->type == FOLIOT_VAR_INTEGER ? foliot__value_i64(value) : 0;
    var->number = var->type == FOLIOT_VAR_NUMBER ? foliot__f64_of(value) : 0;
    memcpy(var->key, foliot__var_key_at(world, index), sizeof var->key);
    memcpy(var->text, foliot__var_text_at(world, index), sizeof var->text);
    return true;
}

bool foliot_world_get_var(const foliot_world *world, const char *key, foliot_var *var)
{
    bool found;
    uint32_t at = lower_bound(world, key, &found);
    return found && foliot_world_get_var_at(world, at, var);
}

// -- the end

reason foliot__command_end(foliot_world *world, const foliot_command *c)
{
    foliot__session_section *session = &world->session;
    session->ended = 1;
    copy_text(session->end_reason, sizeof session->end_reason,
              GIVEN(c, end, reason) ? c->as.end.reason : "");
    copy_text(session->end_next, sizeof session->end_next,
              GIVEN(c, end, next) ? c->as.end.next : "");
    world->digests.session_dirty = 1;
    foliot__event(world, &(foliot_event){.kind = FOLIOT_EVENT_ENDED, .player = FOLIOT_NO_PLAYER});
    return FINE;
}

const char *foliot_world_get_end(const foliot_world *world, const char **next)
{
    if (!world->session.ended)
        return NULL;
    if (next)
        *next = world->session.end_next;
    return world->session.end_reason;
}

void foliot_world_get_gravity(const foliot_world *world, double gravity[3])
{
    memcpy(gravity, world->gravity, sizeof world->gravity);
}
