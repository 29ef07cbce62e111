// SPDX-License-Identifier: MIT
// agones.h: the SDK server of Agones over REST: HTTP/1.1 and JSON on the loopback. It blocks, for
// two seconds at most, so the loop's thread must not call it. The watch does not block.
#ifndef FOLIOT_SERVER_AGONES_H
#define FOLIOT_SERVER_AGONES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLIOT__AGONES_PORT 9358
#define FOLIOT__AGONES_TEXT_BYTES 128
#define FOLIOT__AGONES_ANSWER_BYTES 65536

typedef struct foliot__agones_server {
    char name[FOLIOT__AGONES_TEXT_BYTES], state[FOLIOT__AGONES_TEXT_BYTES];
    char address[FOLIOT__AGONES_TEXT_BYTES]; // where players find it; "": not known yet
    uint16_t port;                           // of status.ports[0]; 0: none
    uint64_t health_period_s;
    bool health_disabled;
    bool counted; // it has a counter "sessions": several in one process
    // The request of an allocation, in annotations or labels foliot/scene and foliot/session, and
    // Agones's own mark of it; "": nothing.
    char scene[FOLIOT__AGONES_TEXT_BYTES], session[FOLIOT__AGONES_TEXT_BYTES],
        allocated[FOLIOT__AGONES_TEXT_BYTES];
} foliot__agones_server;

// Forks a process that connects to that port of the loopback for this one, whose sandbox forbids
// connections. It changes its user by `drop`. Call it before any thread. False: errno.
bool foliot__agones_start_connector(uint16_t port, int (*drop)(void));
// One request on a separate connection. `answer` may be NULL; it is terminated. True for 2xx.
bool foliot__agones_request(uint16_t port, const char *method, const char *path, const char *body,
                            char *answer, size_t capacity);
// False, with a sentence, without an answer that can be parsed.
bool foliot__agones_get_server(uint16_t port, foliot__agones_server *out, char *problem,
                               size_t problem_bytes);

// GET /watch/gameserver: chunks of lines, each a GameServer. A line may be in several chunks, and a
// chunk may have several lines.
typedef struct foliot__agones_watch {
    int socket; // -1: it waits for the next attempt
    bool head;  // the answer's head is over
    uint64_t again_ns, wait_ns;
    // Bytes left of the current chunk; 0: its size comes next.
    uint64_t chunk_left;
    bool in_chunk, ends_chunk;
    char size[20];
    uint32_t size_count;
    size_t length; // of the line so far
    bool too_long; // it is left out
    char line[FOLIOT__AGONES_ANSWER_BYTES];
    size_t got, taken; // bytes that were received, and those of them that are read
    char bytes[4096];
} foliot__agones_watch;
void foliot__agones_watch_start(foliot__agones_watch *watch);
void foliot__agones_watch_stop(foliot__agones_watch *watch);
// The next line that arrived. False: none. Connects again, with growing pauses of up to 10 s.
bool foliot__agones_watch_poll(foliot__agones_watch *watch, uint16_t port, uint64_t now_ns,
                               foliot__agones_server *out);

#endif
