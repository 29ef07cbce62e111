// SPDX-License-Identifier: MIT
// test_order_script.c: lines of orders become ordered orders; every kind of wrong line is refused
// with its place.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording/order_script.h"
#include "recording/session_log.h"

static foliot__order_script script;
static char message[256];

static foliot_status parse(const char *text, size_t length)
{
    message[0] = 0;
    return foliot__order_script_parse(text, length, "in.txt", 3, &script, message, sizeof message);
}

TEST(lines_become_orders_in_order)
{
    static const char text[] = "# two players\n"
                               "5 2 joined eve\r\n"
                               "5 1 chat  hello,  you #1 \n"
                               "\n"
                               "  7 2 bytes 00fF7a\n"
                               "7\t2 game\n"
                               "7 0 game throw 1 0 0.5\n"
                               "90 2 left";
    assert_int_equal(parse(text, strlen(text)), FOLIOT_STATUS_OK);
    const foliot_order *at;
    uint32_t count;
    assert_int_equal(foliot__order_script_at(&script, 5, &at, &count), FOLIOT_STATUS_OK);
    assert_int_equal(count, 2);
    assert_true(foliot__orders_recordable(at, count, 0));
    assert_int_equal(at[0].player, 1);
    assert_int_equal(at[0].kind, FOLIOT_ORDER_CHAT);
    assert_int_equal(at[0].length, 14);
    assert_memory_equal(at[0].bytes, "hello,  you #1", 14);
    assert_int_equal(at[1].kind, FOLIOT_ORDER_JOINED);
    assert_memory_equal(at[1].bytes, "eve", 3);
    assert_int_equal(foliot__order_script_at(&script, 6, &at, &count), FOLIOT_STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(foliot__order_script_at(&script, 7, &at, &count), FOLIOT_STATUS_OK);
    assert_int_equal(count, 3);
    assert_true(foliot__orders_recordable(at, count, 0));
    assert_int_equal(at[0].player, 0);
    assert_int_equal(at[1].sequence, 2);
    assert_int_equal(at[1].length, 3);
    assert_memory_equal(at[1].bytes, "\0\xff\x7a", 3);
    assert_int_equal(at[2].length, 0);
    assert_int_equal(foliot__order_script_at(&script, 90, &at, &count), FOLIOT_STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(at[0].sequence, 4);
    foliot__order_script_free(&script);
}

// There is no buffer of bytes then, and a pointer into it would be undefined.
TEST(orders_without_a_byte_are_orders)
{
    static const char text[] = "4 1 left\n4 2 left";
    assert_int_equal(parse(text, strlen(text)), FOLIOT_STATUS_OK);
    const foliot_order *at;
    uint32_t count;
    assert_int_equal(foliot__order_script_at(&script, 4, &at, &count), FOLIOT_STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(at[1].length, 0);
    foliot__order_script_free(&script);
}

static void refused(const char *text, size_t length, const char *says)
{
    assert_int_equal(parse(text, length), FOLIOT_STATUS_INVALID);
    if (strcmp(message, says) != 0)
        fail_msg("'%s', not '%s'", message, says);
}

TEST(wrong_lines_are_refused_with_their_place)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"x", "in.txt:1:1: a line begins with its tick, a whole number, not 'x'"},
        {"-1 0 left", "in.txt:1:1: a line begins with its tick, a whole number, not '-1'"},
        {"99999999999999999999999 0 left",
         "in.txt:1:1: a line begins with its tick, a whole number, not '99999999999999999999999'"},
        {"3 0 left\n2 0 left", "in.txt:2:1: ticks must not decrease, not '2'"},
        {"3", "in.txt:1:2: a player is a whole number"},
        {"3 eve", "in.txt:1:3: a player is a whole number, not 'eve'"},
        {"3  3 left", "in.txt:1:4: player 3 does not exist: the scene's limit is 3"},
        {"3 4294967296 left",
         "in.txt:1:3: player 4294967296 does not exist: the scene's limit is 3"},
        {"3 0", "in.txt:1:4: an order is game, bytes, chat, joined or left"},
        {"3 0 say x", "in.txt:1:5: an order is game, bytes, chat, joined or left, not 'say'"},
        {"3 0 \x1b[2J", "in.txt:1:5: an order is game, bytes, chat, joined or left, not '[2J'"},
        {"3 0 bytes 0g", "in.txt:1:12: bytes are hexadecimal digits"},
        {"3 0 bytes 012", "in.txt:1:14: bytes are pairs of digits"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refused(wrong[i].text, strlen(wrong[i].text), wrong[i].says);
    static const char zero[] = "3 0 chat a\0b";
    refused(zero, sizeof zero - 1, "in.txt:1:11: a text has no zero bytes");
}

TEST(an_order_has_at_most_240_bytes)
{
    char text[600];
    size_t length = (size_t)sprintf(text, "1 0 chat %0240d", 7);
    assert_int_equal(parse(text, length), FOLIOT_STATUS_OK);
    foliot__order_script_free(&script);
    length = (size_t)sprintf(text, "1 0 chat %0241d", 7);
    refused(text, length, "in.txt:1:10: an order has at most 240 bytes");
    length = (size_t)sprintf(text, "1 0 bytes %0480d", 7);
    assert_int_equal(parse(text, length), FOLIOT_STATUS_OK);
    foliot__order_script_free(&script);
    length = (size_t)sprintf(text, "1 0 bytes %0482d", 7);
    refused(text, length, "in.txt:1:11: an order has at most 240 bytes");
}
