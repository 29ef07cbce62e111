// SPDX-License-Identifier: MIT
// harness_inputs.c: random players from a seed. They join one after the other, press and release
// buttons, sometimes twice in a tick, leave and join again.
#include "divergence/harness_inputs.h"

#include "base/rng.h"

#include <stdbool.h>
#include <stdlib.h>

#define CHANGE_EVERY 6  // ticks, on average
#define LEAVE_EVERY 150 // of the players present
#define RETURN_EVERY 40

typedef struct drawn_player {
    uint32_t sequence;
    bool joined, was_here;
} drawn_player;

struct foliot__harness_players {
    foliot__rng rng;
    uint32_t count;
    drawn_player player[];
};

foliot__harness_players *foliot__harness_players_create(uint32_t count, uint64_t seed)
{
    foliot__harness_players *players =
        calloc(1, sizeof *players + (count + 1) * sizeof players->player[0]);
    if (players) {
        players->rng = foliot__rng_seeded(seed);
        players->count = count;
    }
    return players;
}

static bool chance(foliot__rng *rng, uint32_t one_in)
{
    return foliot__rng_below(rng, one_in) == 0;
}

static foliot_input control(foliot__rng *rng)
{
    foliot_input input = {.kind = FOLIOT_INPUT_CONTROL};
    for (int i = 0; i < FOLIOT_AXIS_COUNT; i++)
        input.axes[i] = (int8_t)((int)foliot__rng_below(rng, 255) - 127);
    input.buttons = (uint16_t)foliot__rng_below(rng, 65536);
    return input;
}

uint32_t foliot__harness_players_draw(foliot__harness_players *players, uint64_t tick,
                                      foliot_input *inputs, uint32_t capacity)
{
    foliot__rng *rng = &players->rng;
    uint32_t count = 0;
    for (uint32_t p = 0; p < players->count && count + 2 <= capacity; p++) {
        drawn_player *player = &players->player[p];
        uint32_t first = count;
        if (!player->joined) {
            bool comes = player->was_here ? chance(rng, RETURN_EVERY) : tick >= 1 + 3 * (uint64_t)p;
            if (!comes)
                continue;
            inputs[count++] = (foliot_input){.kind = FOLIOT_INPUT_JOIN};
            player->joined = player->was_here = true;
        } else if (chance(rng, LEAVE_EVERY)) {
            inputs[count++] = (foliot_input){.kind = FOLIOT_INPUT_LEAVE};
            player->joined = false;
        } else if (chance(rng, CHANGE_EVERY)) {
            inputs[count++] = control(rng);
            if (chance(rng, 10))
                inputs[count++] = control(rng);
        }
        for (uint32_t i = first; i < count; i++) {
            inputs[i].player = p;
            inputs[i].sequence = player->sequence++;
        }
    }
    return count;
}
