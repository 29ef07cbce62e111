// SPDX-License-Identifier: MIT
// log.h: logs events to stderr, one line each, as text or JSON. Never waits for the reader.
#ifndef FOLIOT_SERVER_LOG_H
#define FOLIOT_SERVER_LOG_H

#include "foliot/server.h"

bool foliot__log_start(const char *format); // "text" or "json"; false: neither
void foliot__log_stop(void);                // reports how many lines were left out
// `event` is a string constant with a separate rate limit: a flood suppresses no other event.
void foliot__log_note(const char *event, const char *sentence);
// The same as a warning. The line begins with the session's name.
void foliot__log_warning(const char *event, const char *session, const char *sentence,
                         foliot_status status);
// An action of an administrator, who proved the bearer token. These lines have no rate limit.
void foliot__log_admin(const char *action);
void foliot__log_lines(const char *text); // as they are, after the lines logged before
void foliot__log_flush(void);             // waits a second at most until stderr has all
void foliot__log_event(const foliot_server_event *event);

#endif
