// SPDX-License-Identifier: MIT
// reload.c: SIGHUP: the bearer token and the bans are read again. What cannot be read changes
// nothing.
#include <stdio.h>
#include <string.h>

#include "../app.h"
#include "../arguments.h"
#include "../http/access.h"
#include "../log.h"
#include "actions.h"

static void read_files(foliot__call *c)
{
    char token[FOLIOT__HTTP_TOKEN_BYTES_MAX + 1] = "";
    bool fine = true;
    if (foliot__given.admin_token)
        fine = foliot__http_token_read(foliot__given.admin_token, token, c->problem,
                                       sizeof c->problem);
    if (fine && foliot__given.bans)
        fine = foliot__bans_read(&c->bans, foliot__given.bans, c->problem, sizeof c->problem);
    if (fine && foliot__given.admin_token)
        foliot__http_set_token(c->app->front.http, token);
    if (fine && foliot__given.web_create)
        foliot__http_set_token(foliot__web_get_http(c->app->browsers.web), token);
    c->status = fine ? 200 : 422;
}

static foliot__outcome reload(foliot__call *c)
{
    char line[FOLIOT__CALL_TEXT_BYTES + 64];
    if (c->stage == 0)
        return FOLIOT__CALL_SLOW;
    if (c->status == 200 && foliot__given.bans) {
        foliot__bans before = c->app->admin.bans;
        c->app->admin.bans = c->bans;
        c->bans = before;
    }
    foliot__bans_destroy(&c->bans);
    snprintf(line, sizeof line, "%s%s",
             c->status == 200 ? "reloaded: token and bans" : "not reloaded: ", c->problem);
    foliot__log_note(c->status == 200 ? "reloaded" : "not-reloaded", line);
    return FOLIOT__CALL_DONE;
}

static const foliot__action reloading = {"", "", "", reload, read_files, NULL};

void foliot__admin_on_hangup(uv_signal_t *signal, int number)
{
    foliot__app *a = signal->data;
    foliot__call *call = foliot__call_create(a, &reloading);
    (void)number;
    if (!call)
        return;
    call->next = a->admin.waiting;
    a->admin.waiting = call;
    foliot__admin_update(a);
}
