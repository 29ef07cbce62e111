// SPDX-License-Identifier: MIT
// focus.c: see focus.h.
#include "focus.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define BEYOND 0.5 // of `far`

static void widen(double low[3], double high[3], const double position[3], bool first)
{
    for (int k = 0; k < 3; k++) {
        low[k] = first ? position[k] : fmin(low[k], position[k]);
        high[k] = first ? position[k] : fmax(high[k], position[k]);
    }
}

// False: the scene is empty. A plane is everywhere.
static bool bound_scene(const foliot_scene *scene, double low[3], double high[3])
{
    bool any = false;
    for (uint32_t i = 0; i < scene->body_count; i++) {
        if (scene->bodies[i].shape.kind == FOLIOT_SHAPE_PLANE)
            continue;
        widen(low, high, scene->bodies[i].position, !any);
        any = true;
    }
    for (uint32_t i = 0; i < scene->players.position_count; i++) {
        widen(low, high, scene->players.positions[i], !any);
        any = true;
    }
    return any;
}

void foliot__focus_move(double focus[3], const foliot_scene *scene, const int8_t axes[3],
                        double far, double seconds)
{
    double low[3], high[3];
    for (int k = 0; k < 3; k++)
        focus[k] += axes[k] / 127.0 * far * seconds;
    if (!scene || !bound_scene(scene, low, high))
        return;
    for (int k = 0; k < 3; k++)
        focus[k] = fmax(low[k] - BEYOND * far, fmin(focus[k], high[k] + BEYOND * far));
}
