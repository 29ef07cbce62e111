// SPDX-License-Identifier: MIT
// web.c: see web.h. Everything runs on the HTTP service's thread except foliot__web_flush, which
// wakes it, and the functions that start and stop the module. A browser that stops reading holds
// only its queue: snapshots wait here and not in the kernel, so that the newest goes out first.
#include "base/clock.h"
#include "web/web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "crypto/crypto.h"
#include "net/address.h"
#include "net/queues.h"

#define CLOSE_UNSUPPORTED 1003 // of RFC 6455, these two
#define CLOSE_POLICY 1008
#define PROBE_NS 1000000000u // between two looks at the kernel's round-trip time
#define GOODBYE_MS 500
#define LOOPBACK_JOINS 32 // a second: as a transport by UDP has it

typedef struct browser {
    foliot__channel channel; // first: see channels.c
    foliot__http_socket *socket;
    foliot_peer_id peer;   // 0: it was refused, and is being sent the reason
    bool ended, forwarded; // forwarded: by a proxy, whose round trip is not the browser's
    bool unproven;         // it has not shown its proof yet
    char address[INET6_ADDRSTRLEN];
    uint8_t token_name[FOLIOT__TOKEN_NONCE_BYTES]; // zeros: it has none
    foliot_peer_identity identity;                 // proved by it
    foliot__bucket messages;                       // that it may still send
    uint64_t probed_ns;
} browser;

struct foliot__web {
    foliot__web_config config;
    foliot__http_sockets hook;
    foliot__http *http;
    foliot__channels *_Atomic channels; // NULL: there are none
    int in_channels;                    // the thread is within their callbacks
    char channels_problem[256];
    bool ticking;
    foliot_queues *queues;
    foliot__web_gate gate;
    foliot__http_file *files; // the first is the site's address
    const foliot__http_route *routes;
    void *routes_user;
    const char *token;
    atomic_bool lobby;             // whether the address shows it
    bool lobby_shown;              // whether it is shown now
    browser **browsers;            // by the index of their peers
    atomic_uint present;           // of them
    uint8_t *message;              // that is sent
    foliot__http_socket **waiting; // scratch: those that have something to send
    pthread_mutex_t counted_mutex;
    foliot__web_counters counted; // for other threads
};

// Equal to the key that a UDP transport has for the same address.
static uint64_t key_of(const char *address)
{
    foliot__net_address read;
    return foliot__net_address_read(address, 0, &read) ? foliot__net_address_host_key(&read) : 1;
}

static void close_browser(browser *b, uint16_t code, const char *why)
{
    b->ended = true;
    foliot__http_socket_close(b->socket, code, why);
}

// A message has come. True: it is one too many, and the browser is closed.
static bool floods(browser *b, uint64_t now)
{
    if (foliot__bucket_spend(&b->messages, FOLIOT__WEB_MESSAGES_BURST, FOLIOT__WEB_MESSAGE_EVERY_NS,
                             now))
        return false;
    close_browser(b, CLOSE_POLICY, "too many messages a second");
    return true;
}

static void end_browser(browser *b, uint32_t reason)
{
    uint32_t code = reason < FOLIOT__WEB_REASON_MAX ? reason : FOLIOT__WEB_REASON_MAX;
    close_browser(b, (uint16_t)(FOLIOT__WEB_CLOSE_CODE + code),
                  reason == FOLIOT_DISCONNECT_FULL   ? FOLIOT__WEB_FULL_SENTENCE
                  : reason == FOLIOT_DISCONNECT_SLOW ? "the page does not read what is sent to it"
                                                     : "");
}

static void join_queue(foliot__web *web, browser *b, const foliot_peer_identity *identity,
                       uint64_t now)
{
    if (foliot_queues_join(web->queues, b->address, key_of(b->address), identity, now, &b->peer) ==
        FOLIOT_STATUS_OK)
        web->browsers[foliot__peer_index(b->peer)] = b;
    else
        end_browser(b, FOLIOT_DISCONNECT_FULL);
}

// -- the hook's functions

static void *on_opened(void *user, foliot__http_socket *socket, const char *address)
{
    foliot__web *web = user;
    int descriptor = foliot__http_socket_get_descriptor(socket), unsent = FOLIOT__WEB_UNSENT_BYTES,
        silence_ms = FOLIOT__WEB_SILENCE_MS;
    browser *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->socket = socket;
    char text[INET6_ADDRSTRLEN];
    foliot__web_address_of(getpeername, descriptor, text, sizeof text);
    b->forwarded = strcmp(text, address) != 0;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
    setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof silence_ms);
    atomic_fetch_add(&web->present, 1);
    static const foliot_peer_identity nobody;
    snprintf(b->address, sizeof b->address, "%s", address);
    b->unproven = foliot__web_proof_wanted(&web->gate);
    if (b->unproven)
        foliot__http_socket_limit(socket, FOLIOT__WEB_PROOF_SECONDS);
    else
        join_queue(web, b, &nobody, foliot__clock_now_ns());
    return b;
}

static void receive_proof(foliot__web *web, browser *b, const uint8_t *message, size_t length,
                          uint64_t now)
{
    foliot__web_proof proof;
    foliot__web_visitor who = {.descriptor = foliot__http_socket_get_descriptor(b->socket),
                               .address_key = key_of(b->address),
                               .now_ns = now};
    uint32_t reason = foliot__web_judge(&web->gate, &who, message, length, &proof);
    foliot__forget((void *)(uintptr_t)message, length); // in the connection's buffer, which stays
    if (reason) {
        close_browser(b, (uint16_t)(FOLIOT__WEB_CLOSE_CODE + reason), proof.sentence);
        return;
    }
    b->unproven = false;
    foliot__http_socket_limit(b->socket, 0);
    // A token belongs to one browser: a browser that returns with it takes its previous place.
    static const uint8_t none[FOLIOT__TOKEN_NONCE_BYTES];
    bool named = memcmp(proof.token_name, none, sizeof none) != 0;
    for (uint32_t i = 0; named && i < web->config.peers_max; i++) {
        browser *other = web->browsers[i];
        if (other && !other->ended && memcmp(other->token_name, proof.token_name, sizeof none) == 0)
            close_browser(other, FOLIOT__WEB_CLOSE_CODE + FOLIOT_DISCONNECT_TOKEN_USED,
                          "your link was opened again, in another page");
    }
    memcpy(b->token_name, proof.token_name, sizeof b->token_name);
    b->identity = proof.identity;
    join_queue(web, b, &proof.identity, now);
}

static void on_closed(void *user, void *of_socket)
{
    foliot__web *web = user;
    browser *b = of_socket;
    if (b->peer.value) {
        web->browsers[foliot__peer_index(b->peer)] = NULL;
        foliot_queues_leave(web->queues, b->peer, FOLIOT_DISCONNECT_NONE);
    }
    if (web->gate.transport)
        foliot__transport_end_shown(web->gate.transport, &b->identity);
    atomic_fetch_sub(&web->present, 1);
    web->in_channels++;
    foliot__channel_close(&b->channel);
    web->in_channels--;
    free(b);
}

static void look_at_round_trip(foliot__web *web, browser *b, uint64_t now)
{
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (b->forwarded || now - b->probed_ns < PROBE_NS)
        return;
    b->probed_ns = now;
    if (getsockopt(foliot__http_socket_get_descriptor(b->socket), IPPROTO_TCP, TCP_INFO, &info,
                   &length) == 0)
        foliot_queues_set_round_trip(web->queues, b->peer, (uint64_t)info.tcpi_rtt * 1000u);
}

static void receive_signal(foliot__web *web, browser *b, const uint8_t *bytes, size_t length,
                           uint64_t now)
{
    // The address of this machine that the browser connected to; "": it connected to a proxy.
    char local[INET6_ADDRSTRLEN] = "";
    if (!b->forwarded)
        foliot__web_address_of(getsockname, foliot__http_socket_get_descriptor(b->socket), local,
                               sizeof local);
    web->in_channels++;
    bool taken =
        foliot__channel_receive_signal(web->channels, &b->channel, b, local, bytes, length, now);
    web->in_channels--;
    if (!taken)
        return; // of a later version
    foliot__http_socket_want_write(b->socket);
    if (b->channel.rtc && !web->ticking) {
        web->ticking = true;
        foliot__http_tick_in(web->http, FOLIOT__RTC_TICK_MS);
    }
}

static void on_received(void *user, void *of_socket, const void *bytes, size_t length, bool binary)
{
    foliot__web *web = user;
    browser *b = of_socket;
    const uint8_t *message = bytes;
    uint64_t now = foliot__clock_now_ns();
    if (b->ended)
        return;
    if (floods(b, now))
        return;
    if (!binary || length < 2 || message[0] > FOLIOT__WEB_SIGNAL) {
        close_browser(b, CLOSE_UNSUPPORTED,
                      "a message is binary: 0, 1 or 2, then at least one byte");
        return;
    }
    if (b->unproven) {
        receive_proof(web, b, message, length, now);
        return;
    }
    if (message[0] == FOLIOT__WEB_SIGNAL) {
        receive_signal(web, b, message + 1, length - 1, now);
        return;
    }
    look_at_round_trip(web, b, now);
    bool reliable = message[0] == FOLIOT__WEB_RELIABLE;
    foliot_status status = foliot_queues_put(
        web->queues, b->peer, reliable ? FOLIOT_DELIVERY_RELIABLE : FOLIOT_DELIVERY_UNRELIABLE,
        message + 1, length - 1, now);
    if (reliable && (status == FOLIOT_STATUS_FULL || status == FOLIOT_STATUS_MEMORY))
        close_browser(b, CLOSE_POLICY, "messages come faster than the server reads them");
}

// Sends through the channel while it flows, otherwise through the WebSocket. True: more is waiting.
static bool send_by_channel(foliot__web *web, browser *b, uint64_t now)
{
    foliot_queues_packet packet;
    foliot__rtc_way way = foliot__channel_get_way(&b->channel, now);
    while (way == FOLIOT__RTC_READY &&
           foliot__queues_read_of(web->queues, b->peer, FOLIOT_DELIVERY_UNRELIABLE, now, &packet)) {
        web->in_channels++;
        foliot__rtc_send(b->channel.rtc, packet.bytes, packet.length, now);
        web->in_channels--;
        foliot_queues_release(&packet);
        way = foliot__channel_get_way(&b->channel, now);
    }
    return foliot__queues_has_more(web->queues, b->peer, way == FOLIOT__RTC_ABSENT);
}

static bool poll_packet(foliot__web *web, browser *b, foliot_queues_packet *packet)
{
    uint64_t now = foliot__clock_now_ns();
    if (foliot__channel_get_way(&b->channel, now) != FOLIOT__RTC_ABSENT &&
        !foliot__queues_get_ended(web->queues, b->peer))
        return foliot__queues_read_of(web->queues, b->peer, FOLIOT_DELIVERY_RELIABLE, now, packet);
    return foliot_queues_read(web->queues, b->peer, now, packet);
}

static foliot__http_written write_packet(foliot__web *web, browser *b, foliot_queues_packet *packet,
                                         bool more)
{
    web->message[0] = packet->delivery == FOLIOT_DELIVERY_RELIABLE ? FOLIOT__WEB_RELIABLE
                                                                   : FOLIOT__WEB_UNRELIABLE;
    memcpy(web->message + 1, packet->bytes, packet->length);
    foliot__http_written written =
        foliot__http_socket_write(b->socket, web->message, packet->length + 1, more);
    foliot_queues_release(packet);
    return written;
}

// Sends everything that waits, up to a bound: frames share packets, and one turn of the loop.
static void on_writable(void *user, void *of_socket)
{
    foliot__web *web = user;
    browser *b = of_socket;
    foliot_queues_packet packet, next;
    foliot__http_written written = FOLIOT__HTTP_WRITTEN;
    if (b->ended || b->unproven)
        return;
    if (b->channel.signal) {
        written =
            foliot__http_socket_write(b->socket, b->channel.signal, b->channel.signal_bytes, false);
        free(b->channel.signal);
        b->channel.signal = NULL;
    }
    bool more = written == FOLIOT__HTTP_WRITTEN && poll_packet(web, b, &packet);
    for (size_t bytes = 0; more && !packet.ended && written == FOLIOT__HTTP_WRITTEN;) {
        bytes += packet.length;
        bool full = bytes >= FOLIOT__WEB_UNSENT_BYTES;
        more = !full && poll_packet(web, b, &next);
        written = write_packet(web, b, &packet, more && !next.ended);
        if (full)
            foliot__http_socket_want_write(b->socket);
        packet = more ? next : packet;
    }
    if (more && packet.ended) // behind what is held, too
        end_browser(b, packet.reason);
    else if (more && !packet.ended) // behind what is held
        (void)write_packet(web, b, &packet, false);
}

// The server has sent something, or somebody requested the counters.
static void on_woken(void *user)
{
    foliot__web *web = user;
    bool lobby = atomic_load(&web->lobby);
    if (lobby != web->lobby_shown) {
        web->lobby_shown = lobby;
        (void)foliot__web_set_home(web->files, lobby ? "/lobby.html" : "/index.html");
    }
    uint64_t now = foliot__clock_now_ns();
    uint32_t count = 0;
    for (foliot_peer_id peer; (peer = foliot_queues_next(web->queues)).value;) {
        browser *b = web->browsers[foliot__peer_index(peer)];
        if (!b || b->peer.value != peer.value || b->ended)
            continue;
        if (send_by_channel(web, b, now) && count < web->config.peers_max)
            web->waiting[count++] = b->socket;
        if (foliot__queues_get_ended(web->queues, peer))
            foliot__http_socket_limit(b->socket, FOLIOT__WEB_END_SECONDS);
    }
    foliot__http_sockets_want_write(web->http, web->waiting, count);
    pthread_mutex_lock(&web->counted_mutex);
    web->counted.http = foliot__http_get_counters(web->http);
    if (web->channels)
        web->counted.channels = foliot__channels_get_counters(web->channels);
    pthread_mutex_unlock(&web->counted_mutex);
}

// -- data channels

static void on_channel_received(void *user, void *of, const uint8_t *bytes, size_t length)
{
    foliot__web *web = user;
    browser *b = of;
    uint64_t now = foliot__clock_now_ns();
    if (b->ended || length == 0)
        return;
    if (floods(b, now))
        return;
    look_at_round_trip(web, b, now);
    foliot_status status =
        foliot_queues_put(web->queues, b->peer, FOLIOT_DELIVERY_UNRELIABLE, bytes, length, now);
    (void)status; // messages without room are lost, and counted there
}

static void on_channel_flows(void *user, void *of)
{
    browser *b = of;
    if (!b->ended && send_by_channel(user, b, foliot__clock_now_ns()))
        foliot__http_socket_want_write(b->socket);
}

static int on_listening(void *user, uint16_t port)
{
    foliot__web *web = user;
    foliot__channels_config config = {.web = &web->config,
                                      .user = web,
                                      .received = on_channel_received,
                                      .flows = on_channel_flows};
    web->channels =
        foliot__channels_create(&config, port, web->channels_problem, sizeof web->channels_problem);
    return foliot__channels_get_descriptor(web->channels);
}

static void on_readable(void *user)
{
    foliot__web *web = user;
    web->in_channels++;
    foliot__channels_receive(web->channels, foliot__clock_now_ns());
    web->in_channels--;
}

static void on_ticked(void *user)
{
    foliot__web *web = user;
    web->in_channels++;
    web->ticking = foliot__channels_tick(web->channels, foliot__clock_now_ns());
    web->in_channels--;
    if (web->ticking)
        foliot__http_tick_in(web->http, FOLIOT__RTC_TICK_MS);
}

// A thread that was stopped within the data channels leaves them as they are: nobody can end them,
// and the WebSockets carry everything until the server ends.
static int on_abandoned(void *user)
{
    foliot__web *web = user;
    int descriptor = foliot__channels_get_descriptor(web->channels);
    bool within = web->in_channels > 0;
    web->ticking = false;
    web->in_channels = 0;
    for (uint32_t i = 0; within && i < web->config.peers_max; i++)
        if (web->browsers[i])
            web->browsers[i]->channel.rtc = NULL;
    if (!within || descriptor < 0)
        return descriptor;
    web->channels = NULL;
    close(descriptor);
    return -1;
}

uint16_t foliot__web_get_channel_port(const foliot__web *web, const char **why)
{
    *why = web->channels_problem;
    return foliot__channels_get_port(web->channels);
}

bool foliot__web_poll_note(foliot__web *web, char *text, size_t bytes)
{
    return foliot__channels_poll_note(web->channels, text, bytes);
}

// -- life

foliot__web *foliot__web_create(const foliot__web_config *config, foliot_transport **transport,
                                char *problem, size_t problem_bytes)
{
    foliot_queues_config queues = foliot_queues_config_default();
    queues.peers_max = config->peers_max;
    queues.peers_per_address_max = config->peers_per_address_max;
    if (foliot__http_is_loopback(config->address)) {
        queues.joins_per_second = LOOPBACK_JOINS;
        if (!queues.peers_per_address_max)
            queues.peers_per_address_max = queues.peers_max;
    }
    snprintf(problem, problem_bytes, "no memory");
    foliot__web *web = calloc(1, sizeof *web);
    if (!web)
        return NULL;
    web->config = *config;
    pthread_mutex_init(&web->counted_mutex, NULL);
    web->browsers = calloc(config->peers_max, sizeof(browser *));
    web->waiting = calloc(config->peers_max, sizeof(foliot__http_socket *));
    web->message = malloc(1 + (size_t)FOLIOT_RELIABLE_BYTES_MAX);
    foliot_status status = foliot__web_gate_open(&web->gate);
    web->files = foliot__web_files();
    if (status == FOLIOT_STATUS_OK && web->browsers && web->waiting && web->message && web->files)
        status = foliot_transport_create_queues(&queues, transport, &web->queues);
    else
        status = FOLIOT_STATUS_MEMORY;
    if (status == FOLIOT_STATUS_OK)
        return web;
    snprintf(problem, problem_bytes, "%s", foliot_status_get_text(status));
    foliot__web_destroy(web);
    return NULL;
}

void foliot__web_set_gate(foliot__web *web, foliot_transport *transport)
{
    web->gate.transport = transport;
}

void foliot__web_set_routes(foliot__web *web, const foliot__http_route *routes, void *user,
                            const char *token)
{
    web->routes = routes;
    web->routes_user = user;
    web->token = token;
}

void foliot__web_set_lobby(foliot__web *web, bool shows)
{
    if (atomic_exchange(&web->lobby, shows) != shows && web->http)
        foliot__http_wake(web->http);
}

foliot__web_counters foliot__web_get_counters(foliot__web *web)
{
    pthread_mutex_lock(&web->counted_mutex);
    foliot__web_counters counted = web->counted;
    pthread_mutex_unlock(&web->counted_mutex);
    if (web->http)
        foliot__http_wake(web->http);
    return counted;
}

foliot__http_health foliot__web_watch(foliot__web *web)
{
    return foliot__http_watch(web->http);
}

foliot__http *foliot__web_get_http(const foliot__web *web)
{
    return web->http;
}

bool foliot__web_start(foliot__web *web, char *problem, size_t problem_bytes)
{
    web->hook = (foliot__http_sockets){.path = FOLIOT__WEB_PATH,
                                       .subprotocol = "foliot.1",
                                       .message_bytes_max = FOLIOT__WEB_MESSAGE_BYTES,
                                       .user = web,
                                       .opened = on_opened,
                                       .received = on_received,
                                       .writable = on_writable,
                                       .closed = on_closed,
                                       .woken = on_woken,
                                       .listening = on_listening,
                                       .readable = on_readable,
                                       .ticked = on_ticked,
                                       .abandoned = on_abandoned};
    foliot__http_config config = {.address = web->config.address,
                                  .port = web->config.port,
                                  .hosts = web->config.hosts,
                                  .host_count = web->config.host_count,
                                  .files = web->files,
                                  .routes = web->routes,
                                  .token = web->token,
                                  .sockets = &web->hook,
                                  .user = web->routes_user,
                                  .self = &web->http};
    if (web->config.peers_max + 64 > FOLIOT__HTTP_CONNECTIONS) // and page loads
        config.connections_max = web->config.peers_max + 64;
    return foliot__http_start(&config, problem, problem_bytes) != NULL; // it has set web->http
}

uint16_t foliot__web_get_port(const foliot__web *web)
{
    return foliot__http_get_port(web->http);
}

void foliot__web_flush(foliot__web *web)
{
    if (web->http && foliot__queues_has_named(web->queues))
        foliot__http_wake(web->http);
}

void foliot__web_destroy(foliot__web *web)
{
    static const struct timespec moment = {.tv_nsec = 5000000};
    if (!web)
        return;
    for (int ms = 0; web->http && ms < GOODBYE_MS && atomic_load(&web->present) > 0; ms += 5)
        nanosleep(&moment, NULL);
    if (!foliot__http_stop(web->http))
        return; // its thread may still touch the memory
    foliot__channels_destroy(web->channels);
    foliot_queues_close(web->queues);
    foliot__web_gate_close(&web->gate);
    pthread_mutex_destroy(&web->counted_mutex);
    free(web->browsers);
    free(web->waiting);
    free(web->files);
    free(web->message);
    free(web);
}
