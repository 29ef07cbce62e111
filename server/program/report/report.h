// SPDX-License-Identifier: MIT
// report.h: reports of the server about itself: divergences, metrics, the lobby, and their service.
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

// -- report.c: divergences of lockstep clients, as reports in the log and as files. A client that
// diverges on purpose fills neither the log nor the disk, and no tick waits for a file.

#define FOLIOT__REPORTS_MAX 256               // that one run reports in full
#define FOLIOT__REPORT_FILES_MAX 64           // that one run writes ...
#define FOLIOT__REPORT_BYTES_MAX (256u << 20) // ... of at most this size together

// Writes the report to the log, as text or one JSON object, and the server's state to a file in the
// working folder. A worker of the loop writes the file: one at a time, others are left out. `scene`
// gives bodies their names; may be NULL.
void foliot__report_divergence(const foliot_divergence_report *found, const foliot_scene *scene,
                               bool json, uv_loop_t *loop);

// -- metrics.c: the server's metrics in the format of Prometheus. The loop's thread copies them, at
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
    bool has_web; // there are pages, and their counters
    foliot__web_counters web;
    double copy_s, answer_s; // processor time of the loop for this copy, and of the HTTP thread for
                             // the last answer with one
} foliot__metrics;

// Processor time of this thread.
uint64_t foliot__metrics_thread_ns(void);
// A step took that many nanoseconds.
void foliot__histogram_add(foliot__histogram *histogram, double seconds);
// Everything but `duration`, `sessions`, `draining`, `web` and processor times.
void foliot__metrics_copy(foliot__metrics *metrics, const foliot_server *server,
                          const foliot_transport *transport, uint64_t now_ns);
// Text format 0.0.4.
void foliot__metrics_print(const foliot__metrics *metrics, const foliot__http_counters *http,
                           FILE *out);

// -- front.c: the HTTP routes of foliot-server: /livez, /readyz, /metrics, and routes of other
// files. The loop's thread copies the metrics; the service's thread answers from the copy.

#define FOLIOT__FRONT_ROUTES 64

struct foliot__app;

typedef struct foliot__front {
    foliot__http *http; // NULL: there is none
    uv_timer_t every;   // copies once a second
    uv_mutex_t mutex;   // of `shown` only; its holder waits for nobody
    foliot__metrics shown;
    foliot__histogram duration; // of the loop's thread
    char token[FOLIOT__HTTP_TOKEN_BYTES_MAX + 1];
    char address[64];
    uint16_t port;
    bool opened;
    foliot__http_route routes[FOLIOT__FRONT_ROUTES];
} foliot__front;

// Checks the options, opens the port, starts the service. Returns an exit code. Call it after
// foliot__app_open_loop; requests of sessions are answered from the first turn of the loop on.
int foliot__front_open(struct foliot__app *app);
void foliot__front_start(struct foliot__app *app); // the server is there
void foliot__front_close(struct foliot__app *app); // its handles of the loop; no tick follows
void foliot__front_stop(struct foliot__app *app);  // the service; the loop has ended
void foliot__front_step(struct foliot__app *app, uint64_t nanoseconds); // a step took so long
// Logs a change in the health of the service that `option` opened.
void foliot__front_note_health(const char *option, foliot__http_health health);
void foliot__front_announce(const struct foliot__app *app);

// -- lobby.c: the list of this server's sessions for the page. The loop's thread copies it, once a
// second and only while somebody views it; the web service's thread prints it.

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
// From now on the lobby calls the admin API no more: call it before that ends.
void foliot__lobby_end_calls(struct foliot__app *app);
void foliot__lobby_stop(struct foliot__app *app); // behind the web service

// -- log.c: logs events to stderr, one line each, as text or JSON. Never waits for the reader.

bool foliot__log_start(const char *format); // "text" or "json"; false: neither
void foliot__log_stop(void);                // reports how many lines were left out
// `event` is a string constant with a separate rate limit: a flood suppresses no other event.
void foliot__log_note(const char *event, const char *sentence);
// The same as a warning. The line begins with the session's name.
void foliot__log_warning(const char *event, const char *session, const char *sentence,
                         foliot_status status);
// An action of an administrator, who proved the bearer token. These lines have no rate limit.
void foliot__log_admin(const char *action);
void foliot__log_lines(const char *text); // as they are, after the lines logged before
void foliot__log_flush(void);             // waits a second at most until stderr has all
void foliot__log_event(const foliot_server_event *event);

#endif
