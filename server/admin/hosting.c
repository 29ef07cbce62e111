// SPDX-License-Identifier: MIT
// hosting.c: sessions that come and go while the server runs, and recordings that begin and end
// with them. The worker reads scenes, creates worlds and closes recordings; the loop's thread only
// enters them into its tables.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "program/app.h"
#include "program/options/arguments.h"
#include "program/process.h"
#include "program/report/report.h"
#include "program/session/recordings.h"
#include "admin.h"
#include "base/clock.h"
#include "base/text.h"

#define RECORDING_SUFFIX ".foliot"
#define CLEAN_PATIENCE_NS 60000000000u

// The plain name of a file: no path, and not hidden.
static bool plain_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/') && strlen(name) < 200;
}

// -- a new session

static bool has_ended(const foliot__app *a, const char *session)
{
    uint32_t index;
    foliot_session_info info;
    return foliot_server_find_session(a->server, session, &index) != FOLIOT_STATUS_OK ||
           foliot_server_get_session_info(a->server, index, &info) != FOLIOT_STATUS_OK ||
           info.ended;
}

static foliot__hosted *free_slot(foliot__app *a)
{
    for (uint32_t i = 0; i < a->hosted_count; i++)
        if (!*a->hosted[i].name)
            return &a->hosted[i];
    return a->hosted_count < FOLIOT_SESSIONS_MAX ? &a->hosted[a->hosted_count++] : NULL;
}

static foliot__outcome begin_session(foliot__call *c)
{
    foliot__app *a = c->app;
    char clean[FOLIOT__CALL_TEXT_BYTES];
    if (!c->app->choices->sessions.scenes)
        return foliot__call_fail(c, 409, "this server was started without --scenes DIR");
    if (foliot__app_drains(a))
        return foliot__call_fail(c, 409, "the server is draining: it hosts no new sessions");
    if (!plain_name(c->body.scene))
        return foliot__call_fail(c, 400, "'scene' is the name of a file in --scenes");
    if (!*c->body.name || strlen(c->body.name) >= FOLIOT_NAME_BYTES || strchr(c->body.name, '/') ||
        strcmp(foliot__text_clean(clean, sizeof clean, c->body.name), c->body.name) != 0)
        return foliot__call_fail(c, 400,
                                 "'name' has 1 to %d bytes, no '/' and no control characters",
                                 FOLIOT_NAME_BYTES - 1);
    if (!has_ended(a, c->body.name))
        return foliot__call_fail(c, 409, "a session '%s' exists already", c->body.name);
    if (a->admin.opening)
        return FOLIOT__CALL_AGAIN;
    if (!free_slot(a))
        return foliot__call_fail(c, 409, "there are %d sessions: end one first",
                                 FOLIOT_SESSIONS_MAX);
    c->hosted = calloc(1, sizeof *c->hosted); // the worker fills it, and no place of the table
    if (!c->hosted)
        return foliot__call_fail(c, 503, "no memory");
    a->admin.opening = true;
    return FOLIOT__CALL_SLOW;
}

void foliot__work_create(foliot__call *c)
{
    struct stat about;
    char file[1024];
    const foliot__server_choices *choices = c->app->choices;
    foliot__host_options options = {.no_record = c->body.has_record ? !c->body.record
                                                                    : choices->recording.off,
                                    .folder = foliot__recordings_folder(choices),
                                    .integrator = choices->sessions.integrator,
                                    .tick_hz = choices->sessions.tick_hz,
                                    .allows_modules = choices->sessions.allow_modules,
                                    .signer = c->app->signer};
    snprintf(file, sizeof file, "%s/%s", c->app->choices->sessions.scenes, c->body.scene);
    if (stat(file, &about) != 0)
        snprintf(file, sizeof file, "%s/%s.yaml", c->app->choices->sessions.scenes, c->body.scene);
    foliot__host_complain_into(c->problem, sizeof c->problem);
    int code = foliot__hosted_open(c->hosted, c->body.name, file, &options);
    if (code == 0)
        code = foliot__hosted_record(c->hosted, &options);
    foliot__host_complain_into(NULL, 0);
    if (code)
        c->status = 422;
}

static void discard(foliot__hosted *h)
{
    foliot_world_destroy(h->world);
    h->world = NULL;
    foliot__hosted_end_recording(h);
    foliot__hosted_destroy_rules(h);
    foliot__hosted_destroy_simulation(h);
    foliot_scene_destroy(h->scene);
    *h = (foliot__hosted){0};
}

void foliot__call_discard_hosted(foliot__call *c)
{
    if (!c->hosted)
        return;
    discard(c->hosted);
    free(c->hosted);
    c->hosted = NULL;
}

static foliot__outcome finish_session(foliot__call *c)
{
    foliot__app *a = c->app;
    char line[1200];
    a->admin.opening = false;
    foliot__hosted *place = c->status == 200 && has_ended(a, c->body.name) ? free_slot(a) : NULL;
    if (place) {
        *place = *c->hosted;
        foliot__host_complain_into(c->problem, sizeof c->problem);
        int code = foliot__app_add_session(a, place);
        foliot__host_complain_into(NULL, 0);
        if (code)
            *place = (foliot__hosted){0};
        place = code ? NULL : place;
    }
    if (!place) {
        c->status = c->status == 200 ? 409 : c->status;
        foliot__call_discard_hosted(c);
        return FOLIOT__CALL_DONE;
    }
    free(c->hosted); // its contents are the place's
    c->hosted = NULL;
    place->begun_ns = foliot__clock_now_ns();
    // Discards the session that had the name before.
    for (uint32_t i = 0; i < a->hosted_count; i++) {
        foliot__hosted *former = &a->hosted[i];
        if (former == place || strcmp(former->name, place->name) != 0)
            continue;
        former->world = NULL; // the server's, and gone with the session
        discard(former);
    }
    snprintf(c->file, sizeof c->file, "%s", place->recording ? place->recording_file : "");
    snprintf(line, sizeof line, "hosts %s as %s", c->body.scene, c->body.name);
    foliot__log_admin(line);
    return FOLIOT__CALL_DONE;
}

foliot__outcome foliot__act_create(foliot__call *c)
{
    return c->stage ? finish_session(c) : begin_session(c);
}

// As above, for the life cycle, which gets the result.
static foliot__outcome act_ordered(foliot__call *c)
{
    foliot__outcome outcome = foliot__act_create(c);
    foliot__life_order order;
    if (outcome == FOLIOT__CALL_AGAIN && foliot__clock_now_ns() >= c->until_ns)
        outcome = foliot__call_fail(c, 503, "another session is still being opened: try again");
    if (outcome != FOLIOT__CALL_DONE)
        return outcome;
    snprintf(order.session, sizeof order.session, "%.63s", c->body.name);
    snprintf(order.scene, sizeof order.scene, "%.127s", c->body.scene);
    foliot__life_order_done(c->app, &order, c->status == 200 ? NULL : c->problem);
    return outcome;
}

static const foliot__action ordering = {"", "", "", act_ordered, foliot__work_create, NULL};

bool foliot__admin_host(foliot__app *a, const foliot__life_order *order)
{
    foliot__call *call = foliot__call_create(a, &ordering);
    if (!call)
        return false;
    snprintf(call->body.name, sizeof call->body.name, "%s", order->session);
    snprintf(call->body.scene, sizeof call->body.scene, "%s", order->scene);
    call->until_ns = foliot__clock_now_ns() + CLEAN_PATIENCE_NS;
    call->next = a->admin.waiting;
    a->admin.waiting = call;
    return true;
}

void foliot__print_created(const foliot__call *c, foliot__json *j)
{
    foliot__json_text(j, "name", c->body.name);
    foliot__json_text(j, "recording", *c->file ? c->file : NULL);
}

// -- recordings

// False: not a plain name, too long, or another suffix: keys and bans may be in the same folder.
static bool put_into_folder(foliot__call *c)
{
    char name[sizeof c->file];
    const char *folder = foliot__recordings_folder(c->app->choices);
    size_t length_of_name = strlen(c->file), suffix = strlen(RECORDING_SUFFIX);
    if (!plain_name(c->file) || length_of_name <= suffix ||
        strcmp(c->file + length_of_name - suffix, RECORDING_SUFFIX) != 0)
        return false;
    memcpy(name, c->file, sizeof name);
    int length =
        snprintf(c->file, sizeof c->file, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
    return length >= 0 && (size_t)length < sizeof c->file;
}

static void log_recording(const char *action, const foliot__call *c)
{
    char line[1200];
    snprintf(line, sizeof line, "%s %s in %s", action, c->body.session, c->file);
    foliot__log_admin(line);
}

foliot__outcome foliot__act_record(foliot__call *c)
{
    foliot__app *a = c->app;
    foliot__hosted *h = foliot__app_find_hosted(a, c->body.session);
    if (!h || has_ended(a, c->body.session))
        return foliot__call_fail(c, 404, "there is no session '%.100s' here", c->body.session);
    if (h->recording)
        return foliot__call_fail(c, 409, "the session is being recorded already, in %s",
                                 h->recording_file);
    if (c->stage == 0 && *c->file && !put_into_folder(c))
        return foliot__call_fail(
            c, 400, "'file' is the name of a file, without a path, that ends in " RECORDING_SUFFIX);
    if (!h->world)
        return foliot__call_fail(c, 409, "only worlds can be recorded from a later tick");
    if (c->stage == 0 && *c->file)
        return FOLIOT__CALL_SLOW;
    if (c->status != 200)
        return FOLIOT__CALL_DONE;
    if (!foliot_server_get_world(a->server, c->body.session))
        return FOLIOT__CALL_AGAIN;
    foliot__host_options options = {.record = *c->file ? c->file : NULL,
                                    .folder = foliot__recordings_folder(c->app->choices),
                                    .signer = a->signer};
    bool resumed = h->resumed;
    h->resumed = false; // its file is closed: this is another
    foliot__host_complain_into(c->problem, sizeof c->problem);
    int code = foliot__hosted_record(h, &options);
    foliot__host_complain_into(NULL, 0);
    h->resumed = resumed;
    if (code)
        return c->status = 507, FOLIOT__CALL_DONE;
    snprintf(c->file, sizeof c->file, "%s", h->recording_file);
    if (foliot_server_set_recording(a->server, c->body.session, h->recording) == FOLIOT_STATUS_OK) {
        log_recording("records", c);
        return FOLIOT__CALL_DONE;
    }
    foliot__hosted_end_recording(h);
    return foliot__call_fail(c, 503, "the recording could not begin");
}

// A file of that name may exist. One without an end is renamed, a complete one is not overwritten.
void foliot__work_record(foliot__call *c)
{
    struct stat about;
    foliot__host_complain_into(c->problem, sizeof c->problem);
    if (foliot__host_keep_unfinished(c->file) != 0)
        c->status = 507;
    foliot__host_complain_into(NULL, 0);
    if (c->status == 200 && lstat(c->file, &about) == 0)
        foliot__call_fail(c, 409, "%.400s exists already", c->file);
}

// Takes the recording from the session, to be closed on the worker. AGAIN while a step runs.
static foliot__outcome detach_recording(foliot__call *c, foliot__hosted *h)
{
    foliot_status status = foliot_server_set_recording(c->app->server, c->body.session, NULL);
    if (status == FOLIOT_STATUS_AGAIN)
        return FOLIOT__CALL_AGAIN;
    c->recording = h->recording;
    snprintf(c->file, sizeof c->file, "%s", h->recording_file);
    h->recording = NULL;
    return FOLIOT__CALL_SLOW;
}

// The work after its end is quick, and printed.
static foliot__outcome recording_ended(foliot__call *c)
{
    foliot__hosted ended = {.recording = c->recording};
    snprintf(ended.name, sizeof ended.name, "%.63s", c->body.session);
    snprintf(ended.recording_file, sizeof ended.recording_file, "%.511s", c->file);
    c->recording = NULL;
    int code = foliot__hosted_end_recording(&ended);
    fflush(stdout);
    return code ? foliot__call_fail(c, 507, "%.300s stopped early", c->file) : FOLIOT__CALL_DONE;
}

foliot__outcome foliot__act_stop_recording(foliot__call *c)
{
    foliot__hosted *h = foliot__app_find_hosted(c->app, c->body.session);
    if (c->stage) {
        log_recording("ends the recording of", c);
        return recording_ended(c);
    }
    if (!h)
        return foliot__call_fail(c, 404, "there is no session '%.100s' here", c->body.session);
    if (!h->recording)
        return foliot__call_fail(c, 409, "the session is not being recorded");
    return detach_recording(c, h);
}

void foliot__work_stop_recording(foliot__call *c)
{
    if (c->recording && foliot_recording_end(c->recording) == FOLIOT_STATUS_OK)
        (void)!foliot_recording_compact(c->recording); // logged by the loop's thread
}

void foliot__print_recording(const foliot__call *c, foliot__json *j)
{
    foliot__json_text(j, "file", c->file);
}

// -- a session that is over

static foliot__outcome clean(foliot__call *c)
{
    foliot__hosted *h = foliot__app_find_hosted(c->app, c->body.session);
    if (!c->recording && (!h || !has_ended(c->app, c->body.session)))
        return FOLIOT__CALL_DONE; // another session continues under its name
    if (c->stage == 0)
        return detach_recording(c, h);
    if (c->recording)
        (void)recording_ended(c);
    if (!h || !has_ended(c->app, c->body.session))
        return FOLIOT__CALL_DONE;
    if (foliot_server_remove_session(c->app->server, c->body.session) != FOLIOT_STATUS_OK)
        return FOLIOT__CALL_AGAIN;
    h->world = NULL;
    discard(h);
    return FOLIOT__CALL_DONE;
}

static const foliot__action cleaning = {"", "", "", clean, foliot__work_stop_recording, NULL};

void foliot__admin_session_ended(foliot__app *a, const char *session)
{
    foliot__call *call = a->stays ? foliot__call_create(a, &cleaning) : NULL;
    if (!call)
        return;
    snprintf(call->body.session, sizeof call->body.session, "%s", session);
    call->until_ns = foliot__clock_now_ns() + CLEAN_PATIENCE_NS;
    call->next = a->admin.waiting;
    a->admin.waiting = call;
}
