// SPDX-License-Identifier: MIT
// misbehaviour.c: counts and reports what no honest client of a lockstep session sends, and drops a
// peer that goes on. Divergence is not misbehaviour.
#include <stdio.h>

#include "peer.h"
#include "session.h"

#define PACKETS_A_TICK 4    // of a peer, that are welcome on average
#define PACKETS_AT_ONCE 240 // and in a burst: what a network held back
#define PACKETS_A_SECOND_MIN 120
#define OFFENCES_MAX 10          // then the peer is dropped
#define OFFENCE_NS 1000000000u   // violations within so long are one offence
#define FORGIVEN_NS 30000000000u // an offence, after so long

static const char *const violation_texts[] = {
    [FOLIOT__VIOLATION_violations_other_player] = "gave inputs for another player",
    [FOLIOT__VIOLATION_violations_contradicted] = "gave other inputs for a tick than before",
    [FOLIOT__VIOLATION_violations_long_ago] = "gave inputs for a tick closed long ago",
    [FOLIOT__VIOLATION_violations_unclosed] = "acknowledged ticks that it was never sent",
    [FOLIOT__VIOLATION_violations_digests] = "reported a divergence that its own answers deny",
    [FOLIOT__VIOLATION_violations_flood] = "sends more packets than anyone needs",
    [FOLIOT__VIOLATION_violations_kinds] = "wishes to step and to watch in turn, without end",
};

static uint64_t *violation_counter(foliot_server_counters *counters, foliot__violation violation)
{
    switch (violation) {
#define VIOLATION_CASE(name, help)                                                                 \
    case FOLIOT__VIOLATION_##name:                                                                 \
        return &counters->name;
        FOLIOT_SERVER_VIOLATIONS(VIOLATION_CASE)
#undef VIOLATION_CASE
    default:
        return NULL;
    }
}

// Violations in many different seconds are meant: a fault that is over is forgiven after a while.
static bool too_many_offences(foliot__misbehaviour *c, uint64_t now_ns)
{
    while (c->offences > 0 && now_ns - c->forgiven_ns >= FORGIVEN_NS) {
        c->forgiven_ns += FORGIVEN_NS;
        c->offences--;
    }
    if (c->offences > 0 && now_ns - c->offence_ns < OFFENCE_NS)
        return false;
    if (c->offences == 0)
        c->forgiven_ns = now_ns;
    c->offence_ns = now_ns;
    return ++c->offences >= OFFENCES_MAX;
}

// Told at the first, the tenth, the hundredth time and so on: so that no peer can fill the log.
void foliot__peer_violated(foliot__session *s, foliot__peer *peer, foliot__violation violation)
{
    char text[160];
    uint64_t count = ++peer->misbehaviour.violations[violation], power = 1;
    ++*violation_counter(&s->server->counters, violation);
    while (power < count)
        power *= 10;
    if (power == count) {
        snprintf(text, sizeof text, "%s %s", peer->name, violation_texts[violation]);
        foliot__server_event(s->server, FOLIOT_SERVER_VIOLATION, s, peer->player, count, text);
    }
    if (!too_many_offences(&peer->misbehaviour, s->server->now_ns))
        return;
    snprintf(text, sizeof text, "it %s, again and again", violation_texts[violation]);
    foliot__peer_drop(s->server, peer, FOLIOT__REFUSE_VIOLATION, text);
}

// A packet too many: more than a bucket holds, which fills as fast as anyone sends.
bool foliot__peer_floods(foliot__session *s, foliot__peer *peer)
{
    foliot__misbehaviour *c = &peer->misbehaviour;
    double rate = s->clock.pace_hz * PACKETS_A_TICK;
    if (rate < PACKETS_A_SECOND_MIN)
        rate = PACKETS_A_SECOND_MIN;
    c->tokens +=
        (double)(s->server->now_ns - c->tokens_ns) * 1e-9 * rate; // at first the bucket is full
    c->tokens_ns = s->server->now_ns;
    if (c->tokens > PACKETS_AT_ONCE)
        c->tokens = PACKETS_AT_ONCE;
    if (c->tokens < 1) {
        foliot__peer_violated(s, peer, FOLIOT__VIOLATION_violations_flood);
        return true;
    }
    c->tokens -= 1;
    return false;
}
