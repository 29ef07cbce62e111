// SPDX-License-Identifier: MIT
// bot.c: bots that hold one key for a while, then another, as people do. Seeded, so that a run can
// be repeated. For each game there is one function: a bot looks round some times a second.
#include "app.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "foliot/scene.h"

#define RING_SAFE 4.5    // sumo: farther out it turns back
#define STONE_SPEED 26.0 // siege: as siege.lua throws
#define KING_X 10.0      // siege: the other tower's, on its own side of the middle
#define KING_Y 1.0
#define KING_Z 5.2
#define GRAVITY 9.81
#define DUEL_HALF_TURN 3.14159265358979 // duel: of the fourth axis

foliot__bot_kind foliot__bot_kind_of(const char *name)
{
    static const char *const names[] = {"idle", "random", "circle", "play"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return (foliot__bot_kind)i;
    return FOLIOT__BOT_FILE;
}

void foliot__bot_think(foliot__bot *bot, double seconds, uint64_t tick)
{
    static const uint16_t buttons[8] = {FOLIOT_BUTTON_PULL, FOLIOT_BUTTON_PULL, FOLIOT_BUTTON_PUSH,
                                        FOLIOT_BUTTON_JUMP};
    const foliot__input_script *script = bot->script;
    if (bot->kind == FOLIOT__BOT_RANDOM && seconds >= bot->next) {
        for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
            bot->axes[k] = (int8_t)(127 * ((int)foliot__rng_below(&bot->rng, 3) - 1));
        bot->buttons = buttons[foliot__rng_below(&bot->rng, 8)];
        bot->next = seconds + 0.2 + 0.8 * foliot__rng_unit(&bot->rng);
    }
    for (;
         bot->kind == FOLIOT__BOT_FILE && bot->at < script->count && script->ticks[bot->at] <= tick;
         bot->at++) {
        const foliot_input *input = &script->inputs[bot->at];
        if (input->player != 0 || input->kind != FOLIOT_INPUT_CONTROL)
            continue;
        memcpy(bot->axes, input->axes, sizeof bot->axes);
        bot->buttons = input->buttons;
    }
    if (bot->kind == FOLIOT__BOT_CIRCLE) { // a turn in four seconds, in sixteen steps
        double angle = 6.283185307179586 * floor(seconds * 4) / 16;
        bot->axes[0] = (int8_t)lround(127 * cos(angle));
        bot->axes[1] = (int8_t)lround(127 * sin(angle));
    }
}

// -- games

typedef struct seen {
    foliot_client *client;
    const foliot_sample *sample;
    uint32_t me;      // slot
    uint32_t own_tag; // of the bot's own objects
    const double *at; // where I am
} seen;

static bool alive(const seen *s, uint32_t slot)
{
    return s->sample->bodies[slot].flags & FOLIOT_BODY_ALIVE;
}

// The slot that this client's player drives: the body that has its name, or its tag.
static bool find_me(seen *s, bool by_tag)
{
    uint32_t player = foliot_client_get_player(s->client);
    const char *name = foliot_client_get_name(s->client, player);
    s->own_tag = player + 1;
    for (uint32_t i = 0; i < s->sample->count; i++) {
        const char *there = foliot_client_get_player_name(s->client, i);
        bool mine = by_tag ? foliot_client_get_tag(s->client, i) == s->own_tag
                           : there && name && strcmp(there, name) == 0;
        if (!alive(s, i) || !mine)
            continue;
        s->me = i;
        s->at = s->sample->bodies[i].position;
        return true;
    }
    return false;
}

// The nearest body that is wanted(s, slot); FOLIOT_NO_BODY if there is none.
static uint32_t find_nearest(const seen *s, bool (*wanted)(const seen *, uint32_t))
{
    uint32_t best = FOLIOT_NO_BODY;
    double least = INFINITY;
    for (uint32_t i = 0; i < s->sample->count; i++) {
        if (i == s->me || !alive(s, i) || !wanted(s, i))
            continue;
        const double *x = s->sample->bodies[i].position;
        double dx = x[0] - s->at[0], dy = x[1] - s->at[1], d2 = dx * dx + dy * dy;
        if (d2 < least) {
            least = d2;
            best = i;
        }
    }
    return best;
}

static void steer_to(foliot__game_bot *bot, const seen *s, double x, double y)
{
    double dx = x - s->at[0], dy = y - s->at[1], d = sqrt(dx * dx + dy * dy);
    bot->axes[0] = (int8_t)(d > 0 ? lround(127 * dx / d) : 0);
    bot->axes[1] = (int8_t)(d > 0 ? lround(127 * dy / d) : 0);
}

static void steer_to_body(foliot__game_bot *bot, const seen *s, uint32_t slot)
{
    const double *x = s->sample->bodies[slot].position;
    steer_to(bot, s, x[0], x[1]);
}

// -- katamari: the nearest cube that is not mine

static bool foreign_cube(const seen *s, uint32_t slot)
{
    foliot_shape shape;
    bool small = foliot_client_get_shape(s->client, slot, &shape) &&
                 shape.kind == FOLIOT_SHAPE_BOX && shape.half[0] < 0.5;
    return small && foliot_client_get_tag(s->client, slot) != s->own_tag;
}

static void play_katamari(foliot__game_bot *bot, seen *s)
{
    if (!find_me(s, false))
        return;
    uint32_t cube = find_nearest(s, foreign_cube);
    if (cube != FOLIOT_NO_BODY)
        steer_to_body(bot, s, cube);
    bot->buttons = foliot__rng_below(&bot->rng, 4) ? 0 : FOLIOT_BUTTON_PULL;
}

// -- sumo: at the nearest wrestler, and back to the middle before the edge

static bool other_wrestler(const seen *s, uint32_t slot)
{
    uint32_t tag = foliot_client_get_tag(s->client, slot);
    return tag > 0 && tag < 100 && tag != s->own_tag;
}

static void play_sumo(foliot__game_bot *bot, seen *s)
{
    if (!find_me(s, true))
        return;
    bool outside = s->at[0] * s->at[0] + s->at[1] * s->at[1] > RING_SAFE * RING_SAFE;
    uint32_t other = outside ? FOLIOT_NO_BODY : find_nearest(s, other_wrestler);
    if (other == FOLIOT_NO_BODY)
        steer_to(bot, s, 0, 0);
    else
        steer_to_body(bot, s, other);
}

// -- siege: walks about on its side and throws at the other king

// The flatter of the two directions in which a stone of STONE_SPEED reaches the point; 45 degrees
// if the point is too far.
static void throw_at(foliot__game_bot *bot, const seen *s, double x, double y, double z)
{
    double dx = x - s->at[0], dy = y - s->at[1], dz = z - s->at[2] - 1;
    double d = sqrt(dx * dx + dy * dy), v2 = STONE_SPEED * STONE_SPEED;
    double root = v2 * v2 - GRAVITY * (GRAVITY * d * d + 2 * dz * v2);
    double slope = root > 0 ? (v2 - sqrt(root)) / (GRAVITY * d) : 1;
    char order[64];
    double off = 0.25 * (foliot__rng_unit(&bot->rng) - 0.5), miss = 1 + off;
    int length = snprintf(order, sizeof order, "throw %.3f %.3f %.3f", dx / d + off, dy / d - off,
                          slope * miss);
    foliot_status status =
        foliot_client_order(s->client, FOLIOT_ORDER_GAME, order, (size_t)length, NULL);
    (void)status; // an order that is not sent is repeated next time
}

static void play_siege(foliot__game_bot *bot, seen *s)
{
    if (!find_me(s, false))
        return;
    double side = s->at[0] < 0 ? -1 : 1;
    for (int k = 0; k < 2; k++)
        bot->axes[k] = (int8_t)(60 * ((int)foliot__rng_below(&bot->rng, 3) - 1));
    if (fabs(s->at[0]) < KING_X + 3)
        bot->axes[0] = (int8_t)(60 * side);
    if (foliot__rng_below(&bot->rng, 3) == 0)
        throw_at(bot, s, -side * KING_X, KING_Y, KING_Z);
}

// -- duel: walks about and shoots at the nearest player, where it is shown

static bool other_player(const seen *s, uint32_t slot)
{
    return foliot_client_get_player_name(s->client, slot) != NULL;
}

static void play_duel(foliot__game_bot *bot, seen *s)
{
    if (!find_me(s, false))
        return;
    uint32_t other = find_nearest(s, other_player);
    for (int k = 0; k < 2; k++)
        bot->axes[k] = (int8_t)(90 * ((int)foliot__rng_below(&bot->rng, 3) - 1));
    bot->buttons = 0;
    if (other == FOLIOT_NO_BODY)
        return;
    const double *x = s->sample->bodies[other].position;
    double angle = atan2(x[1] - s->at[1], x[0] - s->at[0]);
    long turn = lround(angle * 127 / DUEL_HALF_TURN);
    bot->axes[3] = (int8_t)(turn ? turn : 1); // 0: where it walks
    bot->buttons = FOLIOT_BUTTON_PULL;
}

static const struct {
    const char *scene;
    void (*play)(foliot__game_bot *bot, seen *s);
} games[] = {
    {"katamari", play_katamari}, {"sumo", play_sumo}, {"siege", play_siege}, {"duel", play_duel}};

bool foliot__game_bot_think(foliot__game_bot *bot, foliot_client *client,
                            const foliot_sample *sample, double seconds)
{
    const char *scene = foliot_client_get_scene_name(client);
    seen s = {.client = client, .sample = sample};
    for (size_t i = 0; scene && i < sizeof games / sizeof *games; i++) {
        if (strcmp(scene, games[i].scene) != 0)
            continue;
        if (seconds >= bot->next) {
            bot->next = seconds + 0.15 + 0.3 * foliot__rng_unit(&bot->rng);
            games[i].play(bot, &s);
        }
        return true;
    }
    return false;
}
