// SPDX-License-Identifier: MIT
// simulation.c: how fast the whole system runs on a virtual clock, on one core: server, eight
// clients that play, their networks and a recording, against real time. 64 spheres that roll,
// collide and are pushed.
#include "bench.h"
#include "clock.h"
#include "seed_run.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS 5
#define SECONDS 30
#define BALLS 56 // and eight players' bodies

static foliot_scene pool(foliot_body_definition bodies[BALLS + 1], double spawns[8][3])
{
    foliot_scene scene = foliot_scene_default();
    bodies[0] = foliot_body_definition_default();
    bodies[0].is_static = true;
    bodies[0].shape.kind = FOLIOT_SHAPE_PLANE;
    for (int i = 1; i <= BALLS; i++) {
        bodies[i] = foliot_body_definition_default();
        bodies[i].shape.kind = FOLIOT_SHAPE_SPHERE;
        bodies[i].shape.radius = 0.3;
        bodies[i].position[0] = i % 8 * 0.9;
        bodies[i].position[1] = (double)(i / 8) * 0.9;
        bodies[i].position[2] = 0.5 + 0.05 * (i % 3);
        bodies[i].velocity[i % 2] = i % 5 - 2;
    }
    for (int p = 0; p < 8; p++) {
        spawns[p][0] = p * 0.9;
        spawns[p][1] = -2;
        spawns[p][2] = 0.4;
    }
    scene.name = "pool";
    scene.dt = 1.0 / 60;
    scene.pace_hz = 60;
    scene.gravity[2] = -9.80665;
    scene.bodies = bodies;
    scene.body_count = BALLS + 1;
    scene.players.limit = 8;
    scene.players.body = bodies[1];
    scene.players.positions = (const double(*)[3])spawns;
    scene.players.position_count = 8;
    scene.players.control = FOLIOT_CONTROL_THRUST;
    scene.players.force = 5;
    return scene;
}

static void plan_client(seed_client *g, uint32_t index, uint64_t run_ns)
{
    *g = (seed_client){.kind = SEED_PLAYER,
                       .life_count = 1,
                       .frame_ns = 16666667,
                       .changes_hz = 4,
                       .reconnects = true};
    g->lives[0] =
        (seed_life){.join_ns = SEED_BEGIN_NS + 1000000u * index, .end_ns = SEED_BEGIN_NS + run_ns};
    demand(foliot_impairment_parse("delay=20ms,jitter=0-20ms,loss=1%", &g->send, NULL));
    g->receive = g->send;
    g->send.seed = 2 * index;
    g->receive.seed = 2 * index + 1;
}

int main(void)
{
    foliot_body_definition bodies[BALLS + 1];
    double spawns[8][3] = {{0}}, multiples[ROUNDS], ticks[ROUNDS];
    foliot_scene scene = pool(bodies, spawns);
    seed_resources resources = {.scenes = {&scene}, .fingerprint = foliot_get_fingerprint()};
    seed_plan plan = {.seed = 1,
                      .run_ns = SECONDS * (uint64_t)SEED_SECOND,
                      .session_count = 1,
                      .client_count = 8,
                      .server_poll_ns = 2000000,
                      .timeout_ms = 10000,
                      .reconnect_ms = 10000,
                      .peers_max = 16,
                      .unchecked = true};
    plan.sessions[0] = (seed_session){
        .block_ticks = 3, .keyframe_ticks = 300, .queue_bytes = 16u << 20, .drain_hz = 1000};
    for (uint32_t i = 0; i < plan.client_count; i++)
        plan_client(&plan.clients[i], i, plan.run_ns);
    for (int round = 0; round < ROUNDS; round++) {
        double begin = clock_process_s();
        seed_result result = seed_run_plan(&resources, &plan, NULL);
        double spent = clock_process_s() - begin;
        if (!result.passed) {
            fprintf(stderr, "simulation: %s\n", result.why);
            return 1;
        }
        multiples[round] = result.tally.simulated_s / spent;
        ticks[round] = (double)result.tally.ticks / spent;
    }
    bench_report("simulation", "64 bodies, 8 clients", bench_median(multiples, ROUNDS),
                 "x real time", NULL, 0);
    bench_report("simulation", "64 bodies, 8 clients: ticks", bench_median(ticks, ROUNDS), "1/s",
                 NULL, 0);
    return 0;
}
