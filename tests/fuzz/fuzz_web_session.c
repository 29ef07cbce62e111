// SPDX-License-Identifier: MIT
// fuzz_web_session.c: the page of a session: its module that steps (web/viewer.c, socket.c, ...),
// compiled for this machine, between a page that calls whatever it likes in any order, and a
// server. The server is honest, but what it sends is passed on, lost, doubled or changed, among
// bytes of the input; connections open and close at any time. Records of the input: what is called,
// then what that takes. FUZZ_KEEP=FILE: writes what the module was called with as an input of
// fuzz_web_viewer.
#include <stdio.h>
#include <stdlib.h>

#include "foliot/foliot.h"
#include "foliot/server.h"
#include "foliot/transport.h"
#include "sim/selftest/fingerprint.h"
#include "status.h"
#include "web_calls.h"

#define PORT 7777
#define RECORDS_MAX 250
#define PASSES_MAX 1200

void web_take_over(void);
uint8_t *web_ticket(void);
uint32_t web_ticket_bytes(void);
int web_set_steps(uint32_t steps);
int web_perturb(void);
double page_clock(void);

static struct {
    foliot_hub *hub;
    foliot_transport *host, *wire;
    foliot_server *server;
    foliot_peer_id peer;
    bool dialled;
    uint32_t passes;
    double step_ms; // what a step seems to take
} net;
static foliot_body_definition bodies[3];
static foliot_constraint_definition rod;
static foliot_scene scene;
static const foliot_digest fingerprint = {1, 2};
static FILE *kept;

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(foliot_status status)
{
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
}

// In place of the library's, which steps many worlds.
foliot_digest foliot_get_fingerprint(void)
{
    return fingerprint;
}

foliot_digest foliot__fingerprint_base(void)
{
    return fingerprint;
}

foliot_digest foliot__fingerprint_of_scene(const foliot_scene *of)
{
    (void)of;
    return fingerprint;
}

bool foliot__fingerprint_fits(const foliot_scene *of, foliot_digest theirs)
{
    (void)of;
    return foliot_digest_equal(theirs, fingerprint);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    kept = getenv("FUZZ_KEEP") ? fopen(getenv("FUZZ_KEEP"), "wb") : NULL;
    for (int i = 0; i < 3; i++) {
        bodies[i] = foliot_body_definition_default();
        bodies[i].position[0] = 1.3 * i;
        bodies[i].position[2] = 1;
        bodies[i].shape.kind = i ? FOLIOT_SHAPE_BOX : FOLIOT_SHAPE_CAPSULE;
        bodies[i].shape.radius = bodies[i].shape.half[0] = bodies[i].shape.half[1] =
            bodies[i].shape.half[2] = 0.4;
    }
    bodies[2].name = "third";
    rod = foliot_constraint_definition_default(FOLIOT_CONSTRAINT_DISTANCE);
    rod.a = 0;
    rod.b = 1;
    rod.length = 1.3;
    scene = foliot_scene_default();
    scene.name = "fuzz";
    scene.dt = 0.02;
    scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    scene.bodies = bodies;
    scene.body_count = 3;
    scene.players.limit = 4;
    scene.players.force = 1.7;
    scene.script.history_ticks = 16;
    return 0;
}

// -- the page's functions that the module calls

void page_disconnect(uint32_t reason)
{
    if (net.dialled)
        foliot_transport_disconnect(net.wire, net.peer, reason, true);
    net.dialled = false;
}

// The one before may still be there: the module knows that it is closed.
void page_connect(void)
{
    page_disconnect(0);
    net.dialled =
        foliot_transport_connect(net.wire, "server", PORT, now_ns(), &net.peer) == FOLIOT_STATUS_OK;
}

void page_send(uint32_t reliable, const uint8_t *bytes, size_t length)
{
    read_bytes(bytes, length);
    foliot_delivery how = reliable ? FOLIOT_DELIVERY_RELIABLE : FOLIOT_DELIVERY_UNRELIABLE;
    if (net.dialled)
        allow_failure(
            foliot_transport_send(net.wire, net.peer, how, bytes, length)); // or it is gone
}

double page_clock(void)
{
    static double clock;
    return clock += net.step_ms;
}

// -- the network

static void keep(uint8_t what, const uint8_t *bytes, uint32_t length)
{
    if (!kept)
        return;
    const uint8_t head[] = {what, (uint8_t)length, (uint8_t)(length >> 8)};
    fwrite(head, 1, what == CALL_MESSAGE ? 3 : 1, kept);
    fwrite(bytes, 1, length, kept);
    fflush(kept);
}

static void hand_over_message(const foliot_transport_event *e, records *r, bool hostile)
{
    uint32_t length = (uint32_t)e->length + 1;
    if (length > web_block_bytes())
        return;
    uint8_t *block = web_block();
    block[0] = e->delivery == FOLIOT_DELIVERY_RELIABLE;
    memcpy(block + 1, e->bytes, e->length);
    uint8_t how = hostile ? take_byte(r) : 0;
    if (how >= 224)
        return; // it is lost
    if (how >= 128)
        block[(how & 64 ? take_word(r) : take_byte(r)) % length] ^= (uint8_t)(1u << (how & 7));
    if (how >= 96 && how < 128)
        length = 1 + take_word(r) % length;
    keep(CALL_MESSAGE, block, length);
    web_received(length);
    if (how >= 64 && how < 96)
        web_received(length);
    keep(CALL_UPDATE, NULL, 0);
    web_update(now_ms);
}

static void take_events(records *r, bool hostile)
{
    foliot_transport_event e;
    while (foliot_transport_poll(net.wire, now_ns(), &e)) {
        if (!net.dialled || e.peer.value != net.peer.value)
            continue;
        if (e.kind == FOLIOT_TRANSPORT_CONNECTED) {
            keep(CALL_OPENED, NULL, 0);
            web_opened();
        } else if (e.kind == FOLIOT_TRANSPORT_DISCONNECTED) {
            net.dialled = false;
            web_closed(e.reason);
        } else {
            hand_over_message(&e, r, hostile);
        }
    }
}

static void pass(records *r, uint32_t frames, bool hostile)
{
    foliot_server_event event;
    for (; frames > 0 && net.passes < PASSES_MAX; frames--, net.passes++) {
        now_ms += 10;
        foliot_server_update(net.server, now_ns());
        while (foliot_server_poll(net.server, &event)) {
        }
        take_events(r, hostile);
        web_update(now_ms);
    }
}

static void begin(uint8_t kind)
{
    static const foliot_session_mode modes[] = {FOLIOT_SESSION_SNAPSHOTS, FOLIOT_SESSION_LOCKSTEP};
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_server_config config = foliot_server_config_default();
    foliot_session_config session = foliot_session_config_default();
    memset(&net, 0, sizeof net);
    now_ms = 1000;
    must(foliot_hub_create(&net.hub));
    must(foliot_transport_create_memory(net.hub, &wire, now_ns(), &net.wire));
    wire.bind = "127.0.0.1";
    wire.port = PORT;
    wire.peers_max = 8;
    must(foliot_transport_create_memory(net.hub, &wire, now_ns(), &net.host));
    config.transport = net.host;
    config.fingerprint = kind & 32 ? (foliot_digest){7, 7} : fingerprint; // nobody can step
    config.reconnect_ms = 1000;
    must(foliot_server_create(&config, now_ns(), &net.server));
    session.scene = &scene;
    session.pace_hz = 50;
    session.mode = modes[kind % 2];
    if (kind & 16)
        session.interest = (foliot_interest){1, 2, FOLIOT_INTEREST_KBIT_MIN};
    if (!foliot_interest_valid(&session.interest) || session.mode == FOLIOT_SESSION_LOCKSTEP)
        session.interest = (foliot_interest){0};
    must(foliot_world_create(&scene, &session.world, NULL));
    must(foliot_server_add_session(net.server, &session, now_ns()));
}

static void end(void)
{
    web_leave(now_ms);
    web_update(now_ms);
    page_disconnect(0);
    web_closed(0);
    web_update(now_ms);
    foliot_server_destroy(net.server);
    foliot_transport_destroy(net.wire);
    foliot_transport_destroy(net.host);
    foliot_hub_destroy(net.hub);
}

static void act(records *r)
{
    uint8_t what = take_byte(r) % 32;
    switch (what) {
    case 20:
    case 21:
    case 22:
        pass(r, 1 + take_byte(r) % 32, false);
        break;
    case 23:
    case 24:
        pass(r, 1 + take_byte(r) % 8, true);
        break;
    case 25:
        web_set_steps(take_byte(r) % 2);
        break;
    case 26:
        web_perturb();
        break;
    case 27:
        net.step_ms = take_byte(r) % 16;
        break;
    case 28: // the player goes on in a module that has just been loaded
        if (web_hand_over() && take_byte(r) % 2)
            web_take_over();
        break;
    case 29:
        for (uint32_t i = 0; i < web_ticket_bytes(); i++)
            web_ticket()[i] = take_byte(r);
        web_take_over();
        break;
    case 30:
        page_disconnect(0); // the network is gone, and the page hears of it
        web_closed(take_byte(r));
        break;
    case 31:
        pass(r, 60, false);
        break;
    default:
        call_module(r, what);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    records r = {data, size};
    if (kept)
        fputc(1, kept); // with tables
    begin(take_byte(&r));
    join_session(take_byte(&r), "ann", "");
    pass(&r, 20, false);
    for (int i = 0; i < RECORDS_MAX && r.left > 0; i++) {
        act(&r);
        pass(&r, 1, false);
    }
    look_at_all(0);
    if (kept)
        fprintf(stderr, "%s\n", web_about());
    end();
    return 0;
}
