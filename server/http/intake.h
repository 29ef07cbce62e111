// SPDX-License-Identifier: MIT
// intake.h: splits the bytes of a connection into requests before libwebsockets sees any of them.
// The library gets whole, checked heads, then exactly the body that a head announces, then nothing
// until its answer is out. The bytes of the next request stay in the kernel, so the library never
// holds them: version 4.1 loops for ever over them. Requests that are not HTTP/1 are answered here.
#ifndef FOLIOT_SERVER_HTTP_INTAKE_H
#define FOLIOT_SERVER_HTTP_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bucket.h"

// -- checks the heads of frames on a WebSocket before libwebsockets sees them: frames of a client
// must be masked (RFC 6455, section 5.1), which version 4.1 does not check, and control frames are
// limited, since it answers them without reporting them. It also lets several frames for a browser
// go in one packet, which libwebsockets sends one by one.

#define FOLIOT__FRAMES_CONTROL_EVERY_NS 1e8 // pings and the like, of one socket
#define FOLIOT__FRAMES_CONTROL_BURST 100
#define FOLIOT__FRAMES_UNMASKED 1002 // close codes
#define FOLIOT__FRAMES_FLOOD 1008

typedef struct foliot__frames {
    uint8_t head[14];
    uint32_t head_bytes;    // that have come
    uint64_t left;          // of a frame's payload
    foliot__bucket control; // frames that may still come
    uint16_t refused;       // a close code; 0: nothing was wrong so far
} foliot__frames;

// Checks the next bytes. Returns 0, or the close code that refuses them.
uint16_t foliot__frames_read(foliot__frames *frames, const uint8_t *bytes, size_t length,
                             uint64_t now_ns);
// Frames come from now on.
void foliot__frames_begin(foliot__frames *frames);

// Bytes that this thread sends stay in the kernel until the next call with false.
void foliot__frames_follow(bool follows);

// -- heads of requests

#define FOLIOT__INTAKE_HEAD_BYTES 8192       // of a request line and all headers
#define FOLIOT__INTAKE_HEADERS 100           // of one request
#define FOLIOT__INTAKE_BODY_BYTES 262144     // of a request that says Expect: 100-continue
#define FOLIOT__INTAKE_DROPPED_BYTES 1048576 // read after an answer that ends the connection

typedef enum foliot__intake_state {
    FOLIOT__INTAKE_HEAD,   // a head is collected
    FOLIOT__INTAKE_GIVE,   // it is given to the library
    FOLIOT__INTAKE_BODY,   // `left` bytes follow
    FOLIOT__INTAKE_ANSWER, // nothing is read
    FOLIOT__INTAKE_FRAMES, // of a WebSocket
    FOLIOT__INTAKE_DROP    // everything: the connection ends
} foliot__intake_state;

typedef struct foliot__intake {
    foliot__intake_state state;
    uint8_t *head; // FOLIOT__INTAKE_HEAD_BYTES
    uint32_t head_bytes, given;
    uint64_t left;  // of the body; of the bytes that may still be dropped
    bool continues; // the client waits for "100 Continue" before it sends the body
    // The status to answer if the library may not see the head, or 0; and the reason.
    int status;
    const char *why;
    foliot__frames frames;
} foliot__intake;

// False: no memory.
bool foliot__intake_open(foliot__intake *intake);
void foliot__intake_close(foliot__intake *intake);

// The next bytes of a head. Returns how many of them belong to it. The last one sets `state` to
// GIVE, unless `status` is set.
size_t foliot__intake_read_head(foliot__intake *intake, const uint8_t *bytes, size_t length);
// Copies part of the head; 0: all of it was given.
size_t foliot__intake_give(foliot__intake *intake, uint8_t *bytes, size_t length);
// `length` bytes of the body were read.
void foliot__intake_read_body(foliot__intake *intake, size_t length);
// The answer is out: the next head may come.
void foliot__intake_next(foliot__intake *intake);
// The answer turned the connection into a WebSocket.
void foliot__intake_upgrade(foliot__intake *intake);
// The rest of the connection is not needed.
void foliot__intake_drop(foliot__intake *intake);
// Answers the head that was read last with a status, and drops the rest. The answer goes straight
// to the socket: the library has sent no part of one. `why` is a constant without quotation marks.
void foliot__intake_refuse(foliot__intake *intake, int descriptor, int status, const char *why);
// The answer alone.
void foliot__intake_send_refusal(int descriptor, int status, const char *why);

// From now on recv and poll on this descriptor go through `intake`, which the caller owns. False:
// the number is too high to be watched.
bool foliot__intake_watch(int descriptor, foliot__intake *intake);
// Stops that, unless the number belongs to another connection by now.
void foliot__intake_unwatch(int descriptor, foliot__intake *intake);

#endif
