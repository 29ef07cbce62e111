// SPDX-License-Identifier: MIT
// enet_path.c: how large the datagrams to each peer are. Unreliable packets that are too large for
// a path go in fragments, and are lost if one of them is. ENet cuts what is reliable once and for
// all, so it is given only sizes that have arrived. Probes and answers travel as packets do, so
// nobody outside of a connection can send them; an answer is smaller than its probe.
#include "net/enet_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define LOOK_EVERY_NS 20000000u
#define ANSWER_EVERY_NS 5000000u
#define PROBE_BYTES 3  // what it is, its number; then zeros
#define ANSWER_BYTES 5 // what it is, the probe's number, bytes of its datagram
#define ENET_SPARE 8   // its checksum, which it does not count
enum { PATH_PROBE = 1, PATH_ANSWER = 2 };

static void set_sizes(slot *s)
{
    uint32_t seal = s->secure ? FOLIOT__SEAL_BYTES : 0;
    s->path_bytes = s->path.bytes;
    if (s->peer)
        s->peer->mtu = s->path.proven - seal - ENET_SPARE;
}

void foliot__enet_open_path(enet_transport *t, slot *s)
{
    foliot__path_begin(&s->path, foliot__enet_most_bytes(t), t->now_ns);
    set_sizes(s);
    t->paths_ns = t->now_ns;
}

// -- out

bool foliot__enet_send_item(enet_transport *t, slot *s, uint16_t kind, const uint8_t *bytes,
                            size_t length)
{
    const uint8_t *kept = foliot__outbox_keep_other(&t->outbox, kind, bytes, length);
    if (kept && foliot__enet_add_datagram(t, s, kept, length))
        return true;
    foliot__enet_flush_datagrams(t);
    kept = foliot__outbox_keep_other(&t->outbox, kind, bytes, length);
    return kept && foliot__enet_add_datagram(t, s, kept, length);
}

bool foliot__enet_send_fragments(enet_transport *t, slot *s, const uint8_t *packet, size_t length)
{
    uint8_t copy[FOLIOT_PACKET_BYTES_MAX], fragment[FOLIOT_PACKET_BYTES_MAX];
    size_t room = s->path_bytes - foliot__enet_head_bytes(s) - FOLIOT__RAW_LENGTH_BYTES;
    uint32_t count = foliot__fragment_count(length, room);
    FOLIOT_ASSERT(count >= 2);
    memcpy(copy, packet, length); // the outbox may be flushed in between
    s->fragmented++;
    for (uint32_t i = 0; i < count; i++) {
        size_t bytes = foliot__fragment_write(copy, length, s->fragmented, i, count, fragment);
        if (!foliot__enet_send_item(t, s, FOLIOT__RAW_FRAGMENT, fragment, bytes))
            return false;
    }
    return true;
}

static void send_probe(enet_transport *t, slot *s, uint32_t size)
{
    uint8_t probe[FOLIOT__PATH_BYTES_MAX] = {PATH_PROBE, (uint8_t)s->path.number,
                                             (uint8_t)(s->path.number >> 8)};
    bool large = s->sent_large; // by others than probes
    foliot__enet_send_item(t, s, FOLIOT__RAW_PATH, probe,
                           size - foliot__enet_head_bytes(s) - FOLIOT__RAW_LENGTH_BYTES);
    s->sent_large = large;
    t->head.counters.path_probes++;
}

void foliot__enet_advance_paths(enet_transport *t)
{
    if (t->now_ns < t->paths_ns)
        return;
    uint64_t due = UINT64_MAX;
    for (uint32_t i = 0; i < t->slots_used; i++) {
        slot *s = &t->slots[i];
        if (s->state != SLOT_CONNECTED || !s->path.most)
            continue;
        s->path.large = s->path.large || s->sent_large;
        s->sent_large = false;
        uint32_t size =
            foliot__path_probe(&s->path, t->now_ns, (uint64_t)s->peer->roundTripTime * 1000000u);
        set_sizes(s);
        if (size > 0)
            send_probe(t, s, size);
        uint64_t next = foliot__path_due_ns(&s->path);
        due = next < due ? next : due;
    }
    t->paths_ns = due < t->now_ns + LOOK_EVERY_NS ? t->now_ns + LOOK_EVERY_NS : due;
}

// -- in

static void take_path(enet_transport *t, slot *s, const uint8_t *item, size_t length, size_t bytes)
{
    uint16_t number = length >= PROBE_BYTES ? (uint16_t)(item[1] | item[2] << 8) : 0;
    bool probe = length >= ANSWER_BYTES && item[0] == PATH_PROBE;
    bool answer = length == ANSWER_BYTES && item[0] == PATH_ANSWER;
    if (s->state != SLOT_CONNECTED || !(probe || answer)) {
        t->head.counters.datagrams_dropped_malformed += !(probe || answer);
        return;
    }
    if (answer) {
        foliot__path_answered(&s->path, number, (uint32_t)(item[3] | item[4] << 8), t->now_ns);
        set_sizes(s);
        t->paths_ns = t->now_ns;
        return;
    }
    if (s->answered_ns && t->now_ns - s->answered_ns < ANSWER_EVERY_NS)
        return;
    s->answered_ns = t->now_ns ? t->now_ns : 1;
    uint8_t back[ANSWER_BYTES] = {PATH_ANSWER, item[1], item[2], (uint8_t)bytes,
                                  (uint8_t)(bytes >> 8)};
    foliot__enet_send_item(t, s, FOLIOT__RAW_PATH, back, sizeof back);
}

static void take_fragment(enet_transport *t, slot *s, const uint8_t *item, size_t length,
                          uint64_t arrived_ns)
{
    const uint8_t *packet;
    size_t packet_length;
    if (!s->reassembly)
        s->reassembly = calloc(1, sizeof *s->reassembly);
    if (!s->reassembly)
        return; // it is lost
    if (!foliot__fragment_read(s->reassembly, item, length, &packet, &packet_length))
        t->head.counters.datagrams_dropped_malformed++;
    else if (packet)
        foliot__inbox_push(&t->inbox, foliot__slot_id(t, s), packet, packet_length, arrived_ns);
}

void foliot__enet_take_item(enet_transport *t, slot *s, const foliot__raw_datagram *datagram,
                            uint32_t i, size_t bytes, uint64_t arrived_ns)
{
    const uint8_t *item = datagram->packets[i];
    size_t length = datagram->lengths[i];
    if (datagram->kinds[i] == 0)
        foliot__inbox_push(&t->inbox, foliot__slot_id(t, s), item, length, arrived_ns);
    else if (datagram->kinds[i] == FOLIOT__RAW_FRAGMENT)
        take_fragment(t, s, item, length, arrived_ns);
    else if (datagram->kinds[i] == FOLIOT__RAW_PATH)
        take_path(t, s, item, length, bytes);
    else
        t->head.counters.datagrams_dropped_malformed++;
}
