// SPDX-License-Identifier: MIT
// enet_socket.c: datagrams past ENet, one at a time: the greetings of connections.
#include "net/enet_internal.h"

#include <string.h>

void foliot__send_raw(enet_transport *t, const ENetAddress *to, const uint8_t *bytes, size_t length)
{
    ENetBuffer buffer = {.data = (void *)(uintptr_t)bytes, .dataLength = length};
    enet_socket_send(t->host->socket, to, &buffer, 1);
}

// A refusal is smaller than the datagram that it answers, so it amplifies nothing.
void foliot__send_refusal(enet_transport *t, const ENetAddress *to, uint32_t connect_id,
                          uint32_t reason)
{
    uint8_t refusal[FOLIOT__REFUSAL_BYTES];
    memcpy(refusal, FOLIOT__REFUSAL_MARK, 8);
    memcpy(refusal + 8, &connect_id, 4);
    for (int i = 0; i < 4; i++)
        refusal[12 + i] = (uint8_t)(reason >> (8 * i));
    foliot__send_raw(t, to, refusal, sizeof refusal);
}
