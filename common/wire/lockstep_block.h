// SPDX-License-Identifier: MIT
// lockstep_block.h: compact encoding of the inputs of consecutive ticks. A block can be decoded
// alone, whatever other packets were lost: the first controls of each player in it are complete,
// later ones are differences. (docs/reference/protocol.md)
#ifndef FOLIOT_WIRE_LOCKSTEP_BLOCK_H
#define FOLIOT_WIRE_LOCKSTEP_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/status.h"

#define FOLIOT__BLOCK_INPUTS_MAX 4096 // in one block
#define FOLIOT__BLOCK_TICKS_MAX 16383

// By tick, then by player, then in the order of input. Sequences are not sent.
typedef struct foliot__block {
    uint32_t ticks, count;
    uint32_t ages[FOLIOT__BLOCK_INPUTS_MAX]; // of each input: ticks after the first of the block
    foliot_input inputs[FOLIOT__BLOCK_INPUTS_MAX];
} foliot__block;

// The bytes of a block after its head; 0 is valid (no inputs). SIZE_MAX if it does not fit.
size_t foliot__block_encode(const foliot__block *block, uint8_t *bytes, size_t capacity);
// All of `length` are the block's. `ticks` comes from the head. FOLIOT_STATUS_CORRUPT,
// FOLIOT_STATUS_TRUNCATED.
foliot_status foliot__block_decode(const uint8_t *bytes, size_t length, uint32_t ticks,
                                   foliot__block *block);

#endif
