// SPDX-License-Identifier: MIT
// test_canvas.c: pictures in characters, compared character by character; nothing far away,
// infinite or hostile gets through.
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "small_canvas.h"

TEST_BETWEEN(dots_are_braille, small_canvas, NULL)
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

TEST_BETWEEN(letters_take_the_columns_that_a_terminal_gives_them, small_canvas, NULL)
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

TEST_BETWEEN(lines_are_cut_at_the_edges, small_canvas, NULL)
{
    foliot__canvas_line(&canvas, -1e9, 3, 1e9, 3, FOLIOT__COLOUR_INK);
    check_shows(false, "\u28c0\u28c0\u28c0\u28c0\n    ");
    foliot__canvas_clear(&canvas);
    foliot__canvas_line(&canvas, 0, 0, 7, 7, FOLIOT__COLOUR_INK);
    check_shows(false, "\u2811\u2884  \n  \u2811\u2884");
}

TEST_BETWEEN(what_lies_outside_or_nowhere_draws_nothing, small_canvas, NULL)
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

TEST_BETWEEN(words_lie_on_top_and_are_cleaned, small_canvas, NULL)
{
    foliot__canvas_line(&canvas, 0, 3, 7, 3, FOLIOT__COLOUR_RED);
    foliot__canvas_text(&canvas, 1, 0, FOLIOT__COLOUR_INK, "\x1b\u00e9!too long");
    foliot__canvas_text(&canvas, -2, 1, FOLIOT__COLOUR_INK, "abc");
    foliot__canvas_text(&canvas, 0, 2, FOLIOT__COLOUR_INK, "outside");
    check_shows(false, "\u28c0\u00e9!t\nc   ");
    check_shows(true, "\033[91m\u28c0\033[0m\u00e9!t\nc   ");
}

TEST_BETWEEN(a_blank_row_shows_nothing_and_leaves_the_others, small_canvas, NULL)
{
    foliot__canvas_line(&canvas, 0, 0, 7, 7, FOLIOT__COLOUR_INK);
    foliot__canvas_text(&canvas, 0, 0, FOLIOT__COLOUR_INK, "abcd");
    foliot__canvas_text(&canvas, 0, 1, FOLIOT__COLOUR_INK, "efgh");
    foliot__canvas_blank(&canvas, 0);
    foliot__canvas_blank(&canvas, -1);
    foliot__canvas_blank(&canvas, 2);
    check_shows(false, "    \nefgh");
}

TEST_BETWEEN(sizes_are_clamped, small_canvas, NULL)
{
    assert_true(foliot__canvas_init(&canvas, 0, 0));
    assert_int_equal(canvas.columns * canvas.rows, 1);
    assert_true(foliot__canvas_init(&canvas, UINT32_MAX, UINT32_MAX));
    assert_int_equal(canvas.columns, FOLIOT__CANVAS_COLUMNS_MAX);
    assert_int_equal(canvas.rows, FOLIOT__CANVAS_ROWS_MAX);
}

TEST_BETWEEN(polygons_erase_what_is_within, small_canvas, NULL)
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

int main(void)
{
    return check_run(NULL, free_canvas);
}
