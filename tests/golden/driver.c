// SPDX-License-Identifier: MIT
// driver.c: what the matrix runs on every target. Prints the parts of the fingerprint and one line
// a case, "SCENE INTEGRATOR TICKS DIGEST"; with two arguments SCENE INTEGRATOR the digest of every
// tick of that case. Two targets agree if their outputs are the same bytes.
#include "cases.h"

#include <stdio.h>
#include <string.h>

#include "sim/selftest/fingerprint.h"

static void print_fingerprint(void)
{
    uint64_t word;
    const char *name;
    for (unsigned part = 0; (name = foliot__fingerprint_part(part, &word)) != NULL; part++)
        printf("fingerprint %s 0 %08lx%08lx\n", name, (unsigned long)(word >> 32),
               (unsigned long)(word & 0xffffffffu));
}

static void run_case(foliot_scene *scene, const foliot_integrator_info *info, int trace)
{
    foliot_world *world = cases_world(scene, info->id);
    if (!world)
        return;
    char text[FOLIOT_DIGEST_TEXT_BYTES];
    uint64_t ticks = cases_ticks(scene);
    for (uint64_t tick = 0; tick <= ticks; tick++) {
        if (tick)
            cases_step(world, scene);
        if (!trace && tick < ticks)
            continue;
        foliot_digest_print(foliot_world_get_digest(world), text);
        printf("%s %s %lu %s\n", scene->name, info->name, (unsigned long)tick, text);
    }
    foliot_world_destroy(world);
    fflush(stdout);
}

// Where a size_t has 32 bits, a world that needs more has no size, instead of a small one.
static bool sizes_are_true(void)
{
    const foliot_world_config vast[] = {
        {.bodies_max = FOLIOT_BODIES_MAX, .contacts_max = 8 * FOLIOT_BODIES_MAX},
        {.bodies_max = 1, .contacts_max = UINT32_MAX, .sleeps = true, .senses = true},
        {.bodies_max = 1,
         .constraints_max = FOLIOT_CONSTRAINTS_MAX,
         .joints_max = FOLIOT_CONSTRAINTS_MAX,
         .joints_added_max = FOLIOT_CONSTRAINTS_MAX,
         .commands_max = FOLIOT_COMMANDS_MAX},
    };
    for (unsigned i = 0; i < sizeof vast / sizeof *vast; i++) {
        foliot_world_config config = vast[i];
        config.forces_max = 1;
        config.integrator = FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER;
        size_t bytes = foliot_world_config_get_bytes(&config);
        if (sizeof bytes > 4 ? (uint64_t)bytes <= UINT32_MAX : bytes != 0)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    int trace = argc == 3;
    if (!sizes_are_true()) {
        fprintf(stderr, "cases: the size of a vast world is wrong\n");
        return 1;
    }
    if (!trace)
        print_fingerprint();
    for (unsigned s = 0; s < cases_scene_count(); s++) {
        foliot_scene *scene = cases_scene(s);
        for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
            const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)id);
            if (info && (!trace || (!strcmp(argv[1], scene->name) && !strcmp(argv[2], info->name))))
                run_case(scene, info, trace);
        }
        foliot_scene_destroy(scene);
    }
    return 0;
}
