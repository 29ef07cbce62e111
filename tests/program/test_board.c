// SPDX-License-Identifier: MIT
// test_board.c: the line in which a person writes. Goal: keys are the line's from Enter to Enter or
// Esc and no other's, and what leaves it is UTF-8 of bounded length. Method: keys one by one.
#include "check.h"

#include <string.h>

#include "../../client/program/board.h"

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
