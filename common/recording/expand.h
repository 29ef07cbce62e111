// SPDX-License-Identifier: MIT
// expand.h: expands the entries of INPUTS into the inputs of every tick.
#ifndef FOLIOT_RECORDING_EXPAND_H
#define FOLIOT_RECORDING_EXPAND_H

#include "base/bytes.h"
#include "recording/block_reader.h"

// As at every keyframe.
void foliot__recording_forget_players(foliot__block_reader *reader);
// Inputs of the ticks from content->first_tick to `tick`, into content->inputs.
foliot_status foliot__recording_expand(foliot__block_reader *reader,
                                       foliot__recording_content *content, uint64_t tick,
                                       foliot__reader *entries, uint32_t values);

#endif
