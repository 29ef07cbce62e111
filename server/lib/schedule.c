// SPDX-License-Identifier: MIT
// schedule.c: the sessions of a server by name; when their ticks are due, how late they are closed,
// and which of them peers may see. Reads only times: sends nothing, steps nothing.
#include <stdio.h>
#include <string.h>

#include "peer.h"
#include "session.h"

#define LATE_EVERY_NS 1000000000u // between two events

foliot__session *foliot__session_find(const foliot_server *server, const char *name)
{
    for (uint32_t i = 0; i < server->session_count; i++)
        if (server->sessions[i]->life.phase != FOLIOT__SESSION_RETIRED &&
            (!*name || strcmp(server->sessions[i]->name, name) == 0))
            return server->sessions[i];
    return NULL;
}

uint32_t foliot__session_ticks(const foliot__session *session, double seconds)
{
    double ticks = session->clock.pace_hz * seconds;
    return ticks < 1 ? 1 : ticks > 1e6 ? 1000000 : (uint32_t)ticks;
}

// Integer multiples of the period, rounded once: no drift however long it runs.
uint64_t foliot__session_due_ns(const foliot__session *session, uint64_t tick)
{
    double ticks = (double)(int64_t)(tick + 1 - session->clock.first_tick);
    return session->clock.base_ns + (uint64_t)(int64_t)(ticks * 1e9 / session->clock.pace_hz);
}

// The number of time slots in a period, and in a sixtieth of a second where that is longer.
#define MOMENTS 16
#define SPREAD_NS 16666667.0

uint64_t foliot__session_base_ns(foliot_server *server, uint32_t index, double pace_hz)
{
    // Neighbours are far apart, and a few sessions as well as many.
    static const uint8_t moments[MOMENTS] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
    double period_ns = 1e9 / pace_hz;
    uint64_t apart_ns = (uint64_t)((period_ns < SPREAD_NS ? period_ns : SPREAD_NS) / MOMENTS);
    if (!server->config.spreads_ticks || apart_ns == 0)
        return server->now_ns;
    if (server->schedule.epoch_ns == 0)
        server->schedule.epoch_ns = server->now_ns;
    uint64_t since = (server->now_ns - server->schedule.epoch_ns + apart_ns - 1) / apart_ns;
    return server->schedule.epoch_ns + (since + moments[index % MOMENTS]) * apart_ns;
}

void foliot__schedule_begin(foliot_server *server)
{
    if (server->schedule.begun)
        return;
    server->schedule.begun = true;
    server->schedule.epoch_ns = server->now_ns;
    for (uint32_t i = 0; i < server->session_count && server->config.spreads_ticks; i++) {
        foliot__session *s = server->sessions[i];
        s->clock.base_ns = foliot__session_base_ns(server, i, s->clock.pace_hz);
        foliot__session_schedule(s);
    }
}

void foliot__session_schedule(const foliot__session *s)
{
    s->server->schedule.due_ns[s->index] = foliot__session_has_ended(s) || s->step.running
                                               ? UINT64_MAX
                                           : s->life.paused ? s->life.notice_ns
                                                            : foliot__session_due_ns(s, s->tick);
}

// Linear scans on purpose: 8 KB in a row, a microsecond.
uint64_t foliot__schedule_wake_ns(const foliot_server *server)
{
    uint64_t wake = UINT64_MAX;
    for (uint32_t i = 0; i < server->session_count && !server->stop.stopping; i++)
        wake = server->schedule.due_ns[i] < wake ? server->schedule.due_ns[i] : wake;
    return wake;
}

void foliot__schedule_due(const foliot_server *server, uint64_t set[FOLIOT__SET_WORDS])
{
    for (uint32_t i = 0; i < server->session_count && !server->stop.stopping; i++)
        if (server->schedule.due_ns[i] <= server->now_ns)
            foliot__set_add(set, i);
}

// A player is not affected by a pause that is caught up, but by a world that is always late: the
// least lateness of a window counts.
void foliot__session_note_lag(foliot__session *s)
{
    uint64_t now = s->server->now_ns, due = foliot__session_due_ns(s, s->tick),
             lag = now > due ? now - due : 0;
    if (now - s->clock.lag_window_ns > FOLIOT__LAG_WINDOW_NS) {
        s->clock.lag_before_ns = s->clock.lag_ns;
        s->clock.lag_ns = lag;
        s->clock.lag_window_ns = now;
    }
    if (lag < s->clock.lag_ns)
        s->clock.lag_ns = lag;
}

uint64_t foliot__session_closes_ns(const foliot__session *session, uint64_t tick)
{
    uint64_t lag = session->clock.lag_ns < session->clock.lag_before_ns
                       ? session->clock.lag_ns
                       : session->clock.lag_before_ns;
    return foliot__session_due_ns(session, tick) + lag;
}

void foliot__session_count_late(foliot__session *s)
{
    uint64_t now = s->server->now_ns, next = foliot__session_due_ns(s, s->tick + 1);
    bool late = now >= next;
    uint64_t bin = (now - foliot__session_due_ns(s, s->tick)) / 1000 / FOLIOT__LATENESS_BIN_US;
    s->server->schedule.lateness_sum_us +=
        (double)(now - foliot__session_due_ns(s, s->tick)) * 1e-3;
    s->server->schedule.lateness[bin < FOLIOT__LATENESS_BINS ? bin : FOLIOT__LATENESS_BINS - 1]++;
    if (late)
        s->server->counters.ticks_late++;
    uint64_t late_ns = now - foliot__session_due_ns(s, s->tick);
    if (late && late_ns > s->clock.worst_late_ns)
        s->clock.worst_late_ns = late_ns;
    if (late && now >= s->clock.late_again_ns) {
        char text[32];
        snprintf(text, sizeof text, "%.0f ms", (double)s->clock.worst_late_ns * 1e-6);
        foliot__server_event(s->server, FOLIOT_SERVER_LATE, s, FOLIOT_NO_PLAYER,
                             (uint64_t)((double)s->clock.worst_late_ns * 1e-9 * s->clock.pace_hz),
                             text);
        s->clock.worst_late_ns = 0;
        s->clock.late_again_ns = now + LATE_EVERY_NS;
    }
    s->clock.running_late = late;
    if (late)
        s->clock.newest_late = s->tick + 1;
}

uint64_t foliot__lockstep_shown(const foliot__session *s, bool spectates)
{
    uint64_t end = s->lockstep->log.end, delay = spectates ? foliot__stepper_delay(s) : 0;
    return end > s->clock.first_tick + delay ? end - delay : s->clock.first_tick;
}

uint64_t foliot__lockstep_visible(const foliot__session *s, const foliot__peer *peer)
{
    return foliot__lockstep_shown(s, peer->player == FOLIOT_NO_PLAYER);
}
