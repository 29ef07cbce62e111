// SPDX-License-Identifier: MIT
// loopback.c: see loopback.h.
#include "loopback.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

bool loopback_six;

const char *loopback_text(void)
{
    return loopback_six ? "::1" : "127.0.0.1";
}

foliot__net_address loopback_at(uint16_t port)
{
    foliot__net_address at = {.port = 0};
    foliot__net_address_read(loopback_text(), port, &at);
    return at;
}

int loopback_open(uint16_t port, foliot__net_address *at)
{
    foliot__net_address wanted = loopback_at(port);
    foliot__socket_address socket_at;
    socklen_t bytes = foliot__net_address_to_socket(&wanted, &socket_at);
    int fd = socket(socket_at.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, &socket_at.any, bytes) == 0 &&
        getsockname(fd, &socket_at.any, &bytes) == 0) {
        *at = foliot__net_address_of_socket(&socket_at);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

bool loopback_use_six(void)
{
    foliot__net_address at;
    loopback_six = true;
    int fd = loopback_open(0, &at);
    if (fd >= 0)
        close(fd);
    else
        printf("skip: this machine has no IPv6: the tests over ::1 are left out\n");
    loopback_six = fd >= 0;
    return fd >= 0;
}
