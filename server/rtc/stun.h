// SPDX-License-Identifier: MIT
// stun.h: STUN messages (RFC 8489) as ICE sends them (RFC 8445): reads any, authenticates by a
// key, and writes the success of a binding. Pure functions of bytes that anybody may have sent.
#ifndef FOLIOT_SERVER_RTC_STUN_H
#define FOLIOT_SERVER_RTC_STUN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
