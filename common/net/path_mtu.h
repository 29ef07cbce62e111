// SPDX-License-Identifier: MIT
// path_mtu.h: how large a datagram may be to arrive at one peer (RFC 8899). It is found by probes
// that the peer answers, never from messages of the network: nobody but the peer can raise it, and
// only somebody who can hold back our datagrams can lower it. Sizes are the bytes after the UDP
// header. Knows no socket and no peer.
#ifndef FOLIOT_NET_PATH_MTU_H
#define FOLIOT_NET_PATH_MTU_H

#include <stdbool.h>
#include <stdint.h>

#define FOLIOT__PATH_HEADS_BYTES 48 // of IPv6 and UDP: those of IPv4 are fewer
#define FOLIOT__PATH_BYTES_MIN 528u // every network takes packets of 576 bytes
#define FOLIOT__PATH_BYTES_START 1200u
#define FOLIOT__PATH_BYTES_MAX 1232u // of packets of 1,280 bytes
#define FOLIOT__PATH_ANSWERABLE 32u

typedef struct foliot__path_mtu {
    uint16_t most;
    uint16_t bytes;  // size that may be tried: lost data can be sent otherwise
    uint16_t proven; // size that has arrived: for data that can never be split again
    uint16_t target; // of the probe under way; 0: none
    uint16_t number, tries;
    uint16_t answerable; // number of the newest probes whose answers still count
    uint16_t sizes[FOLIOT__PATH_ANSWERABLE]; // of those, by number
    bool descends;                           // looks for a size below one that did not arrive
    bool large;                              // more than the least was sent since `proven_ns`
    uint64_t sent_ns, proven_ns, raise_ns;
} foliot__path_mtu;

// A connection begins, or migrates to another address. `most`: FOLIOT__PATH_BYTES_MIN to _MAX.
void foliot__path_begin(foliot__path_mtu *path, uint32_t most, uint64_t now_ns);
// The size of the probe that is to be sent now, as number path->number; 0: none.
uint32_t foliot__path_probe(foliot__path_mtu *path, uint64_t now_ns, uint64_t round_trip_ns);
// The peer reports that this probe arrived, and its size.
void foliot__path_answered(foliot__path_mtu *path, uint16_t number, uint32_t bytes,
                           uint64_t now_ns);
// When the next probe may be due.
uint64_t foliot__path_due_ns(const foliot__path_mtu *path);

#endif
