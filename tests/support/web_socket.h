// SPDX-License-Identifier: MIT
// web_socket.h: the far end of a WebSocket, as a browser is: bytes as they are for those who misuse
// it, and a transport for a foliot_client. Blocks for seconds at most.
#ifndef FOLIOT_TESTS_WEB_SOCKET_H
#define FOLIOT_TESTS_WEB_SOCKET_H

#include "foliot/transport.h"
#include "net/transport.h"

#define WEB_FRAME_BYTES (1u << 20)

typedef struct web_frame {
    int opcode; // 8: closed, with `code`; -1: the connection ended without a close frame
    uint16_t code;
    char reason[124];
    uint8_t *bytes; // the test's until the next frame
    size_t length;
} web_frame;

int web_connect(uint16_t port); // a socket of TCP
// Sends a request, NULL: the right one, and reads the answer's head. Returns its status; 0: none.
int web_upgrade(int fd, uint16_t port, const char *request);
int web_open(uint16_t port);                                   // both
void web_send_bytes(int fd, const void *bytes, size_t length); // whatever becomes of them
// One frame, with a mask.
void web_send(int fd, uint8_t first, const void *bytes, size_t length);
// A packet of a transport, as pages send it.
void web_send_packet(int fd, foliot_delivery delivery, const uint8_t *bytes, size_t length);
// Waits for a frame for `ms`. False: none came.
bool web_receive(int fd, int ms, web_frame *frame);

// For a transport whose one peer is a browser: nothing waits in it, and nothing is known of the
// other side.
void web_lone_flush(foliot_transport *transport, uint64_t now_ns);
uint64_t web_lone_wake_ns(const foliot_transport *transport);
uint16_t web_lone_port(const foliot_transport *transport);
void web_lone_address(const foliot_transport *transport, foliot_peer_id peer, char *text,
                      size_t bytes);
uint64_t web_lone_number(const foliot_transport *transport, foliot_peer_id peer);
#define WEB_LONE_PEER                                                                              \
    .flush = web_lone_flush, .wake_ns = web_lone_wake_ns, .port = web_lone_port,                   \
    .peer_address = web_lone_address, .peer_host = web_lone_number,                                \
    .round_trip_ns = web_lone_number

// One peer, by connect to a host, IPv4. `signal` gets the messages that are no packets; NULL: there
// are none.
foliot_transport *web_transport_create(void (*signal)(void *user, const web_frame *frame),
                                       void *user);

#endif
