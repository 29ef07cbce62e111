// SPDX-License-Identifier: MIT
// raw_datagram.c: datagrams of our own to bytes and back; the inbox of what has come and the outbox
// of what leaves.
#include "net/raw_datagram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

#define OUTBOX_DATAGRAMS_MIN 8u
#define OUTBOX_DATAGRAMS_MAX 256u

static void put_u16(uint8_t *at, size_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static uint16_t read_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

// -- heads and packets

void foliot__raw_datagram_early_head(uint64_t cookie, uint32_t connect_id,
                                     uint8_t head[FOLIOT__EARLY_HEAD_BYTES])
{
    memcpy(head, FOLIOT__EARLY, 8);
    memcpy(head + 8, &connect_id, 4); // as ENet writes it: not as a number
    for (int i = 0; i < 8; i++)
        head[12 + i] = (uint8_t)(cookie >> (8 * i));
}

void foliot__raw_datagram_short_head(uint32_t connect_id, uint16_t peer,
                                     uint8_t head[FOLIOT__EARLY_HEAD_BYTES])
{
    head[0] = FOLIOT__SHORT_MARK;
    memcpy(head + 1, &connect_id, 4);
    put_u16(head + 5, peer);
}

bool foliot__raw_datagram_is(const uint8_t *bytes, size_t length)
{
    return length > 0 && (bytes[0] == FOLIOT__SHORT_MARK ||
                          (length >= 8 && memcmp(bytes, FOLIOT__EARLY, 8) == 0));
}

bool foliot__raw_datagram_parse_packets(const uint8_t *bytes, size_t length,
                                        foliot__raw_datagram *datagram)
{
    for (size_t at = 0; at < length;) {
        if (datagram->count == FOLIOT__RAW_DATAGRAM_PACKETS_MAX ||
            length - at < FOLIOT__RAW_LENGTH_BYTES)
            return false;
        uint16_t packet = read_u16(bytes + at);
        uint16_t kind = packet & (FOLIOT__RAW_FRAGMENT | FOLIOT__RAW_PATH);
        packet = (uint16_t)(packet ^ kind);
        at += FOLIOT__RAW_LENGTH_BYTES;
        if (packet == 0 || packet > length - at ||
            (kind != FOLIOT__RAW_PATH && packet > FOLIOT_PACKET_BYTES_MAX))
            return false;
        datagram->kinds[datagram->count] = kind;
        datagram->packets[datagram->count] = bytes + at;
        datagram->lengths[datagram->count++] = packet;
        at += packet;
    }
    return datagram->count > 0 || datagram->early;
}

bool foliot__raw_datagram_parse(const uint8_t *bytes, size_t length, foliot__raw_datagram *datagram)
{
    *datagram = (foliot__raw_datagram){.early = length > 0 && bytes[0] != FOLIOT__SHORT_MARK};
    size_t head = datagram->early ? FOLIOT__EARLY_HEAD_BYTES : FOLIOT__SHORT_HEAD_BYTES;
    if (length < head || length > FOLIOT__RAW_DATAGRAM_BYTES_MAX)
        return false;
    memcpy(&datagram->connect_id, bytes + (datagram->early ? 8 : 1), 4);
    for (int i = 0; datagram->early && i < 8; i++)
        datagram->cookie |= (uint64_t)bytes[12 + i] << (8 * i);
    if (!datagram->early)
        datagram->peer = read_u16(bytes + 5);
    return foliot__raw_datagram_parse_packets(bytes + head, length - head, datagram);
}

// -- fragments

uint32_t foliot__fragment_count(size_t length, size_t room)
{
    if (room <= FOLIOT__RAW_FRAGMENT_HEAD_BYTES)
        return 0;
    size_t bytes = room - FOLIOT__RAW_FRAGMENT_HEAD_BYTES, count = (length + bytes - 1) / bytes;
    return count > FOLIOT__RAW_FRAGMENTS_MAX ? 0 : (uint32_t)count;
}

// All fragments but the last have as many bytes, so that each says where it belongs.
size_t foliot__fragment_write(const uint8_t *packet, size_t length, uint8_t number, uint32_t i,
                              uint32_t count, uint8_t fragment[FOLIOT_PACKET_BYTES_MAX])
{
    size_t each = (length + count - 1) / count, from = i * each;
    size_t bytes = i + 1 < count ? each : length - from;
    fragment[0] = number;
    fragment[1] = (uint8_t)(i | count << 4);
    put_u16(fragment + 2, length);
    memcpy(fragment + FOLIOT__RAW_FRAGMENT_HEAD_BYTES, packet + from, bytes);
    return FOLIOT__RAW_FRAGMENT_HEAD_BYTES + bytes;
}

bool foliot__fragment_read(foliot__reassembly *r, const uint8_t *fragment, size_t length,
                           const uint8_t **packet, size_t *packet_length)
{
    *packet = NULL;
    if (length <= FOLIOT__RAW_FRAGMENT_HEAD_BYTES)
        return false;
    uint32_t i = fragment[1] & 15, count = fragment[1] >> 4, total = read_u16(fragment + 2);
    if (count < 2 || count > FOLIOT__RAW_FRAGMENTS_MAX || i >= count || total < count * count ||
        total > FOLIOT_PACKET_BYTES_MAX)
        return false;
    size_t each = (total + count - 1) / count, from = i * each;
    size_t bytes = length - FOLIOT__RAW_FRAGMENT_HEAD_BYTES;
    if (bytes != (i + 1 < count ? each : total - from))
        return false;
    struct foliot__partial_packet *p = NULL;
    for (uint32_t k = 0; k < 2; k++)
        if (r->packets[k].count == count && r->packets[k].number == fragment[0] &&
            r->packets[k].total == total)
            p = &r->packets[k];
    if (!p) {
        r->newest = 1 - r->newest;
        p = &r->packets[r->newest];
        p->number = fragment[0];
        p->count = (uint8_t)count;
        p->total = (uint16_t)total;
        p->have = 0;
    }
    memcpy(p->bytes + from, fragment + FOLIOT__RAW_FRAGMENT_HEAD_BYTES, bytes);
    bool first_time = !(p->have >> i & 1);
    p->have |= (uint8_t)(1u << i);
    if (first_time && p->have == (1u << count) - 1) {
        *packet = p->bytes;
        *packet_length = total;
    }
    return true;
}

// -- the inbox

bool foliot__inbox_push(foliot__inbox *inbox, foliot_peer_id peer, const uint8_t *bytes,
                        size_t length, uint64_t arrived_ns)
{
    if (inbox->first == inbox->count)
        inbox->first = inbox->count = inbox->used = 0;
    size_t wanted = inbox->used + length;
    if (!foliot__array_grow(&inbox->entries, inbox->count, &inbox->capacity, 64,
                            sizeof *inbox->entries) ||
        !foliot__array_reserve(&inbox->bytes, &inbox->room, wanted, 2 * wanted + 64, 1))
        return false;
    inbox->entries[inbox->count++] = (foliot__inbox_entry){peer, inbox->used, length, arrived_ns};
    if (length)
        memcpy(inbox->bytes + inbox->used, bytes, length);
    inbox->used += length;
    return true;
}

bool foliot__inbox_pop(foliot__inbox *inbox, foliot__inbox_entry *entry, const uint8_t **bytes)
{
    if (inbox->first == inbox->count)
        return false;
    *entry = inbox->entries[inbox->first++];
    *bytes = entry->length ? inbox->bytes + entry->at : NULL;
    return true;
}

void foliot__inbox_close(foliot__inbox *inbox)
{
    free(inbox->entries);
    free(inbox->bytes);
    *inbox = (foliot__inbox){0};
}

// -- the outbox

bool foliot__outbox_init(foliot__outbox *o, uint32_t receivers)
{
    uint32_t n = receivers < OUTBOX_DATAGRAMS_MIN ? OUTBOX_DATAGRAMS_MIN : receivers;
    n = n > OUTBOX_DATAGRAMS_MAX ? OUTBOX_DATAGRAMS_MAX : n;
    *o = (foliot__outbox){.capacity = n,
                          .room = n * (FOLIOT_PACKET_BYTES_MAX + FOLIOT__RAW_LENGTH_BYTES),
                          .flushes = 1};
    o->messages = calloc(n, sizeof *o->messages);
    o->parts = calloc(n, sizeof *o->parts);
    o->addresses = calloc(n, sizeof *o->addresses);
    o->heads = calloc(n, sizeof *o->heads);
    o->sizes = calloc(n, sizeof *o->sizes);
    o->owners = calloc(n, sizeof *o->owners);
    o->bytes = malloc(o->room);
    o->whole = malloc((size_t)n * FOLIOT__RAW_DATAGRAM_BYTES_MAX);
    return o->whole && o->messages && o->parts && o->addresses && o->heads && o->sizes &&
           o->owners && o->bytes;
}

void foliot__outbox_close(foliot__outbox *o)
{
    free(o->messages);
    free(o->parts);
    free(o->addresses);
    free(o->heads);
    free(o->sizes);
    free(o->owners);
    free(o->bytes);
    free(o->whole);
    *o = (foliot__outbox){0};
}

uint8_t *foliot__outbox_keep(foliot__outbox *o, const uint8_t *bytes, size_t length)
{
    return foliot__outbox_keep_other(o, 0, bytes, length);
}

uint8_t *foliot__outbox_keep_other(foliot__outbox *o, uint16_t kind, const uint8_t *bytes,
                                   size_t length)
{
    if (o->room - o->used < length + FOLIOT__RAW_LENGTH_BYTES)
        return NULL;
    uint8_t *kept = o->bytes + o->used;
    put_u16(kept, length | kind);
    memcpy(kept + FOLIOT__RAW_LENGTH_BYTES, bytes, length);
    o->used += length + FOLIOT__RAW_LENGTH_BYTES;
    return kept;
}

uint32_t foliot__outbox_add(foliot__outbox *o, const foliot__net_address *address,
                            size_t head_bytes, const uint8_t *kept, size_t length)
{
    if (o->count == o->capacity)
        return UINT32_MAX;
    uint32_t i = o->count++;
    socklen_t address_bytes = foliot__net_address_to_socket(address, &o->addresses[i]);
    o->parts[i][0] = (struct iovec){o->heads[i], head_bytes};
    o->parts[i][1] = (struct iovec){(void *)(uintptr_t)kept, length + FOLIOT__RAW_LENGTH_BYTES};
    o->messages[i].msg_hdr = (struct msghdr){.msg_name = &o->addresses[i],
                                             .msg_namelen = address_bytes,
                                             .msg_iov = o->parts[i],
                                             .msg_iovlen = 2};
    o->sizes[i] = (uint16_t)(head_bytes + length + FOLIOT__RAW_LENGTH_BYTES);
    return i;
}

bool foliot__outbox_append(foliot__outbox *o, uint32_t i, const uint8_t *kept, size_t length,
                           size_t bytes_max)
{
    struct msghdr *m = &o->messages[i].msg_hdr;
    size_t size = o->sizes[i] + length + FOLIOT__RAW_LENGTH_BYTES;
    if (m->msg_iovlen > FOLIOT__RAW_DATAGRAM_PACKETS_MAX || size > bytes_max)
        return false;
    o->parts[i][m->msg_iovlen++] =
        (struct iovec){(void *)(uintptr_t)kept, length + FOLIOT__RAW_LENGTH_BYTES};
    o->sizes[i] = (uint16_t)size;
    return true;
}

// So that the few dozen bytes of each share cache lines and pages: the room is for the largest.
uint8_t *foliot__outbox_whole(foliot__outbox *o, size_t length)
{
    uint8_t *at = o->whole + o->whole_used;
    FOLIOT_ASSERT(o->whole_used + length <= (size_t)o->capacity * FOLIOT__RAW_DATAGRAM_BYTES_MAX);
    o->whole_used += length;
    return at;
}

uint32_t foliot__outbox_flush(foliot__outbox *o, int fd)
{
    uint32_t refused = 0;
    // Each datagram in one piece: gathering a few dozen bytes from two costs the system more than
    // us copying them.
    for (uint32_t i = 0; i < o->count; i++) {
        struct msghdr *m = &o->messages[i].msg_hdr;
        size_t at = 0;
        if (m->msg_iovlen == 1)
            continue;
        uint8_t *whole = foliot__outbox_whole(o, o->sizes[i]);
        for (size_t k = 0; k < m->msg_iovlen; k++) {
            memcpy(whole + at, o->parts[i][k].iov_base, o->parts[i][k].iov_len);
            at += o->parts[i][k].iov_len;
        }
        o->parts[i][0] = (struct iovec){whole, at};
        m->msg_iovlen = 1;
    }
    for (uint32_t at = 0; at < o->count;) {
        int sent = sendmmsg(fd, o->messages + at, o->count - at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            at += (uint32_t)sent;
        } else if (sent < 0 && errno == EINTR) {
            continue;
        } else { // the first of them was not taken: it is lost, as on any network, and counted
            refused++;
            at++;
        }
    }
    o->count = 0;
    o->used = o->whole_used = 0;
    o->flushes += o->flushes == UINT32_MAX ? 2 : 1;
    return refused;
}
