// SPDX-License-Identifier: MIT
// instances.h: bodies as the page's drawing code reads them from memory: 48 bytes each, those of
// one mesh side by side. Knows no client and no replay.
#ifndef FOLIOT_WEB_INSTANCES_H
#define FOLIOT_WEB_INSTANCES_H

#include "foliot/world.h"

#define WEB_EXPORT(name) __attribute__((export_name(#name)))

// The order of the meshes is that of the array `MESHES` in web/page/draw.js.
typedef enum web_mesh {
    WEB_MESH_ROUND, // spheres, capsules and points
    WEB_MESH_BOX,
    WEB_MESH_PLANE,
    WEB_MESHES
} web_mesh;

// What a vertex shader reads. `size` scales the mesh; then its upper and lower half are moved apart
// by `half_length` along z.
typedef struct web_instance {
    float position[3];
    float orientation[4]; // w, x, y, z
    float size[3];
    float half_length;
    uint32_t colour; // red in the lowest byte; the highest is 255
} web_instance;

typedef struct web_body {
    foliot_body_state state;
    foliot_shape shape;
    uint32_t slot, tag, player; // player: of one that is a player's
    bool marked;                // drawn so that it is seen at once
} web_body;

// Begins a picture of at most `count` bodies. False: no memory.
bool web_instances_begin(uint32_t count);
// Free slots are left out.
void web_instances_add(const web_body *body);
// Groups them by mesh, and returns how many there are.
uint32_t web_instances_end(void);

#endif
