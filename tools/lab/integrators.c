// SPDX-License-Identifier: MIT
// integrators.c: the registry as a table, and the check of a scene against it.
#include "lab.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/terminal.h"

static const char *reversible_text(foliot_reversibility reversible)
{
    static const char *const texts[] = {"no", "yes", "bit for bit"};
    return texts[reversible];
}

int lab_integrators(bool json)
{
    foliot__json out = foliot__json_to(stdout);
    bool colour = foliot__may_colour(stdout);
    if (json)
        foliot__json_array(&out, NULL);
    else
        printf("%-25s %5s %6s  %-10s %-11s %6s  %-8s %-4s\n", "name", "order", "damped",
               "symplectic", "reversible", "E/step", "contacts", "rods");
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)id);
        if (info && json) {
            foliot__json_object(&out, NULL);
            foliot__json_text(&out, "name", info->name);
            const char *aliases = info->aliases;
            foliot__json_array(&out, "aliases");
            while (*aliases) {
                char alias[64];
                size_t length = strcspn(aliases, " ");
                snprintf(alias, sizeof alias, "%.*s", (int)length, aliases);
                foliot__json_text(&out, NULL, alias);
                aliases += length + strspn(aliases + length, " ");
            }
            foliot__json_close(&out);
            foliot__json_count(&out, "order", info->order);
            foliot__json_count_if(&out, "order_damped", info->order_damped, info->order_damped);
            foliot__json_count(&out, "rotation_order", info->rotation_order);
            foliot__json_bool(&out, "symplectic", info->symplectic);
            foliot__json_text(&out, "reversible", reversible_text(info->reversible));
            foliot__json_count_if(&out, "evaluations", info->evaluations, info->evaluations);
            foliot__json_bool(&out, "contacts", info->contacts);
            foliot__json_bool(&out, "rods", info->rods);
            foliot__json_bool(&out, "lab_only", info->lab_only);
            foliot__json_text(&out, "summary", info->summary);
            foliot__json_close(&out);
        } else if (info) {
            char cost[8] = "solver", damped[8] = "-";
            if (info->evaluations)
                snprintf(cost, sizeof cost, "%u", info->evaluations);
            if (info->order_damped)
                snprintf(damped, sizeof damped, "%u", info->order_damped);
            printf("%s%-25s%s %5u %6s  %-10s %-11s %6s  %-8s %-4s\n", colour ? "\033[1m" : "",
                   info->name, colour ? "\033[0m" : "", info->order, damped,
                   info->symplectic ? "yes" : "no", reversible_text(info->reversible), cost,
                   info->contacts ? "yes" : "no", info->rods ? "yes" : "no");
            if (info->aliases[0])
                printf("    also: %s\n", info->aliases);
            printf("    %s\n", info->summary);
        }
    }
    if (json) {
        foliot__json_line(&out);
    }
    return FOLIOT__EXIT_FINE;
}

static bool fits(foliot_scene *scene, int id)
{
    foliot_integrator own = scene->integrator;
    scene->integrator = (foliot_integrator)id;
    bool good = foliot_scene_check(scene, NULL) == FOLIOT_STATUS_OK;
    scene->integrator = own;
    return good;
}

int lab_check(const lab_context *context, const char *file, bool json)
{
    foliot_scene *scene;
    int code = lab_scene_open(context, file, NULL, 0, &scene);
    if (code)
        return code;
    if (json) {
        foliot__json out = foliot__json_to(stdout);
        foliot__json_object(&out, NULL);
        foliot__json_text(&out, "scene", scene->name);
        foliot__json_text(&out, "integrator", foliot_integrator_get_info(scene->integrator)->name);
        foliot__json_real(&out, "dt", scene->dt);
        foliot__json_count(&out, "substeps", scene->substeps);
        foliot__json_count(&out, "bodies", scene->body_count);
        foliot__json_count(&out, "forces", scene->force_count);
        foliot__json_count(&out, "constraints", scene->constraint_count);
        foliot__json_count(&out, "players", scene->players.limit);
        foliot__json_array(&out, "integrators");
        for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++)
            if (fits(scene, id))
                foliot__json_text(&out, NULL,
                                  foliot_integrator_get_info((foliot_integrator)id)->name);
        foliot__json_line(&out);
        foliot_scene_destroy(scene);
        return FOLIOT__EXIT_FINE;
    }
    printf("%s: fine\n", file);
    printf("  scene        %s\n", scene->name);
    printf("  bodies       %u, forces %u, constraints %u, players up to %u\n", scene->body_count,
           scene->force_count, scene->constraint_count, scene->players.limit);
    printf("  step         %.17g %s, %s", scene->dt, scene->units.time,
           foliot_integrator_get_info(scene->integrator)->name);
    if (scene->substeps > 1)
        printf(", %u substeps", scene->substeps);
    printf("\n  integrators that fit:\n");
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++)
        if (fits(scene, id))
            printf("    %s\n", foliot_integrator_get_info((foliot_integrator)id)->name);
    foliot_scene_destroy(scene);
    return FOLIOT__EXIT_FINE;
}
