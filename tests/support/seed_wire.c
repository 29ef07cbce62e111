// SPDX-License-Identifier: MIT
// seed_wire.c: see seed_wire.h.
#include "seed_wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/transport.h"

#define SCRATCH_BYTES (64u << 10)

typedef struct wire {
    foliot_transport head;
    foliot_transport *inner;
    seed_wire_config config;
    foliot__rng rng;
    bool mute;
    uint64_t damaged;
    uint8_t scratch[SCRATCH_BYTES];
} wire;

uint64_t seed_clock_local(const seed_clock *clock)
{
    uint64_t passed = *clock->now_ns - clock->origin_ns;
    return (uint64_t)((int64_t)*clock->now_ns + clock->skew_ns +
                      (int64_t)((double)passed * clock->drift));
}

uint64_t seed_clock_true(const seed_clock *clock, uint64_t local_ns)
{
    if (local_ns == UINT64_MAX)
        return UINT64_MAX;
    int64_t passed = (int64_t)local_ns - clock->skew_ns - (int64_t)clock->origin_ns;
    int64_t at = (int64_t)clock->origin_ns + (int64_t)((double)passed / (1 + clock->drift)) + 1000;
    return at < 0 ? 0 : (uint64_t)at;
}

size_t seed_wire_mutate(foliot__rng *rng, uint8_t *bytes, size_t length, size_t capacity)
{
    if (length == 0)
        return 0;
    uint32_t changes = 1 + foliot__rng_below(rng, 4), size = (uint32_t)length;
    switch (foliot__rng_below(rng, 6)) {
    case 0:
        return foliot__rng_below(rng, size); // cut
    case 1: {                                // grown
        size_t more = 1 + foliot__rng_below(rng, 64);
        for (size_t i = length; i < length + more && i < capacity; i++)
            bytes[i] = (uint8_t)foliot__rng_u64(rng);
        return length + more < capacity ? length + more : capacity;
    }
    case 2: { // a part over another
        uint32_t from = foliot__rng_below(rng, size), to = foliot__rng_below(rng, size);
        uint32_t count = size - (from > to ? from : to);
        memmove(bytes + to, bytes + from, count);
        return length;
    }
    case 3: // one byte to an extreme
        bytes[foliot__rng_below(rng, size)] = foliot__rng_below(rng, 2) ? 0xff : 0;
        return length;
    default:
        while (changes-- > 0) {
            uint32_t at = foliot__rng_below(rng, size), bit = foliot__rng_below(rng, 8);
            bytes[at] ^= (uint8_t)(1u << bit);
        }
        return length;
    }
}

// The bytes, or a damaged copy of them.
static const uint8_t *maybe_damaged(wire *w, const uint8_t *bytes, size_t *length)
{
    if (w->config.damage <= 0 || *length > SCRATCH_BYTES / 2 ||
        foliot__rng_unit(&w->rng) >= w->config.damage)
        return bytes;
    memcpy(w->scratch, bytes, *length);
    *length = seed_wire_mutate(&w->rng, w->scratch, *length, SCRATCH_BYTES);
    w->damaged++;
    return w->scratch;
}

static void wire_destroy(foliot_transport *transport)
{
    wire *w = (wire *)transport;
    foliot_transport_destroy(w->inner);
    free(w);
}

static foliot_status wire_connect(foliot_transport *transport, const char *host, uint16_t port,
                                  uint64_t now_ns, foliot_peer_id *peer)
{
    wire *w = (wire *)transport;
    (void)now_ns;
    return foliot_transport_connect(w->inner, host, port, *w->config.clock.now_ns, peer);
}

static void wire_disconnect(foliot_transport *transport, foliot_peer_id peer, uint32_t reason,
                            bool at_once)
{
    wire *w = (wire *)transport;
    if (!w->mute)
        foliot_transport_disconnect(w->inner, peer, reason, at_once);
}

static bool wire_poll(foliot_transport *transport, uint64_t now_ns, foliot_transport_event *event)
{
    wire *w = (wire *)transport;
    (void)now_ns;
    uint64_t true_ns = *w->config.clock.now_ns;
    if (!foliot_transport_poll(w->inner, true_ns, event))
        return false;
    event->arrived_ns = seed_clock_local(&w->config.clock) - (true_ns - event->arrived_ns);
    if (event->kind == FOLIOT_TRANSPORT_RECEIVED)
        event->bytes = maybe_damaged(w, event->bytes, &event->length);
    return true;
}

static uint32_t wire_send(foliot_transport *transport, const foliot_peer_id *peers, uint32_t count,
                          foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    wire *w = (wire *)transport;
    if (w->mute)
        return count;
    if (w->config.tap)
        w->config.tap(w->config.tap_user, delivery, bytes, length);
    bytes = maybe_damaged(w, bytes, &length);
    return foliot_transport_send_many(w->inner, peers, count, delivery, bytes, length);
}

static void wire_flush(foliot_transport *transport, uint64_t now_ns)
{
    wire *w = (wire *)transport;
    (void)now_ns;
    foliot_transport_flush(w->inner, *w->config.clock.now_ns);
}

// By the owner's clock.
static uint64_t wire_wake_ns(const foliot_transport *transport)
{
    const wire *w = (const wire *)transport;
    uint64_t wake = foliot_transport_get_wake_ns(w->inner), now = *w->config.clock.now_ns;
    if (wake == UINT64_MAX)
        return wake;
    uint64_t wait = wake > now ? wake - now : 0;
    return seed_clock_local(&w->config.clock) +
           (uint64_t)((double)wait * (1 + w->config.clock.drift));
}

static int wire_descriptor(const foliot_transport *transport)
{
    return foliot_transport_get_descriptor(((const wire *)transport)->inner);
}

static uint16_t wire_port(const foliot_transport *transport)
{
    return foliot_transport_get_port(((const wire *)transport)->inner);
}

static void wire_peer_address(const foliot_transport *transport, foliot_peer_id peer, char *text,
                              size_t bytes)
{
    foliot_transport_get_peer_address(((const wire *)transport)->inner, peer, text, bytes);
}

static uint64_t wire_peer_host(const foliot_transport *transport, foliot_peer_id peer)
{
    return foliot__transport_get_peer_address_key(((const wire *)transport)->inner, peer);
}

static uint64_t wire_round_trip_ns(const foliot_transport *transport, foliot_peer_id peer)
{
    return foliot_transport_get_round_trip_ns(((const wire *)transport)->inner, peer);
}

static uint32_t wire_backlog(const foliot_transport *transport, foliot_peer_id peer)
{
    return foliot_transport_get_backlog(((const wire *)transport)->inner, peer);
}

static const foliot__transport_maker wire_maker = {
    wire_destroy,
    wire_connect,
    wire_disconnect,
    wire_poll,
    wire_send,
    wire_flush,
    wire_wake_ns,
    wire_descriptor,
    wire_port,
    wire_peer_address,
    wire_peer_host,
    wire_round_trip_ns,
    NULL,
    wire_backlog,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
};

foliot_transport *seed_wire_create(foliot_transport *inner, const seed_wire_config *config)
{
    wire *w = calloc(1, sizeof *w);
    FOLIOT_ASSERT(w);
    w->head.maker = &wire_maker;
    w->head.config = inner->config;
    w->inner = inner;
    w->config = *config;
    w->rng = foliot__rng_seeded(config->seed);
    return &w->head;
}

void seed_wire_mute(foliot_transport *transport)
{
    ((wire *)transport)->mute = true;
}

foliot_transport *seed_wire_inner(foliot_transport *transport)
{
    return ((wire *)transport)->inner;
}

uint64_t seed_wire_damaged(const foliot_transport *transport)
{
    return ((const wire *)transport)->damaged;
}
