// SPDX-License-Identifier: MIT
// ring.c: a custom simulation as a module. A token runs round a ring of nodes. Each player has a
// home node, and holds a key when the token arrives to take it: this scores one point, and the
// player owns the node for a while. An order "turn" reverses the token.
//     cc -shared -fPIC -o ring.so ring.c $(pkg-config --cflags foliot)
//     foliot-server --simulation ./ring.so --allow-modules
//     foliot-client 127.0.0.1 --simulation ./ring.so
// A configuration has lines like "nodes 24", "players 4", "seed 7", "pace 60".
// It calls no function of the library, so it links no library.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <foliot/simulation.h>

#define NODES_MAX 64
#define PLAYERS_MAX 8
#define STEPS 256 // of the way from a node to the next
#define SPEED_MAX 128
#define SETUP_BYTES 5

enum { TICK, RANDOM, TURNED, AT, SPEED, LAPS, RING_FIELDS };
enum { HERE, PRESSES, LEANS, SCORE, PLAYER_FIELDS };

// Every number of the state is one word, so that one function lists them all.
typedef struct ring {
    uint32_t nodes, players; // of the setup
    uint64_t ring[RING_FIELDS];
    uint64_t player[PLAYERS_MAX][PLAYER_FIELDS];
    uint64_t owner[NODES_MAX]; // player + 1
} ring;

static uint32_t part_count(const void *self)
{
    const ring *r = self;
    return 1 + r->players + r->nodes;
}

static uint64_t *words_of(ring *r, uint32_t part, uint32_t *count)
{
    *count = part == 0 ? RING_FIELDS : part <= r->players ? PLAYER_FIELDS : 1;
    return part == 0            ? r->ring
           : part <= r->players ? r->player[part - 1]
                                : &r->owner[part - 1 - r->players];
}

// -- from a configuration to a state

// Five bytes: nodes, players, seed (two), ticks a second.
static size_t configure(const void *config, size_t bytes, void *setup, size_t capacity,
                        char *problem, size_t problem_bytes)
{
    const char *at = config, *end = at + bytes;
    unsigned nodes = 24, players = 4, seed = 1, pace = 60;
    while (at < end) {
        char line[64], key[16];
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        unsigned value;
        snprintf(line, sizeof line, "%.*s", (int)(length < 63 ? length : 63), at);
        at += length + 1;
        if (sscanf(line, "%15s %u", key, &value) != 2) {
            if (strspn(line, " \t") == strlen(line))
                continue;
            snprintf(problem, problem_bytes, "'%.40s' is no line like \"nodes 24\"", line);
            return SIZE_MAX;
        }
        unsigned *to = strcmp(key, "nodes") == 0     ? &nodes
                       : strcmp(key, "players") == 0 ? &players
                       : strcmp(key, "seed") == 0    ? &seed
                       : strcmp(key, "pace") == 0    ? &pace
                                                     : NULL;
        if (!to) {
            snprintf(problem, problem_bytes, "there is no '%s': nodes, players, seed, pace", key);
            return SIZE_MAX;
        }
        *to = value;
    }
    if (nodes < 2 || nodes > NODES_MAX || players < 1 || players > PLAYERS_MAX || players > nodes ||
        seed > 65535 || pace < 1 || pace > 240) {
        snprintf(problem, problem_bytes,
                 "2 to %d nodes, 1 to %d players with a node each, a seed below 65536, a pace of 1 "
                 "to 240",
                 NODES_MAX, PLAYERS_MAX);
        return SIZE_MAX;
    }
    const uint8_t out[SETUP_BYTES] = {(uint8_t)nodes, (uint8_t)players, (uint8_t)seed,
                                      (uint8_t)(seed >> 8), (uint8_t)pace};
    if (capacity >= SETUP_BYTES)
        memcpy(setup, out, SETUP_BYTES);
    return SETUP_BYTES;
}

static bool setup_valid(const uint8_t *setup, size_t bytes)
{
    return bytes == SETUP_BYTES && setup[0] >= 2 && setup[0] <= NODES_MAX && setup[1] >= 1 &&
           setup[1] <= PLAYERS_MAX && setup[1] <= setup[0] && setup[4] >= 1 && setup[4] <= 240;
}

static foliot_status describe(const void *setup, size_t bytes, foliot_simulation_terms *terms)
{
    const uint8_t *from = setup;
    if (!setup_valid(from, bytes))
        return FOLIOT_STATUS_INVALID;
    terms->pace_hz = from[4];
    terms->player_limit = from[1];
    snprintf(terms->name, sizeof terms->name, "ring");
    return FOLIOT_STATUS_OK;
}

static foliot_status create(void *user, const void *setup, size_t bytes, void **self)
{
    const uint8_t *from = setup;
    (void)user;
    if (!setup_valid(from, bytes)) // hostile bytes: they come over the network
        return FOLIOT_STATUS_INVALID;
    ring *r = calloc(1, sizeof *r);
    if (!r)
        return FOLIOT_STATUS_MEMORY;
    r->nodes = from[0];
    r->players = from[1];
    r->ring[RANDOM] = 0x9e3779b97f4a7c15u + from[2] + 256u * from[3];
    r->ring[SPEED] = 48;
    *self = r;
    return FOLIOT_STATUS_OK;
}

static void destroy(void *self)
{
    free(self);
}

// -- the step

static uint64_t tick(const void *self)
{
    return ((const ring *)self)->ring[TICK];
}

static uint64_t draw(ring *r) // xorshift64: chance is part of the state
{
    uint64_t *x = &r->ring[RANDOM];
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x >> 32;
}

static void take_input(ring *r, const foliot_input *input)
{
    uint64_t *player = r->player[input->player];
    bool controls = input->kind == FOLIOT_INPUT_CONTROL;
    if (!controls)
        player[HERE] = input->kind == FOLIOT_INPUT_JOIN;
    player[PRESSES] = controls && input->buttons != 0;
    player[LEANS] = !controls ? 1 : input->axes[0] > 0 ? 2 : input->axes[0] < 0 ? 0 : 1;
}

// The token has reached a node: the player at home there takes it by holding the key.
static void arrive(ring *r, uint32_t node)
{
    bool taken = false;
    for (uint32_t p = 0; p < r->players; p++) {
        if (p * r->nodes / r->players != node || !r->player[p][PRESSES])
            continue;
        r->player[p][SCORE]++;
        r->owner[node] = p + 1;
        taken = true;
    }
    if (!taken && draw(r) % 4 == 0)
        r->owner[node] = 0;
    r->ring[LAPS] += node == 0;
}

static void move(ring *r)
{
    uint64_t round = (uint64_t)r->nodes * STEPS, before = r->ring[AT] / STEPS;
    for (uint32_t p = 0; p < r->players; p++) {
        if (r->player[p][HERE] && r->player[p][LEANS] == 2 && r->ring[SPEED] < SPEED_MAX)
            r->ring[SPEED]++;
        if (r->player[p][HERE] && r->player[p][LEANS] == 0 && r->ring[SPEED] > 1)
            r->ring[SPEED]--;
    }
    uint64_t way = r->ring[TURNED] ? round - r->ring[SPEED] : r->ring[SPEED];
    r->ring[AT] = (r->ring[AT] + way) % round;
    if (r->ring[AT] / STEPS != before)
        arrive(r, (uint32_t)(r->ring[AT] / STEPS));
}

static foliot_status step_tick(void *self, const foliot_tick_inputs *in)
{
    ring *r = self;
    for (uint32_t i = 0; i < in->input_count; i++) // refuse before anything changes
        if (in->inputs[i].player >= r->players)
            return FOLIOT_STATUS_INVALID;
    for (uint32_t i = 0; i < in->input_count; i++)
        take_input(r, &in->inputs[i]);
    for (uint32_t i = 0; i < in->command_count; i++)
        if (in->commands[i].kind == FOLIOT_COMMAND_var)
            r->ring[TURNED] = in->commands[i].as.var.integer != 0;
    move(r);
    r->ring[TICK]++;
#ifdef RING_FAULT // a build that computes otherwise from this tick on, for tests
    if (r->ring[TICK] == RING_FAULT)
        r->player[0][SCORE] ^= 1;
#endif
    return FOLIOT_STATUS_OK;
}

static foliot_status step(void *self, const foliot_input *inputs, uint32_t count)
{
    return step_tick(self, &(foliot_tick_inputs){.inputs = inputs, .input_count = count});
}

// "turn": reverses the direction for everybody.
static uint32_t order(const void *self, const foliot_order *o, foliot_command *commands,
                      uint32_t capacity)
{
    const ring *r = self;
    if (capacity < 1 || o->kind != FOLIOT_ORDER_GAME || o->length != 4 ||
        memcmp(o->bytes, "turn", 4) != 0)
        return 0;
    commands[0] =
        (foliot_command){.kind = FOLIOT_COMMAND_var,
                         .fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, integer)};
    commands[0].as.var.key = "turned";
    commands[0].as.var.integer = !r->ring[TURNED];
    return 1;
}

// -- the state as bytes and as numbers

static size_t capture(const void *self, void *bytes, size_t capacity)
{
    ring *r = (ring *)(uintptr_t)self; // words_of is for writers, too
    uint8_t *to = bytes;
    uint32_t count;
    size_t length = 8 * (RING_FIELDS + PLAYER_FIELDS * (size_t)r->players + r->nodes);
    if (!bytes || capacity < length)
        return length;
    for (uint32_t part = 0; part < part_count(r); part++) {
        const uint64_t *words = words_of(r, part, &count);
        for (uint32_t i = 0; i < count; i++)
            for (int k = 0; k < 8; k++)
                *to++ = (uint8_t)(words[i] >> 8 * k);
    }
    return length;
}

static bool state_valid(const ring *r)
{
    bool valid = r->ring[AT] < (uint64_t)r->nodes * STEPS && r->ring[SPEED] >= 1 &&
                 r->ring[SPEED] <= SPEED_MAX && r->ring[TURNED] <= 1 && r->ring[RANDOM] != 0;
    for (uint32_t p = 0; p < r->players; p++)
        valid &= r->player[p][HERE] <= 1 && r->player[p][PRESSES] <= 1 && r->player[p][LEANS] <= 2;
    for (uint32_t n = 0; n < r->nodes; n++)
        valid &= r->owner[n] <= r->players;
    return valid;
}

static foliot_status restore(void *self, const void *bytes, size_t length)
{
    ring *r = self, next = *r;
    const uint8_t *from = bytes;
    uint32_t count;
    if (length != capture(r, NULL, 0))
        return FOLIOT_STATUS_CORRUPT;
    for (uint32_t part = 0; part < part_count(r); part++) {
        uint64_t *words = words_of(&next, part, &count);
        for (uint32_t i = 0; i < count; i++) {
            words[i] = 0;
            for (int k = 0; k < 8; k++)
                words[i] |= (uint64_t)*from++ << 8 * k;
        }
    }
    if (!state_valid(&next))
        return FOLIOT_STATUS_CORRUPT;
    *r = next;
    return FOLIOT_STATUS_OK;
}

static void part(const void *self, uint32_t number, foliot_simulation_part *about)
{
    ring *r = (ring *)(uintptr_t)self;
    words_of(r, number, &about->field_count);
    about->group = number == 0 ? "ring" : number <= r->players ? "player" : "node";
    about->index = number == 0            ? FOLIOT_PART_ALONE
                   : number <= r->players ? number - 1
                                          : number - 1 - r->players;
}

static void fields(const void *self, uint32_t number, foliot_simulation_field *values)
{
    static const char *const names[] = {"tick", "random", "turned", "at", "speed", "laps"};
    static const char *const player_names[] = {"here", "presses", "leans", "score"};
    ring *r = (ring *)(uintptr_t)self;
    uint32_t count;
    const uint64_t *words = words_of(r, number, &count);
    for (uint32_t i = 0; i < count; i++)
        values[i] = (foliot_simulation_field){.name = number == 0            ? names[i]
                                                      : number <= r->players ? player_names[i]
                                                                             : "owner",
                                              .type = FOLIOT_VALUE_U64,
                                              .bits = words[i]};
}

static void set_field(void *self, uint32_t number, uint32_t field, uint64_t bits)
{
    uint32_t count;
    words_of(self, number, &count)[field] = bits;
}

// The ring unrolled, and the score.
static size_t picture(const void *self, uint32_t columns, uint32_t rows, char *text,
                      size_t capacity)
{
    const ring *r = self;
    char all[NODES_MAX + 32 * PLAYERS_MAX];
    int at = 0;
    (void)columns;
    (void)rows;
    for (uint32_t n = 0; n < r->nodes; n++)
        all[at++] = r->ring[AT] / STEPS == n ? 'O' : r->owner[n] ? (char)('0' + r->owner[n]) : '.';
    all[at++] = '\n';
    for (uint32_t p = 0; p < r->players; p++)
        if (r->player[p][HERE])
            at += snprintf(all + at, 32, "player %u: %llu\n", p + 1,
                           (unsigned long long)(r->player[p][SCORE] % 1000000));
    return (size_t)snprintf(text, capacity, "%.*s", at, all);
}

static const foliot_simulation_kind kind = {.name = "org.example.ring",
                                            .version = 1,
                                            .create = create,
                                            .destroy = destroy,
                                            .tick = tick,
                                            .step = step,
                                            .step_tick = step_tick,
                                            .capture = capture,
                                            .restore = restore,
                                            .part_count = part_count,
                                            .part = part,
                                            .fields = fields,
                                            .set_field = set_field,
                                            .order = order};

extern const foliot_simulation_module foliot_simulation_entry
    __attribute__((visibility("default")));
const foliot_simulation_module foliot_simulation_entry =
    FOLIOT_SIMULATION_MODULE(.kind = &kind, .describe = describe, .configure = configure,
                             .draw = picture);
