// SPDX-License-Identifier: MIT
// life.h: the life of the process as reported to its supervisor: ready, alive, draining, gone.
// Backends: none, systemd (sd_notify), agones (its SDK server). life.c drains; nothing here blocks
// the loop's thread.
#ifndef FOLIOT_SERVER_LIFE_H
#define FOLIOT_SERVER_LIFE_H

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
    // This function and the next: `left` sessions go on. They return whether the server ends now.
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
#endif
