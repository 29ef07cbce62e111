// SPDX-License-Identifier: MIT
// lobby.c: see lobby.h.
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/app.h"
#include "program/options/arguments.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "base/json.h"
#include "program/process.h"

#define COPY_MS 1000u
#define LOOKED_NS 10000000000u // longer than the interval at which viewers poll
#define JSON_TYPE "application/json"

struct foliot__lobby_row {
    foliot_session_info info;
    char scene[FOLIOT_NAME_BYTES];
};

// The place of a session; sessions and their places mostly have the same order.
static const foliot__hosted *hosted_of(const foliot__app *a, const char *session, uint32_t guess)
{
    for (uint32_t k = 0; k < a->hosted_count; k++) {
        const foliot__hosted *h = &a->hosted[(guess + k) % a->hosted_count];
        if (strcmp(h->name, session) == 0)
            return h;
    }
    return NULL;
}

static void copy_rows(foliot__app *a)
{
    foliot__lobby *l = &a->lobby;
    static foliot__lobby_row rows[FOLIOT__LOBBY_SESSIONS];
    uint32_t count = 0, sessions = 0;
    for (uint32_t i = 0; i < foliot_server_get_session_count(a->server); i++) {
        foliot_session_info info;
        if (foliot_server_get_session_info(a->server, i, &info) != FOLIOT_STATUS_OK || info.ended)
            continue;
        sessions++;
        if (count == FOLIOT__LOBBY_SESSIONS)
            continue;
        const foliot__hosted *h = hosted_of(a, info.name, i);
        rows[count].info = info;
        snprintf(rows[count++].scene, FOLIOT_NAME_BYTES, "%s",
                 h && h->scene             ? h->scene->name
                 : h && h->simulation.kind ? h->simulation.kind->name
                                           : "");
    }
    uv_mutex_lock(&l->mutex);
    memcpy(l->rows, rows, count * sizeof *rows);
    l->row_count = count;
    l->session_count = sessions;
    uv_mutex_unlock(&l->mutex);
    foliot__web_set_lobby(a->browsers.web, sessions != 1);
}

// The number of sessions decides what the page's address shows, so it is always checked.
static void on_second(uv_timer_t *timer)
{
    foliot__app *a = timer->data;
    uint32_t running = 0;
    foliot__front_note_health("--web", foliot__web_watch(a->browsers.web));
    bool looked = foliot__clock_now_ns() - atomic_load(&a->lobby.asked_ns) < LOOKED_NS;
    if (looked) {
        copy_rows(a);
        return;
    }
    for (uint32_t i = 0; running < 2 && i < foliot_server_get_session_count(a->server); i++) {
        foliot_session_info info;
        running +=
            foliot_server_get_session_info(a->server, i, &info) == FOLIOT_STATUS_OK && !info.ended;
    }
    foliot__web_set_lobby(a->browsers.web, running != 1);
}

// -- the web service's thread

static void answer_sessions(void *user, const foliot__http_request *request)
{
    foliot__app *a = user;
    foliot__http *http = foliot__web_get_http(a->browsers.web);
    static const char closed[] = "{\"error\": \"links with tokens lead to the sessions of this "
                                 "server: there is no list of them\"}\n";
    char *text = NULL;
    size_t length = 0;
    if (a->choices->access.key) { // strangers learn nothing
        foliot__http_answer(http, request->id, 403, JSON_TYPE, closed, sizeof closed - 1);
        return;
    }
    atomic_store(&a->lobby.asked_ns, foliot__clock_now_ns());
    FILE *out = open_memstream(&text, &length);
    if (out) {
        foliot__lobby *l = &a->lobby;
        foliot__json j = foliot__json_to(out);
        foliot__json_object(&j, NULL);
        foliot__json_bool(&j, "create", a->choices->web.create);
        foliot__json_array(&j, "sessions");
        uv_mutex_lock(&l->mutex);
        uint32_t count = l->row_count, all = l->session_count;
        foliot__lobby_row *rows = malloc((count ? count : 1) * sizeof *rows);
        if (rows)
            memcpy(rows, l->rows, count * sizeof *rows);
        uv_mutex_unlock(&l->mutex);
        for (uint32_t i = 0; rows && i < count; i++) {
            const foliot_session_info *s = &rows[i].info;
            foliot__json_object(&j, NULL);
            foliot__json_text(&j, "name", s->name);
            foliot__json_text(&j, "scene", rows[i].scene);
            foliot__json_text(&j, "state", s->paused ? "paused" : s->closed ? "closed" : "running");
            foliot__json_count(&j, "tick", s->tick);
            foliot__json_real(&j, "tick_hz", s->pace_hz);
            foliot__json_count(&j, "player_limit", s->player_limit);
            foliot__json_count(&j, "players", s->players);
            foliot__json_count(&j, "spectators", s->spectators);
            foliot__json_close(&j);
        }
        free(rows);
        foliot__json_close(&j);
        foliot__json_count(&j, "count", all);
        foliot__json_line(&j);
    }
    if (out && fclose(out) == 0)
        foliot__http_answer(http, request->id, 200, JSON_TYPE, text, length);
    else
        foliot__http_answer(http, request->id, 503, JSON_TYPE, "{}\n", 3);
    free(text);
}

static void create_session(void *user, const foliot__http_request *request)
{
    foliot__app *a = user;
    foliot__http *http = foliot__web_get_http(a->browsers.web);
    uv_mutex_lock(&a->lobby.mutex);
    bool takes = a->lobby.takes_calls;
    if (takes)
        foliot__admin_receive(a, http, request);
    uv_mutex_unlock(&a->lobby.mutex);
    if (!takes)
        foliot__http_answer(http, request->id, 503, JSON_TYPE, "{}\n", 3);
}

// -- life

int foliot__lobby_open(foliot__app *a)
{
    foliot__lobby *l = &a->lobby;
    if (!a->browsers.web)
        return 0;
    l->rows = calloc(FOLIOT__LOBBY_SESSIONS, sizeof *l->rows);
    if (!l->rows || uv_timer_init(&a->loop, &l->every) != 0)
        return foliot__host_lacks("memory for its lobby");
    uv_mutex_init(&l->mutex);
    l->runs = l->takes_calls = true;
    l->every.data = a;
    l->routes[0] = (foliot__http_route){"GET", "/sessions.json", answer_sessions, false};
    if (a->choices->web.create)
        l->routes[1] = (foliot__http_route){"POST", "/v1/sessions", create_session, true};
    foliot__web_set_routes(a->browsers.web, l->routes, a,
                           a->choices->web.create ? a->front.token : NULL);
    return 0;
}

void foliot__lobby_start(foliot__app *a)
{
    if (!a->lobby.runs)
        return;
    copy_rows(a);
    uv_timer_start(&a->lobby.every, on_second, COPY_MS, COPY_MS);
}

void foliot__lobby_close(foliot__app *a)
{
    if (a->lobby.runs)
        uv_close((uv_handle_t *)&a->lobby.every, NULL);
}

void foliot__lobby_end_calls(foliot__app *a)
{
    if (!a->lobby.runs)
        return;
    uv_mutex_lock(&a->lobby.mutex);
    a->lobby.takes_calls = false;
    uv_mutex_unlock(&a->lobby.mutex);
}

void foliot__lobby_stop(foliot__app *a)
{
    if (!a->lobby.runs)
        return;
    uv_mutex_destroy(&a->lobby.mutex);
    free(a->lobby.rows);
    a->lobby.runs = false;
}
