// SPDX-License-Identifier: MIT
// test_view.c: views show what they should and keep still while they do; near bodies hide far ones;
// joints are lines until they part. Method: scenes of a few bodies on a canvas of a few characters.
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "small_canvas.h"
#include "view/view.h"

static uint32_t cells_drawn(uint32_t column, uint32_t row, uint32_t columns, uint32_t rows)
{
    uint32_t count = 0;
    for (uint32_t r = row; r < row + rows; r++)
        for (uint32_t c = column; c < column + columns; c++)
            count += canvas.cells[r * canvas.columns + c].dots != 0;
    return count;
}

static void check_visible(const foliot__view *view, const double corner[3])
{
    double x, y;
    foliot__view_place(view, &canvas, corner, &x, &y);
    check_ge(x, 0);
    check_le(x, 2 * canvas.columns);
    check_ge(y, 0);
    check_le(y, 4 * canvas.rows);
}

TEST_BETWEEN(views_show_everything_and_keep_still, small_canvas, NULL)
{
    assert_true(foliot__canvas_init(&canvas, 80, 24));
    for (int side = 0; side < FOLIOT__VIEW_SIDES; side++) {
        foliot__view view = {.side = (foliot__view_side)side};
        const double low[3] = {-3, 5, 100}, high[3] = {40, 6, 170};
        foliot__view_fit(&view, &canvas, low, high);
        check_visible(&view, low);
        check_visible(&view, high);
        foliot__view before = view;
        const double smaller[3] = {0, 5.2, 105};
        foliot__view_fit(&view, &canvas, smaller, high);
        assert_memory_equal(&view, &before, sizeof view);
        const double larger[3] = {-30, -50, 0};
        foliot__view_fit(&view, &canvas, larger, high);
        check_visible(&view, larger);
        // Nothing finite to show: nothing changes.
        before = view;
        const double nowhere[3] = {-INFINITY, NAN, 0};
        foliot__view_fit(&view, &canvas, nowhere, high);
        assert_memory_equal(&view, &before, sizeof view);
    }
}

TEST_BETWEEN(one_point_alone_is_in_the_middle, small_canvas, NULL)
{
    const double at[3] = {7, -8, 9};
    foliot__view view = {.side = FOLIOT__VIEW_FRONT};
    double x, y;
    foliot__view_fit(&view, &canvas, at, at);
    foliot__view_place(&view, &canvas, at, &x, &y);
    check_near(x, canvas.columns, 1e-9);
    check_near(y, 2 * canvas.rows, 1e-9);
}

TEST_BETWEEN(planes_are_lines_at_their_height, small_canvas, NULL)
{
    foliot__view view = {.side = FOLIOT__VIEW_FRONT, .dots_per_unit = 1};
    foliot_shape floor_ = {.kind = FOLIOT_SHAPE_PLANE, .normal = {0, 0, 1}, .offset = 1};
    foliot_body_state body = {.orientation = {1, 0, 0, 0}};
    foliot__view_draw(&view, &canvas, &floor_, &body, FOLIOT__COLOUR_INK);
    // z = 1 is one dot above the middle: the lowest row of the upper characters.
    check_shows(false, "\u28c0\u28c0\u28c0\u28c0\n    ");
    foliot__canvas_clear(&canvas);
    view.side = FOLIOT__VIEW_TOP;
    foliot__view_draw(&view, &canvas, &floor_, &body, FOLIOT__COLOUR_INK);
    check_shows(false, "    \n    ");
}

TEST_BETWEEN(shapes_are_drawn_where_they_turn, small_canvas, NULL)
{
    assert_true(foliot__canvas_init(&canvas, 8, 4));
    foliot__view view = {.side = FOLIOT__VIEW_TOP, .dots_per_unit = 1};
    foliot_shape box = {.kind = FOLIOT_SHAPE_BOX, .half = {6, 1, 1}};
    // A quarter turn about z: the long side stands upright.
    foliot_body_state body = {.orientation = {sqrt(0.5), 0, 0, sqrt(0.5)}};
    foliot__view_draw(&view, &canvas, &box, &body, FOLIOT__COLOUR_INK);
    uint32_t upright = 0, level = 0;
    for (uint32_t k = 0; k < 8; k++)
        level += canvas.cells[2 * 8 + k].dots != 0;
    for (uint32_t k = 0; k < 4; k++)
        upright += canvas.cells[k * 8 + 3].dots != 0 || canvas.cells[k * 8 + 4].dots != 0;
    assert_int_equal(upright, 4);
    assert_in_range(level, 1, 2);
}

// A great box far away and a small one before it: of the far one's edges none is seen within the
// near one. Static bodies are behind all that move.
TEST_BETWEEN(near_bodies_hide_far_ones, small_canvas, NULL)
{
    assert_true(foliot__canvas_init(&canvas, 20, 10));
    foliot__view view = {.side = FOLIOT__VIEW_FRONT, .dots_per_unit = 1};
    for (int still = 0; still < 2; still++) {
        foliot__figure figures[] = {
            {.slot = 0,
             .shape = {.kind = FOLIOT_SHAPE_BOX, .half = {8, 1, 8}},
             .body = {.position = {0, still ? 5 : -5, 0}, .orientation = {1, 0, 0, 0}}},
            {.slot = 1,
             .shape = {.kind = FOLIOT_SHAPE_SPHERE, .radius = 3},
             .body = {.position = {0, 0, 0}, .orientation = {1, 0, 0, 0}}}};
        figures[0].body.flags = still ? FOLIOT_BODY_STATIC : 0;
        foliot__canvas_clear(&canvas);
        foliot__view_paint(&view, &canvas, figures, 2);
        // The sphere's cells, within the box's outline.
        check_eq((cells_drawn(7, 4, 6, 2) > 0), (still == 1));
        assert_int_equal(figures[1].slot, still ? 1 : 0);
    }
}

TEST_BETWEEN(joints_are_lines_until_they_part, small_canvas, NULL)
{
    assert_true(foliot__canvas_init(&canvas, 20, 10));
    foliot__view view = {.side = FOLIOT__VIEW_TOP, .dots_per_unit = 1};
    foliot_constraint_definition ball = {
        .kind = FOLIOT_CONSTRAINT_BALL, .anchor_a = {8, 0, 0}, .anchor_b = {-8, 0, 0}};
    foliot_body_state a = {.position = {-8, 0, 0}, .orientation = {1, 0, 0, 0}}, b = a;
    b.position[0] = 8;
    foliot__view_joint(&view, &canvas, &ball, &a, &b, FOLIOT__COLOUR_GREY);
    assert_int_equal(cells_drawn(0, 0, 20, 10), 9);
    foliot__canvas_clear(&canvas);
    b.position[1] = 7;
    foliot__view_joint(&view, &canvas, &ball, &a, &b, FOLIOT__COLOUR_GREY);
    assert_int_equal(cells_drawn(0, 0, 20, 10), 0);
    foliot_constraint_definition rope = {.kind = FOLIOT_CONSTRAINT_DISTANCE};
    foliot__view_joint(&view, &canvas, &rope, &a, NULL, FOLIOT__COLOUR_GREY);
    check_ge(cells_drawn(0, 0, 20, 10), 4);
}

TEST(views_fit_their_scenes)
{
    foliot_body_definition bodies[] = {{.position = {0, 0, 0}}, {.position = {4, 0.5, 1}}};
    foliot_scene scene = {.bodies = bodies, .body_count = 2};
    bodies[0].orientation[0] = bodies[1].orientation[0] = 1;
    assert_int_equal(foliot__view_side_for(&scene), FOLIOT__VIEW_FRONT); // flat in y
    bodies[1].position[1] = 3;
    bodies[1].position[2] = 0;
    assert_int_equal(foliot__view_side_for(&scene), FOLIOT__VIEW_TOP);
    scene.gravity[2] = -9.81; // what lies on a ground is not seen from above, nor edge-on
    assert_int_equal(foliot__view_side_for(&scene), FOLIOT__VIEW_CORNER);
    bodies[1].position[1] = 0.5;
    assert_int_equal(foliot__view_side_for(&scene), FOLIOT__VIEW_FRONT);
    scene.gravity[2] = 0;
    scene.gravity[1] = -9.81; // two dimensions with y up
    bodies[1].position[1] = 3;
    assert_int_equal(foliot__view_side_for(&scene), FOLIOT__VIEW_TOP);
}

TEST(what_may_move_in_depth_is_not_seen_edge_on)
{
    foliot_body_definition bodies[] = {{.position = {0, 0, 0}}, {.position = {4, 0.1, 1}}};
    foliot_scene scene = {.bodies = bodies, .body_count = 2, .gravity = {0, 0, -9.81}};
    bodies[0].orientation[0] = bodies[1].orientation[0] = 1;
    assert_int_equal(foliot__view_side_for(&scene), FOLIOT__VIEW_FRONT);
    bodies[1].velocity[1] = 2;
    assert_int_equal(foliot__view_side_for(&scene), FOLIOT__VIEW_CORNER);
    bodies[1].velocity[1] = 0;
    // A wide floor, as a box; then a wall across y.
    bodies[0].is_static = true;
    bodies[0].shape = (foliot_shape){.kind = FOLIOT_SHAPE_BOX, .half = {6, 6, 0.5}};
    assert_int_equal(foliot__view_side_for(&scene), FOLIOT__VIEW_CORNER);
    bodies[0].shape = (foliot_shape){.kind = FOLIOT_SHAPE_PLANE, .normal = {0, 0, 1}};
    assert_int_equal(foliot__view_side_for(&scene), FOLIOT__VIEW_FRONT);
    bodies[0].shape = (foliot_shape){.kind = FOLIOT_SHAPE_PLANE, .normal = {0, 1, 0}, .offset = -3};
    bodies[1].velocity[0] = 1;
    assert_int_equal(foliot__view_side_for(&scene), FOLIOT__VIEW_CORNER);
}

TEST(scenes_that_are_empty_at_first_are_seen_from_a_corner)
{
    foliot_body_definition prototype = {.mass = 1};
    foliot_scene scene = {.prototypes = &prototype, .prototype_count = 1};
    assert_int_equal(foliot__view_side_for(&scene), FOLIOT__VIEW_CORNER);
    static const double spawns[2][3] = {{-9, 0, 1}, {9, 0, 1}};
    scene = (foliot_scene){.gravity = {0, 0, -9.81},
                           .players = {.limit = 2, .positions = spawns, .position_count = 2}};
    assert_int_equal(foliot__view_side_for(&scene), FOLIOT__VIEW_CORNER);
    static const double ring[3][3] = {{60, 0, 0}, {-60, 0, 0}, {0, 60, 0}};
    scene = (foliot_scene){.players = {.limit = 3, .positions = ring, .position_count = 3}};
    assert_int_equal(foliot__view_side_for(&scene), FOLIOT__VIEW_TOP);
}

TEST(sides_have_words)
{
    foliot__view_side side = FOLIOT__VIEW_TOP;
    assert_true(foliot__view_side_of("side", &side));
    assert_int_equal(side, FOLIOT__VIEW_SIDE);
    assert_false(foliot__view_side_of("below", &side));
}

int main(void)
{
    return check_run(NULL, free_canvas);
}
