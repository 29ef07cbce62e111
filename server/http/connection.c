// SPDX-License-Identifier: MIT
// connection.c: one connection: its slot, its owner, and the checks that every request must pass.
// Knows neither answers nor messages.
#include "service.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "net/address.h"

foliot__http_connection *foliot__http_connection_of(struct lws *wsi)
{
    return wsi ? lws_get_opaque_user_data(wsi) : NULL;
}

uint64_t foliot__http_host_of(const char *address)
{
    foliot__net_address host;
    return *address && !foliot__http_is_loopback(address) &&
                   foliot__net_address_read(address, 0, &host)
               ? foliot__net_address_host_key(&host)
               : 0;
}

bool foliot__http_within_share(const foliot__http *http, uint64_t host)
{
    uint32_t held = 0;
    for (uint32_t i = 0; host && i < http->connections_max; i++)
        held += http->connections[i].connection.wsi && http->connections[i].connection.host == host;
    return held < http->connections_max / 4;
}

bool foliot__http_is_local(int descriptor)
{
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    return getsockname(descriptor, (struct sockaddr *)&name, &length) == 0 &&
           name.ss_family == AF_UNIX;
}

int foliot__http_open_connection(foliot__http *http, struct lws *wsi)
{
    struct stat about;
    if (fstat(lws_get_socket_fd(wsi), &about) != 0)
        return -1;
    for (uint32_t i = 0; i < http->connections_max; i++) {
        foliot__http_connection *c = &http->connections[i].connection;
        if (c->wsi)
            continue;
        *c = (foliot__http_connection){.http = http,
                                       .wsi = wsi,
                                       .local = foliot__http_is_local(lws_get_socket_fd(wsi)),
                                       .descriptor = lws_get_socket_fd(wsi),
                                       .inode = about.st_ino};
        if (!foliot__intake_open(&c->intake) || !foliot__intake_watch(c->descriptor, &c->intake)) {
            foliot__intake_close(&c->intake);
            c->wsi = NULL;
            return -1;
        }
        if (!c->local)
            lws_get_peer_simple(wsi, c->peer, sizeof c->peer);
        c->host = foliot__http_host_of(c->peer);
        lws_set_opaque_user_data(wsi, c);
        lws_set_timer_usecs(wsi, FOLIOT__HTTP_REQUEST_SECONDS * LWS_USEC_PER_SEC);
        http->counters.connections++;
        http->counters.connections_now++;
        return 0;
    }
    return -1;
}

// While the descriptor is its own.
void foliot__http_unwatch(foliot__http_connection *c)
{
    foliot__intake_unwatch(c->descriptor, &c->intake);
    c->http->counters.socket_frames_refused += c->intake.frames.refused != 0;
    c->http->counters.requests += c->intake.status != 0;
    c->http->counters.requests_refused += c->intake.status != 0;
    c->intake.frames.refused = 0;
    c->intake.status = 0;
    c->descriptor = -1;
}

void foliot__http_request_forget(foliot__http_connection *c)
{
    free(c->request.body);
    free(c->answer.owned);
    c->request.body = NULL;
    c->answer.owned = NULL;
    c->answer.bytes = NULL;
    c->request.body_bytes = c->request.body_capacity = c->answer.length = c->answer.sent = 0;
    c->request.route = NULL;
    c->request.id = 0;
    c->request.head = c->request.sending = c->request.closes = c->request.awaits_body = false;
}

void foliot__http_close_connection(struct lws *wsi)
{
    foliot__http_connection *c = foliot__http_connection_of(wsi);
    if (!c || c->wsi != wsi)
        return;
    foliot__http_unwatch(c);
    foliot__intake_close(&c->intake);
    foliot__http_request_forget(c);
    free(c->socket.message);
    lws_set_opaque_user_data(wsi, NULL);
    c->http->counters.connections_now--;
    c->http->answered -= c->answered;
    *c = (foliot__http_connection){0};
}

// -- checks of a request

// Behind a proxy on this machine the peer is the last address that the proxy names: anybody may
// have sent the text before it. Only addresses are accepted.
bool foliot__http_forwarded(const foliot__http_connection *c, char address[FOLIOT__HTTP_PEER_BYTES])
{
    char text[256];
    uint8_t bytes[16];
    if ((!c->local && !foliot__http_is_loopback(c->peer)) ||
        !foliot__http_header(c->wsi, WSI_TOKEN_X_FORWARDED_FOR, text, sizeof text))
        return false;
    const char *last = strrchr(text, ',') ? strrchr(text, ',') + 1 : text;
    last += strspn(last, " ");
    if (strlen(last) >= FOLIOT__HTTP_PEER_BYTES ||
        (inet_pton(AF_INET, last, bytes) != 1 && inet_pton(AF_INET6, last, bytes) != 1))
        return false;
    memcpy(address, last, strlen(last) + 1);
    return true;
}

bool foliot__http_header(struct lws *wsi, enum lws_token_indexes token, char *text, size_t bytes)
{
    int length = lws_hdr_total_length(wsi, token);
    text[0] = 0;
    return length == 0 ||
           ((size_t)length < bytes && lws_hdr_copy(wsi, text, (int)bytes, token) == length);
}

int foliot__http_refused(const foliot__http_connection *c, const char **why)
{
    char host[256], origin[300];
    const foliot__http_config *config = &c->http->config;
    *why = "the request has no Host header, or one that is too long";
    if (!foliot__http_header(c->wsi, WSI_TOKEN_HOST, host, sizeof host) || !*host)
        return c->local ? 0 : HTTP_STATUS_BAD_REQUEST;
    *why = "Host names another server: --http-host NAME permits a name";
    if (!c->local && !foliot__http_host_allowed(host, config->hosts, config->host_count))
        return 421; // Misdirected Request
    *why = "Origin names another site";
    if (!foliot__http_header(c->wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin) ||
        (*origin && !foliot__http_origin_allowed(origin, host)))
        return HTTP_STATUS_FORBIDDEN;
    return 0;
}
