// SPDX-License-Identifier: MIT
// fuzz_input_script.c: any bytes as inputs, and as orders, written by hand. Either ordered ones
// that a world or a recording would take, or one clean line that names the place.
#include <string.h>

#include "base/assert.h"
#include "simulation/input_script.h"
#include "recording/session_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_order(const foliot__input_script *script)
{
    for (uint32_t i = 0; i < script->count; i++) {
        const foliot_input *input = &script->inputs[i];
        FOLIOT_ASSERT(input->player < FOLIOT_PLAYERS_MAX);
        FOLIOT_ASSERT(input->kind <= FOLIOT_INPUT_LEAVE);
        for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
            FOLIOT_ASSERT(input->axes[k] >= -127);
        if (i == 0 || script->ticks[i] != script->ticks[i - 1]) {
            FOLIOT_ASSERT(i == 0 || script->ticks[i] > script->ticks[i - 1]);
            continue;
        }
        const foliot_input *before = input - 1;
        FOLIOT_ASSERT(input->player > before->player ||
                      (input->player == before->player && input->sequence > before->sequence));
    }
}

static void check_message(foliot_status status, const char *message)
{
    FOLIOT_ASSERT(status == FOLIOT_STATUS_INVALID);
    FOLIOT_ASSERT(strncmp(message, "fuzz:", 5) == 0);
    for (const char *at = message; *at; at++)
        FOLIOT_ASSERT((unsigned char)*at >= 0x20 && *at != 0x7f);
}

static void try_orders(const char *text, size_t size)
{
    foliot__order_script script;
    char message[256];
    foliot_status status =
        foliot__order_script_parse(text, size, "fuzz", 8, &script, message, sizeof message);
    if (status != FOLIOT_STATUS_OK) {
        check_message(status, message);
        return;
    }
    uint32_t found = 0;
    for (uint32_t i = 0; i < script.count; i += found) {
        const foliot_order *orders;
        FOLIOT_ASSERT(i == 0 || script.orders[i].tick > script.orders[i - 1].tick);
        status = foliot__order_script_at(&script, script.orders[i].tick, &orders, &found);
        FOLIOT_ASSERT(status == FOLIOT_STATUS_OK && found > 0);
        FOLIOT_ASSERT(foliot__orders_recordable(orders, found, 0));
    }
    foliot__order_script_free(&script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_orders((const char *)data, size);
    foliot__input_script script;
    char message[256];
    foliot_status status = foliot__input_script_parse((const char *)data, size, "fuzz", &script,
                                                      message, sizeof message);
    if (status == FOLIOT_STATUS_OK) {
        uint64_t found = 0;
        check_order(&script);
        for (uint32_t i = 0; i < script.count; i++) {
            const foliot_input *at;
            uint32_t count = foliot__input_script_at(&script, script.ticks[i], &at);
            FOLIOT_ASSERT(at <= &script.inputs[i] && &script.inputs[i] < at + count);
            found += i == 0 || script.ticks[i] != script.ticks[i - 1] ? count : 0;
        }
        FOLIOT_ASSERT(found == script.count);
        foliot__input_script_free(&script);
        return 0;
    }
    check_message(status, message);
    return 0;
}
