// SPDX-License-Identifier: MIT
// impairment_proxy.h: an impaired network between ENet's socket and the real one, datagram by
// datagram and in both directions, so that ENet's own handshakes, acknowledgements and resends
// suffer too.
#ifndef FOLIOT_NET_IMPAIRMENT_PROXY_H
#define FOLIOT_NET_IMPAIRMENT_PROXY_H

#include <netinet/in.h>

#include "net/address.h"
#include "net/link.h"

#define FOLIOT__PROXY_SESSIONS_MAX 1024 // far addresses at once

typedef struct foliot__impairment_proxy foliot__impairment_proxy;

// In front of a host: datagrams to `public_address` go to ENet at `near` (loopback), each far
// address through a separate socket. FOLIOT_STATUS_BUSY: the port is in use.
foliot_status foliot__impairment_proxy_listen(const foliot__net_address *public_address,
                                              const struct sockaddr_in *near,
                                              const foliot_impairment *send,
                                              const foliot_impairment *receive,
                                              foliot_transport_counters *counters,
                                              foliot__impairment_proxy **proxy);
// In front of a client: ENet connects to foliot__impairment_proxy_address, datagrams go to `far`.
foliot_status foliot__impairment_proxy_connect(const foliot__net_address *far,
                                               const foliot_impairment *send,
                                               const foliot_impairment *receive,
                                               foliot_transport_counters *counters,
                                               foliot__impairment_proxy **proxy);
bool foliot__impairment_proxy_leads_to(const foliot__impairment_proxy *proxy,
                                       const foliot__net_address *far);
void foliot__impairment_proxy_close(foliot__impairment_proxy *proxy);
// Sends on what ENet gave so far, due or not: for the last words before an end.
void foliot__impairment_proxy_drain(foliot__impairment_proxy *proxy, uint64_t now_ns);
// Moves whatever has arrived and is due.
void foliot__impairment_proxy_pump(foliot__impairment_proxy *proxy, uint64_t now_ns);
uint64_t foliot__impairment_proxy_wake_ns(const foliot__impairment_proxy *proxy);
int foliot__impairment_proxy_descriptor(
    const foliot__impairment_proxy *proxy); // readable when there is something to pump
foliot__net_address foliot__impairment_proxy_address(const foliot__impairment_proxy *proxy);

#endif
