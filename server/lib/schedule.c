// SPDX-License-Identifier: MIT
// schedule.c: when the ticks of a session are due, how late they are closed, and which of them its
// peers may see. Looks at times alone: sends nothing, steps nothing.
#include "internal.h"

uint32_t foliot__session_ticks(const foliot__session *session, double seconds)
{
    double ticks = session->pace_hz * seconds;
    return ticks < 1 ? 1 : ticks > 1e6 ? 1000000 : (uint32_t)ticks;
}

// Integer multiples of the period, rounded once: no drift however long it runs.
uint64_t foliot__session_due_ns(const foliot__session *session, uint64_t tick)
{
    double ticks = (double)(int64_t)(tick + 1 - session->first_tick);
    return session->base_ns + (uint64_t)(int64_t)(ticks * 1e9 / session->pace_hz);
}

// A pause that is caught up is none of a player's business; a world that is always late is: the
// least of a window counts.
void foliot__session_note_lag(foliot__session *s)
{
    uint64_t now = s->server->now_ns, due = foliot__session_due_ns(s, s->tick),
             lag = now > due ? now - due : 0;
    if (now - s->lag_window_ns > FOLIOT__LAG_WINDOW_NS) {
        s->lag_before_ns = s->lag_ns;
        s->lag_ns = lag;
        s->lag_window_ns = now;
    }
    if (lag < s->lag_ns)
        s->lag_ns = lag;
}

uint64_t foliot__session_closes_ns(const foliot__session *session, uint64_t tick)
{
    uint64_t lag =
        session->lag_ns < session->lag_before_ns ? session->lag_ns : session->lag_before_ns;
    return foliot__session_due_ns(session, tick) + lag;
}

void foliot__session_count_late(foliot__session *s)
{
    uint64_t now = s->server->now_ns, next = foliot__session_due_ns(s, s->tick + 1);
    bool late = now >= next;
    uint64_t bin = (now - foliot__session_due_ns(s, s->tick)) / 1000 / FOLIOT__LATENESS_BIN_US;
    s->server->lateness_sum_us += (double)(now - foliot__session_due_ns(s, s->tick)) * 1e-3;
    s->server->lateness[bin < FOLIOT__LATENESS_BINS ? bin : FOLIOT__LATENESS_BINS - 1]++;
    if (late)
        s->server->counters.ticks_late++;
    if (late && !s->running_late)
        foliot__server_event(
            s->server, FOLIOT_SERVER_LATE, s, FOLIOT__NO_PLAYER,
            (uint64_t)((double)(now - foliot__session_due_ns(s, s->tick)) * 1e-9 * s->pace_hz), "");
    s->running_late = late;
}

uint64_t foliot__lockstep_shown(const foliot__session *s, bool spectates)
{
    uint64_t end = s->lockstep->log.end, delay = spectates ? foliot__stepper_delay(s) : 0;
    return end > s->first_tick + delay ? end - delay : s->first_tick;
}

uint64_t foliot__lockstep_visible(const foliot__session *s, const foliot__peer *peer)
{
    return foliot__lockstep_shown(s, peer->player == FOLIOT__NO_PLAYER);
}
