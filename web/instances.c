// SPDX-License-Identifier: MIT
// instances.c: converts bodies to instances for drawing. Bodies arrive in any order; they are
// counted by mesh as they arrive, and grouped at the end.
#include "page.h"

#include <stdlib.h>

#define POINT_RADIUS 0.05f // of a body without a shape, in units of the scene
#define MARKED 0xff2020ffu
#define GREY 0xff8a8a8au

static web_instance *unsorted, *sorted;
static uint8_t *meshes;
static uint32_t *slots, *sorted_slots; // whose instance it is
static uint32_t capacity, used, counts[WEB_MESHES];

WEB_EXPORT(instances) const web_instance *web_instances(void)
{
    return sorted;
}

WEB_EXPORT(instance_counts) const uint32_t *web_instance_counts(void)
{
    return counts;
}

// The slots of the bodies, in the order of the instances.
WEB_EXPORT(instance_slots) const uint32_t *web_instance_slots(void)
{
    return sorted_slots;
}

static void free_all(void)
{
    free(unsorted);
    free(sorted);
    free(meshes);
    free(slots);
    free(sorted_slots);
    unsorted = sorted = NULL;
    meshes = NULL;
    slots = sorted_slots = NULL;
    capacity = 0;
}

bool web_instances_begin(uint32_t count)
{
    used = 0;
    for (unsigned m = 0; m < WEB_MESHES; m++)
        counts[m] = 0;
    if (count <= capacity)
        return true;
    free_all();
    unsorted = malloc(count * sizeof *unsorted);
    sorted = malloc(count * sizeof *sorted);
    meshes = malloc(count);
    slots = malloc(count * sizeof *slots);
    sorted_slots = malloc(count * sizeof *sorted_slots);
    if (!unsorted || !sorted || !meshes || !slots || !sorted_slots) {
        free_all();
        return false;
    }
    capacity = count;
    return true;
}

// The game defines the meaning of tags; equal ones look alike. Most games tag a player's objects
// with the player's number plus 1: they have the colour of the player's body.
static uint32_t colour_of(const web_body *b)
{
    static const uint32_t palette[] = {0xff4b4be6, 0xff4bb43c, 0xff32c8f0, 0xffdc8232, 0xffbe50c8,
                                       0xffbebe3c, 0xff8c96f5, 0xff5a9632, 0xff3278d2, 0xffc88cf0};
    static const uint32_t plain[] = {0xff8cb4d2, 0xffa0c3c8, 0xff96bed7, 0xff82aabe};
    const uint32_t colours = sizeof palette / sizeof *palette;
    if (b->marked)
        return MARKED;
    if (b->tag != 0)
        return palette[(b->tag - 1) % colours];
    if (b->state.flags & FOLIOT_BODY_PLAYER)
        return palette[b->player % colours];
    if (b->state.flags & FOLIOT_BODY_STATIC)
        return GREY;
    if (b->shape.kind == FOLIOT_SHAPE_POINT) // small, and often before the sky
        return palette[b->slot % colours];
    uint32_t colour = plain[b->slot % 4];
    return b->state.flags & FOLIOT_BODY_ASLEEP
               ? 0xff000000u | ((colour >> 1 & 0x7f7f7fu) + 0x282828u)
               : colour;
}

static void set_size(web_instance *i, float x, float y, float z)
{
    i->size[0] = x, i->size[1] = y, i->size[2] = z;
}

void web_instances_add(const web_body *body)
{
    if (!(body->state.flags & FOLIOT_BODY_ALIVE) || used == capacity)
        return;
    const foliot_shape *shape = &body->shape;
    web_instance *i = &unsorted[used];
    web_mesh mesh = WEB_MESH_ROUND;
    *i = (web_instance){.colour = colour_of(body)};
    for (int k = 0; k < 3; k++)
        i->position[k] = (float)body->state.position[k];
    for (int k = 0; k < 4; k++)
        i->orientation[k] = (float)body->state.orientation[k];
    float radius = (float)shape->radius;
    if (shape->kind == FOLIOT_SHAPE_BOX) {
        mesh = WEB_MESH_BOX;
        set_size(i, (float)shape->half[0], (float)shape->half[1], (float)shape->half[2]);
    } else if (shape->kind == FOLIOT_SHAPE_PLANE) {
        mesh = WEB_MESH_PLANE;
        // The rotation that takes z to the plane's normal; the position is the plane's point that
        // is nearest to the origin.
        const double *n = shape->normal;
        double w = 1 + n[2], x = -n[1], y = n[0];
        if (w < 1e-9)
            w = 0, x = 1, y = 0;
        double scale = 1 / __builtin_sqrt(w * w + x * x + y * y);
        i->orientation[0] = (float)(w * scale), i->orientation[1] = (float)(x * scale);
        i->orientation[2] = (float)(y * scale), i->orientation[3] = 0;
        for (int k = 0; k < 3; k++)
            i->position[k] = (float)(n[k] * shape->offset);
    } else {
        radius = shape->kind == FOLIOT_SHAPE_POINT ? POINT_RADIUS : radius;
        set_size(i, radius, radius, radius);
        i->half_length = shape->kind == FOLIOT_SHAPE_CAPSULE ? (float)shape->half[2] : 0;
    }
    slots[used] = body->slot;
    meshes[used++] = (uint8_t)mesh;
    counts[mesh]++;
}

uint32_t web_instances_end(void)
{
    uint32_t next[WEB_MESHES], at = 0;
    for (unsigned m = 0; m < WEB_MESHES; m++) {
        next[m] = at;
        at += counts[m];
    }
    for (uint32_t i = 0; i < used; i++) {
        uint32_t to = next[meshes[i]]++;
        sorted[to] = unsorted[i];
        sorted_slots[to] = slots[i];
    }
    return used;
}
