// SPDX-License-Identifier: MIT
// enet_send.c: unreliable packets go into the outbox of raw datagrams, reliable ones to ENet.
// Reliable packets wait in their slot until ENet has connected. A packet that is too large for a
// path goes in fragments. ENet's resends are timed here.
#include "net/enet_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

#define LOOK_EVERY_NS 20000000u
#define RESENDS_LOOKED_AT 256 // of one peer: more than are in flight when they are large
#define RESENDS_A_TIMEOUT 4
#define DOUBLINGS_MAX 16 // a millisecond becomes a minute
#define OVERTAKEN_BY 4
#define BULK_BYTES 16384u // in flight: they wait for one another

void foliot__enet_flush_datagrams(enet_transport *t)
{
    if (t->secure)
        foliot__enet_seal_outbox(t);
    if (t->outbox.count > 0)
        t->head.counters.datagrams_unsent += foliot__outbox_flush(&t->outbox, t->socket);
}

size_t foliot__enet_head_bytes(const slot *s)
{
    return s->secure                    ? FOLIOT__SEAL_BYTES
           : s->state == SLOT_CONNECTED ? FOLIOT__SHORT_HEAD_BYTES
                                        : FOLIOT__EARLY_HEAD_BYTES;
}

bool foliot__enet_add_datagram(enet_transport *t, slot *s, const uint8_t *kept, size_t length)
{
    foliot__outbox *o = &t->outbox;
    bool is_short = s->state == SLOT_CONNECTED;
    uint32_t index = foliot__outbox_add(o, &s->address, foliot__enet_head_bytes(s), kept, length);
    if (index == UINT32_MAX)
        return false;
    if (s->secure) { // sealed when it leaves
        o->heads[index][0] = FOLIOT__SEALED_RAW;
        memcpy(o->heads[index] + 1, &s->connect_id, 4);
        o->owners[index] = s->secure;
    } else if (is_short) {
        foliot__raw_datagram_short_head(s->connect_id, s->peer->outgoingPeerID, o->heads[index]);
    } else {
        foliot__raw_datagram_early_head(s->opening.cookie, s->connect_id, o->heads[index]);
    }
    if (!is_short && !s->secure) // it is an opening too
        s->opening.hello_ns = t->now_ns;
    s->datagram = index;
    s->flush = o->flushes;
    s->sent_large = s->sent_large || o->sizes[index] > FOLIOT__PATH_BYTES_MIN;
    return true;
}

// Sends an item in a separate datagram. False: the outbox has no room.
static bool send_item(enet_transport *t, slot *s, uint16_t kind, const uint8_t *bytes,
                      size_t length)
{
    const uint8_t *kept = foliot__outbox_keep_other(&t->outbox, kind, bytes, length);
    if (kept && foliot__enet_add_datagram(t, s, kept, length))
        return true;
    foliot__enet_flush_datagrams(t);
    kept = foliot__outbox_keep_other(&t->outbox, kind, bytes, length);
    return kept && foliot__enet_add_datagram(t, s, kept, length);
}

// Queues a packet that the outbox keeps for one receiver.
static bool send_datagram(enet_transport *t, slot *s, const uint8_t *kept, size_t length)
{
    foliot__outbox *o = &t->outbox;
    if (s->state == SLOT_ASKING)
        return false;
    if (o->count > 0 && s->flush == o->flushes && s->datagram < o->count &&
        foliot__outbox_append(o, s->datagram, kept, length, s->path_bytes))
        return true;
    if (foliot__enet_head_bytes(s) + FOLIOT__RAW_LENGTH_BYTES + length > s->path_bytes) {
        // A packet that is too large for the path; it is lost if one of its fragments is.
        uint8_t copy[FOLIOT_PACKET_BYTES_MAX], fragment[FOLIOT_PACKET_BYTES_MAX];
        size_t room = s->path_bytes - foliot__enet_head_bytes(s) - FOLIOT__RAW_LENGTH_BYTES;
        uint32_t count = foliot__fragment_count(length, room);
        FOLIOT_ASSERT(count >= 2);
        memcpy(copy, (kept + FOLIOT__RAW_LENGTH_BYTES),
               length); // the outbox may be flushed in between
        s->fragmented++;
        for (uint32_t i = 0; i < count; i++) {
            size_t bytes = foliot__fragment_write(copy, length, s->fragmented, i, count, fragment);
            if (!send_item(t, s, FOLIOT__RAW_FRAGMENT, fragment, bytes))
                return false;
        }
        return true;
    }
    return foliot__enet_add_datagram(t, s, kept, length);
}

// -- probes of the paths, and answers to the peers' probes

void foliot__enet_advance_paths(enet_transport *t)
{
    for (uint32_t i = 0; i < t->path_answers_count; i++) {
        const foliot__path_answer *answer = &t->path_answers[i];
        slot *s = &t->slots[answer->slot];
        if (s->state == SLOT_CONNECTED && s->connect_id == answer->connect_id)
            (void)send_item(t, s, FOLIOT__RAW_PATH, answer->item, sizeof answer->item);
    }
    t->path_answers_count = 0;
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
        foliot__enet_set_sizes(s);
        if (size > 0) {
            uint8_t probe[FOLIOT__PATH_BYTES_MAX] = {FOLIOT__PATH_PROBE, (uint8_t)s->path.number,
                                                     (uint8_t)(s->path.number >> 8)};
            bool large = s->sent_large; // by others than probes
            send_item(t, s, FOLIOT__RAW_PATH, probe,
                      size - foliot__enet_head_bytes(s) - FOLIOT__RAW_LENGTH_BYTES);
            s->sent_large = large;
            t->head.counters.path_probes++;
        }
        uint64_t next = foliot__path_due_ns(&s->path);
        due = next < due ? next : due;
    }
    t->paths_ns = due < t->now_ns + LOOK_EVERY_NS ? t->now_ns + LOOK_EVERY_NS : due;
}

// -- when ENet resends unacknowledged commands

static uint64_t longer(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

// The time-out of a command after `attempts`. It doubles, up to a part of the time-out: ENet gives
// up a peer when one command has waited for the whole time-out, whatever else was acknowledged.
static uint64_t resend_ms(const enet_transport *t, const ENetPeer *peer, uint32_t attempts)
{
    uint64_t round_trip = peer->roundTripTime, variance = peer->roundTripTimeVariance;
    uint64_t once = round_trip + 4 * variance;
    if (peer->reliableDataInTransit > BULK_BYTES) // the variance of many pieces is that of a moment
        once = longer(once, 2 * round_trip);
    uint64_t most = longer(once, t->head.config.timeout_ms / RESENDS_A_TIMEOUT);
    uint64_t wait = once << (attempts <= DOUBLINGS_MAX ? attempts - 1 : DOUBLINGS_MAX);
    return wait < most ? wait : most;
}

// In how many milliseconds a command of the peer's is to be resent; 0: now. Sets ENet's time-outs
// by the present estimate of the round trip; ENet chooses each at the first send, before much is
// known. A command that several acknowledged ones have overtaken is lost, and waits hardly longer
// than a round trip: the numbers of the acknowledged ones are missing in the list.
static uint32_t next_resend_ms(const enet_transport *t, ENetPeer *peer, enet_uint32 now_ms)
{
    uint64_t spare = longer(peer->roundTripTime / 4, 2 * (uint64_t)peer->roundTripTimeVariance);
    uint64_t overtaken_ms = peer->roundTripTime + spare, first = resend_ms(t, peer, 1);
    bool bulk = peer->reliableDataInTransit > BULK_BYTES;
    ENetListNode *end = enet_list_end(&peer->sentReliableCommands);
    const ENetOutgoingCommand *newest = NULL;
    uint32_t newer = 0, looked_at = 0;
    for (ENetListNode *i = enet_list_previous(end); i != end && looked_at < RESENDS_LOOKED_AT;
         i = enet_list_previous(i), looked_at++) {
        ENetOutgoingCommand *command = (ENetOutgoingCommand *)(void *)i;
        uint64_t wait = resend_ms(t, peer, command->sendAttempts);
        uint32_t age = now_ms - command->sentTime;
        if (command->sendAttempts == 1 &&
            command->command.header.channelID == FOLIOT__CHANNEL_RELIABLE) {
            newest = newest ? newest : command;
            uint16_t after =
                (uint16_t)(newest->reliableSequenceNumber - command->reliableSequenceNumber);
            if (after >= newer + OVERTAKEN_BY && overtaken_ms < wait)
                wait = overtaken_ms;
            newer++;
        }
        if (bulk || wait < command->roundTripTimeout)
            command->roundTripTimeout = (enet_uint32)wait;
        uint64_t left = age < command->roundTripTimeout ? command->roundTripTimeout - age : 0;
        first = left < first ? left : first;
    }
    return (uint32_t)first;
}

// ENet checks its timers when that of the oldest command expires. A command that was lost twice has
// a long one, and all later losses would wait for it. A peer that acknowledges nothing is checked
// only when one of its commands is due.
void foliot__enet_time_resends(enet_transport *t)
{
    enet_uint32 now_ms = (enet_uint32)(t->now_ns / 1000000u);
    if (t->now_ns - t->service.resends_ns < LOOK_EVERY_NS)
        return;
    t->service.resends_ns = t->now_ns;
    for (uint32_t i = 0; i < t->slots_used; i++) {
        slot *s = &t->slots[i];
        if (s->state != SLOT_CONNECTED || (s->peer->lastReceiveTime == s->acknowledged_ms &&
                                           (int32_t)(now_ms - s->resend_ms) < 0))
            continue;
        uint32_t left = next_resend_ms(t, s->peer, now_ms);
        if (left == 0)
            s->peer->nextTimeout = now_ms;
        s->acknowledged_ms = s->peer->lastReceiveTime;
        s->resend_ms = now_ms + left;
    }
}

// -- packets

static uint32_t send_unreliable(enet_transport *t, const foliot_peer_id *peers, uint32_t count,
                                const uint8_t *bytes, size_t length)
{
    const uint8_t *kept = NULL;
    uint32_t taken = 0, flushes = t->outbox.flushes;
    for (uint32_t i = 0; i < count; i++) {
        slot *s = foliot__slot_of(t, peers[i]);
        if (!s)
            continue;
        if (!kept || t->outbox.flushes != flushes) // a flush has sent the kept packet
            kept = foliot__outbox_keep(&t->outbox, bytes, length);
        flushes = t->outbox.flushes;
        bool sent = kept && send_datagram(t, s, kept, length);
        if (!sent && s->state != SLOT_ASKING) { // the outbox is full
            foliot__enet_flush_datagrams(t);
            kept = foliot__outbox_keep(&t->outbox, bytes, length);
            flushes = t->outbox.flushes;
            sent = kept && send_datagram(t, s, kept, length);
        }
        taken += sent;
    }
    return taken;
}

static uint32_t send_reliable(enet_transport *t, const foliot_peer_id *peers, uint32_t count,
                              const uint8_t *bytes, size_t length)
{
    ENetPacket *packet = enet_packet_create(bytes, length, ENET_PACKET_FLAG_RELIABLE);
    uint32_t taken = 0;
    for (uint32_t i = 0; packet && i < count; i++) {
        slot *s = foliot__slot_of(t, peers[i]);
        if (s && length > FOLIOT__PATH_BYTES_MIN / 2)
            s->sent_large = true;
        if (s && s->state == SLOT_CONNECTED) {
            // ENet divides the packet now, for the present path.
            enet_uint32 mtu = s->peer->mtu;
            s->peer->mtu = s->divided_bytes;
            taken += enet_peer_send(s->peer, FOLIOT__CHANNEL_RELIABLE, packet) == 0;
            s->peer->mtu = mtu;
        } else if (s && s->state != SLOT_ASKING) {
            // The packet waits until ENet has connected.
            if (!foliot__array_resize(&s->waiting, s->waiting_count + 1, sizeof *s->waiting))
                continue;
            s->waiting[s->waiting_count++] = packet;
            packet->referenceCount++;
            taken++;
        }
    }
    if (packet && packet->referenceCount == 0)
        enet_packet_destroy(packet);
    t->service.unsent = t->service.unsent || taken > 0;
    return taken;
}

uint32_t foliot__enet_send(foliot_transport *transport, const foliot_peer_id *peers, uint32_t count,
                           foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    enet_transport *t = (enet_transport *)transport;
    return delivery == FOLIOT_DELIVERY_RELIABLE ? send_reliable(t, peers, count, bytes, length)
                                                : send_unreliable(t, peers, count, bytes, length);
}

uint32_t foliot__enet_overhead(const foliot_transport *transport, foliot_peer_id peer)
{
    const slot *s = foliot__slot_of((enet_transport *)(uintptr_t)transport, peer);
    if (!s)
        return FOLIOT__TRANSPORT_OVERHEAD;
    size_t network =
        foliot__net_address_is_ip4(&s->address) ? FOLIOT__IP4_BYTES : FOLIOT__IP6_BYTES;
    return (uint32_t)(network + FOLIOT__UDP_BYTES + foliot__enet_head_bytes(s) +
                      FOLIOT__RAW_LENGTH_BYTES);
}
