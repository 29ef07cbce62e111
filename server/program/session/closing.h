// SPDX-License-Identifier: MIT
// closing.h: closes items in two parts on libuv's pool while others continue: a short part that
// must not be lost (the end of a recording), and a long part that may be (its compaction).
#ifndef FOLIOT_SERVER_CLOSING_H
#define FOLIOT_SERVER_CLOSING_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

typedef struct foliot__closing foliot__closing;

// Only the loop's thread uses it. The owner sets the first four fields; the rest starts as zero.
typedef struct foliot__closings {
    uv_loop_t *loop;
    void (*end)(void *item);     // on a worker; several at a time
    void (*compact)(void *item); // on a worker, one at a time, and only while no end is pending
    void (*closed)(void *item);  // on the loop's thread: the last that happens
    uint32_t ends;               // that are pending
    bool compacts;
    foliot__closing *first, *last; // that have ended
} foliot__closings;

// False: no memory, and nothing happens.
bool foliot__closings_add(foliot__closings *closings, void *item);

#endif
