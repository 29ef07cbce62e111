// SPDX-License-Identifier: MIT
// test_json_reader.c: what RFC 8259 allows is read, and nothing else; the place of the first
// problem is kept; values of every kind can be skipped.
#include "check.h"

#include <stdio.h>

#include "base/json_reader.h"

static foliot__json_reader reader_of(const char *text)
{
    return foliot__json_reader_of(text, strlen(text));
}

static bool skips(const char *text)
{
    foliot__json_reader r = reader_of(text);
    foliot__json_skip(&r);
    return foliot__json_end(&r);
}

TEST(values_are_skipped_or_refused)
{
    static const char *const good[] = {
        "0",
        "-0",
        "10.25e+3",
        "1E-2",
        "true",
        "false",
        "null",
        "\"\"",
        " [ ] ",
        "{}",
        "[[1,2],{\"a\":[]},\"\\u00e9\\n\"]",
        "{\"a\":{\"b\":null},\"c\":[true]}\n",
    };
    static const char *const bad[] = {
        "",
        " ",
        "+1",
        "01",
        "1.",
        ".5",
        "1e",
        "-",
        "nul",
        "True",
        "'a'",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\t\"",
        "[1,]",
        "[1 2]",
        "[",
        "]",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{,}",
        "{\"a\":1,}",
        "1 2",
        "[1}",
        "{\"a\":1]",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\xc0\x80\"",
        "nulll",
    };
    for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!skips(good[i]))
            fail_msg("%s was refused", good[i]);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (skips(bad[i]))
            fail_msg("%s was read", bad[i]);
}

TEST(values_are_read_in_turn)
{
    foliot__json_reader r =
        reader_of("{\"name\" : \"caf\\u00e9 \\ud83d\\ude00\", \"list\":[1, -2.5e3]}");
    char text[32], number[FOLIOT__JSON_NUMBER_BYTES];
    assert_int_equal(foliot__json_peek(&r), '{');
    assert_true(foliot__json_enter(&r, '{'));
    assert_true(foliot__json_more(&r));
    assert_true(foliot__json_key(&r, text, sizeof text));
    assert_string_equal(text, "name");
    assert_true(foliot__json_text_value(&r, text, sizeof text));
    assert_string_equal(text, "caf\xc3\xa9 \xf0\x9f\x98\x80");
    assert_true(foliot__json_more(&r));
    assert_true(foliot__json_key(&r, text, sizeof text));
    assert_true(foliot__json_enter(&r, '['));
    assert_true(foliot__json_more(&r));
    assert_int_equal(foliot__json_peek(&r), '0');
    assert_true(foliot__json_number(&r, number));
    assert_string_equal(number, "1");
    assert_true(foliot__json_more(&r));
    assert_true(foliot__json_number(&r, number));
    assert_string_equal(number, "-2.5e3");
    assert_false(foliot__json_more(&r));
    assert_false(foliot__json_more(&r));
    assert_true(foliot__json_end(&r));
}

TEST(the_first_problem_stays)
{
    char text[4];
    foliot__json_reader r = reader_of("[\"long\", x]");
    foliot__json_enter(&r, '[');
    foliot__json_more(&r);
    assert_false(foliot__json_text_value(&r, text, sizeof text)); // four bytes and a zero
    assert_string_equal(r.problem, "the text is too long");
    check_eq(r.at, 1);
    assert_false(foliot__json_more(&r));
    assert_false(foliot__json_end(&r));
    assert_int_equal(foliot__json_peek(&r), 0);
    assert_string_equal(r.problem, "the text is too long");
}

// Texts are not closed by a zero: nothing behind `length` is looked at.
TEST(texts_end_where_they_are_said_to)
{
    static const char text[] = {'"', '\xf0', '\x9f'};
    foliot__json_reader r = foliot__json_reader_of(text, sizeof text);
    assert_false(foliot__json_text_value(&r, NULL, 0));
    assert_string_equal(r.problem, "this is not UTF-8");
    r = foliot__json_reader_of("truefalse", 4);
    assert_true(foliot__json_word(&r, "true"));
    assert_true(foliot__json_end(&r));
    r = foliot__json_reader_of("true", 3);
    assert_false(foliot__json_word(&r, "true"));
}

TEST(nesting_has_an_end)
{
    char text[80];
    for (int depth = FOLIOT__JSON_NESTING_MAX; depth <= FOLIOT__JSON_NESTING_MAX + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = 0;
        assert_int_equal(skips(text), depth <= FOLIOT__JSON_NESTING_MAX);
    }
}
