// SPDX-License-Identifier: MIT
// view.c: the projection of the world to a canvas, and the shapes of bodies and joints in it. Far
// bodies are drawn first, and each hides what is behind it. Never steps or changes a world.
#include "view/view.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 0.06      // free share at each edge of a fitted view
#define LOST 0.3       // a picture smaller than this share of the view is fitted again
#define ARC 10         // parts of a half circle
#define DISC (2 * ARC) // corners of a disc
#define TORN 0.25      // a joint whose ends are further apart than this share of its arms is broken
#define GRID_DOTS 17   // between two points of a plane seen from a corner
#define ARMS_DOTS 12   // shorter arms of a joint are hidden by the bodies, and not drawn
#define FLAT 0.2       // a scene less deep than this share of its largest extent is flat

// The view's axes in the world: right, up, and towards the viewer.
typedef struct look {
    double right[3], up[3], near[3];
} look;

static const look *look_of(foliot__view_side side)
{
    static const look table[FOLIOT__VIEW_SIDES] = {
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
        {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}},
        // From the right, in front and above: turned by 0.5 about z, tilted by 0.45.
        {{0.877583, 0.479426, 0},
         {-0.208531, 0.381715, 0.900447},
         {0.431697, -0.790217, 0.434966}}};
    return &table[(unsigned)side < FOLIOT__VIEW_SIDES ? side : FOLIOT__VIEW_TOP];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

const char *foliot__view_name(foliot__view_side side)
{
    static const char *const names[FOLIOT__VIEW_SIDES] = {
        "from above: x, y", "from the front: x, z", "from the side: y, z", "from a corner"};
    return names[(unsigned)side < FOLIOT__VIEW_SIDES ? side : FOLIOT__VIEW_TOP];
}

bool foliot__view_side_of(const char *word, foliot__view_side *side)
{
    static const char *const words[FOLIOT__VIEW_SIDES] = {"top", "front", "side", "corner"};
    for (int k = 0; k < FOLIOT__VIEW_SIDES; k++)
        if (strcmp(word, words[k]) == 0) {
            *side = (foliot__view_side)k;
            return true;
        }
    return false;
}

// v turned by the unit quaternion q: v + 2 w (u x v) + 2 u x (u x v).
static void rotate(const double q[4], const double v[3], double out[3])
{
    double c[3] = {2 * (q[2] * v[2] - q[3] * v[1]), 2 * (q[3] * v[0] - q[1] * v[2]),
                   2 * (q[1] * v[1] - q[2] * v[0])};
    out[0] = v[0] + q[0] * c[0] + (q[2] * c[2] - q[3] * c[1]);
    out[1] = v[1] + q[0] * c[1] + (q[3] * c[0] - q[1] * c[2]);
    out[2] = v[2] + q[0] * c[2] + (q[1] * c[1] - q[2] * c[0]);
}

// The places and possible motion of a scene's bodies: an interval along each axis.
typedef struct extent {
    double low[3], high[3];
    bool any, moves[3]; // moves: some body has a velocity along that axis
} extent;

static void extend(extent *e, const double at[3], const double half[3])
{
    for (int k = 0; k < 3; k++) {
        e->low[k] = e->any ? fmin(e->low[k], at[k] - half[k]) : at[k] - half[k];
        e->high[k] = e->any ? fmax(e->high[k], at[k] + half[k]) : at[k] + half[k];
    }
    e->any = true;
}

// A moving body counts by its centre and its velocity, a static one also by its size: balls on a
// line may swing in a plane, but on a wide floor bodies move in every direction.
static void extend_by_body(extent *e, const foliot_body_definition *body)
{
    double half[3] = {0, 0, 0}, speed = sqrt(dot(body->velocity, body->velocity));
    if (body->shape.kind == FOLIOT_SHAPE_PLANE)
        return;
    for (int k = 0; k < 3; k++) {
        double along[3] = {k == 0, k == 1, k == 2};
        if (body->is_static || body->is_kinematic) {
            // Half of a shape's extent along a direction.
            double sum = 0;
            for (int m = 0; m < 3; m++) {
                double axis[3] = {m == 0, m == 1, m == 2}, turned[3];
                rotate(body->orientation, axis, turned);
                if (body->shape.kind == FOLIOT_SHAPE_BOX ||
                    (body->shape.kind == FOLIOT_SHAPE_CAPSULE && m == 2))
                    sum += fabs(dot(turned, along)) * body->shape.half[m];
            }
            bool round =
                body->shape.kind == FOLIOT_SHAPE_SPHERE || body->shape.kind == FOLIOT_SHAPE_CAPSULE;
            half[k] = sum + (round ? body->shape.radius : 0);
        }
        e->moves[k] |= fabs(body->velocity[k]) > FLAT * speed;
    }
    extend(e, body->position, half);
}

static extent scene_extent(const foliot_scene *scene, int up)
{
    static const double none[3] = {0, 0, 0};
    extent e = {{0}, {0}, false, {false}};
    for (uint32_t i = 0; i < scene->body_count; i++)
        extend_by_body(&e, &scene->bodies[i]);
    for (uint32_t i = 0; i < scene->players.position_count; i++)
        extend(&e, scene->players.positions[i], none);
    for (uint32_t i = 0; i < scene->force_count; i++)
        if (scene->forces[i].kind == FOLIOT_FORCE_SPRING && scene->forces[i].b == FOLIOT_NO_BODY)
            extend(&e, scene->forces[i].as.spring.point, none);
    for (uint32_t i = 0; i < scene->constraint_count; i++)
        if (scene->constraints[i].b == FOLIOT_NO_BODY)
            extend(&e, scene->constraints[i].anchor_b, none);
    for (uint32_t i = 0; i < scene->body_count; i++)
        if (scene->bodies[i].shape.kind == FOLIOT_SHAPE_PLANE) {
            // A wall across an axis bounds the room. A ground (normal along gravity) shows no
            // depth.
            const foliot_shape *plane = &scene->bodies[i].shape;
            for (int k = 0; k < 3; k++)
                if (k != up && fabs(plane->normal[k]) > 0.9) {
                    double at = plane->normal[k] * plane->offset;
                    e.low[k] = fmin(e.low[k], at);
                    e.high[k] = fmax(e.high[k], at);
                }
        }
    return e;
}

// The axis along which bodies fall, -1 if they do not.
static int vertical_axis(const foliot_scene *scene)
{
    double pull[3] = {scene->gravity[0], scene->gravity[1], scene->gravity[2]};
    for (uint32_t i = 0; i < scene->force_count; i++)
        for (int k = 0; k < 3 && scene->forces[i].kind == FOLIOT_FORCE_UNIFORM; k++)
            pull[k] += scene->forces[i].as.uniform.acceleration[k];
    int up = fabs(pull[1]) > fabs(pull[0]) ? 1 : 0;
    up = fabs(pull[2]) >= fabs(pull[up]) ? 2 : up;
    return pull[up] != 0 ? up : -1;
}

foliot__view_side foliot__view_side_for(const foliot_scene *scene)
{
    // Looking along an axis, in the order of preference: z, then y, then x.
    static const foliot__view_side along[3] = {FOLIOT__VIEW_SIDE, FOLIOT__VIEW_FRONT,
                                               FOLIOT__VIEW_TOP};
    int up = vertical_axis(scene);
    extent e = scene_extent(scene, up);
    bool players = scene->players.limit > 0, guests = players || scene->prototype_count > 0;
    double widest = 0;
    for (int k = 0; k < 3; k++)
        widest = fmax(widest, e.high[k] - e.low[k]);
    // Players and spawned bodies go everywhere on a ground, and a fall is not visible from above.
    if (guests && (up >= 0 || !(widest > 0)))
        return FOLIOT__VIEW_CORNER;
    for (int k = 2; k >= 0; k--)
        if (k != up && !e.moves[k] && e.high[k] - e.low[k] <= FLAT * widest)
            return along[k];
    return FOLIOT__VIEW_CORNER;
}

// -- the visible part of the world

// The extent of a box between the corners along a direction.
static double length_along(const double along[3], const double low[3], const double high[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += fabs(along[k]) * (high[k] - low[k]);
    return sum;
}

// Whether the canvas shows all of `size` about `middle` along a direction.
static bool shows_all(const foliot__view *view, const double along[3], double dots,
                      const double middle[3], double size)
{
    double off = 0;
    for (int k = 0; k < 3; k++)
        off += along[k] * (middle[k] - view->centre[k]);
    return fabs(off) + size / 2 <= dots / 2 / view->dots_per_unit;
}

void foliot__view_fit(foliot__view *view, const foliot__canvas *canvas, const double low[3],
                      const double high[3])
{
    const look *at = look_of(view->side);
    double width = 2 * canvas->columns, height = 4 * canvas->rows, middle[3];
    double across = length_along(at->right, low, high), up = length_along(at->up, low, high);
    double scale =
        fmin(width * (1 - 2 * ROOM) / fmax(across, 1e-9), height * (1 - 2 * ROOM) / fmax(up, 1e-9));
    for (int k = 0; k < 3; k++)
        middle[k] = low[k] + (high[k] - low[k]) / 2;
    if (!isfinite(across) || !isfinite(up) || !isfinite(middle[0] + middle[1] + middle[2]) ||
        !(scale > 0))
        return;
    // One point alone: any scale will do.
    if (across <= 1e-9 && up <= 1e-9)
        scale = view->dots_per_unit > 0 ? view->dots_per_unit : fmin(width, height) / 4;
    bool good = view->dots_per_unit > 0 && view->dots_per_unit >= LOST * scale &&
                shows_all(view, at->right, width, middle, across) &&
                shows_all(view, at->up, height, middle, up);
    if (good)
        return;
    view->dots_per_unit = scale;
    memcpy(view->centre, middle, sizeof middle);
}

void foliot__view_place(const foliot__view *view, const foliot__canvas *canvas,
                        const double position[3], double *x, double *y)
{
    const look *at = look_of(view->side);
    double d[3];
    for (int k = 0; k < 3; k++)
        d[k] = position[k] - view->centre[k];
    *x = canvas->columns + dot(at->right, d) * view->dots_per_unit;
    *y = 2 * canvas->rows - dot(at->up, d) * view->dots_per_unit;
}

// The radius of a sphere about its centre that contains the shape.
static double reach_of(const foliot_shape *shape)
{
    switch (shape->kind) {
    case FOLIOT_SHAPE_SPHERE:
        return shape->radius;
    case FOLIOT_SHAPE_BOX:
        return sqrt(dot(shape->half, shape->half));
    case FOLIOT_SHAPE_CAPSULE:
        return shape->radius + shape->half[2];
    default:
        return 0;
    }
}

bool foliot__figures_bounds(const foliot__figure *figures, uint32_t count, double low[3],
                            double high[3])
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (figures[i].shape.kind == FOLIOT_SHAPE_PLANE)
            continue;
        double reach = reach_of(&figures[i].shape);
        for (int k = 0; k < 3; k++) {
            double from = figures[i].body.position[k] - reach;
            double to = figures[i].body.position[k] + reach;
            low[k] = any ? fmin(low[k], from) : from;
            high[k] = any ? fmax(high[k], to) : to;
        }
        any = true;
    }
    return any;
}

// -- bodies

static void point_of_body(const foliot_body_state *body, const double local[3], double at[3])
{
    rotate(body->orientation, local, at);
    for (int k = 0; k < 3; k++)
        at[k] += body->position[k];
}

static void place_point_of_body(const foliot__view *view, const foliot__canvas *canvas,
                                const foliot_body_state *body, const double local[3], double out[2])
{
    double at[3];
    point_of_body(body, local, at);
    foliot__view_place(view, canvas, at, &out[0], &out[1]);
}

static void draw_outline(foliot__canvas *canvas, const double (*corners)[2], uint32_t count,
                         foliot__colour colour)
{
    for (uint32_t k = 0; k < count; k++) {
        const double *p = corners[k], *q = corners[(k + 1) % count];
        foliot__canvas_line(canvas, p[0], p[1], q[0], q[1], colour);
    }
}

// The faces that point towards the viewer.
static void draw_box(const foliot__view *view, foliot__canvas *canvas, const double half[3],
                     const foliot_body_state *body, foliot__colour colour)
{
    const look *at = look_of(view->side);
    for (int face = 0; face < 6; face++) {
        int k = face / 2, m = (k + 1) % 3, n = (k + 2) % 3;
        double normal[3] = {0, 0, 0}, out[3], corners[4][2];
        normal[k] = face % 2 ? -1 : 1;
        rotate(body->orientation, normal, out);
        if (!(dot(out, at->near) > 1e-3))
            continue;
        for (int c = 0; c < 4; c++) {
            double corner[3];
            corner[k] = normal[k] * half[k];
            corner[m] = c == 0 || c == 3 ? half[m] : -half[m];
            corner[n] = c < 2 ? half[n] : -half[n];
            place_point_of_body(view, canvas, body, corner, corners[c]);
        }
        foliot__canvas_erase(canvas, corners, 4);
        draw_outline(canvas, corners, 4, colour);
    }
}

// The hull of two discs of one radius, along the way from one to the other.
static void draw_capsule(const foliot__view *view, foliot__canvas *canvas,
                         const foliot_shape *shape, const foliot_body_state *body,
                         foliot__colour colour)
{
    double ends[2][2], corners[2 * ARC + 2][2], radius = shape->radius * view->dots_per_unit;
    const double bottom[3] = {0, 0, -shape->half[2]}, top[3] = {0, 0, shape->half[2]};
    place_point_of_body(view, canvas, body, bottom, ends[0]);
    place_point_of_body(view, canvas, body, top, ends[1]);
    double heading = atan2(ends[1][1] - ends[0][1], ends[1][0] - ends[0][0]);
    uint32_t count = 0;
    for (int end = 0; end < 2; end++)
        for (int k = 0; k <= ARC; k++, count++) {
            double angle = heading + M_PI * (end ? -0.5 + (double)k / ARC : 0.5 + (double)k / ARC);
            corners[count][0] = ends[end][0] + radius * cos(angle);
            corners[count][1] = ends[end][1] + radius * sin(angle);
        }
    foliot__canvas_erase(canvas, corners, count);
    draw_outline(canvas, corners, count, colour);
}

static void draw_sphere(const foliot__view *view, foliot__canvas *canvas, double radius,
                        const foliot_body_state *body, foliot__colour colour)
{
    double x, y, corners[DISC][2];
    foliot__view_place(view, canvas, body->position, &x, &y);
    radius *= view->dots_per_unit;
    for (int k = 0; k < DISC; k++) {
        corners[k][0] = x + radius * cos(2 * M_PI * k / DISC);
        corners[k][1] = y + radius * sin(2 * M_PI * k / DISC);
    }
    foliot__canvas_erase(canvas, corners, DISC);
    foliot__canvas_circle(canvas, x, y, radius, colour);
}

// A plane seen edge-on is a line.
static void draw_plane(const foliot__view *view, foliot__canvas *canvas, const foliot_shape *shape,
                       foliot__colour colour)
{
    const look *at = look_of(view->side);
    double across = dot(shape->normal, at->right), up = dot(shape->normal, at->up);
    double size2 = across * across + up * up;
    if (!(size2 > 0.01) || view->side == FOLIOT__VIEW_CORNER) {
        // A plane that is not seen edge-on: a square pattern of points that fills the view.
        if (fabs(shape->normal[2]) > 0.5 && view->side == FOLIOT__VIEW_CORNER) {
            double pitch = GRID_DOTS / view->dots_per_unit;
            int reach = (int)(2 * canvas->columns + 4 * canvas->rows) / GRID_DOTS;
            for (int i = -reach; i <= reach; i++)
                for (int k = -reach; k <= reach; k++) {
                    double p[3] = {view->centre[0] + i * pitch, view->centre[1] + k * pitch, 0}, x,
                           y;
                    p[2] = (shape->offset - shape->normal[0] * p[0] - shape->normal[1] * p[1]) /
                           shape->normal[2];
                    foliot__view_place(view, canvas, p, &x, &y);
                    foliot__canvas_dot(canvas, x, y, colour);
                }
        }
        return;
    }
    // The point of the line nearest to the view's centre, and far along it to both sides.
    double off = (shape->offset - dot(shape->normal, view->centre)) / size2, middle[3], x, y;
    for (int k = 0; k < 3; k++)
        middle[k] = view->centre[k] + off * (across * at->right[k] + up * at->up[k]);
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
        draw_sphere(view, canvas, shape->radius, body, colour);
        break;
    default: // a point is drawn as a dot
        foliot__canvas_dot(canvas, x, y, colour);
        foliot__canvas_dot(canvas, x + 1, y, colour);
        foliot__canvas_dot(canvas, x, y + 1, colour);
        foliot__canvas_dot(canvas, x + 1, y + 1, colour);
        break;
    }
}

// Planes first, then static bodies, then from far to near; equals keep their order.
static int behind(const void *a, const void *b)
{
    const foliot__figure *p = a, *q = b;
    int rank_p = p->shape.kind == FOLIOT_SHAPE_PLANE  ? 0
                 : p->body.flags & FOLIOT_BODY_STATIC ? 1
                                                      : 2;
    int rank_q = q->shape.kind == FOLIOT_SHAPE_PLANE  ? 0
                 : q->body.flags & FOLIOT_BODY_STATIC ? 1
                                                      : 2;
    if (rank_p != rank_q)
        return rank_p - rank_q;
    if (p->depth != q->depth)
        return p->depth < q->depth ? -1 : 1;
    return p->slot < q->slot ? -1 : p->slot > q->slot;
}

void foliot__view_paint(const foliot__view *view, foliot__canvas *canvas, foliot__figure *figures,
                        uint32_t count)
{
    const look *at = look_of(view->side);
    for (uint32_t i = 0; i < count; i++)
        figures[i].depth = dot(figures[i].body.position, at->near);
    if (count > 1)
        qsort(figures, count, sizeof *figures, behind);
    for (uint32_t i = 0; i < count; i++)
        foliot__view_draw(view, canvas, &figures[i].shape, &figures[i].body, figures[i].colour);
}

// -- joints

static void draw_between(const foliot__view *view, foliot__canvas *canvas, const double from[3],
                         const double to[3], foliot__colour colour)
{
    double x1, y1, x2, y2;
    foliot__view_place(view, canvas, from, &x1, &y1);
    foliot__view_place(view, canvas, to, &x2, &y2);
    foliot__canvas_line(canvas, x1, y1, x2, y2, colour);
}

static double distance(const double a[3], const double b[3])
{
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    return sqrt(dot(d, d));
}

void foliot__view_joint(const foliot__view *view, foliot__canvas *canvas,
                        const foliot_constraint_definition *joint, const foliot_body_state *a,
                        const foliot_body_state *b, foliot__colour colour)
{
    double from[3], to[3];
    point_of_body(a, joint->anchor_a, from);
    memcpy(to, joint->anchor_b, sizeof to);
    if (b)
        point_of_body(b, joint->anchor_b, to);
    if (joint->kind == FOLIOT_CONSTRAINT_DISTANCE || joint->kind == FOLIOT_CONSTRAINT_ROD) {
        draw_between(view, canvas, from, to, colour);
        return;
    }
    double arms = distance(from, a->position) + (b ? distance(to, b->position) : 0);
    // Not every caller knows which joints are broken: their distance shows it.
    if (distance(from, to) > TORN * arms || arms * view->dots_per_unit < ARMS_DOTS)
        return;
    draw_between(view, canvas, a->position, from, colour);
    if (b)
        draw_between(view, canvas, from, b->position, colour);
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
    snprintf(text, sizeof text, "%.6g %s ", length, unit);
    foliot__canvas_text(canvas, (int32_t)(dots / 2) + 3, (int32_t)canvas->rows - 1,
                        FOLIOT__COLOUR_GREY, text);
}

// -- the focus of a spectator

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
