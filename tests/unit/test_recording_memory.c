// SPDX-License-Identifier: MIT
// Goal: a recording of some kilobytes whose header or scene asks for room for millions takes memory
// for what it has, whoever opens it. Method: such recordings are written, and looked at, verified
// and resumed; the peak of the resident memory is what counts, since untouched pages cost nothing.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/replay.h"
#include "sim/state/state.h"
#include "recording_fixture.h"
#include "status.h"

#define FILE_NAME "memory.foliot"
#define MIB 1024.0 // in kB, of which ru_maxrss is

size_t __sanitizer_get_current_allocated_bytes(void)
    __attribute__((weak)); // where there is a sanitizer

// A sanitizer and valgrind touch all that is allocated.
static bool pages_cost_something(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return __sanitizer_get_current_allocated_bytes || (preloaded && strstr(preloaded, "vgpreload"));
}

static double peak_kb(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (double)usage.ru_maxrss;
}

// Writes the capacities of a recording of the world.
static void claim_room(foliot_world *world, const foliot_world_config *room)
{
    world->bodies_max = room->bodies_max;
    world->capacity.forces = room->forces_max;
    world->capacity.constraints = room->constraints_max;
    world->capacity.contacts = room->contacts_max;
}

// A ball and a floor for 20 ticks; the header says `capacities`, or what the scene says.
static void record(const foliot_scene *scene, const foliot_world_config *capacities)
{
    foliot_world *world;
    foliot_recording *recording;
    foliot_recording_config config = recording_fixture_config(5, 10);
    config.threaded = false;
    const foliot_world_config needed = foliot_world_config_default(scene);
    demand(foliot_world_create(scene, &world, NULL));
    if (capacities)
        claim_room(world, capacities);
    demand(foliot_recording_open(FILE_NAME, WORLD_SIMULATION(world, scene), &config, &recording));
    claim_room(world, &needed);
    for (int i = 0; i < 20; i++) {
        demand(foliot_world_step(world, NULL, 0, NULL));
        demand(foliot_recording_append(recording, WORLD_SIMULATION(world, NULL), NULL, NULL, 0));
        demand(foliot_recording_drain(recording));
    }
    demand(foliot_recording_close(recording, NULL));
    foliot_world_destroy(world);
    struct stat about;
    assert_int_equal(stat(FILE_NAME, &about), 0);
    check_below(about.st_size, 10240);
}

static void look_verify_resume(void)
{
    foliot_replay *replay;
    foliot_verdict verdict;
    foliot_recording *recording;
    foliot_scene *scene;
    foliot_world *world;
    foliot_recording_config config = recording_fixture_config(5, 10);
    foliot_error error = {.text = ""};
    demand(foliot__replay_look(FILE_NAME, &replay, NULL));
    demand(foliot_replay_scan(replay));
    assert_null(foliot_replay_get_world(replay));
    assert_int_equal(foliot_replay_get_summary(replay)->last_tick, 20);
    assert_int_equal(foliot_replay_step(replay), FOLIOT_STATUS_UNSUPPORTED);
    foliot_replay_close(replay);
    demand(foliot_replay_open(FILE_NAME, &foliot_world_kind, &replay, NULL));
    demand(foliot_replay_verify(replay, NULL, &verdict));
    assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
    assert_int_equal(verdict.ticks, 20);
    demand(foliot_replay_seek(replay, 3));
    foliot_replay_close(replay);
    demand(resume_world(FILE_NAME, &config, &recording, &scene, &world, &error));
    assert_int_equal(foliot_world_get_tick(world), 20);
    foliot_recording_abandon(recording);
    foliot_world_destroy(world);
    foliot_scene_destroy(scene);
}

static foliot_scene *ball_scene(recording_fixture *fixture)
{
    recording_fixture_init(fixture, 2, 1, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 3);
    for (uint32_t i = 0; i < 2; i++)
        fixture->bodies[i].shape = (foliot_shape){.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.1};
    return &fixture->scene;
}

// 1.5 GB of rows for contacts, of which there can be three.
TEST(capacities_that_no_scene_needs_cost_nothing)
{
    recording_fixture fixture;
    const foliot_scene *scene = ball_scene(&fixture);
    foliot_world_config vast = foliot_world_config_default(scene);
    vast.contacts_max = 1 << 22;
    vast.bodies_max = 1 << 16;
    vast.forces_max = 1 << 20;
    vast.constraints_max = 1 << 20;
    double before = peak_kb();
    record(scene, &vast);
    look_verify_resume();
    check_below((peak_kb() - before) / MIB, 64);
    recording_fixture_free(&fixture);
}

// The same asked for by the scene itself, in four bytes.
TEST(room_that_a_scene_does_not_use_costs_nothing)
{
    recording_fixture fixture;
    foliot_scene *scene = ball_scene(&fixture);
    scene->bodies_max = 400000;
    double before = peak_kb();
    record(scene, NULL);
    look_verify_resume();
    check_below((peak_kb() - before) / MIB, 64);
    recording_fixture_free(&fixture);
}

// More than a replay takes is refused by it, and can be looked at.
TEST(whatever_it_asks_for_it_can_be_looked_at)
{
    recording_fixture fixture;
    foliot_replay *replay;
    foliot_scene *scene = ball_scene(&fixture);
    scene->commands_max = 1; // bodies beyond the scene's may come
    foliot_world_config vast = foliot_world_config_default(scene);
    vast.bodies_max = FOLIOT_BODIES_MAX;
    vast.contacts_max = UINT32_MAX;
    double before = peak_kb();
    record(scene, &vast);
    demand(foliot__replay_look(FILE_NAME, &replay, NULL));
    demand(foliot_replay_scan(replay));
    foliot_replay_close(replay);
    assert_int_equal(foliot_replay_open(FILE_NAME, &foliot_world_kind, &replay, NULL),
                     FOLIOT_STATUS_UNSUPPORTED);
    check_below((peak_kb() - before) / MIB, 64);
    recording_fixture_free(&fixture);
}

int main(void)
{
    char folder[] = "/tmp/foliot-memory-XXXXXX";
    if (pages_cost_something()) {
        printf("skip: this build touches pages that the program does not\n");
        return 0;
    }
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    int failed = check_run(NULL, NULL);
    unlink(FILE_NAME);
    return chdir("/") != 0 || rmdir(folder) != 0 ? 1 : failed;
}
