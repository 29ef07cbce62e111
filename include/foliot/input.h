// SPDX-License-Identifier: MIT
// input.h: what one player does in one tick.
#ifndef FOLIOT_INPUT_H
#define FOLIOT_INPUT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_PLAYERS_MAX 1024
#define FOLIOT_AXIS_COUNT 4

typedef enum foliot_input_kind {
    FOLIOT_INPUT_CONTROL = 0, // axes and buttons, held until the player's next one
    FOLIOT_INPUT_JOIN = 1,    // the player's body is spawned
    FOLIOT_INPUT_LEAVE = 2,   // the player's body is despawned
} foliot_input_kind;

// Inputs of one tick are ordered by (player, sequence); the world refuses any other order.
// Axes are -127..127 (-128 is read as -127): x, y, z thrust and turn. How they move the body is the
// scene's `players.controls`. Bit 0 of `buttons` is the player's first button.
typedef struct foliot_input {
    uint32_t player;   // 0 .. players.limit - 1
    uint32_t sequence; // the player's own count, growing
    uint8_t kind;      // foliot_input_kind
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons;
} foliot_input;

#ifdef __cplusplus
}
#endif

#endif
