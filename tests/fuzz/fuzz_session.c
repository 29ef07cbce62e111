// SPDX-License-Identifier: MIT
// fuzz_session.c: a whole session under hostile peers: a server with a session of each mode over
// the transport in memory, an honest player in one of them, and three hostile addresses who
// connect, hold, say hello with tokens that they saw or made up, send any bytes and every message
// well-formed, acknowledge anything, and come and go. Whatever they do, the player plays on, and
// who comes in the end is in within three seconds. The limits of lockstep are tiny: logs wrap and
// saved states take many windows. Records of the input: what to do, for whom, a length, that number
// of bytes. FUZZ_WITHOUT=hold,pin,storm leaves out what a server is known not to bear.
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "foliot/client.h"
#include "foliot/foliot.h"
#include "foliot/server.h"
#include "net/transport.h"
#include "wire/lockstep_message.h"
#include "wire/message.h"
#include "status.h"

#define PORT 7777
#define TICK_NS 20000000u
#define RUN_TICKS_MAX 700
#define JOIN_TICKS 150 // three seconds
#define HISTORY 1024
#define HOSTILE 3          // addresses
#define CONNECTIONS 24     // of the hostile, at once
#define LOOK_BACK_MAX 12.5 // ticks: 250 ms
#define PEERS 64
#define SEEN 16 // welcomes
#define HELD_BYTES_MAX (24u << 20)

enum { PLAYER, NEWCOMER, HONEST };

typedef struct connection {
    foliot_peer_id peer; // 0: none
    uint32_t wire;
    bool connected;
    uint64_t keyframe_tick;
    uint32_t keyframe_acknowledge, keyframe_total, question;
} connection;

typedef struct game {
    foliot_hub *hub;
    foliot_transport *host, *wires[HONEST], *hostile[HOSTILE];
    foliot_server *server;
    foliot_client *clients[HONEST];
    connection connections[CONNECTIONS];
    foliot__welcome seen[SEEN];
    uint32_t seen_count;
    uint64_t now_ns, ticks;
    bool lockstep; // what is looked at
    foliot_digest history[HISTORY];
    foliot_rules *rules[2];
    uint32_t rules_count;
} game;

typedef struct script { // of the input
    const uint8_t *at;
    size_t left;
} script;

static foliot_body_definition bodies[2];
static foliot_force_definition spring;
static foliot_scene scene;
static foliot_digest fingerprint;
static bool without_hold, without_pin, without_storm;

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// In place of the library's.
const foliot__lockstep_limits *foliot__lockstep_limits_now(void)
{
    static const foliot__lockstep_limits tiny = {4, 0.5, 128, 256, 512};
    return &tiny;
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    const char *without = getenv("FUZZ_WITHOUT");
    without_hold = without && strstr(without, "hold");
    without_pin = without && strstr(without, "pin");
    without_storm = without && strstr(without, "storm");
    fingerprint = foliot_get_fingerprint(); // once: it takes milliseconds
    bodies[0] = bodies[1] = foliot_body_definition_default();
    bodies[1].position[0] = 1.3;
    spring = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
    spring.a = 0;
    spring.b = 1;
    spring.as.spring.stiffness = 7.1;
    scene = foliot_scene_default();
    scene.name = "fuzz";
    scene.dt = 0.02;
    scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    scene.bodies = bodies;
    scene.body_count = 2;
    scene.forces = &spring;
    scene.force_count = 1;
    scene.players.limit = 4;
    scene.players.force = 1.7;
    scene.script.history_ticks = 16;
    return 0;
}

// Rules that look back: whatever is claimed, never the future, and no farther than is allowed.
static foliot_status look_create(void *user, const foliot_scene *of, foliot_rules *rules,
                                 void **self, char *problem, size_t problem_bytes)
{
    (void)user;
    (void)of;
    (void)problem;
    (void)problem_bytes;
    *self = rules;
    return FOLIOT_STATUS_OK;
}

static foliot_status look_tick(void *self, const foliot_rules_view *view, foliot_rules *rules,
                               char *problem, size_t problem_bytes)
{
    (void)self;
    (void)problem;
    (void)problem_bytes;
    for (uint32_t player = 0; player < scene.players.limit; player++) {
        double back = (double)view->tick - foliot_rules_get_aimed_tick(rules, player);
        FOLIOT_ASSERT(back >= 0 && back <= LOOK_BACK_MAX);
        FOLIOT_ASSERT(foliot_history_view(view->history, (double)view->tick - back));
    }
    return FOLIOT_STATUS_OK;
}

static foliot_rules *add_rules(void)
{
    static const foliot_rules_kind kind = {
        .name = "look", .create = look_create, .tick = look_tick};
    foliot_rules *rules;
    char problem[64];
    demand(foliot_rules_create(&kind, &scene, &rules, problem, sizeof problem));
    return rules;
}

static uint8_t next(script *b)
{
    if (b->left == 0)
        return 0;
    b->left--;
    return *b->at++;
}

static uint32_t next_number(script *b, int size)
{
    uint32_t value = 0;
    while (size-- > 0)
        value = value << 8 | next(b);
    return value;
}

// -- the honest

static void add_client(game *g, int i, bool spectates)
{
    foliot_transport_config wire = foliot_transport_config_default();
    demand(foliot_transport_create_memory(g->hub, &wire, g->now_ns, &g->wires[i]));
    foliot_client_config config = foliot_client_config_default();
    config.transport = g->wires[i];
    config.port = PORT;
    config.session = g->lockstep ? "lockstep" : "snapshots";
    config.spectates = spectates;
    config.fingerprint = fingerprint;
    demand(foliot_client_create(&config, g->now_ns, &g->clients[i]));
}

static void add_session(game *g, const char *name, foliot_session_mode mode)
{
    foliot_session_config session = {.name = name, .scene = &scene, .pace_hz = 50, .mode = mode};
    session.rules = g->rules[g->rules_count++] = add_rules();
    demand(foliot_world_create(&scene, &session.world, NULL));
    demand(foliot_server_add_session(g->server, &session, g->now_ns));
}

static void begin(game *g, bool lockstep)
{
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_server_config config = foliot_server_config_default();
    *g = (game){.now_ns = 1000000000, .lockstep = lockstep};
    wire.bind = "127.0.0.1";
    wire.port = PORT;
    wire.peers_max = PEERS;
    demand(foliot_hub_create(&g->hub));
    demand(foliot_transport_create_memory(g->hub, &wire, g->now_ns, &g->host));
    config.transport = g->host;
    config.fingerprint = fingerprint;
    config.reconnect_ms = 1000;
    demand(foliot_server_create(&config, g->now_ns, &g->server));
    add_session(g, "snapshots", FOLIOT_SESSION_SNAPSHOTS);
    add_session(g, "lockstep", FOLIOT_SESSION_LOCKSTEP);
    wire = foliot_transport_config_default();
    wire.peers_max = CONNECTIONS;
    for (int i = 0; i < HOSTILE; i++)
        demand(foliot_transport_create_memory(g->hub, &wire, g->now_ns, &g->hostile[i]));
    add_client(g, PLAYER, false);
}

static void end(game *g)
{
    for (int i = 0; i < HONEST; i++) {
        foliot_client_destroy(g->clients[i]);
        if (g->wires[i])
            foliot_transport_destroy(g->wires[i]);
    }
    for (int i = 0; i < HOSTILE; i++)
        foliot_transport_destroy(g->hostile[i]);
    foliot_server_destroy(g->server);
    for (uint32_t i = 0; i < g->rules_count; i++)
        foliot_rules_destroy(g->rules[i]);
    foliot_transport_destroy(g->host);
    foliot_hub_destroy(g->hub);
}

static const foliot_world *world_of(const game *g)
{
    return foliot_server_get_world(g->server, g->lockstep ? "lockstep" : "snapshots");
}

// -- what the hostile hear

static connection *connection_of(game *g, uint32_t wire, foliot_peer_id peer)
{
    for (uint32_t i = 0; i < CONNECTIONS; i++)
        if (g->connections[i].peer.value == peer.value && g->connections[i].wire == wire)
            return &g->connections[i];
    return NULL;
}

static void hear(game *g, connection *c, const foliot_transport_event *event)
{
    foliot__message m;
    if (!foliot__message_is_control(event->bytes, event->length) ||
        foliot__message_decode(event->bytes, event->length, &m) != FOLIOT_STATUS_OK)
        return;
    if (m.kind == FOLIOT__WELCOME)
        g->seen[g->seen_count++ % SEEN] = m.as.welcome;
    if (m.kind == FOLIOT__SEARCH_REQUEST)
        c->question = m.as.search.number;
    if (m.kind == FOLIOT__KEYFRAME_PART) {
        c->keyframe_tick = m.as.keyframe_part.tick;
        c->keyframe_total = m.as.keyframe_part.total;
    }
}

static void hear_all(game *g)
{
    foliot_transport_event event;
    for (uint32_t w = 0; w < HOSTILE; w++)
        while (foliot_transport_poll(g->hostile[w], g->now_ns, &event)) {
            connection *c = connection_of(g, w, event.peer);
            if (!c)
                continue;
            if (event.kind == FOLIOT_TRANSPORT_CONNECTED)
                c->connected = true;
            else if (event.kind == FOLIOT_TRANSPORT_DISCONNECTED)
                *c = (connection){.wire = w};
            else
                hear(g, c, &event);
        }
}

// -- time

static size_t held(void)
{
    extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));
    if (__sanitizer_get_current_allocated_bytes)
        return __sanitizer_get_current_allocated_bytes();
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void pass(game *g, uint32_t ticks, uint64_t ticks_max)
{
    foliot_server_event event;
    foliot_divergence_report found;
    for (; ticks > 0 && g->ticks < ticks_max; ticks--) {
        g->now_ns += TICK_NS;
        g->ticks++;
        foliot_server_update(g->server, g->now_ns);
        FOLIOT_ASSERT(foliot_world_get_tick(world_of(g)) == g->ticks);
        g->history[g->ticks % HISTORY] = foliot_world_get_digest(world_of(g));
        while (foliot_server_poll(g->server, &event) ||
               foliot_server_poll_divergence(g->server, &found)) {
        }
        const int8_t axes[FOLIOT_AXIS_COUNT] = {(int8_t)(g->ticks / 7 % 3 * 60)};
        for (int i = 0; i < HONEST; i++) {
            foliot_sample sample;
            if (!g->clients[i])
                continue;
            if (i == PLAYER)
                foliot_client_set_input(g->clients[i], axes, 0);
            foliot_client_update(g->clients[i], g->now_ns);
            allow_failure(foliot_client_sample(g->clients[i], g->now_ns, &sample));
        }
        hear_all(g);
    }
}

// -- what the hostile say

static void send_bytes(game *g, const connection *c, uint8_t what, const uint8_t *data,
                       size_t length)
{
    if (!c->connected)
        return;
    allow_failure(foliot_transport_send(
        g->hostile[c->wire], c->peer,
        what & 0x80 ? FOLIOT_DELIVERY_UNRELIABLE : FOLIOT_DELIVERY_RELIABLE, data, length));
    foliot_transport_flush(g->hostile[c->wire], g->now_ns);
}

static void send_message(game *g, const connection *c, uint8_t what, const foliot__message *m)
{
    uint8_t data[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    if (foliot__message_encode(m, data, sizeof data, &length) == FOLIOT_STATUS_OK)
        send_bytes(g, c, what, data, length);
}

static void drop(game *g, connection *c)
{
    if (c->peer.value)
        foliot_transport_disconnect(g->hostile[c->wire], c->peer, 0, true);
    *c = (connection){0};
}

static void open_connection(game *g, connection *c, uint8_t which)
{
    drop(g, c);
    c->wire = which % HOSTILE;
    if (foliot_transport_connect(g->hostile[c->wire], "127.0.0.1", PORT, g->now_ns, &c->peer) !=
        FOLIOT_STATUS_OK)
        c->peer = (foliot_peer_id){0};
}

static void say_hello(game *g, connection *c, uint8_t what, script *b)
{
    foliot__message m = {.kind = FOLIOT__HELLO_MESSAGE};
    foliot__hello_message *h = &m.as.hello;
    uint8_t flags = next(b), token = next(b);
    h->protocol = flags & 1 ? next_number(b, 2) : FOLIOT_PROTOCOL;
    strcpy(h->session, flags & 2 ? "lockstep" : flags & 4 ? "" : "snapshots");
    strcpy(h->name, "hostile");
    h->spectates = flags & 8;
    h->fingerprint = fingerprint;
    h->force_stepping = flags & 16;
    strcpy(h->simulation, foliot_world_kind.name);
    h->rules = foliot_world_kind.version;
    if (g->seen_count && flags & 32) {
        const foliot__welcome *w = &g->seen[token % (g->seen_count < SEEN ? g->seen_count : SEEN)];
        memcpy(&h->token, &w->token, sizeof h->token);
    }
    if (flags & 64)
        ((uint8_t *)&h->token)[token % sizeof h->token] ^= (uint8_t)(1 + next(b));
    if (flags & 128)
        h->kind = next(b) % 3;
    send_message(g, c, what, &m);
}

static void say_input(game *g, const connection *c, script *b)
{
    foliot__input_packet p = {.newest_snapshot = FOLIOT__NO_TICK};
    uint8_t data[FOLIOT_SNAPSHOT_PIECE_BYTES], flags = next(b);
    p.tick = (uint32_t)g->ticks + (flags & 1 ? next_number(b, 4) : (uint32_t)(int8_t)next(b));
    if (flags & 2)
        p.newest_snapshot = flags & 4 ? next_number(b, 4) : (uint32_t)g->ticks - next(b) % 8;
    p.sent_us = next_number(b, 2) << 8;
    p.shown = (uint16_t)(p.sent_us * 40503u >> 8); // any: of the future, of the far past, jumping
    p.count = flags >> 3 & 3;
    uint32_t sequence = flags & 32 ? next_number(b, 4) : next(b);
    for (uint32_t i = 0; i < p.count; i++) {
        p.changes[i] = (foliot__change){.sequence = sequence + i, .tick = p.tick - next(b)};
        p.changes[i].axes[0] = (int8_t)next(b);
        p.changes[i].shown = (uint16_t)(p.shown * (i + 3u));
    }
    send_bytes(g, c, 0x80, data, foliot__input_packet_encode(&p, data));
}

static void say_lockstep(game *g, const connection *c, script *b)
{
    static foliot__block block;
    foliot__lockstep_input p = {0};
    uint8_t data[FOLIOT_PACKET_BYTES_MAX], own[600], flags = next(b), player = next(b) % 4;
    p.acks.next = flags & 1 ? next_number(b, 4) : (uint32_t)g->ticks + 1 - next(b) % 64;
    p.acks.count = flags & 2 ? 1 + next(b) % FOLIOT__RUNS_MAX : 0;
    for (uint32_t i = 0; i < p.acks.count; i++) {
        p.acks.runs[i].missing = 1 + next(b) % 8;
        p.acks.runs[i].here = 1 + next(b) % 8;
    }
    p.behind = flags & 4 ? next(b) : 0;
    p.digests = flags & 8 ? next_number(b, 4) : 0;
    p.ahead = flags & 16 ? next_number(b, 2) : next(b) % 16;
    p.back = flags & 32 ? next_number(b, 2) : 0;
    p.sent_ms = (uint16_t)next_number(b, 2);
    p.shown = (uint16_t)(p.sent_ms * 40503u);
    p.state = (uint8_t)(flags & 4 ? next(b) : c->keyframe_tick);
    block.ticks = p.ticks = flags & 64 ? 1 + next(b) % 16 : 0;
    block.count = 0;
    for (uint32_t i = 0; i < p.ticks && flags & 128; i++, block.count++) {
        block.ages[i] = i;
        block.inputs[i] = (foliot_input){.kind = FOLIOT_INPUT_CONTROL, .player = player};
        block.inputs[i].axes[0] = (int8_t)next(b);
    }
    p.block = own;
    p.block_length = p.ticks ? foliot__block_encode(&block, own, sizeof own) : 0;
    size_t length = p.block_length == SIZE_MAX ? SIZE_MAX : foliot__lockstep_input_encode(&p, data);
    if (length != SIZE_MAX)
        send_bytes(g, c, 0x80, data, length);
}

static void say_heard(game *g, connection *c, uint8_t what, script *b)
{
    foliot__message m = {.kind = FOLIOT__KEYFRAME_ACKNOWLEDGE};
    uint8_t flags = next(b);
    m.as.keyframe_acknowledge.tick = flags & 1 ? next_number(b, 4) : c->keyframe_tick;
    c->keyframe_acknowledge = flags & 2   ? next_number(b, 4)
                              : flags & 4 ? c->keyframe_total
                                          : c->keyframe_acknowledge + next(b);
    m.as.keyframe_acknowledge.offset = c->keyframe_acknowledge;
    send_message(g, c, what, &m);
}

static void say_answer(game *g, const connection *c, uint8_t what, script *b)
{
    foliot__message m = {.kind = FOLIOT__SEARCH_RESPONSE};
    uint8_t flags = next(b);
    m.as.search.number = flags & 1 ? next_number(b, 4) : c->question;
    m.as.search.bytes = b->at;
    m.as.search.length =
        (uint32_t)(b->left < FOLIOT__SEARCH_BYTES_MAX ? b->left : FOLIOT__SEARCH_BYTES_MAX);
    send_message(g, c, what, &m);
}

// Orders of a player or none, in order or not, of any length that has a form.
static void say_order(game *g, const connection *c, uint8_t what, script *b)
{
    foliot__message m = {.kind = FOLIOT__ORDER};
    uint8_t flags = next(b);
    m.as.order.sequence = flags & 1 ? next_number(b, 4) : 2u + next(b);
    m.as.order.kind = flags >> 1 & 1;
    m.as.order.shown = m.as.order.sequence * UINT64_C(0x9e3779b97f4a7c15) >> (flags & 63);
    m.as.order.bytes = b->at;
    m.as.order.length =
        (uint32_t)(b->left < FOLIOT_ORDER_BYTES_MAX ? b->left : FOLIOT_ORDER_BYTES_MAX);
    for (uint32_t n = 1 + (flags >> 3); n > 0; n--, m.as.order.sequence++)
        send_message(g, c, what, &m);
}

// Wishes to be another kind, and says that it is.
static void say_kind(game *g, const connection *c, uint8_t what, script *b)
{
    foliot__message m = {.kind = FOLIOT__KIND};
    uint8_t flags = next(b);
    m.as.kind.kind = flags % 3;
    m.as.kind.reason = flags & 64 ? FOLIOT__KIND_READY : (flags >> 2) % 8;
    m.as.kind.tick = next_number(b, 4);
    send_message(g, c, what, &m);
}

// Goodbye, and what only a server says.
static void say_other(game *g, const connection *c, uint8_t what, script *b)
{
    static const foliot__message_kind kinds[] = {
        FOLIOT__BYE,    FOLIOT__WELCOME,       FOLIOT__REFUSE,     FOLIOT__SCENE_PART,
        FOLIOT__PLAYER, FOLIOT__KEYFRAME_PART, FOLIOT__TICKS_PART, FOLIOT__SEARCH_REQUEST};
    foliot__message m = {.kind = kinds[next(b) % (sizeof kinds / sizeof kinds[0])]};
    uint8_t none = 0;
    if (m.kind == FOLIOT__SCENE_PART)
        m.as.scene_part.bytes = &none;
    else if (m.kind == FOLIOT__KEYFRAME_PART)
        m.as.keyframe_part.bytes = &none;
    else if (m.kind == FOLIOT__TICKS_PART)
        m.as.ticks_part.block = &none;
    else if (m.kind == FOLIOT__SEARCH_REQUEST)
        m.as.search.bytes = &none;
    send_message(g, c, what, &m);
}

enum {
    PASS,
    PASS_LONG,
    OPEN,
    CLOSE,
    RAW,
    HELLO,
    INPUT,
    LOCKSTEP,
    KEYFRAME_HEARD,
    ANSWER,
    OTHER,
    STORM,
    COPY,
    ORDER,
    KIND
};

static void act(game *g, uint8_t what, uint8_t whom, script b)
{
    connection *c = &g->connections[whom % CONNECTIONS];
    switch (what % 16) {
    case PASS:
        pass(g, 1 + whom % 16, RUN_TICKS_MAX);
        break;
    case PASS_LONG:
        pass(g, 16 * (1 + whom % 16), RUN_TICKS_MAX);
        break;
    case OPEN:
        open_connection(g, c, next(&b));
        break;
    case CLOSE:
        drop(g, c);
        break;
    case HELLO:
        say_hello(g, c, what, &b);
        break;
    case INPUT:
        say_input(g, c, &b);
        break;
    case LOCKSTEP:
        say_lockstep(g, c, &b);
        break;
    case KEYFRAME_HEARD:
        say_heard(g, c, what, &b);
        break;
    case ANSWER:
        say_answer(g, c, what, &b);
        break;
    case OTHER:
        say_other(g, c, what, &b);
        break;
    case ORDER:
        say_order(g, c, what, &b);
        break;
    case KIND:
        say_kind(g, c, what, &b);
        break;
    case STORM: // in and out, as fast as there are ticks
        for (uint32_t n = 0; n < 1u + whom % 32 && !without_storm; n++) {
            script again = b;
            open_connection(g, &g->connections[n % CONNECTIONS], next(&again));
            pass(g, 1, RUN_TICKS_MAX);
            say_hello(g, &g->connections[n % CONNECTIONS], what, &again);
        }
        break;
    case COPY: // the same packet many times
        for (uint32_t n = 0; n < 200; n++)
            send_bytes(g, c, what, b.at, b.left);
        break;
    default:
        send_bytes(g, c, what, b.at, b.left);
    }
}

// -- what must hold

static void check(game *g, int i)
{
    foliot_client_statistics seen = foliot_client_get_statistics(g->clients[i]);
    FOLIOT_ASSERT(foliot_client_get_state(g->clients[i]) == FOLIOT_CLIENT_PLAYING);
    FOLIOT_ASSERT(seen.reconnects == 0 && seen.divergences == 0 && seen.pieces_malformed == 0);
    FOLIOT_ASSERT(seen.newest_tick + 4 > g->ticks);
    const foliot_simulation *own = foliot_client_get_simulation(g->clients[i]);
    FOLIOT_ASSERT(!g->lockstep == !own);
    if (own)
        FOLIOT_ASSERT(foliot_digest_equal(foliot_simulation_get_digest(own),
                                          g->history[foliot_simulation_get_tick(own) % HISTORY]));
}

static void let_go(game *g)
{
    for (uint32_t i = 0; i < CONNECTIONS; i++)
        if (without_hold || (without_pin && g->connections[i].keyframe_total))
            drop(g, &g->connections[i]);
    pass(g, without_hold ? 60 : 0, RUN_TICKS_MAX + JOIN_TICKS);
}

static bool is_in(const game *g, int i)
{
    foliot_client_statistics seen = foliot_client_get_statistics(g->clients[i]);
    return foliot_client_get_state(g->clients[i]) == FOLIOT_CLIENT_PLAYING &&
           seen.newest_tick + 4 > g->ticks;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static game g;
    if (size == 0)
        return 0;
    size_t before = held();
    begin(&g, data[0] & 1);
    pass(&g, 25, RUN_TICKS_MAX);
    check(&g, PLAYER);
    for (data++, size--; size >= 3;) {
        size_t length = data[2] < size - 3 ? data[2] : size - 3;
        act(&g, data[0], data[1], (script){data + 3, length});
        data += 3 + length;
        size -= 3 + length;
    }
    let_go(&g);
    add_client(&g, NEWCOMER, true);
    for (int i = 0; i < JOIN_TICKS && !is_in(&g, NEWCOMER); i++)
        pass(&g, 1, UINT64_MAX);
    check(&g, NEWCOMER);
    check(&g, PLAYER);
    FOLIOT_ASSERT(held() - before < HELD_BYTES_MAX);
    end(&g);
    return 0;
}
