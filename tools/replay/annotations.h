// SPDX-License-Identifier: MIT
// annotations.h: the notes and messages of a recording, tick by tick, for another recording.
#ifndef FOLIOT_TOOLS_REPLAY_ANNOTATIONS_H
#define FOLIOT_TOOLS_REPLAY_ANNOTATIONS_H

#include "foliot/recording.h"
#include "foliot/replay.h"

typedef struct annotations annotations;

// Reads the recording along with the replay, which stays where it is. NULL without memory.
annotations *annotations_open(foliot_replay *replay);
// Copies the annotations before the inputs of the step from `tick`, and those after that step: of
// ticks from `from` on. Ticks are asked for in order. Returns the status that the recording ended
// with.
foliot_status annotations_copy(annotations *a, uint64_t from, uint64_t tick,
                               foliot_recording *recording);
void annotations_close(annotations *a);

#endif
