// SPDX-License-Identifier: MIT
// names.h: what names of players are let in. Two that look the same must be the same bytes, or bans
// and moderators are misled.
#ifndef FOLIOT_SERVER_NAMES_H
#define FOLIOT_SERVER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

// Whether the name is UTF-8 in Unicode's normal form C, where this build can tell, without
// characters that are not drawn, and can be taken neither for a player's number nor for the
// server. False with a sentence.
bool foliot__name_fits(const char *name, char *why, size_t why_bytes);

#endif
