// SPDX-License-Identifier: MIT
// lobby.h: the sessions of this server for the page that lists them. The loop's thread copies what
// is shown, once a second and only while somebody looks; the web service prints it on its thread.
#ifndef FOLIOT_SERVER_LOBBY_H
#define FOLIOT_SERVER_LOBBY_H

#include <stdatomic.h>

#include <uv.h>

#include "http/http.h"

#define FOLIOT__LOBBY_SESSIONS 256 // that are listed; who has more has a lobby of his own
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
