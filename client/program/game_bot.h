// SPDX-License-Identifier: MIT
// game_bot.h: bots that play the games of games/ to win a little: `--bot play`. They see what the
// screen would show, and give what a player could give.
#ifndef FOLIOT_CLIENT_GAME_BOT_H
#define FOLIOT_CLIENT_GAME_BOT_H

#include "base/rng.h"
#include "foliot/client.h"

typedef struct foliot__game_bot {
    foliot__rng rng;
    double next; // second of play at which it looks round again
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons;
} foliot__game_bot;

// Looks at the sample `seconds` after it began to play, sets its controls, and gives orders. False:
// it does not know the game, which its scene's name tells.
bool foliot__game_bot_think(foliot__game_bot *bot, foliot_client *client,
                            const foliot_sample *sample, double seconds);

#endif
