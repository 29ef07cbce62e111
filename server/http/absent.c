// SPDX-License-Identifier: MIT
// absent.c: replaces the service where this program is built without libwebsockets.
#include "present.h"

#if !FOLIOT__HTTP_PRESENT

#include <stdio.h>

#include "http.h"

bool foliot__http_available(void)
{
    return false;
}

foliot__http *foliot__http_start(const foliot__http_config *config, char *problem,
                                 size_t problem_bytes)
{
    (void)config;
    snprintf(problem, problem_bytes,
             "this foliot-server was built without libwebsockets: install libwebsockets-dev and "
             "build it again");
    return NULL;
}

bool foliot__http_stop(foliot__http *http)
{
    (void)http;
    return true;
}

bool foliot__http_is_lost(void)
{
    return false;
}

foliot__http_health foliot__http_watch(foliot__http *http)
{
    (void)http;
    return FOLIOT__HTTP_HEALTHY;
}

uint16_t foliot__http_get_port(const foliot__http *http)
{
    (void)http;
    return 0;
}

void foliot__http_answer(foliot__http *http, uint64_t request, int status, const char *type,
                         const void *bytes, size_t length)
{
    (void)http;
    (void)request;
    (void)status;
    (void)type;
    (void)bytes;
    (void)length;
}

void foliot__http_set_token(foliot__http *http, const char *token)
{
    (void)http;
    (void)token;
}

foliot__http_counters foliot__http_get_counters(const foliot__http *http)
{
    (void)http;
    return (foliot__http_counters){0};
}

void foliot__http_tick_in(foliot__http *http, uint32_t ms)
{
    (void)http;
    (void)ms;
}

void foliot__http_wake(foliot__http *http)
{
    (void)http;
}

void foliot__http_socket_want_write(foliot__http_socket *socket)
{
    (void)socket;
}

void foliot__http_sockets_want_write(foliot__http *http, foliot__http_socket *const *sockets,
                                     uint32_t count)
{
    (void)http;
    (void)sockets;
    (void)count;
}

foliot__http_written foliot__http_socket_write(foliot__http_socket *socket, const void *bytes,
                                               size_t length, bool more)
{
    (void)socket;
    (void)bytes;
    (void)length;
    (void)more;
    return FOLIOT__HTTP_BROKEN;
}

void foliot__http_socket_close(foliot__http_socket *socket, uint16_t code, const char *reason)
{
    (void)socket;
    (void)code;
    (void)reason;
}

void foliot__http_socket_limit(foliot__http_socket *socket, int seconds)
{
    (void)socket;
    (void)seconds;
}

int foliot__http_socket_get_descriptor(const foliot__http_socket *socket)
{
    (void)socket;
    return -1;
}

#endif
