// SPDX-License-Identifier: MIT
// stun.c: see stun.h. A message is a head of 20 bytes and attributes. MESSAGE-INTEGRITY covers the
// bytes before it; FINGERPRINT comes last and covers everything. Each is computed as if it were
// last.
#include "rtc/stun.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#define HEAD_BYTES 20
#define COOKIE 0x2112A442u
#define ATTRIBUTE_USERNAME 0x0006
#define ATTRIBUTE_INTEGRITY 0x0008
#define ATTRIBUTE_XOR_ADDRESS 0x0020
#define ATTRIBUTE_PRIORITY 0x0024
#define ATTRIBUTE_USE_CANDIDATE 0x0025
#define ATTRIBUTE_FINGERPRINT 0x8028
#define ATTRIBUTE_CONTROLLED 0x8029
#define ATTRIBUTE_OPTIONAL 0x8000 // from here on: may be ignored
#define INTEGRITY_BYTES 20
#define CHECK_PRIORITY 1862270975u // of a peer-reflexive candidate: of no use to a lite side
#define FINGERPRINT_XOR 0x5354554Eu

foliot__rtc_protocol foliot__rtc_protocol_of(const uint8_t *bytes, size_t length)
{
    if (length == 0)
        return FOLIOT__RTC_OTHER;
    return bytes[0] <= 3                      ? FOLIOT__RTC_STUN
           : bytes[0] >= 20 && bytes[0] <= 63 ? FOLIOT__RTC_DTLS
                                              : FOLIOT__RTC_OTHER;
}

static uint32_t get16(const uint8_t *b)
{
    return (uint32_t)b[0] << 8 | b[1];
}

static uint32_t get32(const uint8_t *b)
{
    return get16(b) << 16 | get16(b + 2);
}

static void put16(uint8_t *b, uint32_t value)
{
    b[0] = (uint8_t)(value >> 8);
    b[1] = (uint8_t)value;
}

static void put32(uint8_t *b, uint32_t value)
{
    put16(b, value >> 16);
    put16(b + 2, value);
}

// CRC-32 of ISO 3309, bit by bit: messages are short, and those of strangers are dropped by it.
static uint32_t crc32(const uint8_t *bytes, size_t length)
{
    static const uint32_t nibble[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC,
                                        0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
                                        0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    uint32_t crc = ~0u;
    for (size_t i = 0; i < length; i++) {
        crc = crc >> 4 ^ nibble[(crc ^ bytes[i]) & 15];
        crc = crc >> 4 ^ nibble[(crc ^ (uint32_t)bytes[i] >> 4) & 15];
    }
    return ~crc;
}

static bool read_attribute(foliot__stun_message *m, const uint8_t *bytes, size_t at, uint32_t type,
                           uint32_t length)
{
    const uint8_t *value = bytes + at + 4;
    if (m->has_fingerprint)
        return false; // nothing follows it
    if (type == ATTRIBUTE_FINGERPRINT) {
        m->has_fingerprint = true;
        return length == 4 && get32(value) == (crc32(bytes, at) ^ FINGERPRINT_XOR);
    }
    if (m->integrity_at)
        return true; // is not covered, and so ignored
    switch (type) {
    case ATTRIBUTE_INTEGRITY:
        m->integrity_at = at;
        return length == INTEGRITY_BYTES;
    case ATTRIBUTE_USERNAME:
        if (m->username || length > FOLIOT__STUN_USERNAME_MAX)
            return false;
        m->username = value;
        m->username_bytes = length;
        return true;
    case ATTRIBUTE_USE_CANDIDATE:
        m->use_candidate = true;
        return length == 0;
    case ATTRIBUTE_PRIORITY:
    case ATTRIBUTE_XOR_ADDRESS:
        return true;
    default:
        m->unknown = m->unknown || type < ATTRIBUTE_OPTIONAL;
        return true;
    }
}

bool foliot__stun_read(const uint8_t *bytes, size_t length, foliot__stun_message *message)
{
    *message = (foliot__stun_message){0};
    if (length < HEAD_BYTES || length > FOLIOT__STUN_BYTES_MAX || length % 4 || bytes[0] > 3 ||
        get16(bytes + 2) != length - HEAD_BYTES || get32(bytes + 4) != COOKIE)
        return false;
    message->type = (uint16_t)get16(bytes);
    memcpy(message->transaction, bytes + 8, sizeof message->transaction);
    for (size_t at = HEAD_BYTES; at < length;) { // a multiple of 4, as is `length`
        uint32_t type = get16(bytes + at), of_value = get16(bytes + at + 2);
        size_t padded = 4 + ((size_t)of_value + 3) / 4 * 4;
        if (padded > length - at || !read_attribute(message, bytes, at, type, of_value))
            return false;
        at += padded;
    }
    return true;
}

// The HMAC of a message that ends with MESSAGE-INTEGRITY, whose value begins behind `at` + 4.
static bool make_integrity(const uint8_t *bytes, size_t at, const void *key, size_t key_bytes,
                           uint8_t code[INTEGRITY_BYTES])
{
    uint8_t covered[FOLIOT__STUN_BYTES_MAX];
    unsigned made = INTEGRITY_BYTES;
    memcpy(covered, bytes, at);
    put16(covered + 2, (uint32_t)(at + 4 + INTEGRITY_BYTES - HEAD_BYTES));
    return HMAC(EVP_sha1(), key, (int)key_bytes, covered, at, code, &made) != NULL;
}

bool foliot__stun_authentic(const uint8_t *bytes, const foliot__stun_message *message,
                            const void *key, size_t key_bytes)
{
    uint8_t code[INTEGRITY_BYTES];
    return message->integrity_at &&
           make_integrity(bytes, message->integrity_at, key, key_bytes, code) &&
           CRYPTO_memcmp(code, bytes + message->integrity_at + 4, sizeof code) == 0;
}

static size_t put_address(uint8_t *b, const uint8_t transaction[12], const struct sockaddr *address)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
    bool is_six = address->sa_family == AF_INET6;
    // A dual-stack socket has IPv4 addresses as mapped ones: the browser knows them as IPv4.
    bool mapped = is_six && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
    const uint8_t *host = mapped   ? six->sin6_addr.s6_addr + 12
                          : is_six ? six->sin6_addr.s6_addr
                                   : (const uint8_t *)&four->sin_addr;
    size_t bytes = is_six && !mapped ? 16 : 4;
    uint8_t mask[16];
    put32(mask, COOKIE);
    memcpy(mask + 4, transaction, 12);
    put16(b, ATTRIBUTE_XOR_ADDRESS);
    put16(b + 2, (uint32_t)(4 + bytes));
    b[4] = 0;
    b[5] = bytes == 4 ? 1 : 2;
    put16(b + 6, ntohs(is_six ? six->sin6_port : four->sin_port) ^ COOKIE >> 16);
    for (size_t i = 0; i < bytes; i++)
        b[8 + i] = host[i] ^ mask[i];
    return 8 + bytes;
}

size_t foliot__stun_close(uint8_t *bytes, size_t length, const void *key, size_t key_bytes)
{
    if (!make_integrity(bytes, length, key, key_bytes, bytes + length + 4))
        return 0;
    put16(bytes + length, ATTRIBUTE_INTEGRITY);
    put16(bytes + length + 2, INTEGRITY_BYTES);
    length += 4 + INTEGRITY_BYTES;
    put16(bytes + 2, (uint32_t)(length + 8 - HEAD_BYTES));
    put16(bytes + length, ATTRIBUTE_FINGERPRINT);
    put16(bytes + length + 2, 4);
    put32(bytes + length + 4, crc32(bytes, length) ^ FINGERPRINT_XOR);
    return length + 8;
}

size_t foliot__stun_request(const uint8_t transaction[12], const char *username, const void *key,
                            size_t key_bytes, uint8_t request[FOLIOT__STUN_REQUEST_BYTES])
{
    size_t bytes = strlen(username), padded = (bytes + 3) / 4 * 4;
    uint8_t *at = request;
    memset(request, 0, FOLIOT__STUN_REQUEST_BYTES);
    put16(at, FOLIOT__STUN_BINDING_REQUEST);
    put32(at + 4, COOKIE);
    memcpy(at + 8, transaction, 12);
    at += HEAD_BYTES;
    put16(at, ATTRIBUTE_USERNAME);
    put16(at + 2, (uint32_t)bytes);
    memcpy(at + 4, username, bytes);
    at += 4 + padded;
    put16(at, ATTRIBUTE_PRIORITY);
    put16(at + 2, 4);
    put32(at + 4, CHECK_PRIORITY);
    at += 8;
    put16(at, ATTRIBUTE_CONTROLLED);
    put16(at + 2, 8);
    memcpy(at + 4, transaction, 8); // the tie-breaker: the other side has the other role
    at += 12;
    return foliot__stun_close(request, (size_t)(at - request), key, key_bytes);
}

size_t foliot__stun_answer(const foliot__stun_message *request, const struct sockaddr *address,
                           const void *key, size_t key_bytes,
                           uint8_t answer[FOLIOT__STUN_ANSWER_BYTES])
{
    put16(answer, FOLIOT__STUN_BINDING_SUCCESS);
    put32(answer + 4, COOKIE);
    memcpy(answer + 8, request->transaction, sizeof request->transaction);
    size_t length = HEAD_BYTES + put_address(answer + HEAD_BYTES, request->transaction, address);
    return foliot__stun_close(answer, length, key, key_bytes);
}
