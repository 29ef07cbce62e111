// SPDX-License-Identifier: MIT
// log.h: what happens, a line each on stderr, as text for people or JSON for programs. Never waits
// for whoever reads it.
#ifndef FOLIOT_SERVER_LOG_H
#define FOLIOT_SERVER_LOG_H

#include "foliot/server.h"

bool foliot__log_start(const char *format); // "text" or "json"; false: neither
void foliot__log_stop(void);                // tells what a flood left out
void foliot__log_note(const char *sentence);
void foliot__log_lines(const char *text); // as they are, behind what was logged so far
void foliot__log_flush(void);             // waits a second at most until stderr has all
void foliot__log_event(const foliot_server_event *event);

#endif
