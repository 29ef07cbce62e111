// SPDX-License-Identifier: MIT
// log.c: one table of events, two forms of a line.
#include "log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"

static bool as_json;

bool foliot__log_format(const char *name)
{
    as_json = strcmp(name, "json") == 0;
    return as_json || strcmp(name, "text") == 0;
}

static void time_text(char text[32])
{
    time_t now = time(NULL);
    struct tm tm;
    localtime_r(&now, &tm);
    strftime(text, 32, as_json ? "%Y-%m-%dT%H:%M:%S%z" : "%H:%M:%S", &tm);
}

static const struct {
    const char *name, *text; // what is said around the event's own text
} events[] = {
    [FOLIOT_SERVER_JOINED] = {"joined", "%s joined as player %u"},
    [FOLIOT_SERVER_RESUMED] = {"resumed", "%s came back as player %u"},
    [FOLIOT_SERVER_LOST] = {"lost", "%s (player %u) was lost; its place is kept for a while"},
    [FOLIOT_SERVER_LEFT] = {"left", "%s (player %u) left"},
    [FOLIOT_SERVER_REFUSED] = {"refused", "refused: %s"},
    [FOLIOT_SERVER_DROPPED] = {"dropped", "%s was dropped: it went on sending what is no message"},
    [FOLIOT_SERVER_LATE] = {"late", "ticks are late%s; catching up"},
    [FOLIOT_SERVER_FROZEN] = {"frozen", "a body left the finite numbers and was frozen%s"},
    [FOLIOT_SERVER_RECORDING_STOPPED] = {"recording-stopped", "the recording stopped: %s"},
    [FOLIOT_SERVER_ENDED] = {"ended", "the session reached its last tick%s"},
};

static void write_json(const char *time, const char *name, const foliot_server_event *event, const char *sentence)
{
    foliot__json json = foliot__json_to(stderr);
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "time", time);
    foliot__json_text(&json, "event", name);
    if (event) {
        foliot__json_text(&json, "session", event->session);
        foliot__json_count(&json, "tick", event->tick);
        foliot__json_count(&json, "player", event->player);
        foliot__json_count(&json, "value", event->value);
    }
    foliot__json_text(&json, "text", sentence);
    foliot__json_close(&json);
    foliot__json_line(&json);
}

void foliot__log(const char *sentence)
{
    char time[32];
    time_text(time);
    if (as_json)
        write_json(time, "note", NULL, sentence);
    else
        fprintf(stderr, "%s %s\n", time, sentence);
}

void foliot__log_event(const foliot_server_event *event)
{
    char time[32];
    time_text(time);
    if (as_json) {
        write_json(time, events[event->kind].name, event, event->text);
        return;
    }
    fprintf(stderr, "%s %s%s", time, event->session, *event->session ? ": " : "");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    fprintf(stderr, events[event->kind].text, event->text, event->player);
#pragma GCC diagnostic pop
    fputc('\n', stderr);
}
