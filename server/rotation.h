// SPDX-License-Identifier: MIT
// rotation.h: --recordings-minutes: a recording that has become long ends, and the next one begins
// with the same tick. Each verifies by itself.
#ifndef FOLIOT_SERVER_ROTATION_H
#define FOLIOT_SERVER_ROTATION_H

struct foliot__app;

// After each update of the server.
void foliot__rotation_update(struct foliot__app *a);

#endif
