// SPDX-License-Identifier: MIT
// bot.h: bots: idle, random, circle, one that plays the game, or inputs from a file. Time is an
// argument.
#ifndef FOLIOT_CLIENT_BOT_H
#define FOLIOT_CLIENT_BOT_H

#include "base/rng.h"
#include "foliot/input.h"
#include "simulation/input_script.h"

typedef enum foliot__bot_kind {
    FOLIOT__BOT_IDLE,
    FOLIOT__BOT_RANDOM,
    FOLIOT__BOT_CIRCLE,
    FOLIOT__BOT_PLAY, // game_bot.h sets its controls
    FOLIOT__BOT_FILE
} foliot__bot_kind;

typedef struct foliot__bot {
    foliot__bot_kind kind;
    foliot__rng rng;
    double next;                        // random: time of the next change, seconds
    const foliot__input_script *script; // file: of its player 0, in ticks of play
    uint32_t at;
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons;
} foliot__bot;

// Kind by name; anything else is a file.
foliot__bot_kind foliot__bot_kind_of(const char *name);
// Sets its controls at `seconds` (`tick`) after it began to play.
void foliot__bot_think(foliot__bot *bot, double seconds, uint64_t tick);

#endif
