// SPDX-License-Identifier: MIT
// fuzz_stun.c: any bytes as a STUN message: what is read lies inside of them, an answer is a
// message that reads and is authentic, and a message that is authentic by one key is so by no
// other.
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "rtc/ice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    foliot__stun_message message, own;
    uint8_t answer[FOLIOT__STUN_ANSWER_BYTES];
    struct sockaddr_in6 from = {.sin6_family = AF_INET6, .sin6_port = htons(1234)};
    foliot__rtc_protocol protocol = foliot__rtc_protocol_of(data, size);
    FOLIOT_ASSERT(protocol <= FOLIOT__RTC_DTLS);
    if (!foliot__stun_read(data, size, &message))
        return 0;
    FOLIOT_ASSERT(protocol == FOLIOT__RTC_STUN);
    if (message.username)
        FOLIOT_ASSERT(message.username >= data + 24 &&
                      message.username + message.username_bytes <= data + size);
    FOLIOT_ASSERT(message.integrity_at == 0 || message.integrity_at + 24 <= size);
    if (foliot__stun_authentic(data, &message, "VOkJxbRl1RmTxUk/WvJxBt", 22))
        FOLIOT_ASSERT(!foliot__stun_authentic(data, &message, "VOkJxbRl1RmTxUk/WvJxBu", 22));
    memcpy(&from.sin6_addr, message.transaction, 12);
    size_t length = foliot__stun_answer(&message, (const struct sockaddr *)&from, "key", 3, answer);
    FOLIOT_ASSERT(length > 0 && foliot__stun_read(answer, length, &own));
    FOLIOT_ASSERT(own.has_fingerprint && foliot__stun_authentic(answer, &own, "key", 3));
    return 0;
}
