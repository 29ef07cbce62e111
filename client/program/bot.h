// SPDX-License-Identifier: MIT
// bot.h: bots: idle, random, circle, inputs from a file, or one that plays the games of games/: it
// sees what the screen would show, and does what a player could do. Time is an argument.
#ifndef FOLIOT_CLIENT_BOT_H
#define FOLIOT_CLIENT_BOT_H

#include "base/rng.h"
#include "foliot/client.h"
#include "foliot/command.h"
#include "simulation/input_script.h"

typedef enum foliot__bot_kind {
    FOLIOT__BOT_IDLE,
    FOLIOT__BOT_RANDOM,
    FOLIOT__BOT_CIRCLE,
    FOLIOT__BOT_PLAY, // foliot__game_bot_think sets its controls
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

typedef struct foliot__game_bot {
    foliot__rng rng;
    double next; // second of play at which it looks round again
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons;
} foliot__game_bot;

// Looks at the sample `seconds` after it began to play, sets its controls, and gives orders. False:
// it does not know the game, which it recognises by the scene's name.
bool foliot__game_bot_think(foliot__game_bot *bot, foliot_client *client,
                            const foliot_sample *sample, double seconds);

#endif
