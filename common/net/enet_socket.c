// SPDX-License-Identifier: MIT
// enet_socket.c: datagrams past ENet, one at a time: the greetings of connections.
#include "net/enet_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

bool foliot__send_raw(enet_transport *t, const foliot__net_address *to, const uint8_t *bytes,
                      size_t length)
{
    foliot__socket_address at;
    socklen_t at_bytes = foliot__net_address_to_socket(to, &at);
    // A datagram that the socket refuses is lost, as on any network.
    return sendto(t->socket, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL, &at.any, at_bytes) >= 0 ||
           (errno != ENETUNREACH && errno != EHOSTUNREACH && errno != EADDRNOTAVAIL &&
            errno != EAFNOSUPPORT && errno != ENETDOWN);
}

void foliot__send_undivided(enet_transport *t, const foliot__net_address *to, const uint8_t *bytes,
                            size_t length)
{
    if (length > FOLIOT__PATH_BYTES_MIN)
        foliot__set_fragments(t->socket, true);
    (void)foliot__send_raw(t, to, bytes, length);
    if (length > FOLIOT__PATH_BYTES_MIN)
        foliot__set_fragments(t->socket, false);
}

void foliot__send_answer(enet_transport *t, const foliot__net_address *to, const uint8_t *bytes,
                         size_t length)
{
    if (foliot__address_may_send(&t->sender, length))
        foliot__send_raw(t, to, bytes, length);
}

void foliot__send_refusal(enet_transport *t, const foliot__net_address *to, uint32_t connect_id,
                          uint32_t reason)
{
    uint8_t refusal[FOLIOT__REFUSAL_BYTES];
    memcpy(refusal, FOLIOT__REFUSAL_MARK, 8);
    memcpy(refusal + 8, &connect_id, 4);
    for (int i = 0; i < 4; i++)
        refusal[12 + i] = (uint8_t)(reason >> (8 * i));
    foliot__send_answer(t, to, refusal, sizeof refusal);
}

// The connect id that a datagram of ENet's carries in the checksum's place, or in a connect.
uint32_t foliot__enet_connection_of(const uint8_t *bytes, size_t length, uint32_t in_checksum)
{
    foliot__claims claims = {0};
    if (foliot__packet_filter_peer(bytes, length) >= 0)
        return in_checksum;
    (void)foliot__packet_filter(bytes, length, -1, FOLIOT_RELIABLE_BYTES_MAX, &claims);
    return htonl(claims.connect_id);
}
