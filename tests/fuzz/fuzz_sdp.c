// SPDX-License-Identifier: MIT
// fuzz_sdp.c: any bytes as a page's offer: a text that is read has what a channel needs, and the
// answer to it has every line once.
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "rtc/ice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t print[FOLIOT__SDP_FINGERPRINT_BYTES];
    foliot__sdp_offer offer;
    const char *problem = NULL;
    char text[FOLIOT__SDP_ANSWER_BYTES];
    if (!foliot__sdp_read((const char *)data, size, &offer, &problem)) {
        FOLIOT_ASSERT(problem && *problem);
        return 0;
    }
    FOLIOT_ASSERT(size <= FOLIOT__SDP_BYTES_MAX && offer.sctp_port > 0);
    FOLIOT_ASSERT(strlen(offer.ufrag) >= 4 && strlen(offer.ufrag) <= FOLIOT__SDP_UFRAG_MAX);
    FOLIOT_ASSERT(strlen(offer.mid) >= 1 && strlen(offer.mid) <= FOLIOT__SDP_MID_MAX);
    foliot__sdp_answer answer = {.ufrag = "abcdefghijkl",
                                 .password = "abcdefghijklmnopqrstuvwx",
                                 .mid = offer.mid,
                                 .fingerprint = print,
                                 .sctp_port = 5000,
                                 .port = 65535,
                                 .message_bytes_max = 16384};
    for (int i = 0; i < FOLIOT__SDP_CANDIDATES_MAX; i++)
        memcpy(answer.candidates[i], "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", 46);
    size_t length = foliot__sdp_write(&answer, text);
    FOLIOT_ASSERT(length < sizeof text && strlen(text) == length);
    FOLIOT_ASSERT(strstr(text, "a=end-of-candidates\r\n") == text + length - 21);
    return 0;
}
