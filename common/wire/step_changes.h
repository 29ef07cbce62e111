// SPDX-License-Identifier: MIT
// step_changes.h: the changes of a step other than poses, as records (session_state.h): for the
// peers of a session of snapshots, and for a client that steps and shows an earlier tick.
#ifndef FOLIOT_WIRE_STEP_CHANGES_H
#define FOLIOT_WIRE_STEP_CHANGES_H

#include "base/pack.h"
#include "wire/session_state.h"

// Writes the changes of the last step. `known` is the state before it; the caller applies records
// to it as they are emitted. `commands` are those of the step. Finishes the writer.
void foliot__write_step(foliot__update_writer *w, const foliot__session_state *known,
                        const foliot_world *world, const foliot_command_list *commands,
                        foliot__buffer *scratch);
// Writes the complete state of a world of that scene. Finishes the writer.
void foliot__write_world(foliot__update_writer *w, const foliot_world *world,
                         const foliot_scene *scene);
// Writes the reason why the world has ended, and the next scene.
void foliot__write_end(foliot__update_writer *w, const foliot_world *world);

#endif
