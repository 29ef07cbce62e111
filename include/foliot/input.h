// SPDX-License-Identifier: MIT
// input.h: what one player does in one tick.
//
// Inputs are the only thing that enters a world from outside. The inputs of one tick are ordered by
// (player, sequence); a world refuses any other order with FOLIOT_STATUS_INVALID.
#ifndef FOLIOT_INPUT_H
#define FOLIOT_INPUT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_PLAYERS_MAX 1024
#define FOLIOT_NO_PLAYER UINT32_MAX // a spectator, or nobody
#define FOLIOT_AXIS_COUNT 4

// The value stands in recordings and on the wire: never reuse one.
typedef enum foliot_input_kind {
    FOLIOT_INPUT_CONTROL = 0, // axes and buttons, held until the player's next one
    FOLIOT_INPUT_JOIN = 1,    // the player's body is spawned
    FOLIOT_INPUT_LEAVE = 2,   // the player's body is despawned
} foliot_input_kind;

typedef struct foliot_input {
    uint32_t player;   // 0 .. players.limit - 1
    uint32_t sequence; // the player's own count, growing from input to input
    uint8_t kind;      // foliot_input_kind
    // Thrust along x, y and z, then turning; -127..127, and -128 is read as -127. The scene's
    // `players.control` says in which frame and how strongly (foliot_control_kind, scene.h).
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons; // bits of enum foliot_button (scene.h)
} foliot_input;

#ifdef __cplusplus
}
#endif

#endif
