// SPDX-License-Identifier: MIT
// energy.c: the energy of a world, and what in a scene takes energy out or puts it in. Where
// nothing does, a change of the energy is the integrator's error; elsewhere it is not, and is not
// called so.
#include "lab.h"

#include <math.h>
#include <string.h>

#include "foliot/contact.h"

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

static const char *sink_of_constraint(const foliot_constraint_definition *constraint)
{
    if (constraint->kind == FOLIOT_CONSTRAINT_DISTANCE)
        return "distance constraints";
    if (isfinite(constraint->break_force))
        return "constraints that break";
    return constraint->motor_torque > 0 ? "motors" : NULL;
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
        const char *sink = sink_of_constraint(&scene->constraints[i]);
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
