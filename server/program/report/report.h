// SPDX-License-Identifier: MIT
// report.h: what the server reports of itself: divergences, figures, the lobby, and the service
// that shows them.
#ifndef FOLIOT_SERVER_REPORT_H
#define FOLIOT_SERVER_REPORT_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <uv.h>

#include "foliot/divergence.h"
#include "foliot/server.h"
#include "foliot/transport.h"
#include "http/http.h"
#include "web/web.h"

// -- report.c: divergences of lockstep clients, as reports in the log and as files. Whoever
// diverges on purpose fills neither the log nor the disk, and no tick waits for a file.

#define FOLIOT__REPORTS_MAX 256               // that one run tells in full
#define FOLIOT__REPORT_FILES_MAX 64           // that one run writes ...
#define FOLIOT__REPORT_BYTES_MAX (256u << 20) // ... of at most this size together

// In the log, as text or one JSON object, and our state into a file in the working folder, which a
// worker of the loop writes: one at a time, the others are left out. `scene` gives bodies their
// names; may be NULL.
void foliot__report_divergence(const foliot_divergence_report *found, const foliot_scene *scene,
                               bool json, uv_loop_t *loop);

// -- metrics.c: the server's figures as Prometheus reads them. The loop's thread copies them, at
// most once a second; any other thread prints the copy. So no scrape delays a tick.

#define FOLIOT__METRICS_BOUNDS 12 // of a histogram

typedef struct foliot__histogram {
    uint64_t counts[FOLIOT__METRICS_BOUNDS + 1]; // at most each bound; all
    double sum;                                  // seconds
} foliot__histogram;

typedef struct foliot__metrics {
    uint64_t copied_ns;
    foliot_server_counters server;
    foliot_transport_counters transport;
    foliot_server_presence presence;
    foliot__histogram duration, lateness; // of ticks
    uint32_t sessions;                    // that have not ended
    bool draining;
    bool has_web; // there are pages, and what they count
    foliot__web_counters web;
    double copy_s, answer_s; // processor time of the loop for this copy, and of the HTTP thread for
                             // the last answer with one
} foliot__metrics;

// Processor time of this thread.
uint64_t foliot__metrics_thread_ns(void);
// A step took so long.
void foliot__histogram_add(foliot__histogram *histogram, double seconds);
// Everything but `duration`, `sessions`, `draining`, `web` and processor times.
void foliot__metrics_copy(foliot__metrics *metrics, const foliot_server *server,
                          const foliot_transport *transport, uint64_t now_ns);
// Text format 0.0.4.
void foliot__metrics_print(const foliot__metrics *metrics, const foliot__http_counters *http,
                           FILE *out);

// -- front.c: what foliot-server shows over HTTP: /livez, /readyz, /metrics, and what other files
// add to the tables of routes. The loop's thread copies figures for it; requests are answered from
// the copy on the service's thread.

#define FOLIOT__FRONT_ROUTES 64

struct foliot__app;

typedef struct foliot__front {
    foliot__http *http; // NULL: there is none
    uv_timer_t every;   // copies once a second
    uv_mutex_t mutex;   // of `shown` alone; nobody waits while he holds it
    foliot__metrics shown;
    foliot__histogram duration; // of the loop's thread
    char token[FOLIOT__HTTP_TOKEN_BYTES_MAX + 1];
    char address[64];
    uint16_t port;
    bool opened;
    foliot__http_route routes[FOLIOT__FRONT_ROUTES];
} foliot__front;

// Looks at the options, opens the port, starts the service. Returns an exit code. Behind
// foliot__app_open_loop; requests of sessions are answered from the first turn of the loop on.
int foliot__front_open(struct foliot__app *app);
void foliot__front_start(struct foliot__app *app); // the server is there
void foliot__front_close(struct foliot__app *app); // its handles of the loop; no tick follows
void foliot__front_stop(struct foliot__app *app);  // the service; the loop has ended
void foliot__front_step(struct foliot__app *app, uint64_t nanoseconds); // a step took so long
// Logs a change in the health of the service that `option` opened.
void foliot__front_note_health(const char *option, foliot__http_health health);
void foliot__front_announce(const struct foliot__app *app);

// -- lobby.c: the sessions of this server for the page that lists them. The loop's thread copies
// what is shown, once a second and only while somebody looks; the web service prints it on its
// thread.

#define FOLIOT__LOBBY_SESSIONS 256 // that are listed; hosts with more have their own lobby
#define FOLIOT__LOBBY_ROUTES 3

struct foliot__app;
typedef struct foliot__lobby_row foliot__lobby_row;

typedef struct foliot__lobby {
    bool runs, takes_calls;
    uv_timer_t every;
    uv_mutex_t mutex; // of the copy, and of takes_calls
    foliot__lobby_row *rows;
    uint32_t row_count, session_count;
    atomic_uint_fast64_t asked_ns; // when somebody asked last
    foliot__http_route routes[FOLIOT__LOBBY_ROUTES];
} foliot__lobby;

// The routes for the web service, whose `user` is the app: an exit code.
int foliot__lobby_open(struct foliot__app *app);
void foliot__lobby_start(struct foliot__app *app); // the server is there
void foliot__lobby_close(struct foliot__app *app); // its handle of the loop
// No call comes to the admin API from here any more: before that ends.
void foliot__lobby_end_calls(struct foliot__app *app);
void foliot__lobby_stop(struct foliot__app *app); // behind the web service

#endif
