// SPDX-License-Identifier: MIT
// frames.c: the heads of a WebSocket's frames (intake.h). libwebsockets does not expose them, so
// they are parsed where it reads its sockets (intake.c). Separate from intake.c, which replaces
// functions of the C library, so that a fuzzer can link it.
#include "intake.h"

uint16_t foliot__frames_read(foliot__frames *f, const uint8_t *bytes, size_t length,
                             uint64_t now_ns)
{
    for (size_t at = 0; at < length && !f->refused;) {
        if (f->left > 0) {
            size_t skipped = f->left < length - at ? (size_t)f->left : length - at;
            f->left -= skipped;
            at += skipped;
            continue;
        }
        f->head[f->head_bytes++] = bytes[at++];
        if (f->head_bytes < 2)
            continue;
        bool control = f->head[0] & 0x08, masked = f->head[1] & 0x80;
        if (f->head_bytes == 2 && !masked)
            f->refused = FOLIOT__FRAMES_UNMASKED;
        else if (f->head_bytes == 2 && control &&
                 !foliot__bucket_spend(&f->control, FOLIOT__FRAMES_CONTROL_BURST,
                                       FOLIOT__FRAMES_CONTROL_EVERY_NS, now_ns))
            f->refused = FOLIOT__FRAMES_FLOOD;
        // Two bytes, none, two or eight of an extended length, and the mask.
        uint8_t short_length = f->head[1] & 0x7f;
        uint32_t extended = short_length == 126 ? 2 : short_length == 127 ? 8 : 0;
        if (f->head_bytes < 2 + extended + 4)
            continue;
        f->left = extended ? 0 : short_length;
        for (uint32_t i = 0; i < extended; i++)
            f->left = f->left << 8 | f->head[2 + i];
        f->head_bytes = 0;
    }
    return f->refused;
}

void foliot__frames_begin(foliot__frames *f)
{
    *f = (foliot__frames){0};
}
