// SPDX-License-Identifier: MIT
// lockstep.c: a custom game in lockstep. The game does not use foliot's world: it is a skirmish of
// units in fixed point. The example tests it with the harness, hosts it with three players, records
// it, and verifies the recording.
//     lockstep [--plant-fault] [--enet] [FILE]
// --plant-fault: one player's copy computes wrongly, and another forgets to save a field: both are
// found and named.
// --enet: over UDP on the loopback, in real time, instead of in memory on a virtual clock.
// docs/how-to/own-simulation.md explains this file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <foliot/foliot.h>
#include <foliot/client.h>
#include <foliot/server.h>

// -- the game
// Everything is an integer of a stated width; fixed point has 16 bits behind the point.

#define PLAYERS 4
#define UNITS (16 * PLAYERS)
#define SPEED_MAX (1 << 15) // half a field a tick

typedef struct unit {
    int32_t x, y, vx, vy;
    uint32_t health, cooldown;
} unit;

typedef struct skirmish {
    uint64_t tick, random;
    uint32_t size; // of the square, in fields
    int32_t pull_x[PLAYERS], pull_y[PLAYERS];
    uint32_t attacks[PLAYERS];
    unit units[UNITS];
    // Not state: the trace that lockstep's search reads, and the faults of --plant-fault.
    void (*after_stage)(void *user, uint32_t stage);
    void *stage_user;
    const char *fault;
} skirmish;

static uint32_t draw(skirmish *s, uint32_t bound) // xorshift64: chance is part of the state
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (uint32_t)(s->random >> 32) % bound;
}

static void place(skirmish *s, uint32_t i)
{
    uint32_t side = s->size << 16;
    s->units[i] = (unit){.x = (int32_t)draw(s, side), .y = (int32_t)draw(s, side), .health = 100};
}

static int32_t clamp(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}

static void move(const skirmish *s, unit *u, uint32_t owner)
{
    int32_t edge = (int32_t)(s->size << 16) - 1;
    u->vx = clamp(u->vx - u->vx / 16 + 16 * s->pull_x[owner], -SPEED_MAX, SPEED_MAX);
    u->vy = clamp(u->vy - u->vy / 16 + 16 * s->pull_y[owner], -SPEED_MAX, SPEED_MAX);
    u->x = clamp(u->x + u->vx, 0, edge);
    u->y = clamp(u->y + u->vy, 0, edge);
}

static void fight(skirmish *s, uint32_t i)
{
    unit *u = &s->units[i];
    u->cooldown -= u->cooldown > 0;
    for (uint32_t k = 0; k < UNITS && s->attacks[i % PLAYERS] && u->cooldown == 0; k++) {
        unit *other = &s->units[k];
        if (k % PLAYERS == i % PLAYERS || abs(u->x - other->x) > 1 << 16 ||
            abs(u->y - other->y) > 1 << 16)
            continue;
        uint32_t harm = 5 + draw(s, 10);
        other->health -= harm < other->health ? harm : other->health;
        u->cooldown = 12;
        if (other->health == 0)
            place(s, k);
    }
}

// -- the game as a foliot_simulation

static foliot_status create(void *user, const void *setup, size_t bytes, void **self)
{
    const uint8_t *from = setup;
    if (bytes != 2 || from[1] == 0) // seed, size: hostile bytes, they come over the network
        return FOLIOT_STATUS_INVALID;
    skirmish *s = calloc(1, sizeof *s);
    if (!s)
        return FOLIOT_STATUS_MEMORY;
    s->random = 0x9e3779b97f4a7c15u + from[0];
    s->size = from[1];
    s->fault = user;
    for (uint32_t i = 0; i < UNITS; i++)
        place(s, i);
    *self = s;
    return FOLIOT_STATUS_OK;
}

static uint64_t tick(const void *self)
{
    return ((const skirmish *)self)->tick;
}

static bool faulty(const skirmish *s, const char *what)
{
    return s->fault && strcmp(s->fault, what) == 0;
}

static foliot_status step(void *self, const foliot_input *inputs, uint32_t count)
{
    skirmish *s = self;
    for (uint32_t i = 0; i < count; i++) // refuse before anything changes
        if (inputs[i].player >= PLAYERS)
            return FOLIOT_STATUS_INVALID;
    for (uint32_t i = 0; i < count; i++) {
        bool here = inputs[i].kind == FOLIOT_INPUT_CONTROL;
        s->pull_x[inputs[i].player] = here ? inputs[i].axes[0] : 0;
        s->pull_y[inputs[i].player] = here ? inputs[i].axes[1] : 0;
        s->attacks[inputs[i].player] = here && inputs[i].buttons & 1;
    }
    for (uint32_t i = 0; i < UNITS; i++)
        move(s, &s->units[i], i % PLAYERS);
    if (faulty(s, "computes wrongly") && s->tick == 149)
        s->units[7].vx += 1; // as another compiler might
    if (s->after_stage)
        s->after_stage(s->stage_user, 0);
    for (uint32_t i = 0; i < UNITS; i++)
        fight(s, i);
    s->tick++;
    if (s->after_stage)
        s->after_stage(s->stage_user, 1);
    return FOLIOT_STATUS_OK;
}

// Parts and fields: one list, used for saving, restoring, reports and the perturbation test. All
// numbers are saved as 64 bits here, which is simple; write them as narrow as you like.
static uint32_t part_count(const void *self)
{
    (void)self;
    return 1 + PLAYERS + UNITS;
}

static void part(const void *self, uint32_t number, foliot_simulation_part *about)
{
    (void)self;
    if (number == 0)
        *about = (foliot_simulation_part){"game", FOLIOT_PART_ALONE, 2};
    else if (number <= PLAYERS)
        *about = (foliot_simulation_part){"player", number - 1, 3};
    else
        *about = (foliot_simulation_part){"unit", number - 1 - PLAYERS, 6};
}

#define SIGNED(name, value)                                                                        \
    {                                                                                              \
        name, FOLIOT_VALUE_I64, false, (uint64_t)(int64_t)(value)                                  \
    }
#define UNSIGNED(name, value)                                                                      \
    {                                                                                              \
        name, FOLIOT_VALUE_U64, false, (value)                                                     \
    }

static void fields(const void *self, uint32_t number, foliot_simulation_field *values)
{
    const skirmish *s = self;
    if (number == 0) {
        const foliot_simulation_field all[] = {UNSIGNED("tick", s->tick),
                                               UNSIGNED("random", s->random)};
        memcpy(values, all, sizeof all);
    } else if (number <= PLAYERS) {
        uint32_t p = number - 1;
        const foliot_simulation_field all[] = {SIGNED("pull.x", s->pull_x[p]),
                                               SIGNED("pull.y", s->pull_y[p]),
                                               UNSIGNED("attacks", s->attacks[p])};
        memcpy(values, all, sizeof all);
    } else {
        const unit *u = &s->units[number - 1 - PLAYERS];
        const foliot_simulation_field all[] = {SIGNED("x", u->x),
                                               SIGNED("y", u->y),
                                               SIGNED("vx", u->vx),
                                               SIGNED("vy", u->vy),
                                               UNSIGNED("health", u->health),
                                               UNSIGNED("cooldown", u->cooldown)};
        memcpy(values, all, sizeof all);
    }
}

static void field_put(void *self, uint32_t number, uint32_t field, uint64_t bits)
{
    skirmish *s = self;
    if (number == 0) {
        *(field == 0 ? &s->tick : &s->random) = bits;
    } else if (number <= PLAYERS) {
        uint32_t p = number - 1;
        uint32_t *at[] = {(uint32_t *)&s->pull_x[p], (uint32_t *)&s->pull_y[p], &s->attacks[p]};
        *at[field] = (uint32_t)bits;
    } else {
        unit *u = &s->units[number - 1 - PLAYERS];
        uint32_t *at[] = {(uint32_t *)&u->x,  (uint32_t *)&u->y, (uint32_t *)&u->vx,
                          (uint32_t *)&u->vy, &u->health,        &u->cooldown};
        *at[field] = (uint32_t)bits;
    }
}

#define FIELDS (2 + 3 * PLAYERS + 6 * UNITS)

// Every field of every part, in order, little-endian, whatever the machine.
static size_t save(const void *self, void *bytes, size_t capacity)
{
    const skirmish *s = self;
    uint8_t *to = bytes;
    size_t at = 0;
    for (uint32_t p = 0; bytes && capacity >= 8 * FIELDS && p < part_count(s); p++) {
        foliot_simulation_part about;
        foliot_simulation_field values[6];
        part(s, p, &about);
        fields(s, p, values);
        for (uint32_t f = 0; f < about.field_count; f++, at += 8) {
            if (faulty(s, "forgets to save") && f == 5)
                values[f].bits = 0; // the cooldown
            for (int k = 0; k < 8; k++)
                to[at + k] = (uint8_t)(values[f].bits >> 8 * k);
        }
    }
    return 8 * FIELDS;
}

static foliot_status restore(void *self, const void *bytes, size_t length)
{
    skirmish *s = self;
    const uint8_t *from = bytes;
    size_t at = 0;
    if (length != 8 * FIELDS)
        return FOLIOT_STATUS_CORRUPT;
    for (uint32_t p = 0; p < part_count(s); p++) {
        foliot_simulation_part about;
        part(s, p, &about);
        for (uint32_t f = 0; f < about.field_count; f++, at += 8) {
            uint64_t bits = 0;
            for (int k = 0; k < 8; k++)
                bits |= (uint64_t)from[at + k] << 8 * k;
            field_put(s, p, f, bits);
        }
    }
    return FOLIOT_STATUS_OK;
}

static foliot_digest digest(const void *self)
{
    const skirmish *s = self;
    uint64_t words[FIELDS];
    uint8_t bytes[8 * FIELDS];
    size_t count = 0;
    for (uint32_t p = 0; p < part_count(s); p++) {
        foliot_simulation_part about;
        foliot_simulation_field values[6];
        part(s, p, &about);
        fields(s, p, values);
        for (uint32_t f = 0; f < about.field_count; f++)
            words[count++] = values[f].bits;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(words[i / 8] >> 8 * (i % 8));
    return foliot_digest_compute(bytes, sizeof bytes);
}

static void watch(void *self, void (*after_stage)(void *user, uint32_t stage), void *user)
{
    skirmish *s = self;
    s->after_stage = after_stage;
    s->stage_user = user;
}

static const char *const stages[] = {"move", "fight"};
static const uint8_t setup[] = {7, 24}; // seed, size

static foliot_simulation_kind skirmish_kind(const char *fault)
{
    return (foliot_simulation_kind){.name = "org.example.skirmish",
                                    .version = 1,
                                    .create = create,
                                    .destroy = free,
                                    .tick = tick,
                                    .step = step,
                                    .capture = save,
                                    .restore = restore,
                                    // The members below make digests cheaper and reports better:
                                    .user = (void *)fault,
                                    .digest = digest,
                                    .part_count = part_count,
                                    .part = part,
                                    .fields = fields,
                                    .set_field = field_put,
                                    .stages = stages,
                                    .stage_count = 2,
                                    .watch = watch};
}

// -- does it pass the harness?

static bool test(const char *fault)
{
    char text[4096];
    foliot_harness_result result;
    foliot_simulation_kind kind = skirmish_kind(fault);
    foliot_harness_config config = foliot_harness_config_default();
    config.kind = &kind;
    config.setup = setup;
    config.setup_bytes = sizeof setup;
    config.players = PLAYERS;
    if (foliot_harness_run(&config, &result) != FOLIOT_STATUS_OK)
        return false;
    foliot_harness_print_text(&result, text, sizeof text);
    fputs(text, stdout);
    return result.passed;
}

// -- a match

#define CLIENTS 3
#define HZ 60
#define TICKS 300

typedef struct match {
    bool enet;
    uint64_t now_ns;
    foliot_hub *hub;
    foliot_transport *host, *wires[CLIENTS];
    foliot_simulation simulation;
    foliot_recording *recording;
    foliot_server *server;
    foliot_client *clients[CLIENTS];
    foliot_simulation_kind kinds[CLIENTS];
    uint32_t found;
} match;

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void must(foliot_status status, const char *what)
{
    if (status == FOLIOT_STATUS_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, foliot_status_get_text(status));
    exit(1);
}

static foliot_transport *open_transport(match *m, bool listens)
{
    foliot_transport *transport;
    foliot_transport_config wire = foliot_transport_config_default();
    if (listens) {
        wire.peers_max = 8;
        wire.bind = "127.0.0.1";
        wire.port = m->enet ? 0 : 7777;
    }
    must(foliot_impairment_parse("delay=30ms,jitter=0-20ms,loss=5%", &wire.send, NULL),
         "impairment");
    must(m->enet ? foliot_transport_create_enet(&wire, m->now_ns, &transport)
                 : foliot_transport_create_memory(m->hub, &wire, m->now_ns, &transport),
         "transport");
    return transport;
}

static void host_match(match *m, const foliot_simulation_kind *kind, const char *file)
{
    must(foliot_simulation_create(kind, setup, sizeof setup, &m->simulation), "simulation");
    must(foliot_recording_open(file, &m->simulation, NULL, &m->recording), file);
    m->host = open_transport(m, true);
    foliot_server_config config = foliot_server_config_default();
    config.transport = m->host;
    must(foliot_server_create(&config, m->now_ns, &m->server), "server");
    foliot_session_config session = foliot_session_config_default();
    session.name = "skirmish";
    session.mode = FOLIOT_SESSION_LOCKSTEP;
    session.pace_hz = HZ;
    session.ticks = TICKS;
    session.simulation = &m->simulation;
    session.player_limit = PLAYERS;
    session.recording = m->recording;
    must(foliot_server_add_session(m->server, &session, m->now_ns), "session");
}

static void join_match(match *m, int i, const char *fault)
{
    char name[16];
    snprintf(name, sizeof name, "player-%d", i);
    m->kinds[i] = skirmish_kind(fault);
    m->wires[i] = open_transport(m, false);
    foliot_client_config config = foliot_client_config_default();
    config.transport = m->wires[i];
    config.address = "127.0.0.1";
    config.port = foliot_transport_get_port(m->host);
    config.name = name;
    config.simulation = &m->kinds[i];
    must(foliot_client_create(&config, m->now_ns, &m->clients[i]), "client");
}

static void report(match *m)
{
    char text[2048];
    foliot_divergence_report found;
    while (foliot_server_poll_divergence(m->server, &found)) {
        foliot_divergence_report_print_text(&found, NULL, text, sizeof text);
        fputs(text, stdout);
        m->found++;
    }
}

static void play(match *m)
{
    while (!foliot_server_get_done(m->server)) {
        foliot_server_update(m->server, m->now_ns);
        report(m);
        for (int i = 0; i < CLIENTS; i++) {
            uint64_t phase = m->now_ns / 200000000u + 3 * (uint64_t)i; // other keys every 0.2 s
            int8_t axes[FOLIOT_AXIS_COUNT] = {(int8_t)(phase * 37 % 255 - 127),
                                              (int8_t)(phase * 91 % 255 - 127)};
            foliot_client_set_input(m->clients[i], axes, phase % 3 != 0);
            foliot_client_update(m->clients[i], m->now_ns);
        }
        if (m->enet)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        m->now_ns = m->enet ? clock_ns() : m->now_ns + 1000000;
    }
}

static bool end_match(match *m)
{
    bool agree = true;
    for (int i = 0; i < CLIENTS; i++) {
        foliot_client_statistics seen = foliot_client_get_statistics(m->clients[i]);
        printf("player-%d: %llu ticks stepped, %llu compared, %llu divergences\n", i,
               (unsigned long long)seen.ticks_stepped, (unsigned long long)seen.ticks_compared,
               (unsigned long long)seen.divergences);
        agree = agree && seen.ticks_compared > 0 && seen.divergences == 0;
        foliot_client_destroy(m->clients[i]);
        foliot_transport_destroy(m->wires[i]);
    }
    foliot_server_destroy(m->server);
    must(foliot_recording_close(m->recording, NULL), "recording");
    foliot_simulation_destroy(&m->simulation);
    foliot_transport_destroy(m->host);
    foliot_hub_destroy(m->hub);
    return agree;
}

static bool host(bool enet, const char *fault, const char *file)
{
    match m = {.enet = enet, .now_ns = enet ? clock_ns() : 1000000000u};
    foliot_simulation_kind kind = skirmish_kind(NULL);
    must(foliot_hub_create(&m.hub), "hub");
    host_match(&m, &kind, file);
    for (int i = 0; i < CLIENTS; i++)
        join_match(&m, i, i == 1 ? fault : NULL);
    play(&m);
    return end_match(&m);
}

static bool verify(const char *file)
{
    foliot_replay *replay;
    foliot_damage damage;
    foliot_verdict verdict;
    foliot_simulation_kind kind = skirmish_kind(NULL);
    must(foliot_replay_open(file, &kind, &replay, &damage), file);
    must(foliot_replay_verify(replay, NULL, &verdict), file);
    printf("%s: %s, %llu ticks\n", file,
           verdict.status == FOLIOT_STATUS_OK ? "match" : foliot_status_get_name(verdict.status),
           (unsigned long long)verdict.ticks);
    foliot_replay_close(replay);
    return verdict.status == FOLIOT_STATUS_OK;
}

int main(int argc, char **argv)
{
    bool plant = false, enet = false;
    const char *file = "skirmish.foliot";
    for (int i = 1; i < argc; i++) {
        plant |= strcmp(argv[i], "--plant-fault") == 0;
        enet |= strcmp(argv[i], "--enet") == 0;
        if (argv[i][0] != '-')
            file = argv[i];
    }
    bool fit = test(plant ? "forgets to save" : NULL);
    bool agree = host(enet, plant ? "computes wrongly" : NULL, file);
    bool same = verify(file);
    return fit && agree && same ? 0 : 3;
}
