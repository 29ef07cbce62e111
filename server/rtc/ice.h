// SPDX-License-Identifier: MIT
// ice.h: ICE-lite (RFC 8445): session descriptions, which say what a page offers and where the
// server is, and STUN messages, which check the way between them. Pure functions of untrusted
// bytes.
#ifndef FOLIOT_SERVER_RTC_ICE_H
#define FOLIOT_SERVER_RTC_ICE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// -- the one form of session description that a page offers, and the answer to it (RFC 8866, 8839,
// 8841): one data channel section, and nothing else

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

// -- STUN messages (RFC 8489): reads any, authenticates by a key, and writes the success of a
// binding

#define FOLIOT__STUN_BYTES_MAX 1024  // of a message; longer ones are refused
#define FOLIOT__STUN_ANSWER_BYTES 76 // with an IPv6 address
#define FOLIOT__STUN_USERNAME_MAX 513
#define FOLIOT__STUN_REQUEST_BYTES 620 // of a request with the longest user name
#define FOLIOT__STUN_BINDING_REQUEST 0x0001
#define FOLIOT__STUN_BINDING_SUCCESS 0x0101

// The protocol of a datagram, by its first byte (RFC 7983).
typedef enum foliot__rtc_protocol {
    FOLIOT__RTC_OTHER,
    FOLIOT__RTC_STUN,
    FOLIOT__RTC_DTLS
} foliot__rtc_protocol;
foliot__rtc_protocol foliot__rtc_protocol_of(const uint8_t *bytes, size_t length);

typedef struct foliot__stun_message {
    uint16_t type;
    uint8_t transaction[12];
    const uint8_t *username; // NULL: it has none
    size_t username_bytes;
    size_t integrity_at; // where the attribute begins; 0: there is none
    bool has_fingerprint, use_candidate;
    bool unknown; // it has an attribute that must be understood and is not
} foliot__stun_message;

// Parses a message, whose pointers point into `bytes`. False: no STUN message, or a damaged one:
// lengths that do not fit, attributes after those that close a message, a wrong fingerprint.
bool foliot__stun_read(const uint8_t *bytes, size_t length, foliot__stun_message *message);
// Whether the MESSAGE-INTEGRITY of a message parsed from `bytes` matches the key.
bool foliot__stun_authentic(const uint8_t *bytes, const foliot__stun_message *message,
                            const void *key, size_t key_bytes);
// Closes a message of `length` bytes with MESSAGE-INTEGRITY and FINGERPRINT, which add 32 bytes.
// Returns its length; 0: OpenSSL fails.
size_t foliot__stun_close(uint8_t *bytes, size_t length, const void *key, size_t key_bytes);
// Writes the success of a binding request that came from `address`: returns its length.
size_t foliot__stun_answer(const foliot__stun_message *request, const struct sockaddr *address,
                           const void *key, size_t key_bytes,
                           uint8_t answer[FOLIOT__STUN_ANSWER_BYTES]);
// Writes a connectivity check of the controlled side (RFC 8445, section 7): returns its length.
size_t foliot__stun_request(const uint8_t transaction[12], const char *username, const void *key,
                            size_t key_bytes, uint8_t request[FOLIOT__STUN_REQUEST_BYTES]);

#endif
