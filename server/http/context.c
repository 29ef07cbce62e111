// SPDX-License-Identifier: MIT
// context.c: libwebsockets' context: its loop, its events, and the queue of other threads' answers.
// Only foliot__http_answer and foliot__http_wake may be called from another thread.
#include "service.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

// -- answers from other threads

// Wakes the service. A parked thread ignores it.
void foliot__http_cancel(foliot__http *http)
{
    struct lws_context *context = atomic_load(&http->context);
    if (context)
        lws_cancel_service(context);
}

void foliot__http_answer(foliot__http *http, uint64_t request, int status, const char *type,
                         const void *bytes, size_t length)
{
    foliot__http_waiting *waiting = malloc(sizeof *waiting + length);
    if (!waiting)
        return;
    *waiting = (foliot__http_waiting){
        .request = request, .status = status, .type = type, .length = length};
    if (length)
        memcpy(waiting->bytes, bytes, length);
    uv_mutex_lock(&http->mutex);
    *http->last = waiting;
    http->last = &waiting->next;
    uv_mutex_unlock(&http->mutex);
    foliot__http_cancel(http);
}

static void send_answers(foliot__http *http)
{
    uv_mutex_lock(&http->mutex);
    foliot__http_waiting *waiting = http->first;
    http->first = NULL;
    http->last = &http->first;
    uv_mutex_unlock(&http->mutex);
    while (waiting) {
        foliot__http_waiting *next = waiting->next;
        foliot__http_connection *c =
            &http->connections[waiting->request % http->connections_max].connection;
        if (!c->wsi || c->request.id != waiting->request || c->request.sending)
            c = NULL; // it has gone, or timed out
        if (c && foliot__http_reply(c, waiting->status, waiting->type, (uint8_t *)waiting,
                                    waiting->bytes, waiting->length, NULL) < 0)
            lws_set_timeout(c->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
        if (!c)
            free(waiting);
        waiting = next;
    }
    if (atomic_exchange(&http->woken, false) && http->config.sockets && http->config.sockets->woken)
        http->config.sockets->woken(http->config.sockets->user);
}

void foliot__http_wake(foliot__http *http)
{
    if (!atomic_exchange(&http->woken, true))
        foliot__http_cancel(http);
}

// -- timers and descriptors of a hook

static void on_tick(lws_sorted_usec_list_t *tick)
{
    foliot__http *http = lws_container_of(tick, foliot__http, tick);
    http->config.sockets->ticked(http->config.sockets->user);
}

void foliot__http_tick_in(foliot__http *http, uint32_t ms)
{
    lws_sul_schedule(http->context, 0, &http->tick, on_tick, (lws_usec_t)ms * LWS_US_PER_MS);
}

// libwebsockets closes the descriptors that it watches: it gets a copy.
static bool watch_descriptor(struct lws_vhost *vhost, int descriptor, const char *protocol,
                             int *copy)
{
    *copy = -1;
    if (descriptor < 0)
        return true;
    lws_sock_file_fd_type file = {.filefd = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)};
    if (file.filefd < 0)
        return false;
    *copy = file.filefd;
    return lws_adopt_descriptor_vhost(vhost, LWS_ADOPT_RAW_FILE_DESC, file, protocol, NULL) != NULL;
}

// -- the loop

// Events outside of requests: connections that come and go, and the queue.
static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t length)
{
    foliot__http *http = lws_context_user(lws_get_context(wsi));
    switch (reason) {
    case LWS_CALLBACK_RAW_RX_FILE: // a socket that listens
        foliot__http_accept(http, lws_get_vhost(wsi));
        return 0;
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
        return foliot__http_open_connection(http, wsi);
    case LWS_CALLBACK_CLOSED_HTTP:
        if (foliot__http_connection_of(wsi))
            foliot__http_unwatch(foliot__http_connection_of(wsi));
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        foliot__http_close_connection(wsi);
        return 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        send_answers(http);
        return 0;
    default:
        return foliot__http_on_request(wsi, reason, user, in, length);
    }
}

void foliot__http_serve(void *user)
{
    foliot__http *http = user;
    send_answers(http);
    while (!atomic_load(&http->stopping)) {
        // Reads the next request once the answer is out; before, the library would have to buffer
        // it.
        for (uint32_t i = 0; http->answered > 0 && i < http->connections_max; i++) {
            foliot__http_connection *c = &http->connections[i].connection;
            if (!c->wsi || !c->answered || lws_partial_buffered(c->wsi))
                continue;
            c->answered = false;
            http->answered--;
            foliot__intake_next(&c->intake);
        }
        lws_service(http->context, 0);
        atomic_fetch_add(&http->watchdog.rounds, 1);
    }
    atomic_store(&http->watchdog.ended, true);
}

bool foliot__http_open_context(foliot__http *http)
{
    struct lws_context_creation_info info;
    const foliot__http_sockets *hook = http->config.sockets;
    info = (struct lws_context_creation_info){
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .protocols = http->protocols,
        .user = http,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
        .max_http_header_data2 = FOLIOT__HTTP_HEADER_BYTES,
        .max_http_header_pool2 = http->connections_max,
        .fd_limit_per_thread = http->connections_max + 32,
        .timeout_secs = FOLIOT__HTTP_REQUEST_SECONDS,
        .timeout_secs_ah_idle = FOLIOT__HTTP_REQUEST_SECONDS,
        .keepalive_timeout = FOLIOT__HTTP_IDLE_SECONDS,
        .server_string = "foliot",
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
    };
    http->protocols[0] = (struct lws_protocols){.name = "http", .callback = on_event};
    if (http->config.sockets)
        http->protocols[1] = (struct lws_protocols){.name = http->config.sockets->subprotocol,
                                                    .callback = foliot__http_on_socket,
                                                    .rx_buffer_size = 4096,
                                                    .tx_packet_size = 16384};
    struct lws_context *context = lws_create_context(&info);
    info.vhost_name = "foliot";
    struct lws_vhost *vhost = context ? lws_create_vhost(context, &info) : NULL;
    bool fine =
        vhost && watch_descriptor(vhost, http->listening.hook_descriptor,
                                  hook ? hook->subprotocol : "", &http->listening.copies[0]);
    for (int i = 0; fine && i < FOLIOT__HTTP_LISTENERS; i++)
        fine = watch_descriptor(vhost, http->listening.listeners[i], "http",
                                &http->listening.copies[1 + i]);
    if (context && !fine)
        lws_context_destroy(context);
    atomic_store(&http->context, fine ? context : NULL);
    return fine;
}
