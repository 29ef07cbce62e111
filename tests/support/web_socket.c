// SPDX-License-Identifier: MIT
// web_socket.c: see web_socket.h.
#include "web_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "net/transport.h"

// -1: nobody listens there.
static int connect_to(const char *host, uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FOLIOT_ASSERT(fd >= 0 && inet_pton(AF_INET, host, &to.sin_addr) == 1);
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

int web_connect(uint16_t port)
{
    int fd = connect_to("127.0.0.1", port);
    FOLIOT_ASSERT(fd >= 0);
    return fd;
}

static bool readable(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, ms) == 1;
}

// Reads exactly `length` bytes, within seconds; false: the connection ended, or nothing came.
static bool read_all(int fd, void *bytes, size_t length)
{
    uint8_t *at = bytes;
    while (length > 0) {
        ssize_t count = readable(fd, 5000) ? recv(fd, at, length, 0) : -1;
        if (count <= 0)
            return false;
        at += count;
        length -= (size_t)count;
    }
    return true;
}

void web_send_bytes(int fd, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    while (length > 0) {
        ssize_t count = send(fd, at, length, MSG_NOSIGNAL);
        if (count <= 0)
            return;
        at += count;
        length -= (size_t)count;
    }
}

static int upgrade_at(int fd, const char *host, uint16_t port, const char *request)
{
    char text[1024], head[4096];
    size_t have = 0;
    snprintf(text, sizeof text,
             "GET /ws HTTP/1.1\r\nHost: %s:%u\r\nOrigin: http://%s:%u\r\n"
             "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: foliot.1\r\n"
             "\r\n",
             host, port, host, port);
    request = request ? request : text;
    web_send_bytes(fd, request, strlen(request));
    for (;;) {
        if (have + 1 >= sizeof head || !read_all(fd, head + have, 1))
            return 0;
        head[++have] = 0;
        if (strstr(head, "\r\n\r\n"))
            return strlen(head) > 12 ? atoi(head + 9) : 0;
    }
}

int web_upgrade(int fd, uint16_t port, const char *request)
{
    return upgrade_at(fd, "127.0.0.1", port, request);
}

int web_open(uint16_t port)
{
    int fd = web_connect(port);
    int status = web_upgrade(fd, port, NULL);
    FOLIOT_ASSERT(status == 101);
    return fd;
}

void web_send(int fd, uint8_t first, const void *bytes, size_t length)
{
    static const uint8_t mask[4] = {1, 2, 3, 4};
    uint8_t *frame = malloc(14 + length);
    size_t at = 0;
    FOLIOT_ASSERT(frame);
    frame[at++] = first;
    if (length < 126) {
        frame[at++] = (uint8_t)(0x80 | length);
    } else if (length < 65536) {
        frame[at++] = 0x80 | 126;
        frame[at++] = (uint8_t)(length >> 8);
        frame[at++] = (uint8_t)length;
    } else {
        frame[at++] = 0x80 | 127;
        for (int i = 7; i >= 0; i--)
            frame[at++] = (uint8_t)((uint64_t)length >> (8 * i));
    }
    memcpy(frame + at, mask, sizeof mask);
    at += sizeof mask;
    for (size_t i = 0; i < length; i++)
        frame[at++] = ((const uint8_t *)bytes)[i] ^ mask[i % 4];
    web_send_bytes(fd, frame, at);
    free(frame);
}

bool web_receive(int fd, int ms, web_frame *frame)
{
    static uint8_t bytes[WEB_FRAME_BYTES + 16];
    uint8_t head[10];
    if (!readable(fd, ms))
        return false;
    *frame = (web_frame){.opcode = -1, .bytes = bytes};
    if (!read_all(fd, head, 2))
        return true;
    uint64_t length = head[1] & 127;
    FOLIOT_ASSERT((head[1] & 128) == 0); // a server does not mask
    if (length >= 126) {
        size_t more = length == 126 ? 2 : 8;
        if (!read_all(fd, head + 2, more))
            return true;
        length = 0;
        for (size_t i = 0; i < more; i++)
            length = length << 8 | head[2 + i];
    }
    FOLIOT_ASSERT(length <= sizeof bytes);
    if (!read_all(fd, bytes, (size_t)length))
        return true;
    frame->opcode = head[0] & 15;
    frame->length = (size_t)length;
    if (frame->opcode == 8 && length >= 2) {
        frame->code = (uint16_t)(bytes[0] << 8 | bytes[1]);
        snprintf(frame->reason, sizeof frame->reason, "%.*s", (int)(length - 2),
                 (const char *)bytes + 2);
    }
    return true;
}

void web_send_packet(int fd, foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    uint8_t *message = malloc(length + 1);
    FOLIOT_ASSERT(message);
    message[0] = delivery == FOLIOT_DELIVERY_RELIABLE;
    memcpy(message + 1, bytes, length);
    web_send(fd, 0x82, message, length + 1);
    free(message);
}

// -- what a transport of one peer has no more of

void web_lone_flush(foliot_transport *transport, uint64_t now_ns)
{
    (void)transport;
    (void)now_ns;
}

uint64_t web_lone_wake_ns(const foliot_transport *transport)
{
    (void)transport;
    return UINT64_MAX;
}

uint16_t web_lone_port(const foliot_transport *transport)
{
    (void)transport;
    return 0;
}

void web_lone_address(const foliot_transport *transport, foliot_peer_id peer, char *text,
                      size_t bytes)
{
    (void)transport;
    (void)peer;
    snprintf(text, bytes, "browser");
}

uint64_t web_lone_number(const foliot_transport *transport, foliot_peer_id peer)
{
    (void)transport;
    (void)peer;
    return 0;
}

// -- the transport

typedef struct web_peer {
    foliot_transport head;
    foliot_peer_id peer; // 0: none
    bool told;           // that it is connected
    int fd;
    void (*signal)(void *user, const web_frame *frame);
    void *user;
} web_peer;

static void peer_close(web_peer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    w->peer = (foliot_peer_id){0};
}

static void peer_destroy(foliot_transport *transport)
{
    peer_close((web_peer *)transport);
    free(transport);
}

static foliot_status peer_connect(foliot_transport *transport, const char *host, uint16_t port,
                                  uint64_t now_ns, foliot_peer_id *peer)
{
    static uint32_t serial;
    web_peer *w = (web_peer *)transport;
    (void)now_ns;
    w->fd = connect_to(host, port);
    if (w->fd < 0 || upgrade_at(w->fd, host, port, NULL) != 101)
        return FOLIOT_STATUS_IO;
    w->told = false;
    *peer = w->peer = foliot__peer_id(0, ++serial);
    return FOLIOT_STATUS_OK;
}

static void peer_disconnect(foliot_transport *transport, foliot_peer_id peer, uint32_t reason,
                            bool at_once)
{
    web_peer *w = (web_peer *)transport;
    (void)reason;
    (void)at_once;
    if (peer.value && peer.value == w->peer.value)
        peer_close(w);
}

static bool peer_poll(foliot_transport *transport, uint64_t now_ns, foliot_transport_event *event)
{
    web_peer *w = (web_peer *)transport;
    web_frame frame;
    if (!w->peer.value)
        return false;
    *event = (foliot_transport_event){.kind = FOLIOT_TRANSPORT_CONNECTED, .peer = w->peer};
    if (!w->told) {
        w->told = true;
        return true;
    }
    while (web_receive(w->fd, 0, &frame)) {
        if (frame.opcode == 9) { // a ping
            web_send(w->fd, 0x8a, frame.bytes, frame.length);
            continue;
        }
        if (frame.opcode == 2 && frame.bytes[0] > 1) {
            FOLIOT_ASSERT(w->signal);
            w->signal(w->user, &frame);
            continue;
        }
        if (frame.opcode != 2) {
            event->kind = FOLIOT_TRANSPORT_DISCONNECTED;
            event->reason = frame.code >= 4000 ? frame.code - 4000u : FOLIOT_DISCONNECT_TIMEOUT;
            peer_close(w);
            return true;
        }
        FOLIOT_ASSERT(frame.length >= 2);
        event->kind = FOLIOT_TRANSPORT_RECEIVED;
        event->delivery = frame.bytes[0] ? FOLIOT_DELIVERY_RELIABLE : FOLIOT_DELIVERY_UNRELIABLE;
        event->bytes = frame.bytes + 1;
        event->length = frame.length - 1;
        event->arrived_ns = now_ns;
        return true;
    }
    return false;
}

static uint32_t peer_send(foliot_transport *transport, const foliot_peer_id *peers, uint32_t count,
                          foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    web_peer *w = (web_peer *)transport;
    if (count != 1 || peers[0].value == 0 || peers[0].value != w->peer.value)
        return 0;
    web_send_packet(w->fd, delivery, bytes, length);
    return 1;
}

static int peer_descriptor(const foliot_transport *transport)
{
    return ((const web_peer *)transport)->fd;
}

foliot_transport *web_transport_create(void (*signal)(void *user, const web_frame *frame),
                                       void *user)
{
    static const foliot__transport_maker maker = {.destroy = peer_destroy,
                                                  .connect = peer_connect,
                                                  .disconnect = peer_disconnect,
                                                  .poll = peer_poll,
                                                  .send = peer_send,
                                                  .descriptor = peer_descriptor,
                                                  WEB_LONE_PEER};
    web_peer *w = calloc(1, sizeof *w);
    FOLIOT_ASSERT(w);
    w->head.maker = &maker;
    w->head.config = foliot_transport_config_default();
    w->fd = -1;
    w->signal = signal;
    w->user = user;
    return &w->head;
}
