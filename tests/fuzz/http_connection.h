// SPDX-License-Identifier: MIT
// http_connection.h: whole connections to a real HTTP service, on the loopback, as a script of
// bytes says: which pieces of requests are sent, where they are cut, when answers are read, when
// one end is closed. After each script an honest request must be answered: a service that hangs is
// the failure that is looked for. A header, since a fuzzer and a test share it.
#ifndef FOLIOT_TESTS_HTTP_CONNECTION_H
#define FOLIOT_TESTS_HTTP_CONNECTION_H

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http/http.h"

#define HTTP_PATIENCE_MS 20000 // for an honest request
#define HTTP_SENT_BYTES 65536
#define HTTP_FILE_BYTES 400000
#define HTTP_LATER 8

static struct {
    foliot__http *http;
    uint16_t port;
    uint64_t later[HTTP_LATER]; // requests that are answered by another thread
    pthread_mutex_t mutex;
    uint32_t later_count;
    char file[HTTP_FILE_BYTES];
} http_service = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void http_answer_now(void *user, const foliot__http_request *request)
{
    (void)user;
    foliot__http_answer(http_service.http, request->id, 200, "text/plain", "ok\n", 3);
}

static void http_answer_length(void *user, const foliot__http_request *request)
{
    char text[32];
    (void)user;
    int length = snprintf(text, sizeof text, "%zu\n", request->body_bytes);
    foliot__http_answer(http_service.http, request->id, 200, "text/plain", text, (size_t)length);
}

static void http_note(void *user, const foliot__http_request *request)
{
    (void)user;
    pthread_mutex_lock(&http_service.mutex);
    http_service.later[http_service.later_count++ % HTTP_LATER] = request->id;
    pthread_mutex_unlock(&http_service.mutex);
}

static void http_answer_noted(void)
{
    pthread_mutex_lock(&http_service.mutex);
    uint32_t count = http_service.later_count < HTTP_LATER ? http_service.later_count : HTTP_LATER;
    for (uint32_t i = 0; i < count; i++)
        foliot__http_answer(http_service.http, http_service.later[i], 200, "text/plain", "late\n",
                            5);
    http_service.later_count = 0;
    pthread_mutex_unlock(&http_service.mutex);
}

static void *http_opened(void *user, foliot__http_socket *socket, const char *address)
{
    (void)socket;
    (void)address;
    return user;
}

static void http_received(void *user, void *of, const void *bytes, size_t length, bool binary)
{
    (void)user, (void)of, (void)bytes, (void)length, (void)binary;
}

static void http_nothing(void *user, void *of)
{
    (void)user, (void)of;
}

static void http_begin(void)
{
    static const foliot__http_route routes[] = {{"GET", "/livez", http_answer_now, false},
                                                {"POST", "/length", http_answer_length, false},
                                                {"PUT", "/length", http_answer_length, false},
                                                {"GET", "/later", http_note, false},
                                                {"POST", "/later", http_note, false},
                                                {"POST", "/guarded", http_answer_now, true},
                                                {0}};
    static foliot__http_file files[] = {
        {"/file", "text/plain", http_service.file, HTTP_FILE_BYTES, false, "\"1\""}, {0}};
    static const foliot__http_sockets sockets = {.path = "/ws",
                                                 .subprotocol = "foliot.1",
                                                 .message_bytes_max = 4096,
                                                 .user = &http_service,
                                                 .opened = http_opened,
                                                 .received = http_received,
                                                 .writable = http_nothing,
                                                 .closed = http_nothing};
    const foliot__http_config config = {.address = "127.0.0.1",
                                        .routes = routes,
                                        .files = files,
                                        .sockets = &sockets,
                                        .token = "0123456789abcdef",
                                        .self = &http_service.http};
    char problem[256];
    memset(http_service.file, 'x', sizeof http_service.file);
    if (!foliot__http_start(&config, problem, sizeof problem)) {
        fprintf(stderr, "%s\n", problem);
        abort();
    }
    http_service.port = foliot__http_get_port(http_service.http);
}

static int http_connect(void)
{
    const int on = 1;
    const struct linger at_once = {.l_onoff = 1};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(http_service.port)};
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&name, sizeof name) != 0) {
        perror("no connection");
        abort();
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once); // no thousands in TIME_WAIT
    return fd;
}

static void http_send(int fd, const void *bytes, size_t length)
{
    (void)!sendto(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}

// Reads what is there within `ms`. Returns how much; 0: nothing came, or it has ended.
static size_t http_read(int fd, void *bytes, size_t length, int ms)
{
    struct pollfd fds = {.fd = fd, .events = POLLIN};
    if (poll(&fds, 1, ms) != 1)
        return 0;
    ssize_t got = recvfrom(fd, bytes, length, MSG_DONTWAIT, NULL, NULL);
    return got > 0 ? (size_t)got : 0;
}

// Whether an honest request is answered.
static bool http_is_alive(void)
{
    static const char request[] =
        "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char answer[1024] = "";
    int fd = http_connect();
    http_send(fd, request, sizeof request - 1);
    size_t got = http_read(fd, answer, sizeof answer - 1, HTTP_PATIENCE_MS);
    close(fd);
    return got > 12 && memcmp(answer, "HTTP/1.1 200", 12) == 0;
}

static const char *const http_pieces[] = {
    "GET /livez HTTP/1.1\r\n", "GET /later HTTP/1.1\r\n", "GET /file HTTP/1.1\r\n",
    "HEAD /file HTTP/1.0\r\n", "POST /length HTTP/1.1\r\n", "PUT /length HTTP/1.1\r\n",
    "POST /later HTTP/1.1\r\n", "POST /guarded HTTP/1.1\r\n", "TRACE / HTTP/1.1\r\n",
    "GET /ws HTTP/1.1\r\n", "Host: localhost\r\n", "Content-Length: 2\r\n", "Content-Length: 0\r\n",
    "Content-Length: 70\r\n", "Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n", "\r\n",
    "{}", "Expect: 100-continue\r\n", "Connection: close\r\n", "Connection: keep-alive\r\n",
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: foliot.1\r\n",
    "\x82\x82"
    "abcdab",
    "\x88\x80"
    "abcd",
    "\x89\x80"
    "abcd",
    "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "Authorization: Bearer 0123456789abcdef\r\n",
    "If-None-Match: \"1\"\r\n",
    // Whole ones, so that two behind each other are as likely as one.
    "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /file HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
    "POST /later HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n",
    "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n",
    "GET http://localhost/livez HTTP/1.1\r\n", "POST HTTPS://localhost:80/length HTTP/1.0\r\n",
    "GET http://localhost HTTP/1.1\r\nHost: other.example\r\n\r\n"};
#define HTTP_PIECES (sizeof http_pieces / sizeof http_pieces[0])
enum { HTTP_FLUSH = 0xc0, HTTP_CUT = 0xd0, HTTP_PAUSE = 0xe0, HTTP_END = 0xf0 };

// Below 0xc0: a piece. Then: all that waits is sent; some of it; a pause in which answers are read,
// and given; the connection's end, and another one.
static void http_run(const uint8_t *script, size_t length)
{
    static char waiting[HTTP_SENT_BYTES], answer[65536];
    size_t have = 0, sent = 0;
    int fd = http_connect();
    for (size_t i = 0; i < length; i++) {
        uint8_t op = script[i];
        if (op < HTTP_FLUSH) {
            const char *piece = http_pieces[op % HTTP_PIECES];
            size_t bytes = strlen(piece);
            if (have + bytes <= sizeof waiting)
                memcpy(waiting + have, piece, bytes), have += bytes;
        } else if (op < HTTP_PAUSE) {
            size_t left = have - sent,
                   part = op < HTTP_CUT ? left : (size_t)(op - HTTP_CUT) * 7 + 1;
            part = part < left ? part : left;
            http_send(fd, waiting + sent, part);
            sent += part;
        } else if (op < HTTP_END) {
            (void)http_read(fd, answer, sizeof answer, (op & 3) != 0);
            http_answer_noted();
        } else if (op & 1) {
            shutdown(fd, SHUT_WR);
        } else {
            close(fd);
            fd = http_connect();
            have = sent = 0;
        }
    }
    http_send(fd, waiting + sent, have - sent);
    (void)http_read(fd, answer, sizeof answer, 1);
    http_answer_noted();
    close(fd);
}

#endif
