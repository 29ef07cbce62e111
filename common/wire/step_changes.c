// SPDX-License-Identifier: MIT
// step_changes.c: the changes of a step as records (session_state.h). It examines only objects that
// the step's events and commands name, so that a step without changes costs nothing.
#include "wire/session_state.h"

#include <stdlib.h>
#include <string.h>

static void write_spawned(foliot__update_writer *w, const foliot_world *world, foliot_body_id id)
{
    foliot_body body;
    if (foliot_world_get_body(world, id, &body) == FOLIOT_STATUS_OK &&
        body.prototype != FOLIOT_NO_BODY)
        foliot__update_spawned(w, foliot_body_id_get_slot(id), (uint32_t)(id.value >> 32) - 1,
                               body.prototype);
}

static void write_joint(foliot__update_writer *w, const foliot_world *world, foliot_joint_id id)
{
    foliot_joint made;
    if (foliot_world_get_joint(world, id, &made) != FOLIOT_STATUS_OK)
        return;
    const foliot_constraint_definition d = made.definition;
    foliot__known_joint joint = {
        .state = FOLIOT__JOINT_MADE, .kind = (uint8_t)d.kind, .a = d.a, .b = d.b};
    for (int k = 0; k < 3; k++) {
        joint.anchor_a[k] = d.anchor_a[k];
        joint.anchor_b[k] = d.anchor_b[k];
    }
    foliot__update_joint_made(w, foliot_joint_id_get_index(id), &joint);
}

static void write_gravity(foliot__update_writer *w, const foliot_world *world)
{
    double gravity[3];
    foliot_world_get_gravity(world, gravity);
    foliot__update_gravity(w, gravity);
}

void foliot__write_end(foliot__update_writer *w, const foliot_world *world)
{
    const char *next = "", *reason = foliot_world_get_end(world, &next);
    foliot__update_end(w, reason ? reason : "", next ? next : "");
}

static void write_event(foliot__update_writer *w, const foliot_world *world,
                        const foliot_event *event)
{
    switch (event->kind) {
    case FOLIOT_EVENT_SPAWNED:
        write_spawned(w, world, event->body);
        break;
    case FOLIOT_EVENT_DESPAWNED:
        foliot__update_despawned(w, foliot_body_id_get_slot(event->body));
        break;
    case FOLIOT_EVENT_JOINT_BROKEN:
        foliot__update_joint_broken(w, foliot_joint_id_get_index(event->joint));
        break;
    case FOLIOT_EVENT_JOINT_MADE:
        write_joint(w, world, event->joint);
        break;
    case FOLIOT_EVENT_ENDED:
        foliot__write_end(w, world);
        break;
    case FOLIOT_EVENT_FROZEN:
    case FOLIOT_EVENT_INPUT_REFUSED:
    case FOLIOT_EVENT_COMMAND_REFUSED:
    default:
        break;
    }
}

// -- tags

static int by_slot(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// The tag of the body in a slot; 0 if there is none.
static uint32_t tag_in(const foliot_world *world, uint32_t slot)
{
    foliot_body body = {.tag = 0};
    (void)!foliot_world_get_body(world, foliot_world_get_body_id(world, slot), &body);
    return body.tag;
}

// Slots whose tags this step may have changed, in order, each once.
static void write_tags(foliot__update_writer *w, const foliot__session_state *known,
                       const foliot_world *world, const foliot_command_list *commands,
                       foliot__buffer *scratch)
{
    uint32_t count = 0, event_count;
    const foliot_event *events = foliot_world_get_events(world, &event_count);
    if (!foliot__buffer_reserve(scratch, (event_count + commands->count + 1) * sizeof(uint32_t)))
        return;
    uint32_t *slots = (uint32_t *)(void *)scratch->bytes;
    for (uint32_t i = 0; i < commands->count; i++)
        if (commands->commands[i].kind == FOLIOT_COMMAND_set_body)
            slots[count++] = foliot_body_id_get_slot(commands->commands[i].as.set_body.body);
    for (uint32_t i = 0; i < event_count; i++)
        if (events[i].kind == FOLIOT_EVENT_SPAWNED || events[i].kind == FOLIOT_EVENT_DESPAWNED)
            slots[count++] = foliot_body_id_get_slot(events[i].body);
    qsort(slots, count, sizeof *slots, by_slot);
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i] >= known->slots_max || (i > 0 && slots[i] == slots[i - 1]))
            continue;
        uint32_t tag = tag_in(world, slots[i]);
        if (tag != foliot__session_state_tag(known, slots[i]))
            foliot__update_tag(w, slots[i], tag);
    }
}

// -- variables

static void write_changed_vars(foliot__update_writer *w, const foliot__session_state *known,
                               const foliot_world *world)
{
    foliot_var var;
    for (uint32_t i = 0; foliot_world_get_var_at(world, i, &var); i++) {
        const foliot_var *before = foliot__session_state_var(known, var.key);
        if (!before || (before->type != var.type || before->integer != var.integer ||
                        memcmp(&before->number, &var.number, sizeof before->number) != 0 ||
                        strcmp(before->text, var.text) != 0))
            foliot__update_var(w, &var);
    }
}

// -- all of it

static bool gives(const foliot_command_list *commands, foliot_command_kind kind)
{
    for (uint32_t i = 0; i < commands->count; i++)
        if (commands->commands[i].kind == (uint32_t)kind)
            return true;
    return false;
}

void foliot__write_step(foliot__update_writer *w, const foliot__session_state *known,
                        const foliot_world *world, const foliot_command_list *commands,
                        foliot__buffer *scratch)
{
    uint32_t count;
    const foliot_event *events = foliot_world_get_events(world, &count);
    if (count == 0 && commands->count == 0)
        return;
    if (gives(commands, FOLIOT_COMMAND_gravity))
        write_gravity(w, world);
    for (uint32_t i = 0; i < count; i++)
        write_event(w, world, &events[i]);
    write_tags(w, known, world, commands, scratch);
    bool vars = gives(commands, FOLIOT_COMMAND_var);
    if (vars)
        write_changed_vars(w, known, world);
    foliot__update_finish(w, false); // `known` has them
    if (vars) {
        // From the end on: a part that is emitted takes them out of `known`.
        foliot_var var;
        for (uint32_t i = known->var_count; i-- > 0;)
            if (!foliot_world_get_var(world, known->vars[i].key, &var))
                foliot__update_var_removed(w, known->vars[i].key);
    }
    foliot__update_finish(w, false);
}

void foliot__write_world(foliot__update_writer *w, const foliot_world *world,
                         const foliot_scene *scene)
{
    uint32_t bodies = foliot_world_get_body_count(world),
             joints = foliot_world_get_joint_count(world);
    foliot_var var;
    for (uint32_t i = 0; foliot_world_get_var_at(world, i, &var); i++)
        foliot__update_var(w, &var);
    for (uint32_t slot = 0; slot < bodies; slot++)
        if (tag_in(world, slot) != 0)
            foliot__update_tag(w, slot, tag_in(world, slot));
    for (uint32_t slot = 0; slot < bodies; slot++)
        write_spawned(w, world, foliot_world_get_body_id(world, slot));
    for (uint32_t i = 0; i < joints; i++) {
        foliot_joint joint = {.broken = true};
        foliot_joint_id id = foliot_world_get_joint_id(world, i);
        (void)!foliot_world_get_joint(world, id, &joint);
        if (joint.broken)
            foliot__update_joint_broken(w, i);
        else if (i >= scene->constraint_count)
            write_joint(w, world, id);
    }
    if (scene->commands_max > 0)
        write_gravity(w, world);
    foliot__update_finish(w, false);
}
