// SPDX-License-Identifier: MIT
// queue.c: moves a call from the HTTP thread to the loop's, to the worker, and back. Each queue's
// lock is held only to move a pointer.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utf8proc.h>

#include "admin.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "foliot/scene.h"
#include "http/http.h"
#include "program/app.h"
#include "program/process.h"
#include "program/options/arguments.h"
#include "program/report/report.h"

#define THREAD_STACK_BYTES ((size_t)8 << 20)
#define JSON_TYPE "application/json"

static void push(foliot__call ***last, foliot__call *call)
{
    call->next = NULL;
    **last = call;
    *last = &call->next;
}

static void to_loop(foliot__admin *admin, foliot__call *call)
{
    uv_mutex_lock(&admin->mutex);
    push(&admin->arrived_last, call);
    uv_mutex_unlock(&admin->mutex);
    uv_async_send(&admin->asked);
}

static void to_worker(foliot__admin *admin, foliot__call *call)
{
    uv_mutex_lock(&admin->mutex);
    push(&admin->todo_last, call);
    uv_cond_signal(&admin->filled);
    uv_mutex_unlock(&admin->mutex);
}

// -- the worker

// `stage` odd: there is work to do; even: an answer.
static void work(void *user)
{
    foliot__app *a = user;
    foliot__admin *admin = &a->admin;
    uv_mutex_lock(&admin->mutex);
    for (;;) {
        while (!admin->todo && !admin->ending)
            uv_cond_wait(&admin->filled, &admin->mutex);
        foliot__call *call = admin->todo;
        if (!call)
            break;
        admin->todo = call->next;
        if (!admin->todo)
            admin->todo_last = &admin->todo;
        uv_mutex_unlock(&admin->mutex);
        if (call->stage % 2) {
            call->action->work(call);
            call->stage++;
            to_loop(admin, call);
        } else {
            char *text = NULL;
            size_t length = 0;
            FILE *out = call->request ? open_memstream(&text, &length) : NULL;
            if (out) {
                foliot__call_print(call, out);
                if (fclose(out) == 0)
                    foliot__http_answer(call->http, call->request, call->status, JSON_TYPE, text,
                                        length);
            }
            free(text);
            foliot__call_destroy(call);
        }
        uv_mutex_lock(&admin->mutex);
    }
    uv_mutex_unlock(&admin->mutex);
}

// -- the loop's thread

static void act(foliot__call *call)
{
    foliot__admin *admin = &call->app->admin;
    foliot__outcome outcome = call->action->act(call);
    if (outcome == FOLIOT__CALL_AGAIN && foliot__clock_now_ns() >= call->until_ns)
        outcome = foliot__call_fail(call, 503, "the session is busy: try again");
    if (outcome == FOLIOT__CALL_AGAIN) {
        call->next = admin->waiting;
        admin->waiting = call;
        return;
    }
    if (outcome == FOLIOT__CALL_SLOW)
        call->stage++;
    to_worker(admin, call);
}

static void on_asked(uv_async_t *asked)
{
    foliot__admin *admin = &((foliot__app *)asked->data)->admin;
    uv_mutex_lock(&admin->mutex);
    foliot__call *call = admin->arrived;
    admin->arrived = NULL;
    admin->arrived_last = &admin->arrived;
    uv_mutex_unlock(&admin->mutex);
    while (call) {
        foliot__call *next = call->next;
        act(call);
        call = next;
    }
}

void foliot__admin_update(foliot__app *a)
{
    foliot__call *call = a->admin.waiting;
    a->admin.waiting = NULL;
    while (call) {
        foliot__call *next = call->next;
        act(call);
        call = next;
    }
}

// -- the HTTP thread

void foliot__admin_receive(foliot__app *a, foliot__http *http, const foliot__http_request *request)
{
    char arguments[FOLIOT__HTTP_ARGUMENTS][FOLIOT__HTTP_ARGUMENT_BYTES];
    const foliot__action *action = foliot__actions;
    while (strcmp(action->method, request->method) != 0 ||
           !foliot__http_path_fits(action->path, request->path, arguments))
        action++; // it is there: the route was made of it
    foliot__call *call = foliot__call_create(a, action);
    if (!call) {
        foliot__http_answer(http, request->id, 503, JSON_TYPE, "{}\n", 3);
        return;
    }
    call->http = http;
    call->request = request->id;
    call->until_ns = foliot__clock_now_ns() + FOLIOT__CALL_PATIENCE_NS;
    snprintf(call->body.session, sizeof call->body.session, "%s", request->arguments[0]);
    snprintf(call->body.subject, sizeof call->body.subject, "%s", request->arguments[1]);
    if (foliot__call_read(call, request->body, request->body_bytes)) {
        to_loop(&a->admin, call);
    } else {
        call->stage = 0;
        to_worker(&call->app->admin, call);
    }
}

static void receive_request(void *user, const foliot__http_request *request)
{
    foliot__app *a = user;
    foliot__admin_receive(a, a->front.http, request);
}

// -- names of players. Two names that look the same must have the same bytes, or bans and
// moderators are misled. The tables of Unicode are libutf8proc's.

static bool is_normal(const char *name)
{
    utf8proc_uint8_t *normal = utf8proc_NFC((const utf8proc_uint8_t *)name);
    bool same = normal && strcmp((const char *)normal, name) == 0;
    free(normal);
    return same;
}
// Full-width letters and digits, and other compatibility characters, are folded to plain ones.
static bool misleads(const char *name)
{
    utf8proc_uint8_t *plain = utf8proc_NFKC_Casefold((const utf8proc_uint8_t *)name);
    bool wrong =
        foliot__name_misleads(name) || (plain && foliot__name_misleads((const char *)plain));
    free(plain);
    return wrong;
}

// Whether the name is in Unicode's normal form C, has no invisible characters, and cannot be
// mistaken for a player's number or for the server. False with a sentence.
static bool name_fits(const char *name, char *why, size_t why_bytes)
{
    char clean[FOLIOT_NAME_BYTES];
    size_t length = strlen(name);
    const char *problem = NULL;
    if (strcmp(foliot__text_clean(clean, sizeof clean, name), name) != 0)
        problem = "a name is UTF-8 without invisible characters";
    else if (strchr(name, '/')) // in a path of the admin API it would name another player
        problem = "a name has no '/'";
    else if (length > 0 && (name[0] == ' ' || name[length - 1] == ' '))
        problem = "a name has no space at its ends";
    else if (misleads(name))
        problem = "a name is not a number, does not begin with '#', has no space after ':' or '>', "
                  "and is not one of the server's own";
    else if (!is_normal(name))
        problem = "a name is in Unicode's normal form C: letters with accents are one character";
    if (problem)
        snprintf(why, why_bytes, "%s", problem);
    return !problem;
}

// -- SIGHUP: reads the bearer token, the bans and the keys of connect tokens again. A file that
// cannot be read changes nothing.

static void read_files(foliot__call *c)
{
    char token[FOLIOT__HTTP_TOKEN_BYTES_MAX + 1] = "";
    uint8_t keys[FOLIOT_KEYS_MAX * FOLIOT_KEY_BYTES];
    uint32_t key_count = 0;
    bool fine = true;
    if (c->app->choices->web.admin_token)
        fine = foliot__http_token_read(c->app->choices->web.admin_token, token, c->problem,
                                       sizeof c->problem);
    // `count`: of those that hold.
    if (fine && c->count > 0 && access(c->app->choices->web.bans, F_OK) != 0) {
        snprintf(c->problem, sizeof c->problem,
                 "%s: %s: %u bans stay in force; an empty file lifts them",
                 c->app->choices->web.bans, strerror(errno), c->count);
        fine = false;
    }
    if (fine && c->app->choices->web.bans)
        fine =
            foliot__bans_read(&c->bans, c->app->choices->web.bans, c->problem, sizeof c->problem);
    if (fine && c->app->choices->access.key)
        fine = foliot__security_read_again(c->app->choices, keys, &key_count, c->problem,
                                           sizeof c->problem);
    if (fine && c->app->choices->access.key) {
        (void)!foliot_transport_set_keys(c->app->transport, keys, key_count);
        c->count = key_count;
    }
    foliot__forget(keys, sizeof keys);
    if (fine && c->app->choices->web.admin_token)
        foliot__http_set_token(c->app->front.http, token);
    if (fine && c->app->choices->web.create)
        foliot__http_set_token(foliot__web_get_http(c->app->browsers.web), token);
    foliot__forget(token, sizeof token);
    c->status = fine ? 200 : 422;
}

static foliot__outcome reload(foliot__call *c)
{
    char line[FOLIOT__CALL_TEXT_BYTES + 64];
    bool changed = c->bans_changes != c->app->admin.bans_changes;
    if (c->stage == 0 || (c->status == 200 && c->app->choices->web.bans && changed)) {
        foliot__bans_destroy(&c->bans); // read before a change that is written by now
        c->bans_changes = c->app->admin.bans_changes;
        c->count = c->app->admin.bans.count;
        return FOLIOT__CALL_SLOW;
    }
    if (c->status == 200 && c->app->choices->web.bans) {
        foliot__bans before = c->app->admin.bans;
        c->app->admin.bans = c->bans;
        c->bans = before;
    }
    foliot__bans_destroy(&c->bans);
    if (c->status != 200)
        snprintf(line, sizeof line, "not reloaded: %s", c->problem);
    else if (c->app->choices->access.key)
        snprintf(line, sizeof line, "reloaded: token, bans and %u key%s", c->count,
                 c->count > 1 ? "s" : "");
    else
        snprintf(line, sizeof line, "reloaded: token and bans");
    foliot__log_note(c->status == 200 ? "reloaded" : "not-reloaded", line);
    return FOLIOT__CALL_DONE;
}

static const foliot__action reloading = {"", "", "", reload, read_files, NULL};

// After a hang-up isatty no longer reports a terminal.
static bool terminal_is_gone(void)
{
    struct pollfd of_errors = {.fd = STDERR_FILENO};
    return poll(&of_errors, 1, 0) == 1 && (of_errors.revents & POLLHUP);
}

static void on_hangup(uv_signal_t *signal, int number)
{
    foliot__app *a = signal->data;
    (void)number;
    bool any = a->choices->web.admin_token || a->choices->web.bans || a->choices->access.key;
    if (a->admin.terminal && (!any || terminal_is_gone())) { // nobody would end it any more
        if (!a->ending) // the shell and the kernel both send the signal
            foliot__app_end(a);
        return;
    }
    if (!any)
        foliot__log_note("reloaded", "SIGHUP: there is nothing to reload");
    foliot__call *call = any ? foliot__call_create(a, &reloading) : NULL;
    if (!call)
        return;
    call->next = a->admin.waiting;
    a->admin.waiting = call;
    foliot__app_wake(a);
}

// -- life

void foliot__admin_add_routes(foliot__http_route *routes, uint32_t capacity)
{
    uint32_t at = 0;
    while (routes[at].method)
        at++;
    for (const foliot__action *a = foliot__actions; a->method && at + 1 < capacity; a++)
        routes[at++] = (foliot__http_route){a->method, a->path, receive_request, true};
    routes[at] = (foliot__http_route){0};
}

static bool admit(void *user, const char *session, const char *name, const char *address,
                  const foliot_peer_identity *identity, char why[160])
{
    foliot__app *a = user;
    (void)session;
    if (!name_fits(name, why, 160))
        return false;
    const foliot__ban *ban = foliot__bans_find(
        &a->admin.bans, name, address,
        identity->security == FOLIOT_SECURITY_TOKEN ? identity->token.client : 0, time(NULL));
    if (ban)
        snprintf(why, 160, "you are banned: %s",
                 *ban->reason ? ban->reason : "the host gave no reason");
    return !ban;
}

int foliot__admin_open(foliot__app *a)
{
    foliot__admin *admin = &a->admin;
    char problem[700];
    if (a->choices->web.bans && !foliot__file_writable(a->choices->web.bans)) {
        fprintf(stderr, "foliot-server: --bans: %s: %s\n", a->choices->web.bans,
                foliot__file_problem(errno));
        return FOLIOT__EXIT_SCENE;
    }
    if (a->choices->web.bans &&
        !foliot__bans_read(&admin->bans, a->choices->web.bans, problem, sizeof problem)) {
        fprintf(stderr, "foliot-server: --bans: %s\n", problem);
        return FOLIOT__EXIT_SCENE;
    }
    if (uv_signal_init(&a->loop, &admin->hangup) != 0)
        return foliot__host_lacks("an event loop");
    admin->hangup.data = a;
    admin->terminal = isatty(STDERR_FILENO);
    if (!a->choices->web.http && !a->choices->web.admin_socket && !a->choices->sessions.scenes &&
        !a->choices->access.key && !a->choices->web.bans)
        return 0;
    admin->arrived_last = &admin->arrived;
    admin->todo_last = &admin->todo;
    admin->begun_ns = foliot__clock_now_ns();
    uv_mutex_init(&admin->mutex);
    uv_cond_init(&admin->filled);
    if (uv_async_init(&a->loop, &admin->asked, on_asked) != 0)
        return foliot__host_lacks("an event loop");
    admin->asked.data = a;
    admin->runs = true;
    if (!foliot__threads_left(1, THREAD_STACK_BYTES) ||
        uv_thread_create(&admin->thread, work, a) != 0) {
        admin->thread = 0;
        return foliot__host_lacks("enough threads");
    }
    return 0;
}

void foliot__admin_start(foliot__app *a)
{
    foliot_server_set_admission(a->server, admit, a);
    a->life.host = foliot__admin_host;
    if (uv_signal_start(&a->admin.hangup, on_hangup, SIGHUP) != 0)
        foliot__log_note("not-reloaded", "SIGHUP reloads nothing: no handle is left");
}

void foliot__admin_close(foliot__app *a)
{
    uv_close((uv_handle_t *)&a->admin.hangup, NULL);
    signal(SIGHUP, SIG_IGN); // recordings are closed still
    if (a->admin.runs)
        uv_close((uv_handle_t *)&a->admin.asked, NULL);
}

static void destroy_all(foliot__call *call)
{
    while (call) {
        foliot__call *next = call->next;
        foliot__call_discard_hosted(call);
        foliot__call_destroy(call);
        call = next;
    }
}

void foliot__admin_stop(foliot__app *a)
{
    foliot__admin *admin = &a->admin;
    if (!admin->thread)
        return;
    uv_mutex_lock(&admin->mutex);
    admin->ending = true;
    uv_cond_signal(&admin->filled);
    uv_mutex_unlock(&admin->mutex);
    uv_thread_join(&admin->thread);
}

void foliot__admin_destroy(foliot__app *a)
{
    foliot__admin *admin = &a->admin;
    foliot__bans_destroy(&admin->bans);
    if (!admin->runs)
        return;
    destroy_all(admin->arrived);
    destroy_all(admin->waiting);
    destroy_all(admin->todo);
    uv_cond_destroy(&admin->filled);
    uv_mutex_destroy(&admin->mutex);
}
