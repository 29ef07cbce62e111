// SPDX-License-Identifier: MIT
// rotation.c: see rotation.h. The state between two ticks is the last of one recording and the
// first of the next, so no tick is lost. It rotates one session at a time: beginning a recording
// costs the loop's thread a capture of its world. A recording is examined between two steps of its
// session, since a worker appends to it during a step.
#include "rotation.h"

#include <stdio.h>
#include <unistd.h>

#include "program/app.h"
#include "program/options/arguments.h"
#include "base/clock.h"
#include "program/complain.h"
#include "program/report/log.h"
#include "recordings.h"

#define NS_PER_MINUTE 60e9
#define AGAIN_NS 60000000000u // if the next one could not begin
#define LOOK_NS 100000000u
#define LOOKS_MAX 32 // at sessions by their names, after one update

static void note_failure(const foliot__hosted *h, const char *why)
{
    char note[1100];
    snprintf(note, sizeof note, "--recordings-minutes: %s continues: %s", h->recording_file, why);
    foliot__log_warning("not-rotated", h->name, note, FOLIOT_STATUS_IO);
}

static bool has_ticks(const foliot_recording *recording)
{
    foliot_recording_state state = foliot_recording_get_state(recording);
    return state.written_tick > state.first_tick;
}

static bool has_stopped(const foliot_recording *recording)
{
    return foliot_recording_get_state(recording).stopped != FOLIOT_STATUS_OK;
}

void foliot__rotation_finish(foliot__app *a, foliot__hosted *h)
{
    if (!h->former)
        return;
    if (h->recording && !has_ticks(h->recording) && (h->suspended || has_stopped(h->recording))) {
        foliot_recording_abandon(h->former); // it is the one to resume
        h->former = NULL;
    } else {
        // The previous part ends when this one has ticks, and with them the list of players. Until
        // then a crash leaves both without an end, and the previous part is resumed.
        foliot__hosted former = {.recording = h->former};
        memcpy(former.name, h->name, sizeof former.name);
        memcpy(former.recording_file, h->former_file, sizeof former.recording_file);
        h->former = NULL;
        foliot__recordings_close_taken(a, &former);
    }
}

static void rotate(foliot__app *a, foliot__hosted *h, uint64_t now)
{
    char why[512];
    foliot__host_options options = {.folder = foliot__recordings_folder(a->choices),
                                    .signer = a->signer};
    foliot__hosted next = *h;
    next.recording = NULL;
    next.resumed = false; // its file is another
    h->recorded_ns = now + AGAIN_NS - (uint64_t)(a->choices->recording.minutes * NS_PER_MINUTE);
    foliot__host_complain_into(why, sizeof why);
    int code = foliot__hosted_record(&next, &options);
    foliot__host_complain_into(NULL, 0);
    if (code) {
        note_failure(h, why);
        return;
    }
    if (foliot_server_set_recording(a->server, h->name, next.recording) != FOLIOT_STATUS_OK) {
        foliot_recording_abandon(next.recording);
        unlink(next.recording_file); // nobody has used it
        note_failure(h, "the next one could not begin");
        return;
    }
    (void)!foliot_recording_flush(h->recording);
    h->former = h->recording;
    memcpy(h->former_file, h->recording_file, sizeof h->former_file);
    h->recording = next.recording;
    h->recorded_ns = now;
    snprintf(h->recording_file, sizeof h->recording_file, "%s", next.recording_file);
}

void foliot__rotation_update(foliot__app *a)
{
    uint64_t now = foliot__clock_now_ns();
    if (!(a->choices->recording.minutes > 0) || a->ending || now < a->rotates_ns)
        return;
    uint32_t first = a->rotates_first, looks = 0;
    bool steps = false;
    for (uint32_t i = 0; i < a->hosted_count; i++) {
        uint32_t at = (first + i) % a->hosted_count;
        foliot__hosted *h = &a->hosted[at];
        // Whether there is a part to end or to begin, as soon as no step runs.
        uint64_t age_ns = (uint64_t)(a->choices->recording.minutes * NS_PER_MINUTE);
        if (!h->served || h->ended || !h->recording || !h->world) {
            h->recorded_ns = 0;
            foliot__rotation_finish(a, h);
            continue;
        }
        if (h->recorded_ns == 0)
            h->recorded_ns = now;
        if (!h->former && !((int64_t)(now - h->recorded_ns) >= (int64_t)age_ns))
            continue;
        a->rotates_first = at + 1;
        if (!foliot_server_get_world(a->server, h->name)) {
            steps = true;
            if (++looks == LOOKS_MAX)
                return;
            continue;
        }
        if (!h->former) {
            rotate(a, h, now);
            return; // the next session after the next update
        }
        if (has_ticks(h->recording) || has_stopped(h->recording))
            foliot__rotation_finish(a, h);
    }
    if (!steps) // else after the next update, which may take the step in
        a->rotates_ns = now + LOOK_NS;
}
