// SPDX-License-Identifier: MIT
// life.h: the life of the process as reported to its supervisor: ready, alive, draining, gone.
// Backends: none, systemd (sd_notify), agones (its SDK server). life.c drains; nothing here blocks
// the loop's thread.
#ifndef FOLIOT_SERVER_LIFE_H
#define FOLIOT_SERVER_LIFE_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "foliot/scene.h"

struct foliot__app;
struct foliot__hosted;

// A session that the supervisor requests.
typedef struct foliot__life_order {
    char session[FOLIOT_NAME_BYTES], scene[128]; // scene: the name of a file in --scenes
} foliot__life_order;

// Called on the loop's thread; any may be NULL.
typedef struct foliot__life_kind {
    const char *name;
    bool (*present)(void); // whether the environment names it
    // Before the transport is open. Returns an exit code, after a sentence; may set the port.
    int (*open)(bool port_is_given, uint64_t *port);
    void (*resuming)(uint32_t number, uint32_t count); // a recording, at the start
    void (*ready)(uint32_t sessions);
    // How often `alive` is to be called, and the longest step that still counts as alive; 0: never.
    uint64_t (*get_interval_ns)(void);
    void (*alive)(const char *status); // the loop runs, and no step is stuck
    void (*draining)(uint64_t seconds);
    void (*ending)(void); // the loop has ended; recordings and their commands may take a while
    // The next order; false: there is none. Then its result; `why` NULL: it is hosted.
    bool (*poll_order)(foliot__life_order *order);
    // This function and the next: `left` sessions continue. They return whether the server ends
    // now.
    bool (*order_done)(const foliot__life_order *order, const char *why, uint32_t left);
    bool (*session_ended)(const char *session, uint32_t left);
    void (*close)(void); // waits a second at most
} foliot__life_kind;

extern const foliot__life_kind foliot__life_systemd, foliot__life_agones;
// The address for players, "ADDRESS:PORT", as reported by Agones; "": it reports none.
const char *foliot__life_agones_address(void);
// A connected datagram socket, for the sandbox; -1: none.
int foliot__life_systemd_socket(void);

typedef struct foliot__life {
    const foliot__life_kind *kind; // NULL: none
    uv_timer_t timer;
    uint64_t interval_ns, told_ns, trimmed_ns;
    uint64_t drains_until_ns; // 0: it does not drain
    bool suspends;            // running sessions are left for --resume-all
    bool ended;               // the recordings have ended
    bool stuck;               // and the warning about it is logged
    bool timed;               // the timer is open
    // Given by foliot__admin_start: hosts the session of an order; false: no memory.
    bool (*host)(struct foliot__app *app, const foliot__life_order *order);
} foliot__life;

// Whether the program that started the server may order sessions. `name`: of --life-cycle, or NULL.
bool foliot__life_has_orders(const char *name);
void foliot__life_order_done(struct foliot__app *a, const foliot__life_order *order,
                             const char *why);

// Each returns an exit code, 0 on success, and prints errors.
int foliot__life_open(struct foliot__app *a); // before sessions and transport
// At the start, before each recording of --resume-all: it may take a while.
void foliot__life_resuming(struct foliot__app *a, uint32_t number, uint32_t count);
int foliot__life_start(struct foliot__app *a); // the loop is open; all sessions are hosted
void foliot__life_stop(struct foliot__app *a); // the loop ends
void foliot__life_close(struct foliot__app *a);

// SIGTERM. True if the server runs until the drain's end; false: it must stop now.
bool foliot__life_drain(struct foliot__app *a);
// After each update: whether the drain has finished. The server was stopped then.
void foliot__life_update(struct foliot__app *a);
// A session has ended by itself, or was ended: a worker closes its recording.
void foliot__life_session_ended(struct foliot__app *a, const char *session);
// -- agones.c: the SDK server of Agones over REST: HTTP/1.1 and JSON on the loopback. It blocks,
// for two seconds at most, so the loop's thread must not call it. The watch does not block.

#define FOLIOT__AGONES_PORT 9358
#define FOLIOT__AGONES_TEXT_BYTES 128
#define FOLIOT__AGONES_ANSWER_BYTES 65536

typedef struct foliot__agones_server {
    char name[FOLIOT__AGONES_TEXT_BYTES], state[FOLIOT__AGONES_TEXT_BYTES];
    char address[FOLIOT__AGONES_TEXT_BYTES]; // where players find it; "": not known yet
    uint16_t port;                           // of status.ports[0]; 0: none
    uint64_t health_period_s;
    bool health_disabled;
    bool counted; // it has a counter "sessions": several in one process
    // The request of an allocation, in annotations or labels foliot/scene and foliot/session, and
    // Agones's own mark of it; "": nothing.
    char scene[FOLIOT__AGONES_TEXT_BYTES], session[FOLIOT__AGONES_TEXT_BYTES],
        allocated[FOLIOT__AGONES_TEXT_BYTES];
} foliot__agones_server;

// Forks a process that connects to that port of the loopback for this one, whose sandbox forbids
// connections. It changes its user by `drop`. Call it before any thread. False: errno.
bool foliot__agones_start_connector(uint16_t port, int (*drop)(void));
// One request on a separate connection. `answer` may be NULL; it is terminated. True for 2xx.
bool foliot__agones_request(uint16_t port, const char *method, const char *path, const char *body,
                            char *answer, size_t capacity);
// False, with a sentence, without an answer that can be parsed.
bool foliot__agones_get_server(uint16_t port, foliot__agones_server *out, char *problem,
                               size_t problem_bytes);

// GET /watch/gameserver: chunks of lines, each a GameServer. A line may be in several chunks, and a
// chunk may have several lines.
typedef struct foliot__agones_watch {
    int socket; // -1: it waits for the next attempt
    bool head;  // the answer's head is over
    uint64_t again_ns, wait_ns;
    // Bytes left of the current chunk; 0: its size comes next.
    uint64_t chunk_left;
    bool in_chunk, ends_chunk;
    char size[20];
    uint32_t size_count;
    size_t length; // of the line so far
    bool too_long; // it is left out
    char line[FOLIOT__AGONES_ANSWER_BYTES];
    size_t got, taken; // bytes that were received, and those of them that are read
    char bytes[4096];
} foliot__agones_watch;
void foliot__agones_watch_start(foliot__agones_watch *watch);
void foliot__agones_watch_stop(foliot__agones_watch *watch);
// The next line that arrived. False: none. Connects again, with growing pauses of up to 10 s.
bool foliot__agones_watch_poll(foliot__agones_watch *watch, uint16_t port, uint64_t now_ns,
                               foliot__agones_server *out);

#endif
