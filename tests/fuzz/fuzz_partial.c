// SPDX-License-Identifier: MIT
// fuzz_partial.c: any bytes as packets of some bodies that a client takes one after the other, and
// as acknowledgements. A client's memory is bounded by what it was sent, it shows only slots below
// the session's limit, and an acknowledgement that decodes encodes to itself.
#include <stdint.h>
#include <string.h>

#include "../../client/lib/watch/tracks.h"
#include "base/assert.h"
#include "wire/partial_snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_BODIES 300
#define FUZZ_HEAD 9 // of a packet

static const foliot_snapshot_format fuzz_format = {.position_step = 0x1p-9,
                                                   .velocity_step = 0x1p-13,
                                                   .acceleration = {0, 0, -1456},
                                                   .damping = 64881,
                                                   .rotates = true,
                                                   .spins = true,
                                                   .bodies_max = FUZZ_BODIES};

static void fuzz_acknowledgement(const uint8_t *data, size_t size)
{
    foliot__partial_acknowledge packet;
    uint8_t again[FOLIOT__PARTIAL_ACKNOWLEDGE_BYTES];
    if (foliot__partial_acknowledge_decode(data, size, &packet) != FOLIOT_STATUS_OK)
        return;
    FOLIOT_ASSERT(foliot__partial_acknowledge_encode(&packet, again) == size);
    FOLIOT_ASSERT(memcmp(again, data, size) == 0);
}

// Packets of at most 255 bytes, each behind its length; their sequences and ticks follow each
// other, so that what is fuzzed is what they hold.
static void fuzz_packets(foliot__tracks *tracks, const uint8_t *data, size_t size)
{
    uint32_t sequence = 0;
    while (size > 1) {
        uint8_t packet[FUZZ_HEAD + 255] = {FOLIOT__PARTIAL_PACKET};
        size_t length = data[0] < size - 1 ? data[0] : size - 1;
        uint64_t tick;
        sequence++;
        packet[1] = packet[5] = (uint8_t)sequence;
        packet[2] = packet[6] = (uint8_t)(sequence >> 8);
        memcpy(packet + FUZZ_HEAD, data + 1, length);
        foliot__tracks_receive(tracks, packet, FUZZ_HEAD + length, &tick);
        data += 1 + length;
        size -= 1 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    foliot__tracks *tracks;
    foliot_sample sample;
    uint64_t tick;
    fuzz_acknowledgement(data, size);
    FOLIOT_ASSERT(foliot__tracks_create(&fuzz_format, 1.0 / 60, 0, &tracks) == FOLIOT_STATUS_OK);
    foliot__tracks_receive(tracks, data, size, &tick);
    fuzz_packets(tracks, data, size);
    for (int i = 0; i < 8; i++)
        if (foliot__tracks_sample(tracks, NULL, 3.7 * i, 15, &sample) == FOLIOT_STATUS_OK)
            FOLIOT_ASSERT(sample.count <= FUZZ_BODIES);
    foliot__tracks_destroy(tracks);
    return 0;
}
