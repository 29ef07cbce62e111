// SPDX-License-Identifier: MIT
// service.c: the service's thread under libwebsockets' own loop, its connections, and the queue
// that answers come through from other threads. Only foliot__http_answer, foliot__http_wake and
// foliot__http_stop may be called from another thread.
#include "present.h"

#if FOLIOT__HTTP_PRESENT

#include "service.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/threads.h"
#include "crypto/crypto.h"
#include "net/address.h"

#define TOKEN_MEMORY_BYTES ((size_t)FOLIOT__HTTP_TOKEN_BYTES_MAX + 1)
#define GUESSES_AT_ONCE 64 // wrong bearer tokens of an address, and then one a second

bool foliot__http_available(void)
{
    return true;
}

// -- connections

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

static bool is_local(int descriptor)
{
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    return getsockname(descriptor, (struct sockaddr *)&name, &length) == 0 &&
           name.ss_family == AF_UNIX;
}

static int open_connection(foliot__http *http, struct lws *wsi)
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
                                       .local = is_local(lws_get_socket_fd(wsi)),
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

static void close_connection(struct lws *wsi)
{
    foliot__http_connection *c = foliot__http_connection_of(wsi);
    if (!c || c->wsi != wsi)
        return;
    foliot__http_unwatch(c);
    foliot__intake_close(&c->intake);
    foliot__http_request_forget(c);
    free(c->message);
    lws_set_opaque_user_data(wsi, NULL);
    c->http->counters.connections_now--;
    c->http->answered -= c->answered;
    *c = (foliot__http_connection){0};
}

// -- what a request must have

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
    *why = "Host names another server: --http-host NAME allows a name";
    if (!c->local && !foliot__http_host_allowed(host, config->hosts, config->host_count))
        return 421; // Misdirected Request
    *why = "Origin is of another site";
    if (!foliot__http_header(c->wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin) ||
        (*origin && !foliot__http_origin_allowed(origin, host)))
        return HTTP_STATUS_FORBIDDEN;
    return 0;
}

// -- answers from other threads

static foliot__http_connection *of_request(foliot__http *http, uint64_t id)
{
    foliot__http_connection *c = &http->connections[id % http->connections_max].connection;
    return c->wsi && c->id == id && !c->sending ? c : NULL;
}

// Wakes the service. A parked thread ignores it.
static void cancel(foliot__http *http)
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
    cancel(http);
}

static void take_answers(foliot__http *http)
{
    uv_mutex_lock(&http->mutex);
    foliot__http_waiting *waiting = http->first;
    http->first = NULL;
    http->last = &http->first;
    uv_mutex_unlock(&http->mutex);
    while (waiting) {
        foliot__http_waiting *next = waiting->next;
        foliot__http_connection *c = of_request(http, waiting->request);
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
        cancel(http);
}

// -- what a hook has beside its sockets

static void on_tick(lws_sorted_usec_list_t *tick)
{
    foliot__http *http = lws_container_of(tick, foliot__http, tick);
    http->config.sockets->ticked(http->config.sockets->user);
}

void foliot__http_tick_in(foliot__http *http, uint32_t ms)
{
    lws_sul_schedule(http->context, 0, &http->tick, on_tick, (lws_usec_t)ms * LWS_US_PER_MS);
}

// libwebsockets closes what it watches: it gets a copy.
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

// -- the thread

// What concerns no request: connections that come and go, and the queue.
static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t length)
{
    foliot__http *http = lws_context_user(lws_get_context(wsi));
    switch (reason) {
    case LWS_CALLBACK_RAW_RX_FILE: // a socket that listens
        foliot__http_accept(http, lws_get_vhost(wsi));
        return 0;
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
        return open_connection(http, wsi);
    case LWS_CALLBACK_CLOSED_HTTP:
        if (foliot__http_connection_of(wsi))
            foliot__http_unwatch(foliot__http_connection_of(wsi));
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        close_connection(wsi);
        return 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        take_answers(http);
        return 0;
    default:
        return foliot__http_on_request(wsi, reason, user, in, length);
    }
}

// Reads the next request once the whole answer is out. Earlier the library would have to keep it.
static void read_on(foliot__http *http)
{
    for (uint32_t i = 0; http->answered > 0 && i < http->connections_max; i++) {
        foliot__http_connection *c = &http->connections[i].connection;
        if (!c->wsi || !c->answered || lws_partial_buffered(c->wsi))
            continue;
        c->answered = false;
        http->answered--;
        foliot__intake_next(&c->intake);
    }
}

void foliot__http_serve(void *user)
{
    foliot__http *http = user;
    take_answers(http);
    while (!atomic_load(&http->stopping)) {
        read_on(http);
        lws_service(http->context, 0);
        atomic_fetch_add(&http->rounds, 1);
    }
    atomic_store(&http->ended, true);
}

static void serve(void *user)
{
    foliot__http_thread_begins(user);
    foliot__http_serve(user);
}

static void fill_info(foliot__http *http, struct lws_context_creation_info *info)
{
    *info = (struct lws_context_creation_info){
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
}

bool foliot__http_open_context(foliot__http *http)
{
    struct lws_context_creation_info info;
    const foliot__http_sockets *hook = http->config.sockets;
    fill_info(http, &info);
    struct lws_context *context = lws_create_context(&info);
    info.vhost_name = "foliot";
    struct lws_vhost *vhost = context ? lws_create_vhost(context, &info) : NULL;
    bool fine = vhost && watch_descriptor(vhost, http->hook_descriptor,
                                          hook ? hook->subprotocol : "", &http->copies[0]);
    for (int i = 0; fine && i < FOLIOT__HTTP_LISTENERS; i++)
        fine = watch_descriptor(vhost, http->listeners[i], "http", &http->copies[1 + i]);
    if (context && !fine)
        lws_context_destroy(context);
    atomic_store(&http->context, fine ? context : NULL);
    return fine;
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
    http->hook_descriptor = http->listeners[0] = http->listeners[1] = -1;
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
        http->hook_descriptor = config->sockets->listening(config->sockets->user, http->port);
    if (fine && !foliot__http_open_context(http)) {
        snprintf(problem, problem_bytes, "HTTP: no memory, or no descriptors, for it");
        fine = false;
    }
    if (fine && config->self)
        *config->self = http;
    if (fine && (!foliot__threads_left(1, FOLIOT__HTTP_STACK_BYTES) ||
                 uv_thread_create(&http->thread, serve, http) != 0)) {
        http->thread = 0;
        snprintf(problem, problem_bytes, "HTTP: no thread for it");
        fine = false;
    }
    if (fine)
        return http;
    (void)foliot__http_stop(http);
    return NULL;
}

bool foliot__http_stop(foliot__http *http)
{
    if (!http)
        return true;
    atomic_store(&http->stopping, true);
    cancel(http);
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
    return http->port;
}

foliot__http_counters foliot__http_get_counters(const foliot__http *http)
{
    return http->counters;
}

#endif
