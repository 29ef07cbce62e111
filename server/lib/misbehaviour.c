// SPDX-License-Identifier: MIT
// misbehaviour.c: what no honest client of a lockstep session says: counted, told by name, and the
// end of those who go on. A client that diverges is none of it.
#include <stdio.h>

#include "internal.h"

#define PACKETS_A_TICK 4    // of a peer, that are welcome on average
#define PACKETS_AT_ONCE 240 // and in a burst: what a network held back
#define PACKETS_A_SECOND_MIN 120
#define OFFENCES_MAX 10          // then a liar is dropped
#define OFFENCE_NS 1000000000u   // lies within so long are one offence
#define FORGIVEN_NS 30000000000u // an offence, after so long

static const char *const lies[] = {
    [FOLIOT__LIE_violations_other_player] = "gave inputs for another player",
    [FOLIOT__LIE_violations_contradicted] = "gave other inputs for a tick than before",
    [FOLIOT__LIE_violations_long_ago] = "gave inputs for a tick closed long ago",
    [FOLIOT__LIE_violations_unclosed] = "acknowledged ticks that it was never sent",
    [FOLIOT__LIE_violations_digests] = "reported a divergence that its own answers deny",
    [FOLIOT__LIE_violations_flood] = "sends more packets than anyone needs",
};

static uint64_t *lie_counter(foliot_server_counters *counters, foliot__lie lie)
{
    switch (lie) {
#define LIE_CASE(name)                                                                             \
    case FOLIOT__LIE_##name:                                                                       \
        return &counters->name;
        FOLIOT_SERVER_VIOLATIONS(LIE_CASE)
#undef LIE_CASE
    default:
        return NULL;
    }
}

// Who lies in many different seconds means it: a fault that is over is forgiven after a while.
static bool too_many_offences(foliot__conduct *c, uint64_t now_ns)
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

// Told at the first, the tenth, the hundredth time and so on: a liar shall not fill the log.
void foliot__lockstep_lied(foliot__session *s, foliot__peer *peer, foliot__lie lie)
{
    char text[160];
    uint64_t count = ++peer->conduct.lies[lie], power = 1;
    ++*lie_counter(&s->server->counters, lie);
    while (power < count)
        power *= 10;
    if (power == count) {
        snprintf(text, sizeof text, "%s %s", peer->name, lies[lie]);
        foliot__server_event(s->server, FOLIOT_SERVER_VIOLATION, s, peer->player, count, text);
    }
    if (!too_many_offences(&peer->conduct, s->server->now_ns))
        return;
    snprintf(text, sizeof text, "it %s, again and again", lies[lie]);
    foliot__peer_drop(s->server, peer, FOLIOT__REFUSE_LIED, text);
}

// A packet too many: more than a bucket holds, which fills as fast as anyone sends.
bool foliot__lockstep_flooded(foliot__session *s, foliot__peer *peer)
{
    foliot__conduct *c = &peer->conduct;
    double rate = s->pace_hz * PACKETS_A_TICK;
    if (rate < PACKETS_A_SECOND_MIN)
        rate = PACKETS_A_SECOND_MIN;
    c->tokens +=
        (double)(s->server->now_ns - c->tokens_ns) * 1e-9 * rate; // at first the bucket is full
    c->tokens_ns = s->server->now_ns;
    if (c->tokens > PACKETS_AT_ONCE)
        c->tokens = PACKETS_AT_ONCE;
    if (c->tokens < 1) {
        foliot__lockstep_lied(s, peer, FOLIOT__LIE_violations_flood);
        return true;
    }
    c->tokens -= 1;
    return false;
}
