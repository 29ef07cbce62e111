// SPDX-License-Identifier: MIT
// log.h: logs events to stderr, one line each, as text or JSON. Never waits for the reader.
#ifndef FOLIOT_SERVER_LOG_H
#define FOLIOT_SERVER_LOG_H

#include "foliot/server.h"

bool foliot__log_start(const char *format); // "text" or "json"; false: neither
void foliot__log_stop(void);                // reports how many lines were left out
// `event` is a string constant, which has a separate rate: a flood of one leaves others alone.
void foliot__log_note(const char *event, const char *sentence);
// The same as a warning. The line begins with the session's name.
void foliot__log_warning(const char *event, const char *session, const char *sentence,
                         foliot_status status);
// An action of an administrator, who has shown the bearer token. No rate limits these lines.
void foliot__log_admin(const char *action);
void foliot__log_lines(const char *text); // as they are, behind what was logged so far
void foliot__log_flush(void);             // waits a second at most until stderr has all
void foliot__log_event(const foliot_server_event *event);

#endif
