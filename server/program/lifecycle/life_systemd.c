// SPDX-License-Identifier: MIT
// life_systemd.c: sd_notify(3): datagrams to $NOTIFY_SOCKET, without libsystemd. If the service
// manager does not listen, the server continues.
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/exit_code.h"
#include "base/text.h"
#include "life.h"

#define GOODBYE_SECONDS 10u  // after the drain: for recordings, and the commands that get them
#define RESUME_SECONDS 60u   // of one recording, at most
#define COMMANDS_SECONDS 30u // for those commands, at most

static int notify_socket = -1;

int foliot__life_systemd_socket(void)
{
    return notify_socket;
}

static bool present(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    return path && (path[0] == '/' || path[0] == '@') && path[1];
}

static void tell(const char *text)
{
    if (notify_socket >= 0)
        (void)!send(notify_socket, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int open_socket(bool port_is_given, uint64_t *port)
{
    (void)port_is_given;
    (void)port;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    if (!present()) {
        fprintf(stderr, "foliot-server: --life-cycle systemd: $NOTIFY_SOCKET names no socket\n");
        return FOLIOT__EXIT_USAGE;
    }
    size_t length = strlen(path);
    if (length >= sizeof to.sun_path) {
        fprintf(stderr, "foliot-server: $NOTIFY_SOCKET is longer than a socket's name may be\n");
        return FOLIOT__EXIT_USAGE;
    }
    memcpy(to.sun_path, path, length);
    if (path[0] == '@') // a name that is not a file
        to.sun_path[0] = 0;
    notify_socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (notify_socket >= 0 &&
        connect(notify_socket, (const struct sockaddr *)&to,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == 0)
        return 0;
    fprintf(stderr, "foliot-server: $NOTIFY_SOCKET %s: %s; the server continues without it\n", path,
            strerror(errno));
    if (notify_socket >= 0)
        close(notify_socket);
    notify_socket = -1;
    return 0;
}

// A start with many recordings takes longer than a service manager waits.
static void resuming(uint32_t number, uint32_t count)
{
    char text[128];
    snprintf(text, sizeof text, "STATUS=resuming %u of %u recordings\nEXTEND_TIMEOUT_USEC=%u",
             number, count, RESUME_SECONDS * 1000000u);
    tell(text);
}

static void ready(uint32_t sessions)
{
    char text[96];
    snprintf(text, sizeof text, "READY=1\nSTATUS=%u sessions\nMAINPID=%ld", sessions,
             (long)getpid());
    tell(text);
}

// $WATCHDOG_USEC, if it is meant for this process: notifications are twice as frequent.
static uint64_t get_interval_ns(void)
{
    uint64_t microseconds = 0, process = 0;
    const char *time = getenv("WATCHDOG_USEC"), *whose = getenv("WATCHDOG_PID");
    if (!time || !foliot__parse_count(time, &microseconds) ||
        (whose && (!foliot__parse_count(whose, &process) || process != (uint64_t)getpid())))
        return 0;
    return microseconds * 500u;
}

static void alive(const char *status)
{
    char text[192];
    snprintf(text, sizeof text, "WATCHDOG=1\nSTATUS=%s", status);
    tell(text);
}

static void draining(uint64_t seconds)
{
    char text[128];
    snprintf(text, sizeof text, "STOPPING=1\nSTATUS=draining\nEXTEND_TIMEOUT_USEC=%llu",
             (unsigned long long)(seconds + GOODBYE_SECONDS) * 1000000u);
    tell(text);
}

// Also sent without a signal: a stopping server no longer gets watchdog requests.
static void ending(void)
{
    char text[96];
    snprintf(text, sizeof text, "STOPPING=1\nSTATUS=ending\nEXTEND_TIMEOUT_USEC=%u",
             (GOODBYE_SECONDS + COMMANDS_SECONDS) * 1000000u);
    tell(text);
}

static void close_socket(void)
{
    tell("STOPPING=1\nSTATUS=ended");
    if (notify_socket >= 0)
        close(notify_socket);
    notify_socket = -1;
}

const foliot__life_kind foliot__life_systemd = {.name = "systemd",
                                                .present = present,
                                                .open = open_socket,
                                                .resuming = resuming,
                                                .ready = ready,
                                                .get_interval_ns = get_interval_ns,
                                                .alive = alive,
                                                .draining = draining,
                                                .ending = ending,
                                                .close = close_socket};
