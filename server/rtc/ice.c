// SPDX-License-Identifier: MIT
// ice.c: see ice.h.
#include "rtc/ice.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

// -- STUN. A message is a head of 20 bytes and attributes. MESSAGE-INTEGRITY covers the bytes
// before it; FINGERPRINT comes last and covers everything. Each is computed as if it were last.

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

// -- session descriptions. Lines that are not needed are skipped; a line that is needed occurs
// once, or several times with the same value

#define SECTION "UDP/DTLS/SCTP webrtc-datachannel"

typedef struct reader {
    foliot__sdp_offer *offer;
    bool has_section, has_fingerprint, has_setup;
    const char *problem;
} reader;

// The value of a line that begins with `name`; NULL: it does not.
static const char *value_of(const char *line, const char *name)
{
    size_t length = strlen(name);
    return strncmp(line, name, length) == 0 ? line + length : NULL;
}

static bool is_ice_text(const char *text, size_t least, size_t most)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(text);
    return length >= least && length <= most && strspn(text, allowed) == length;
}

// A number of 1 to 5 digits, which is not 0; 0: none.
static uint32_t number_of(const char *text, size_t length)
{
    uint32_t value = 0;
    if (length == 0 || length > 5 || strspn(text, "0123456789") < length)
        return 0;
    for (size_t i = 0; i < length; i++)
        value = value * 10 + (uint32_t)(text[i] - '0');
    return value <= 65535 ? value : 0;
}

static bool refuse(reader *r, const char *problem)
{
    r->problem = problem;
    return false;
}

// Copies the value, unless the target holds a different one.
static bool keep_once(char *place, size_t bytes, const char *text)
{
    if (place[0])
        return strcmp(place, text) == 0;
    snprintf(place, bytes, "%s", text);
    return true;
}

static bool read_line(reader *r, const char *line)
{
    const char *v;
    foliot__sdp_offer *o = r->offer;
    if ((v = value_of(line, "m="))) {
        const char *port = value_of(v, "application "), *end = port ? strchr(port, ' ') : NULL;
        if (r->has_section)
            return refuse(r, "it has more than one section");
        if (!end || !number_of(port, (size_t)(end - port)) || strcmp(end + 1, SECTION) != 0)
            return refuse(r, "its section is not a data channel's");
        r->has_section = true;
        return true;
    }
    if ((v = value_of(line, "a=fingerprint:"))) {
        uint8_t print[FOLIOT__SDP_FINGERPRINT_BYTES];
        const char *hex = value_of(v, "sha-256 ");
        if (!hex || strlen(hex) != 3 * sizeof print - 1)
            return refuse(r, "its fingerprint is not one of SHA-256");
        for (size_t i = 0; i < sizeof print; i++) {
            int high = foliot__hex_value(hex[3 * i]), low = foliot__hex_value(hex[3 * i + 1]);
            if (high < 0 || low < 0 || (i + 1 < sizeof print && hex[3 * i + 2] != ':'))
                return refuse(r, "its fingerprint is not one of SHA-256");
            print[i] = (uint8_t)(high * 16 + low);
        }
        if (r->has_fingerprint && memcmp(print, r->offer->fingerprint, sizeof print) != 0)
            return refuse(r, "it has two fingerprints");
        memcpy(r->offer->fingerprint, print, sizeof print);
        r->has_fingerprint = true;
        return true;
    }
    if ((v = value_of(line, "a=ice-ufrag:")))
        return (is_ice_text(v, 4, FOLIOT__SDP_UFRAG_MAX) &&
                keep_once(o->ufrag, sizeof o->ufrag, v)) ||
               refuse(r, "its ice-ufrag is malformed, or there are two");
    if ((v = value_of(line, "a=ice-pwd:")))
        return (is_ice_text(v, 22, FOLIOT__SDP_PASSWORD_MAX) &&
                keep_once(o->password, sizeof o->password, v)) ||
               refuse(r, "its ice-pwd is malformed, or there are two");
    if ((v = value_of(line, "a=mid:")))
        return (is_ice_text(v, 1, FOLIOT__SDP_MID_MAX) && keep_once(o->mid, sizeof o->mid, v)) ||
               refuse(r, "its mid is malformed, or there are two");
    if ((v = value_of(line, "a=setup:"))) {
        r->has_setup = true;
        o->waits = strcmp(v, "actpass") == 0;
        return o->waits || strcmp(v, "active") == 0 ||
               refuse(r, "it does not let the browser begin with DTLS");
    }
    if ((v = value_of(line, "a=sctp-port:"))) {
        uint32_t port = number_of(v, strlen(v));
        bool fits = port && (!o->sctp_port || o->sctp_port == port);
        o->sctp_port = (uint16_t)port;
        return fits || refuse(r, "its sctp-port is malformed, or there are two");
    }
    return true;
}

// Copies a line without its end, and returns where the next begins; NULL: it is malformed.
static const char *next_line(const char *text, const char *end, char *line, size_t bytes)
{
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    if (!stop)
        return NULL;
    size_t length = (size_t)(stop - text);
    if (length > 0 && text[length - 1] == '\r')
        length--;
    if (length < 2 || length >= bytes || text[1] != '=')
        return NULL;
    for (size_t i = 0; i < length; i++)
        if ((uint8_t)text[i] < ' ' || (uint8_t)text[i] == 127)
            return NULL;
    memcpy(line, text, length);
    line[length] = 0;
    return stop + 1;
}

bool foliot__sdp_read(const char *text, size_t length, foliot__sdp_offer *offer,
                      const char **problem)
{
    reader r = {.offer = offer, .problem = "it lacks what a data channel needs"};
    const char *end = text + length;
    char line[600];
    uint32_t lines = 0;
    bool read = length <= FOLIOT__SDP_BYTES_MAX;
    memset(offer, 0, sizeof *offer);
    *problem = "it is too long";
    while (read && text < end) {
        text = next_line(text, end, line, sizeof line);
        if (!text || ++lines > FOLIOT__SDP_LINES_MAX || (lines == 1 && strcmp(line, "v=0") != 0)) {
            *problem = "it is not a session description";
            return false;
        }
        read = read_line(&r, line);
        *problem = r.problem;
    }
    if (!read)
        return false;
    *problem = "it lacks what a data channel needs";
    return r.has_section && r.has_fingerprint && r.has_setup && offer->ufrag[0] &&
           offer->password[0] && offer->mid[0] && offer->sctp_port;
}

size_t foliot__sdp_write(const foliot__sdp_answer *a, char text[FOLIOT__SDP_ANSWER_BYTES])
{
    char print[3 * FOLIOT__SDP_FINGERPRINT_BYTES + 1];
    for (int i = 0; i < FOLIOT__SDP_FINGERPRINT_BYTES; i++)
        snprintf(print + 3 * i, 4, "%02X:", a->fingerprint[i]);
    print[3 * FOLIOT__SDP_FINGERPRINT_BYTES - 1] = 0;
    int length =
        snprintf(text, FOLIOT__SDP_ANSWER_BYTES,
                 "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=ice-lite\r\n"
                 "a=group:BUNDLE %s\r\nm=application %u " SECTION "\r\n"
                 "c=IN IP4 0.0.0.0\r\na=mid:%s\r\na=ice-ufrag:%s\r\na=ice-pwd:%s\r\n"
                 "a=fingerprint:sha-256 %s\r\na=setup:%s\r\na=sctp-port:%u\r\n"
                 "a=max-message-size:%u\r\n",
                 a->mid, a->port, a->mid, a->ufrag, a->password, print,
                 a->begins ? "active" : "passive", a->sctp_port, (unsigned)a->message_bytes_max);
    for (int i = 0; i < FOLIOT__SDP_CANDIDATES_MAX && a->candidates[i][0]; i++)
        length += snprintf(text + length, FOLIOT__SDP_ANSWER_BYTES - (size_t)length,
                           "a=candidate:%d 1 udp %u %s %u typ host\r\n", i + 1,
                           2130706431u - 256u * (unsigned)i, a->candidates[i], a->port);
    length += snprintf(text + length, FOLIOT__SDP_ANSWER_BYTES - (size_t)length,
                       "a=end-of-candidates\r\n");
    return (size_t)length;
}
