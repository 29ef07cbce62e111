// SPDX-License-Identifier: MIT
// fuzz_message.c: any bytes as a control message and as every packet, those of lockstep with their
// blocks. What decodes encodes to something that decodes to the same.
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "wire/lockstep_message.h"
#include "wire/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_control(const uint8_t *data, size_t size)
{
    static foliot__message message, again;
    static uint8_t first[FOLIOT__CONTROL_BYTES_MAX], second[FOLIOT__CONTROL_BYTES_MAX];
    size_t first_length = 0, second_length = 0;
    if (foliot__message_decode(data, size, &message) != FOLIOT_STATUS_OK)
        return;
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
    if (foliot__input_packet_decode(data, size, &input) == FOLIOT_STATUS_OK) {
        FOLIOT_ASSERT(foliot__input_packet_encode(&input, bytes) == size);
        FOLIOT_ASSERT(memcmp(bytes, data, size) == 0);
    }
    if (foliot__status_packet_decode(data, size, &status) == FOLIOT_STATUS_OK) {
        foliot__status_packet_encode(&status, bytes);
        FOLIOT_ASSERT(memcmp(bytes, data, size) == 0);
    }
    return 0;
}
