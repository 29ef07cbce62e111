// SPDX-License-Identifier: MIT
// step_changes.h: what a step changed beside poses, as records (session_state.h): for the peers of
// a session of snapshots, and for a client that steps and shows an earlier tick.
#ifndef FOLIOT_WIRE_STEP_CHANGES_H
#define FOLIOT_WIRE_STEP_CHANGES_H

#include "base/pack.h"
#include "wire/session_state.h"

// What the last step changed. `known` is the state before it: what is written must be taken into it
// as it is emitted. `commands` are those of the step. Finishes the writer.
void foliot__write_step(foliot__update_writer *w, const foliot__session_state *known,
                        const foliot_world *world, const foliot_command_list *commands,
                        foliot__buffer *scratch);
// All that there is in a world of that scene. Finishes the writer.
void foliot__write_world(foliot__update_writer *w, const foliot_world *world,
                         const foliot_scene *scene);
// Why the world has ended, and what comes next.
void foliot__write_end(foliot__update_writer *w, const foliot_world *world);

#endif
