// SPDX-License-Identifier: MIT
// listen.c: the listening sockets. The service owns them, not the library: a restarted service goes
// on with them, and no waiting connection is lost.
#include "service.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

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
