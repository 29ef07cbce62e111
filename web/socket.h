// SPDX-License-Identifier: MIT
// socket.h: a transport with one connection, which the page holds: it hands in what a WebSocket
// and a data channel receive, and is called for what goes out.
#ifndef FOLIOT_WEB_SOCKET_H
#define FOLIOT_WEB_SOCKET_H

#include "foliot/transport.h"

foliot_transport *web_socket_transport(void); // the only one; it is never destroyed

// What happened to the page's connection. Bytes are copied. False: no memory, or too much waits.
bool web_socket_opened(void);
bool web_socket_closed(uint32_t reason);
// `path`: 0 by the WebSocket, 1 by the data channel.
bool web_socket_received(foliot_delivery delivery, uint32_t path, const uint8_t *bytes,
                         size_t length);

#endif
