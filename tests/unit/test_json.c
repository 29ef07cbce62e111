// SPDX-License-Identifier: MIT
// test_json.c: what the JSON writer writes is compared with the text that RFC 8259 wants, byte for
// byte.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_reader.h"

static char *written;
static size_t length;
static foliot__json json;

static void begin(void)
{
    json = foliot__json_to(open_memstream(&written, &length));
}

static void check_written(const char *expected)
{
    fclose(json.out);
    assert_string_equal(written, expected);
    free(written);
}

TEST(nested_values_get_their_commas)
{
    begin();
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "name", "ball");
    foliot__json_array(&json, "list");
    foliot__json_count(&json, NULL, UINT64_MAX);
    foliot__json_integer(&json, NULL, INT64_MIN);
    foliot__json_object(&json, NULL);
    foliot__json_close(&json);
    foliot__json_array(&json, NULL);
    foliot__json_close(&json);
    foliot__json_close(&json);
    foliot__json_bool(&json, "yes", true);
    foliot__json_bool(&json, "no", false);
    foliot__json_null(&json, "nothing");
    foliot__json_text(&json, "nobody", NULL);
    foliot__json_close(&json);
    foliot__json_line(&json);
    foliot__json_count(&json, NULL, 2);
    foliot__json_line(&json);
    check_written("{\"name\":\"ball\",\"list\":[18446744073709551615,-9223372036854775808,{},[]],"
                  "\"yes\":true,\"no\":false,\"nothing\":null,\"nobody\":null}\n2\n");
}

TEST(reals_come_back_to_the_bit)
{
    const double values[] = {0.1, -0.0, 1e308, 5e-324, 1.0 / 3, 0x1.fffffffffffffp1023, 3};
    begin();
    foliot__json_reals(&json, NULL, values, 7);
    fclose(json.out);
    const char *at = written + 1;
    for (int i = 0; i < 7; i++) {
        char *end;
        check_bits(strtod(at, &end), values[i]);
        at = end + 1;
    }
    assert_int_equal(*at, 0);
    assert_non_null(strstr(written, "0.10000000000000001,"));
    free(written);
}

TEST(measured_values_have_few_digits)
{
    begin();
    foliot__json_array(&json, NULL);
    foliot__json_decimals(&json, NULL, 4.123, 3); // 4.1230000000000002 as a real
    foliot__json_decimals(&json, NULL, -0.0625, 2);
    foliot__json_decimals(&json, NULL, 0, 3);
    foliot__json_decimals(&json, NULL, 1e300, 3);
    foliot__json_decimals(&json, NULL, strtod("nan", NULL), 3);
    foliot__json_close(&json);
    check_written("[4.123,-0.06,0.000,1.0000000000000001e+300,null]");
}

TEST(reals_that_json_lacks_are_null)
{
    volatile double zero = 0;
    const double values[] = {1 / zero, -1 / zero, zero / zero};
    begin();
    foliot__json_reals(&json, NULL, values, 3);
    check_written("[null,null,null]");
}

TEST(texts_are_escaped)
{
    begin();
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "a\"b", "\\ \" / \n \t \x01 \x1b[2J \x7f");
    foliot__json_text(&json, "unicode", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e");
    foliot__json_text(&json, "c1",
                      "\xc2\x9b"
                      "31m");
    foliot__json_text(&json, "separator", "\xe2\x80\xa8");
    foliot__json_close(&json);
    check_written("{\"a\\\"b\":\"\\\\ \\\" / \\n \\t \\u0001 \\u001b[2J \\u007f\","
                  "\"unicode\":\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e\","
                  "\"c1\":\"\\u009b31m\",\"separator\":\"\\u2028\"}");
}

TEST(broken_utf8_is_replaced)
{
    begin();
    foliot__json_array(&json, NULL);
    foliot__json_text(&json, NULL,
                      "a\xff"
                      "b");
    foliot__json_text(&json, NULL, "\xc3");         // cut
    foliot__json_text(&json, NULL, "\xc0\xaf");     // overlong
    foliot__json_text(&json, NULL, "\xed\xa0\x80"); // surrogate
    foliot__json_close(&json);
    check_written("[\"a\\ufffdb\",\"\\ufffd\",\"\\ufffd\\ufffd\",\"\\ufffd\\ufffd\\ufffd\"]");
}

// -- json reader: what RFC 8259 allows is read, and nothing else; the place of the first
// problem is kept; values of every kind can be skipped.

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
