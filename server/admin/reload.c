// SPDX-License-Identifier: MIT
// reload.c: SIGHUP: reads the bearer token, the bans and the keys of connect tokens again. A file
// that cannot be read changes nothing.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "program/app.h"
#include "program/options/arguments.h"
#include "http/http.h"
#include "program/report/log.h"
#include "program/options/security.h"
#include "admin.h"
#include "crypto/crypto.h"

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

void foliot__admin_on_hangup(uv_signal_t *signal, int number)
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
