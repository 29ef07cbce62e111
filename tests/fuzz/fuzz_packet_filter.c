// SPDX-License-Identifier: MIT
// fuzz_packet_filter.c: any bytes as a datagram at the packet filter, from an unknown address and
// from a peer. A connect that passes is one connect and nothing else.
#include <stdint.h>

#include "base/assert.h"
#include "net/raw_datagram.h"
#include "net/packet_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    foliot__raw_datagram datagram;
    if (foliot__raw_datagram_parse(data, size, &datagram)) {
        uint32_t last = datagram.count - 1;
        FOLIOT_ASSERT(datagram.count == 0
                          ? datagram.early && size == FOLIOT__EARLY_HEAD_BYTES
                          : datagram.packets[last] + datagram.lengths[last] == data + size);
    }
    for (int32_t expected = -1; expected < 70000; expected += 35000) {
        foliot__claims claims = {0};
        foliot__verdict verdict = foliot__packet_filter(data, size, expected, 65536, &claims);
        FOLIOT_ASSERT(verdict <= FOLIOT__FRAGMENT);
        int32_t peer = foliot__packet_filter_peer(data, size);
        FOLIOT_ASSERT(peer >= -1 && peer < 4095);
        if (verdict == FOLIOT__CONNECT)
            FOLIOT_ASSERT(peer == -1 && (size == 54 || size == 56));
        if (verdict == FOLIOT__PASS)
            FOLIOT_ASSERT(peer >= 0);
        size_t at = foliot__packet_filter_checksum_at(data, size);
        FOLIOT_ASSERT(at ? at + FOLIOT__CHECKSUM_BYTES <= size
                         : size < 8 || size > FOLIOT__PACKET_FILTER_BYTES_MAX);
        if (foliot__packet_filter_proven(data, size, 0x12345678)) // it found a sum of 32 bits
            FOLIOT_ASSERT(!foliot__packet_filter_proven(data, size, 0x12345679) || size < 8);
    }
    return 0;
}
