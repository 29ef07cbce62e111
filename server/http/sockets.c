// SPDX-License-Identifier: MIT
// sockets.c: WebSockets of one path and subprotocol. Fragments are joined, and the hook reads them.
#include "service.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CLOSE_TOO_LARGE 1009
#define CLOSE_POLICY 1008
#define REASON_BYTES 123
#define CLOSE_SECONDS 5 // for the reason to be taken

static bool is_closing(const foliot__http_connection *c)
{
    return c->socket.state >= FOLIOT__SOCKET_CLOSING;
}

// Whether a list of tokens, separated by commas, has this one (RFC 9110, section 5.6.1).
static bool lists(const char *list, const char *token)
{
    size_t length = strlen(token);
    while (*list) {
        list += strspn(list, ", \t");
        size_t item = strcspn(list, ", \t");
        if (item == length && strncasecmp(list, token, length) == 0)
            return true;
        list += item;
    }
    return false;
}

int foliot__http_socket_refused(foliot__http_connection *c, const char **why)
{
    const foliot__http_sockets *hook = c->http->config.sockets;
    char path[128], connection[128], protocols[128], key[128];
    int status = foliot__http_refused(c, why);
    if (status)
        return status;
    *why = "no WebSocket is at this path";
    if (!hook || !foliot__http_header(c->wsi, WSI_TOKEN_GET_URI, path, sizeof path) ||
        strcmp(path, hook->path) != 0)
        return HTTP_STATUS_NOT_FOUND;
    // The library closes the connection without these.
    *why = "the request for a WebSocket lacks Connection: Upgrade or Sec-WebSocket-Key";
    if (!foliot__http_header(c->wsi, WSI_TOKEN_CONNECTION, connection, sizeof connection) ||
        !lists(connection, "upgrade") ||
        !foliot__http_header(c->wsi, WSI_TOKEN_KEY, key, sizeof key) || !*key)
        return HTTP_STATUS_BAD_REQUEST;
    *why = "the page speaks another version of the protocol than this server: reload it";
    if (!foliot__http_header(c->wsi, WSI_TOKEN_PROTOCOL, protocols, sizeof protocols) ||
        !lists(protocols, hook->subprotocol))
        return HTTP_STATUS_BAD_REQUEST;
    // The visitors of a proxy differ by the header that it adds.
    uint64_t before = c->host;
    if (foliot__http_forwarded(c, c->peer))
        c->host = foliot__http_host_of(c->peer);
    uint64_t host = c->host;
    c->host = 0; // it does not count itself
    bool within = host == before || foliot__http_within_share(c->http, host);
    c->host = host;
    c->http->counters.connections_refused += !within;
    *why = "too many connections are open from this address: close some";
    return within ? 0 : 429; // Too Many Requests
}

static void set_reason(foliot__http_connection *c, uint16_t code, const char *why)
{
    uint8_t reason[REASON_BYTES];
    size_t length = strnlen(why, REASON_BYTES);
    memcpy(reason, why, length);
    lws_close_reason(c->wsi, (enum lws_close_status)code, reason, length);
    // A socket stays open until its peer has read the reason, which a refused peer may delay. So
    // the oldest sockets of an address make room for the others.
    foliot__http *http = c->http;
    foliot__http_connection *oldest = NULL;
    uint32_t count = 0;
    c->socket.state = FOLIOT__SOCKET_CLOSING;
    c->socket.parts = ++http->parted;
    for (uint32_t i = 0; c->host && i < http->connections_max; i++) {
        foliot__http_connection *other = &http->connections[i].connection;
        if (!other->wsi || !other->socket.parts || other->host != c->host)
            continue;
        count++;
        oldest = oldest && oldest->socket.parts < other->socket.parts ? oldest : other;
    }
    if (count <= FOLIOT__HTTP_SOCKETS_PARTING)
        return;
    oldest->socket.parts = 0; // counted no more
    http->counters.sockets_cut++;
    lws_set_timeout(oldest->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
}

static int close_with(foliot__http_connection *c, uint16_t code, const char *why)
{
    set_reason(c, code, why);
    c->socket.state = FOLIOT__SOCKET_PARTING;
    return -1;
}

static bool reserve(uint8_t **buffer, size_t *capacity, size_t bytes)
{
    if (bytes <= *capacity)
        return true;
    size_t wanted = *capacity ? *capacity : 1024;
    while (wanted < bytes)
        wanted *= 2;
    uint8_t *larger = realloc(*buffer, wanted);
    if (!larger)
        return false;
    *buffer = larger;
    *capacity = wanted;
    return true;
}

static int receive(foliot__http_connection *c, const void *bytes, size_t length)
{
    const foliot__http_sockets *hook = c->http->config.sockets;
    if (!c->socket.of_socket || is_closing(c))
        return 0;
    if (lws_is_first_fragment(c->wsi))
        c->socket.message_bytes = c->socket.fragments = 0;
    // The frame's announced length is trusted, so that a message that is too long is refused early.
    if (length > hook->message_bytes_max - c->socket.message_bytes ||
        lws_remaining_packet_payload(c->wsi) >
            hook->message_bytes_max - c->socket.message_bytes - length)
        return close_with(c, CLOSE_TOO_LARGE, "the message is too long");
    if (++c->socket.fragments > FOLIOT__HTTP_SOCKET_FRAGMENTS)
        return close_with(c, CLOSE_POLICY, "the message has too many fragments");
    if (!reserve(&c->socket.message, &c->socket.message_capacity, c->socket.message_bytes + length))
        return -1;
    if (length)
        memcpy(c->socket.message + c->socket.message_bytes, bytes, length);
    c->socket.message_bytes += length;
    if (!lws_is_final_fragment(c->wsi) || lws_remaining_packet_payload(c->wsi))
        return 0;
    c->http->counters.socket_messages++;
    hook->received(hook->user, c->socket.of_socket, c->socket.message, c->socket.message_bytes,
                   lws_frame_is_binary(c->wsi));
    c->socket.message_bytes = c->socket.fragments = 0;
    return 0;
}

int foliot__http_on_socket(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                           size_t length)
{
    foliot__http_connection *c;
    const foliot__http_sockets *hook;
    void *opened;
    (void)user;
    switch (reason) {
    case LWS_CALLBACK_RAW_RX_FILE: {
        const foliot__http *http = lws_context_user(lws_get_context(wsi));
        http->config.sockets->readable(http->config.sockets->user);
        return 0;
    }
    case LWS_CALLBACK_ESTABLISHED:
        c = foliot__http_connection_of(wsi);
        if (!c)
            return -1;
        hook = c->http->config.sockets;
        lws_set_timer_usecs(c->wsi, LWS_SET_TIMER_USEC_CANCEL);
        c->socket.state = FOLIOT__SOCKET_OPEN;
        foliot__intake_upgrade(&c->intake);
        c->socket.of_socket = hook->opened(hook->user, (foliot__http_socket *)c, c->peer);
        if (!c->socket.of_socket)
            return -1;
        c->http->counters.sockets_opened++;
        c->http->counters.sockets_now++;
        return 0;
    case LWS_CALLBACK_RECEIVE:
        c = foliot__http_connection_of(wsi);
        return c ? receive(c, in, length) : -1;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        c = foliot__http_connection_of(wsi);
        if (!c)
            return -1;
        // The peer's answer is awaited, and its data is read until then: if closed now, the socket
        // would be reset, and the peer would lose the reason.
        if (c->socket.state == FOLIOT__SOCKET_PARTING)
            return 0;
        if (!is_closing(c) && c->socket.of_socket)
            c->http->config.sockets->writable(c->http->config.sockets->user, c->socket.of_socket);
        if (!is_closing(c))
            return 0;
        c->socket.state = FOLIOT__SOCKET_PARTING;
        return -1;
    case LWS_CALLBACK_CLOSED:
        c = foliot__http_connection_of(wsi);
        if (!c)
            return 0;
        foliot__http_unwatch(c);
        opened = c->socket.of_socket;
        c->socket.of_socket = NULL; // before the call: a takeover closes none twice
        if (opened) {
            c->http->counters.sockets_now--;
            c->http->config.sockets->closed(c->http->config.sockets->user, opened);
        }
        return 0;
    default:
        return 0;
    }
}

void foliot__http_socket_want_write(foliot__http_socket *socket)
{
    lws_callback_on_writable(socket->connection.wsi);
}

// Polling the kernel for all sockets at once is cheaper than the loop's way for each.
void foliot__http_sockets_want_write(foliot__http *http, foliot__http_socket *const *sockets,
                                     uint32_t count)
{
    const foliot__http_sockets *hook = http->config.sockets;
    for (uint32_t i = 0; i < count; i++)
        http->writable[i] = (struct pollfd){.fd = foliot__http_socket_get_descriptor(sockets[i]),
                                            .events = POLLOUT};
    if (poll(http->writable, count, 0) < 0)
        count = 0;
    for (uint32_t i = 0; i < count; i++) {
        foliot__http_connection *c = &sockets[i]->connection;
        bool now = http->writable[i].revents == POLLOUT && c->socket.of_socket && !is_closing(c) &&
                   !lws_partial_buffered(c->wsi);
        if (now)
            hook->writable(hook->user, c->socket.of_socket);
        if (!now || is_closing(c))
            lws_callback_on_writable(c->wsi);
    }
}

foliot__http_written foliot__http_socket_write(foliot__http_socket *socket, const void *bytes,
                                               size_t length, bool more)
{
    foliot__http_connection *c = &socket->connection;
    if (is_closing(c) || !reserve(&c->http->frame, &c->http->frame_capacity, LWS_PRE + length))
        return FOLIOT__HTTP_BROKEN;
    uint8_t *frame = c->http->frame;
    memcpy(frame + LWS_PRE, bytes, length);
    foliot__frames_follow(more);
    int sent = lws_write(c->wsi, frame + LWS_PRE, length, LWS_WRITE_BINARY);
    foliot__frames_follow(false);
    c->http->counters.bytes_sent += sent > 0 ? (size_t)sent : 0;
    if (sent < (int)length)
        c->socket.state = FOLIOT__SOCKET_CLOSING;
    return is_closing(c)                  ? FOLIOT__HTTP_BROKEN
           : lws_partial_buffered(c->wsi) ? FOLIOT__HTTP_HELD
                                          : FOLIOT__HTTP_WRITTEN;
}

void foliot__http_socket_limit(foliot__http_socket *socket, int seconds)
{
    lws_set_timeout(socket->connection.wsi, seconds ? PENDING_TIMEOUT_USER_OK : NO_PENDING_TIMEOUT,
                    seconds);
}

void foliot__http_socket_close(foliot__http_socket *socket, uint16_t code, const char *reason)
{
    foliot__http_connection *c = &socket->connection;
    if (is_closing(c))
        return;
    set_reason(c, code, reason);
    lws_callback_on_writable(c->wsi);
    // A peer that reads nothing never makes its socket writable.
    foliot__http_socket_limit(socket, CLOSE_SECONDS);
}

int foliot__http_socket_get_descriptor(const foliot__http_socket *socket)
{
    return lws_get_socket_fd(socket->connection.wsi);
}
