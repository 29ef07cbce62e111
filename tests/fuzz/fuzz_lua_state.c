// SPDX-License-Identifier: MIT
// fuzz_lua_state.c: any bytes as the saved state of rules in Lua. They are refused and change
// nothing, or the rules go on with them: what is saved next is the same however often it is
// restored.
#include <string.h>

#include "base/assert.h"
#include "foliot/foliot.h"
#include "foliot/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STATE_FUZZ_BYTES (FOLIOT_RULES_STATE_BYTES_MAX + FOLIOT_COMMAND_TICK_BYTES_MAX + 1024)

static size_t state_fuzz_save(foliot_rules *rules, uint8_t *bytes)
{
    size_t length = 0;
    if (foliot_rules_save(rules, bytes, STATE_FUZZ_BYTES, &length) != FOLIOT_STATUS_OK)
        FOLIOT_ASSERT(foliot_rules_save(rules, bytes, STATE_FUZZ_BYTES, &length) ==
                      FOLIOT_STATUS_OK);
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char script[] = "state = {1, 'two', {three = 3.5}}";
    static const double start[1][3];
    static uint8_t bytes[3][STATE_FUZZ_BYTES];
    const foliot_lua_limits limits = {20000, 60000, 4u << 20, 0};
    char problem[256];
    foliot_rules *rules;
    foliot_scene scene = foliot_scene_default();
    scene.commands_max = 16;
    scene.players.limit = 4;
    scene.players.positions = start;
    scene.players.position_count = 1;
    foliot_status status = foliot_rules_create_lua(script, sizeof script - 1, "fuzz.lua", &limits,
                                                   &scene, &rules, problem, sizeof problem);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    size_t before = state_fuzz_save(rules, bytes[0]);
    status = foliot_rules_restore(rules, data, size);
    size_t after = state_fuzz_save(rules, bytes[1]);
    if (status == FOLIOT_STATUS_OK) {
        FOLIOT_ASSERT(foliot_rules_restore(rules, bytes[1], after) == FOLIOT_STATUS_OK);
        size_t again = state_fuzz_save(rules, bytes[2]);
        FOLIOT_ASSERT(again == after && memcmp(bytes[1], bytes[2], after) == 0);
    } else {
        FOLIOT_ASSERT(status == FOLIOT_STATUS_TRUNCATED || status == FOLIOT_STATUS_CORRUPT);
        FOLIOT_ASSERT(after == before && memcmp(bytes[0], bytes[1], after) == 0);
    }
    foliot_rules_destroy(rules);
    return 0;
}
