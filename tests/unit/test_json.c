// SPDX-License-Identifier: MIT
// test_json.c: what the JSON writer writes is compared with the text that RFC 8259 wants, byte for
// byte.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static char *text;
static size_t length;
static foliot__json json;

static void begin(void)
{
    json = foliot__json_to(open_memstream(&text, &length));
}

static void check_written(const char *expected)
{
    fclose(json.out);
    assert_string_equal(text, expected);
    free(text);
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
    const char *at = text + 1;
    for (int i = 0; i < 7; i++) {
        char *end;
        check_bits(strtod(at, &end), values[i]);
        at = end + 1;
    }
    assert_int_equal(*at, 0);
    assert_non_null(strstr(text, "0.10000000000000001,"));
    free(text);
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
