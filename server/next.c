// SPDX-License-Identifier: MIT
// next.c: what is hosted after a game that named a next scene: a world, rules and a recording of
// their own under the same name. The scene lies in the folder of the one before it: rules name a
// file, never a path.
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "arguments.h"
#include "log.h"
#include "rotation.h"

// Each scene is a recording, and a new start for its clients: a game that ends again and again at
// once would fill the disk. So many in a row may end earlier than this, and the next one ends it.
#define EARLY_NS 5000000000u
#define EARLY_MAX 3

static foliot__hosted *hosted_of(foliot__app *a, const char *session)
{
    for (uint32_t i = 0; i < a->hosted_count; i++)
        if (&a->hosted[i] != a->opening && strcmp(a->hosted[i].name, session) == 0)
            return &a->hosted[i];
    return NULL;
}

// False if it is more than the name of a file, or too long.
static bool find_scene(const foliot__hosted *h, const char *next, char *file, size_t bytes)
{
    const char *slash = strrchr(h->scene_file, '/');
    int folder = slash ? (int)(slash - h->scene_file) + 1 : 0;
    if (next[0] == '.' || strchr(next, '/'))
        return false;
    int length = snprintf(file, bytes, "%.*s%s", folder, h->scene_file, next);
    return length >= 0 && (size_t)length < bytes;
}

// Whether too many scenes in a row have ended early.
static bool hurries(foliot__hosted *h)
{
    bool early = foliot__app_now_ns() - h->begun_ns < EARLY_NS;
    h->hurried = early ? h->hurried + 1 : 0;
    return h->hurried > EARLY_MAX;
}

static int host_scene(foliot__app *a, foliot__hosted *h, const char *file)
{
    char name[FOLIOT_NAME_BYTES];
    foliot__host_options options = {.no_record = foliot__given.no_record,
                                    .folder = foliot__recordings_folder(),
                                    .allows_modules = foliot__given.allow_modules,
                                    .signer = a->signer};
    snprintf(name, sizeof name, "%s", h->name);
    int code = foliot__hosted_open(h, name, file, &options);
    if (code == 0)
        code = foliot__hosted_record(h, &options);
    return code ? code : foliot__app_add_session(a, h);
}

// Peers come back and are told that the session is ending.
static void give_up(foliot__hosted *h, const foliot__hosted *before, const char *file)
{
    char note[900];
    snprintf(note, sizeof note, "%s: the next scene, %s, cannot be hosted", before->name, file);
    foliot__log_note("next-scene", note);
    foliot_world_destroy(h->world);
    foliot__hosted_end_recording(h);
    foliot__hosted_destroy_rules(h);
    foliot_scene_destroy(h->scene);
    *h = *before;
}

bool foliot__app_follow(foliot__app *a, const char *session)
{
    const char *next = "";
    char file[640], note[800];
    foliot__hosted *h = hosted_of(a, session);
    if (!h || a->interrupts > 0 || !foliot_server_get_next(a->server, session, &next) || !*next)
        return false;
    if (foliot_server_release_recording(a->server, session) != FOLIOT_STATUS_OK)
        return false;
    foliot__rotation_finish(a, h);
    foliot__life_close_recording(a, h);
    if (h->recording)
        return false;
    foliot__hosted before = *h;
    if (!find_scene(h, next, file, sizeof file)) {
        foliot__log_note("next-scene", "the next scene is no name of a file beside this one");
        return false;
    }
    if (hurries(h)) {
        snprintf(note, sizeof note,
                 "%s: %u scenes in a row ended within %u s: the next one, %s, is not hosted",
                 h->name, h->hurried, (unsigned)(EARLY_NS / 1000000000u), file);
        foliot__log_note("next-scene", note);
        return false;
    }
    uint32_t hurried = h->hurried;
    *h = (foliot__hosted){0};
    memcpy(h->name, before.name, sizeof h->name);
    if (host_scene(a, h, file) != 0) {
        give_up(h, &before, file);
        return false;
    }
    h->begun_ns = foliot__app_now_ns();
    h->hurried = hurried;
    snprintf(note, sizeof note, "%s: goes on with %s", h->name, file);
    foliot__log_note("next-scene", note);
    foliot__hosted_destroy_rules(&before);
    foliot_scene_destroy(before.scene);
    return true;
}
