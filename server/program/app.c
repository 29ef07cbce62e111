// SPDX-License-Identifier: MIT
// app.c: operations on the running server that all its parts may use. It calls none of those parts:
// the loop does an update or an end that is due (foliot__app_wake, `next` of a session).
#include "app.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit_code.h"
#include "process.h"
#include "program/report/report.h"

// A resumed session keeps its mode unless --mode is given.
bool foliot__app_lockstep(const foliot__app *a, const foliot__hosted *h)
{
    return h->simulation_module    ? true
           : a->choices->play.mode ? strcmp(a->choices->play.mode, "lockstep") == 0
                                   : h->resumed && h->lockstep;
}

foliot__hosted *foliot__app_find_hosted(foliot__app *a, const char *session)
{
    for (uint32_t i = 0; i < a->hosted_count; i++)
        if (*session && strcmp(a->hosted[i].name, session) == 0)
            return &a->hosted[i];
    return NULL;
}

int foliot__app_add_session(foliot__app *a, foliot__hosted *h)
{
    foliot_session_config session = {.name = h->name,
                                     .scene = h->scene,
                                     .world = h->world,
                                     .recording = h->recording,
                                     .pace_hz = h->pace_hz,
                                     .ticks = a->choices->sessions.ticks,
                                     .host = &a->host,
                                     .rules = h->rules,
                                     .strict_rules = a->choices->sessions.strict_rules,
                                     .follows_next = true,
                                     .mode = foliot__app_lockstep(a, h) ? FOLIOT_SESSION_LOCKSTEP
                                                                        : FOLIOT_SESSION_SNAPSHOTS,
                                     .input_delay = (uint32_t)a->choices->play.input_delay,
                                     .spectator_delay_s = a->choices->play.spectator_delay,
                                     .interest = a->choices->play.interest,
                                     .refuses_forced = a->choices->play.no_force};
    if (h->simulation_module) {
        session.simulation = &h->simulation;
        session.player_limit = h->terms.player_limit;
    }
    char what[FOLIOT_NAME_BYTES + 64];
    foliot_status status = foliot_server_add_session(a->server, &session, foliot__clock_now_ns());
    h->served = status == FOLIOT_STATUS_OK;
    if (h->served)
        return 0;
    snprintf(what, sizeof what, "the session '%s' cannot be hosted", h->name);
    return foliot__host_complain(FOLIOT__EXIT_ERROR, what, foliot_status_get_text(status));
}

bool foliot__app_drains(const foliot__app *a)
{
    return a->ending || a->drained || a->life.drains_until_ns;
}

void foliot__app_wake(foliot__app *a)
{
    a->wakes = true;
}

void foliot__app_end(foliot__app *a)
{
    foliot__log_note("stopping", "stopping; a second signal stops at once");
    a->ending = true;
    foliot_server_stop(a->server, "the host has stopped the session", foliot__clock_now_ns());
    foliot__app_wake(a);
}

// Steps run on workers, so that the loop serves the network in the meantime.
void foliot__app_start_step(void *user, void (*run)(void *job), void *job_of_server)
{
    foliot__app *a = user;
    foliot__step_workers_run(a->workers, run, job_of_server);
}
