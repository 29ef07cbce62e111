// SPDX-License-Identifier: MIT
// seed_noise.c: hostile peers of a run that know no protocol: they send random bytes, packets of
// other clients again, and such packets with changes.
#include "seed_run.h"

#include <string.h>

#include "status.h"

#define BURST_MAX 20 // packets at once

static size_t compose(seed_run *run, seed_caller *c, uint8_t bytes[1400], foliot_delivery *delivery)
{
    double sum = c->plan->random + c->plan->mutated + c->plan->replayed + 1e-9;
    double draw = foliot__rng_unit(&c->rng) * sum;
    uint32_t kept = run->capture_count < SEED_CAPTURES ? run->capture_count : SEED_CAPTURES;
    *delivery =
        foliot__rng_below(&c->rng, 2) ? FOLIOT_DELIVERY_RELIABLE : FOLIOT_DELIVERY_UNRELIABLE;
    if (draw < c->plan->random || kept == 0) {
        size_t length = foliot__rng_below(&c->rng, foliot__rng_below(&c->rng, 4) ? 64 : 1400);
        for (size_t i = 0; i < length; i++)
            bytes[i] = (uint8_t)foliot__rng_u64(&c->rng);
        if (length && foliot__rng_below(&c->rng, 2))
            bytes[0] = (uint8_t)(16 + foliot__rng_below(&c->rng, 3)); // one of ours
        return length;
    }
    const seed_capture *capture = &run->captures[foliot__rng_below(&c->rng, kept)];
    memcpy(bytes, capture->bytes, capture->length);
    if (foliot__rng_below(&c->rng, 8))
        *delivery = capture->delivery;
    if (draw < c->plan->random + c->plan->mutated)
        return seed_wire_mutate(&c->rng, bytes, capture->length, 1400);
    return capture->length;
}

void seed_noise_act(seed_run *run, seed_caller *c)
{
    foliot_transport_event event;
    uint64_t local = seed_clock_local(&c->clock);
    while (foliot_transport_poll(c->wire, local, &event)) {
        c->connected = event.kind != FOLIOT_TRANSPORT_DISCONNECTED;
        if (!c->connected)
            c->peer = (foliot_peer_id){0};
    }
    if (!c->peer.value) {
        demand(foliot_transport_connect(c->wire, "127.0.0.1", 7777, local, &c->peer));
        return;
    }
    if (!c->connected)
        return;
    uint32_t count = 1 + foliot__rng_below(&c->rng, foliot__rng_below(&c->rng, 8) ? 2 : BURST_MAX);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t bytes[1400];
        foliot_delivery delivery;
        size_t length = compose(run, c, bytes, &delivery);
        allow_failure(foliot_transport_send(c->wire, c->peer, delivery, bytes, length));
        run->result.tally.hostile_packets++;
    }
    foliot_transport_flush(c->wire, local);
    if (foliot__rng_below(&c->rng, 50) == 0) {
        foliot_transport_disconnect(c->wire, c->peer, 0, true);
        c->peer = (foliot_peer_id){0};
        c->connected = false;
    }
}
