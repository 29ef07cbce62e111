// SPDX-License-Identifier: MIT
// packet_filter.c: ENet 1.3's datagrams, walked with a bounds-checked cursor (numbers are
// big-endian there).
#include "net/packet_filter.h"

#include <endian.h>
#include <enet/enet.h>
#include <string.h>

#include "crypto/crypto.h"

#define MTU_MAX                                                                                    \
    1400u // ENet leaves no room for its checksum: with its largest, datagrams outgrow its buffers
#define FRAGMENT_BYTES_MIN                                                                         \
    400u // of every fragment but the last: our smallest datagram less all heads

typedef struct walk {
    const uint8_t *at;
    size_t left;
    bool good;
} walk;

static uint32_t read_number(walk *w, size_t bytes)
{
    uint32_t value = 0;
    if (w->left < bytes) {
        w->good = false;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | w->at[i];
    w->at += bytes;
    w->left -= bytes;
    return value;
}

static void skip(walk *w, size_t bytes)
{
    if (w->left < bytes) {
        w->good = false;
        return;
    }
    w->at += bytes;
    w->left -= bytes;
}

int32_t foliot__packet_filter_peer(const uint8_t *datagram, size_t length)
{
    if (length < 2)
        return -1;
    unsigned peer = ((unsigned)datagram[0] << 8 | datagram[1]) & ENET_PROTOCOL_MAXIMUM_PEER_ID;
    return peer == ENET_PROTOCOL_MAXIMUM_PEER_ID ? -1 : (int32_t)peer;
}

// -- the checksum

size_t foliot__packet_filter_checksum_at(const uint8_t *datagram, size_t length)
{
    size_t at = length > 0 && (datagram[0] & (ENET_PROTOCOL_HEADER_FLAG_SENT_TIME >> 8)) ? 4 : 2;
    return at + FOLIOT__CHECKSUM_BYTES <= length && length <= FOLIOT__PACKET_FILTER_BYTES_MAX ? at
                                                                                              : 0;
}

// The key is not a secret: the connect id is, which is among the bytes.
uint32_t foliot__packet_filter_checksum(const uint8_t *datagram, size_t length)
{
    static const foliot__mac_key key = {"foliot ENet sum"};
    return htole32((uint32_t)foliot__mac(&key, datagram, length));
}

bool foliot__packet_filter_proven(const uint8_t *datagram, size_t length, uint32_t connect_id)
{
    uint8_t bytes[FOLIOT__PACKET_FILTER_BYTES_MAX];
    uint32_t claimed, sum;
    size_t at = foliot__packet_filter_checksum_at(datagram, length);
    if (at == 0)
        return false;
    memcpy(bytes, datagram, length);
    memcpy(&claimed, datagram + at, sizeof claimed);
    memcpy(bytes + at, &connect_id, sizeof connect_id);
    sum = foliot__packet_filter_checksum(bytes, length);
    return foliot__secrets_equal(&sum, &claimed, sizeof sum);
}

// -- the walk

// Behind the four bytes that every command begins with.
static foliot__verdict command_body(walk *w, unsigned command, bool connected,
                                    uint32_t packet_bytes_max, foliot__claims *claims)
{
    uint32_t mtu;
    switch (command) {
    case ENET_PROTOCOL_COMMAND_CONNECT:
        skip(w, 4);
        mtu = read_number(w, 4);
        skip(w, 28);
        claims->connect_id = read_number(w, 4);
        skip(w, 4); // data
        return w->good && !connected && w->left == 0 && mtu <= MTU_MAX ? FOLIOT__CONNECT
                                                                       : FOLIOT__MALFORMED;
    case ENET_PROTOCOL_COMMAND_SEND_RELIABLE:
        skip(w, read_number(w, 2));
        break;
    case ENET_PROTOCOL_COMMAND_SEND_UNSEQUENCED:
        read_number(w, 2);
        skip(w, read_number(w, 2));
        break;
    case ENET_PROTOCOL_COMMAND_SEND_FRAGMENT: {
        read_number(w, 2);
        uint32_t data = read_number(w, 2);
        // A fragment of a reliable packet: startSequenceNumber and dataLength are read already.
        uint32_t count = read_number(w, 4), number = read_number(w, 4), total = read_number(w, 4),
                 offset = read_number(w, 4);
        if (!w->good || total > packet_bytes_max || count > total / FRAGMENT_BYTES_MIN + 1 ||
            number >= count || offset >= total)
            return FOLIOT__FRAGMENT;
        skip(w, data);
        break;
    }
    case ENET_PROTOCOL_COMMAND_ACKNOWLEDGE:
    case ENET_PROTOCOL_COMMAND_DISCONNECT:
        skip(w, 4);
        break;
    case ENET_PROTOCOL_COMMAND_VERIFY_CONNECT:
        skip(w, 36);
        claims->verifies = true;
        claims->connect_id = read_number(w, 4);
        break;
    case ENET_PROTOCOL_COMMAND_PING:
        break;
    case ENET_PROTOCOL_COMMAND_BANDWIDTH_LIMIT:
        skip(w, 8);
        break;
    case ENET_PROTOCOL_COMMAND_THROTTLE_CONFIGURE:
        skip(w, 12);
        break;
    default: // unreliable sequenced data and its fragments: we send none
        return FOLIOT__FRAGMENT;
    }
    return w->good ? FOLIOT__PASS : FOLIOT__MALFORMED;
}

foliot__verdict foliot__packet_filter(const uint8_t *datagram, size_t length,
                                      int32_t expected_reliable, uint32_t packet_bytes_max,
                                      foliot__claims *claims)
{
    walk w = {datagram, length, true};
    unsigned head = read_number(&w, 2);
    bool connected = (head & ENET_PROTOCOL_MAXIMUM_PEER_ID) != ENET_PROTOCOL_MAXIMUM_PEER_ID;
    if (!w.good || (head & ENET_PROTOCOL_HEADER_FLAG_COMPRESSED))
        return FOLIOT__MALFORMED;
    if (head & ENET_PROTOCOL_HEADER_FLAG_SENT_TIME)
        read_number(&w, 2);
    skip(&w, FOLIOT__CHECKSUM_BYTES);
    if (!w.good || w.left == 0)
        return FOLIOT__MALFORMED;
    while (w.left > 0) {
        unsigned command = read_number(&w, 1) & ENET_PROTOCOL_COMMAND_MASK,
                 channel = read_number(&w, 1);
        uint32_t sequence = read_number(&w, 2);
        if (!w.good || (!connected && command != ENET_PROTOCOL_COMMAND_CONNECT))
            return FOLIOT__MALFORMED;
        bool reliable = command == ENET_PROTOCOL_COMMAND_SEND_RELIABLE ||
                        command == ENET_PROTOCOL_COMMAND_SEND_FRAGMENT;
        if (reliable && channel != FOLIOT__CHANNEL_RELIABLE)
            return FOLIOT__MALFORMED;
        if (reliable && expected_reliable >= 0 &&
            (uint16_t)(sequence - (uint32_t)expected_reliable) > FOLIOT__RELIABLE_AHEAD_MAX &&
            (uint16_t)((uint32_t)expected_reliable - sequence) > FOLIOT__RELIABLE_AHEAD_MAX)
            return FOLIOT__MALFORMED;
        foliot__verdict verdict = command_body(&w, command, connected, packet_bytes_max, claims);
        if (verdict != FOLIOT__PASS)
            return verdict;
    }
    return FOLIOT__PASS;
}
