// SPDX-License-Identifier: MIT
// http.h: the HTTP service of foliot-server: routes, files and WebSockets on one port, on a
// separate thread. It knows nothing of sessions. A handler runs on the service's thread and answers
// at once, or passes the request's id on, and any thread answers later. So no request delays a
// tick.
//
// It checks Host against a list of names (DNS rebinding), then Origin, and a bearer token for
// routes that need it. It limits the size of headers and bodies, the total time of a request, and
// the number of connections, in total and per address.
#ifndef FOLIOT_SERVER_HTTP_H
#define FOLIOT_SERVER_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLIOT__HTTP_HEADER_BYTES 8192     // of all headers of a request
#define FOLIOT__HTTP_BODY_BYTES 262144     // of a request
#define FOLIOT__HTTP_REQUEST_SECONDS 10    // from its first byte to the first byte of its answer
#define FOLIOT__HTTP_REPLY_SECONDS 60      // for the answer
#define FOLIOT__HTTP_IDLE_SECONDS 30       // between two requests
#define FOLIOT__HTTP_PART_SECONDS 2        // for the rest of a refused request
#define FOLIOT__HTTP_CONNECTIONS 512       // in total, by default
#define FOLIOT__HTTP_CONNECTIONS_KEPT 8    // of those, reserved for the Unix socket
#define FOLIOT__HTTP_PATH_BYTES 512        // longer ones are refused
#define FOLIOT__HTTP_ARGUMENTS 2           // of {} in a route's path
#define FOLIOT__HTTP_ARGUMENT_BYTES 192    // of each
#define FOLIOT__HTTP_TOKEN_BYTES_MIN 16    // of a bearer token
#define FOLIOT__HTTP_TOKEN_BYTES_MAX 512   // of a bearer token
#define FOLIOT__HTTP_SOCKET_FRAGMENTS 1024 // of one message of a WebSocket
#define FOLIOT__HTTP_SOCKETS_PARTING 8     // of one address, whose close frame has been sent

typedef struct foliot__http foliot__http;
typedef struct foliot__http_socket foliot__http_socket; // one WebSocket

typedef struct foliot__http_request {
    uint64_t id; // for foliot__http_answer
    const char *method;
    const char *path; // decoded, without the query
    char arguments[FOLIOT__HTTP_ARGUMENTS][FOLIOT__HTTP_ARGUMENT_BYTES]; // the parts that match {}
    const char *body;                                                    // closed by a zero
    size_t body_bytes;
} foliot__http_request;

// Called on the service's thread. `request` and all in it are valid during the call.
typedef void foliot__http_handler(void *user, const foliot__http_request *request);

typedef struct foliot__http_route {
    const char *method; // NULL ends a table
    const char *path;   // "/v1/sessions/{}/players": {} stands for one part that is not empty
    foliot__http_handler *handler;
    bool guarded; // needs the bearer token, or the Unix socket
} foliot__http_route;

// A file that is served from memory, for GET and HEAD.
typedef struct foliot__http_file {
    const char *path; // NULL ends a table
    const char *type; // "text/html; charset=utf-8"
    const void *bytes;
    size_t length;
    bool gzipped;
    const char *etag; // with its quotation marks; or NULL
} foliot__http_file;

// WebSockets at one path with one subprotocol. All functions run on the service's thread.
typedef struct foliot__http_sockets {
    const char *path, *subprotocol;
    size_t message_bytes_max; // a longer one closes the socket (1009)
    void *user;
    // A socket is open; the result is passed to the other functions as `of_socket`. NULL: it is
    // closed again. `address` is the peer's, as text without a port.
    void *(*opened)(void *user, foliot__http_socket *socket, const char *address);
    void (*received)(void *user, void *of_socket, const void *bytes, size_t length, bool binary);
    void (*writable)(void *user, void *of_socket); // asked for by foliot__http_socket_want_write
    void (*closed)(void *user, void *of_socket);
    void (*woken)(void *user); // after foliot__http_wake; may be NULL
    // Called once, by foliot__http_start, when the port is known: returns a descriptor to watch
    // along with the connections, or -1. The hook owns it. May be NULL.
    int (*listening)(void *user, uint16_t port);
    void (*readable)(void *user); // that descriptor
    void (*ticked)(void *user);   // asked for by foliot__http_tick_in
    // The thread was stopped for good within one of the functions above, but not within `closed`,
    // which follows for all sockets. Returns the descriptor to watch, or -1. May be NULL.
    int (*abandoned)(void *user);
} foliot__http_sockets;

typedef struct foliot__http_config {
    const char *address; // IPv4 or IPv6 address to listen on; NULL: only the Unix socket
    uint16_t port;       // 0: a free one
    const char *unix_path;
    const char *const
        *hosts; // names that Host may have in addition to localhost and numeric addresses
    uint32_t host_count;
    const char *token;        // of guarded routes; copied; NULL: the Unix socket alone serves them
    uint32_t connections_max; // 0: FOLIOT__HTTP_CONNECTIONS
    const foliot__http_route *routes; // lent, as the others; NULL: none
    const foliot__http_file *files;
    const foliot__http_sockets *sockets;
    void *user; // of handlers
    // Set before the thread starts, and to NULL if it does not start. It is never written
    // afterwards, since handlers read it. NULL: not wanted.
    foliot__http **self;
} foliot__http_config;

// Counters of the service: X(name, a sentence that describes the counter).
#define FOLIOT__HTTP_COUNTERS(X)                                                                   \
    X(restarts, "Times that the service was restarted because its thread hung.")                   \
    X(connections, "Connections accepted.")                                                        \
    X(connections_refused, "Connections refused: too many, in all or from one address.")           \
    X(requests, "Requests.")                                                                       \
    X(requests_refused, "Requests answered with a status of 400 or more.")                         \
    X(requests_timed_out, "Requests that were too slow, or whose answer nobody read.")             \
    X(bytes_sent, "Bytes sent, WebSockets included.")                                              \
    X(sockets_opened, "WebSockets opened.")                                                        \
    X(socket_messages, "Messages received by WebSockets.")                                         \
    X(sockets_cut, "Refused WebSockets cut off: their address held too many that were closing.")   \
    X(socket_frames_refused, "WebSockets ended for a frame without a mask, or too many pings.")
typedef struct foliot__http_counters {
#define FOLIOT__HTTP_COUNTER_FIELD(name, help) uint64_t name;
    FOLIOT__HTTP_COUNTERS(FOLIOT__HTTP_COUNTER_FIELD)
#undef FOLIOT__HTTP_COUNTER_FIELD
    uint64_t connections_now, sockets_now;
} foliot__http_counters;

// NULL with a sentence.
foliot__http *foliot__http_start(const foliot__http_config *config, char *problem,
                                 size_t problem_bytes);
// Ends the thread and closes open connections. NULL is allowed. False: the thread does not return.
// Then everything that it may touch, hooks included, stays allocated, and the process ends by
// _exit.
bool foliot__http_stop(foliot__http *http);
bool foliot__http_is_lost(void); // some service has ended in this way

// Checks the thread; called about once a second, always from one other thread. A thread that has
// computed for two seconds within the library is stopped there for good; another takes its place,
// with all connections closed.
typedef enum foliot__http_health {
    FOLIOT__HTTP_HEALTHY,
    FOLIOT__HTTP_RESTARTED, // since the last check
    FOLIOT__HTTP_STUCK      // it could not be stopped, and nobody is served
} foliot__http_health;
foliot__http_health foliot__http_watch(foliot__http *http);
uint16_t foliot__http_get_port(const foliot__http *http);

// Answers a request, from any thread. `bytes` are copied. If the client has gone, the answer is
// dropped. Without memory for the copy the client gets no answer, and its time limit ends it.
void foliot__http_answer(foliot__http *http, uint64_t request, int status, const char *type,
                         const void *bytes, size_t length);
// Replaces the bearer token, from any thread; copied.
void foliot__http_set_token(foliot__http *http, const char *token);
// On the service's thread only.
foliot__http_counters foliot__http_get_counters(const foliot__http *http);

// On the service's thread only: `ticked` is called once, after that time.
void foliot__http_tick_in(foliot__http *http, uint32_t ms);
// From any thread: `woken` is called soon on the service's thread.
void foliot__http_wake(foliot__http *http);
// On the service's thread only.
void foliot__http_socket_want_write(foliot__http_socket *socket);
// The same for many of them, in `woken`: `writable` is called before this returns for those that
// can accept data now.
void foliot__http_sockets_want_write(foliot__http *http, foliot__http_socket *const *sockets,
                                     uint32_t count);
// Sends one whole message, in `writable` only. Any number of messages may be sent while the socket
// accepts them. `more`: another follows in the same call, and both may go in one packet.
typedef enum foliot__http_written {
    FOLIOT__HTTP_WRITTEN,
    FOLIOT__HTTP_HELD,  // sent when the socket accepts more; then `writable` is called again
    FOLIOT__HTTP_BROKEN // and closes
} foliot__http_written;
foliot__http_written foliot__http_socket_write(foliot__http_socket *socket, const void *bytes,
                                               size_t length, bool more);
// Closes with a code of RFC 6455 and a reason of at most 123 bytes; `closed` follows. The peer has
// five seconds to read the reason, or less beyond FOLIOT__HTTP_SOCKETS_PARTING of an address.
void foliot__http_socket_close(foliot__http_socket *socket, uint16_t code, const char *reason);
// The socket ends after `seconds`, even if its peer reads nothing; 0: no limit.
void foliot__http_socket_limit(foliot__http_socket *socket, int seconds);
int foliot__http_socket_get_descriptor(const foliot__http_socket *socket);

// -- checks of Host, Origin, bearer tokens and paths of routes (access.c): pure functions of
// untrusted text

// Whether a Host header names this server: localhost, a numeric address (no name of an attacker can
// point to it), or one of the names. A port may follow.
bool foliot__http_host_allowed(const char *host, const char *const *names, uint32_t count);
// Whether an Origin header is of the page's own site: http or https, and what follows is `host`.
bool foliot__http_origin_allowed(const char *origin, const char *host);
// Whether an Authorization header has the token, in a time that depends only on its length.
bool foliot__http_token_fits(const char *authorization, const char *token);
// Whether a path matches the route's path; copies the parts that match {}.
bool foliot__http_path_fits(const char *pattern, const char *path,
                            char arguments[FOLIOT__HTTP_ARGUMENTS][FOLIOT__HTTP_ARGUMENT_BYTES]);
// Reads a token from a file that only its owner can read, without blanks. False with a sentence.
bool foliot__http_token_read(const char *file, char token[FOLIOT__HTTP_TOKEN_BYTES_MAX + 1],
                             char *problem, size_t problem_bytes);
// "[ADDRESS:]PORT", "[::1]:8080"; 127.0.0.1 is the default address.
bool foliot__http_listen_parse(const char *text, char address[64], uint16_t *port);
bool foliot__http_is_loopback(const char *address);

#endif
