// SPDX-License-Identifier: MIT
// bot.c: bots that hold one key for a while, then another, as people do. Seeded, so that a run can
// be repeated.
#include "bot.h"

#include <math.h>
#include <string.h>

#include "foliot/scene.h"

foliot__bot_kind foliot__bot_kind_of(const char *name)
{
    static const char *const names[] = {"idle", "random", "circle", "play"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return (foliot__bot_kind)i;
    return FOLIOT__BOT_FILE;
}

static void wander(foliot__bot *bot, double seconds)
{
    static const uint16_t buttons[8] = {FOLIOT_BUTTON_PULL, FOLIOT_BUTTON_PULL, FOLIOT_BUTTON_PUSH,
                                        FOLIOT_BUTTON_JUMP};
    if (seconds < bot->next)
        return;
    for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
        bot->axes[k] = (int8_t)(127 * ((int)foliot__rng_below(&bot->rng, 3) - 1));
    bot->buttons = buttons[foliot__rng_below(&bot->rng, 8)];
    bot->next = seconds + 0.2 + 0.8 * foliot__rng_unit(&bot->rng);
}

static void follow_script(foliot__bot *bot, uint64_t tick)
{
    for (; bot->at < bot->script->count && bot->script->ticks[bot->at] <= tick; bot->at++) {
        const foliot_input *input = &bot->script->inputs[bot->at];
        if (input->player != 0 || input->kind != FOLIOT_INPUT_CONTROL)
            continue;
        memcpy(bot->axes, input->axes, sizeof bot->axes);
        bot->buttons = input->buttons;
    }
}

void foliot__bot_think(foliot__bot *bot, double seconds, uint64_t tick)
{
    if (bot->kind == FOLIOT__BOT_RANDOM)
        wander(bot, seconds);
    if (bot->kind == FOLIOT__BOT_FILE)
        follow_script(bot, tick);
    if (bot->kind == FOLIOT__BOT_CIRCLE) { // a turn in four seconds, in sixteen steps
        double angle = 6.283185307179586 * floor(seconds * 4) / 16;
        bot->axes[0] = (int8_t)lround(127 * cos(angle));
        bot->axes[1] = (int8_t)lround(127 * sin(angle));
    }
}
