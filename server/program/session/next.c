// SPDX-License-Identifier: MIT
// next.c: hosts the next scene that a game named: a new world, new rules and a new recording under
// the same name. The scene is in the folder of the previous one: rules name a file, never a path.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/app.h"
#include "program/options/arguments.h"
#include "base/assert.h"
#include "base/clock.h"
#include "program/process.h"
#include "program/report/report.h"
#include "recordings.h"

// Each scene is a recording, and a new start for its clients: a game that ends at once again and
// again would fill the disk. Four scenes in a row may end earlier than this; the fifth ends it.
#define EARLY_NS 5000000000u
#define EARLY_MAX 3

#define SCENE_FILE_BYTES 640 // of its path

// False if it is not the plain name of a file, or too long.
static bool find_scene(const foliot__hosted *h, const char *next, char *file, size_t bytes)
{
    const char *slash = strrchr(h->scene_file, '/');
    int folder = slash ? (int)(slash - h->scene_file) + 1 : 0;
    if (next[0] == '.' || strchr(next, '/'))
        return false;
    int length = snprintf(file, bytes, "%.*s%s", folder, h->scene_file, next);
    return length >= 0 && (size_t)length < bytes;
}

// One following scene: read, created and recorded on one of libuv's workers, since a large one
// takes longer than a tick of other sessions.
typedef struct foliot__follow_up {
    uv_work_t work;
    foliot__app *app;
    foliot__hosted *place; // of the session that has ended, which stays there until then
    foliot__hosted next;
    char name[FOLIOT_NAME_BYTES], file[SCENE_FILE_BYTES];
    char problem[512];
    int code;
    struct foliot__follow_up *later;
} follow_up;

static void open_scene(uv_work_t *work)
{
    follow_up *o = work->data;
    foliot__host_options options = {.no_record = o->app->choices->recording.off,
                                    .folder = foliot__recordings_folder(o->app->choices),
                                    .allows_modules = o->app->choices->sessions.allow_modules,
                                    .signer = o->app->signer};
    foliot__host_complain_into(o->problem, sizeof o->problem);
    o->code = foliot__hosted_open(&o->next, o->name, o->file, &options);
    if (o->code == 0)
        o->code = foliot__hosted_record(&o->next, &options);
    foliot__host_complain_into(NULL, 0);
}

// On the loop's thread, which only moves the scene into its place.
static bool replace_session(follow_up *o)
{
    foliot__app *a = o->app;
    foliot__hosted before = *o->place;
    char note[SCENE_FILE_BYTES + 160];
    *o->place = o->next;
    foliot__host_complain_into(o->problem, sizeof o->problem);
    o->code = foliot__app_add_session(a, o->place);
    foliot__host_complain_into(NULL, 0);
    if (o->code) {
        *o->place = before;
        return false;
    }
    o->place->begun_ns = foliot__clock_now_ns();
    o->place->hurried = before.hurried;
    foliot__hosted_destroy_rules(&before);
    foliot_scene_destroy(before.scene);
    snprintf(note, sizeof note, "%s: continues with %s", o->name, o->file);
    foliot__log_note("next-scene", note);
    return true;
}

// Peers that return learn that the session is ending.
static void give_up(follow_up *o)
{
    foliot__app *a = o->app;
    char note[SCENE_FILE_BYTES + sizeof o->problem + 160];
    foliot_world_destroy(o->next.world);
    foliot__hosted_end_recording(&o->next);
    foliot__hosted_destroy_rules(&o->next);
    foliot_scene_destroy(o->next.scene);
    if (o->code) {
        snprintf(note, sizeof note, "%s: the next scene, %s, cannot be hosted: %s", o->name,
                 o->file, o->problem);
        foliot__log_note("next-scene", note);
    }
    if (!a->over && o->place->next == FOLIOT__NEXT_OPENS)
        o->place->next = FOLIOT__NEXT_FAILED;
}

static void begin(follow_up *o);

static void opened(uv_work_t *work, int status)
{
    follow_up *o = work->data;
    foliot__app *a = o->app;
    (void)status;
    // Meanwhile the server may have been stopped, or another session may have taken the name.
    bool wanted = !a->over && a->interrupts == 0 && o->place->next == FOLIOT__NEXT_OPENS;
    if (o->code || !wanted || !replace_session(o))
        give_up(o);
    a->following = o->later;
    free(o);
    if (a->following)
        begin(a->following);
    foliot__app_wake(a);
}

static void begin(follow_up *o)
{
    int queued = uv_queue_work(&o->app->loop, &o->work, open_scene, opened);
    FOLIOT_ASSERT(queued == 0); // it fails for want of a function alone
}

bool foliot__app_follow(foliot__app *a, const char *session)
{
    const char *next = "";
    char file[SCENE_FILE_BYTES], note[SCENE_FILE_BYTES + 160];
    foliot__hosted *h = foliot__app_find_hosted(a, session);
    if (!h || a->interrupts > 0 || !foliot_server_get_next(a->server, session, &next) || !*next)
        return false;
    if (foliot_server_release_recording(a->server, session) != FOLIOT_STATUS_OK)
        return false;
    foliot__rotation_finish(a, h);
    foliot__recordings_close(a, h);
    if (h->recording)
        return false;
    if (!find_scene(h, next, file, sizeof file)) {
        foliot__log_note("next-scene",
                         "the next scene is not the name of a file in the same folder");
        return false;
    }
    // Whether too many scenes in a row have ended early.
    bool early = foliot__clock_now_ns() - h->begun_ns < EARLY_NS;
    h->hurried = early ? h->hurried + 1 : 0;
    if (h->hurried > EARLY_MAX) {
        snprintf(note, sizeof note,
                 "%s: %u scenes in a row ended within %u s: the next one, %s, is not hosted",
                 h->name, h->hurried, (unsigned)(EARLY_NS / 1000000000u), file);
        foliot__log_note("next-scene", note);
        return false;
    }
    // One after the other: the workers have recordings to end as well.
    follow_up *o = calloc(1, sizeof *o), **last = &a->following;
    if (!o)
        return false;
    o->work.data = o;
    o->app = a;
    o->place = h;
    memcpy(o->name, h->name, sizeof o->name);
    snprintf(o->file, sizeof o->file, "%s", file);
    h->next = FOLIOT__NEXT_OPENS;
    while (*last)
        last = &(*last)->later;
    *last = o;
    if (a->following == o)
        begin(o);
    return true;
}
