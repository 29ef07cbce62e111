// SPDX-License-Identifier: MIT
// siege.c: siege.lua's rules in C, as a module: the same commands and messages for the same views.
// `foliot-server games/siege/siege.yaml --rules build/games/siege.so --allow-modules` loads it.
//
// Arithmetic has the order of the script, in binary64, and becomes binary32 in commands, except for
// positions. A table of the script, by ticket or body, is a sorted list here: tables are walked in
// ascending order.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/query.h"
#include "foliot/digest.h"
#include "siege.h"

#define THROW_SPEED 26.0
#define BUTTON_PUSH 2
#define STONE_TICKS 900 // stones lie for 15 s
#define KING_HEALTH 100
#define NAME_MAX_SHOWN 40 // bytes of a name that fit into a key
#define TOWER_X 10        // team 1 stands at -x, team 2 at +x
#define NUMBER_BYTES 96   // of a number in an order
#define ORDER_BYTES 96    // of an order of this game

static const char *const prototype_names[PROTOTYPES] = {"stone", "block", "beam", "king"};

// -- actions of the rules

// A full tick has no room for it: the script does not check this either.
static void give(siege *s, const foliot_command *command)
{
    if (foliot_rules_command(s->rules, command) == FOLIOT_STATUS_MEMORY)
        s->no_memory = true;
}

static foliot_command var_of(const char *key)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
    c.fields = FOLIOT_COMMAND_HAS(var, key);
    c.as.var.key = key;
    return c;
}

static void set_integer(siege *s, const char *key, int64_t value)
{
    foliot_command c = var_of(key);
    c.fields |= FOLIOT_COMMAND_HAS(var, integer);
    c.as.var.integer = value;
    give(s, &c);
}

static void set_text(siege *s, const char *key, const char *text)
{
    foliot_command c = var_of(key);
    c.fields |= FOLIOT_COMMAND_HAS(var, text);
    c.as.var.text = text;
    give(s, &c);
}

// "ammo." and the player's key name.
static const char *key_of(siege *s, char key[FOLIOT_VAR_KEY_BYTES], const char *what, uint32_t id)
{
    const char *name = s->state.players[id].name;
    if (name[0] && strlen(name) <= NAME_MAX_SHOWN)
        snprintf(key, FOLIOT_VAR_KEY_BYTES, "%s.%.*s", what, NAME_MAX_SHOWN, name);
    else
        snprintf(key, FOLIOT_VAR_KEY_BYTES, "%s.player %u", what, (unsigned)id);
    return key;
}

static void show_ammo(siege *s, uint32_t id)
{
    char key[FOLIOT_VAR_KEY_BYTES];
    set_integer(s, key_of(s, key, "ammo", id), s->state.players[id].ammo);
}

__attribute__((format(printf, 3, 4))) static void say(siege *s, uint32_t to, const char *format,
                                                      ...)
{
    char text[FOLIOT_MESSAGE_BYTES_MAX + 1];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    foliot_status status = foliot_rules_message(s->rules, to, text, strlen(text), true);
    (void)status; // the message is dropped if the tick has no room
}

static foliot_command spawn_of(const siege *s, int prototype, double x, double y, double z,
                               uint32_t tag)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_spawn);
    c.fields = FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position) |
               FOLIOT_COMMAND_HAS(spawn, tag);
    c.as.spawn.prototype = s->prototypes[prototype];
    c.as.spawn.position[0] = x;
    c.as.spawn.position[1] = y;
    c.as.spawn.position[2] = z;
    c.as.spawn.tag = tag;
    return c;
}

static void give_with_ticket(siege *s, foliot_command c, uint32_t ticket)
{
    c.fields |= FOLIOT_COMMAND_HAS(spawn, ticket);
    c.as.spawn.ticket = ticket;
    give(s, &c);
}

// Three floors of four blocks with beams between them; tickets identify parts and the king.
static void build(siege *s, uint32_t team)
{
    double x = team == 1 ? -TOWER_X : TOWER_X;
    for (uint32_t floor = 0; floor <= 2; floor++) {
        double z = floor * 1.5;
        for (int side = -1; side <= 1; side += 2) {
            for (int depth = -1; depth <= 1; depth += 2) {
                foliot_command block = spawn_of(s, BLOCK, x + side, depth, z + 0.5, team);
                give(s, &block);
            }
            give_with_ticket(s, spawn_of(s, BEAM, x, side, z + 1.25, team),
                             1000 + team * 100 + floor);
        }
    }
    give_with_ticket(s, spawn_of(s, KING, x, 1, 5.3, team), 2000 + team);
}

// -- bodies

static bool is_alive(const siege *s, foliot_body_id body)
{
    return foliot_world_get_body_state(s->world, body).flags != 0;
}

static uint32_t tag_of(const siege *s, foliot_body_id id)
{
    foliot_body body;
    return foliot_world_get_body(s->world, id, &body) == FOLIOT_STATUS_OK ? body.tag : 0;
}

// The scene's own body in that slot, while it is there.
static foliot_body_id scene_body(uint32_t slot)
{
    return (foliot_body_id){(uint64_t)1 << 32 | slot};
}

static void on_spawn(siege *s, foliot_body_id body, uint32_t ticket)
{
    if (ticket > 2000) {
        if (ticket - 2001 < 2)
            s->state.kings[ticket - 2001] = body.value;
    } else if (ticket > 1000) {
        uint64_t *first = &s->state.beams[ticket - 1001];
        if (!is_alive(s, (foliot_body_id){*first})) {
            *first = body.value;
            return;
        }
        // The beams of a floor hold together until they are hit hard.
        foliot_command c = foliot_command_default(FOLIOT_COMMAND_joint);
        c.fields = FOLIOT_COMMAND_HAS(joint, kind) | FOLIOT_COMMAND_HAS(joint, a) |
                   FOLIOT_COMMAND_HAS(joint, b) | FOLIOT_COMMAND_HAS(joint, break_force) |
                   FOLIOT_COMMAND_HAS(joint, break_torque);
        c.as.joint.kind = FOLIOT_CONSTRAINT_WELD;
        c.as.joint.a.value = *first;
        c.as.joint.b = body;
        c.as.joint.break_force = 30000;
        c.as.joint.break_torque = 30000;
        give(s, &c);
        *first = 0;
    } else if (ticket > 0 && !siege_add_stone(&s->state, body.value, s->state.tick + STONE_TICKS)) {
        s->no_memory = true;
    }
}

// -- players

static uint32_t team_of(uint32_t id)
{
    return id % 2 + 1; // places alternate between the sides
}

static void join(siege *s, uint32_t id, const char *name)
{
    char key[FOLIOT_VAR_KEY_BYTES];
    siege_player *p = &s->state.players[id];
    if (p->joined)
        return;
    *p = (siege_player){.joined = true, .ammo = AMMO_MAX, .thrown = -THROW_TICKS};
    snprintf(p->name, sizeof p->name, "%s", name);
    set_integer(s, key_of(s, key, "team", id), team_of(id));
    show_ammo(s, id);
    foliot_body_id body = foliot_world_get_player_body(s->world, id);
    if (body.value != 0) {
        foliot_command c = foliot_command_default(FOLIOT_COMMAND_set_body);
        c.fields = FOLIOT_COMMAND_HAS(set_body, body) | FOLIOT_COMMAND_HAS(set_body, tag);
        c.as.set_body.body = body;
        c.as.set_body.tag = team_of(id);
        give(s, &c);
    }
    say(s, id, "Throw stones at the other tower: its king must fall. You have %d.", p->ammo);
}

static void leave(siege *s, uint32_t id)
{
    char key[FOLIOT_VAR_KEY_BYTES];
    if (!s->state.players[id].joined)
        return;
    foliot_command c = var_of(key_of(s, key, "team", id));
    give(s, &c);
    c = var_of(key_of(s, key, "ammo", id));
    give(s, &c);
    s->state.players[id] = (siege_player){0};
}

// Zeros are added so that none is negative.
static void throw_stone(siege *s, uint32_t id, const double direction[3])
{
    siege_player *p = &s->state.players[id];
    foliot_body_id own = foliot_world_get_player_body(s->world, id);
    if (!p->joined || own.value == 0 || s->state.over)
        return;
    double dx = direction[0] + 0.0, dy = direction[1] + 0.0, dz = direction[2] + 0.0;
    double length = foliot_sqrt(dx * dx + dy * dy + dz * dz);
    if (p->ammo == 0 || length < 0.01 || length > 1000 ||
        (int64_t)s->state.tick - p->thrown < THROW_TICKS)
        return;
    p->thrown = (int64_t)s->state.tick;
    double ux = dx / length, uy = dy / length, uz = dz / length;
    foliot_body_state body = foliot_world_get_body_state(s->world, own);
    const double *at = body.position;
    p->ammo--;
    show_ammo(s, id);
    foliot_command c = spawn_of(s, STONE, at[0] + 1.2 * ux, at[1] + 1.2 * uy, at[2] + 1 + 1.2 * uz,
                                10 + team_of(id));
    c.fields |= FOLIOT_COMMAND_HAS(spawn, velocity);
    c.as.spawn.velocity[0] = (float)(THROW_SPEED * ux);
    c.as.spawn.velocity[1] = (float)(THROW_SPEED * uy);
    c.as.spawn.velocity[2] = (float)(THROW_SPEED * uz);
    give_with_ticket(s, c, id + 1);
}

// A minus, digits and points: the script's pattern defines the characters, strtod the number.
static bool take_number(const char **text, char behind, double *number)
{
    const char *at = *text;
    size_t length = at[0] == '-', digits = strspn(at + length, "0123456789.");
    char copy[NUMBER_BYTES + 1], *end;
    length += digits;
    if (digits == 0 || length > NUMBER_BYTES || at[length] != behind)
        return false;
    memcpy(copy, at, length);
    copy[length] = 0;
    *number = strtod(copy, &end);
    *text = at + length + (behind != 0);
    return end == copy + length;
}

static void on_order(siege *s, uint32_t id, const char *text)
{
    double direction[3];
    if (strlen(text) > ORDER_BYTES || strncmp(text, "throw ", 6) != 0)
        return;
    text += 6;
    for (int i = 0; i < 3; i++)
        if (!take_number(&text, i < 2 ? ' ' : 0, &direction[i]))
            return;
    throw_stone(s, id, direction);
}

static void apply_players(siege *s, const foliot_rules_view *view)
{
    for (uint32_t i = 0; i < view->order_count; i++) {
        const foliot_order *order = &view->orders[i];
        char text[FOLIOT_ORDER_BYTES_MAX + 1];
        if (order->player >= s->players_max || order->length > FOLIOT_ORDER_BYTES_MAX)
            continue;
        memcpy(text, order->bytes, order->length);
        text[order->length] = 0; // texts end at a first zero byte
        const char *name = s->state.players[order->player].name;
        if (order->kind == FOLIOT_ORDER_GAME)
            on_order(s, order->player, text);
        else if (order->kind == FOLIOT_ORDER_CHAT && name[0])
            say(s, FOLIOT_TO_ALL, "%s: %s", name, text);
        else if (order->kind == FOLIOT_ORDER_CHAT)
            say(s, FOLIOT_TO_ALL, "player %u: %s", (unsigned)order->player, text);
        else if (order->kind == FOLIOT_ORDER_JOINED)
            join(s, order->player, text);
        else if (order->kind == FOLIOT_ORDER_LEFT)
            leave(s, order->player);
    }
    for (uint32_t i = 0; i < view->input_count; i++) {
        const foliot_input *input = &view->inputs[i];
        if (input->player < s->players_max && input->kind == FOLIOT_INPUT_JOIN)
            join(s, input->player, "");
        else if (input->player < s->players_max && input->kind == FOLIOT_INPUT_LEAVE)
            leave(s, input->player);
    }
}

// -- kings

static void print_end(const siege *s, char said[80])
{
    snprintf(said, 80, "Team %u wins: the other king %s", 3 - s->state.over / 2u,
             s->state.over % 2 ? "fell" : "was struck down");
}

static void lose(siege *s, uint32_t team, bool fell)
{
    char said[80];
    if (s->state.over)
        return;
    s->state.over = (uint8_t)(2 * team + fell);
    s->state.over_at = s->state.tick;
    set_text(s, "phase", "over");
    print_end(s, said);
    say(s, FOLIOT_TO_ALL, "%s", said);
}

static void count_down(siege *s)
{
    int64_t left = (int64_t)(s->state.over_at + BREAK_TICKS - s->state.tick);
    char said[80];
    if (left % 60 == 0)
        set_integer(s, "clock", left >= 0 ? left / 60 : (left - 59) / 60);
    if (left != 0)
        return;
    print_end(s, said);
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_end);
    c.fields = FOLIOT_COMMAND_HAS(end, reason) | FOLIOT_COMMAND_HAS(end, next);
    c.as.end.reason = said;
    c.as.end.next = "siege.yaml";
    give(s, &c);
}

static void hurt(siege *s, uint64_t king, double impulse)
{
    for (uint32_t team = 1; team <= 2; team++) {
        double *health = &s->state.health[team - 1];
        if (s->state.kings[team - 1] != king)
            continue;
        double left = *health - floor(impulse / 10);
        *health = 0 < left ? left : 0;
        const char *key = team == 1 ? "king.1" : "king.2";
        const foliot_command none = var_of(key);
        if (fabs(*health) < 0x1p63)
            set_integer(s, key, (int64_t)*health);
        else
            give(s, &none);
        if (*health <= 0)
            lose(s, team, false);
    }
}

static void apply_hits(siege *s)
{
    uint32_t count;
    const foliot_hit_event *hits = foliot_world_get_hit_events(s->world, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (tag_of(s, hits[i].a) > 10)
            hurt(s, hits[i].b.value, hits[i].impulse);
        else if (tag_of(s, hits[i].b) > 10)
            hurt(s, hits[i].a.value, hits[i].impulse);
    }
}

static void begin_contact(siege *s, foliot_body_id a, foliot_body_id b, double speed)
{
    for (uint32_t team = 1; team <= 2; team++) {
        uint64_t king = s->state.kings[team - 1];
        if (king == 0 || (a.value != king && b.value != king))
            continue;
        foliot_body_id other = a.value == king ? b : a;
        // The ground is the scene's body of that name, not one that was spawned in its slot.
        uint32_t slot = foliot_body_id_get_slot(other);
        bool is_first = slot < s->scene->body_count && other.value == scene_body(slot).value;
        const char *name = is_first ? s->scene->bodies[slot].name : NULL;
        if (name && is_alive(s, other) && strcmp(name, "ground") == 0)
            lose(s, team, true);
        else if (tag_of(s, other) > 10)
            hurt(s, king, speed * 20);
    }
}

static void apply_contacts(siege *s)
{
    uint32_t count = foliot_world_get_contact_events(s->world, s->contacts, s->contact_capacity);
    if (count > s->contact_capacity) {
        foliot_contact_event *more = realloc(s->contacts, 2 * count * sizeof *more);
        if (!more) {
            s->no_memory = true;
            return;
        }
        s->contacts = more;
        s->contact_capacity = 2 * count;
        foliot_world_get_contact_events(s->world, s->contacts, s->contact_capacity);
    }
    for (uint32_t i = 0; i < count; i++)
        if (s->contacts[i].change == FOLIOT_CONTACT_BEGIN)
            begin_contact(s, s->contacts[i].a, s->contacts[i].b, s->contacts[i].speed);
}

// -- a tick

// The ferry crosses the field and turns back at its ends.
static void steer_ferry(siege *s)
{
    foliot_body_state ferry = foliot_world_get_body_state(s->world, scene_body(s->ferry));
    double y = ferry.position[1], vy = ferry.velocity[1];
    if (!((y > 9 && vy > 0) || (y < -9 && vy < 0)))
        return;
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_set_motion);
    c.fields = FOLIOT_COMMAND_HAS(set_motion, body) | FOLIOT_COMMAND_HAS(set_motion, velocity);
    c.as.set_motion.body = scene_body(s->ferry);
    c.as.set_motion.velocity[1] = (float)-vy;
    give(s, &c);
}

static void clear_stones(siege *s)
{
    siege_state *t = &s->state;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->stone_count; i++) {
        bool alive = is_alive(s, (foliot_body_id){t->stones[i].body});
        if (alive && t->tick < t->stones[i].goes) {
            t->stones[kept++] = t->stones[i];
        } else if (alive) {
            foliot_command c = foliot_command_default(FOLIOT_COMMAND_despawn);
            c.fields = FOLIOT_COMMAND_HAS(despawn, body);
            c.as.despawn.body.value = t->stones[i].body;
            give(s, &c);
        }
    }
    t->stone_count = kept;
}

static foliot_status tick(void *self, const foliot_rules_view *view, foliot_rules *rules,
                          char *problem, size_t problem_bytes)
{
    siege *s = self;
    uint32_t count;
    s->world = view->world;
    s->scene = view->scene;
    s->rules = rules;
    apply_players(s, view);
    const foliot_event *events = foliot_world_get_events(s->world, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].kind == FOLIOT_EVENT_SPAWNED)
            on_spawn(s, events[i].body, events[i].ticket);
    apply_hits(s);
    apply_contacts(s);
    s->state.tick++;
    if (!is_alive(s, scene_body(s->ferry))) {
        snprintf(problem, problem_bytes, "the ferry is gone");
        return FOLIOT_STATUS_INVALID;
    }
    if (s->state.over)
        count_down(s);
    steer_ferry(s);
    clear_stones(s);
    for (uint32_t id = 0; id < s->players_max; id++) {
        siege_player *p = &s->state.players[id];
        if (!p->joined)
            continue;
        foliot_input controls = foliot_world_get_player_controls(s->world, id);
        const double ahead[3] = {team_of(id) == 1 ? 1 : -1, 0, 0.25}; // and up, for keyboards
        if (controls.buttons & BUTTON_PUSH)
            throw_stone(s, id, ahead);
        if (++p->reload < RELOAD_TICKS)
            continue;
        p->reload = 0;
        if (p->ammo < AMMO_MAX) {
            p->ammo++;
            show_ammo(s, id);
        }
    }
    return s->no_memory ? FOLIOT_STATUS_MEMORY : FOLIOT_STATUS_OK;
}

// -- instances

static void destroy(void *self)
{
    siege *s = self;
    siege_free_state(&s->state);
    free(s->contacts);
    free(s);
}

static foliot_status create(void *user, const foliot_scene *scene, foliot_rules *rules, void **self,
                            char *problem, size_t problem_bytes)
{
    (void)user;
    siege *s = calloc(1, sizeof *s);
    if (!s)
        return FOLIOT_STATUS_MEMORY;
    s->players_max = scene->players.limit;
    s->state.players = calloc(s->players_max + 1, sizeof *s->state.players);
    s->ferry = foliot_scene_find_body(scene, "ferry");
    bool complete = s->state.players && s->ferry != FOLIOT_NO_BODY;
    for (int i = 0; i < PROTOTYPES; i++) {
        s->prototypes[i] = foliot_scene_find_prototype(scene, prototype_names[i]);
        complete = complete && s->prototypes[i] != FOLIOT_NO_BODY;
    }
    if (!complete) {
        snprintf(problem, problem_bytes,
                 "siege wants a body 'ferry' and prototypes 'stone', 'block', 'beam' and 'king'");
        destroy(s);
        return FOLIOT_STATUS_INVALID;
    }
    s->rules = rules;
    set_text(s, "phase", "play");
    for (uint32_t team = 1; team <= 2; team++) {
        s->state.health[team - 1] = KING_HEALTH;
        build(s, team);
        set_integer(s, team == 1 ? "king.1" : "king.2", KING_HEALTH);
    }
    *self = s;
    return FOLIOT_STATUS_OK;
}

static const foliot_rules_kind siege_kind = {.name = "siege",
                                             .version = 2,
                                             .create = create,
                                             .destroy = destroy,
                                             .tick = tick,
                                             .save = siege_save,
                                             .restore = siege_restore};

extern const foliot_rules_module foliot_rules_entry __attribute__((visibility("default")));
const foliot_rules_module foliot_rules_entry = FOLIOT_RULES_MODULE(&siege_kind);
