// SPDX-License-Identifier: MIT
// front.h: what foliot-server shows over HTTP: /livez, /readyz, /metrics, and what other files add
// to the tables of routes. The loop's thread copies figures for it; requests are answered from the
// copy on the service's thread.
#ifndef FOLIOT_SERVER_FRONT_H
#define FOLIOT_SERVER_FRONT_H

#include <uv.h>

#include "http/http.h"
#include "metrics.h"

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

#endif
