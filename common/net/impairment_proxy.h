// SPDX-License-Identifier: MIT
// impairment_proxy.h: an impaired network between ENet's socket and the real one, datagram by
// datagram and in both directions, so that ENet's own handshakes, acknowledgements and resends
// suffer too.
#ifndef FOLIOT_NET_RELAY_H
#define FOLIOT_NET_RELAY_H

#include <netinet/in.h>

#include "net/link.h"

#define FOLIOT__RELAY_SESSIONS_MAX 1024 // far addresses at once

typedef struct foliot__relay foliot__relay;

// In front of a host: datagrams to `public_address` go to ENet at `near` (loopback), each far
// address through a socket of its own. FOLIOT_STATUS_AGAIN: the port is busy.
foliot_status foliot__relay_listen(const struct sockaddr_in *public_address,
                                   const struct sockaddr_in *near, const foliot_impairment *send,
                                   const foliot_impairment *receive,
                                   foliot_transport_counters *counters, foliot__relay **relay);
// In front of a client: ENet connects to foliot__relay_address, datagrams go to `far`.
foliot_status foliot__relay_connect(const struct sockaddr_in *far, const foliot_impairment *send,
                                    const foliot_impairment *receive,
                                    foliot_transport_counters *counters, foliot__relay **relay);
bool foliot__relay_leads_to(const foliot__relay *relay, const struct sockaddr_in *far);
void foliot__relay_close(foliot__relay *relay);
// Sends on what ENet gave so far, due or not: for the last words before an end.
void foliot__relay_drain(foliot__relay *relay, uint64_t now_ns);
// Moves whatever has arrived and is due.
void foliot__relay_pump(foliot__relay *relay, uint64_t now_ns);
uint64_t foliot__relay_wake_ns(const foliot__relay *relay);
int foliot__relay_descriptor(
    const foliot__relay *relay); // readable when there is something to pump
struct sockaddr_in foliot__relay_address(const foliot__relay *relay);

#endif
