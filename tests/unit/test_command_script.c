// SPDX-License-Identifier: MIT
// test_command_script.c: lines of JSON become ordered commands; every kind of wrong line is refused
// with its place.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command_json.h"
#include "command/command_script.h"

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
