// SPDX-License-Identifier: MIT
// test_input_script.c: lines of inputs become ordered inputs; every kind of wrong line is refused
// with its place.
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "simulation/input_script.h"

static foliot__input_script script;
static char message[256];

static foliot_status parse(const char *text)
{
    message[0] = 0;
    return foliot__input_script_parse(text, strlen(text), "in.txt", &script, message,
                                      sizeof message);
}

TEST(lines_become_inputs_in_order)
{
    assert_int_equal(parse("# two players\n"
                           "0 1 join   # the second\n"
                           "0 0 join\r\n"
                           "\n"
                           "  7 1 control -127 0 127 64 0xfF\n"
                           "7\t0 control 1 2 3 4\n"
                           "7 1 control 0 0 0 0 3\n"
                           "9 1 leave"),
                     FOLIOT_STATUS_OK);
    const foliot_input *at;
    assert_int_equal(script.count, 6);
    assert_int_equal(foliot__input_script_at(&script, 0, &at), 2);
    assert_int_equal(at[0].player, 0);
    assert_int_equal(at[1].player, 1);
    assert_int_equal(at[1].kind, FOLIOT_INPUT_JOIN);
    assert_int_equal(foliot__input_script_at(&script, 7, &at), 3);
    assert_int_equal(at[0].player, 0);
    assert_int_equal(at[0].axes[3], 4);
    assert_int_equal(at[1].axes[0], -127);
    assert_int_equal(at[1].axes[2], 127);
    assert_int_equal(at[1].buttons, 255);
    assert_int_equal(at[1].sequence, 2);
    assert_int_equal(at[2].buttons, 3);
    assert_int_equal(at[2].sequence, 3);
    assert_int_equal(foliot__input_script_at(&script, 8, &at), 0);
    assert_int_equal(foliot__input_script_at(&script, 10, &at), 0);
    assert_int_equal(foliot__input_script_at(&script, 9, &at), 1);
    assert_int_equal(at[0].kind, FOLIOT_INPUT_LEAVE);
    foliot__input_script_free(&script);
}

TEST(an_empty_text_has_no_inputs)
{
    const foliot_input *at;
    assert_int_equal(parse(""), FOLIOT_STATUS_OK);
    assert_int_equal(foliot__input_script_at(&script, 0, &at), 0);
    foliot__input_script_free(&script);
}

TEST(wrong_lines_are_named)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"x 0 join", "in.txt:1:1: a line begins with its tick, a whole number, not 'x'"},
        {"-1 0 join", "in.txt:1:1: a line begins with its tick, a whole number, not '-1'"},
        {"5 0 join\n4 0 leave", "in.txt:2:1: ticks must not decrease, not '4'"},
        {"0", "in.txt:1:2: a line has: tick player join|leave|control"},
        {"0 1024 join", "in.txt:1:3: a player is a number from 0 to 1023, not '1024'"},
        {"0 0 jump", "in.txt:1:5: an input is join, leave or control, not 'jump'"},
        {"0 0 join now", "in.txt:1:10: nothing follows join or leave, not 'now'"},
        {"0 0 control 1 2 3", "in.txt:1:18: control expects four axes: x y z turn"},
        {"0 0 control 1 2 3 128",
         "in.txt:1:19: an axis is a whole number from -127 to 127, not '128'"},
        {"0 0 control 1 2 3 1.5",
         "in.txt:1:19: an axis is a whole number from -127 to 127, not '1.5'"},
        {"0 0 control 1 2 3 --5",
         "in.txt:1:19: an axis is a whole number from -127 to 127, not '--5'"},
        {"0 0 control 1 2 3 4 65536",
         "in.txt:1:21: buttons are a number from 0 to 65535 or 0x0 to 0xffff, not '65536'"},
        {"0 0 control 1 2 3 4 0x",
         "in.txt:1:21: buttons are a number from 0 to 65535 or 0x0 to 0xffff, not '0x'"},
        {"0 0 control 1 2 3 4 0 0", "in.txt:1:23: nothing follows the buttons, not '0'"},
        {"0 0 control 1 2 3 4 0 0 0",
         "in.txt:1:25: a line has at most: tick player control x y z turn buttons"},
        {"0 0 \x1b[2J", "in.txt:1:5: an input is join, leave or control, not '[2J'"},
        {"0 0 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "in.txt:1:5: this word is not known in an input line"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(cases[i].text), FOLIOT_STATUS_INVALID);
        assert_string_equal(message, cases[i].message);
    }
}

TEST(a_missing_file_is_said_so)
{
    foliot_status status =
        foliot__input_script_read("no/such.txt", &script, message, sizeof message);
    assert_int_equal(status, FOLIOT_STATUS_IO);
    assert_string_equal(message, "no/such.txt: No such file or directory");
}
