// SPDX-License-Identifier: MIT
// batched_socket.h: datagrams that can wait, read many at a time. This is a second socket on a
// host's port, into which the kernel sorts the datagrams that begin with one of two marks. It never
// causes a wake-up. Inputs take effect when their tick is closed: reading them sooner gains
// nothing, and a wake-up for each costs more than processing it.
#ifndef FOLIOT_NET_BATCHED_SOCKET_H
#define FOLIOT_NET_BATCHED_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/address.h"

typedef struct foliot__batched_socket foliot__batched_socket;

// `arrived_ns`: at most now_ns, by the kernel's account.
typedef void foliot__batch_receiver(void *user, const foliot__net_address *from,
                                    const uint8_t *bytes, size_t length, uint64_t arrived_ns);

// Opens the second socket of a bound socket. NULL if the system does not support it: then all
// datagrams arrive at the bound socket.
foliot__batched_socket *foliot__batched_socket_open(int host_fd, uint8_t mark, uint8_t other_mark);
void foliot__batched_socket_close(foliot__batched_socket *batched);
// Reads all datagrams, with `length` at most FOLIOT__RAW_DATAGRAM_BYTES_MAX + 1 (longer ones are
// truncated). A second call with the same now_ns does nothing.
void foliot__batched_socket_read(foliot__batched_socket *batched, uint64_t now_ns,
                                 foliot__batch_receiver *take, void *user);
// The latest time for the next read: the socket's buffer does not fill up, and no wake-up serves
// only a few datagrams.
uint64_t foliot__batched_socket_wake_ns(const foliot__batched_socket *batched);
// Whether the traffic is so low that twice the interval would suffice.
bool foliot__batched_socket_is_calm(const foliot__batched_socket *batched);

#endif
