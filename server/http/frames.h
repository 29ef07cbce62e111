// SPDX-License-Identifier: MIT
// frames.h: looks at the heads of the frames that come by a WebSocket, before libwebsockets does:
// that one of a client is masked (RFC 6455, section 5.1), which version 4.1 does not ask for, and
// that there are not too many control frames, which it answers without telling. And it lets several
// frames for a browser go in one packet, which libwebsockets sends one by one.
#ifndef FOLIOT_SERVER_HTTP_FRAMES_H
#define FOLIOT_SERVER_HTTP_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLIOT__FRAMES_CONTROL_SECOND 10 // pings and the like, of one socket
#define FOLIOT__FRAMES_CONTROL_BURST 100
#define FOLIOT__FRAMES_UNMASKED 1002 // close codes
#define FOLIOT__FRAMES_FLOOD 1008

typedef struct foliot__frames {
    uint8_t head[14];
    uint32_t head_bytes; // that have come
    uint64_t left;       // of a frame's payload
    double allowance;    // of control frames
    uint64_t allowed_ns;
    uint16_t refused; // a close code; 0: nothing was wrong so far
} foliot__frames;

// What came next. Returns 0, or the close code to refuse it with.
uint16_t foliot__frames_take(foliot__frames *frames, const uint8_t *bytes, size_t length,
                             uint64_t now_ns);
// Frames come from now on.
void foliot__frames_begin(foliot__frames *frames);

// What this thread gives to send waits in the kernel for what follows, until it is told false.
void foliot__frames_follow(bool follows);

#endif
