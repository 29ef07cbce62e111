// SPDX-License-Identifier: MIT
// test_command.c: commands as tables, canonical bytes, JSON and lists. Every kind goes through
// bytes and text with random fields and comes back to the bit; everything that is not the one
// encoding of a command is refused with its status.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "command/command.h"
#include "commands.h"
#include "foliot/scene.h"

static foliot_command_list list;
static foliot_error error;

static int empty_list(void **state)
{
    (void)state;
    foliot_command_list_destroy(&list);
    return 0;
}

static foliot_status parse(const char *json)
{
    error.text[0] = 0;
    return foliot_command_list_parse_json(&list, json, strlen(json), &error);
}

TEST(tables_follow_the_lists)
{
    for (uint32_t kind = 0; kind < FOLIOT_COMMAND_KIND_COUNT; kind++) {
        const foliot_command_kind_info *info = foliot_command_kind_get_info(kind);
        uint32_t texts = 0, required = 0;
        check_eq(foliot_command_kind_find(info->name), kind);
        check_gt(info->field_count, 0);
        check_le(info->field_count, 31);
        for (uint32_t i = 0; i < info->field_count; i++) {
            texts += info->fields[i].type == FOLIOT_COMMAND_TYPE_text;
            required |= info->fields[i].required ? 1u << i : 0;
            // vectors are of real numbers: the drawing of random ones and the document rely on it
            assert_true(info->fields[i].count == 1 ||
                        info->fields[i].type == FOLIOT_COMMAND_TYPE_f32 ||
                        info->fields[i].type == FOLIOT_COMMAND_TYPE_real);
        }
        check_eq(required, info->required);
        check_le(texts, FOLIOT__COMMAND_TEXTS_MAX);
    }
    assert_null(foliot_command_kind_get_info(FOLIOT_COMMAND_KIND_COUNT));
    check_eq(foliot_command_kind_find("teleport"), FOLIOT_COMMAND_KIND_COUNT);
    const foliot_command_kind_info *spawn = foliot_command_kind_get_info(FOLIOT_COMMAND_spawn);
    assert_string_equal(spawn->fields[FOLIOT_COMMAND_BIT_spawn_velocity].name, "velocity");
    check_eq(spawn->required,
             FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position));
    check_eq(spawn->fields[1].offset, offsetof(foliot_command, as.spawn.position));
}

TEST(a_default_has_no_fields)
{
    foliot_command command = foliot_command_default(FOLIOT_COMMAND_gravity);
    check_eq(command.kind, FOLIOT_COMMAND_gravity);
    check_eq(command.fields, 0);
    check_eq(command.source, FOLIOT_COMMAND_SOURCE_HOST);
    check_eq(command.sequence, 0);
}

TEST(reasons_have_sentences)
{
    assert_string_equal(foliot_command_reason_get_text(FOLIOT_COMMAND_REASON_none), "");
    assert_string_equal(foliot_command_reason_get_text(FOLIOT_COMMAND_REASON_full),
                        "no slot is free");
    assert_string_equal(foliot_command_reason_get_text(FOLIOT_COMMAND_REASON_COUNT), "unknown");
}

static foliot_command_reason reason_of(foliot_command command)
{
    foliot_command_reason reason = FOLIOT_COMMAND_REASON_COUNT;
    bool valid = foliot_command_valid(&command, &reason);
    check_eq(valid, reason == FOLIOT_COMMAND_REASON_none);
    check_eq(foliot_command_valid(&command, NULL), reason == FOLIOT_COMMAND_REASON_none);
    return reason;
}

TEST(wrong_forms_have_reasons)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_impulse);
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_field);
    c.fields = FOLIOT_COMMAND_HAS(impulse, body);
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_none);
    c.as.impulse.body.value = 7; // a slot without a generation
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_body);
    c.as.impulse.body.value = foliot__command_id(7, 0);
    c.as.impulse.linear[2] = 1.0f / 0.0f; // not given
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_none);
    c.fields |= FOLIOT_COMMAND_HAS(impulse, linear);
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_range);
    c.as.impulse.linear[2] = -0.0f;
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_none);
    c.fields |= 1u << 4;
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_kind);
    c.kind = FOLIOT_COMMAND_KIND_COUNT;
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_kind);
    c = foliot_command_default(FOLIOT_COMMAND_break_joint);
    c.fields = FOLIOT_COMMAND_HAS(break_joint, joint);
    c.as.break_joint.joint.value = 1;
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_joint);
}

TEST(session_variables_have_a_name_and_one_value)
{
    char longest[FOLIOT_VAR_KEY_BYTES];
    memset(longest, 'x', sizeof longest);
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
    c.fields = FOLIOT_COMMAND_HAS(var, key);
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_key); // NULL
    c.as.var.key = "";
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_key);
    c.as.var.key = longest; // no zero within its bytes
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_key);
    longest[FOLIOT_VAR_KEY_BYTES - 1] = 0;
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_none);
    c.as.var.key = "\xc3("; // no UTF-8
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_key);
    c.as.var.key = "score";
    c.fields |= FOLIOT_COMMAND_HAS(var, integer);
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_none);
    c.fields |= FOLIOT_COMMAND_HAS(var, number);
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_key); // two values
    c.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, number);
    c.as.var.number = 0.0 / 0.0;
    check_eq(reason_of(c), FOLIOT_COMMAND_REASON_range);
}

TEST_BETWEEN(every_kind_comes_back_from_its_bytes, NULL, empty_list)
{
    foliot__rng rng = foliot__rng_seeded(1);
    uint8_t bytes[1024];
    for (uint32_t round = 0; round < 200 * FOLIOT_COMMAND_KIND_COUNT; round++) {
        foliot_command c = draw_command(&rng, round % FOLIOT_COMMAND_KIND_COUNT);
        size_t length = foliot_command_encode(&c, bytes, sizeof bytes), taken = 0;
        check_eq(reason_of(c), FOLIOT_COMMAND_REASON_none);
        check_eq(foliot_command_encode(&c, NULL, 0), length);
        foliot_command_list_clear(&list);
        for (size_t cut = 0; cut < length; cut++)
            check_eq(foliot_command_list_decode(&list, bytes, cut, &taken),
                     FOLIOT_STATUS_TRUNCATED);
        check_eq(foliot_command_list_decode(&list, bytes, sizeof bytes, &taken), FOLIOT_STATUS_OK);
        check_eq(taken, length);
        check_eq(list.count, 1);
        check_eq(list.encoded_bytes, length);
        list.commands[0].sequence = c.sequence;
        list.commands[0].source = c.source;
        assert_true(commands_equal(&list.commands[0], &c));
    }
}

TEST_BETWEEN(every_kind_comes_back_from_its_json, NULL, empty_list)
{
    foliot__rng rng = foliot__rng_seeded(2);
    char json[8192], shorter[100];
    for (uint32_t round = 0; round < 200 * FOLIOT_COMMAND_KIND_COUNT; round++) {
        foliot_command c = draw_command(&rng, round % FOLIOT_COMMAND_KIND_COUNT);
        c.sequence = c.source = 0;
        size_t length = foliot_command_print_json(&c, json, sizeof json);
        check_eq(strlen(json), length);
        check_eq(foliot_command_print_json(&c, shorter, sizeof shorter), length);
        check_lt(strlen(shorter), sizeof shorter);
        assert_memory_equal(json, shorter, strlen(shorter));
        foliot_command_list_clear(&list);
        if (parse(json) != FOLIOT_STATUS_OK)
            fail_msg("%s: %s", json, error.text);
        assert_true(commands_equal(&list.commands[0], &c));
    }
}

// Each byte flipped in every bit: refused, or another command whose one encoding this is.
TEST_BETWEEN(no_command_has_two_encodings, NULL, empty_list)
{
    foliot__rng rng = foliot__rng_seeded(3);
    uint8_t bytes[1024], again[1024];
    uint64_t refused = 0;
    for (uint32_t round = 0; round < 10 * FOLIOT_COMMAND_KIND_COUNT; round++) {
        foliot_command c = draw_command(&rng, round % FOLIOT_COMMAND_KIND_COUNT);
        size_t length = foliot_command_encode(&c, bytes, sizeof bytes), taken;
        for (size_t bit = 0; bit < 8 * length; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            foliot_command_list_clear(&list);
            foliot_status status = foliot_command_list_decode(&list, bytes, length, &taken);
            if (status == FOLIOT_STATUS_OK) {
                check_eq(foliot_command_encode(&list.commands[0], again, sizeof again), taken);
                assert_memory_equal(bytes, again, taken);
            } else {
                refused++;
                check_eq(list.count, 0);
                assert_true(status == FOLIOT_STATUS_TRUNCATED || status == FOLIOT_STATUS_CORRUPT ||
                            status == FOLIOT_STATUS_NEWER);
            }
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    check_gt(refused, 1000);
}

static foliot_status decode(const char *bytes, size_t length)
{
    size_t taken;
    return foliot_command_list_decode(&list, (const uint8_t *)bytes, length, &taken);
}
#define DECODE(bytes) decode(bytes, sizeof(bytes) - 1)

TEST_BETWEEN(bytes_are_as_documented, NULL, empty_list)
{
    uint8_t bytes[64];
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_set_body);
    c.fields = FOLIOT_COMMAND_HAS(set_body, body) | FOLIOT_COMMAND_HAS(set_body, friction) |
               FOLIOT_COMMAND_HAS(set_body, group) | FOLIOT_COMMAND_HAS(set_body, tag);
    c.as.set_body.body.value = foliot__command_id(300, 2);
    c.as.set_body.friction = 0.5f;
    c.as.set_body.group = -3;
    c.as.set_body.tag = 128;
    static const uint8_t wanted[] = {5, 0x83, 0x0a, 0xad, 0x02, 2, 0, 0, 0, 0x3f, 5, 0x80, 1};
    check_eq(foliot_command_encode(&c, bytes, sizeof bytes), sizeof wanted);
    assert_memory_equal(bytes, wanted, sizeof wanted);
    check_eq(DECODE("\x01\x01\x00"), FOLIOT_STATUS_OK); // no id is one byte
    check_eq(list.commands[0].as.despawn.body.value, 0);
}

TEST_BETWEEN(bytes_that_are_not_canonical_are_refused, NULL, empty_list)
{
    check_eq(DECODE("\x01\x01\x80\x00"), FOLIOT_STATUS_CORRUPT);     // a longer zero
    check_eq(DECODE("\x01\x81\x00\x01\x00"), FOLIOT_STATUS_CORRUPT); // of the fields
    check_eq(DECODE("\x01\x00"), FOLIOT_STATUS_CORRUPT);             // the body is missing
    check_eq(DECODE("\x01\x03\x01\x00"), FOLIOT_STATUS_NEWER);       // an unknown field
    check_eq(DECODE("\x0d\x00"), FOLIOT_STATUS_NEWER);               // an unknown kind
    check_eq(DECODE("\x01\x01\x82\x80\x80\x80\x10\x00"), FOLIOT_STATUS_CORRUPT); // slot 2^32 + 1
    check_eq(DECODE("\x01\x01\x80\x80\x80\x80\x10\x00"), FOLIOT_STATUS_OK);      // slot 2^32 - 1
    check_eq(DECODE("\x01\x01\x01\xff\xff\xff\xff\x0f"), FOLIOT_STATUS_CORRUPT); // generation
    check_eq(DECODE("\x01\x01\x01\xfe\xff\xff\xff\x0f"), FOLIOT_STATUS_OK);
    check_eq(DECODE("\x0a\x01\0\0\x80\x7f\0\0\0\0\0\0\0\0"), FOLIOT_STATUS_CORRUPT); // infinity
    check_eq(DECODE("\x0b\x01\x03s\0x"), FOLIOT_STATUS_CORRUPT); // a zero within a text
    check_eq(DECODE("\x0b\x01\x01\xff"), FOLIOT_STATUS_CORRUPT); // no UTF-8
    check_eq(DECODE("\x0b\x01\x40"), FOLIOT_STATUS_CORRUPT);     // a key of 64 bytes
    check_eq(DECODE("\x0b\x03\x01k\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"),
             FOLIOT_STATUS_CORRUPT); // beyond 64 bits
    check_eq(DECODE("\x0b\x03\x01k\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), FOLIOT_STATUS_OK);
    check_eq(list.commands[2].as.var.integer, INT64_MIN);
    check_eq(list.count, 3);
}

TEST(common_commands_are_small)
{
    uint8_t bytes[64];
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_impulse);
    c.fields = FOLIOT_COMMAND_HAS(impulse, body) | FOLIOT_COMMAND_HAS(impulse, linear);
    c.as.impulse.body.value = foliot__command_id(10000, 100);
    check_le(foliot_command_encode(&c, bytes, sizeof bytes), 17);
    c = foliot_command_default(FOLIOT_COMMAND_spawn);
    c.fields = FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position) |
               FOLIOT_COMMAND_HAS(spawn, ticket);
    c.as.spawn.ticket = 1000000;
    check_le(foliot_command_encode(&c, bytes, sizeof bytes), 19);
}

// The pool of texts moves many times: every command still points at its own.
TEST_BETWEEN(lists_own_their_texts, NULL, empty_list)
{
    for (uint32_t i = 0; i < 2000; i++) {
        char key[32], text[32];
        snprintf(key, sizeof key, "key-%u", i);
        snprintf(text, sizeof text, "text %u", i);
        foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
        c.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, text);
        c.as.var.key = key;
        c.as.var.text = text;
        assert_int_equal(foliot_command_list_append(&list, &c), FOLIOT_STATUS_OK);
    }
    for (uint32_t i = 0; i < 2000; i++) // its own commands, too
        assert_int_equal(foliot_command_list_append(&list, &list.commands[i]), FOLIOT_STATUS_OK);
    for (uint32_t i = 0; i < 4000; i++) {
        char key[32];
        snprintf(key, sizeof key, "key-%u", i % 2000);
        assert_string_equal(list.commands[i].as.var.key, key);
        check_eq((uint32_t)atoi(list.commands[i].as.var.text + 5), i % 2000);
    }
    foliot_command_list_clear(&list);
    check_eq(list.count, 0);
    check_eq(list.encoded_bytes, 0);
}

TEST_BETWEEN(lists_have_an_end, NULL, empty_list)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_end), bad = c;
    for (uint32_t i = 0; i < FOLIOT_COMMANDS_MAX; i++)
        assert_int_equal(foliot_command_list_append(&list, &c), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_command_list_append(&list, &c), FOLIOT_STATUS_FULL);
    assert_int_equal(DECODE("\x0c\x00"), FOLIOT_STATUS_FULL);
    check_eq(list.count, FOLIOT_COMMANDS_MAX);
    check_eq(list.encoded_bytes, 2 * FOLIOT_COMMANDS_MAX);
    bad.fields = FOLIOT_COMMAND_HAS(end, next);
    assert_int_equal(foliot_command_list_append(&list, &bad), FOLIOT_STATUS_INVALID);
}

TEST_BETWEEN(json_is_as_documented, NULL, empty_list)
{
    static const char *const texts[] = {
        "{\"command\": \"spawn\", \"prototype\": 0, \"position\": [0, 0, 5]}",
        "{\"command\": \"set_body\", \"body\": [3, 1], \"friction\": 0.1, \"group\": -2, "
        "\"motion\": \"kinematic\"}",
        "{\"command\": \"set_motion\", \"body\": [3, 0], \"position\": [-0, 1e+20, 0.25], "
        "\"teleport\": true}",
        "{\"command\": \"joint\", \"kind\": \"ball\", \"a\": [0, 0], \"b\": null, \"collides\": "
        "false}",
        "{\"command\": \"gravity\", \"acceleration\": [3.4028235e+38, 0.1, 1.4013e-45]}",
        "{\"command\": \"joint\", \"kind\": 9, \"a\": [0, 0], \"collides\": 2}",
        "{\"command\": \"var\", \"key\": \"a \\\"b\\\"\", \"integer\": -9223372036854775808}",
        "{\"command\": \"end\", \"reason\": \"\\u001b\xc3\xa9\"}",
    };
    for (uint32_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char json[300];
        if (parse(texts[i]) != FOLIOT_STATUS_OK)
            fail_msg("%s: %s", texts[i], error.text);
        foliot_command_print_json(&list.commands[i], json, sizeof json);
        assert_string_equal(json, texts[i]);
    }
    check_eq(list.commands[1].as.set_body.motion, 2);
    check_eq(list.commands[3].as.joint.kind, FOLIOT_CONSTRAINT_BALL);
    check_bits(list.commands[2].as.set_motion.position[0], -0.0f);
}

TEST_BETWEEN(json_may_be_written_in_other_ways, NULL, empty_list)
{
    check_eq(parse(" {\"position\" : [1.0,2E0,\t3],\n\"prototype\":1,\"command\":\"spawn\"} "),
             FOLIOT_STATUS_OK);
    check_eq(parse("{\"body\": {\"generation\": 5, \"slot\": 2}, \"command\": \"despawn\"}"),
             FOLIOT_STATUS_OK);
    check_eq(parse("{\"command\": \"break_joint\", \"joint\": {\"index\": 2, \"generation\": 5}}"),
             FOLIOT_STATUS_OK);
    check_eq(parse("{\"command\": \"set_body\", \"body\": [1, 0], \"motion\": 1}"),
             FOLIOT_STATUS_OK);
    check_eq(parse("{\"command\": \"\\u0065nd\", \"next\": \"\\ud83d\\ude00\\/\"}"),
             FOLIOT_STATUS_OK);
    check_bits(list.commands[0].as.spawn.position[1], 2.0f);
    check_eq(list.commands[1].as.despawn.body.value, foliot__command_id(2, 5));
    check_eq(list.commands[2].as.break_joint.joint.value, foliot__command_id(2, 5));
    check_eq(list.commands[3].as.set_body.motion, 1);
    assert_string_equal(list.commands[4].as.end.next, "\xf0\x9f\x98\x80/");
}

TEST_BETWEEN(wrong_json_is_named, NULL, empty_list)
{
    static const struct {
        const char *json, *problem;
    } cases[] = {
        {"", "byte 1: a value is missing"},
        {"[]", "byte 1: this is not an object"},
        {"{}", "byte 1: 'command' is missing"},
        {"{\"command\": \"jump\"}", "byte 13: there is no command 'jump'"},
        {"{\"command\": \"\\u001b[2J\"}", "byte 13: there is no command '[2J'"},
        {"{\"command\": \"end\"", "byte 18: a ',' or '}' is missing"},
        {"{\"command\": \"end\"} x", "byte 20: nothing more may follow"},
        {"{\"command\": \"end\",}", "byte 19: this is not text in quotes"},
        {"{\"command\": \"end\", \"command\": \"end\"}", "byte 20: 'command' is given twice"},
        {"{\"command\": \"end\", \"reason\": \"\\u0000\"}", "byte 37: a text holds no zero"},
        {"{\"command\": \"end\", \"reason\": \"\\ud800\"}",
         "byte 37: half of a surrogate pair is missing"},
        {"{\"command\": \"end\", \"reason\": \"\xff\"}", "byte 31: this is not UTF-8"},
        {"{\"command\": \"end\", \"reason\": \"a", "byte 32: the text has no end"},
        {"{\"command\": \"end\", \"tick\": 3}", "byte 20: 'end' has no field 'tick'"},
        {"{\"command\": \"despawn\"}", "byte 1: 'despawn' needs 'body'"},
        {"{\"command\": \"despawn\", \"body\": 3}", "byte 32: 'body' is [slot, generation]"},
        {"{\"command\": \"despawn\", \"body\": [3]}", "byte 32: 'body' is [slot, generation]"},
        {"{\"command\": \"despawn\", \"body\": [3, 4294967295]}",
         "byte 36: 'body' must be a whole number from 0 to 4294967294"},
        {"{\"command\": \"despawn\", \"body\": {\"slot\": 1, \"slot\": 1}}",
         "byte 32: 'body' is {\"slot\": n, \"generation\": n}"},
        {"{\"command\": \"despawn\", \"body\": [1, 0], \"body\": [1, 0]}",
         "byte 40: 'body' is given twice"},
        {"{\"command\": \"gravity\", \"acceleration\": [0, 0]}",
         "byte 40: 'acceleration' must be an array of 3 numbers"},
        {"{\"command\": \"gravity\", \"acceleration\": [0, 0, 0, 0]}",
         "byte 40: 'acceleration' must be an array of 3 numbers"},
        {"{\"command\": \"gravity\", \"acceleration\": [0, 0, 1e39]}",
         "byte 47: 'acceleration' is too large for binary32"},
        {"{\"command\": \"gravity\", \"acceleration\": [0, 0, 01]}",
         "byte 47: this is not a number"},
        {"{\"command\": \"gravity\", \"acceleration\": [0, 0, 1e999]}",
         "byte 47: 'acceleration' must be finite"},
        {"{\"command\": \"control\", \"player\": -1}",
         "byte 34: 'player' must be a whole number from 0 to 4294967295"},
        {"{\"command\": \"control\", \"player\": 1.0}",
         "byte 34: 'player' must be a whole number from 0 to 4294967295"},
        {"{\"command\": \"control\", \"player\": true}",
         "byte 34: 'player' must be a whole number"},
        {"{\"command\": \"set_body\", \"body\": [1, 0], \"motion\": \"soft\"}",
         "byte 51: 'motion' has no such word"},
        {"{\"command\": \"var\", \"key\": \"\"}", "byte 1: the key or text is not valid"},
        {"{\"command\": \"var\", \"key\": \"k\", \"integer\": 9223372036854775808}",
         "byte 43: 'integer' must be a whole number from -9223372036854775808 to "
         "9223372036854775807"},
        {"{\"command\": \"var\", \"key\": "
         "\"0123456789012345678901234567890123456789012345678901234567890123\"}",
         "byte 27: the text is too long"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_eq(parse(cases[i].json), FOLIOT_STATUS_INVALID);
        assert_string_equal(error.text, cases[i].problem);
    }
    check_eq(list.count, 0);
}

// A megabyte of brackets costs no stack.
TEST_BETWEEN(deep_json_is_refused, NULL, empty_list)
{
    size_t length = 1 << 20;
    char *json = malloc(length + 1);
    assert_non_null(json);
    memset(json, '[', length);
    memcpy(json, "{\"x\":", 5);
    json[length] = 0;
    check_eq(parse(json), FOLIOT_STATUS_INVALID);
    assert_string_equal(error.text, "byte 36: values are nested too deep");
    free(json);
}
