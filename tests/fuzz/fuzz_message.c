// SPDX-License-Identifier: MIT
// fuzz_message.c: any bytes as a control message and as every packet, those of lockstep with their
// blocks. A message that decodes encodes to something that decodes to the same.
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "wire/lockstep_message.h"
#include "wire/message.h"
#include "wire/session_state.h"
#include "wire/tick_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Parts of a written state, read into another.
static void take_again(void *user, const uint8_t *bytes, size_t length)
{
    FOLIOT_ASSERT(foliot__session_state_apply(user, 1, bytes, length, NULL, NULL) ==
                  FOLIOT_STATUS_OK);
}

// The content of a state after any records is written as records that give the same state.
static void fuzz_update(const uint8_t *bytes, size_t length)
{
    static foliot__update_writer w;
    foliot__session_state state, copy;
    foliot__session_state_init(&state, 1000);
    foliot__session_state_init(&copy, 1000);
    foliot_status status = foliot__session_state_apply(&state, 1, bytes, length, NULL, NULL);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_TRUNCATED ||
                  status == FOLIOT_STATUS_CORRUPT || status == FOLIOT_STATUS_MEMORY);
    foliot__update_begin(&w, 1000, take_again, &copy);
    foliot__update_state(&w, &state);
    foliot__update_finish(&w, false);
    FOLIOT_ASSERT(copy.var_count == state.var_count && copy.ended == state.ended);
    for (uint32_t i = 0; i < state.var_count; i++)
        FOLIOT_ASSERT(strcmp(copy.vars[i].key, state.vars[i].key) == 0 &&
                      strcmp(copy.vars[i].text, state.vars[i].text) == 0 &&
                      copy.vars[i].integer == state.vars[i].integer);
    for (uint32_t slot = 0; slot < 1000; slot++)
        FOLIOT_ASSERT(foliot__session_state_tag(&copy, slot) ==
                          foliot__session_state_tag(&state, slot) &&
                      foliot__session_state_prototype(&copy, slot) ==
                          foliot__session_state_prototype(&state, slot));
    FOLIOT_ASSERT(copy.joint_end == state.joint_end);
    for (uint32_t i = 0; i < state.joint_end; i++) {
        const foliot__known_joint *a = foliot__session_state_joint(&state, i),
                                  *b = foliot__session_state_joint(&copy, i);
        FOLIOT_ASSERT(a ? b && memcmp(a, b, sizeof *a) == 0 : !b);
    }
    foliot__session_state_free(&state);
    foliot__session_state_free(&copy);
}

static void fuzz_commands(const foliot__commands_part *part)
{
    foliot__command_log log;
    foliot_command_list list = {0};
    foliot__command_log_init(&log, 16, 1 << 20);
    if (foliot__command_log_receive(&log, part)) {
        const foliot__tick_commands *c = foliot__command_log_find(&log, part->tick);
        FOLIOT_ASSERT(c && c->have == part->length);
        foliot_status status = foliot__tick_commands_read(c, &list);
        FOLIOT_ASSERT(list.count == 0 || list.commands != NULL || status != FOLIOT_STATUS_OK);
    }
    foliot_command_list_destroy(&list);
    foliot__command_log_free(&log);
}

static void fuzz_runs(const uint8_t *bytes, size_t length)
{
    foliot__command_log log;
    foliot__command_log_init(&log, 4096, 1 << 20);
    bool fine = foliot__command_runs_read(&log, 1000, 1600, bytes, length);
    FOLIOT_ASSERT(!foliot__command_log_find(&log, 999) && !foliot__command_log_find(&log, 1600));
    (void)fine; // the ticks before a wrong pair are marked
    foliot__command_log_free(&log);
}

static void fuzz_control(const uint8_t *data, size_t size)
{
    static foliot__message message, again;
    static uint8_t first[FOLIOT__CONTROL_BYTES_MAX], second[FOLIOT__CONTROL_BYTES_MAX];
    size_t first_length = 0, second_length = 0;
    if (foliot__message_decode(data, size, &message) != FOLIOT_STATUS_OK)
        return;
    if (message.kind == FOLIOT__UPDATE)
        fuzz_update(message.as.update.bytes, message.as.update.length);
    if (message.kind == FOLIOT__COMMANDS)
        fuzz_commands(&message.as.commands);
    if (message.kind == FOLIOT__TICKS_PART)
        fuzz_runs(message.as.ticks_part.commands, message.as.ticks_part.commands_length);
    FOLIOT_ASSERT(foliot__message_encode(&message, first, sizeof first, &first_length) ==
                  FOLIOT_STATUS_OK);
    FOLIOT_ASSERT(foliot__message_decode(first, first_length, &again) == FOLIOT_STATUS_OK);
    FOLIOT_ASSERT(foliot__message_encode(&again, second, sizeof second, &second_length) ==
                  FOLIOT_STATUS_OK);
    FOLIOT_ASSERT(first_length == second_length && memcmp(first, second, first_length) == 0);
}

// A block that is read is written and read again as the same inputs.
static void fuzz_block(const uint8_t *data, size_t size, uint32_t ticks)
{
    static foliot__block first, second;
    static uint8_t bytes[64 << 10];
    if (foliot__block_decode(data, size, ticks, &first) != FOLIOT_STATUS_OK)
        return;
    size_t length = foliot__block_encode(&first, bytes, sizeof bytes);
    FOLIOT_ASSERT(length != SIZE_MAX);
    FOLIOT_ASSERT(foliot__block_decode(bytes, length, ticks, &second) == FOLIOT_STATUS_OK);
    FOLIOT_ASSERT(first.count == second.count);
    FOLIOT_ASSERT(memcmp(first.ages, second.ages, first.count * sizeof first.ages[0]) == 0);
    for (uint32_t i = 0; i < first.count; i++)
        FOLIOT_ASSERT(memcmp(first.inputs[i].axes, second.inputs[i].axes, FOLIOT_AXIS_COUNT) == 0 &&
                      first.inputs[i].player == second.inputs[i].player &&
                      first.inputs[i].kind == second.inputs[i].kind &&
                      first.inputs[i].buttons == second.inputs[i].buttons);
}

static void fuzz_lockstep(const uint8_t *data, size_t size)
{
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    foliot__lockstep_input input;
    foliot__lockstep_status status;
    foliot__relay relay;
    foliot__early early;
    if (size > FOLIOT_PACKET_BYTES_MAX)
        return;
    if (foliot__lockstep_input_decode(data, size, &input) == FOLIOT_STATUS_OK) {
        FOLIOT_ASSERT(foliot__lockstep_input_encode(&input, bytes) == size &&
                      memcmp(bytes, data, size) == 0);
        fuzz_block(input.block, input.block_length, input.ticks);
    }
    if (foliot__relay_decode(data, size, &relay) == FOLIOT_STATUS_OK) {
        FOLIOT_ASSERT(foliot__relay_encode(&relay, bytes) == size &&
                      memcmp(bytes, data, size) == 0);
        fuzz_block(relay.block, relay.block_length, relay.ticks);
    }
    if (foliot__early_decode(data, size, &early) == FOLIOT_STATUS_OK) {
        FOLIOT_ASSERT(foliot__early_encode(&early, bytes) == size &&
                      memcmp(bytes, data, size) == 0);
        fuzz_block(early.block, early.block_length, early.ticks);
    }
    if (foliot__lockstep_status_decode(data, size, &status) == FOLIOT_STATUS_OK)
        FOLIOT_ASSERT(foliot__lockstep_status_encode(&status, bytes) == size &&
                      memcmp(bytes, data, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[FOLIOT_SNAPSHOT_PIECE_BYTES];
    static foliot__input_packet input;
    foliot__status_packet status;
    fuzz_control(data, size);
    fuzz_lockstep(data, size);
    if (foliot__input_packet_decode(data, size, 0, &input) == FOLIOT_STATUS_OK) {
        FOLIOT_ASSERT(foliot__input_packet_encode(&input, bytes) == size);
        FOLIOT_ASSERT(memcmp(bytes, data, size) == 0);
    }
    if (foliot__status_packet_decode(data, size, &status) == FOLIOT_STATUS_OK) {
        foliot__status_packet_encode(&status, bytes);
        FOLIOT_ASSERT(memcmp(bytes, data, size) == 0);
    }
    return 0;
}
