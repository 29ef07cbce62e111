// SPDX-License-Identifier: MIT
// service.h: shared by the files of the service: connections, and answers on their way to the
// thread. service.c: start and end. takeover.c: a thread that does not return. context.c: the
// library's loop, and the queue. requests.c: requests and answers. sockets.c: WebSockets.
// connection.c: listening sockets and connections. Each calls only those listed after it.
#ifndef FOLIOT_SERVER_HTTP_SERVICE_H
#define FOLIOT_SERVER_HTTP_SERVICE_H

#include <poll.h>
#include <stdatomic.h>

#include <libwebsockets.h>
#include <uv.h>

#include "http.h"
#include "intake.h"
#include "net/admission.h"

#define FOLIOT__HTTP_LISTENERS 2 // of TCP, and of the Unix socket
#define FOLIOT__HTTP_STACK_BYTES ((size_t)8 << 20)
#define FOLIOT__HTTP_PEER_BYTES 64 // of an address as text

// requests.c: the request that is read or waits for its answer.
typedef struct foliot__http_pending {
    uint64_t id; // 0: none
    bool head, sending, closes, awaits_body;
    const foliot__http_route *route;
    char method[8], path[FOLIOT__HTTP_PATH_BYTES];
    char allow[40]; // methods of the path, as a 405 names them; "": none
    char *body;
    size_t body_bytes, body_capacity;
} foliot__http_pending;

typedef struct foliot__http_outgoing {
    const uint8_t *bytes;
    uint8_t *owned; // `bytes`, if they are the connection's
    size_t length, sent;
} foliot__http_outgoing;

typedef enum foliot__socket_state {
    FOLIOT__SOCKET_NONE, // it is no WebSocket
    FOLIOT__SOCKET_OPEN,
    FOLIOT__SOCKET_CLOSING,
    FOLIOT__SOCKET_PARTING, // the library sends the close frame
} foliot__socket_state;

// sockets.c: a WebSocket, and the message that it receives.
typedef struct foliot__http_socket_data {
    foliot__socket_state state;
    uint64_t parts; // closing sockets, in their order
    void *of_socket;
    uint8_t *message;
    size_t message_bytes, message_capacity;
    uint32_t fragments;
} foliot__http_socket_data;

typedef struct foliot__http_connection {
    foliot__http *http;
    struct lws *wsi; // NULL: free
    bool local;      // came over the Unix socket
    bool answered;   // to be read again once its answer is out
    char peer[FOLIOT__HTTP_PEER_BYTES];
    uint64_t host; // key by which connections are counted (net/address.h); 0: not counted
    foliot__intake intake;
    int descriptor; // that is watched; -1: none
    ino_t inode;    // of it
    foliot__http_pending request;
    foliot__http_outgoing answer;
    foliot__http_socket_data socket;
} foliot__http_connection;

struct foliot__http_socket {
    foliot__http_connection connection;
};

typedef struct foliot__http_waiting {
    struct foliot__http_waiting *next;
    uint64_t request;
    int status;
    const char *type;
    size_t length;
    uint8_t bytes[];
} foliot__http_waiting;

// connection.c
typedef struct foliot__http_listening {
    int listeners[FOLIOT__HTTP_LISTENERS];
    bool has_unix_file;
    int hook_descriptor;
    int copies[FOLIOT__HTTP_LISTENERS + 1]; // that the library watches, of these
    uint16_t port;
} foliot__http_listening;

typedef enum foliot__http_taking {
    FOLIOT__HTTP_NOBODY,
    FOLIOT__HTTP_TAKING,
    FOLIOT__HTTP_TAKEN,
    FOLIOT__HTTP_NOT_TAKEN
} foliot__http_taking;

// takeover.c: the watchdog of the thread.
typedef struct foliot__http_watchdog {
    uv_thread_t taker;
    atomic_int taking; // foliot__http_taking
    atomic_bool ended, parked, clock_known;
    atomic_ullong rounds, park_round; // service calls so far; the one to be stopped in
    clockid_t clock;                  // processor time of the thread
    uint64_t seen_round, seen_cpu_ns, taken_ns, pause_ns;
} foliot__http_watchdog;

struct foliot__http {
    foliot__http_config config;
    struct lws_context *_Atomic context; // NULL while another thread takes over
    foliot__http_listening listening;
    struct lws_protocols protocols[3];
    uv_thread_t thread;
    atomic_bool stopping, woken;
    uv_mutex_t mutex; // of the answers below, and of the token
    char *token;      // "": none; FOLIOT__HTTP_TOKEN_BYTES_MAX + 1, which core dumps leave out
    foliot__http_waiting *first, **last;
    foliot__http_socket *connections;
    uint32_t connections_max;
    struct pollfd *writable; // scratch, one for each connection
    uint8_t *frame;          // scratch, of a message on its way out
    size_t frame_capacity;
    foliot__admission guesses; // of the token, by address
    lws_sorted_usec_list_t tick;
    uint64_t serial, parted; // requests, and sockets that were closed
    uint32_t answered;       // connections that may be read again once their answer is out
    foliot__http_counters counters;
    foliot__http_watchdog watchdog;
};

// connection.c
int foliot__http_open_connection(foliot__http *http, struct lws *wsi); // -1: it is closed
void foliot__http_close_connection(struct lws *wsi);
foliot__http_connection *foliot__http_connection_of(struct lws *wsi);
// Whether it came over the Unix socket.
bool foliot__http_is_local(int descriptor);
// Frees the request that was read or answered last.
void foliot__http_request_forget(foliot__http_connection *c);
// The peer that a proxy of this machine names; false: there is no proxy, or it names no peer.
bool foliot__http_forwarded(const foliot__http_connection *c,
                            char address[FOLIOT__HTTP_PEER_BYTES]);
// Whether Host and Origin let a request in: the status to refuse it with and why, or 0.
int foliot__http_refused(const foliot__http_connection *c, const char **why);
// A header that is not too long; "" if it is not there. False: it is too long.
bool foliot__http_header(struct lws *wsi, enum lws_token_indexes token, char *text, size_t bytes);

// The key that an address's connections are counted by: equal for all addresses that one person may
// have. 0: not counted, for a proxy of this machine, and for text that is not an address.
uint64_t foliot__http_host_of(const char *address);
// Whether a connection from there, with or without a slot, is within a quarter of all.
bool foliot__http_within_share(const foliot__http *http, uint64_t host);

void foliot__http_unwatch(foliot__http_connection *c);
// Listening sockets.
bool foliot__http_listen(foliot__http *http, char *problem, size_t problem_bytes);
void foliot__http_listen_end(foliot__http *http);
void foliot__http_accept(foliot__http *http, struct lws_vhost *vhost);
// context.c
void foliot__http_cancel(foliot__http *http); // wakes the loop; a parked thread ignores it
// Called by the service's thread: creates the library's context, then serves until the end.
bool foliot__http_open_context(foliot__http *http);
void foliot__http_serve(void *http);
// takeover.c
void foliot__http_takeover_open(void);
void foliot__http_thread_begins(foliot__http *http);
// Waits for the thread, for a bounded time. False: it does not come back.
bool foliot__http_end_thread(foliot__http *http);
// requests.c
int foliot__http_on_request(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                            size_t length);
int foliot__http_reply(foliot__http_connection *c, int status, const char *type, uint8_t *owned,
                       const void *bytes, size_t length, const foliot__http_file *file);
// sockets.c
// The status that refuses a request for a WebSocket, and why; 0: it is let in.
int foliot__http_socket_refused(foliot__http_connection *c, const char **why);
int foliot__http_on_socket(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                           size_t length);

#endif
