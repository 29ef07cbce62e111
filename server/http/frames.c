// SPDX-License-Identifier: MIT
// frames.c: see frames.h. libwebsockets gives nobody a frame's head, so they are looked at where it
// reads (intake.c).
#include "intake.h"

static bool too_many(foliot__frames *f, uint64_t now_ns)
{
    f->allowance += (double)(now_ns - f->allowed_ns) * 1e-9 * FOLIOT__FRAMES_CONTROL_SECOND;
    if (f->allowance > FOLIOT__FRAMES_CONTROL_BURST)
        f->allowance = FOLIOT__FRAMES_CONTROL_BURST;
    f->allowed_ns = now_ns;
    f->allowance -= 1;
    return f->allowance < 0;
}

static uint32_t head_length(const foliot__frames *f)
{
    uint8_t length = f->head_bytes < 2 ? 0 : f->head[1] & 0x7f;
    return f->head_bytes < 2 ? 2 : 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + 4;
}

static uint64_t payload_length(const foliot__frames *f)
{
    uint8_t length = f->head[1] & 0x7f;
    uint32_t bytes = length == 126 ? 2 : length == 127 ? 8 : 0;
    uint64_t value = bytes ? 0 : length;
    for (uint32_t i = 0; i < bytes; i++)
        value = value << 8 | f->head[2 + i];
    return value;
}

static uint16_t read_frames(foliot__frames *f, const uint8_t *bytes, size_t length, uint64_t now_ns)
{
    for (size_t at = 0; at < length;) {
        if (f->left > 0) {
            size_t skipped = f->left < length - at ? (size_t)f->left : length - at;
            f->left -= skipped;
            at += skipped;
            continue;
        }
        f->head[f->head_bytes++] = bytes[at++];
        if (f->head_bytes == 2) {
            if (!(f->head[1] & 0x80))
                return FOLIOT__FRAMES_UNMASKED;
            if ((f->head[0] & 0x08) && too_many(f, now_ns))
                return FOLIOT__FRAMES_FLOOD;
        }
        if (f->head_bytes == head_length(f)) {
            f->left = payload_length(f);
            f->head_bytes = 0;
        }
    }
    return 0;
}

uint16_t foliot__frames_read(foliot__frames *f, const uint8_t *bytes, size_t length,
                             uint64_t now_ns)
{
    return f->refused ? f->refused : (f->refused = read_frames(f, bytes, length, now_ns));
}

void foliot__frames_begin(foliot__frames *f)
{
    *f = (foliot__frames){.allowance = FOLIOT__FRAMES_CONTROL_BURST};
}
