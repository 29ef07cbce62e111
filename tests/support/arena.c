// SPDX-License-Identifier: MIT
// arena.c: see arena.h.
#include "arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "net/transport.h"
#include "seed_wire.h"
#include "status.h"
#include "world_simulation.h"

#define ARENA_PLAYERS_MAX 64

static const double spawns[4][3] = {{0, 0, 0}, {5, 0.1, 0}, {0.3, 7, 0}, {4, 4, 4.7}};

// Numbers that do not come out even: a build that rounds otherwise is found out at once.
static void make_scene(arena *a, uint32_t players)
{
    a->scene = foliot_scene_default();
    a->scene.name = "arena";
    a->scene.dt = 1.0 / 60;
    a->scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    for (int i = 0; i < ARENA_BODIES; i++) {
        a->bodies[i] = foliot_body_definition_default();
        a->bodies[i].mass = 1 + 0.37 * i;
        a->bodies[i].position[0] = 2.1 * i;
        a->bodies[i].velocity[1] = 3.3;
        a->bodies[i].velocity[2] = -0.7;
        a->forces[i] = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
        a->forces[i].a = (uint32_t)i;
        a->forces[i].b = i ? (uint32_t)i - 1 : FOLIOT_NO_BODY;
        a->forces[i].as.spring.stiffness = 10.3 + i;
        a->forces[i].as.spring.length = 0.7;
    }
    a->forces[ARENA_BODIES] = foliot_force_definition_default(FOLIOT_FORCE_DRAG);
    a->forces[ARENA_BODIES].as.drag.linear = 0.137;
    a->scene.bodies = a->bodies;
    a->scene.body_count = ARENA_BODIES;
    a->scene.forces = a->forces;
    a->scene.force_count = ARENA_BODIES + 1;
    a->scene.players.limit = players;
    a->scene.players.body = foliot_body_definition_default();
    a->scene.players.positions = spawns;
    a->scene.players.position_count = 4;
    a->scene.players.control = FOLIOT_CONTROL_THRUST;
    a->scene.players.force = 5.1;
}

static void make_game(arena *a, const foliot_rules_kind *rules)
{
    char problem[256];
    a->prototype = foliot_body_definition_default();
    a->prototype.name = "ball";
    a->scene.commands_max = 64;
    a->scene.bodies_max = 200;
    a->scene.prototypes = &a->prototype;
    a->scene.prototype_count = 1;
    demand(foliot_rules_create(rules, &a->scene, &a->rules, problem, sizeof problem));
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

static void open_session(arena *a, const arena_options *options)
{
    foliot_session_config session = {.name = "main",
                                     .scene = &a->scene,
                                     .pace_hz = 60,
                                     .mode = options->snapshots ? FOLIOT_SESSION_SNAPSHOTS
                                                                : FOLIOT_SESSION_LOCKSTEP,
                                     .input_delay = options->input_delay,
                                     .spectator_delay_s = options->spectator_delay_s,
                                     .refuses_forced = options->refuses_forced,
                                     .interest = options->interest,
                                     .rules = a->rules};
    if (options->kind) {
        demand(foliot_simulation_create(options->kind, "\7", 1, &a->simulation));
        session.simulation = &a->simulation;
        session.player_limit = a->scene.players.limit;
    } else {
        demand(foliot_world_create(&a->scene, &session.world, NULL));
        begin_at(session.world, options->first_tick);
    }
    if (options->record) {
        foliot_recording_config config = foliot_recording_config_default();
        config.threaded = false;
        demand(options->kind
                   ? foliot_recording_open(options->record, &a->simulation, &config, &a->recording)
                   : foliot_recording_open(options->record,
                                           WORLD_SIMULATION(session.world, &a->scene), &config,
                                           &a->recording));
        session.recording = a->recording;
    }
    demand(foliot_server_add_session(a->server, &session, a->now_ns));
}

static void hand_on(void *user, foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    const arena_tap *tap = user;
    tap->options->tap(tap->options->tap_user, tap->from, delivery, bytes, length);
}

// The transport, or one around it that shows what is sent.
static foliot_transport *tapped(arena *a, foliot_transport *inner, unsigned from)
{
    if (!a->options.tap)
        return inner;
    a->taps[from] = (arena_tap){&a->options, from};
    return seed_wire_create(inner, &(seed_wire_config){.clock = {.now_ns = &a->now_ns},
                                                       .tap = hand_on,
                                                       .tap_user = &a->taps[from]});
}

arena *arena_create(const arena_options *options)
{
    static const arena_options none;
    arena *a = calloc(1, sizeof *a);
    FOLIOT_ASSERT(a);
    if (!options)
        options = &none;
    a->options = *options;
    a->now_ns = 1000000000u;
    a->step_ns = 1000000;
    a->rng = foliot__rng_seeded(7);
    if (options->scene)
        a->scene = *options->scene;
    else
        make_scene(a, options->players ? options->players : 4);
    if (options->rules)
        make_game(a, options->rules);
    foliot_transport_config wire = foliot_transport_config_default();
    wire.bind = "127.0.0.1";
    wire.port = 7777;
    wire.peers_max = ARENA_CLIENTS + 8;
    if (options->server_network)
        demand(foliot_impairment_parse(options->server_network, &wire.send, NULL, 0));
    demand(foliot_hub_create(&a->hub));
    demand(foliot_transport_create_memory(a->hub, &wire, a->now_ns, &a->host));
    a->host = tapped(a, a->host, ARENA_SERVER);
    foliot_server_config config = foliot_server_config_default();
    config.transport = a->host;
    config.fingerprint = a->fingerprint = foliot_get_fingerprint(); // once: it takes milliseconds
    demand(foliot_server_create(&config, a->now_ns, &a->server));
    open_session(a, options);
    return a;
}

void arena_destroy(arena *a)
{
    for (unsigned i = 0; i < a->client_count; i++) {
        foliot_client_destroy(a->clients[i]);
        foliot_transport_destroy(a->wires[i]);
    }
    foliot_server_destroy(a->server);
    foliot_rules_destroy(a->rules);
    foliot_simulation_destroy(&a->simulation);
    bool stopped = a->told[FOLIOT_SERVER_RECORDING_STOPPED] > 0;
    if (a->recording && stopped)
        foliot_recording_abandon(a->recording);
    else if (a->recording)
        demand(foliot_recording_close(a->recording, NULL));
    foliot_transport_destroy(a->host);
    foliot_hub_destroy(a->hub);
    free(a);
}

unsigned arena_join(arena *a, const char *network, const foliot_client_config *given)
{
    foliot_transport_config wire = foliot_transport_config_default();
    demand(foliot_impairment_parse(network, &wire.send, NULL, 0));
    unsigned i = a->client_count++;
    FOLIOT_ASSERT(i < ARENA_CLIENTS);
    wire.send.seed += 100 * i;
    wire.receive = wire.send;
    wire.receive.seed += 1000000;
    wire.timeout_ms = 30000;
    demand(foliot_transport_create_memory(a->hub, &wire, a->now_ns, &a->wires[i]));
    a->wires[i] = tapped(a, a->wires[i], i);
    foliot_client_config config = *given;
    config.transport = a->wires[i];
    if (!config.simulation && (config.fingerprint.high | config.fingerprint.low) == 0)
        config.fingerprint = a->fingerprint;
    if (a->options.kind && !config.simulation)
        config.simulation = a->options.kind;
    config.port = 7777;
    demand(foliot_client_create(&config, a->now_ns, &a->clients[i]));
    a->bots[i] = !config.spectates;
    return i;
}

unsigned arena_bot(arena *a, const char *network)
{
    foliot_client_config config = foliot_client_config_default();
    return arena_join(a, network, &config);
}

unsigned arena_kind(arena *a, const char *network, foliot_peer_kind kind)
{
    foliot_client_config config = foliot_client_config_default();
    config.kind = kind;
    return arena_join(a, network, &config);
}

unsigned arena_spectator(arena *a, const char *network)
{
    foliot_client_config config = foliot_client_config_default();
    config.spectates = true;
    return arena_join(a, network, &config);
}

// Holds a key for 0.2 to 1 s, then others: what foliot-client's random bot does.
static void think(arena *a, unsigned i)
{
    int8_t axes[FOLIOT_AXIS_COUNT];
    if (!a->bots[i] || a->now_ns < a->next_ns[i])
        return;
    for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
        axes[k] = (int8_t)(127 * ((int)foliot__rng_below(&a->rng, 3) - 1));
    uint16_t buttons = foliot__rng_below(&a->rng, 4) == 0;
    foliot_client_set_input(a->clients[i], axes, buttons);
    a->next_ns[i] = a->now_ns + 200000000u + 1000000u * foliot__rng_below(&a->rng, 800);
}

uint64_t arena_tick(const arena *a)
{
    return a->simulation.self ? foliot_simulation_get_tick(&a->simulation)
                              : foliot_world_get_tick(foliot_server_get_world(a->server, "main"));
}

static void remember_snapshot(arena *a, uint64_t tick)
{
    foliot_snapshot_body bodies[ARENA_BODIES + 200 + ARENA_PLAYERS_MAX];
    foliot_snapshot snapshot = {.bodies = bodies, .capacity = sizeof bodies / sizeof *bodies};
    foliot_snapshot_format format = foliot_snapshot_format_default(&a->scene);
    if (format.bodies_max > snapshot.capacity)
        return; // a scene of a test that compares none
    demand(
        foliot_snapshot_quantise(&format, foliot_server_get_world(a->server, "main"), &snapshot));
    a->snapshots[tick % ARENA_HISTORY] = foliot_snapshot_get_digest(&snapshot);
}

static void remember(arena *a)
{
    uint64_t tick = arena_tick(a);
    if (tick != a->seen_tick)
        a->history[tick % ARENA_HISTORY] =
            a->simulation.self
                ? foliot_simulation_get_digest(&a->simulation)
                : foliot_world_get_digest(foliot_server_get_world(a->server, "main"));
    if (tick != a->seen_tick && !a->simulation.self)
        remember_snapshot(a, tick);
    a->seen_tick = tick;
}

void arena_inject(arena *a, unsigned client, const uint8_t *bytes, size_t length)
{
    allow_failure(foliot_transport_send(a->wires[client], foliot__peer_id(0, 1),
                                        FOLIOT_DELIVERY_UNRELIABLE, bytes,
                                        length)); // or it was ended
    foliot_transport_flush(a->wires[client], a->now_ns);
}

static void update(arena *a, unsigned i)
{
    if (a->asleep[i])
        return;
    uint64_t before = foliot_client_get_statistics(a->clients[i]).ticks_stepped;
    think(a, i);
    foliot_client_update(a->clients[i], a->now_ns);
    uint64_t steps = foliot_client_get_statistics(a->clients[i]).ticks_stepped - before;
    if (steps > a->most_steps[i])
        a->most_steps[i] = steps;
}

static void sample(arena *a)
{
    foliot_sample sample;
    if (!a->options.clock || a->now_ns - a->sampled_ns < 16000000u)
        return;
    a->sampled_ns = a->now_ns;
    for (unsigned i = 0; i < a->client_count; i++) {
        if (foliot_client_sample(a->clients[i], a->now_ns, &sample) != FOLIOT_STATUS_OK) {
            a->unshown[i] += a->shown[i] > 0;
            continue;
        }
        a->backwards += sample.render_tick < a->shown[i];
        a->shown[i] = sample.render_tick;
    }
}

void arena_run(arena *a, double seconds)
{
    foliot_server_event event;
    uint64_t end = a->now_ns + (uint64_t)(seconds * 1e9);
    for (; a->now_ns < end; a->now_ns += a->step_ns) {
        foliot_server_update(a->server, a->now_ns);
        remember(a);
        if (a->recording)
            allow_failure(foliot_recording_drain(a->recording));
        a->found_count += foliot_server_poll_divergence(a->server, &a->found);
        while (foliot_server_poll(a->server, &event)) {
            a->told[event.kind]++;
            a->last[event.kind] = event;
        }
        for (unsigned i = 0; i < a->client_count; i++)
            update(a, i);
        sample(a);
    }
}

foliot_client_statistics arena_seen(const arena *a, unsigned client)
{
    return foliot_client_get_statistics(a->clients[client]);
}

bool arena_agrees(const arena *a, unsigned client)
{
    const foliot_simulation *simulation = foliot_client_get_simulation(a->clients[client]);
    if (!simulation)
        return false;
    uint64_t tick = foliot_simulation_get_tick(simulation);
    return foliot_digest_equal(foliot_simulation_get_digest(simulation),
                               a->history[tick % ARENA_HISTORY]);
}

bool arena_watches(const arena *a, unsigned client)
{
    foliot_client_statistics seen = arena_seen(a, client);
    return foliot_digest_equal(seen.digest, a->snapshots[seen.newest_tick % ARENA_HISTORY]);
}

const foliot_server_counters *arena_counted(const arena *a)
{
    return foliot_server_get_counters(a->server);
}

bool arena_is_honest(const arena *a)
{
    const foliot_server_counters *counted = arena_counted(a);
    return a->told[FOLIOT_SERVER_VIOLATION] == 0 && counted->messages_malformed == 0 &&
           counted->divergences == 0;
}
