// SPDX-License-Identifier: MIT
// fuzz_command.c: any bytes as commands: canonical bytes, JSON, or a file of commands, as the first
// byte says. A command that is read is written again to the same bytes, and reads back from JSON as
// the same command; a refusal gives a status and one clean line.
#include <string.h>

#include "base/assert.h"
#include "command/command_json.h"

#define ENCODED_MAX 1024
#define JSON_MAX 8192

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t encode(const foliot_command *command, uint8_t bytes[ENCODED_MAX])
{
    size_t length = foliot_command_encode(command, bytes, ENCODED_MAX);
    FOLIOT_ASSERT(length <= ENCODED_MAX);
    return length;
}

static void check_clean(const char *text)
{
    FOLIOT_ASSERT(text[0] != 0);
    for (; *text; text++)
        FOLIOT_ASSERT((unsigned char)*text >= 0x20 && *text != 0x7f);
}

// Through JSON and through bytes, and the same again.
static void check_command(const foliot_command *command)
{
    uint8_t bytes[ENCODED_MAX], again[ENCODED_MAX];
    char json[JSON_MAX];
    foliot_command_list list = {0};
    size_t length = encode(command, bytes), taken = 0;
    size_t printed = foliot_command_print_json(command, json, sizeof json);
    FOLIOT_ASSERT(printed < sizeof json);
    FOLIOT_ASSERT(foliot_command_list_parse_json(&list, json, printed, NULL) == FOLIOT_STATUS_OK);
    FOLIOT_ASSERT(foliot_command_list_decode(&list, bytes, length, &taken) == FOLIOT_STATUS_OK);
    FOLIOT_ASSERT(taken == length && list.encoded_bytes == 2 * length);
    for (uint32_t i = 0; i < 2; i++) {
        FOLIOT_ASSERT(encode(&list.commands[i], again) == length);
        FOLIOT_ASSERT(memcmp(bytes, again, length) == 0);
    }
    foliot_command_list_destroy(&list);
}

static void try_encoded(const uint8_t *data, size_t size)
{
    foliot_command_list list = {0};
    uint8_t bytes[ENCODED_MAX];
    foliot_status status = FOLIOT_STATUS_OK;
    for (size_t at = 0, taken; at < size; at += taken) {
        status = foliot_command_list_decode(&list, data + at, size - at, &taken);
        if (status != FOLIOT_STATUS_OK)
            break;
        const foliot_command *command = &list.commands[list.count - 1];
        FOLIOT_ASSERT(encode(command, bytes) == taken && memcmp(bytes, data + at, taken) == 0);
        check_command(command);
    }
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_TRUNCATED ||
                  status == FOLIOT_STATUS_CORRUPT || status == FOLIOT_STATUS_NEWER ||
                  status == FOLIOT_STATUS_FULL);
    foliot_command_list_destroy(&list);
}

static void try_json(const char *text, size_t size)
{
    foliot_command_list list = {0};
    foliot_error error = {.text = ""};
    foliot_status status = foliot_command_list_parse_json(&list, text, size, &error);
    if (status == FOLIOT_STATUS_OK) {
        check_command(&list.commands[0]);
    } else {
        FOLIOT_ASSERT(status == FOLIOT_STATUS_INVALID && list.count == 0);
        check_clean(error.text);
    }
    foliot_command_list_destroy(&list);
}

static void try_script(const char *text, size_t size)
{
    foliot__command_script script;
    foliot_command_list list = {0};
    char message[256];
    foliot_status status =
        foliot__command_script_parse(text, size, "fuzz", &script, message, sizeof message);
    if (status != FOLIOT_STATUS_OK) {
        FOLIOT_ASSERT(status == FOLIOT_STATUS_INVALID && strncmp(message, "fuzz:", 5) == 0);
        check_clean(message);
        return;
    }
    for (uint32_t i = 0; i < script.count; i += list.count) {
        uint64_t tick = script.commands[i].tick;
        FOLIOT_ASSERT(foliot__command_script_at(&script, tick, &list) == FOLIOT_STATUS_OK);
        FOLIOT_ASSERT(list.count > 0 && list.commands[0].sequence == i + 1);
    }
    foliot_command_list_destroy(&list);
    foliot__command_script_free(&script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == 'b')
        try_encoded(data + 1, size - 1);
    else if (data[0] == 'j')
        try_json((const char *)data + 1, size - 1);
    else
        try_script((const char *)data + 1, size - 1);
    return 0;
}
