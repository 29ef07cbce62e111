// SPDX-License-Identifier: MIT
// player.c: players' bodies and controls. Controls are held until the next input, so that a tick
// without inputs costs nothing in a recording.
#include "sim/world/stage.h"

#include "sim/state/body.h"
#include "sim/state/contact_cache.h"
#include "sim/state/state.h"
#include "sim/island/sleep.h"

bool foliot__inputs_ordered(const foliot_world *world, const foliot_input *inputs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (inputs[i].player >= world->player.limit || inputs[i].kind > FOLIOT_INPUT_LEAVE)
            return false;
        if (i > 0 && (inputs[i].player < inputs[i - 1].player ||
                      (inputs[i].player == inputs[i - 1].player &&
                       inputs[i].sequence <= inputs[i - 1].sequence)))
            return false;
    }
    return true;
}

static void bind_player(foliot_world *world, uint32_t index, uint32_t slot)
{
    if (slot == FOLIOT_NO_BODY && foliot__driven(world)[index] != FOLIOT_NO_BODY)
        foliot__body_refresh(world, foliot__driven(world)[index]); // nobody pushes it any more
    foliot__driven(world)[index] = slot;
    world->digests.session_dirty = 1;
}

static bool join_player(foliot_world *world, uint32_t index)
{
    foliot__player *player = &foliot__players(world)[index];
    if (world->player.bodiless && !player->joined) {
        *player = (foliot__player){.body = FOLIOT_NO_BODY, .joined = 1};
        return true;
    }
    if (player->joined)
        return false;
    uint32_t slot = world->scene.body_count; // the lowest that is free
    while (slot < world->body_count && foliot__flags(world)[slot] & FOLIOT_BODY_ALIVE)
        slot++;
    if (slot == world->bodies_max)
        return false;
    world->body_count += slot == world->body_count;
    const double *position =
        foliot__spawn_position(world) + 3 * (index % world->player.spawn_count);
    foliot__body_write(world, slot, &world->player.spawn, position, FOLIOT_BODY_PLAYER);
    *player = (foliot__player){.body = slot, .joined = 1};
    bind_player(world, index, slot);
    foliot__sleep_change(world, slot);
    foliot__event(world, &(foliot_event){.kind = FOLIOT_EVENT_SPAWNED,
                                         .player = index,
                                         .body = foliot__body_id(world, slot)});
    return true;
}

static bool remove_player(foliot_world *world, uint32_t index)
{
    foliot__player *player = &foliot__players(world)[index];
    if (!player->joined)
        return false;
    foliot__sleep_change_player(world, index);
    bind_player(world, index, FOLIOT_NO_BODY);
    if (player->body != FOLIOT_NO_BODY)
        foliot__body_despawn(world, player->body, index);
    *player = (foliot__player){.body = FOLIOT_NO_BODY};
    return true;
}

static bool hold_controls(foliot_world *world, const foliot_input *input)
{
    foliot__player *player = &foliot__players(world)[input->player];
    if (!player->joined)
        return false;
    if (foliot__player_grip(world, input->player) != 0) // a released body must fall
        foliot__sleep_change_player(world, input->player);
    for (int i = 0; i < FOLIOT_AXIS_COUNT; i++)
        player->axes[i] = input->axes[i] == -128 ? -127 : input->axes[i];
    uint32_t pressed = input->buttons & ~(uint32_t)player->buttons;
    player->buttons = input->buttons;
    uint32_t slot = foliot__player_body(world, input->player);
    if (!(world->player.jump > 0) || !(pressed & FOLIOT_BUTTON_JUMP) || slot == FOLIOT_NO_BODY)
        return true;
    // A body that pushed on something in the last step leaves it against gravity (upwards along z
    // where there is none). A sleeping body will wake.
    if (foliot__flags(world)[slot] & FOLIOT_BODY_FROZEN || !foliot__contact_any_active(world, slot))
        return true;
    vec3 g = vec3_of(world->gravity);
    double strength = vec3_length(g);
    vec3 down = strength > 0 ? vec3_divide(g, strength) : (vec3){0, 0, -1};
    foliot__v3_add(foliot__velocity(world), slot, vec3_scale(down, -world->player.jump));
    foliot__velocity_changed(world, slot);
    return true;
}

static void apply_controls(foliot_world *world, const foliot__player *player, uint32_t slot)
{
    if (foliot__inverse_mass(world)[slot] == 0)
        return;
    const int8_t *axes = player->axes;
    vec3 torque = {0, 0, axes[3] / 127.0 * world->player.torque};
    vec3 force =
        vec3_scale((vec3){axes[0] / 127.0, axes[1] / 127.0, axes[2] / 127.0}, world->player.force);
    if (world->player.control == FOLIOT_CONTROL_VESSEL) {
        quat q = foliot__quat_get(world, slot);
        force = quat_rotate_by_doubles(q, force);
        torque = quat_rotate_by_doubles(q, torque);
    }
    vec3 constant = foliot__v3_get(foliot__constant(world), slot);
    foliot__v3_put(foliot__applied(world), slot, vec3_add(constant, force));
    foliot__v3_put(foliot__torque(world), slot, torque);
}

void foliot__players_push(foliot_world *world)
{
    if (world->player.control == FOLIOT_CONTROL_NONE)
        return;
    if (world->player.reach > 0) {
        // Bodies held in the last tick are released: only their own constant force acts on them.
        foliot__v3 f = foliot__applied(world), constant = foliot__constant(world);
        for (uint32_t i = 0; i < world->body_count; i++) {
            bool moves = foliot__inverse_mass(world)[i] > 0;
            f.x[i] = moves ? constant.x[i] : 0;
            f.y[i] = moves ? constant.y[i] : 0;
            f.z[i] = moves ? constant.z[i] : 0;
        }
    }
    for (uint32_t p = 0; p < world->player.limit; p++)
        if (foliot__player_body(world, p) != FOLIOT_NO_BODY)
            apply_controls(world, &foliot__players(world)[p], foliot__player_body(world, p));
    for (uint32_t p = 0; p < world->player.limit; p++) {
        double strength = foliot__player_grip(world, p);
        uint32_t slot = strength != 0 ? foliot__player_body(world, p) : FOLIOT_NO_BODY;
        if (slot != FOLIOT_NO_BODY && foliot__inverse_mass(world)[slot] > 0) {
            // Bodies near the player are drawn to it, or pushed away if `strength` is negative, by
            // equal and opposite forces. They are added body by body in order of index: the sums
            // are the same on every machine.
            foliot__v3 x = foliot__position(world), f = foliot__applied(world);
            const double *inverse_mass = foliot__inverse_mass(world);
            for (uint32_t i = 0; i < world->body_count; i++) {
                double dx = x.x[slot] - x.x[i], dy = x.y[slot] - x.y[i], dz = x.z[slot] - x.z[i];
                double d2 = (dx * dx + dy * dy) + dz * dz;
                if (inverse_mass[i] == 0 ||
                    !(d2 > 0 && d2 < world->player.reach * world->player.reach))
                    continue;
                double d = foliot__sqrt(d2), scale = strength * (1 - d / world->player.reach) / d;
                f.x[i] += scale * dx;
                f.y[i] += scale * dy;
                f.z[i] += scale * dz;
                f.x[slot] -= scale * dx;
                f.y[slot] -= scale * dy;
                f.z[slot] -= scale * dz;
            }
        }
    }
}

void foliot__players_apply(foliot_world *world, const foliot_input *inputs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const foliot_input *input = &inputs[i];
        bool moved = input->kind == FOLIOT_INPUT_JOIN    ? join_player(world, input->player)
                     : input->kind == FOLIOT_INPUT_LEAVE ? remove_player(world, input->player)
                                                         : hold_controls(world, input);
        if (!moved) {
            world->counters.inputs_refused++;
            foliot__event(world, &(foliot_event){.kind = FOLIOT_EVENT_INPUT_REFUSED,
                                                 .player = input->player});
        } else if (input->kind != FOLIOT_INPUT_CONTROL) {
            world->digests.definition_dirty = 1;
            world->acceleration_valid = 0;
        }
    }
}
