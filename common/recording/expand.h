// SPDX-License-Identifier: MIT
// expand.h: entries of INPUTS become the inputs of every tick.
#ifndef FOLIOT_TAPE_EXPAND_H
#define FOLIOT_TAPE_EXPAND_H

#include "base/bytes.h"
#include "recording/block_reader.h"

// As at every keyframe.
void foliot__tape_forget_players(foliot__tape_walk *walk);
// Inputs of the ticks from content->first_tick to `tick`, into content->inputs.
foliot_status foliot__tape_expand(foliot__tape_walk *walk, foliot__tape_content *content,
                                  uint64_t tick, foliot__reader *entries, uint32_t values);

#endif
