// SPDX-License-Identifier: MIT
// game_rules.c: see game_rules.h.
#include "game_rules.h"
#include "slots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define POWER_TICKS 40

typedef struct game_rules_state {
    uint32_t numbers[GAME_RULES_PLAYERS]; // that came, of each player
    uint32_t sequences[GAME_RULES_PLAYERS];
    uint32_t wrong, score, joined, left;
    uint64_t chain;                            // of all orders so far
    uint64_t ticks, ready[GAME_RULES_PLAYERS]; // ready: the power again
    uint64_t fired;
} game_rules_state;

static foliot_status create(void *user, const foliot_scene *scene, foliot_rules *rules, void **self,
                            char *problem, size_t problem_bytes)
{
    (void)user, (void)scene, (void)rules, (void)problem, (void)problem_bytes;
    *self = calloc(1, sizeof(game_rules_state));
    return *self ? FOLIOT_STATUS_OK : FOLIOT_STATUS_MEMORY;
}

static void set_var(foliot_rules *rules, const char *key, int64_t value)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
    c.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, integer);
    c.as.var.key = key;
    c.as.var.integer = value;
    foliot_status status = foliot_rules_command(rules, &c);
    (void)status; // a full tick: the next change sets it
}

static void spawn(foliot_rules *rules, const foliot_order *order)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_spawn);
    c.fields = FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position) |
               FOLIOT_COMMAND_HAS(spawn, tag);
    c.as.spawn.position[0] = 3 * (float)(order->sequence % 64);
    c.as.spawn.position[1] = 50 + 4 * (float)order->player;
    c.as.spawn.tag = order->player + 1;
    foliot_status status = foliot_rules_command(rules, &c);
    (void)status;
}

static void despawn(foliot_rules *rules, const foliot_world *world)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_despawn);
    c.fields = FOLIOT_COMMAND_HAS(despawn, body);
    uint32_t count = foliot_world_get_body_count(world);
    for (uint32_t slot = 0; slot < count; slot++)
        if (slot_body(world, slot).prototype != FOLIOT_NO_BODY) {
            c.as.despawn.body = foliot_world_get_body_id(world, slot);
            foliot_status status = foliot_rules_command(rules, &c);
            (void)status;
            return;
        }
}

static void set_tag(foliot_rules *rules, const foliot_world *world, uint32_t tag)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_set_body);
    c.fields = FOLIOT_COMMAND_HAS(set_body, body) | FOLIOT_COMMAND_HAS(set_body, tag);
    c.as.set_body.body = foliot_world_get_body_id(world, 0);
    c.as.set_body.tag = tag;
    foliot_status status = foliot_rules_command(rules, &c);
    (void)status;
}

static void end(foliot_rules *rules, const char *next)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_end);
    c.fields = FOLIOT_COMMAND_HAS(end, reason) | FOLIOT_COMMAND_HAS(end, next);
    c.as.end.reason = "somebody has won";
    c.as.end.next = next;
    foliot_status status = foliot_rules_command(rules, &c);
    (void)status;
}

static void take_number(game_rules_state *g, foliot_rules *rules, const foliot_order *order)
{
    uint32_t number = 0;
    if (order->player >= GAME_RULES_PLAYERS || order->length != 5)
        return;
    memcpy(&number, order->bytes + 1, sizeof number); // tests run where bytes are little-endian
    if (number != ++g->numbers[order->player])
        set_var(rules, "wrong", ++g->wrong);
}

static void say(foliot_rules *rules, uint32_t player, const void *bytes, size_t length,
                bool reliable)
{
    foliot_status status = foliot_rules_message(rules, player, bytes, length, reliable);
    (void)status;
}

static void use_power(game_rules_state *g, foliot_rules *rules, uint32_t player)
{
    set_var(rules, "clock", (int64_t)g->ticks);
    if (g->ticks < g->ready[player % GAME_RULES_PLAYERS])
        return;
    g->ready[player % GAME_RULES_PLAYERS] = g->ticks + POWER_TICKS;
    set_var(rules, "fired", (int64_t)++g->fired);
}

static void take_order(game_rules_state *g, const foliot_rules_view *view, foliot_rules *rules,
                       const foliot_order *order)
{
    switch (order->length ? order->bytes[0] : 0) {
    case 'n':
        take_number(g, rules, order);
        break;
    case 'r':
        g->numbers[order->player % GAME_RULES_PLAYERS] = 0;
        break;
    case 's':
        spawn(rules, order);
        break;
    case 'x':
        despawn(rules, view->world);
        break;
    case 't':
        set_tag(rules, view->world, order->bytes[1]);
        break;
    case 'p':
        set_var(rules, "score", ++g->score);
        break;
    case 'c':
        use_power(g, rules, order->player);
        break;
    case 'm':
    case 'M':
        say(rules, order->bytes[0] == 'm' ? order->player : FOLIOT_TO_ALL, order->bytes,
            order->length, order->bytes[0] == 'm');
        break;
    case 'e':
    case 'E':
        end(rules, order->bytes[0] == 'e' ? "next.yaml" : "");
        break;
    case 'k':
        foliot_rules_kick(rules, order->player, "asked for it");
        break;
    default:
        break;
    }
}

static void take_chat(foliot_rules *rules, const foliot_order *order)
{
    char text[FOLIOT_ORDER_BYTES_MAX + 2] = ">";
    memcpy(text + 1, order->bytes, order->length);
    say(rules, FOLIOT_TO_ALL, text, order->length + 1u, true);
}

// The first body where a player saw it decides their future too. Whatever a client
// claims, it is not the future, and not so far back as all that is kept.
static void look_back(game_rules_state *g, const foliot_rules_view *view, const foliot_rules *rules,
                      uint32_t player)
{
    double tick = foliot_rules_get_aimed_tick(rules, player);
    FOLIOT_ASSERT(tick <= (double)view->tick &&
                  tick >= (double)foliot_history_get_oldest(view->history));
    const foliot_world *past = foliot_history_view(view->history, tick);
    for (uint32_t i = 0; i < foliot_world_get_body_count(past); i++) {
        foliot_body_state state = slot_state(past, i);
        uint64_t bits;
        memcpy(&bits, &state.position[i % 3], sizeof bits);
        g->chain = (g->chain ^ bits) * 0x100000001b3u;
    }
}

static foliot_status tick(void *self, const foliot_rules_view *view, foliot_rules *rules,
                          char *problem, size_t problem_bytes)
{
    game_rules_state *g = self;
    g->ticks++;
    for (uint32_t i = 0; i < view->order_count; i++) {
        const foliot_order *order = &view->orders[i];
        g->chain = (g->chain ^ order->sequence ^ order->kind) * 0x100000001b3u + order->length;
        uint32_t *sequence = &g->sequences[order->player % GAME_RULES_PLAYERS];
        if (order->kind == FOLIOT_ORDER_JOINED)
            *sequence = 0; // of who had the place before
        if (order->sequence != *sequence + 1)
            set_var(rules, "wrong", ++g->wrong);
        *sequence = order->sequence;
        if (order->kind == FOLIOT_ORDER_AIMED) {
            foliot_rules_aim(rules, order);
            look_back(g, view, rules, order->player);
        } else if (order->kind == FOLIOT_ORDER_CHAT) {
            take_chat(rules, order);
        } else if (order->kind == FOLIOT_ORDER_JOINED) {
            g->numbers[order->player % GAME_RULES_PLAYERS] = 0;
            set_var(rules, "joined", ++g->joined);
        } else if (order->kind == FOLIOT_ORDER_LEFT) {
            set_var(rules, "left", ++g->left);
        } else if (order->length && order->bytes[0] == 'f') {
            snprintf(problem, problem_bytes, "told to fail");
            return FOLIOT_STATUS_INVALID;
        } else {
            take_order(g, view, rules, order);
        }
    }
    return FOLIOT_STATUS_OK;
}

static size_t save(const void *self, void *bytes, size_t capacity, char *problem,
                   size_t problem_bytes)
{
    (void)problem, (void)problem_bytes;
    if (capacity >= sizeof(game_rules_state))
        memcpy(bytes, self, sizeof(game_rules_state));
    return sizeof(game_rules_state);
}

static foliot_status restore(void *self, const void *bytes, size_t length)
{
    if (length != sizeof(game_rules_state))
        return FOLIOT_STATUS_CORRUPT;
    memcpy(self, bytes, length);
    return FOLIOT_STATUS_OK;
}

const foliot_rules_kind game_rules_kind = {.name = "test-game",
                                           .version = 1,
                                           .create = create,
                                           .destroy = free,
                                           .tick = tick,
                                           .save = save,
                                           .restore = restore};
