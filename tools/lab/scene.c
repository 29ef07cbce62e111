// SPDX-License-Identifier: MIT
// scene.c: changes of a scene before it runs, and names of its bodies. Knows no command line and no
// files: the pages' module uses it too.
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/query.h"

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
                               foliot_error *error)
{
    if (id)
        scene->integrator = id;
    if (dt > 0) {
        // The same simulated time in a real second as in the scene.
        scene->pace_hz *= scene->dt / dt;
        scene->dt = dt;
    }
    return foliot_scene_check(scene, error);
}

const char *lab_body_name(const foliot_scene *scene, const foliot_world *world, uint32_t slot,
                          char text[FOLIOT_NAME_BYTES + 16])
{
    const size_t bytes = FOLIOT_NAME_BYTES + 16;
    if (slot < scene->body_count && scene->bodies[slot].name && scene->bodies[slot].name[0])
        return foliot__text_clean(text, bytes, scene->bodies[slot].name);
    for (uint32_t p = 0; slot >= scene->body_count && p < foliot_world_get_players_max(world); p++)
        if (foliot_body_id_get_slot(foliot_world_get_player_body(world, p)) == slot) {
            snprintf(text, bytes, "player %u", (unsigned)p);
            return text;
        }
    snprintf(text, bytes, "#%u", (unsigned)slot);
    return text;
}

// -- energy

double lab_energy(const foliot_world *world)
{
    foliot_invariants invariants = foliot_world_get_invariants(world, NULL);
    return invariants.kinetic + invariants.potential;
}

double lab_energy_error(double start, double now)
{
    double error = fabs(now - start);
    return start != 0 ? error / fabs(start) : error;
}

bool lab_has_contacts(const foliot_world *world)
{
    uint32_t impacts;
    foliot_world_get_hit_events(world, &impacts);
    return impacts > 0 || foliot_world_get_contact_events(world, NULL, 0) > 0;
}

static void add_sink(char *text, size_t bytes, const char *sink)
{
    size_t used = strlen(text);
    if (!strstr(text, sink))
        snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", sink);
}

static const char *sink_of_force(const foliot_force_definition *force)
{
    switch (force->kind) {
    case FOLIOT_FORCE_SPRING:
        return force->as.spring.damping > 0 ? "damped springs" : NULL;
    case FOLIOT_FORCE_DRAG:
        return force->as.drag.linear > 0 || force->as.drag.quadratic > 0 ? "drag" : NULL;
    case FOLIOT_FORCE_CONSTANT:
        return force->as.constant.start > 0 || isfinite(force->as.constant.end) ? "pulses" : NULL;
    case FOLIOT_FORCE_CALLBACK:
        return "callbacks";
    default:
        return NULL;
    }
}

static bool loses_in_contact(const foliot_body_definition *body)
{
    return body->shape.kind != FOLIOT_SHAPE_POINT && (body->friction > 0 || body->restitution < 1);
}

const char *lab_energy_sinks(const foliot_scene *scene, bool inputs, bool had_contacts,
                             char text[LAB_SINKS_BYTES])
{
    bool lossy = scene->players.limit > 0 && loses_in_contact(&scene->players.body);
    text[0] = 0;
    for (uint32_t i = 0; i < scene->force_count; i++) {
        const char *sink = sink_of_force(&scene->forces[i]);
        if (sink)
            add_sink(text, LAB_SINKS_BYTES, sink);
    }
    for (uint32_t i = 0; i < scene->constraint_count; i++) {
        const char *sink;
        if (scene->constraints[i].kind == FOLIOT_CONSTRAINT_DISTANCE)
            sink = "distance constraints";
        else if (isfinite(scene->constraints[i].break_force))
            sink = "constraints that break";
        else
            sink = scene->constraints[i].motor_torque > 0 ? "motors" : NULL;
        if (sink)
            add_sink(text, LAB_SINKS_BYTES, sink);
    }
    for (uint32_t i = 0; i < scene->body_count; i++)
        lossy = lossy || loses_in_contact(&scene->bodies[i]);
    if (had_contacts && lossy)
        add_sink(text, LAB_SINKS_BYTES, "contacts");
    if (inputs)
        add_sink(text, LAB_SINKS_BYTES, "players");
    return text[0] ? text : NULL;
}
