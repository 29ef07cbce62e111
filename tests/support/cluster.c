// SPDX-License-Identifier: MIT
// cluster.c: see cluster.h.
#include "cluster.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "net/transport.h"
#include "seed_wire.h"
#include "status.h"
#include "world_simulation.h"

#define SAMPLE_NS 16000000u

// -- network

static void tap_packet(void *user, foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    const cluster_tap *tap = user;
    tap->options->tap(tap->options->tap_user, tap->from, delivery, bytes, length);
}

// The transport, or one around it that shows what is sent.
static foliot_transport *tapped(cluster *c, foliot_transport *inner, unsigned from)
{
    if (!c->options.tap)
        return inner;
    c->taps[from] = (cluster_tap){&c->options, from};
    return seed_wire_create(inner, &(seed_wire_config){.clock = {.now_ns = &c->now_ns},
                                                       .tap = tap_packet,
                                                       .tap_user = &c->taps[from]});
}

foliot_transport *cluster_open_wire(cluster *c, const foliot_transport_config *config)
{
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_transport *opened = NULL;
    if (config)
        wire = *config;
    demand(c->options.enet ? foliot_transport_create_enet(&wire, c->now_ns, &opened)
                           : foliot_transport_create_memory(c->hub, &wire, c->now_ns, &opened));
    return opened;
}

static void bridge_open(cluster_bridge *b, foliot_hub *hub, uint16_t port, foliot_queues *queues,
                        uint64_t now_ns)
{
    foliot_transport_config config = foliot_transport_config_default();
    config.bind = "127.0.0.1";
    config.port = port;
    config.peers_max = CLUSTER_BRIDGED;
    *b = (cluster_bridge){.queues = queues};
    demand(foliot_transport_create_memory(hub, &config, now_ns, &b->listener));
}

static void drop_bridged(cluster_bridge *b, unsigned i)
{
    b->count--;
    b->near[i] = b->near[b->count];
    b->far[i] = b->far[b->count];
    b->stopped[i] = b->stopped[b->count];
}

static void carry_event(cluster_bridge *b, const foliot_transport_event *e, uint64_t now_ns)
{
    unsigned i = 0;
    while (i < b->count && b->far[i].value != e->peer.value)
        i++;
    if (e->kind == FOLIOT_TRANSPORT_CONNECTED) {
        FOLIOT_ASSERT(i < CLUSTER_BRIDGED);
        demand(foliot_queues_join(
            b->queues, "bridge",
            b->address_key ? b->address_key
                           : foliot__transport_get_peer_address_key(b->listener, e->peer),
            b->identity, now_ns, &b->near[i]));
        b->far[i] = e->peer;
        b->stopped[i] = false;
        b->count++;
    } else if (i < b->count && e->kind == FOLIOT_TRANSPORT_RECEIVED) {
        allow_failure(foliot_queues_put(b->queues, b->near[i], e->delivery, e->bytes, e->length,
                                        e->arrived_ns));
    } else if (i < b->count) {
        foliot_queues_leave(b->queues, b->near[i], e->reason);
        drop_bridged(b, i);
    }
}

// False: it has ended.
static bool carry_out(cluster_bridge *b, unsigned i, uint64_t now_ns)
{
    foliot_queues_packet packet;
    while (foliot_queues_read(b->queues, b->near[i], now_ns, &packet)) {
        if (packet.ended) {
            foliot_transport_disconnect(b->listener, b->far[i], packet.reason, false);
            foliot_queues_leave(b->queues, b->near[i], 0);
            foliot_queues_release(&packet);
            return false;
        }
        allow_failure(foliot_transport_send(b->listener, b->far[i], packet.delivery, packet.bytes,
                                            packet.length));
        foliot_queues_release(&packet);
    }
    return true;
}

static void bridge_carry(cluster_bridge *b, uint64_t now_ns)
{
    foliot_transport_event event;
    while (foliot_transport_poll(b->listener, now_ns, &event))
        carry_event(b, &event, now_ns);
    while (foliot_queues_next(b->queues).value)
        ;
    for (unsigned i = 0; i < b->count;)
        if (b->stopped[i] || carry_out(b, i, now_ns))
            i++;
        else
            drop_bridged(b, i);
    foliot_transport_flush(b->listener, now_ns);
}

static void bridge_close(cluster_bridge *b)
{
    foliot_queues_close(b->queues);
    foliot_transport_destroy(b->listener);
}

static void bridge_queues(cluster *c)
{
    foliot_queues_config config = foliot_queues_config_default();
    foliot_transport *first = c->host, *second;
    foliot_queues *queues;
    demand(foliot_transport_create_queues(&config, &second, &queues));
    demand(foliot_transport_create_both(first, second, &c->host));
    bridge_open(&c->bridge, c->hub, CLUSTER_PORT + 1, queues, c->now_ns);
}

// -- server

void cluster_serve(cluster *c, const foliot_server_config *config,
                   const foliot_transport_config *wire)
{
    foliot_transport_config listening = foliot_transport_config_default();
    foliot_server_config server = foliot_server_config_default();
    if (wire)
        listening = *wire;
    else
        listening.peers_max = CLUSTER_CLIENTS + 8;
    if (!listening.bind)
        listening.bind = "127.0.0.1";
    if (!c->options.enet)
        listening.port = CLUSTER_PORT;
    c->host = tapped(c, cluster_open_wire(c, &listening), CLUSTER_SERVER);
    if (c->options.bridged)
        bridge_queues(c);
    if (config)
        server = *config;
    server.transport = c->host;
    if ((server.fingerprint.high | server.fingerprint.low) == 0)
        server.fingerprint = c->fingerprint;
    demand(foliot_server_create(&server, c->now_ns, &c->server));
}

void cluster_host(cluster *c, const foliot_session_config *config)
{
    foliot_session_config session = *config;
    if (!session.world && !session.simulation)
        demand(foliot_world_create(session.scene, &session.world, NULL));
    demand(foliot_server_add_session(c->server, &session, c->now_ns));
}

void cluster_stop(cluster *c)
{
    foliot_server_destroy(c->server);
    foliot_transport_destroy(c->host);
    c->server = NULL;
    c->host = NULL;
}

// A state begins with its tick.
static void begin_at(foliot_world *world, uint64_t tick)
{
    size_t length = 0;
    if (tick == 0)
        return;
    demand(foliot_world_capture(world, NULL, 0, &length));
    uint8_t *state = malloc(length);
    FOLIOT_ASSERT(state);
    demand(foliot_world_capture(world, state, length, &length));
    foliot__writer w = foliot__writer_of(state, length);
    foliot__write_u64(&w, tick);
    demand(foliot_world_restore(world, state, length));
    free(state);
}

// `world` may be NULL, where the session has a simulation.
static void open_server(cluster *c, foliot_world *world)
{
    const cluster_options *o = &c->options;
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_server_config config = foliot_server_config_default();
    wire.peers_max = CLUSTER_CLIENTS + 8;
    if (o->server_network)
        demand(foliot_impairment_parse(o->server_network, &wire.send, NULL));
    if (o->joins_per_second > 0)
        wire.joins_per_second = o->joins_per_second;
    if (o->reconnect_ms)
        config.reconnect_ms = o->reconnect_ms;
    config.start = c->options.start;
    config.snapshot_hz = o->snapshot_hz;
    cluster_serve(c, &config, &wire);
    cluster_host(c,
                 &(foliot_session_config){.name = "main",
                                          .scene = c->resumed_scene ? c->resumed_scene : &c->scene,
                                          .world = world,
                                          .simulation = o->kind ? &c->simulation : NULL,
                                          .player_limit = o->kind ? c->scene.players.limit : 0,
                                          .recording = c->recording,
                                          .pace_hz = o->pace_hz > 0 ? o->pace_hz : 60,
                                          .mode = o->snapshots || o->world == CLUSTER_SPRINGS
                                                      ? FOLIOT_SESSION_SNAPSHOTS
                                                      : FOLIOT_SESSION_LOCKSTEP,
                                          .input_delay = o->input_delay,
                                          .spectator_delay_s = o->spectator_delay_s,
                                          .refuses_forced = o->refuses_forced,
                                          .interest = o->interest,
                                          .rules = c->rules,
                                          .follows_next = o->world == CLUSTER_SPRINGS});
}

static void open_first_server(cluster *c)
{
    const cluster_options *o = &c->options;
    foliot_world *world = NULL;
    if (o->kind) {
        demand(foliot_simulation_create(o->kind, "\7", 1, &c->simulation));
    } else {
        demand(foliot_world_create(&c->scene, &world, NULL));
        begin_at(world, o->first_tick);
    }
    if (o->record) {
        foliot_recording_config config = cluster_recording_config(c);
        demand(foliot_recording_open(o->record,
                                     o->kind ? &c->simulation : WORLD_SIMULATION(world, &c->scene),
                                     &config, &c->recording));
    }
    open_server(c, world);
}

void cluster_crash(cluster *c, double down_s)
{
    foliot_error error = {.text = ""};
    foliot_world *world;
    foliot_recording_abandon(c->recording);
    cluster_stop(c);
    foliot_rules_destroy(c->rules);
    foliot_scene_destroy(c->resumed_scene);
    cluster_run(c, down_s);
    cluster_make_rules(c);
    foliot_recording_config config = cluster_recording_config(c);
    demand(
        resume_world(c->options.record, &config, &c->recording, &c->resumed_scene, &world, &error));
    open_server(c, world);
}

void cluster_follow(cluster *c)
{
    foliot_rules *former = c->rules;
    cluster_make_rules(c);
    cluster_host(c, &(foliot_session_config){.name = "main",
                                             .scene = &c->scene,
                                             .pace_hz = 60,
                                             .rules = c->rules,
                                             .follows_next = true});
    foliot_rules_destroy(former);
}

// -- clients

unsigned cluster_join(cluster *c, const char *network, const foliot_client_config *given)
{
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_client_config config = foliot_client_config_default();
    unsigned i = c->client_count++;
    FOLIOT_ASSERT(i < CLUSTER_CLIENTS);
    if (network) {
        demand(foliot_impairment_parse(network, &wire.send, NULL));
        wire.send.seed += 100 * i;
        wire.receive = wire.send;
        // Bounds of the tests were measured with these.
        wire.receive.seed += c->options.world == CLUSTER_SPRINGS ? 1000 : 1000000;
    }
    c->wires[i] = tapped(c, cluster_open_wire(c, &wire), i);
    if (given)
        config = *given;
    config.transport = c->wires[i];
    config.port = c->options.bridged && i % 2 ? CLUSTER_PORT + 1
                  : c->options.enet           ? foliot_transport_get_port(c->host)
                                              : CLUSTER_PORT;
    if (c->options.kind && !config.simulation)
        config.simulation = c->options.kind;
    if (!config.simulation && (config.fingerprint.high | config.fingerprint.low) == 0)
        config.fingerprint = c->fingerprint;
    demand(foliot_client_create(&config, c->now_ns, &c->clients[i]));
    c->bots[i] = c->options.world == CLUSTER_CHAIN && !c->options.idle && !config.spectates;
    return i;
}

unsigned cluster_player(cluster *c, const char *network)
{
    return cluster_join(c, network, NULL);
}

unsigned cluster_kind(cluster *c, const char *network, foliot_peer_kind kind)
{
    foliot_client_config config = foliot_client_config_default();
    config.kind = kind;
    return cluster_join(c, network, &config);
}

unsigned cluster_spectator(cluster *c, const char *network)
{
    foliot_client_config config = foliot_client_config_default();
    config.spectates = true;
    return cluster_join(c, network, &config);
}

void cluster_leave(cluster *c, unsigned client)
{
    foliot_client_destroy(c->clients[client]);
    foliot_transport_destroy(c->wires[client]);
    c->clients[client] = NULL;
    c->wires[client] = NULL;
}

void cluster_impair(cluster *c, unsigned client, const char *network)
{
    foliot_impairment i;
    demand(foliot_impairment_parse(network, &i, NULL));
    demand(foliot_transport_set_impairment(c->wires[client], &i, &i));
}

void cluster_inject(cluster *c, unsigned client, const uint8_t *bytes, size_t length)
{
    allow_failure(foliot_transport_send(c->wires[client], foliot__peer_id(0, 1),
                                        FOLIOT_DELIVERY_UNRELIABLE, bytes,
                                        length)); // or it was ended
    foliot_transport_flush(c->wires[client], c->now_ns);
}

static void begin_hostile(cluster *c, hostile *h, hostile_kind kind, bool spectates,
                          foliot_transport *wire)
{
    hostile_begin(h, kind, spectates, wire, foliot_transport_get_port(c->host), c->now_ns);
    if (c->options.kind)
        h->stepped = c->options.kind;
}

hostile *cluster_add_hostile(cluster *c, hostile_kind kind, bool spectates)
{
    FOLIOT_ASSERT(c->hostile_count < CLUSTER_HOSTILE);
    hostile *h = &c->hostile[c->hostile_count++];
    begin_hostile(c, h, kind, spectates, cluster_open_wire(c, NULL));
    return h;
}

void cluster_restart_hostile(cluster *c, unsigned i, hostile_kind kind)
{
    hostile *h = &c->hostile[i];
    begin_hostile(c, h, kind, h->spectates, h->wire);
}

raw_client *cluster_connect_raw(cluster *c)
{
    FOLIOT_ASSERT(c->raw_count < CLUSTER_RAW);
    raw_client *raw = &c->raw[c->raw_count++];
    raw_client_connect(raw, c->hub, c->now_ns);
    cluster_run(c, 0.05);
    FOLIOT_ASSERT(raw->connected);
    return raw;
}

raw_client *cluster_join_raw(cluster *c, foliot__token token)
{
    raw_client *raw = cluster_connect_raw(c);
    raw_client_hello(raw, token);
    cluster_run(c, 0.1);
    FOLIOT_ASSERT(raw->welcomed);
    return raw;
}

void cluster_acknowledge_raw(cluster *c, raw_client *raw)
{
    demand(raw_client_acknowledge(raw));
    cluster_run(c, 0.05);
}

void cluster_leave_raw(cluster *c, raw_client *raw)
{
    foliot_transport_disconnect(raw->wire, raw->peer, 0, true);
    cluster_run(c, 0.05);
}

void cluster_drop_raw(raw_client *raw)
{
    foliot_transport_destroy(raw->wire);
    raw->wire = NULL;
}

// -- time

// Holds a key for 0.2 to 1 s, then others: as foliot-client's random bot does.
static void think(cluster *c, unsigned i)
{
    int8_t axes[FOLIOT_AXIS_COUNT];
    if (!c->bots[i] || c->now_ns < c->next_ns[i])
        return;
    for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
        axes[k] = (int8_t)(127 * ((int)foliot__rng_below(&c->rng, 3) - 1));
    uint16_t buttons = foliot__rng_below(&c->rng, 4) == 0;
    foliot_client_set_input(c->clients[i], axes, buttons);
    c->next_ns[i] = c->now_ns + 200000000u + 1000000u * foliot__rng_below(&c->rng, 800);
}

static void update_client(cluster *c, unsigned i)
{
    if (c->asleep[i] || !c->clients[i])
        return;
    uint64_t before = foliot_client_get_statistics(c->clients[i]).ticks_stepped;
    think(c, i);
    foliot_client_update(c->clients[i], c->now_ns);
    uint64_t steps = foliot_client_get_statistics(c->clients[i]).ticks_stepped - before;
    if (steps > c->most_steps[i])
        c->most_steps[i] = steps;
}

static void sample(cluster *c)
{
    foliot_sample sample;
    if ((!c->options.samples && !c->errors) || c->now_ns - c->sampled_ns < SAMPLE_NS)
        return;
    c->sampled_ns = c->now_ns;
    for (unsigned i = 0; i < c->client_count; i++) {
        if (!c->clients[i] ||
            foliot_client_sample(c->clients[i], c->now_ns, &sample) != FOLIOT_STATUS_OK) {
            c->unshown[i] += c->shown[i] > 0;
            continue;
        }
        c->backwards += sample.render_tick < c->shown[i];
        c->shown[i] = sample.render_tick;
        if (c->errors && i == 0)
            cluster_errors_compare(c, &sample);
    }
}

uint64_t cluster_get_tick(const cluster *c)
{
    return c->simulation.self ? foliot_simulation_get_tick(&c->simulation)
                              : foliot_world_get_tick(foliot_server_get_world(c->server, "main"));
}

static void remember_snapshot(cluster *c, const foliot_world *world, uint64_t tick)
{
    static foliot_snapshot_body bodies[CLUSTER_BODIES + 264];
    foliot_snapshot snapshot = {.bodies = bodies, .capacity = sizeof bodies / sizeof *bodies};
    foliot_snapshot_format format = foliot_snapshot_format_default(&c->scene);
    if (format.bodies_max > snapshot.capacity)
        return; // a scene of a test that compares none
    demand(foliot_snapshot_quantise(&format, world, &snapshot));
    c->snapshots[tick % CLUSTER_HISTORY] = foliot_snapshot_get_digest(&snapshot);
}

static void remember(cluster *c)
{
    uint64_t tick = cluster_get_tick(c);
    if (tick == c->seen_tick)
        return;
    c->seen_tick = tick;
    foliot_digest *digest = &c->history[tick % CLUSTER_HISTORY];
    if (c->simulation.self) {
        *digest = foliot_simulation_get_digest(&c->simulation);
        return;
    }
    const foliot_world *world = foliot_server_get_world(c->server, "main");
    *digest = foliot_world_get_digest(world);
    remember_snapshot(c, world, tick);
    if (c->errors)
        cluster_errors_remember(c, tick);
}

static void update_server(cluster *c)
{
    foliot_server_event event;
    if (!c->server)
        return;
    foliot_server_update(c->server, c->now_ns);
    if (c->options.bridged)
        bridge_carry(&c->bridge, c->now_ns);
    if (c->options.world != CLUSTER_EMPTY &&
        (c->options.kind || foliot_server_get_world(c->server, "main")))
        remember(c);
    if (c->recording)
        allow_failure(foliot_recording_drain(c->recording));
    c->found_count += foliot_server_poll_divergence(c->server, &c->found);
    while (foliot_server_poll(c->server, &event)) {
        c->events[event.kind]++;
        c->last[event.kind] = event;
    }
}

static void update_raw(cluster *c, raw_client *raw)
{
    if (!raw->wire)
        return;
    if (raw_client_receive(raw, c->now_ns) && c->options.welcomed)
        c->options.welcomed(c->options.welcomed_user);
    foliot_transport_flush(raw->wire, c->now_ns);
}

void cluster_update(cluster *c)
{
    update_server(c);
    for (unsigned i = 0; i < c->hostile_count; i++) {
        hostile_update(&c->hostile[i], c->now_ns);
        if (c->hostile[i].gone && c->options.returns)
            cluster_restart_hostile(c, i, c->hostile[i].kind);
    }
    for (unsigned i = 0; i < c->client_count; i++)
        update_client(c, i);
    for (unsigned i = 0; i < c->raw_count; i++)
        update_raw(c, &c->raw[i]);
    sample(c);
}

void cluster_run(cluster *c, double seconds)
{
    uint64_t end = c->now_ns + (uint64_t)(seconds * 1e9);
    for (; c->now_ns < end; c->now_ns += c->step_ns)
        cluster_update(c);
}

// -- the whole

cluster *cluster_create(const cluster_options *options)
{
    cluster *c = calloc(1, sizeof *c);
    FOLIOT_ASSERT(c);
    if (options)
        c->options = *options;
    c->now_ns = 1000000000u;
    c->step_ns = c->options.step_ns ? c->options.step_ns : 1000000;
    c->seen_tick = UINT64_MAX; // tick 0 is remembered, too
    c->rng = foliot__rng_seeded(7);
    c->fingerprint = foliot_get_fingerprint(); // once: it takes milliseconds
    demand(foliot_hub_create(&c->hub));
    if (c->options.world == CLUSTER_SPRINGS)
        cluster_errors_open(c);
    if (c->options.world != CLUSTER_EMPTY) {
        cluster_make_scene(c);
        cluster_make_rules(c);
        open_first_server(c);
    }
    return c;
}

static void close_recording(cluster *c)
{
    if (!c->recording)
        return;
    if (c->events[FOLIOT_SERVER_RECORDING_STOPPED] > 0)
        foliot_recording_abandon(c->recording);
    else
        demand(foliot_recording_close(c->recording, NULL));
}

void cluster_destroy(cluster *c)
{
    for (unsigned i = 0; i < c->hostile_count; i++)
        hostile_end(&c->hostile[i]);
    for (unsigned i = 0; i < c->client_count; i++)
        cluster_leave(c, i);
    for (unsigned i = 0; i < c->raw_count; i++)
        cluster_drop_raw(&c->raw[i]);
    foliot_server_destroy(c->server);
    close_recording(c);
    foliot_rules_destroy(c->rules);
    foliot_simulation_destroy(&c->simulation);
    foliot_scene_destroy(c->resumed_scene);
    if (c->options.bridged)
        bridge_close(&c->bridge);
    foliot_transport_destroy(c->host);
    foliot_hub_destroy(c->hub);
    cluster_errors_close(c);
    free(c);
}

foliot_client_statistics cluster_get_statistics(const cluster *c, unsigned client)
{
    return foliot_client_get_statistics(c->clients[client]);
}

bool cluster_agrees(const cluster *c, unsigned client)
{
    const foliot_simulation *simulation = foliot_client_get_simulation(c->clients[client]);
    if (!simulation)
        return false;
    uint64_t tick = foliot_simulation_get_tick(simulation);
    return foliot_digest_equal(foliot_simulation_get_digest(simulation),
                               c->history[tick % CLUSTER_HISTORY]);
}

bool cluster_watches(const cluster *c, unsigned client)
{
    foliot_client_statistics seen = cluster_get_statistics(c, client);
    return foliot_digest_equal(seen.digest, c->snapshots[seen.newest_tick % CLUSTER_HISTORY]);
}

const foliot_server_counters *cluster_get_counters(const cluster *c)
{
    return foliot_server_get_counters(c->server);
}

bool cluster_is_honest(const cluster *c)
{
    const foliot_server_counters *counters = cluster_get_counters(c);
    return c->events[FOLIOT_SERVER_VIOLATION] == 0 && counters->messages_malformed == 0 &&
           counters->divergences == 0;
}
