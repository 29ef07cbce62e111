// SPDX-License-Identifier: MIT
// page.h: shared by the modules of the page: bodies, segments and JSON as the page reads them, its
// connection, and whether its client steps.
#ifndef FOLIOT_WEB_PAGE_H
#define FOLIOT_WEB_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"
#include "foliot/client.h"
#include "foliot/transport.h"
#include "foliot/world.h"

#define WEB_EXPORT(name) __attribute__((export_name(#name)))

// -- answer.c: what a module answers to the page, as JSON. One answer at a time: it is valid until
// the next one begins.

foliot__json begin_answer(FILE **out);
const char *end_answer(FILE *out);

// -- instances.c: bodies in the memory layout of the page's drawing code: 48 bytes each, those of
// one mesh next to each other. Knows no client and no replay.

// The order of the meshes is that of the array `MESHES` in web/page/draw.js.
typedef enum web_mesh {
    WEB_MESH_ROUND, // spheres, capsules and points
    WEB_MESH_BOX,
    WEB_MESH_PLANE,
    WEB_MESHES
} web_mesh;

// The layout of a vertex shader. `size` scales the mesh; then its upper and lower half are moved
// apart by `half_length` along z.
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

// -- world_picture.c: the bodies of a world as instances

// Returns how many instances there are to draw, -1 without a world or without memory.
// `marked_body`: a slot, or FOLIOT_NO_BODY.
int web_world_picture(const foliot_world *world, uint32_t marked_body);

// Three doubles a slot, NaN where there is no body; valid until the next call. NULL: no memory.
const double *web_world_positions(const foliot_world *world);

// -- lines.c: joints, springs and contacts as coloured segments that the page draws on demand

typedef struct web_line {
    float from[3], to[3];
    uint32_t colour; // as an instance's
} web_line;

void web_lines_begin(void);
// Joins two bodies, or a body and a point of the world (`b` NULL), at their anchors.
void web_lines_add_constraint(const foliot_constraint_definition *constraint,
                              const foliot_body_state *a, const foliot_body_state *b);
void web_lines_add_spring(const foliot_force_definition *force, const foliot_body_state *a,
                          const foliot_body_state *b);
void web_lines_add_point(const double point[3]); // of an attractor; it has no length
// A normal of the given length.
void web_lines_add_contact(const double point[3], const double normal[3], double length);
uint32_t web_lines_end(void); // returns how many there are

// -- details.c: data that a session's module passes to the module that finds contacts and draws
// them and joints: the bodies of the last picture with their shapes, and the joints. One block of
// bytes, which the page copies from one memory to the other: both are built from this file.

// Indexed by slot. The flags of a free slot are 0.
typedef struct web_detail_body {
    foliot_body_state state;
    foliot_shape shape;
    uint32_t category, mask, group; // as foliot__filter has them
    uint32_t unused;
} web_detail_body;

typedef struct web_details {
    uint32_t bytes; // of all of it
    uint32_t body_count, joint_count, unused;
    double rounding; // of the positions
    // Then the bodies, and the joints: foliot_constraint_definition.
} web_details;

// -- socket.c: a transport with one connection, which the page owns: it passes in packets from a
// WebSocket and a data channel, and is called to send.

foliot_transport *web_socket_transport(void); // the only one; it is never destroyed

// Events of the page's connection. Bytes are copied. False: no memory, or too much waits.
bool web_socket_opened(void);
bool web_socket_closed(uint32_t reason);
// `path`: 0 by the WebSocket, 1 by the data channel.
bool web_socket_received(foliot_delivery delivery, uint32_t path, const uint8_t *bytes,
                         size_t length);

// -- whether the page's client steps the world: watches.c of the viewer, steps.c of the stepper

foliot_status web_kind_create(foliot_client_config *config, uint64_t now_ns,
                              foliot_client **client);
// Whether the beginning of a datagram can be read now; if not, the datagram counts as lost.
bool web_kind_reads(uint8_t packet);
// After each update. NULL: there is no client any more.
void web_kind_updated(foliot_client *client);
// Its description for the page: members of the open JSON object.
void web_kind_write(foliot__json *j, const foliot_client *client);
// How far a shown position may be from the simulation's, at rest.
double web_kind_rounding(const foliot_client *client);
// Sets the collision filter of the body in a slot, if it is known to differ from its definition.
void web_kind_filter(const foliot_client *client, uint32_t slot, web_detail_body *body);

#endif
