// SPDX-License-Identifier: MIT
// queues.h: data shared by the two sides of queues: queues.c is the transport's side,
// queues_network.c the network's, queues_parts.c the code that both use. One lock guards all of it
// and is held for some pointers' length: packets are copied outside of it.
#ifndef FOLIOT_NET_QUEUES_H
#define FOLIOT_NET_QUEUES_H

#include <pthread.h>
#include <stdatomic.h>

#include "net/admission.h"
#include "net/transport.h"

#define FOLIOT__QUEUES_ADDRESS_BYTES 64

// FREE: unused. OPEN: in use by both sides. ENDED: the transport is done with it, and packets sent
// are still read until the network leaves.
enum { FOLIOT__PLACE_FREE, FOLIOT__PLACE_OPEN, FOLIOT__PLACE_ENDED };

typedef struct foliot__shared_bytes { // of one packet, for all its receivers
    atomic_uint uses;
    size_t length;
    uint8_t bytes[];
} foliot__shared_bytes;

typedef struct foliot__waiting { // a packet that was sent to one peer
    struct foliot__waiting *next;
    foliot__shared_bytes *packet;
    uint64_t sent_ns;
} foliot__waiting;

typedef struct foliot__waiting_line { // of them, the oldest first
    foliot__waiting *first, *last;
    size_t bytes;
} foliot__waiting_line;

typedef struct foliot__arrival { // what a poll gives
    struct foliot__arrival *next;
    foliot_transport_event event; // its bytes are behind it
    uint8_t bytes[];
} foliot__arrival;

typedef struct foliot__queued_peer {
    uint32_t generation, state;
    char address[FOLIOT__QUEUES_ADDRESS_BYTES];
    uint64_t address_key, round_trip_ns;
    size_t put_bytes; // not polled yet, here and below
    uint32_t put_packets;
    foliot__waiting_line out[2]; // by delivery
    bool named;                  // among those that foliot_queues_next will name
    bool unreliable_next;
    uint32_t reason; // ENDED: reported once all packets have been read
    // The event of the end, made at the join: no end is lost for want of memory.
    foliot__arrival *farewell;
} foliot__queued_peer;

struct foliot_queues {
    foliot_transport head;
    foliot_queues_config config;
    pthread_mutex_t lock;
    foliot__queued_peer *places;
    foliot_peer_identity *identities; // by place: apart, since they are large and seldom read
    foliot__admission admission;
    foliot__arrival *first_in, *last_in;
    uint32_t *names; // a ring of indices of places
    uint32_t name_first, name_count;
    int in_descriptor, out_descriptor;
    bool in_signalled, out_signalled;
    bool transport_gone, network_gone;
    uint64_t over_address, too_fast, refused_joins, dropped; // since they were counted last
    // The transport's thread alone:
    foliot__arrival *polled; // given, or to be given; nothing in it waits for the lock
    foliot__arrival *given;  // the last event: its bytes live until the next poll
    uint32_t *generations;   // of the connections that the transport's owner knows; 0: none
    uint64_t now_ns;
};

// All with the lock held, but for those of bytes and of the end.
// The place that a peer has; NULL: none any more.
foliot__queued_peer *foliot__queues_place(foliot_queues *q, foliot_peer_id peer);
foliot_peer_id foliot__queues_id(const foliot_queues *q, const foliot__queued_peer *p);
void foliot__queues_drop_use(foliot__shared_bytes *packet);
foliot__waiting *foliot__line_pop(foliot__waiting_line *l);
bool foliot__line_drop_first(foliot__waiting_line *l);
bool foliot__line_push(foliot__waiting_line *l, foliot__shared_bytes *packet, uint64_t now_ns);
void foliot__queues_signal(int descriptor, bool *signalled);
void foliot__queues_clear(int descriptor, bool *signalled);
void foliot__queues_append(foliot_queues *q, foliot__arrival *a);
foliot__arrival *foliot__arrival_make(foliot_transport_event_kind kind, const uint8_t *bytes,
                                      size_t length);
// foliot_queues_next will name it.
void foliot__queues_name(foliot_queues *q, foliot__queued_peer *p);
// The event of the end for the transport.
void foliot__place_bid_farewell(foliot_queues *q, foliot__queued_peer *p, uint32_t reason);
// The transport is done with a peer; `reason` reaches the network.
void foliot__place_end(foliot_queues *q, foliot__queued_peer *p, uint32_t reason, bool at_once);
void foliot__place_free(foliot_queues *q, foliot__queued_peer *p);
void foliot__queues_free(foliot_queues *q);

// For a network of two paths: reads a packet of one delivery, and says whether anything is left, or
// anything that is reliable or the end. On the network's thread, as foliot_queues_read.
bool foliot__queues_read_of(foliot_queues *q, foliot_peer_id peer, foliot_delivery delivery,
                            uint64_t now_ns, foliot_queues_packet *packet);
bool foliot__queues_has_more(foliot_queues *q, foliot_peer_id peer, bool any);
// Whether the transport has disconnected the peer. Packets sent before are still to be read, and
// then the end, but a network need not wait for a connection that accepts no data.
bool foliot__queues_get_ended(foliot_queues *queues, foliot_peer_id peer);
// From any thread: whether foliot_queues_next would return a peer.
bool foliot__queues_has_named(foliot_queues *q);

#endif
