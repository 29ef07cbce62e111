// SPDX-License-Identifier: MIT
// service.c: the service's start, end and thread. Another thread may call foliot__http_stop.
#include "service.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "crypto/crypto.h"

#define TOKEN_MEMORY_BYTES ((size_t)FOLIOT__HTTP_TOKEN_BYTES_MAX + 1)
#define GUESSES_AT_ONCE 64 // wrong bearer tokens of an address, and then one a second

static void serve(void *user)
{
    foliot__http_thread_begins(user);
    foliot__http_serve(user);
}

foliot__http *foliot__http_start(const foliot__http_config *config, char *problem,
                                 size_t problem_bytes)
{
    foliot__http *http = calloc(1, sizeof *http);
    snprintf(problem, problem_bytes, "no memory");
    if (!http)
        return NULL;
    http->config = *config;
    http->last = &http->first;
    http->listening.hook_descriptor = http->listening.listeners[0] = http->listening.listeners[1] =
        -1;
    http->connections_max =
        config->connections_max ? config->connections_max : FOLIOT__HTTP_CONNECTIONS;
    http->serial = http->connections_max;
    http->connections = calloc(http->connections_max, sizeof *http->connections);
    http->writable = calloc(http->connections_max, sizeof *http->writable);
    uv_mutex_init(&http->mutex);
    foliot_transport_config guesses = {
        .peers_max = 1, .peers_per_address_max = GUESSES_AT_ONCE, .joins_per_second = 1};
    bool admits = foliot__admission_init(&http->guesses, &guesses) == FOLIOT_STATUS_OK;
    http->token = foliot__secret_memory(TOKEN_MEMORY_BYTES);
    bool fine = http->token && admits && http->connections && http->writable;
    if (http->token)
        foliot__http_set_token(http, config->token ? config->token : "");
    lws_set_log_level(0, NULL);
    foliot__http_takeover_open();
    fine = fine && foliot__http_listen(http, problem, problem_bytes);
    if (fine && config->sockets && config->sockets->listening)
        http->listening.hook_descriptor =
            config->sockets->listening(config->sockets->user, http->listening.port);
    if (fine && !foliot__http_open_context(http)) {
        snprintf(problem, problem_bytes, "HTTP: no memory or no descriptors left");
        fine = false;
    }
    if (fine && config->self)
        *config->self = http;
    if (fine && (!foliot__threads_left(1, FOLIOT__HTTP_STACK_BYTES) ||
                 uv_thread_create(&http->thread, serve, http) != 0)) {
        http->thread = 0;
        snprintf(problem, problem_bytes, "HTTP: no thread left");
        fine = false;
    }
    if (fine)
        return http;
    if (config->self)
        *config->self = NULL;
    (void)foliot__http_stop(http);
    return NULL;
}

bool foliot__http_stop(foliot__http *http)
{
    if (!http)
        return true;
    atomic_store(&http->stopping, true);
    foliot__http_cancel(http);
    bool ended = !http->thread || foliot__http_end_thread(http);
    if (ended && http->context)
        lws_context_destroy(http->context);
    foliot__http_listen_end(http);
    if (!ended)
        return false;
    for (foliot__http_waiting *w = http->first, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    foliot__secret_memory_free(http->token, TOKEN_MEMORY_BYTES);
    foliot__admission_close(&http->guesses);
    uv_mutex_destroy(&http->mutex);
    free(http->connections);
    free(http->writable);
    free(http->frame);
    free(http);
    return true;
}

void foliot__http_set_token(foliot__http *http, const char *token)
{
    uv_mutex_lock(&http->mutex);
    snprintf(http->token, TOKEN_MEMORY_BYTES, "%s", token);
    uv_mutex_unlock(&http->mutex);
}

uint16_t foliot__http_get_port(const foliot__http *http)
{
    return http->listening.port;
}

foliot__http_counters foliot__http_get_counters(const foliot__http *http)
{
    return http->counters;
}
