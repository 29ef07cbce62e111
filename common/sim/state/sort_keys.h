// SPDX-License-Identifier: MIT
// sort_keys.h: sorts keys in ascending order, in place. A heap: no memory, and no order of keys
// that makes it slow.
#ifndef FOLIOT_SIM_STATE_SORT_KEYS_H
#define FOLIOT_SIM_STATE_SORT_KEYS_H

#include <stdint.h>

static inline void foliot__sift_down(uint64_t *keys, uint32_t at, uint32_t count)
{
    uint64_t down = keys[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && keys[child] < keys[child + 1];
        if (keys[child] < down)
            break;
        keys[at] = keys[child];
    }
    keys[at] = down;
}

static inline void foliot__sort_keys(uint64_t *keys, uint32_t count)
{
    for (uint32_t k = count / 2; k-- > 0;)
        foliot__sift_down(keys, k, count);
    for (uint32_t end = count; end-- > 1;) {
        uint64_t last = keys[0];
        keys[0] = keys[end];
        keys[end] = last;
        foliot__sift_down(keys, 0, end);
    }
}

#endif
