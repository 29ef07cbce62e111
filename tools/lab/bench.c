// SPDX-License-Identifier: MIT
// bench.c: the cost of a step of each integrator, compared with semi-implicit Euler in the same
// run. The built-in problem has one spring per body, so that the scheme dominates; or any scene.
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/rng.h"

#define ROUNDS 5
#define ROUND_NS 10000000u // at least, of each scheme in each round

// The built-in problem: undamped springs of unlike stiffness, so that no two bodies move together.
static foliot_scene *springs(uint32_t bodies)
{
    foliot_scene scene = foliot_scene_default(), *copy = NULL;
    foliot_body_definition *list = calloc(bodies, sizeof *list);
    foliot_force_definition *forces = calloc(bodies, sizeof *forces);
    foliot__rng rng = foliot__rng_seeded(1);
    for (uint32_t i = 0; list && forces && i < bodies; i++) {
        list[i] = foliot_body_definition_default();
        forces[i] = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
        forces[i].a = i;
        for (int k = 0; k < 3; k++)
            list[i].position[k] = foliot__rng_unit(&rng) - 0.5;
        forces[i].as.spring.stiffness = 10 + 10 * foliot__rng_unit(&rng);
    }
    scene.name = "springs";
    scene.dt = 1.0 / 60;
    scene.bodies = list;
    scene.body_count = bodies;
    scene.forces = forces;
    scene.force_count = bodies;
    size_t length = 0;
    uint8_t *bytes = NULL;
    if (list && forces && foliot_scene_encode(&scene, NULL, 0, &length) == FOLIOT_STATUS_OK &&
        (bytes = malloc(length)) &&
        foliot_scene_encode(&scene, bytes, length, &length) == FOLIOT_STATUS_OK &&
        foliot_scene_decode(bytes, length, &copy) != FOLIOT_STATUS_OK)
        copy = NULL;
    free(bytes);
    free(list);
    free(forces);
    return copy;
}

typedef struct cost {
    double ns;          // a body and step, median of the rounds
    double evaluations; // a step
} cost;

// ns of one body and step, over ROUND_NS or more.
static double round_of(foliot_world *world, uint32_t bodies)
{
    uint64_t ticks = 0, batch = 1, begin = lab_now_ns(), spent = 0;
    while (spent < ROUND_NS) {
        for (uint64_t i = 0; i < batch; i++)
            if (foliot_world_step(world, NULL, 0, NULL) != FOLIOT_STATUS_OK)
                return NAN; // printed as such
        ticks += batch;
        batch *= 2;
        spent = lab_now_ns() - begin;
    }
    return (double)spent / (double)ticks / bodies;
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double rounds[ROUNDS])
{
    qsort(rounds, ROUNDS, sizeof rounds[0], rising);
    return rounds[ROUNDS / 2];
}

static foliot_world *world_with(foliot_scene *scene, foliot_integrator id)
{
    foliot_world *world = NULL;
    foliot_integrator own = scene->integrator;
    scene->integrator = id;
    if (foliot_scene_check(scene, NULL) == FOLIOT_STATUS_OK &&
        foliot_world_create(scene, &world, NULL) != FOLIOT_STATUS_OK)
        world = NULL;
    scene->integrator = own;
    return world;
}

// Both in turn, so that other load affects both. False if the scene refuses the scheme.
static bool measure_scene(foliot_scene *scene, foliot_integrator id, cost *own, cost *standard)
{
    foliot_world *world = world_with(scene, id);
    foliot_world *opponent = world_with(scene, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    double rounds[ROUNDS], opponent_rounds[ROUNDS];
    for (int r = 0; world && r < ROUNDS; r++) {
        rounds[r] = round_of(world, scene->body_count);
        opponent_rounds[r] = opponent ? round_of(opponent, scene->body_count) : 0;
    }
    if (world) {
        uint64_t ticks = foliot_world_get_tick(world) * scene->substeps;
        own->evaluations =
            (double)foliot_world_get_counters(world)->force_evaluations / (double)ticks;
        own->ns = median(rounds);
        standard->ns = median(opponent_rounds);
    }
    foliot_world_destroy(opponent);
    foliot_world_destroy(world);
    return world != NULL;
}

int lab_bench(const lab_context *context, const char *file, bool json, uint64_t bodies)
{
    foliot_scene *scene = NULL;
    int code = file ? lab_scene_open(context, file, NULL, 0, &scene) : 0;
    if (!file)
        scene = springs((uint32_t)bodies);
    if (code == 0 && !scene)
        code = lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    if (code == 0 && scene->body_count == 0)
        code = lab_fail(context, FOLIOT__EXIT_SCENE, "%s: no bodies to step", file);
    if (code)
        return code;
    lab_catch_signals();
    if (!json)
        printf("%s, %u bodies: medians of %d rounds, each with semi-implicit-euler\n\n"
               "%-26s %12s %14s %10s\n",
               scene->name, scene->body_count, ROUNDS, "integrator", "evaluations", "ns/body step",
               "ratio");
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT && !lab_interrupted(); id++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)id);
        cost own, standard;
        if (!info || !measure_scene(scene, info->id, &own, &standard))
            continue;
        if (!json) {
            printf("%-26s %12.3f %14.3f %10.2f\n", info->name, own.evaluations, own.ns,
                   standard.ns > 0 ? own.ns / standard.ns : 0);
            fflush(stdout);
        } else {
            char label[FOLIOT_NAME_BYTES + 64];
            snprintf(label, sizeof label, "%s, %s", scene->name, info->name);
            foliot__json out = foliot__json_to(stdout);
            foliot__json_object(&out, NULL);
            foliot__json_text(&out, "bench", "integrators");
            foliot__json_text(&out, "case", label);
            foliot__json_decimals(&out, "value", own.ns, 3);
            foliot__json_text(&out, "unit", "ns a body and step");
            foliot__json_text(&out, "opponent", standard.ns > 0 ? "semi-implicit-euler" : NULL);
            foliot__json_decimals(&out, "opponent_value", standard.ns > 0 ? standard.ns : NAN, 3);
            foliot__json_decimals(&out, "ratio", standard.ns > 0 ? own.ns / standard.ns : NAN, 3);
            foliot__json_decimals(&out, "evaluations", own.evaluations, 3);
            foliot__json_line(&out);
        }
    }
    foliot_scene_destroy(scene);
    return lab_interrupted() ? FOLIOT__EXIT_ERROR : FOLIOT__EXIT_FINE;
}
