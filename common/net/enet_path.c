// SPDX-License-Identifier: MIT
// enet_path.c: the size of the datagrams to each peer, and the probes that find it. ENet divides a
// reliable packet only once, so it gets only sizes that have arrived. Probes and answers travel as
// packets do, so nobody outside a connection can send them; an answer is smaller than its probe.
// Sends nothing: answers wait for enet_send.c.
#include "net/enet_internal.h"

#include <stdlib.h>
#include <string.h>

#define ANSWER_EVERY_NS 5000000u
#define PROBE_BYTES 3 // its kind and number; then zeros
#define ENET_SPARE 8  // its checksum, which it does not count

// `least`, or the need of the largest item of a list, up to `most`: none needs more.
static uint32_t datagram_of_largest(ENetList *list, uint32_t least, uint32_t most)
{
    for (ENetListIterator i = enet_list_begin(list); i != enet_list_end(list) && least < most;
         i = enet_list_next(i)) {
        const ENetOutgoingCommand *command = (const ENetOutgoingCommand *)(void *)i;
        uint32_t bytes = (uint32_t)(sizeof(ENetProtocolHeader) + sizeof(ENetProtocolSendFragment)) +
                         command->fragmentLength;
        least = bytes > least ? bytes : least;
    }
    return least;
}

// ENet never divides a piece again, and loops for ever over a piece that no datagram can hold. So
// the datagrams stay as large as the largest piece that waits to be sent or acknowledged.
void foliot__enet_set_sizes(slot *s)
{
    uint32_t seal = s->secure ? FOLIOT__SEAL_BYTES : 0;
    s->path_bytes = s->path.bytes;
    s->divided_bytes = (uint16_t)(s->path.proven - seal - ENET_SPARE);
    if (!s->peer)
        return;
    uint32_t least = s->divided_bytes, most = s->peer->mtu;
    if (least < most) {
        least = datagram_of_largest(&s->peer->sentReliableCommands, least, most);
        least = datagram_of_largest(&s->peer->outgoingCommands, least, most);
#if ENET_VERSION >= ENET_VERSION_CREATE(1, 3, 18)
        least = datagram_of_largest(&s->peer->outgoingSendReliableCommands, least, most);
#endif
    }
    s->peer->mtu = least;
}

void foliot__enet_open_path(enet_transport *t, slot *s)
{
    foliot__path_begin(&s->path, foliot__enet_most_bytes(t), t->now_ns);
    foliot__enet_set_sizes(s);
    t->paths_ns = t->now_ns;
}

static void receive_path(enet_transport *t, slot *s, const uint8_t *item, size_t length,
                         size_t bytes)
{
    uint16_t number = length >= PROBE_BYTES ? (uint16_t)(item[1] | item[2] << 8) : 0;
    bool probe = length >= FOLIOT__PATH_ANSWER_BYTES && item[0] == FOLIOT__PATH_PROBE;
    bool answer = length == FOLIOT__PATH_ANSWER_BYTES && item[0] == FOLIOT__PATH_ANSWER;
    if (s->state != SLOT_CONNECTED || !(probe || answer)) {
        t->head.counters.datagrams_dropped_malformed += !(probe || answer);
        return;
    }
    if (answer) {
        uint32_t proven = s->path.proven, may = s->path.bytes;
        foliot__path_answered(&s->path, number, (uint32_t)(item[3] | item[4] << 8), t->now_ns);
        if (s->path.proven == proven && s->path.bytes == may)
            return; // queues are not walked for each probe: the peer may not have asked for it
        foliot__enet_set_sizes(s);
        t->paths_ns = t->now_ns;
        return;
    }
    if (s->answered_ns && t->now_ns - s->answered_ns < ANSWER_EVERY_NS)
        return;
    s->answered_ns = t->now_ns ? t->now_ns : 1;
    if (t->path_answers_count == FOLIOT__PATH_ANSWERS_MAX)
        return; // the probe comes again
    t->path_answers[t->path_answers_count++] = (foliot__path_answer){
        .slot = (uint32_t)(s - t->slots),
        .connect_id = s->connect_id,
        .item = {FOLIOT__PATH_ANSWER, item[1], item[2], (uint8_t)bytes, (uint8_t)(bytes >> 8)}};
}

void foliot__enet_receive_item(enet_transport *t, slot *s, const foliot__raw_datagram *datagram,
                               uint32_t i, size_t bytes, uint64_t arrived_ns)
{
    const uint8_t *item = datagram->packets[i];
    size_t length = datagram->lengths[i];
    if (datagram->kinds[i] == 0) {
        foliot__inbox_push(&t->inbox, foliot__slot_id(t, s), item, length, arrived_ns);
    } else if (datagram->kinds[i] == FOLIOT__RAW_FRAGMENT) {
        const uint8_t *packet;
        size_t packet_length;
        if (!s->reassembly)
            s->reassembly = calloc(1, sizeof *s->reassembly);
        if (s->reassembly) {
            if (!foliot__fragment_read(s->reassembly, item, length, &packet, &packet_length))
                t->head.counters.datagrams_dropped_malformed++;
            else if (packet)
                foliot__inbox_push(&t->inbox, foliot__slot_id(t, s), packet, packet_length,
                                   arrived_ns);
        }
    } else if (datagram->kinds[i] == FOLIOT__RAW_PATH) {
        receive_path(t, s, item, length, bytes);
    } else {
        t->head.counters.datagrams_dropped_malformed++;
    }
}
