// SPDX-License-Identifier: MIT
// lines.c: see page.h. Without memory for more, further segments are left out.
#include "page.h"

#include <stdlib.h>

#define LINES_MAX 200000
#define JOINT_COLOUR 0xffb43c78u
#define SPRING_COLOUR 0xff2d7d2du
#define POINT_COLOUR 0xff1496f0u
#define CONTACT_COLOUR 0xff1e1ed2u

static web_line *lines;
static uint32_t count, capacity;

WEB_EXPORT(lines) const web_line *web_lines(void)
{
    return lines;
}

void web_lines_begin(void)
{
    count = 0;
}

static void add_line(const double from[3], const double to[3], uint32_t colour)
{
    if (count == capacity) {
        uint32_t more = capacity ? 2 * capacity : 64;
        web_line *larger = more <= LINES_MAX ? realloc(lines, more * sizeof *lines) : NULL;
        if (!larger)
            return;
        lines = larger;
        capacity = more;
    }
    web_line *line = &lines[count++];
    for (int k = 0; k < 3; k++) {
        line->from[k] = (float)from[k];
        line->to[k] = (float)to[k];
    }
    line->colour = colour;
}

// Where an anchor of a body is in the world: position + q v q*.
static void anchor_at(const foliot_body_state *body, const double v[3], double out[3])
{
    const double *q = body->orientation, *u = q + 1;
    double t[3], s[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        t[k] = u[i] * v[j] - u[j] * v[i] + q[0] * v[k];
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        s[k] = u[i] * t[j] - u[j] * t[i];
        out[k] = body->position[k] + v[k] + 2 * s[k];
    }
}

// A joint's anchors coincide, so its line goes from centre to anchor to centre.
void web_lines_add_constraint(const foliot_constraint_definition *constraint,
                              const foliot_body_state *a, const foliot_body_state *b)
{
    double at_a[3], at_b[3];
    anchor_at(a, constraint->anchor_a, at_a);
    if (b)
        anchor_at(b, constraint->anchor_b, at_b);
    else
        for (int k = 0; k < 3; k++)
            at_b[k] = constraint->anchor_b[k];
    add_line(a->position, at_a, JOINT_COLOUR);
    if (b)
        add_line(b->position, at_b, JOINT_COLOUR);
    if (constraint->kind == FOLIOT_CONSTRAINT_DISTANCE || constraint->kind == FOLIOT_CONSTRAINT_ROD)
        add_line(at_a, at_b, JOINT_COLOUR);
}

void web_lines_add_spring(const foliot_force_definition *force, const foliot_body_state *a,
                          const foliot_body_state *b)
{
    add_line(a->position, b ? b->position : force->as.spring.point, SPRING_COLOUR);
}

void web_lines_add_point(const double point[3])
{
    add_line(point, point, POINT_COLOUR);
}

void web_lines_add_contact(const double point[3], const double normal[3], double length)
{
    double from[3], to[3];
    for (int k = 0; k < 3; k++) {
        from[k] = point[k] - normal[k] * length / 2;
        to[k] = point[k] + normal[k] * length / 2;
    }
    add_line(from, to, CONTACT_COLOUR);
}

uint32_t web_lines_end(void)
{
    return count;
}
