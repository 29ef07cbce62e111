// SPDX-License-Identifier: MIT
// app.h: shared by the files of foliot-server: the running program. start.c: opens sessions,
// transport and server. loop.c: serves them under libuv. app.c: used by both.
#ifndef FOLIOT_SERVER_APP_H
#define FOLIOT_SERVER_APP_H

#include <stdatomic.h>
#include <stdint.h>
#include <uv.h>

#include "admin/admin.h"
#include "base/options.h"
#include "foliot/foliot.h"
#include "foliot/transport.h"
#include "program/lifecycle/life.h"
#include "program/options/arguments.h"
#include "program/report/report.h"
#include "program/session/closing.h"
#include "program/session/host.h"
#include "step_workers.h"
#include "web/web.h"

// -- browser.c: --web, players from browsers, along with those by UDP. Each returns an exit code.

struct foliot__app;

typedef struct foliot__browsers {
    foliot__web *web;            // NULL: there is none
    foliot_transport *transport; // until it is part of the app's
    char address[64], channels_address[64], public_address[64];
} foliot__browsers;

// Replaces the app's transport by a combination of two. `udp` is the configuration of the first;
// its number of peers is set here.
int foliot__browser_plan(struct foliot__app *app, foliot_transport_config *udp);
int foliot__browser_open(struct foliot__app *app); // behind the app's own transport
int foliot__browser_start(struct foliot__app *app);
void foliot__browser_announce(const struct foliot__app *app);
void foliot__browser_flush(struct foliot__app *app); // after every update of the server
void foliot__browser_stop(struct foliot__app *app);

// -- the program

// loop.c: what the loop waits for.
typedef struct foliot__loop_watch {
    uv_poll_t network, timer;
    uv_signal_t interrupt, terminate;
    uv_prepare_t turn;
    uv_poll_t stepped; // steps have ended on workers: an eventfd, and whether it is written
    int stepped_fd;
    atomic_bool stepped_reported;
    int timer_fd;
    uint64_t interrupted_ns;
    uint64_t received; // packets that were not batched, before the last update
    bool rests;        // the socket is not watched until the timer
} foliot__loop_watch;

typedef struct foliot__app {
    const foliot__server_choices *choices;
    uint64_t port; // as the options or the life cycle say; 0: a free one
    uv_loop_t loop;
    foliot__loop_watch watch;
    bool wakes; // an update is due before the loop waits again
    foliot__step_workers *workers;
    foliot_transport *transport;
    foliot_used_tokens *used_tokens; // NULL: it knows no tokens
    foliot_server *server;
    foliot__hosted hosted[FOLIOT_SESSIONS_MAX];
    uint32_t hosted_count;
    foliot__pool *pool;
    foliot_signer *signer; // of recordings; NULL: they are not signed
    foliot_host host;
    foliot__front front;
    foliot__browsers browsers;
    foliot__lobby lobby;
    foliot__admin admin;
    struct foliot__follow_up
        *following; // next.c: scenes that are being opened, and wait for it; may be NULL
    bool stays;     // also without a session: they come and go
    bool drained;   // accepts neither newcomers nor new sessions
    unsigned interrupts;
    uint64_t rotates_ns;    // rotation.c: when recordings are looked at next
    uint32_t rotates_first; // and with which session that begins
    bool ending;            // the sessions ended by themselves, or were stopped
    bool over;              // the loop is closed
    bool failed;            // a session, whose step did
    foliot__life life;
    foliot__closings closings; // recordings of sessions that have ended (recordings.c)
} foliot__app;

// The functions that return int return an exit code, 0 on success, and print errors.

// start.c
int foliot__app_read_signer(foliot__app *a);
int foliot__app_open_sessions(foliot__app *a, const foliot__arguments *arguments,
                              const foliot__host_options *options);
int foliot__app_open_transport(foliot__app *a);
int foliot__app_start_server(foliot__app *a); // with all sessions

// app.c
bool foliot__app_lockstep(const foliot__app *a, const foliot__hosted *h);
// NULL: there is no session of that name, or it is still being opened.
foliot__hosted *foliot__app_find_hosted(foliot__app *a, const char *session);
int foliot__app_add_session(foliot__app *a, foliot__hosted *h);
bool foliot__app_drains(const foliot__app *a); // or ends: it takes no new sessions
void foliot__app_wake(foliot__app *a);         // the loop updates before it waits again
void foliot__app_end(foliot__app *a);          // sessions end in order, and then the loop
void foliot__app_start_step(void *app, void (*run)(void *job), void *job);

// next.c
// The session has ended. If its last command named a next scene, a worker opens that scene, and it
// is hosted in place of the session. False: the session stays ended. A later failure is logged, and
// the session ends with the next update.
bool foliot__app_follow(foliot__app *a, const char *session);

// loop.c
int foliot__app_open_loop(foliot__app *a); // everything that it needs; the handles stay stopped
int foliot__app_start_loop(foliot__app *a);
void foliot__app_run_loop(foliot__app *a); // until the last session has ended

#endif
