// SPDX-License-Identifier: MIT
// command_internal.h: declarations shared by command*.c, for these files only.
#ifndef FOLIOT_SIM_WORLD_COMMAND_INTERNAL_H
#define FOLIOT_SIM_WORLD_COMMAND_INTERNAL_H

#include "sim/world/stage.h"

typedef foliot_command_reason reason;
#define FINE FOLIOT_COMMAND_REASON_none
#define GIVEN(command, kind, name) ((command)->fields & FOLIOT_COMMAND_HAS(kind, name))

// An event about a command, with its ticket.
static inline foliot_event foliot__command_event(foliot_event_kind kind, const foliot_command *c)
{
    bool spawn = c->kind == FOLIOT_COMMAND_spawn && GIVEN(c, spawn, ticket);
    bool joint = c->kind == FOLIOT_COMMAND_joint && GIVEN(c, joint, ticket);
    return (foliot_event){.kind = kind,
                          .player = FOLIOT_NO_PLAYER,
                          .ticket = spawn   ? c->as.spawn.ticket
                                    : joint ? c->as.joint.ticket
                                            : 0,
                          .sequence = c->sequence,
                          .source = c->source};
}

// command_session.c: each applies one command; the reason if it is refused.
reason foliot__command_joint(foliot_world *world, const foliot_command *command);
reason foliot__command_set_joint(foliot_world *world, const foliot_command *command);
reason foliot__command_break_joint(foliot_world *world, const foliot_command *command);
reason foliot__command_control(foliot_world *world, const foliot_command *command);
reason foliot__command_gravity(foliot_world *world, const foliot_command *command);
reason foliot__command_var(foliot_world *world, const foliot_command *command);
reason foliot__command_end(foliot_world *world, const foliot_command *command);

#endif
