// SPDX-License-Identifier: MIT
// fuzz_client.c: a hostile server against the real client, over the memory transport: raw bytes,
// well-formed messages of every kind with any numbers in them, snapshots, saved states and closed
// ticks, true or with a byte changed, in both modes, through disconnects and reconnects. Whatever
// came, the client returns, takes bounded memory, what its accessors lend can be read, and where it
// has not ended, an honest server that comes after all that is played with. Records of the input:
// what to do, then what that takes; behind the end of the input all is zero.
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "foliot/client.h"
#include "foliot/foliot.h"
#include "net/transport.h"
#include "true_scene.h"
#include "wire/lockstep_message.h"
#include "wire/message.h"
#include "status.h"

#define PORT 7777
#define UPDATE_NS 10000000u
#define UPDATES_MAX 1500
#define RECORDS_MAX 300
#define SLOTS_MAX (1u << 17)
// Bounds of a client's memory, whatever comes: snapshots, world and a state's doubling by the bytes
// that came, and what is always there.
#define MEMORY_FREE ((size_t)96 << 20)
#define MEMORY_A_BYTE 300

size_t __sanitizer_get_current_allocated_bytes(void)
    __attribute__((weak)); // where there is no sanitizer, memory is not counted

typedef struct game {
    const uint8_t *data;
    size_t size, sent;
    foliot_hub *hub;
    foliot_transport *host, *wire;
    foliot_client *client;
    foliot_peer_id peer;
    bool connected;
    uint64_t now_ns;
    uint32_t updates;
    const true_scene *scene; // of the last welcome
    uint32_t scene_at;
    uint64_t tick; // of the last snapshot or state
} game;

static foliot_digest fingerprint;
static foliot_snapshot slots;
static foliot_snapshot_pieces pieces;
static uint64_t sum; // of all that was read, so that it is read

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t memory_in_use(void)
{
    return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes() : 0;
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    static foliot_snapshot_body all[SLOTS_MAX];
    (void)count;
    (void)arguments;
    fingerprint = foliot_get_fingerprint(); // once: it takes milliseconds
    make_true_scenes();
    for (uint32_t i = 0; i < SLOTS_MAX; i++)
        all[i] = (foliot_snapshot_body){.position = {(int32_t)(i * 77), 5, -9},
                                        .flags = FOLIOT_SNAPSHOT_ALIVE};
    slots.bodies = all;
    slots.capacity = SLOTS_MAX;
    return 0;
}

// -- the input

static uint8_t byte(game *g)
{
    if (g->size == 0)
        return 0;
    g->size--;
    return *g->data++;
}

static uint32_t word(game *g)
{
    uint32_t low = byte(g);
    return low | (uint32_t)byte(g) << 8;
}

// Small ones mostly, and those at the edges.
static uint64_t number(game *g)
{
    static const uint64_t edges[] = {UINT64_MAX,
                                     UINT32_MAX,
                                     (uint64_t)UINT32_MAX + 1,
                                     INT32_MAX,
                                     (uint64_t)1 << 60,
                                     ((uint64_t)1 << 60) + 1,
                                     UINT64_MAX - 1,
                                     INT64_MAX,
                                     1u << 20,
                                     (1u << 20) + 1,
                                     (uint64_t)1 << 31,
                                     1u << 29,
                                     4096,
                                     16383,
                                     16384,
                                     1024};
    uint8_t kind = byte(g);
    return kind < 200 ? kind : kind < 232 ? word(g) : edges[kind % 16];
}

static double real(game *g)
{
    static const double reals[] = {50,    60,   1e-300, 1e300, 1e-6, 1e6, 1e-30, 1e30,
                                   1e-15, 1e15, 0x1p-9, 0.02,  1e-7, 1e7, -1,    1e9};
    return reals[byte(g) % 16];
}

// -- messages

static void put(game *g, bool reliable, const uint8_t *bytes, size_t length)
{
    g->sent += length;
    allow_failure(foliot_transport_send(
        g->host, g->peer, reliable ? FOLIOT_DELIVERY_RELIABLE : FOLIOT_DELIVERY_UNRELIABLE, bytes,
        length)); // or it is gone
}

static void say(game *g, const foliot__message *m)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    if (foliot__message_encode(m, bytes, sizeof bytes, &length) == FOLIOT_STATUS_OK)
        put(g, true, bytes, length);
}

static void say_raw(game *g, bool reliable)
{
    size_t length = byte(g);
    length = length < g->size ? length : g->size;
    put(g, reliable, g->data, length);
    g->data += length;
    g->size -= length;
}

static foliot__message honest_welcome(const true_scene *s, bool lockstep, uint64_t tick)
{
    foliot__message m = {.kind = FOLIOT__WELCOME};
    foliot__welcome *w = &m.as.welcome;
    w->protocol = FOLIOT_PROTOCOL;
    strcpy(w->session, "main");
    strcpy(w->scene, s->scene.name);
    w->tick = tick;
    w->dt = 0.02;
    w->pace_hz = w->snapshot_hz = 50;
    w->format = s->format;
    w->scene_bytes = (uint32_t)s->length;
    w->lockstep = lockstep;
    w->watchable = true;
    w->player = lockstep && s->scene.players.limit == 0 ? FOLIOT_NO_PLAYER : 0;
    return m;
}

static void say_welcome(game *g)
{
    uint8_t flags = byte(g);
    g->scene = &scenes[flags % SCENES];
    g->scene_at = 0;
    foliot__message m = honest_welcome(g->scene, flags >> 2 & 1, 0);
    foliot__welcome *w = &m.as.welcome;
    if (flags & 8)
        w->tick = number(g);
    if (flags & 16)
        w->format.bodies_max = (uint32_t)number(g);
    if (flags & 32)
        w->scene_bytes = (uint32_t)number(g);
    if (flags & 64) {
        w->pace_hz = real(g);
        w->snapshot_hz = real(g);
        w->dt = real(g);
        w->format.position_step = real(g);
        w->format.velocity_step = real(g);
    }
    if (flags & 128) {
        w->player = (uint32_t)number(g);
        w->input_delay = (uint32_t)number(g);
        w->watchable = w->input_delay & 1;
        w->format.rotates = byte(g) & 1;
        w->format.spins = byte(g) & 1;
        w->format.damping = (uint32_t)number(g);
        w->format.acceleration[2] = (int32_t)(uint32_t)number(g);
    }
    say(g, &m);
}

static void say_scene_part(game *g)
{
    uint8_t flags = byte(g);
    const true_scene *s = flags & 1 ? &scenes[flags >> 1 & 1] : g->scene;
    foliot__message m = {.kind = FOLIOT__SCENE_PART};
    foliot__scene_part *p = &m.as.scene_part;
    uint32_t length = flags & 4 ? byte(g) : (uint32_t)s->length;
    p->offset = flags & 8 ? (uint32_t)number(g) : flags & 4 ? g->scene_at : 0;
    p->total = flags & 16 ? (uint32_t)number(g) : (uint32_t)s->length;
    uint32_t from = p->offset < s->length ? p->offset : 0;
    p->bytes = s->bytes + from;
    p->length = length < s->length - from ? length : (uint32_t)s->length - from;
    g->scene_at = p->offset + p->length;
    say(g, &m);
}

// Any bytes as records, commands or text.
static void say_of_game(game *g, uint8_t which)
{
    uint8_t bytes[256];
    foliot__message m = {.kind = which == 2   ? FOLIOT__UPDATE
                                 : which == 3 ? FOLIOT__MESSAGE
                                 : which == 4 ? FOLIOT__COMMANDS
                                              : FOLIOT__ORDER_ACKNOWLEDGE};
    uint32_t length = byte(g);
    for (uint32_t i = 0; i < length; i++)
        bytes[i] = byte(g);
    if (which == 2)
        m.as.update = (foliot__update){number(g), byte(g) & 1, bytes, length};
    else if (which == 3)
        m.as.message = (foliot__game_message){number(g), byte(g) & 1, byte(g), bytes, length};
    else if (which == 4)
        m.as.commands = (foliot__commands_part){number(g), byte(g), byte(g), bytes, length};
    else
        m.as.order_acknowledge.sequence = (uint32_t)number(g);
    say(g, &m);
}

static void say_small(game *g)
{
    foliot__message m = {0};
    uint8_t which = byte(g) % 8;
    if (which >= 2 && which <= 5) {
        say_of_game(g, which);
        return;
    }
    switch (which) {
    case 0:
        m.kind = FOLIOT__REFUSE;
        m.as.refuse.reason = (uint32_t)number(g);
        strcpy(m.as.refuse.sentence, "no");
        break;
    case 1:
        m.kind = FOLIOT__BYE;
        strcpy(m.as.bye.sentence, "bye");
        break;
    case 7:
        m.kind = FOLIOT__KIND;
        m.as.kind.kind = byte(g) % 3;
        m.as.kind.reason = byte(g) % (FOLIOT__KIND_IMPOSSIBLE + 1);
        m.as.kind.tick = number(g);
        m.as.kind.sequence = (uint32_t)number(g);
        break;
    default:
        m.kind = FOLIOT__PLAYER;
        m.as.player.player = (uint32_t)number(g);
        m.as.player.joined = byte(g) & 1;
        m.as.player.slot = (uint32_t)number(g);
        strcpy(m.as.player.name, "ada");
    }
    say(g, &m);
}

// Pieces of a snapshot, of any size, with or without a baseline, perhaps with a byte changed, not
// all of them, or twice.
static void say_snapshot(game *g)
{
    uint8_t flags = byte(g);
    foliot_snapshot_coder *coder;
    foliot_snapshot base = slots;
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX] = {FOLIOT__SNAPSHOT_PACKET};
    slots.tick = flags & 1 ? number(g) & UINT32_MAX : g->tick + 1 + (flags >> 1 & 3);
    slots.count =
        flags & 8 ? (uint32_t)(number(g) % (SLOTS_MAX / 64)) * 64 : g->scene->scene.body_count;
    base.count = slots.count;
    base.tick = slots.tick - 1 - (flags >> 1 & 3);
    if (!(flags & 16) && slots.count > 512)
        slots.count = 512; // or it costs too much to make; unchanged ones cost little
    bool delta = flags & 16 && slots.tick > base.tick && slots.tick - base.tick < 60000;
    demand(foliot_snapshot_coder_create(&g->scene->format, &coder));
    if (foliot_snapshot_encode(coder, &slots, delta ? &base : NULL, &pieces) == FOLIOT_STATUS_OK)
        for (uint32_t i = 0; i < pieces.count && i < 64; i++) {
            size_t length = pieces.offsets[i + 1] - pieces.offsets[i];
            memcpy(bytes + 1, pieces.bytes + pieces.offsets[i], length);
            if (flags & 32)
                bytes[1 + byte(g) % length] ^= byte(g);
            put(g, flags & 64, bytes, length + 1);
            if (flags & 128)
                i += byte(g) % 3;
        }
    foliot_snapshot_coder_destroy(coder);
    g->tick = slots.tick & UINT32_MAX;
}

static void say_state(game *g)
{
    static uint8_t patched[STATE_BYTES];
    uint8_t flags = byte(g), which = byte(g) % STATES;
    foliot__message m = {.kind = FOLIOT__KEYFRAME_PART};
    foliot__keyframe_part *p = &m.as.keyframe_part;
    size_t length = g->scene->state_lengths[which],
           most = flags & 1 ? 1 + byte(g) : FOLIOT__SCENE_PART_BYTES;
    memcpy(patched, g->scene->states[which], length);
    for (int i = flags >> 1 & 3; i > 0; i--)
        patched[word(g) % length] ^= byte(g);
    p->tick = flags & 8 ? number(g) : (uint64_t)which * STATE_TICKS;
    p->players = flags & 16 ? (uint32_t)number(g) : g->scene->scene.players.limit;
    p->total = flags & 32 ? (uint32_t)number(g) : (uint32_t)length;
    p->state_bytes = which & 1 && flags & 128 ? (uint32_t)number(g) : p->total;
    uint32_t parts = flags & 1 ? byte(g) : UINT32_MAX;
    for (size_t at = flags & 64 ? word(g) % length : 0; at < length && parts > 0;
         at += p->length, parts--) {
        p->offset = (uint32_t)at;
        p->bytes = patched + at;
        p->length = (uint32_t)(most < length - at ? most : length - at);
        say(g, &m);
    }
    g->tick = p->tick;
}

// Closed ticks: inputs of any player and kind, in order as a block wants them, or bytes that are
// none.
static void say_ticks(game *g)
{
    static const uint8_t kinds[] = {FOLIOT_INPUT_CONTROL, FOLIOT_INPUT_LEAVE, FOLIOT_INPUT_CONTROL,
                                    FOLIOT_INPUT_JOIN};
    static foliot__block block;
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX], flags = byte(g), coded[512];
    memset(&block, 0, sizeof block);
    block.ticks = flags & 1 ? (uint32_t)number(g) % (FOLIOT__BLOCK_TICKS_MAX + 1) : 1u + flags / 16;
    uint32_t count = flags & 2 ? byte(g) % 40u : 0, age = 0, player = 0;
    for (uint32_t i = 0; i < count && age < block.ticks; i++) {
        uint8_t what = byte(g);
        age += what & 3;
        player = what & 3 ? byte(g) * 5u % FOLIOT_PLAYERS_MAX : player + (what >> 2 & 1);
        if (age >= block.ticks || player >= FOLIOT_PLAYERS_MAX)
            break;
        block.ages[i] = age;
        block.inputs[i] = (foliot_input){.player = player,
                                         .kind = kinds[what >> 4 & 3],
                                         .axes = {(int8_t)(byte(g) % 127)},
                                         .buttons = what};
        block.count = i + 1;
    }
    size_t length = foliot__block_encode(&block, coded, sizeof coded);
    if (length == SIZE_MAX)
        return;
    if (flags & 4 && length)
        coded[byte(g) % length] ^= byte(g);
    uint64_t first = flags & 8 ? number(g) : g->tick;
    foliot__message m = {.kind = FOLIOT__TICKS_PART};
    m.as.ticks_part = (foliot__ticks_part){
        .first = first, .ticks = block.ticks, .block = coded, .length = (uint32_t)length};
    foliot__relay relay = {.end = (uint32_t)(first + block.ticks),
                           .ticks = block.ticks,
                           .block = coded,
                           .block_length = length};
    if (flags & 16)
        say(g, &m);
    else if ((length = foliot__relay_encode(&relay, bytes)) != SIZE_MAX)
        put(g, false, bytes, length);
    g->tick = first + block.ticks;
}

static void say_status(game *g)
{
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX], flags = byte(g);
    if (flags & 1) {
        foliot__status_packet status = {(uint32_t)number(g), (uint32_t)number(g),
                                        (uint32_t)number(g), (int32_t)(uint32_t)number(g),
                                        (uint32_t)number(g), (uint32_t)number(g),
                                        (uint32_t)number(g)};
        foliot__status_packet_encode(&status, bytes);
        put(g, false, bytes, FOLIOT__STATUS_PACKET_BYTES);
        return;
    }
    foliot__lockstep_status status = {.tick = (uint32_t)number(g),
                                      .acks.next = (uint32_t)number(g),
                                      .checked = (uint32_t)number(g),
                                      .diverged = flags >> 1 & 1,
                                      .stamp = (uint32_t)number(g),
                                      .slack_us = (int32_t)(uint32_t)number(g),
                                      .echo_ms = (uint16_t)number(g),
                                      .held_ms = (uint16_t)number(g),
                                      .late = byte(g)};
    status.acks.count = flags >> 2 & 7;
    for (uint32_t i = 0; i < status.acks.count; i++) {
        status.acks.runs[i].missing = 1 + (uint32_t)number(g) % 16382;
        status.acks.runs[i].here = 1 + (uint32_t)number(g) % 16382;
    }
    size_t length = foliot__lockstep_status_encode(&status, bytes);
    if (length != SIZE_MAX)
        put(g, false, bytes, length);
}

static void ask(game *g)
{
    static const uint8_t kinds[] = {'C', 'L', 'R', 'X'};
    uint8_t flags = byte(g), question[FOLIOT_SEARCH_REQUEST_BYTES_MAX] = {kinds[flags & 3]};
    foliot__message m = {.kind = FOLIOT__SEARCH_REQUEST};
    uint64_t tick = flags & 4 ? number(g) : g->tick - 1;
    memcpy(question + 1, &tick, sizeof tick);
    question[9] = flags & 8 ? byte(g) : 15;
    for (int i = 10; i < 22; i++)
        question[i] = flags & 16 ? byte(g) : 0;
    m.as.search = (foliot__search_message){.number = byte(g),
                                           .first = flags & 32 ? number(g) : 0,
                                           .bytes = question,
                                           .length = (flags & 3) == 0   ? 9
                                                     : (flags & 3) == 1 ? 9
                                                                        : 22};
    say(g, &m);
    if (!(flags & 64))
        return;
    m = (foliot__message){.kind = FOLIOT__DIVERGED};
    m.as.diverged = (foliot__diverged){.tick = tick,
                                       .index = number(g),
                                       .part = (uint32_t)number(g),
                                       .field = (uint32_t)number(g),
                                       .body = (uint32_t)number(g),
                                       .type = byte(g) % 4,
                                       .part_known = byte(g) & 1,
                                       .field_known = byte(g) & 1};
    strcpy(m.as.diverged.stage, "finish");
    say(g, &m);
}

// -- the client

static void read_bytes(const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sum += ((const uint8_t *)bytes)[i];
}

// All that its accessors lend.
static void look(game *g)
{
    foliot_sample sample;
    foliot_divergence_report found;
    char text[2048];
    const foliot_scene *scene = foliot_client_get_scene(g->client);
    if (scene) {
        read_bytes(scene->bodies, scene->body_count * sizeof *scene->bodies);
        sum += strlen(scene->name);
    }
    if (foliot_client_sample(g->client, g->now_ns, &sample) == FOLIOT_STATUS_OK)
        read_bytes(sample.bodies, sample.count * sizeof *sample.bodies);
    for (uint32_t slot = 0; slot < 4; slot++) {
        const char *name = foliot_client_get_player_name(g->client, slot);
        foliot_shape shape = {.kind = FOLIOT_SHAPE_POINT};
        sum += name ? strlen(name) : 0;
        sum += foliot_client_get_tag(g->client, slot) +
               foliot_client_get_shape(g->client, slot, &shape) + shape.kind;
    }
    foliot_client_event event;
    while (foliot_client_poll(g->client, &event))
        sum += strlen((const char *)event.bytes) + event.length;
    for (uint32_t i = 0; i < foliot_client_get_var_count(g->client); i++)
        sum += strlen(foliot_client_get_var_at(g->client, i).key);
    const foliot_simulation *simulation = foliot_client_get_simulation(g->client);
    if (simulation)
        sum += foliot_simulation_get_tick(simulation) + simulation->setup_bytes;
    if (foliot_client_poll_divergence(g->client, &found)) {
        read_bytes(found.before, found.before_bytes);
        read_bytes(found.after, found.after_bytes);
        read_bytes(found.inputs, found.input_count * sizeof *found.inputs);
        sum += foliot_divergence_report_print_text(&found, scene, text, sizeof text);
    }
    sum += foliot_client_get_statistics(g->client).newest_tick +
           strlen(foliot_client_get_reason(g->client)) +
           strlen(foliot_client_get_scene_name(g->client));
}

static bool over(const game *g)
{
    foliot_client_state state = foliot_client_get_state(g->client);
    return state == FOLIOT_CLIENT_REFUSED || state == FOLIOT_CLIENT_CLOSED ||
           state == FOLIOT_CLIENT_LOST;
}

static void pass(game *g, uint32_t updates)
{
    foliot_transport_event event;
    foliot_transport_flush(g->host, g->now_ns);
    for (; updates > 0 && g->updates < UPDATES_MAX && !over(g); updates--) {
        g->now_ns += UPDATE_NS;
        g->updates++;
        while (foliot_transport_poll(g->host, g->now_ns, &event)) {
            g->peer = event.kind == FOLIOT_TRANSPORT_CONNECTED ? event.peer : g->peer;
            g->connected = event.kind == FOLIOT_TRANSPORT_CONNECTED ||
                           (g->connected && event.kind != FOLIOT_TRANSPORT_DISCONNECTED);
        }
        foliot_transport_flush(g->host, g->now_ns);
        const int8_t axes[FOLIOT_AXIS_COUNT] = {(int8_t)(g->updates / 7 % 3 * 60)};
        foliot_client_set_input(g->client, axes, 0);
        if (g->updates % 16 == 0)
            allow_failure(foliot_client_order(g->client, FOLIOT_ORDER_GAME, "go", 2, NULL));
        foliot_client_update(g->client, g->now_ns);
        if (g->updates % 4 == 0)
            look(g);
    }
}

static void begin(game *g)
{
    foliot_transport_config wire = foliot_transport_config_default();
    g->now_ns = 1000000000;
    g->scene = &scenes[0];
    demand(foliot_hub_create(&g->hub));
    demand(foliot_transport_create_memory(g->hub, &wire, g->now_ns, &g->wire));
    wire.bind = "127.0.0.1";
    wire.port = PORT;
    wire.peers_max = 4;
    demand(foliot_transport_create_memory(g->hub, &wire, g->now_ns, &g->host));
    foliot_client_config config = foliot_client_config_default();
    config.transport = g->wire;
    config.port = PORT;
    config.fingerprint = fingerprint;
    demand(foliot_client_create(&config, g->now_ns, &g->client));
    pass(g, 5);
}

static void end(game *g)
{
    foliot_client_destroy(g->client);
    foliot_transport_destroy(g->wire);
    foliot_transport_destroy(g->host);
    foliot_hub_destroy(g->hub);
}

// The client forgets the past: scene, mode and snapshots are those of the server that is there
// now.
static void come_back_honestly(game *g)
{
    foliot_sample sample;
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX] = {FOLIOT__SNAPSHOT_PACKET};
    g->updates = 0;
    g->connected = false;
    foliot_transport_disconnect(g->host, g->peer, 0, true);
    for (int i = 0; i < 200 && !g->connected; i++)
        pass(g, 1);
    if (over(g))
        return;
    FOLIOT_ASSERT(g->connected);
    const true_scene *s = &scenes[1];
    foliot__message m = honest_welcome(s, false, 1000000);
    say(g, &m);
    m = (foliot__message){.kind = FOLIOT__SCENE_PART};
    m.as.scene_part = (foliot__scene_part){0, (uint32_t)s->length, s->bytes, (uint32_t)s->length};
    say(g, &m);
    foliot_snapshot_coder *coder;
    demand(foliot_snapshot_coder_create(&s->format, &coder));
    slots.tick = 1000000;
    slots.count = s->scene.body_count;
    demand(foliot_snapshot_encode(coder, &slots, NULL, &pieces));
    for (uint32_t i = 0; i < pieces.count; i++) {
        size_t length = pieces.offsets[i + 1] - pieces.offsets[i];
        memcpy(bytes + 1, pieces.bytes + pieces.offsets[i], length);
        put(g, true, bytes, length + 1);
    }
    foliot_snapshot_coder_destroy(coder);
    pass(g, 10);
    FOLIOT_ASSERT(foliot_client_get_state(g->client) == FOLIOT_CLIENT_PLAYING);
    FOLIOT_ASSERT(foliot_client_get_scene(g->client) &&
                  strcmp(foliot_client_get_scene(g->client)->name, s->scene.name) == 0);
    FOLIOT_ASSERT(foliot_client_get_kind(g->client) != FOLIOT_PEER_STEPPER);
    FOLIOT_ASSERT(foliot_client_sample(g->client, g->now_ns, &sample) == FOLIOT_STATUS_OK &&
                  sample.count == s->scene.body_count);
}

static void act(game *g)
{
    switch (byte(g) % 14) {
    case 0:
        say_raw(g, false);
        break;
    case 1:
        say_raw(g, true);
        break;
    case 2:
        say_welcome(g);
        break;
    case 3:
        say_scene_part(g);
        break;
    case 4:
        say_small(g);
        break;
    case 5:
    case 6:
        say_snapshot(g);
        break;
    case 7:
        say_state(g);
        break;
    case 8:
    case 9:
        say_ticks(g);
        break;
    case 10:
        say_status(g);
        break;
    case 11:
        ask(g);
        break;
    case 12:
        foliot_transport_disconnect(g->host, g->peer, 0, true);
        pass(g, 60); // it comes again after half a second
        break;
    default:
        pass(g, 1 + byte(g) % 16);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    game g = {.data = data, .size = size};
    size_t before = memory_in_use();
    begin(&g);
    for (int i = 0; i < RECORDS_MAX && g.size > 0 && !over(&g); i++) {
        act(&g);
        pass(&g, 1);
        FOLIOT_ASSERT(memory_in_use() < before + MEMORY_FREE + MEMORY_A_BYTE * g.sent);
    }
    look(&g);
    if (!over(&g))
        come_back_honestly(&g);
    end(&g);
    return 0;
}
