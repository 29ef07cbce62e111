// SPDX-License-Identifier: MIT
// log.c: one table of events, each a sentence; base/log.h writes them and keeps floods away.
#include "log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

static foliot__log log_;

static const struct {
    foliot__log_level level;
    const char *name, *text; // what is said around the event's own text
} events[] = {
    [FOLIOT_SERVER_JOINED] = {FOLIOT__LOG_INFO, "joined", "%s joined as %s"},
    [FOLIOT_SERVER_RESUMED] = {FOLIOT__LOG_INFO, "resumed", "%s came back as %s"},
    [FOLIOT_SERVER_LOST] = {FOLIOT__LOG_INFO, "lost", "%s (%s) was lost; its place is kept for a while"},
    [FOLIOT_SERVER_LEFT] = {FOLIOT__LOG_INFO, "left", "%s (%s) left"},
    [FOLIOT_SERVER_REFUSED] = {FOLIOT__LOG_INFO, "refused", "refused: %s"},
    [FOLIOT_SERVER_DROPPED] = {FOLIOT__LOG_WARNING, "dropped", "%s"},
    [FOLIOT_SERVER_LATE] = {FOLIOT__LOG_WARNING, "late", "ticks are late%s; catching up"},
    [FOLIOT_SERVER_FROZEN] = {FOLIOT__LOG_WARNING, "frozen", "a body left the range of numbers (2^40) and was frozen%s"},
    [FOLIOT_SERVER_RECORDING_STOPPED] = {FOLIOT__LOG_ERROR, "recording-stopped", "the recording stopped: %s"},
    [FOLIOT_SERVER_ENDED] = {FOLIOT__LOG_INFO, "ended", "the session reached its last tick%s"},
    [FOLIOT_SERVER_LIED] = {FOLIOT__LOG_WARNING, "lied", "%s (%s)"},
    [FOLIOT_SERVER_DIVERGED] = {FOLIOT__LOG_WARNING, "diverged", "%s (%s) has diverged"},
    [FOLIOT_SERVER_FOUND] = {FOLIOT__LOG_WARNING, "found", "where %s (%s) diverged was found"},
    [FOLIOT_SERVER_SPENT] = {FOLIOT__LOG_WARNING, "token-spent",
                             "somebody came with a token of %s (%s) that has been replaced: the player lost the new one, or a token was stolen"},
    [FOLIOT_SERVER_REFUSALS] = {FOLIOT__LOG_WARNING, "refusals", "the network sends what is refused: %s"},
    [FOLIOT_SERVER_BEHIND] = {FOLIOT__LOG_WARNING, "behind", "%s (%s) fell behind, and is given the state anew"},
};

static void now(uint64_t *monotonic_ns, int64_t *unix_ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    *monotonic_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    clock_gettime(CLOCK_REALTIME, &t);
    *unix_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool foliot__log_start(const char *format)
{
    bool json = strcmp(format, "json") == 0;
    uint64_t monotonic_ns;
    int64_t unix_ns;
    now(&monotonic_ns, &unix_ns);
    return (json || strcmp(format, "text") == 0) &&
           foliot__log_open(&log_, stderr, json, FOLIOT__LOG_INFO, monotonic_ns);
}

void foliot__log_stop(void)
{
    foliot__log_close(&log_);
}

static bool begin(foliot__log_level level, const char *event, const char *sentence)
{
    uint64_t monotonic_ns;
    int64_t unix_ns;
    now(&monotonic_ns, &unix_ns);
    foliot__log_at(&log_, monotonic_ns, unix_ns);
    return foliot__log_begin(&log_, level, event, sentence);
}

void foliot__log_note(const char *sentence)
{
    if (begin(FOLIOT__LOG_INFO, "note", sentence))
        foliot__log_end(&log_);
}

void foliot__log_event(const foliot_server_event *event)
{
    char sentence[FOLIOT__LOG_TEXT_BYTES];
    char who[24] = "a spectator";
    if (event->player != UINT32_MAX)
        snprintf(who, sizeof who, "player %u", event->player);
    int used = snprintf(sentence, sizeof sentence, "%s%s", event->session,
                        *event->session ? ": " : "");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(sentence + used, sizeof sentence - (size_t)used, events[event->kind].text, event->text, who);
#pragma GCC diagnostic pop
    if (!begin(events[event->kind].level, events[event->kind].name, sentence))
        return;
    foliot__log_text(&log_, "session", event->session);
    foliot__log_count(&log_, "tick", event->tick);
    if (event->player != UINT32_MAX)
        foliot__log_count(&log_, "player", event->player);
    foliot__log_count(&log_, "value", event->value);
    foliot__log_end(&log_);
}
