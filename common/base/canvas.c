// SPDX-License-Identifier: MIT
// canvas.c: dots, lines and outlines on characters. Everything is clipped before it is drawn, so that
// a body at 10^12 costs no more than one in the middle.
#include "base/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define ROOM 0.06          // free at each edge of a fitted view, of its size
#define LOST 0.3           // a picture smaller than this share of the view is fitted again
#define SEGMENTS_MAX 64    // of a circle

static uint32_t within(uint32_t value, uint32_t high)
{
    return value < 1 ? 1 : value > high ? high : value;
}

bool foliot__canvas_init(foliot__canvas *canvas, uint32_t columns, uint32_t rows)
{
    columns = within(columns, FOLIOT__CANVAS_COLUMNS_MAX);
    rows = within(rows, FOLIOT__CANVAS_ROWS_MAX);
    foliot__cell *cells = realloc(canvas->cells, (size_t)columns * rows * sizeof *cells);
    if (!cells)
        return false;
    *canvas = (foliot__canvas){columns, rows, cells};
    foliot__canvas_clear(canvas);
    return true;
}

void foliot__canvas_free(foliot__canvas *canvas)
{
    free(canvas->cells);
    *canvas = (foliot__canvas){0};
}

void foliot__canvas_clear(foliot__canvas *canvas)
{
    memset(canvas->cells, 0, (size_t)canvas->columns * canvas->rows * sizeof *canvas->cells);
}

// -- dots and lines -------------------------------------------------------------------------------

static void put(foliot__canvas *canvas, int32_t x, int32_t y, foliot__colour colour)
{
    // Bits of U+2800: dots 1 to 6 by columns, then the lowest row.
    static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || y < 0 || x >= (int32_t)(2 * canvas->columns) || y >= (int32_t)(4 * canvas->rows))
        return;
    foliot__cell *cell = &canvas->cells[(uint32_t)y / 4 * canvas->columns + (uint32_t)x / 2];
    cell->dots |= bits[y % 4][x % 2];
    if (!cell->letter[0])
        cell->colour = (uint8_t)colour;
}

void foliot__canvas_dot(foliot__canvas *canvas, double x, double y, foliot__colour colour)
{
    if (x > -1 && y > -1 && x < 2 * canvas->columns && y < 4 * canvas->rows)
        put(canvas, (int32_t)floor(x), (int32_t)floor(y), colour);
}

// Liang and Barsky 1984: moves the ends of a line onto one edge; false if nothing of it is inside.
static bool clip(double from, double step, double low, double high, double *t0, double *t1)
{
    if (step == 0)
        return from >= low && from <= high;
    double enter = (low - from) / step, leave = (high - from) / step;
    if (enter > leave) {
        double swap = enter;
        enter = leave;
        leave = swap;
    }
    *t0 = fmax(*t0, enter);
    *t1 = fmin(*t1, leave);
    return *t0 <= *t1;
}

void foliot__canvas_line(foliot__canvas *canvas, double x1, double y1, double x2, double y2,
                         foliot__colour colour)
{
    double dx = x2 - x1, dy = y2 - y1, t0 = 0, t1 = 1;
    if (!isfinite(x1) || !isfinite(y1) || !isfinite(dx) || !isfinite(dy) ||
        !clip(x1, dx, 0, 2 * canvas->columns - 1, &t0, &t1) ||
        !clip(y1, dy, 0, 4 * canvas->rows - 1, &t0, &t1))
        return;
    // The ends inside, once more within: x1 + dx t is not, to rounding, where the line is long.
    double right = 2 * canvas->columns - 1, bottom = 4 * canvas->rows - 1;
    double from_x = fmin(fmax(x1 + dx * t0, 0), right), to_x = fmin(fmax(x1 + dx * t1, 0), right);
    double from_y = fmin(fmax(y1 + dy * t0, 0), bottom), to_y = fmin(fmax(y1 + dy * t1, 0), bottom);
    int32_t steps = (int32_t)ceil(fmax(fabs(to_x - from_x), fabs(to_y - from_y)));
    for (int32_t k = 0; k <= steps; k++) {
        // A touch further, so that what rounding left just below a whole number is in its dot.
        double t = steps ? (double)k / steps : 0, touch = 1e-5;
        foliot__canvas_dot(canvas, from_x + (to_x - from_x) * t + touch,
                           from_y + (to_y - from_y) * t + touch, colour);
    }
}

void foliot__canvas_circle(foliot__canvas *canvas, double x, double y, double radius,
                           foliot__colour colour)
{
    if (!(radius >= 0.8)) {
        foliot__canvas_dot(canvas, x, y, colour);
        return;
    }
    // Far out of sight, or so large that the edge is elsewhere.
    double reach = 2.0 * canvas->columns + 4.0 * canvas->rows;
    if (!(x + radius >= 0 && y + radius >= 0 && x - radius <= reach && y - radius <= reach))
        return;
    int segments = (int)fmin(SEGMENTS_MAX, fmax(12, 2 * radius));
    double last_x = x + radius, last_y = y;
    for (int k = 1; k <= segments; k++) {
        double angle = 2 * M_PI * k / segments;
        double next_x = x + radius * cos(angle), next_y = y + radius * sin(angle);
        foliot__canvas_line(canvas, last_x, last_y, next_x, next_y, colour);
        last_x = next_x;
        last_y = next_y;
    }
}

void foliot__canvas_text(foliot__canvas *canvas, int32_t column, int32_t row, foliot__colour colour,
                         const char *text)
{
    char clean[256];
    if (row < 0 || row >= (int32_t)canvas->rows)
        return;
    foliot__text_clean(clean, sizeof clean, text);
    for (const char *at = clean; *at && column < (int32_t)canvas->columns; column++) {
        uint32_t character;
        size_t length = foliot__utf8_decode(at, &character);
        if (column >= 0) {
            foliot__cell *cell = &canvas->cells[(uint32_t)row * canvas->columns + (uint32_t)column];
            memcpy(cell->letter, at, length);
            cell->letter[length] = 0;
            cell->colour = (uint8_t)colour;
        }
        at += length;
    }
}

void foliot__cell_text(const foliot__cell *cell, char text[5])
{
    if (cell->letter[0]) {
        memcpy(text, cell->letter, 5);
    } else if (cell->dots) {
        text[0] = (char)0xe2;
        text[1] = (char)(0xa0 | cell->dots >> 6);
        text[2] = (char)(0x80 | (cell->dots & 0x3f));
        text[3] = 0;
    } else {
        text[0] = ' ';
        text[1] = 0;
    }
}

void foliot__canvas_print(const foliot__canvas *canvas, bool colours, FILE *out)
{
    uint8_t colour = FOLIOT__COLOUR_INK;
    for (uint32_t row = 0; row < canvas->rows; row++) {
        for (uint32_t column = 0; column < canvas->columns; column++) {
            const foliot__cell *cell = &canvas->cells[row * canvas->columns + column];
            char text[5];
            foliot__cell_text(cell, text);
            if (colours && text[0] != ' ' && cell->colour != colour) {
                colour = cell->colour;
                if (colour == FOLIOT__COLOUR_INK)
                    fputs("\033[0m", out);
                else
                    fprintf(out, "\033[%dm", colour == FOLIOT__COLOUR_GREY ? 90 : 90 + colour);
            }
            fputs(text, out);
        }
        if (row + 1 < canvas->rows)
            fputc('\n', out);
    }
    if (colour != FOLIOT__COLOUR_INK)
        fputs("\033[0m", out);
}

// -- places of the world --------------------------------------------------------------------------

typedef struct axes {
    int across, up, through;
} axes;

static axes axes_of(foliot__view_side side)
{
    static const axes table[FOLIOT__VIEW_SIDES] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}};
    return table[(unsigned)side < FOLIOT__VIEW_SIDES ? side : FOLIOT__VIEW_TOP];
}

const char *foliot__view_name(foliot__view_side side)
{
    static const char *const names[FOLIOT__VIEW_SIDES] = {"from above: x, y", "from the front: x, z",
                                                          "from the side: y, z"};
    return names[(unsigned)side < FOLIOT__VIEW_SIDES ? side : FOLIOT__VIEW_TOP];
}

// Does the canvas show from low to high along `axis`, and not much more?
static bool shows(const foliot__view *view, int axis, double dots, const double *low,
                  const double *high)
{
    double half = dots / 2 / view->dots_per_unit;
    return low[axis] >= view->centre[axis] - half && high[axis] <= view->centre[axis] + half;
}

void foliot__view_fit(foliot__view *view, const foliot__canvas *canvas, const double low[3],
                      const double high[3])
{
    axes a = axes_of(view->side);
    double width = 2 * canvas->columns, height = 4 * canvas->rows;
    double size_across = high[a.across] - low[a.across], size_up = high[a.up] - low[a.up];
    double scale = fmin(width * (1 - 2 * ROOM) / fmax(size_across, 1e-9),
                        height * (1 - 2 * ROOM) / fmax(size_up, 1e-9));
    if (!isfinite(size_across) || !isfinite(size_up) || !(scale > 0))
        return;
    // One point alone: any scale will do.
    if (size_across <= 1e-9 && size_up <= 1e-9)
        scale = view->dots_per_unit > 0 ? view->dots_per_unit : fmin(width, height) / 4;
    bool good = view->dots_per_unit > 0 && view->dots_per_unit >= LOST * scale &&
                shows(view, a.across, width, low, high) && shows(view, a.up, height, low, high);
    if (good)
        return;
    view->dots_per_unit = scale;
    for (int k = 0; k < 3; k++)
        view->centre[k] = low[k] + (high[k] - low[k]) / 2;
}

void foliot__view_place(const foliot__view *view, const foliot__canvas *canvas,
                        const double position[3], double *x, double *y)
{
    axes a = axes_of(view->side);
    *x = canvas->columns + (position[a.across] - view->centre[a.across]) * view->dots_per_unit;
    *y = 2 * canvas->rows - (position[a.up] - view->centre[a.up]) * view->dots_per_unit;
}

// v turned by the unit quaternion q: v + 2 w (u x v) + 2 u x (u x v).
static void turn(const double q[4], const double v[3], double out[3])
{
    double c[3] = {2 * (q[2] * v[2] - q[3] * v[1]), 2 * (q[3] * v[0] - q[1] * v[2]),
                   2 * (q[1] * v[1] - q[2] * v[0])};
    out[0] = v[0] + q[0] * c[0] + (q[2] * c[2] - q[3] * c[1]);
    out[1] = v[1] + q[0] * c[1] + (q[3] * c[0] - q[1] * c[2]);
    out[2] = v[2] + q[0] * c[2] + (q[1] * c[1] - q[2] * c[0]);
}

static void place_part(const foliot__view *view, const foliot__canvas *canvas,
                       const foliot_body_state *body, const double local[3], double *x, double *y)
{
    double at[3];
    turn(body->orientation, local, at);
    for (int k = 0; k < 3; k++)
        at[k] += body->position[k];
    foliot__view_place(view, canvas, at, x, y);
}

static void draw_box(const foliot__view *view, foliot__canvas *canvas, const double half[3],
                     const foliot_body_state *body, foliot__colour colour)
{
    double x[8], y[8];
    for (int k = 0; k < 8; k++) {
        double corner[3] = {k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1],
                            k & 4 ? half[2] : -half[2]};
        place_part(view, canvas, body, corner, &x[k], &y[k]);
    }
    for (int k = 0; k < 8; k++)
        for (int bit = 1; bit < 8; bit *= 2)
            if (!(k & bit))
                foliot__canvas_line(canvas, x[k], y[k], x[k | bit], y[k | bit], colour);
}

static void draw_capsule(const foliot__view *view, foliot__canvas *canvas, const foliot_shape *shape,
                         const foliot_body_state *body, foliot__colour colour)
{
    double x1, y1, x2, y2, radius = shape->radius * view->dots_per_unit;
    const double top[3] = {0, 0, shape->half[2]}, bottom[3] = {0, 0, -shape->half[2]};
    place_part(view, canvas, body, bottom, &x1, &y1);
    place_part(view, canvas, body, top, &x2, &y2);
    foliot__canvas_circle(canvas, x1, y1, radius, colour);
    foliot__canvas_circle(canvas, x2, y2, radius, colour);
    double length = hypot(x2 - x1, y2 - y1);
    if (!(length > 0))
        return;
    double nx = -(y2 - y1) / length * radius, ny = (x2 - x1) / length * radius;
    foliot__canvas_line(canvas, x1 + nx, y1 + ny, x2 + nx, y2 + ny, colour);
    foliot__canvas_line(canvas, x1 - nx, y1 - ny, x2 - nx, y2 - ny, colour);
}

// A plane is a line where it stands upright in the view; seen from the front it would be everywhere.
static void draw_plane(const foliot__view *view, foliot__canvas *canvas, const foliot_shape *shape,
                       foliot__colour colour)
{
    axes a = axes_of(view->side);
    double across = shape->normal[a.across], up = shape->normal[a.up];
    double size2 = across * across + up * up;
    if (!(size2 > 0.01))
        return;
    // The point of the line nearest to the view's centre, and far along it to both sides.
    double off = shape->offset - shape->normal[a.through] * view->centre[a.through] -
                 (across * view->centre[a.across] + up * view->centre[a.up]);
    double middle[3], x, y;
    memcpy(middle, view->centre, sizeof middle);
    middle[a.across] += across * off / size2;
    middle[a.up] += up * off / size2;
    foliot__view_place(view, canvas, middle, &x, &y);
    double reach = (2.0 * canvas->columns + 4.0 * canvas->rows) / sqrt(size2);
    foliot__canvas_line(canvas, x - up * reach, y - across * reach, x + up * reach,
                        y + across * reach, colour);
}

void foliot__view_draw(const foliot__view *view, foliot__canvas *canvas, const foliot_shape *shape,
                       const foliot_body_state *body, foliot__colour colour)
{
    double x, y;
    foliot__view_place(view, canvas, body->position, &x, &y);
    switch (shape->kind) {
    case FOLIOT_SHAPE_PLANE:
        draw_plane(view, canvas, shape, colour);
        break;
    case FOLIOT_SHAPE_BOX:
        draw_box(view, canvas, shape->half, body, colour);
        break;
    case FOLIOT_SHAPE_CAPSULE:
        draw_capsule(view, canvas, shape, body, colour);
        break;
    case FOLIOT_SHAPE_SPHERE:
        foliot__canvas_circle(canvas, x, y, shape->radius * view->dots_per_unit, colour);
        break;
    default: // a point is seen all the same
        foliot__canvas_dot(canvas, x, y, colour);
        foliot__canvas_dot(canvas, x + 1, y, colour);
        foliot__canvas_dot(canvas, x, y + 1, colour);
        foliot__canvas_dot(canvas, x + 1, y + 1, colour);
        break;
    }
}

void foliot__view_scale(const foliot__view *view, foliot__canvas *canvas, const char *unit)
{
    if (!(view->dots_per_unit > 0) || canvas->rows < 2)
        return;
    // 1, 2 or 5 times a power of ten, about a fifth of the width.
    double raw = 2 * canvas->columns / 5.0 / view->dots_per_unit;
    double power = pow(10, floor(log10(raw)));
    double length = raw / power >= 5 ? 5 * power : raw / power >= 2 ? 2 * power : power;
    double dots = length * view->dots_per_unit, y = 4 * canvas->rows - 2;
    foliot__canvas_line(canvas, 1, y, 1 + dots, y, FOLIOT__COLOUR_GREY);
    foliot__canvas_line(canvas, 1, y - 2, 1, y, FOLIOT__COLOUR_GREY);
    foliot__canvas_line(canvas, 1 + dots, y - 2, 1 + dots, y, FOLIOT__COLOUR_GREY);
    char text[96];
    snprintf(text, sizeof text, "%.6g %s", length, unit);
    foliot__canvas_text(canvas, (int32_t)(dots / 2) + 3, (int32_t)canvas->rows - 1,
                        FOLIOT__COLOUR_GREY, text);
}
