// SPDX-License-Identifier: MIT
// lines.h: joints, springs and contacts as coloured segments that the page draws on demand.
#ifndef FOLIOT_WEB_LINES_H
#define FOLIOT_WEB_LINES_H

#include "foliot/world.h"

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

#endif
