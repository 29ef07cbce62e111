// SPDX-License-Identifier: MIT
// desync_check.c: the server's own digests beside those that clients report. Sums of them travel,
// so that no tick is left out whatever is lost. Nobody is disconnected for a difference;
// divergence_search.c finds where it is.
#include "lockstep.h"
#include "peer.h"
#include "session.h"

#define LOGGED_ALWAYS 8 // of one address: several clients may share it

bool foliot__is_logged(uint64_t count)
{
    uint64_t power = 1;
    while (power < count)
        power *= 10;
    return count <= LOGGED_ALWAYS || power == count;
}

static uint64_t *sum_at(foliot__lockstep *l, uint64_t tick)
{
    return &l->sums[tick & (l->log.capacity - 1)];
}

// Until it has the server's state again it watches. (A simulation that is no world has nothing to
// watch, and its client stands still.)
static void begin_heal(const foliot__session *s, foliot__peer *peer)
{
    bool healing = foliot__peer_is_healing(peer);
    if (peer->role == FOLIOT__PEER_CLOSING)
        return;
    peer->session->pending |= FOLIOT__PENDING_ROLES;
    if (!healing)
        foliot__peer_change_role(peer, foliot__peer_watches(peer) ? FOLIOT__PEER_HEALING
                                                                  : FOLIOT__PEER_DIVERGED);
    if (s->world && !healing)
        foliot__peer_want(peer, FOLIOT__KIND_WATCHER, FOLIOT__KIND_DIVERGED);
}

static void report_divergence(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    p->diverged = true;
    p->searched = false;
    p->diverged_ns = s->server->now_ns;
    s->server->counters.divergences++;
    if (foliot__is_logged(++foliot__address_of(s->server, peer)->divergences))
        foliot__server_event(s->server, FOLIOT_SERVER_DIVERGED, s, peer->player, p->compared,
                             peer->name);
    foliot__divergence_search_begin(s, peer);
    begin_heal(s, peer);
}

static void compare_digests(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep *l = s->lockstep;
    foliot__lockstep_peer *p = &peer->lockstep;
    if (p->diverged || peer->role == FOLIOT__PEER_CLOSING || p->stepped <= p->compared ||
        p->stepped > s->tick || s->tick - p->compared >= l->log.capacity)
        return;
    if (*sum_at(l, p->stepped) - p->sum_start == p->digests) {
        s->server->counters.ticks_compared += p->stepped - p->compared;
        p->compared = p->stepped;
    } else {
        report_divergence(s, peer);
    }
}

void foliot__desync_check_report(foliot__session *s, foliot__peer *peer, uint64_t stepped,
                                 uint64_t digests)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    if (stepped <= p->stepped || stepped > p->acked)
        return;
    if (!p->diverged) {
        p->stepped = stepped;
        p->digests = digests;
    }
    compare_digests(s, peer);
}

void foliot__desync_check_step(foliot__session *s)
{
    foliot__lockstep *l = s->lockstep;
    *sum_at(l, s->tick) = *sum_at(l, s->tick - 1) + foliot__digest_share(s->tick, l->digest);
    l->digests[s->tick & (l->log.capacity - 1)] = l->digest;
    for (foliot__peer *peer = s->peers; peer; peer = peer->next)
        if (peer->state == FOLIOT__PEER_IN && foliot__peer_steps(peer))
            compare_digests(s, peer);
}
