// SPDX-License-Identifier: MIT
// sdp.h: the one form of session description that a page offers, and the answer to it (RFC 8866,
// 8839, 8841): one data channel section, and nothing else. Reads untrusted text.
#ifndef FOLIOT_SERVER_RTC_SDP_H
#define FOLIOT_SERVER_RTC_SDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLIOT__SDP_BYTES_MAX 8192 // of an offer
#define FOLIOT__SDP_LINES_MAX 200
#define FOLIOT__SDP_UFRAG_MAX 256
#define FOLIOT__SDP_PASSWORD_MAX 256
#define FOLIOT__SDP_MID_MAX 16
#define FOLIOT__SDP_FINGERPRINT_BYTES 32 // SHA-256
#define FOLIOT__SDP_CANDIDATES_MAX 4
#define FOLIOT__SDP_ANSWER_BYTES 1600

typedef struct foliot__sdp_offer {
    char ufrag[FOLIOT__SDP_UFRAG_MAX + 1], password[FOLIOT__SDP_PASSWORD_MAX + 1];
    char mid[FOLIOT__SDP_MID_MAX + 1];
    uint8_t fingerprint[FOLIOT__SDP_FINGERPRINT_BYTES];
    uint16_t sctp_port;
    bool waits; // the answering side may begin with DTLS
} foliot__sdp_offer;

typedef struct foliot__sdp_answer {
    const char *ufrag, *password, *mid;
    const uint8_t *fingerprint;
    uint16_t sctp_port, port; // port: of UDP
    uint32_t message_bytes_max;
    bool begins;                                     // with DTLS
    char candidates[FOLIOT__SDP_CANDIDATES_MAX][46]; // addresses, as text; empty ones end the list
} foliot__sdp_answer;

// False with a sentence that says what is wrong with the offer.
bool foliot__sdp_read(const char *text, size_t length, foliot__sdp_offer *offer,
                      const char **problem);
// Returns its length.
size_t foliot__sdp_write(const foliot__sdp_answer *answer, char text[FOLIOT__SDP_ANSWER_BYTES]);

#endif
