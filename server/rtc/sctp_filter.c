// SPDX-License-Identifier: MIT
// sctp_filter.c: see sctp_filter.h. A pre-negotiated data channel needs unordered messages on
// stream 0, chunks that acknowledge or skip them, one handshake, heartbeats, and an end. It never
// needs ECN, AUTH, ASCONF, RE-CONFIG, I-DATA, NR-SACK, packet drop reports, padding, and error
// reports.
#include "rtc/sctp.h"

#include <string.h>

#include "crypto/crypto.h"

#define CHUNK_HEAD_BYTES 4
#define DATA_BYTES_MIN 17 // its head, and one byte
#define DATA_UNORDERED 4
#define INIT_BYTES 20 // without its parameters
#define INIT_BYTES_MAX 1280
#define SACK_BYTES 16
#define GAP_END_MAX 1024 // far beyond the chunks that are ever on their way
#define FORWARD_BYTES 8
#define HEARTBEAT_BYTES_MAX 256
#define ABORT_BYTES 4
#define PARAMETER_COOKIE 7
#define PARAMETER_FORWARD_TSN 0xC000

static uint32_t u16(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

static uint32_t u32(const uint8_t *bytes)
{
    return u16(bytes) << 16 | u16(bytes + 2);
}

static size_t padded(size_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

// Copies a chunk, or its first `bytes`, with padding of zeros. Returns the padded length.
static size_t copy_chunk(const uint8_t *chunk, size_t bytes, uint8_t *kept)
{
    memset(kept + padded(bytes) - 4, 0, 4);
    memcpy(kept, chunk, bytes);
    kept[2] = (uint8_t)(bytes >> 8);
    kept[3] = (uint8_t)bytes;
    return padded(bytes);
}

// Whether parameters, or causes of an error, fill `length` bytes, padded; the last may not be.
static bool parameters_fill(const uint8_t *at, size_t length)
{
    while (length > 0) {
        size_t bytes = length >= 4 ? u16(at + 2) : 0;
        if (bytes < 4 || bytes > length)
            return false;
        bytes = padded(bytes) < length ? padded(bytes) : length;
        at += bytes;
        length -= bytes;
    }
    return true;
}

// Copies an INIT or INIT-ACK. It keeps two parameters: the state cookie of an INIT-ACK, and the
// support of partial reliability. usrsctp follows the lengths of others without end.
static size_t keep_init(const uint8_t *chunk, size_t length, bool acknowledges, uint8_t *kept)
{
    size_t used = INIT_BYTES;
    unsigned cookies = 0, partial = 0;
    if (length < INIT_BYTES || length > INIT_BYTES_MAX || u32(chunk + 4) == 0 ||
        u16(chunk + 12) == 0 || u16(chunk + 14) == 0 ||
        !parameters_fill(chunk + INIT_BYTES, length - INIT_BYTES))
        return 0;
    memcpy(kept, chunk, INIT_BYTES);
    for (size_t at = INIT_BYTES; at < length; at += padded(u16(chunk + at + 2))) {
        uint32_t type = u16(chunk + at);
        size_t bytes = u16(chunk + at + 2);
        bool is_partial = type == PARAMETER_FORWARD_TSN && bytes == 4,
             is_cookie = acknowledges && type == PARAMETER_COOKIE && bytes > 4;
        cookies += is_cookie;
        partial += is_partial;
        if ((is_cookie && cookies == 1) || (is_partial && partial == 1))
            used += copy_chunk(chunk + at, bytes, kept + used);
    }
    if (acknowledges && cookies != 1)
        return 0;
    kept[2] = (uint8_t)(used >> 8);
    kept[3] = (uint8_t)used;
    return used;
}

// Whether the gap blocks are in order, disjoint, and near: usrsctp walks through each one.
static bool sack_is_good(const uint8_t *chunk, size_t length)
{
    uint32_t before = 0;
    if (length < SACK_BYTES)
        return false;
    size_t gaps = u16(chunk + 12), duplicates = u16(chunk + 14);
    if (length != SACK_BYTES + 4 * (gaps + duplicates))
        return false;
    for (size_t i = 0; i < gaps; i++) {
        uint32_t start = u16(chunk + SACK_BYTES + 4 * i), end = u16(chunk + SACK_BYTES + 4 * i + 2);
        if (start <= before || end < start || end > GAP_END_MAX)
            return false;
        before = end;
    }
    return true;
}

static bool handshake_is_due(foliot__sctp_due *due)
{
    return due->opening && due->handshakes++ < FOLIOT__SCTP_HANDSHAKES_MAX;
}

// The cookie that opened the association comes again when its acknowledgement is lost. Any other
// cookie would restart the association.
static bool cookie_is_due(foliot__sctp_due *due, const uint8_t *chunk, size_t length)
{
    // The key is no secret: no cookie is accepted whose own MAC is wrong.
    static const foliot__mac_key key = {"foliot cookies."};
    uint64_t hash = foliot__mac(&key, chunk, length);
    if (!due->opening)
        return hash == due->cookie;
    due->cookie = hash;
    return handshake_is_due(due);
}

typedef enum fate { MALFORMED, LEFT_OUT, KEPT } fate;

// `alone`: it is the only chunk of its packet; `first`: none came before it. `used`: bytes of
// `kept` that it takes.
static fate judge(foliot__sctp_due *due, const uint8_t *chunk, size_t length, bool first,
                  bool alone, uint8_t *kept, size_t *used)
{
    uint8_t type = chunk[0];
    size_t bytes = length;
    bool good;
    switch (type) {
    case FOLIOT__CHUNK_DATA:
        good = length >= DATA_BYTES_MIN && u16(chunk + 8) == 0 && (chunk[1] & DATA_UNORDERED);
        break;
    case FOLIOT__CHUNK_INIT:
    case FOLIOT__CHUNK_INIT_ACK:
        *used = alone && handshake_is_due(due)
                    ? keep_init(chunk, length, type == FOLIOT__CHUNK_INIT_ACK, kept)
                    : 0;
        return *used > 0 ? KEPT : MALFORMED;
    case FOLIOT__CHUNK_SACK:
        good = sack_is_good(chunk, length);
        break;
    case FOLIOT__CHUNK_HEARTBEAT:
    case FOLIOT__CHUNK_HEARTBEAT_ACK:
        good = length >= 8 && length <= HEARTBEAT_BYTES_MAX && u16(chunk + 4) == 1 &&
               u16(chunk + 6) == length - CHUNK_HEAD_BYTES;
        break;
    case FOLIOT__CHUNK_ABORT:
        good = parameters_fill(chunk + CHUNK_HEAD_BYTES, length - CHUNK_HEAD_BYTES);
        bytes = ABORT_BYTES; // nobody reads why
        break;
    case FOLIOT__CHUNK_COOKIE_ECHO:
        good = first && length > CHUNK_HEAD_BYTES && cookie_is_due(due, chunk, length);
        break;
    case FOLIOT__CHUNK_SHUTDOWN:
    case FOLIOT__CHUNK_SHUTDOWN_ACK:
    case FOLIOT__CHUNK_SHUTDOWN_COMPLETE:
    case FOLIOT__CHUNK_COOKIE_ACK:
        // Chunks of one length.
        good = length == (type == FOLIOT__CHUNK_SHUTDOWN ? 8 : CHUNK_HEAD_BYTES);
        break;
    case FOLIOT__CHUNK_FORWARD_TSN: // streams that it lists are of ordered messages
        good = length >= FORWARD_BYTES && length % 4 == 0;
        bytes = FORWARD_BYTES;
        break;
    default:
        return LEFT_OUT;
    }
    if (good)
        *used = copy_chunk(chunk, bytes, kept);
    return good ? KEPT : MALFORMED;
}

size_t foliot__sctp_filter(foliot__sctp_due *due, const uint8_t *packet, size_t length,
                           uint8_t kept[FOLIOT__SCTP_FILTER_BYTES_MAX])
{
    size_t end = FOLIOT__SCTP_HEAD_BYTES, used = 0;
    uint64_t seen[4] = {0}; // bits of types
    if (length < FOLIOT__SCTP_HEAD_BYTES + CHUNK_HEAD_BYTES ||
        length > FOLIOT__SCTP_FILTER_BYTES_MAX || length % 4 != 0 || u16(packet) != due->source ||
        u16(packet + 2) != due->destination ||
        (u32(packet + 4) == 0) != (packet[FOLIOT__SCTP_HEAD_BYTES] == FOLIOT__CHUNK_INIT))
        return 0;
    memcpy(kept, packet, FOLIOT__SCTP_HEAD_BYTES);
    for (size_t at = FOLIOT__SCTP_HEAD_BYTES; at < length;) {
        uint8_t type = packet[at];
        size_t bytes = u16(packet + at + 2); // there are 4 bytes at least
        uint64_t bit = (uint64_t)1 << type % 64;
        bool first = at == FOLIOT__SCTP_HEAD_BYTES, data = seen[0] & 1;
        if (bytes < CHUNK_HEAD_BYTES || bytes > length - at)
            return 0;
        bool alone = first && at + padded(bytes) == length;
        fate is = judge(due, packet + at, bytes, first, alone, kept + end, &used);
        // Data comes last, and nothing else twice.
        if (is == MALFORMED ||
            (is == KEPT && type != FOLIOT__CHUNK_DATA && (data || (seen[type / 64] & bit))))
            return 0;
        seen[type / 64] |= bit;
        end += is == KEPT ? used : 0;
        at += padded(bytes);
    }
    return end > FOLIOT__SCTP_HEAD_BYTES ? end : 0;
}

const uint8_t *foliot__sctp_find_chunk(const uint8_t *packet, size_t length, uint8_t type)
{
    for (size_t at = FOLIOT__SCTP_HEAD_BYTES; at + CHUNK_HEAD_BYTES <= length;) {
        size_t bytes = u16(packet + at + 2);
        if (packet[at] == type)
            return packet + at;
        if (bytes < CHUNK_HEAD_BYTES)
            return NULL;
        at += padded(bytes);
    }
    return NULL;
}
