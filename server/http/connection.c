// SPDX-License-Identifier: MIT
// connection.c: connections: the sockets that listen for them, their slots, and the checks that
// every request must pass. Knows neither answers nor messages.
#include "service.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

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

// -- listening sockets. The service owns them, not the library: a restarted service continues with
// them, and no waiting connection is lost.

#define ACCEPTED_AT_ONCE 64

static bool fail(char *problem, size_t bytes, const char *what, const char *why)
{
    snprintf(problem, bytes, "%s: %s", what, why);
    return false;
}

static bool listen_tcp(foliot__http *http, char *problem, size_t bytes)
{
    char what[96];
    const int on = 1;
    struct sockaddr_storage name;
    const foliot__http_config *config = &http->config;
    socklen_t length;
    struct sockaddr_in *four = (struct sockaddr_in *)(void *)&name;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)&name;
    memset(&name, 0, sizeof name);
    if (inet_pton(AF_INET, config->address, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(config->port);
        length = sizeof *four;
    } else {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(config->port);
        length = inet_pton(AF_INET6, config->address, &six->sin6_addr) == 1 ? sizeof *six : 0;
    }
    snprintf(what, sizeof what, "port %u on %s", config->port, config->address);
    if (!length)
        return fail(problem, bytes, what, "this is not an address");
    int fd = socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    http->listening.listeners[0] = fd;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(fd, (struct sockaddr *)&name, length) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&name, &length) != 0)
        return fail(problem, bytes, what, strerror(errno));
    http->listening.port =
        ntohs(name.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&name)->sin6_port
                                         : ((struct sockaddr_in *)(void *)&name)->sin_port);
    return true;
}

// Only the owner may use the socket. A socket that a dead server left is replaced; nothing else is.
static bool listen_unix(foliot__http *http, char *problem, size_t bytes)
{
    const char *path = http->config.unix_path;
    struct stat about;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof name.sun_path || path[0] == '@' || !*path)
        return fail(problem, bytes, path, "a socket's path has 1 to 107 bytes");
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    if (lstat(path, &about) == 0) {
        if (!S_ISSOCK(about.st_mode))
            return fail(problem, bytes, path, "exists already, and is not a socket");
        int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool used = probe >= 0 && connect(probe, (struct sockaddr *)&name, sizeof name) == 0;
        if (probe >= 0)
            close(probe);
        if (used)
            return fail(problem, bytes, path, "another server listens on it");
        unlink(path);
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    http->listening.listeners[1] = fd;
    mode_t mask = umask(0177);
    bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0;
    int wrong = errno;
    umask(mask);
    if (!bound || listen(fd, SOMAXCONN) != 0)
        return fail(problem, bytes, path, strerror(bound ? errno : wrong));
    http->listening.has_unix_file = true;
    return true;
}

bool foliot__http_listen(foliot__http *http, char *problem, size_t problem_bytes)
{
    return (!http->config.address || listen_tcp(http, problem, problem_bytes)) &&
           (!http->config.unix_path || listen_unix(http, problem, problem_bytes));
}

void foliot__http_listen_end(foliot__http *http)
{
    for (int i = 0; i < FOLIOT__HTTP_LISTENERS; i++)
        if (http->listening.listeners[i] >= 0)
            close(http->listening.listeners[i]);
    if (http->listening.has_unix_file)
        unlink(http->config.unix_path);
}

static bool accept_one(foliot__http *http, struct lws_vhost *vhost, int listener)
{
    const int on = 1;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            // Without a free descriptor, a connection would stay in the backlog and wake the loop.
            static const struct timespec moment = {.tv_nsec = 10000000};
            nanosleep(&moment, NULL);
        }
        return errno == ECONNABORTED || errno == EINTR;
    }
    bool local = foliot__http_is_local(fd);
    // Eight connections are reserved for the Unix socket: a full port must not lock out the
    // operator.
    char peer[FOLIOT__HTTP_PEER_BYTES] = "";
    uint32_t kept = http->config.unix_path && !local ? FOLIOT__HTTP_CONNECTIONS_KEPT : 0;
    if (!local)
        lws_get_peer_simple_fd(fd, peer, sizeof peer);
    bool full = http->counters.connections_now + kept >= http->connections_max;
    if (full || !foliot__http_within_share(http, foliot__http_host_of(peer))) {
        http->counters.connections_refused++;
        foliot__intake_send_refusal(
            fd, full ? HTTP_STATUS_SERVICE_UNAVAILABLE : 429,
            full ? "the server has no free connection: try again later"
                 : "too many connections are open from this address: close some");
        close(fd);
        return true;
    }
    if (!local)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)!lws_adopt_socket_vhost(vhost, fd); // or it has closed it
    return true;
}

void foliot__http_accept(foliot__http *http, struct lws_vhost *vhost)
{
    for (int i = 0; i < FOLIOT__HTTP_LISTENERS; i++)
        for (int n = 0; http->listening.listeners[i] >= 0 && n < ACCEPTED_AT_ONCE; n++)
            if (!accept_one(http, vhost, http->listening.listeners[i]))
                break;
}
