// SPDX-License-Identifier: MIT
// frames.c: see frames.h. libwebsockets gives nobody a frame's head, but it reads its sockets by
// recv, which a program may define: then this one is found before the C library's. It reads as that
// one does, and looks at what came where a descriptor is watched. All others pass. It is the same
// with send.
#include "frames.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define DESCRIPTORS 65536

static _Atomic(foliot__frames *) watched[DESCRIPTORS];

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

static uint16_t take_frames(foliot__frames *f, const uint8_t *bytes, size_t length, uint64_t now_ns)
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

uint16_t foliot__frames_take(foliot__frames *f, const uint8_t *bytes, size_t length,
                             uint64_t now_ns)
{
    if (f->upgraded)
        return f->refused ? f->refused : (f->refused = take_frames(f, bytes, length, now_ns));
    for (size_t i = length > 4 ? length - 4 : 0; i < length; i++) {
        memmove(f->tail, f->tail + 1, sizeof f->tail - 1);
        f->tail[3] = bytes[i];
    }
    return 0;
}

bool foliot__frames_begin(foliot__frames *f)
{
    bool waited = memcmp(f->tail, "\r\n\r\n", sizeof f->tail) == 0;
    *f = (foliot__frames){.upgraded = true, .allowance = FOLIOT__FRAMES_CONTROL_BURST};
    return waited;
}

bool foliot__frames_watch(int descriptor, foliot__frames *frames)
{
    if (descriptor < 0 || descriptor >= DESCRIPTORS)
        return false;
    atomic_store(&watched[descriptor], frames);
    return true;
}

void foliot__frames_unwatch(int descriptor, foliot__frames *frames)
{
    if (descriptor >= 0 && descriptor < DESCRIPTORS)
        (void)atomic_compare_exchange_strong(&watched[descriptor], &frames, NULL);
}

// A close frame of the server's, straight to the socket: nothing more is read from it.
static void say_goodbye(int descriptor, uint16_t code)
{
    const uint8_t frame[4] = {0x88, 2, (uint8_t)(code >> 8), (uint8_t)code};
    (void)!send(descriptor, frame, sizeof frame, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t recv(int descriptor, void *bytes, size_t length, int flags)
{
    ssize_t got = recvfrom(descriptor, bytes, length, flags, NULL, NULL);
    foliot__frames *frames =
        descriptor >= 0 && descriptor < DESCRIPTORS ? atomic_load(&watched[descriptor]) : NULL;
    if (!frames || got <= 0 || (flags & MSG_PEEK))
        return got;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    bool refused = frames->refused;
    uint16_t code = foliot__frames_take(frames, bytes, (size_t)got, now_ns);
    if (!code)
        return got;
    if (!refused)
        say_goodbye(descriptor, code);
    errno = ECONNRESET;
    return -1;
}

static _Thread_local bool more_follows;

void foliot__frames_follow(bool follows)
{
    more_follows = follows;
}

ssize_t send(int descriptor, const void *bytes, size_t length, int flags)
{
    return sendto(descriptor, bytes, length, more_follows ? flags | MSG_MORE : flags, NULL, 0);
}
