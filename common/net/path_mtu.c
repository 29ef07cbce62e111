// SPDX-License-Identifier: MIT
// path_mtu.c: the search of RFC 8899, section 5.2. It begins with 1,200 bytes. A size that is lost
// four times is too large, and the next smaller size is tried, until one arrives; a larger one is
// tried once a minute. A late answer counts too: the round-trip time may not be known yet when the
// first probes are sent. While large datagrams are sent, the size is confirmed every two seconds,
// to detect a path whose MTU has shrunk. The rate of probes is bounded.
#include "net/path_mtu.h"

#define TRIES 4
#define WAIT_NS 100000000u // for an answer, and two round trips
#define CONFIRM_NS 2000000000u
#define RAISE_NS 60000000000u

static const uint16_t sizes[] = {
    FOLIOT__PATH_BYTES_MIN, 640, 768, 896, 1000, 1100, FOLIOT__PATH_BYTES_START,
    FOLIOT__PATH_BYTES_MAX};
#define SIZES (sizeof sizes / sizeof sizes[0])

static uint16_t next_above(const foliot__path_mtu *path, uint32_t bytes)
{
    for (uint32_t i = 0; i < SIZES; i++)
        if (sizes[i] > bytes)
            return sizes[i] < path->most ? sizes[i] : path->most;
    return path->most;
}

static uint16_t next_below(uint32_t bytes)
{
    for (uint32_t i = SIZES; i-- > 0;)
        if (sizes[i] < bytes)
            return sizes[i];
    return FOLIOT__PATH_BYTES_MIN;
}

static void look_for(foliot__path_mtu *path, uint32_t target)
{
    path->target = (uint16_t)(target > path->proven ? target : 0);
    path->tries = 0;
}

static void rest(foliot__path_mtu *path, uint64_t now_ns)
{
    path->target = 0;
    path->descends = false;
    path->raise_ns = now_ns + RAISE_NS;
}

static void descend_from(foliot__path_mtu *path, uint32_t target)
{
    path->descends = true;
    look_for(path, target);
}

void foliot__path_begin(foliot__path_mtu *path, uint32_t most, uint64_t now_ns)
{
    uint16_t number = path->number, start = FOLIOT__PATH_BYTES_START;
    *path = (foliot__path_mtu){.most = (uint16_t)most,
                               .bytes = most < start ? (uint16_t)most : start,
                               .proven = FOLIOT__PATH_BYTES_MIN,
                               .number = number, // what was on its way before answers nothing now
                               .proven_ns = now_ns,
                               .raise_ns = now_ns};
    path->number += TRIES;
    look_for(path, path->bytes);
}

uint32_t foliot__path_probe(foliot__path_mtu *path, uint64_t now_ns, uint64_t round_trip_ns)
{
    if (!path->target) {
        // Chooses the size of the next probe, if none is under way.
        if (path->proven < path->most && now_ns >= path->raise_ns) {
            look_for(path, next_above(path, path->proven));
        } else if (path->large && path->proven > FOLIOT__PATH_BYTES_MIN &&
                   now_ns - path->proven_ns >= CONFIRM_NS) {
            path->target = path->proven;
            path->tries = 0;
        }
    }
    if (path->target && path->tries > 0 && now_ns - path->sent_ns < WAIT_NS + 2 * round_trip_ns)
        return 0;
    if (path->target && path->tries == TRIES) {
        // The size under way did not arrive.
        if (path->target == path->proven) { // what has arrived before does not any more
            path->proven = path->bytes = FOLIOT__PATH_BYTES_MIN;
            path->answerable = 0;
            path->large = false;
            descend_from(path, next_below(path->target));
        } else if (path->descends || path->proven == FOLIOT__PATH_BYTES_MIN) {
            path->bytes = path->proven;
            descend_from(path, next_below(path->target));
        } else {
            path->target = 0;
        }
        if (!path->target)
            rest(path, now_ns);
    }
    if (!path->target)
        return 0;
    path->tries++;
    path->number++;
    path->sizes[path->number % FOLIOT__PATH_ANSWERABLE] = path->target;
    path->answerable += path->answerable < FOLIOT__PATH_ANSWERABLE;
    path->sent_ns = now_ns;
    return path->target;
}

void foliot__path_answered(foliot__path_mtu *path, uint16_t number, uint32_t bytes, uint64_t now_ns)
{
    uint16_t age = (uint16_t)(path->number - number);
    bool asked = path->target && bytes == path->target;
    if (age >= path->answerable || bytes != path->sizes[number % FOLIOT__PATH_ANSWERABLE] ||
        (bytes <= path->proven && !asked))
        return;
    bool found = path->descends && asked;
    path->descends = false;
    path->proven = path->bytes = (uint16_t)bytes;
    path->proven_ns = now_ns;
    path->large = false;
    if (found || path->proven == path->most)
        rest(path, now_ns);
    else
        look_for(path, path->raise_ns <= now_ns ? next_above(path, path->proven) : 0);
}

uint64_t foliot__path_due_ns(const foliot__path_mtu *path)
{
    if (path->target)
        return path->sent_ns + WAIT_NS;
    uint64_t raise = path->proven < path->most ? path->raise_ns : UINT64_MAX;
    uint64_t confirm = path->proven_ns + CONFIRM_NS; // large datagrams may be sent meanwhile
    return path->proven == FOLIOT__PATH_BYTES_MIN || raise < confirm ? raise : confirm;
}
