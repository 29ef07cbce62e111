// SPDX-License-Identifier: MIT
// front.c: see front.h.
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "program/app.h"
#include "program/options/arguments.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "crypto/crypto.h"
#include "http/http.h"

#define COPY_MS 1000u
#define STUCK_NS 10000000000u // a loop that has not copied for this long is not alive
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define TEXT_TYPE "text/plain; charset=utf-8"

static void copy_figures(foliot__app *a)
{
    foliot__front *f = &a->front;
    static foliot__metrics copy;
    foliot_session_info info;
    uint64_t begun_ns = foliot__metrics_thread_ns();
    copy.duration = f->duration;
    copy.sessions = 0;
    copy.draining = foliot__app_drains(a);
    foliot__metrics_copy(&copy, a->server, a->transport, foliot__clock_now_ns());
    for (uint32_t i = 0; i < foliot_server_get_session_count(a->server); i++)
        if (foliot_server_get_session_info(a->server, i, &info) == FOLIOT_STATUS_OK)
            copy.sessions += !info.ended;
    copy.has_web = a->browsers.web != NULL;
    if (copy.has_web)
        copy.web = foliot__web_get_counters(a->browsers.web);
    copy.copy_s = 1e-9 * (double)(foliot__metrics_thread_ns() - begun_ns);
    uv_mutex_lock(&f->mutex);
    copy.answer_s = f->shown.answer_s;
    f->shown = copy;
    uv_mutex_unlock(&f->mutex);
}

void foliot__front_note_health(const char *option, foliot__http_health health)
{
    char text[200];
    if (health == FOLIOT__HTTP_HEALTHY)
        return;
    snprintf(text, sizeof text,
             health == FOLIOT__HTTP_RESTARTED
                 ? "%s: the service's thread hung in its library: another has taken over, and all "
                   "connections are closed"
                 : "%s: the service's thread hangs, and cannot be stopped safely: nobody is served "
                   "there until the server is restarted",
             option);
    foliot__log_note(health == FOLIOT__HTTP_RESTARTED ? "service-restarted" : "service-stuck",
                     text);
}

static void on_second(uv_timer_t *timer)
{
    foliot__app *a = timer->data;
    foliot__front_note_health("--http", foliot__http_watch(a->front.http));
    copy_figures(a);
}

static foliot__metrics figures(foliot__app *a)
{
    uv_mutex_lock(&a->front.mutex);
    foliot__metrics copy = a->front.shown;
    uv_mutex_unlock(&a->front.mutex);
    return copy;
}

static void answer_text(foliot__app *a, const foliot__http_request *request, int status,
                        const char *text)
{
    foliot__http_answer(a->front.http, request->id, status, TEXT_TYPE, text, strlen(text));
}

// -- routes

static void answer_live(void *user, const foliot__http_request *request)
{
    foliot__app *a = user;
    foliot__metrics now = figures(a);
    bool alive = foliot__clock_now_ns() - now.copied_ns < STUCK_NS;
    answer_text(a, request, alive ? 200 : 503,
                alive ? "ok\n" : "the loop has not run for 10 seconds\n");
}

static void answer_ready(void *user, const foliot__http_request *request)
{
    foliot__app *a = user;
    foliot__metrics now = figures(a);
    const char *why =
        foliot__clock_now_ns() - now.copied_ns >= STUCK_NS ? "the loop has not run for 10 seconds\n"
        : now.draining ? "the server admits nobody: it is starting, draining or ending\n"
                       : NULL;
    answer_text(a, request, why ? 503 : 200, why ? why : "ok\n");
}

static void answer_metrics(void *user, const foliot__http_request *request)
{
    foliot__app *a = user;
    char *text = NULL;
    size_t length = 0;
    uint64_t begun_ns = foliot__metrics_thread_ns();
    foliot__metrics now = figures(a);
    foliot__http_counters http = foliot__http_get_counters(a->front.http);
    FILE *out = open_memstream(&text, &length);
    if (out)
        foliot__metrics_print(&now, &http, out);
    bool fine = out && fclose(out) == 0;
    if (fine)
        foliot__http_answer(a->front.http, request->id, 200, METRICS_TYPE, text, length);
    else
        answer_text(a, request, 503, "no memory\n");
    free(text);
    uv_mutex_lock(&a->front.mutex);
    a->front.shown.answer_s = 1e-9 * (double)(foliot__metrics_thread_ns() - begun_ns);
    uv_mutex_unlock(&a->front.mutex);
}

static const foliot__http_route routes[] = {{"GET", "/livez", answer_live, false},
                                            {"GET", "/readyz", answer_ready, false},
                                            {"GET", "/metrics", answer_metrics, false},
                                            {0}};

// -- life

void foliot__front_step(foliot__app *a, uint64_t nanoseconds)
{
    foliot__histogram_add(&a->front.duration, (double)nanoseconds * 1e-9);
}

static int wrong(const char *option, const char *why)
{
    fprintf(stderr, "foliot-server: %s: %s\n", option, why);
    return FOLIOT__EXIT_USAGE;
}

static int start_service(foliot__app *a)
{
    foliot__front *f = &a->front;
    char problem[256];
    foliot__http_config config = {.address = a->choices->web.http ? f->address : NULL,
                                  .port = f->port,
                                  .hosts = a->choices->web.hosts.items,
                                  .host_count = a->choices->web.hosts.count,
                                  .token = *f->token ? f->token : NULL,
                                  .unix_path = a->choices->web.admin_socket,
                                  .routes = f->routes,
                                  .user = a,
                                  .self = &f->http};
    memcpy(f->routes, routes, sizeof routes);
    foliot__admin_add_routes(f->routes, FOLIOT__FRONT_ROUTES);
    uv_mutex_init(&f->mutex);
    f->shown.copied_ns = foliot__clock_now_ns();
    f->shown.draining = true; // until it has started
    int failed = uv_timer_init(&a->loop, &f->every);
    if (failed)
        return wrong("--http", uv_strerror(failed));
    f->opened = true;
    f->every.data = a;
    if (foliot__http_start(&config, problem, sizeof problem)) // it has set f->http
        return 0;
    fprintf(stderr, "foliot-server: %s: %s\n", a->choices->web.http ? "--http" : "--admin-socket",
            problem);
    return FOLIOT__EXIT_AGAIN;
}

int foliot__front_open(foliot__app *a)
{
    foliot__front *f = &a->front;
    char problem[256];
    if (a->choices->web.http &&
        !foliot__http_listen_parse(a->choices->web.http, f->address, &f->port))
        return wrong("--http",
                     "it must be [ADDRESS:]PORT, such as 7780 or 0.0.0.0:7780 or [::1]:7780");
    if (a->choices->web.admin_token &&
        !foliot__http_token_read(a->choices->web.admin_token, f->token, problem, sizeof problem)) {
        fprintf(stderr, "foliot-server: --admin-token %s\n", problem);
        return FOLIOT__EXIT_SCENE;
    }
    a->stays = a->choices->sessions.scenes != NULL;
    if (!a->choices->web.http &&
        (a->choices->web.admin_token || (a->choices->web.hosts.count && !a->choices->web.page)))
        return wrong(a->choices->web.admin_token ? "--admin-token" : "--http-host",
                     "it requires --http");
    return a->choices->web.http || a->choices->web.admin_socket ? start_service(a) : 0;
}

void foliot__front_start(foliot__app *a)
{
    foliot__forget(a->front.token, sizeof a->front.token); // both services have it
    if (!a->front.http)
        return;
    copy_figures(a);
    uv_timer_start(&a->front.every, on_second, COPY_MS, COPY_MS);
}

void foliot__front_close(foliot__app *a)
{
    if (a->front.opened)
        uv_close((uv_handle_t *)&a->front.every, NULL);
}

void foliot__front_stop(foliot__app *a)
{
    if (foliot__http_stop(a->front.http)) // else its thread may still read the pointer
        a->front.http = NULL;
}

void foliot__front_announce(const foliot__app *a)
{
    if (a->front.http && a->choices->web.admin_socket)
        printf("admin socket %s\n", a->choices->web.admin_socket);
    const char *address = a->front.address;
    if (a->front.http && a->choices->web.http)
        printf(strchr(address, ':') ? "http on [%s]:%u\n" : "http on %s:%u\n", address,
               foliot__http_get_port(a->front.http));
}
