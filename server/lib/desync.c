// SPDX-License-Identifier: MIT
// desync.c: compares the server's digests with those that clients report, and searches for the
// first difference along the tree of foliot/divergence.h, one client at a time. Clients report sums
// of digests, so that losses leave no tick unchecked. No client is disconnected for a difference. A
// worker repeats the step in question from a saved state while the session continues. Searches have
// budgets: of the server, of each address and of each peer. A search beyond a budget waits, and is
// dropped if it waits too long.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep.h"
#include "peer.h"
#include "session.h"

#include "base/assert.h"

#define LOGGED_ALWAYS 8               // divergences of one address: several clients may share it
#define ANSWER_WITHIN_NS 15000000000u // a client that must go back first takes a while
#define AGAIN_AFTER_NS 5000000000u    // before the same peer is searched again
#define SEARCH_WITHIN_NS 40000000000u // the whole search: others wait
#define SEARCHES_AT_ONCE 4.0          // of the server ...
#define SEARCH_EVERY_NS 2e9           // ... and then one in such a time
#define ADDRESS_SEARCHES_AT_ONCE 3.0  // of one address
#define ADDRESS_SEARCH_EVERY_NS 60e9
#define PEER_SEARCHES_MAX 3   // of one connection
#define FOUND_ELSEWHERE_MAX 2 // several clients may share an address
#define REWIND_KEYFRAMES 2    // saved states between the one to begin with and the step, at most
#define REWIND_KEPT_NS 60000000000u // since the last search began

// -- searching

bool foliot__divergence_search_running(const foliot__session *s)
{
    const foliot__divergence_search *q = &s->lockstep->search;
    return q->running && !atomic_load_explicit(&q->finished, memory_order_acquire);
}

static foliot__peer *searched_peer(foliot__session *s)
{
    const foliot__divergence_search *q = &s->lockstep->search;
    foliot__peer *peer = &s->server->peers[q->peer];
    return peer->state == FOLIOT__PEER_IN && peer->id.value == q->id.value && peer->session == s &&
                   foliot__peer_is_stepper(peer)
               ? peer
               : NULL;
}

static void send_request(foliot__session *s, const foliot__peer *peer)
{
    foliot__divergence_search *q = &s->lockstep->search;
    foliot__message m = {.kind = FOLIOT__SEARCH_REQUEST};
    uint8_t question[FOLIOT_SEARCH_REQUEST_BYTES_MAX];
    m.as.search.length = (uint32_t)foliot_search_get_request(&q->search, question);
    m.as.search.bytes = question;
    m.as.search.first = q->first;
    m.as.search.number = ++q->number;
    q->asked_ns = s->server->now_ns;
    foliot__server_send(s->server, peer->id, &m);
}

// Takes one search out of each budget. False: one of them is empty.
static bool spend_search(foliot_server *server, foliot__peer *peer)
{
    foliot__bucket *all = &server->searches.bucket,
                   *of_address = &foliot__address_of(server, peer)->searches;
    foliot__bucket_fill(of_address, ADDRESS_SEARCHES_AT_ONCE, ADDRESS_SEARCH_EVERY_NS,
                        server->now_ns);
    if (of_address->tokens < 1 ||
        !foliot__bucket_spend(all, SEARCHES_AT_ONCE, SEARCH_EVERY_NS, server->now_ns))
        return false;
    of_address->tokens -= 1;
    return true;
}

static void drop_state(foliot__divergence_search *q)
{
    free(q->state);
    q->state = NULL;
}

static bool begin_search(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep *l = s->lockstep;
    foliot__divergence_search *q = &l->search;
    foliot__desync_check *c = &peer->lockstep.check;
    bool unseen =
        q->has_case && s->server->now_ns == q->found_ns; // the host polls after the update
    if (q->active || q->running || unseen || s->server->now_ns < c->search_ns)
        return false;
    // It waited too long, and the server's digests are gone; or it has used up its searches.
    if (s->tick - c->compared >= l->log.capacity ||
        peer->misbehaviour.searches >= PEER_SEARCHES_MAX) {
        s->server->counters.searches_refused++;
        c->state = FOLIOT__CHECK_SEARCHED;
        return false;
    }
    if (!spend_search(s->server, peer)) {
        s->server->counters.searches_put_off += !c->put_off;
        c->put_off = true;
        return false;
    }
    peer->misbehaviour.searches++;
    c->state = FOLIOT__CHECK_SEARCHED;
    q->begun_ns = s->server->now_ns;
    c->search_ns = s->server->now_ns + AGAIN_AFTER_NS;
    q->first = c->compared + 1;
    if (c->stepped - c->compared > FOLIOT__CHAIN_TICKS)
        q->first = c->stepped - FOLIOT__CHAIN_TICKS + 1;
    uint64_t before = 0;
    FOLIOT_ASSERT(c->stepped - q->first < FOLIOT__CHAIN_TICKS);
    for (uint64_t t = q->first; t <= c->stepped; t++)
        before = q->chain[t - q->first] =
            foliot_digest_chain(before, l->digests[t & (l->log.capacity - 1)]);
    // Without memory the saved state is not kept, and the search continues without it.
    drop_state(q);
    const foliot__keyframe *k = foliot__keyframe_before(s, q->first - 1);
    size_t head = k ? 4 * (size_t)k->players : 0;
    q->state = k ? malloc(k->length - head + 1) : NULL;
    if (q->state) {
        memcpy(q->state, k->bytes + head, k->length - head);
        q->state_length = k->length - head;
        q->state_tick = k->tick;
    }
    q->active = true;
    q->has_case = false;
    q->peer = (uint32_t)(peer - s->server->peers);
    q->id = peer->id;
    s->server->counters.searches++;
    foliot_search_begin_chain(&q->search, q->first, c->stepped, q->chain);
    send_request(s, peer);
    return true;
}

// -- the state trace of the tick

static void run_rewind(void *job)
{
    foliot__divergence_search *q = job;
    foliot__rewind_advance(&q->rewind, UINT32_MAX);
    atomic_store_explicit(&q->finished, true, memory_order_release);
}

// Begins with the newest state before the tick; if it is too old, the step is not repeated.
static void start_rewind(foliot__session *s, uint64_t tick)
{
    foliot__lockstep *l = s->lockstep;
    foliot__divergence_search *q = &l->search;
    const foliot__keyframe *k = foliot__keyframe_before(s, tick - 1);
    const uint8_t *bytes = q->state;
    size_t length = q->state_length;
    uint64_t from = q->state_tick;
    if (k && (!q->state || k->tick > from)) {
        size_t head = 4 * (size_t)k->players;
        bytes = k->bytes + head;
        length = k->length - head;
        from = k->tick;
    }
    q->running = true;
    atomic_store_explicit(&q->finished, false, memory_order_relaxed);
    q->rewind.status = FOLIOT_STATUS_NOT_FOUND;
    if (bytes && from >= l->log.first &&
        tick - from <= REWIND_KEYFRAMES * (uint64_t)l->keyframe_ticks) {
        foliot__rewind_begin(&q->rewind, s->simulation.kind, s->setup.bytes, s->setup.length, bytes,
                             length, tick);
        foliot__rewind_assume_held(&q->rewind);
        foliot_command_list commands = {0};
        for (uint64_t t = q->rewind.from; q->rewind.status == FOLIOT_STATUS_OK && t < tick; t++) {
            uint32_t count =
                foliot__tick_log_read(&l->log, t, l->block.inputs, FOLIOT__BLOCK_INPUTS_MAX);
            if (count > FOLIOT__BLOCK_INPUTS_MAX)
                break; // the step is not repeated, then
            if (foliot__command_log_read(&l->commands, t, &commands) != FOLIOT_STATUS_OK)
                q->rewind.status = FOLIOT_STATUS_MEMORY;
            const foliot_tick_inputs inputs = {l->block.inputs, count, commands.commands,
                                               commands.count};
            foliot__rewind_give(&q->rewind, &inputs);
            s->server->counters.search_steps++;
        }
        foliot_command_list_destroy(&commands);
    }
    if (q->rewind.status == FOLIOT_STATUS_OK && s->server->config.start)
        s->server->config.start(s->server->config.start_user, run_rewind, q);
    else
        run_rewind(q);
}

// -- the end

static void keep_case(foliot__session *s, const foliot__peer *peer)
{
    foliot__divergence_search *q = &s->lockstep->search;
    const foliot__rewind *r = &q->rewind;
    bool known = r->status == FOLIOT_STATUS_OK && r->finished && r->tick == q->search.found.tick;
    memcpy(q->name, peer->name, sizeof q->name);
    q->found = (foliot_divergence_report){.session = s->name,
                                          .player = peer->player,
                                          .name = q->name,
                                          .divergence = q->search.found,
                                          .exchanged = q->search.exchanged,
                                          .kind = s->simulation.kind,
                                          .setup = s->simulation.setup,
                                          .setup_bytes = s->simulation.setup_bytes};
    if (known)
        foliot__rewind_describe(r, &q->found);
    q->found_ns = s->server->now_ns;
    q->has_case = true;
    q->reported = false;
    s->server->searches.found = true;
}

static void send_findings(foliot__session *s, const foliot__peer *peer)
{
    const foliot_divergence *d = &s->lockstep->search.search.found;
    foliot__message m = {.kind = FOLIOT__DIVERGED};
    m.as.diverged = (foliot__diverged){.tick = d->tick,
                                       .index = d->index,
                                       .expected = d->expected,
                                       .actual = d->actual,
                                       .ulps = d->ulps,
                                       .part = d->part,
                                       .field = d->field,
                                       .type = (uint32_t)d->type,
                                       .body = d->body,
                                       .part_known = d->part_known,
                                       .field_known = d->field_known};
    snprintf(m.as.diverged.stage, sizeof m.as.diverged.stage, "%s",
             d->stage_known && d->stage_name ? d->stage_name : "");
    snprintf(m.as.diverged.group, sizeof m.as.diverged.group, "%s",
             d->part_known && d->group ? d->group : "");
    snprintf(m.as.diverged.field_name, sizeof m.as.diverged.field_name, "%s",
             d->field_known && d->field_name ? d->field_name : "");
    foliot__server_send(s->server, peer->id, &m);
}

static void end_search(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep *l = s->lockstep;
    foliot__divergence_search *q = &l->search;
    foliot__desync_check *c = &peer->lockstep.check;
    const foliot_divergence *d = &q->search.found;
    q->active = false;
    if (q->search.state == FOLIOT_SEARCH_FOUND) {
        keep_case(s, peer);
        send_findings(s, peer);
        // A real fault is found again in the same place. Responses that lead elsewhere are made up.
        foliot__address *a = foliot__address_of(s->server, peer);
        uint32_t stage = d->stage_known ? d->stage : UINT32_MAX,
                 part = d->part_known ? d->part : UINT32_MAX,
                 field = d->field_known ? d->field : UINT32_MAX;
        bool elsewhere =
            a->found_stage != stage || a->found_part != part || a->found_field != field;
        a->found_stage = stage;
        a->found_part = part;
        a->found_field = field;
        if (++a->found > FOUND_ELSEWHERE_MAX && elsewhere)
            foliot__peer_violated(s, peer, FOLIOT__VIOLATION_violations_digests);
        foliot__server_event(s->server, FOLIOT_SERVER_FOUND, s, peer->player, q->search.found.tick,
                             q->name);
    } else if (c->state != FOLIOT__CHECK_EQUAL) {
        // Its responses contradict its reports, or make no sense: its next reports are compared
        // from this tick on. (A peer that was healed in the meantime has begun with another state.)
        foliot__peer_violated(s, peer, FOLIOT__VIOLATION_violations_digests);
        c->state = FOLIOT__CHECK_EQUAL;
        c->sum_start = l->sums[c->stepped & (l->log.capacity - 1)] - c->digests;
        c->compared = c->stepped;
    }
}

static void continue_search(foliot__session *s, foliot__peer *peer)
{
    foliot__divergence_search *q = &s->lockstep->search;
    if (q->search.state == FOLIOT_SEARCH_REQUESTS)
        send_request(s, peer);
    else if (q->search.state == FOLIOT_SEARCH_NEEDS_TRACE)
        start_rewind(s, foliot_search_get_tick(&q->search));
    else
        end_search(s, peer);
}

void foliot__divergence_search_response(foliot__session *s, const foliot__peer *from,
                                        const foliot__search_message *answer)
{
    foliot__divergence_search *q = &s->lockstep->search;
    foliot__peer *peer = q->active ? searched_peer(s) : NULL;
    if (!peer || peer != from || answer->number != q->number ||
        q->search.state != FOLIOT_SEARCH_REQUESTS) {
        s->server->counters.messages_unexpected++;
        return;
    }
    s->server->counters.answers++;
    if (foliot_search_handle_response(&q->search, answer->bytes, answer->length) !=
        FOLIOT_STATUS_OK)
        q->search.state = FOLIOT_SEARCH_FAILED; // a senseless response ends the search
    continue_search(s, peer);
}

// The step was repeated, or cannot be.
static void receive_rewound_state(foliot__session *s, foliot__peer *peer)
{
    const foliot__lockstep *l = s->lockstep;
    foliot__divergence_search *q = &s->lockstep->search;
    const foliot__rewind *r = &q->rewind;
    q->running = false;
    if (!peer) {
        q->active = false;
        return;
    }
    // The repeated step gives another state if the saved state is incomplete, or if the step is not
    // a function of the state.
    bool repeats = s->tick - r->tick >= l->log.capacity ||
                   foliot_digest_equal(r->digest, l->digests[r->tick & (l->log.capacity - 1)]);
    if (r->status == FOLIOT_STATUS_OK && repeats) {
        foliot_search_set_trace(&q->search, r->trace);
        continue_search(s, peer);
        return;
    }
    // Only the tick is known and, if the parts of the repeated step would be those of another
    // state, the reason.
    q->search.state = FOLIOT_SEARCH_FOUND;
    if (r->status == FOLIOT_STATUS_OK)
        q->search.found =
            (foliot_divergence){.tick = r->tick, .body = FOLIOT_NO_BODY, .not_repeated = true};
    end_search(s, peer);
}

void foliot__divergence_search_update(foliot__session *s)
{
    foliot__divergence_search *q = &s->lockstep->search;
    foliot__peer *peer = q->active ? searched_peer(s) : NULL;
    uint64_t now = s->server->now_ns;
    if (q->running && foliot__divergence_search_running(s))
        return;
    if (q->running)
        receive_rewound_state(s, peer);
    else if (q->active && !peer)
        q->active = false; // it is gone
    else if (q->active &&
             (now - q->asked_ns > ANSWER_WITHIN_NS || now - q->begun_ns > SEARCH_WITHIN_NS)) {
        q->active = false; // it reports, and does not answer
        foliot__peer_violated(s, peer, FOLIOT__VIOLATION_violations_digests);
    } else if (!q->active) {
        // Peers that had to wait take turns.
        foliot__peer *first = foliot__session_peer_from(s, q->peer + 1);
        for (peer = first; peer; peer = foliot__session_peer_after(s, peer, first))
            if (peer->state == FOLIOT__PEER_IN && foliot__peer_is_stepper(peer) &&
                peer->lockstep.check.state == FOLIOT__CHECK_DIVERGED && begin_search(s, peer))
                break;
    }
    if (q->active || q->running)
        return;
    // A finished search leaves its case alone. The simulation stays for a while: creating one takes
    // more than a tick in a large scene, and a peer may cause several searches in a row.
    drop_state(q);
    if (q->rewind.trace)
        foliot__rewind_drop_trace(&q->rewind);
    if (q->rewind.simulation.self && now - q->begun_ns > REWIND_KEPT_NS)
        foliot__rewind_release(&q->rewind);
}

bool foliot_server_poll_divergence(foliot_server *server, foliot_divergence_report *found)
{
    for (uint32_t i = 0; server->searches.found && i < server->session_count; i++) {
        foliot__lockstep *l = server->sessions[i]->lockstep;
        if (!l || !l->search.has_case || l->search.reported)
            continue;
        l->search.reported = true;
        *found = l->search.found;
        return true;
    }
    server->searches.found = false;
    return false;
}

// -- comparing digests

// The first few, and then 10, 100, 1000, ...
static bool is_logged(uint64_t count)
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

// The peer watches until it has the server's state again. (Another simulation than a world has
// nothing to watch, and its client stands still.)
static void report_divergence(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    p->check.state = FOLIOT__CHECK_DIVERGED;
    p->check.diverged_ns = s->server->now_ns;
    s->server->counters.divergences++;
    if (is_logged(++foliot__address_of(s->server, peer)->divergences))
        foliot__server_event(s->server, FOLIOT_SERVER_DIVERGED, s, peer->player, p->check.compared,
                             peer->name);
    begin_search(s, peer);
    if (peer->role == FOLIOT__PEER_CLOSING)
        return;
    s->pending |= FOLIOT__PENDING_ROLES;
    if (foliot__peer_is_healing(peer))
        return;
    foliot__peer_change_role(peer, foliot__peer_watches(peer) ? FOLIOT__PEER_HEALING
                                                              : FOLIOT__PEER_DIVERGED);
    if (s->world)
        foliot__peer_want(peer, FOLIOT__KIND_WATCHER, FOLIOT__KIND_DIVERGED);
}

static void compare_digests(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep *l = s->lockstep;
    foliot__desync_check *c = &peer->lockstep.check;
    if (c->state != FOLIOT__CHECK_EQUAL || peer->role == FOLIOT__PEER_CLOSING ||
        c->stepped <= c->compared || c->stepped > s->tick ||
        s->tick - c->compared >= l->log.capacity)
        return;
    if (*sum_at(l, c->stepped) - c->sum_start == c->digests) {
        s->server->counters.ticks_compared += c->stepped - c->compared;
        c->compared = c->stepped;
    } else {
        report_divergence(s, peer);
    }
}

void foliot__desync_check_report(foliot__session *s, foliot__peer *peer, uint64_t stepped,
                                 uint64_t digests)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    foliot__desync_check *c = &p->check;
    if (stepped <= c->stepped || stepped > p->acked)
        return;
    if (c->state == FOLIOT__CHECK_EQUAL) {
        c->stepped = stepped;
        c->digests = digests;
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
