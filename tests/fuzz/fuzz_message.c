// SPDX-License-Identifier: MIT
// fuzz_message.c: any bytes as a control message, an input packet and a status. What decodes encodes to
// something that decodes to the same.
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "wire/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_control(const uint8_t *data, size_t size)
{
    static foliot__message message, again;
    static uint8_t first[FOLIOT__CONTROL_BYTES_MAX], second[FOLIOT__CONTROL_BYTES_MAX];
    size_t first_length = 0, second_length = 0;
    if (foliot__message_decode(data, size, &message) != FOLIOT_OK)
        return;
    FOLIOT_ASSERT(foliot__message_encode(&message, first, sizeof first, &first_length) == FOLIOT_OK);
    FOLIOT_ASSERT(foliot__message_decode(first, first_length, &again) == FOLIOT_OK);
    FOLIOT_ASSERT(foliot__message_encode(&again, second, sizeof second, &second_length) == FOLIOT_OK);
    FOLIOT_ASSERT(first_length == second_length && memcmp(first, second, first_length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[FOLIOT_SNAPSHOT_PIECE_BYTES];
    static foliot__input_packet input;
    foliot__status_packet status;
    fuzz_control(data, size);
    if (foliot__input_packet_decode(data, size, &input) == FOLIOT_OK) {
        FOLIOT_ASSERT(foliot__input_packet_encode(&input, bytes) == size);
        FOLIOT_ASSERT(memcmp(bytes, data, size) == 0);
    }
    if (foliot__status_packet_decode(data, size, &status) == FOLIOT_OK) {
        foliot__status_packet_encode(&status, bytes);
        FOLIOT_ASSERT(memcmp(bytes, data, size) == 0);
    }
    return 0;
}
