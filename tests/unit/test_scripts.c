// SPDX-License-Identifier: MIT
// test_scripts.c: files of lines: commands, inputs and orders.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command_json.h"
#include "recording/session_log.h"
#include "simulation/input_script.h"

// -- command script: files of lines: commands, inputs and orders.

// -- command script: lines of JSON become ordered commands; every kind of wrong line is refused
// with its place.

static foliot__command_script script;
static foliot_command_list list;
static char message[256];

static int free_all(void **state)
{
    (void)state;
    foliot__command_script_free(&script);
    foliot_command_list_destroy(&list);
    return 0;
}

static foliot_status parse(const char *text)
{
    message[0] = 0;
    return foliot__command_script_parse(text, strlen(text), "c.jsonl", &script, message,
                                        sizeof message);
}

static uint32_t at(uint64_t tick)
{
    assert_int_equal(foliot__command_script_at(&script, tick, &list), FOLIOT_STATUS_OK);
    return list.count;
}

TEST_BETWEEN(lines_become_commands_in_order, NULL, free_all)
{
    assert_int_equal(
        parse("# two commands of one tick\n"
              "{\"tick\": 3, \"command\": \"var\", \"key\": \"a\", \"text\": \"x\"}\r\n"
              "\n"
              "  # and one of another source\n"
              "{\"command\": \"end\", \"tick\": 3, \"sequence\": 99}\n"
              "{\"tick\": 9, \"source\": \"admin\", \"command\": \"despawn\", "
              "\"body\": [4, 0]}"),
        FOLIOT_STATUS_OK);
    check_eq(script.count, 3);
    check_eq(at(2), 0);
    check_eq(at(9), 1);
    check_eq(list.commands[0].sequence, 3);
    check_eq(list.commands[0].source, FOLIOT_COMMAND_SOURCE_ADMIN);
    check_eq(at(3), 2);
    assert_string_equal(list.commands[0].as.var.text, "x");
    check_eq(list.commands[0].sequence, 1);
    check_eq(list.commands[0].source, FOLIOT_COMMAND_SOURCE_HOST);
    check_eq(list.commands[1].kind, FOLIOT_COMMAND_end);
    check_eq(list.commands[1].sequence, 2);
    check_eq(at(10), 0);
}

TEST_BETWEEN(an_empty_text_has_no_commands, NULL, free_all)
{
    assert_int_equal(parse("\n \t\r\n#"), FOLIOT_STATUS_OK);
    check_eq(at(0), 0);
}

TEST_BETWEEN(wrong_lines_are_named, NULL, free_all)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"command\": \"end\"}", "c.jsonl:1:1: 'tick' is missing"},
        {"\n{\"tick\": -1, \"command\": \"end\"}",
         "c.jsonl:2:10: 'tick' must be a whole number from 0 to 18446744073709551615"},
        {"{\"tick\": 5, \"command\": \"end\"}\n{\"tick\": 4, \"command\": \"end\"}",
         "c.jsonl:2:1: ticks must not decrease"},
        {"{\"tick\": 5, \"command\": \"end\"} {}", "c.jsonl:1:31: nothing more may follow"},
        {"{\"tick\": 5, \"source\": \"rule\", \"command\": \"end\"}",
         "c.jsonl:1:23: a source is host, admin or rules"},
        {"{\"tick\": 5, \"tick\": 5, \"command\": \"end\"}", "c.jsonl:1:13: 'tick' is given twice"},
        {"{\"tick\": 5, \"command\": \"end\", \"resaon\": \"\"}",
         "c.jsonl:1:31: 'end' has no field 'resaon'"},
        {"tick 5 end", "c.jsonl:1:1: this is not an object"},
        {"{\"tick\": 5,\n\"command\": \"end\"}", "c.jsonl:1:12: this is not text in quotes"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(cases[i].text), FOLIOT_STATUS_INVALID);
        assert_string_equal(message, cases[i].message);
        assert_null(script.commands);
    }
}

// Commands exported from a recording read back as the same commands.
TEST_BETWEEN(exported_lines_are_read, NULL, free_all)
{
    char text[300];
    foliot_command command = foliot_command_default(FOLIOT_COMMAND_gravity);
    command.fields = FOLIOT_COMMAND_HAS(gravity, acceleration);
    command.as.gravity.acceleration[2] = -9.81f;
    command.sequence = 7;
    command.source = FOLIOT_COMMAND_SOURCE_RULES;
    size_t length = foliot__command_line_print(&command, 12, text, sizeof text);
    assert_string_equal(text, "{\"tick\": 12, \"sequence\": 7, \"source\": \"rules\", \"command\": "
                              "\"gravity\", \"acceleration\": [0, 0, -9.81]}");
    check_eq(length, strlen(text));
    assert_int_equal(parse(text), FOLIOT_STATUS_OK);
    check_eq(at(12), 1);
    check_eq(list.commands[0].source, FOLIOT_COMMAND_SOURCE_RULES);
    check_bits(list.commands[0].as.gravity.acceleration[2], -9.81f);
}

TEST_BETWEEN(a_tick_has_an_end, NULL, free_all)
{
    static const char line[] = "{\"tick\":0,\"command\":\"end\"}\n";
    const size_t length = sizeof line - 1;
    char *text = malloc(length * (FOLIOT_COMMANDS_MAX + 1));
    for (size_t i = 0; i <= FOLIOT_COMMANDS_MAX; i++)
        memcpy(text + i * length, line, length);
    check_eq(foliot__command_script_parse(text, length * FOLIOT_COMMANDS_MAX, "c.jsonl", &script,
                                          message, sizeof message),
             FOLIOT_STATUS_OK);
    check_eq(at(0), FOLIOT_COMMANDS_MAX);
    foliot__command_script_free(&script);
    check_eq(foliot__command_script_parse(text, length * (FOLIOT_COMMANDS_MAX + 1), "c.jsonl",
                                          &script, message, sizeof message),
             FOLIOT_STATUS_INVALID);
    assert_string_equal(message, "c.jsonl:65537:1: a tick has at most 65536 commands");
    free(text);
}

TEST_BETWEEN(files_are_read_whole, NULL, free_all)
{
    char file[] = "/tmp/foliot-script-XXXXXX";
    int out = mkstemp(file);
    check_ge(out, 0);
    for (int i = 0; i < 4000; i++) // beyond one buffer
        check_gt(dprintf(out, "{\"tick\": %d, \"command\": \"end\"}\n", i), 0);
    close(out);
    check_eq(foliot__command_script_read(file, &script, message, sizeof message), FOLIOT_STATUS_OK);
    check_eq(script.count, 4000);
    check_eq(at(3999), 1);
    unlink(file);
    check_eq(foliot__command_script_read("no/such.jsonl", &script, message, sizeof message),
             FOLIOT_STATUS_IO);
    assert_string_equal(message, "no/such.jsonl: No such file or directory");
}

// -- input script: lines of inputs become ordered inputs; every kind of wrong line is refused
// with its place.

static foliot__input_script input_lines;

static foliot_status parse_inputs(const char *text)
{
    message[0] = 0;
    return foliot__input_script_parse(text, strlen(text), "in.txt", &input_lines, message,
                                      sizeof message);
}

TEST(lines_become_inputs_in_order)
{
    assert_int_equal(parse_inputs("# two players\n"
                                  "0 1 join   # the second\n"
                                  "0 0 join\r\n"
                                  "\n"
                                  "  7 1 control -127 0 127 64 0xfF\n"
                                  "7\t0 control 1 2 3 4\n"
                                  "7 1 control 0 0 0 0 3\n"
                                  "9 1 leave"),
                     FOLIOT_STATUS_OK);
    const foliot_input *at;
    assert_int_equal(input_lines.count, 6);
    assert_int_equal(foliot__input_script_at(&input_lines, 0, &at), 2);
    assert_int_equal(at[0].player, 0);
    assert_int_equal(at[1].player, 1);
    assert_int_equal(at[1].kind, FOLIOT_INPUT_JOIN);
    assert_int_equal(foliot__input_script_at(&input_lines, 7, &at), 3);
    assert_int_equal(at[0].player, 0);
    assert_int_equal(at[0].axes[3], 4);
    assert_int_equal(at[1].axes[0], -127);
    assert_int_equal(at[1].axes[2], 127);
    assert_int_equal(at[1].buttons, 255);
    assert_int_equal(at[1].sequence, 2);
    assert_int_equal(at[2].buttons, 3);
    assert_int_equal(at[2].sequence, 3);
    assert_int_equal(foliot__input_script_at(&input_lines, 8, &at), 0);
    assert_int_equal(foliot__input_script_at(&input_lines, 10, &at), 0);
    assert_int_equal(foliot__input_script_at(&input_lines, 9, &at), 1);
    assert_int_equal(at[0].kind, FOLIOT_INPUT_LEAVE);
    foliot__input_script_free(&input_lines);
}

TEST(an_empty_text_has_no_inputs)
{
    const foliot_input *at;
    assert_int_equal(parse_inputs(""), FOLIOT_STATUS_OK);
    assert_int_equal(foliot__input_script_at(&input_lines, 0, &at), 0);
    foliot__input_script_free(&input_lines);
}

TEST(wrong_inputs_are_named)
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
        assert_int_equal(parse_inputs(cases[i].text), FOLIOT_STATUS_INVALID);
        assert_string_equal(message, cases[i].message);
    }
}

TEST(a_missing_file_is_said_so)
{
    foliot_status status =
        foliot__input_script_read("no/such.txt", &input_lines, message, sizeof message);
    assert_int_equal(status, FOLIOT_STATUS_IO);
    assert_string_equal(message, "no/such.txt: No such file or directory");
}

// -- order script: lines of orders become ordered orders; every kind of wrong line is refused
// with its place.

static foliot__order_script order_lines;

static foliot_status parse_orders(const char *text, size_t length)
{
    message[0] = 0;
    return foliot__order_script_parse(text, length, "in.txt", 3, &order_lines, message,
                                      sizeof message);
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
    assert_int_equal(parse_orders(text, strlen(text)), FOLIOT_STATUS_OK);
    const foliot_order *at;
    uint32_t count;
    assert_int_equal(foliot__order_script_at(&order_lines, 5, &at, &count), FOLIOT_STATUS_OK);
    assert_int_equal(count, 2);
    assert_true(foliot__orders_recordable(at, count, 0));
    assert_int_equal(at[0].player, 1);
    assert_int_equal(at[0].kind, FOLIOT_ORDER_CHAT);
    assert_int_equal(at[0].length, 14);
    assert_memory_equal(at[0].bytes, "hello,  you #1", 14);
    assert_int_equal(at[1].kind, FOLIOT_ORDER_JOINED);
    assert_memory_equal(at[1].bytes, "eve", 3);
    assert_int_equal(foliot__order_script_at(&order_lines, 6, &at, &count), FOLIOT_STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(foliot__order_script_at(&order_lines, 7, &at, &count), FOLIOT_STATUS_OK);
    assert_int_equal(count, 3);
    assert_true(foliot__orders_recordable(at, count, 0));
    assert_int_equal(at[0].player, 0);
    assert_int_equal(at[1].sequence, 2);
    assert_int_equal(at[1].length, 3);
    assert_memory_equal(at[1].bytes, "\0\xff\x7a", 3);
    assert_int_equal(at[2].length, 0);
    assert_int_equal(foliot__order_script_at(&order_lines, 90, &at, &count), FOLIOT_STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(at[0].sequence, 4);
    foliot__order_script_free(&order_lines);
}

// There is no buffer of bytes then, and a pointer into it would be undefined.
TEST(orders_without_a_byte_are_orders)
{
    static const char text[] = "4 1 left\n4 2 left";
    assert_int_equal(parse_orders(text, strlen(text)), FOLIOT_STATUS_OK);
    const foliot_order *at;
    uint32_t count;
    assert_int_equal(foliot__order_script_at(&order_lines, 4, &at, &count), FOLIOT_STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(at[1].length, 0);
    foliot__order_script_free(&order_lines);
}

static void refused(const char *text, size_t length, const char *says)
{
    assert_int_equal(parse_orders(text, length), FOLIOT_STATUS_INVALID);
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
    assert_int_equal(parse_orders(text, length), FOLIOT_STATUS_OK);
    foliot__order_script_free(&order_lines);
    length = (size_t)sprintf(text, "1 0 chat %0241d", 7);
    refused(text, length, "in.txt:1:10: an order has at most 240 bytes");
    length = (size_t)sprintf(text, "1 0 bytes %0480d", 7);
    assert_int_equal(parse_orders(text, length), FOLIOT_STATUS_OK);
    foliot__order_script_free(&order_lines);
    length = (size_t)sprintf(text, "1 0 bytes %0482d", 7);
    refused(text, length, "in.txt:1:11: an order has at most 240 bytes");
}
