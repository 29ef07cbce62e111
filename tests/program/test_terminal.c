// SPDX-License-Identifier: MIT
// test_terminal.c: pictures, views and the line of text of programs in a terminal.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../client/program/board.h"
#include "base/canvas.h"
#include "view/view.h"

// -- canvas: pictures in characters, compared character by character; nothing far away,
// infinite or hostile gets through.

// A canvas of 4 x 2 characters, a new one for each test.
static foliot__canvas canvas;

// Setup and teardown of a test.
static int small_canvas(void **state)
{
    (void)state;
    return foliot__canvas_init(&canvas, 4, 2) ? 0 : -1;
}

static int free_canvas(void **state)
{
    (void)state;
    foliot__canvas_free(&canvas);
    return 0;
}

// The canvas prints this text.
static void check_shows(bool colours, const char *expected)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    foliot__canvas_print(&canvas, colours, out);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

TEST_BETWEEN(dots_are_braille, small_canvas, free_canvas)
{
    check_shows(false, "    \n    ");
    // One in every place of the first character, then the last dot of all.
    static const char *const first[] = {"\u2801", "\u2803", "\u2807", "\u2847",
                                        "\u284f", "\u285f", "\u287f", "\u28ff"};
    for (int k = 0; k < 8; k++) {
        foliot__canvas_dot(&canvas, k / 4, k % 4, FOLIOT__COLOUR_INK);
        char text[5];
        foliot__cell_text(&canvas.cells[0], text);
        assert_string_equal(text, first[k]);
    }
    foliot__canvas_dot(&canvas, 7, 7, FOLIOT__COLOUR_INK);
    check_shows(false, "\u28ff   \n   \u2880");
}

TEST_BETWEEN(letters_take_the_columns_that_a_terminal_gives_them, small_canvas, free_canvas)
{
    foliot__canvas_text(&canvas, 0, 0, FOLIOT__COLOUR_INK,
                        "\u65e5a\u672c"); // the last has no room for its half
    foliot__canvas_text(&canvas, 1, 1, FOLIOT__COLOUR_INK, "e\u0301\u65e5");
    check_shows(false, "\u65e5a \n e\u65e5");
    foliot__canvas_text(&canvas, 1, 0, FOLIOT__COLOUR_INK, "b"); // onto one half
    foliot__canvas_text(&canvas, 2, 1, FOLIOT__COLOUR_INK, "c");
    check_shows(false, " ba \n ec ");
    foliot__canvas_text(&canvas, 2, 1, FOLIOT__COLOUR_INK, "\u65e5");
    foliot__canvas_text(&canvas, 1, 1, FOLIOT__COLOUR_INK, "\u672c");
    check_shows(false, " ba \n \u672c ");
}

TEST_BETWEEN(lines_are_cut_at_the_edges, small_canvas, free_canvas)
{
    foliot__canvas_line(&canvas, -1e9, 3, 1e9, 3, FOLIOT__COLOUR_INK);
    check_shows(false, "\u28c0\u28c0\u28c0\u28c0\n    ");
    foliot__canvas_clear(&canvas);
    foliot__canvas_line(&canvas, 0, 0, 7, 7, FOLIOT__COLOUR_INK);
    check_shows(false, "\u2811\u2884  \n  \u2811\u2884");
}

TEST_BETWEEN(what_lies_outside_or_nowhere_draws_nothing, small_canvas, free_canvas)
{
    const double far[] = {-1, 8, 1e18, -1e18, INFINITY, -INFINITY, NAN};
    for (unsigned i = 0; i < sizeof far / sizeof far[0]; i++) {
        foliot__canvas_dot(&canvas, far[i], 1, FOLIOT__COLOUR_INK);
        foliot__canvas_dot(&canvas, 1, far[i] == -1 ? -2 : far[i], FOLIOT__COLOUR_INK);
        foliot__canvas_line(&canvas, far[i], 0, far[i], 7, FOLIOT__COLOUR_INK);
        foliot__canvas_circle(&canvas,
                              far[i] == -1  ? -9
                              : far[i] == 8 ? 19
                                            : far[i],
                              1, 3, FOLIOT__COLOUR_INK);
        foliot__canvas_circle(&canvas, 1e9, 1e9, 1e8, FOLIOT__COLOUR_INK);
    }
    check_shows(false, "    \n    ");
}

TEST_BETWEEN(words_lie_on_top_and_are_cleaned, small_canvas, free_canvas)
{
    foliot__canvas_line(&canvas, 0, 3, 7, 3, FOLIOT__COLOUR_RED);
    foliot__canvas_text(&canvas, 1, 0, FOLIOT__COLOUR_INK, "\x1b\u00e9!too long");
    foliot__canvas_text(&canvas, -2, 1, FOLIOT__COLOUR_INK, "abc");
    foliot__canvas_text(&canvas, 0, 2, FOLIOT__COLOUR_INK, "outside");
    check_shows(false, "\u28c0\u00e9!t\nc   ");
    check_shows(true, "\033[91m\u28c0\033[0m\u00e9!t\nc   ");
}

TEST_BETWEEN(a_blank_row_shows_nothing_and_leaves_the_others, small_canvas, free_canvas)
{
    foliot__canvas_line(&canvas, 0, 0, 7, 7, FOLIOT__COLOUR_INK);
    foliot__canvas_text(&canvas, 0, 0, FOLIOT__COLOUR_INK, "abcd");
    foliot__canvas_text(&canvas, 0, 1, FOLIOT__COLOUR_INK, "efgh");
    foliot__canvas_blank(&canvas, 0);
    foliot__canvas_blank(&canvas, -1);
    foliot__canvas_blank(&canvas, 2);
    check_shows(false, "    \nefgh");
}

TEST_BETWEEN(sizes_are_clamped, small_canvas, free_canvas)
{
    assert_true(foliot__canvas_init(&canvas, 0, 0));
    assert_int_equal(canvas.columns * canvas.rows, 1);
    assert_true(foliot__canvas_init(&canvas, UINT32_MAX, UINT32_MAX));
    assert_int_equal(canvas.columns, FOLIOT__CANVAS_COLUMNS_MAX);
    assert_int_equal(canvas.rows, FOLIOT__CANVAS_ROWS_MAX);
}

TEST_BETWEEN(polygons_erase_what_is_within, small_canvas, free_canvas)
{
    const double corners[][2] = {{2, 0}, {6, 0}, {6, 4}, {2, 4}};
    for (int k = 0; k < 8; k++)
        foliot__canvas_line(&canvas, 0, k, 7, k, FOLIOT__COLOUR_INK);
    foliot__canvas_erase(&canvas, corners, 4);
    check_shows(false, "\u28ff  \u28ff\n\u28ff\u28ff\u28ff\u28ff");
    const double far[][2] = {{-1e18, -1e18}, {1e18, -1e18}, {0, 1e18}},
                 none[][2] = {{NAN, 0}, {1, 1}, {2, 0}};
    foliot__canvas_erase(&canvas, none, 3);
    check_shows(false, "\u28ff  \u28ff\n\u28ff\u28ff\u28ff\u28ff");
    foliot__canvas_erase(&canvas, far, 3);
    check_shows(false, "    \n    ");
}

// -- view: views show what they should and keep still while they do; near bodies hide far ones;
// joints are lines until they part. Method: scenes of a few bodies on a canvas of a few characters.

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

TEST_BETWEEN(views_show_everything_and_keep_still, small_canvas, free_canvas)
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

TEST_BETWEEN(one_point_alone_is_in_the_middle, small_canvas, free_canvas)
{
    const double at[3] = {7, -8, 9};
    foliot__view view = {.side = FOLIOT__VIEW_FRONT};
    double x, y;
    foliot__view_fit(&view, &canvas, at, at);
    foliot__view_place(&view, &canvas, at, &x, &y);
    check_near(x, canvas.columns, 1e-9);
    check_near(y, 2 * canvas.rows, 1e-9);
}

TEST_BETWEEN(planes_are_lines_at_their_height, small_canvas, free_canvas)
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

TEST_BETWEEN(shapes_are_drawn_where_they_turn, small_canvas, free_canvas)
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
TEST_BETWEEN(near_bodies_hide_far_ones, small_canvas, free_canvas)
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

TEST_BETWEEN(joints_are_lines_until_they_part, small_canvas, free_canvas)
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

// -- focus: what a spectator looks at. Goal: keys move it, and however long they are held it
// stays where something of the world is within sight. Method: a scene of two bodies and a plane.

#define FAR 10.0

static foliot_body_definition bodies[3];
static const double spawns[1][3] = {{0, 50, 0}};

static foliot_scene scene_of_two(void)
{
    foliot_scene scene = foliot_scene_default();
    for (int i = 0; i < 3; i++)
        bodies[i] = foliot_body_definition_default();
    bodies[0].position[0] = -20;
    bodies[1].position[0] = 30;
    bodies[2].shape.kind = FOLIOT_SHAPE_PLANE;
    bodies[2].position[2] = -1000;
    scene.bodies = bodies;
    scene.body_count = 3;
    scene.players.positions = spawns;
    scene.players.position_count = 1;
    return scene;
}

TEST(keys_move_it)
{
    foliot_scene scene = scene_of_two();
    double focus[3] = {0};
    foliot__focus_move(focus, &scene, (int8_t[3]){127, -127, 0}, FAR, 0.1);
    check_near(focus[0], 1, 1e-12);
    check_near(focus[1], -1, 1e-12);
    check_near(focus[2], 0, 0);
    foliot__focus_move(focus, NULL, (int8_t[3]){0, 0, 127}, FAR, 100); // nothing is known yet
    check_near(focus[2], 1000, 1e-9);
}

TEST(it_stays_in_the_world)
{
    foliot_scene scene = scene_of_two();
    double focus[3] = {0};
    for (int i = 0; i < 1000; i++)
        foliot__focus_move(focus, &scene, (int8_t[3]){127, 127, -127}, FAR, 0.1);
    check_near(focus[0], 35, 1e-9);
    check_near(focus[1], 55, 1e-9);
    check_near(focus[2], -5, 1e-9); // planes do not count
    for (int i = 0; i < 1000; i++)
        foliot__focus_move(focus, &scene, (int8_t[3]){-127, -127, 127}, FAR, 0.1);
    check_near(focus[0], -25, 1e-9);
    check_near(focus[1], -5, 1e-9);
    check_near(focus[2], 5, 1e-9);
}

// -- board: the line in which a person writes. Goal: keys are the line's from Enter to Enter or
// Esc and no other's, and what leaves it is UTF-8 of bounded length. Method: keys one by one.

static void type(foliot__board *board, const char *keys)
{
    for (; *keys; keys++)
        assert_true(foliot__board_handle_key(board, *keys, false));
}

TEST(a_line_is_entered)
{
    foliot__board board = {0};
    assert_false(foliot__board_handle_key(&board, 'w', false));
    assert_null(foliot__board_line(&board));
    type(&board, "\nhello\x7f\x7fp!\n");
    assert_string_equal(foliot__board_line(&board), "help!");
    assert_null(foliot__board_line(&board));
    assert_false(foliot__board_handle_key(&board, 'w', false)); // a key of the game again
}

TEST(escape_gives_it_up)
{
    foliot__board board = {0};
    type(&board, "\nhello");
    assert_true(foliot__board_handle_key(&board, '\x1b', true)); // an arrow
    assert_true(board.writing);
    assert_true(foliot__board_handle_key(&board, '\x1b', false));
    assert_null(foliot__board_line(&board));
    assert_false(foliot__board_handle_key(&board, '\x1b', false)); // leaves, now
}

TEST(lines_are_bounded_and_utf8)
{
    foliot__board board = {0};
    type(&board, "\nZo\xc3\xab\x7f");
    assert_string_equal(board.entry, "Zo");
    for (int i = 0; i < 400; i++)
        assert_true(foliot__board_handle_key(&board, '\xc3', false)); // halves of characters
    type(&board, "\n");
    const char *line = foliot__board_line(&board);
    assert_int_equal(strlen(line), FOLIOT_ORDER_BYTES_MAX);
    assert_null(strchr(line, '\xc3'));
}

TEST(what_is_said_is_printable)
{
    foliot__board board = {0};
    foliot__board_say(&board, 1, "\x1b[2Jgone\x07");
    assert_null(strchr(board.lines[0], '\x1b'));
    assert_non_null(strstr(board.lines[0], "gone"));
}

TEST(clocks_are_minutes_and_seconds)
{
    static const struct {
        int64_t seconds;
        const char *text;
    } cases[] = {{0, "0:00"},     {9, "0:09"},          {60, "1:00"}, {125, "2:05"},
                 {5999, "99:59"}, {INT64_MAX, "99:59"}, {-1, "0:00"}, {INT64_MIN, "0:00"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[FOLIOT__BOARD_CLOCK_BYTES];
        foliot__board_clock_text(cases[i].seconds, text);
        assert_string_equal(text, cases[i].text);
    }
}
