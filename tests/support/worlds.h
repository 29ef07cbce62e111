// SPDX-License-Identifier: MIT
// worlds.h: snapshots of ready scenes as a server takes them, each with the one that was taken some
// ticks before. Two players move about where there is room for them.
#ifndef FOLIOT_TESTS_WORLDS_H
#define FOLIOT_TESTS_WORLDS_H

#include "foliot/snapshot.h"

typedef struct worlds_pair {
    const foliot_snapshot_format *format;
    const foliot_snapshot *base, *now;
} worlds_pair;

// Calls `seen` for each of `ticks` ticks, the first ones of which are left out. False: no such
// scene.
bool worlds_run(const char *scene_file, uint32_t ticks, uint32_t baseline,
                void (*seen)(void *user, const worlds_pair *pair), void *user);

#endif
