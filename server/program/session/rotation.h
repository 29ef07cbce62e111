// SPDX-License-Identifier: MIT
// rotation.h: --recordings-minutes: ends a long recording, and begins the next one with the same
// tick. Each one verifies by itself.
#ifndef FOLIOT_SERVER_ROTATION_H
#define FOLIOT_SERVER_ROTATION_H

struct foliot__app;
struct foliot__hosted;

// After each update of the server.
void foliot__rotation_update(struct foliot__app *a);
// The session ends or is suspended: a part that was due to end with the next ticks ends now.
void foliot__rotation_finish(struct foliot__app *a, struct foliot__hosted *hosted);

#endif
