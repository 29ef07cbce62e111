// SPDX-License-Identifier: MIT
// scene.c: what is changed in a scene before it runs, and names of its bodies. Knows no command
// line and no files: the pages' module has it too.
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool lab_integrator(const char *name, foliot_integrator *id, char *message, size_t bytes)
{
    *id = foliot_integrator_find(name);
    if (*id != FOLIOT_INTEGRATOR_NONE)
        return true;
    char clean[FOLIOT_NAME_BYTES];
    const char *meant = foliot_integrator_find_nearest(name);
    snprintf(message, bytes,
             meant ? "there is no integrator '%s'; did you mean '%s'?"
                   : "there is no integrator '%s'; 'foliot-lab integrators' lists them",
             foliot__text_clean(clean, sizeof clean, name), meant);
    return false;
}

bool lab_parse_step(const char *text, double *dt)
{
    char part[64];
    double numerator, denominator = 1;
    const char *slash = strchr(text, '/');
    size_t length = slash ? (size_t)(slash - text) : strlen(text);
    if (length >= sizeof part)
        return false;
    memcpy(part, text, length);
    part[length] = 0;
    if (!foliot__parse_real(part, &numerator) ||
        (slash && !foliot__parse_real(slash + 1, &denominator)))
        return false;
    double value = numerator / denominator;
    if (!(numerator > 0 && denominator > 0 && value > 0 && value <= FOLIOT_POSITION_MAX))
        return false;
    *dt = value;
    return true;
}

const char *lab_step_text(char text[FOLIOT__REAL_TEXT_BYTES], double dt)
{
    double inverse = round(1 / dt);
    snprintf(text, FOLIOT__REAL_TEXT_BYTES, "%.6g", dt);
    bool ratio = inverse >= 1 && inverse <= 1e6 && fabs(inverse * dt - 1) < 1e-12;
    if (ratio && strtod(text, NULL) != dt)
        snprintf(text, FOLIOT__REAL_TEXT_BYTES, "1/%.0f", inverse);
    return text;
}

foliot_status lab_scene_change(foliot_scene *scene, foliot_integrator id, double dt,
                               foliot_scene_problem *problem)
{
    if (id)
        scene->integrator = id;
    if (dt > 0) {
        // The same simulated time in a real second as the scene wants.
        scene->pace_hz *= scene->dt / dt;
        scene->dt = dt;
    }
    return foliot_scene_check(scene, problem);
}

const char *lab_body_name(const foliot_scene *scene, const foliot_world *world, uint32_t slot,
                          char text[FOLIOT_NAME_BYTES + 16])
{
    const size_t bytes = FOLIOT_NAME_BYTES + 16;
    if (slot < scene->body_count && scene->bodies[slot].name && scene->bodies[slot].name[0])
        return foliot__text_clean(text, bytes, scene->bodies[slot].name);
    for (uint32_t p = 0; slot >= scene->body_count && p < foliot_world_get_players_max(world); p++)
        if (foliot_world_get_player_body(world, p) == slot) {
            snprintf(text, bytes, "player %u", (unsigned)p);
            return text;
        }
    snprintf(text, bytes, "#%u", (unsigned)slot);
    return text;
}
