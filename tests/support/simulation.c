// SPDX-License-Identifier: MIT
// simulation.c: see simulation.h.
#include "simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "game_rules.h"
#include "status.h"
#include "world_simulation.h"

static const double spawns[2][3] = {{0, 0, 0}, {5, 0, 0}};

static void make_scene(simulation *s)
{
    s->scene = foliot_scene_default();
    s->scene.name = "springs";
    s->scene.dt = 1.0 / 60;
    s->scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    for (int i = 0; i < SIMULATION_BODIES; i++) {
        s->bodies[i] = foliot_body_definition_default();
        s->bodies[i].mass = 1 + 0.1 * i;
        s->bodies[i].position[0] = 2 * i;
        s->bodies[i].velocity[1] = 3;
        s->bodies[i].shape.kind = FOLIOT_SHAPE_SPHERE;
        s->bodies[i].shape.radius = 0.2;
        s->bodies[i].angular_velocity[i % 3] = 1 + 0.5 * i; // rad/s
        s->forces[i] = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
        s->forces[i].a = (uint32_t)i;
        s->forces[i].b = FOLIOT_NO_BODY;
        s->forces[i].as.spring.point[0] = 2 * i;
        s->forces[i].as.spring.stiffness = 10 + i;
    }
    s->scene.bodies = s->bodies;
    s->scene.body_count = SIMULATION_BODIES;
    s->scene.forces = s->forces;
    s->scene.force_count = SIMULATION_BODIES;
    s->scene.players.limit = 4;
    s->scene.players.body = foliot_body_definition_default();
    s->scene.players.positions = spawns;
    s->scene.players.position_count = 2;
    s->scene.players.control = FOLIOT_CONTROL_THRUST;
    s->scene.players.force = 5;
}

// Springs pull the scene's bodies; what commands spawn flies freely.
static void make_game(simulation *s, const foliot_rules_kind *rules)
{
    char problem[256];
    s->prototype = foliot_body_definition_default();
    s->prototype.name = "ball";
    s->prototype.shape.kind = FOLIOT_SHAPE_SPHERE;
    s->prototype.shape.radius = 0.25;
    s->scene.commands_max = 64;
    s->scene.joints_max = 8;
    s->scene.bodies_max = 200;
    s->scene.prototypes = &s->prototype;
    s->scene.prototype_count = 1;
    if (rules)
        demand(foliot_rules_create(rules, &s->scene, &s->rules, problem, sizeof problem));
}

// -- recording

static foliot_status save_rules(void *user, void *bytes, size_t capacity, size_t *length)
{
    simulation *s = user;
    return foliot_rules_save(s->rules, bytes, capacity, length);
}

static foliot_status restore_rules(void *user, const void *bytes, size_t length)
{
    simulation *s = user;
    return foliot_rules_restore(s->rules, bytes, length);
}

static foliot_status tick_rules(void *user, const foliot_rules_view *view)
{
    simulation *s = user;
    return foliot_rules_tick(s->rules, view);
}

static foliot_recording_config recording_config(simulation *s)
{
    foliot_recording_config config = foliot_recording_config_default();
    config.threaded = false;
    config.keyframe_ticks = 90; // the last one is seldom where the server dies
    config.block_ticks = 20;
    s->recorded_rules = (foliot_recording_rules){.name = s->rules_kind->name,
                                                 .version = s->rules_kind->version,
                                                 .save = save_rules,
                                                 .restore = restore_rules,
                                                 .tick = tick_rules,
                                                 .user = s};
    config.rules = &s->recorded_rules;
    return config;
}

// -- the server

static void bridge_queues(simulation *s)
{
    foliot_queues_config config = foliot_queues_config_default();
    foliot_transport *first = s->host, *second;
    foliot_queues *queues;
    demand(foliot_transport_create_queues(&config, &second, &queues));
    demand(foliot_transport_create_both(first, second, &s->host));
    bridge_open(&s->bridge, s->hub, 7778, queues, s->now_ns);
}

static void open_server(simulation *s, foliot_world *world, double spectator_delay_s)
{
    foliot_transport_config wire = foliot_transport_config_default();
    wire.bind = "127.0.0.1";
    wire.port = 7777;
    wire.peers_max = SIMULATION_CLIENTS;
    demand(foliot_transport_create_memory(s->hub, &wire, s->now_ns, &s->host));
    if (s->bridged)
        bridge_queues(s);
    foliot_server_config config = foliot_server_config_default();
    config.transport = s->host;
    config.snapshot_hz = s->snapshot_hz;
    demand(foliot_server_create(&config, s->now_ns, &s->server));
    foliot_session_config session = {.name = "main",
                                     .scene = s->resumed_scene ? s->resumed_scene : &s->scene,
                                     .world = world,
                                     .recording = s->recording,
                                     .pace_hz = 60,
                                     .spectator_delay_s = spectator_delay_s,
                                     .rules = s->rules,
                                     .follows_next = true};
    demand(foliot_server_add_session(s->server, &session, s->now_ns));
}

typedef struct options {
    bool game, bridged, bodiless;
    const foliot_rules_kind *rules;
    uint32_t history_ticks;
    double spectator_delay_s, snapshot_hz;
    const char *file; // that it records to; NULL: none
} options;

static simulation *create(options o)
{
    simulation *s = calloc(1, sizeof *s);
    FOLIOT_ASSERT(s);
    s->snapshot_hz = o.snapshot_hz;
    s->bridged = o.bridged;
    foliot_world *world;
    s->now_ns = 1000000000u;
    make_scene(s);
    s->scene.history_ticks = o.history_ticks;
    s->scene.players.bodiless = o.bodiless;
    if (o.game)
        make_game(s, o.rules);
    demand(foliot_hub_create(&s->hub));
    demand(foliot_world_create(&s->scene, &world, NULL));
    if (o.file) {
        s->file = o.file;
        s->rules_kind = o.rules;
        foliot_recording_config config = recording_config(s);
        demand(foliot_recording_open(o.file, WORLD_SIMULATION(world, &s->scene), &config,
                                     &s->recording));
    }
    open_server(s, world, o.spectator_delay_s);
    return s;
}

void simulation_follow(simulation *s)
{
    char problem[256];
    foliot_rules *former = s->rules;
    foliot_session_config session = {
        .name = "main", .scene = &s->scene, .pace_hz = 60, .follows_next = true};
    demand(foliot_rules_create(&game_rules_kind, &s->scene, &s->rules, problem, sizeof problem));
    demand(foliot_world_create(&s->scene, &session.world, NULL));
    session.rules = s->rules;
    demand(foliot_server_add_session(s->server, &session, s->now_ns));
    foliot_rules_destroy(former);
}

void simulation_crash(simulation *s, double down_s)
{
    char problem[256];
    foliot_world *world;
    foliot_recording_abandon(s->recording);
    foliot_server_destroy(s->server);
    foliot_transport_destroy(s->host);
    foliot_rules_destroy(s->rules);
    foliot_scene_destroy(s->resumed_scene);
    for (uint64_t end = s->now_ns + (uint64_t)(down_s * 1e9); s->now_ns < end; s->now_ns += 1000000)
        for (unsigned i = 0; i < s->client_count; i++)
            foliot_client_update(s->clients[i], s->now_ns);
    demand(foliot_rules_create(s->rules_kind, &s->scene, &s->rules, problem, sizeof problem));
    foliot_recording_config config = recording_config(s);
    demand(resume_world(s->file, &config, &s->recording, &s->resumed_scene, &world, problem,
                        sizeof problem));
    open_server(s, world, 0);
}

simulation *simulation_create(void)
{
    return create((options){0});
}

simulation *simulation_create_bridged(void)
{
    return create((options){.bridged = true});
}

simulation *simulation_create_delayed(double spectator_delay_s)
{
    return create((options){.spectator_delay_s = spectator_delay_s});
}

simulation *simulation_create_game(const foliot_rules_kind *rules, double spectator_delay_s)
{
    return create((options){.game = true, .rules = rules, .spectator_delay_s = spectator_delay_s});
}

simulation *simulation_create_slow_game(double snapshot_hz)
{
    return create((options){.game = true, .snapshot_hz = snapshot_hz});
}

simulation *simulation_create_bodiless(void)
{
    return create((options){.game = true, .bodiless = true});
}

simulation *simulation_create_looking_back(const foliot_rules_kind *rules)
{
    return create((options){.game = true, .rules = rules, .history_ticks = 60});
}

simulation *simulation_create_recorded_game(const foliot_rules_kind *rules, const char *file)
{
    return create((options){.game = true, .rules = rules, .file = file});
}

void simulation_destroy(simulation *s)
{
    for (unsigned i = 0; i < s->client_count; i++) {
        foliot_client_destroy(s->clients[i]);
        foliot_transport_destroy(s->wires[i]);
    }
    foliot_server_destroy(s->server);
    if (s->recording)
        foliot_recording_abandon(s->recording);
    foliot_rules_destroy(s->rules);
    foliot_scene_destroy(s->resumed_scene);
    if (s->bridged)
        bridge_close(&s->bridge);
    foliot_transport_destroy(s->host);
    foliot_hub_destroy(s->hub);
    free(s);
}

unsigned simulation_join(simulation *s, const char *impairment, bool spectates)
{
    foliot_transport_config wire = foliot_transport_config_default();
    demand(foliot_impairment_parse(impairment, &wire.send, NULL, 0));
    wire.receive = wire.send;
    wire.receive.seed += 1000;
    unsigned i = s->client_count++;
    demand(foliot_transport_create_memory(s->hub, &wire, s->now_ns, &s->wires[i]));
    foliot_client_config config = foliot_client_config_default();
    config.transport = s->wires[i];
    config.port = s->bridged && i % 2 ? 7778 : 7777;
    config.spectates = spectates;
    demand(foliot_client_create(&config, s->now_ns, &s->clients[i]));
    return i;
}

void simulation_impair(simulation *s, unsigned client, const char *impairment)
{
    foliot_impairment i;
    demand(foliot_impairment_parse(impairment, &i, NULL, 0));
    demand(foliot_transport_set_impairment(s->wires[client], &i, &i));
}

static void remember_state(simulation *s)
{
    const foliot_world *world = foliot_server_get_world(s->server, "main");
    uint64_t tick = foliot_world_get_tick(world);
    for (uint32_t b = 0; b < SIMULATION_BODIES; b++) {
        foliot_body_state state = foliot_world_get_body_state(world, b);
        memcpy(s->history[tick % SIMULATION_HISTORY][b], state.position, sizeof state.position);
        memcpy(s->turns[tick % SIMULATION_HISTORY][b], state.orientation, sizeof state.orientation);
    }
    s->seen_tick = tick;
}

// Where a body was between two ticks: Catmull and Rom's cubic through four ticks, good to 0.01 mm
// here.
static double position_of(const simulation *s, uint64_t tick, double u, uint32_t b, int k)
{
    double p[4];
    for (int i = 0; i < 4; i++)
        p[i] = s->history[(tick + (uint64_t)i - 1) % SIMULATION_HISTORY][b][k];
    double m1 = (p[2] - p[0]) / 2, m2 = (p[3] - p[1]) / 2, u2 = u * u, u3 = u2 * u;
    return (2 * u3 - 3 * u2 + 1) * p[1] + (u3 - 2 * u2 + u) * m1 + (3 * u2 - 2 * u3) * p[2] +
           (u3 - u2) * m2;
}

// The angle to the orientation between two ticks: spins are steady here, so the arc is a great
// circle's.
static double turn_error(const simulation *s, uint64_t tick, double u, uint32_t b,
                         const double shown[4])
{
    const double *p = s->turns[tick % SIMULATION_HISTORY][b],
                 *q = s->turns[(tick + 1) % SIMULATION_HISTORY][b];
    double dot = 0, along = 0, norm = 0;
    for (int k = 0; k < 4; k++)
        dot += p[k] * q[k];
    double angle = acos(fmin(1, fabs(dot))), sine = sin(angle);
    for (int k = 0; k < 4; k++) {
        double t = sine > 1e-9
                       ? (sin((1 - u) * angle) * p[k] + copysign(sin(u * angle), dot) * q[k]) / sine
                       : p[k];
        along += t * shown[k];
        norm += (t - shown[k]) * (t - shown[k]);
    }
    // From the chord, which is exact where the angle is small.
    double chord = along < 0 ? sqrt(fmax(0, 4 - norm)) : sqrt(norm);
    return 4 * asin(fmin(1, chord / 2)) * 57.29577951308232;
}

static void compare(simulation *s, const foliot_sample *sample)
{
    uint64_t tick = (uint64_t)sample->render_tick;
    double u = sample->render_tick - (double)tick;
    if (tick < 1 || tick + 2 > s->seen_tick)
        return;
    for (uint32_t b = 0; b < SIMULATION_BODIES; b++) {
        double square = 0, jump = 0;
        for (int k = 0; k < 3; k++) {
            double error = sample->bodies[b].position[k] - position_of(s, tick, u, b, k);
            double change = error - s->last_error[b][k];
            s->last_error[b][k] = error;
            square += error * error;
            jump += change * change;
        }
        if (s->has_last)
            s->jump_max = fmax(s->jump_max, sqrt(jump));
        s->error_square += square;
        s->error_max = fmax(s->error_max, sqrt(square));
        double turn = turn_error(s, tick, u, b, sample->bodies[b].orientation);
        s->turn_square += turn * turn;
        s->turn_errors[s->error_count % SIMULATION_ERRORS] = (float)turn;
        s->errors[s->error_count++ % SIMULATION_ERRORS] = (float)sqrt(square);
    }
    s->has_last = true;
}

void simulation_run(simulation *s, double seconds)
{
    uint64_t end = s->now_ns + (uint64_t)(seconds * 1e9);
    for (; s->now_ns < end; s->now_ns += 1000000) {
        foliot_server_update(s->server, s->now_ns);
        if (s->bridged)
            bridge_carry(&s->bridge, s->now_ns);
        remember_state(s);
        if (s->recording)
            allow_failure(foliot_recording_drain(s->recording));
        for (unsigned i = 0; i < s->client_count; i++) {
            foliot_client_update(s->clients[i], s->now_ns);
            foliot_sample sample;
            if (s->now_ns / 1000000 % 16 == 0 &&
                foliot_client_sample(s->clients[i], s->now_ns, &sample) == FOLIOT_STATUS_OK &&
                i == 0)
                compare(s, &sample);
        }
    }
}

double simulation_error_rms(const simulation *s)
{
    return s->error_count ? sqrt(s->error_square / (double)s->error_count) : 0;
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

static double quantile(const simulation *s, float *errors, double share)
{
    uint64_t count = s->error_count < SIMULATION_ERRORS ? s->error_count : SIMULATION_ERRORS;
    if (count == 0)
        return 0;
    qsort(errors, count, sizeof *errors, by_size);
    return errors[(uint64_t)((double)(count - 1) * share)];
}

double simulation_error_quantile(simulation *s, double share)
{
    return quantile(s, s->errors, share);
}

double simulation_turn_rms(const simulation *s)
{
    return s->error_count ? sqrt(s->turn_square / (double)s->error_count) : 0;
}

double simulation_turn_quantile(simulation *s, double share)
{
    return quantile(s, s->turn_errors, share);
}
