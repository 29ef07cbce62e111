// SPDX-License-Identifier: MIT
// life.c: see life.h. A drain ends sessions in two ways: they end by themselves, or, when the
// drain's time is over or nobody plays any more, their recordings stop without an end at the last
// tick, so that --resume-all continues them.
#include "life.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/app.h"
#include "program/options/arguments.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "program/process.h"
#include "program/report/report.h"
#include "program/session/recordings.h"

#define NS_PER_S 1000000000u
#define LOOK_MS 100u
#define COMMANDS_MS 30000u               // that the end waits for the commands of --on-recording
#define TRIM_EVERY_NS (60ull * NS_PER_S) // recordings grow while they are written

static const foliot__life_kind *const kinds[] = {&foliot__life_agones, &foliot__life_systemd};

static uint32_t sessions_left(const foliot__app *a)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < a->hosted_count; i++)
        left += a->hosted[i].served && !a->hosted[i].ended;
    return left;
}

// As `foliotctl drain` does.
static void end_with_the_last(foliot__app *a)
{
    foliot__log_note("life-cycle", "the server ends: it was to host one session");
    a->drained = true;
    (void)!foliot_server_close_session(a->server, "", true);
}

void foliot__life_session_ended(foliot__app *a, const char *session)
{
    for (uint32_t i = 0; i < a->hosted_count; i++)
        if (strcmp(a->hosted[i].name, session) == 0) {
            a->hosted[i].ended = true;
            foliot__rotation_finish(a, &a->hosted[i]);
            foliot__recordings_close(a, &a->hosted[i]);
        }
    const foliot__life_kind *kind = a->life.kind;
    if (kind && kind->session_ended && kind->session_ended(session, sessions_left(a)))
        end_with_the_last(a);
}

// -- draining

bool foliot__life_drain(foliot__app *a)
{
    char note[160];
    uint64_t seconds = a->choices->process.drain_seconds;
    if (a->ending)
        return false;
    if (a->life.kind && a->life.kind->draining)
        a->life.kind->draining(seconds);
    if (seconds == 0)
        return false;
    a->life.drains_until_ns = foliot__clock_now_ns() + seconds * NS_PER_S;
    (void)!foliot_server_close_session(a->server, "", true);
    snprintf(note, sizeof note,
             "draining: sessions may end by themselves within %llu s, and are then left resumable; "
             "a second signal stops at once",
             (unsigned long long)seconds);
    foliot__log_note("draining", note);
    return true;
}

// Checks sessions that have not ended. Nobody waits for a world without players.
static bool anybody_plays(const foliot__app *a)
{
    foliot_server_presence presence = foliot_server_get_presence(a->server);
    return presence.players > presence.absent;
}

void foliot__life_update(foliot__app *a)
{
    uint64_t now = foliot__clock_now_ns();
    foliot__rotation_update(a);
    if (a->life.drains_until_ns && !a->ending &&
        (now >= a->life.drains_until_ns || !anybody_plays(a))) {
        for (uint32_t i = 0; i < a->hosted_count; i++)
            a->hosted[i].suspended = a->hosted[i].recording && !a->hosted[i].ended;
        foliot__log_note("draining",
                         "drained: the recordings of the sessions that run are left to be resumed");
        a->ending = a->life.suspends = true;
        foliot_server_stop(a->server, NULL, foliot__clock_now_ns());
    }
    // Recordings end as soon as no tick follows, not only when all peers have left.
    if (!a->ending || a->life.ended ||
        foliot_server_get_step_age_ns(a->server, foliot__clock_now_ns()))
        return;
    a->life.ended = true;
    foliot__hosted_end_all(a->hosted, a->hosted_count);
    for (uint32_t i = 0; i < a->hosted_count; i++)
        foliot__rotation_finish(a, &a->hosted[i]);
}

// -- the backend

static const foliot__life_kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (name ? strcmp(name, kinds[i]->name) == 0 : (kinds[i]->present && kinds[i]->present()))
            return kinds[i];
    return NULL;
}

bool foliot__life_has_orders(const char *name)
{
    const foliot__life_kind *kind = find_kind(name);
    return kind && kind->poll_order;
}

void foliot__life_order_done(foliot__app *a, const foliot__life_order *order, const char *why)
{
    char note[512];
    snprintf(note, sizeof note, why ? "%s: the scene '%s' cannot be hosted: %s" : "%s: hosts '%s'",
             order->session, order->scene, why);
    foliot__log_note("life-cycle", note);
    if (a->life.kind->order_done(order, why, sessions_left(a)))
        end_with_the_last(a);
}

int foliot__life_open(foliot__app *a)
{
    a->life.kind = find_kind(a->choices->process.life_cycle);
    return a->life.kind && a->life.kind->open
               ? a->life.kind->open(a->choices->network.has_port, &a->port)
               : 0;
}

void foliot__life_resuming(foliot__app *a, uint32_t number, uint32_t count)
{
    if (a->life.kind && a->life.kind->resuming)
        a->life.kind->resuming(number, count);
}

static void look(uv_timer_t *timer)
{
    foliot__app *a = timer->data;
    uint64_t now = foliot__clock_now_ns();
    // A step that does not end makes the server dead to its supervisor, even if the loop runs.
    foliot__life *life = &a->life;
    char status[128];
    if (life->interval_ns && now - life->told_ns >= life->interval_ns) {
        bool stuck = foliot_server_get_step_age_ns(a->server, now) > 2 * life->interval_ns;
        if (stuck && !life->stuck)
            foliot__log_note("blocked-step",
                             "a step does not end: the supervisor is no longer notified");
        life->stuck = stuck;
        if (!stuck) {
            life->told_ns = now;
            foliot_server_presence presence = foliot_server_get_presence(a->server);
            snprintf(status, sizeof status, "%s%u sessions, %u players",
                     life->drains_until_ns ? "draining: " : "", sessions_left(a),
                     presence.players - presence.absent);
            life->kind->alive(status);
        }
    }
    if (now - a->life.trimmed_ns >= TRIM_EVERY_NS) {
        a->life.trimmed_ns = now;
        foliot__recordings_trim_soon(a);
    }
    foliot__life_order order;
    while (a->life.kind && a->life.kind->poll_order && a->life.kind->poll_order(&order))
        if (!a->choices->sessions.scenes)
            foliot__life_order_done(a, &order, "this server was started without --scenes DIR");
        else if (!a->life.host(a, &order))
            foliot__life_order_done(a, &order, "no memory");
    if (a->life.drains_until_ns || a->drained || a->admin.waiting)
        foliot__app_wake(a); // where no tick is due for long
}

int foliot__life_start(foliot__app *a)
{
    foliot__life *life = &a->life;
    if (uv_timer_init(&a->loop, &life->timer) != 0)
        return foliot__host_lacks("an event loop");
    life->timed = true;
    life->timer.data = a;
    life->trimmed_ns = foliot__clock_now_ns();
    foliot__recordings_trim_soon(a);
    if (uv_timer_start(&life->timer, look, LOOK_MS, LOOK_MS) != 0)
        return foliot__host_lacks("an event loop");
    if (life->kind)
        life->kind->ready(a->hosted_count);
    if (life->kind && life->kind->get_interval_ns)
        life->interval_ns = life->kind->get_interval_ns();
    return 0;
}

void foliot__life_stop(foliot__app *a)
{
    if (!a->life.timed)
        return;
    a->life.timed = false;
    if (a->life.kind && a->life.kind->ending)
        a->life.kind->ending();
    uv_timer_stop(&a->life.timer);
    uv_close((uv_handle_t *)&a->life.timer, NULL);
}

void foliot__life_close(foliot__app *a)
{
    foliot__recordings_trim_last(a);
    foliot__recordings_end_commands(COMMANDS_MS);
    if (a->life.kind && a->life.kind->close)
        a->life.kind->close();
}
