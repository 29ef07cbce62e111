// SPDX-License-Identifier: MIT
// command_session.c: commands that concern no single body: the body that a player drives, gravity,
// session variables, the end. Variables are kept ascending by key, so that equal stores have equal
// bytes.
#include <string.h>

#include "sim/force/force.h"
#include "sim/island/sleep.h"
#include "sim/math/floating_point.h"
#include "sim/state/state.h"
#include "sim/world/command_internal.h"
#include "sim/world/state_format.h"

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
