// SPDX-License-Identifier: MIT
// lockstep.c: sends closed ticks to all peers until they are acknowledged, encoded once for all
// peers that lack the same ticks. It never waits for a peer: a tick is closed when it is due.
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "fanout.h"
#include "lockstep.h"
#include "peer.h"
#include "player.h"
#include "session.h"

#define HOLES_AT_ONCE 4
#define HOLE_COPIES 2
#define HOLE_PATIENCE_NS 50000000u // in addition to a round trip
#define HOLE_TICKS_MAX 1024u
#define HOLE_WORK_A_TICK 8192u // inputs, and ticks by the eight, that are encoded for single peers
#define HOLE_WORK_A_PEER 256u  // then no further hole of the same peer is begun
#define RELAY_TICKS_MAX                                                                            \
    512u // how far back the relay of a tick reaches: what is older is filled as holes are
#define RELAY_TICKS_SHARED                                                                         \
    32u // a peer that lacks more gets some that it has, so that one packet serves several peers
#define RARELY_AFTER_NS 1000000000u // of silence, after which a peer gets fewer ticks
#define RARELY_TICKS_MAX 64u
#define COMMANDS_BACKLOG_MAX 1024u // reliable pieces: then a peer waits for its commands

// -- making

foliot_status foliot__lockstep_create(foliot__session *s)
{
    foliot__lockstep *l = s->lockstep = calloc(1, sizeof *l);
    if (!l)
        return FOLIOT_STATUS_MEMORY;
    s->server->lockstep_count++;
    l->keyframe_ticks = foliot__session_ticks(s, FOLIOT__KEYFRAME_SECONDS);
    l->keyframe_count = foliot__stepper_delay(s) / l->keyframe_ticks + FOLIOT__KEYFRAMES_SPARE;
    l->keyframes = calloc(l->keyframe_count, sizeof *l->keyframes);
    uint32_t ticks = foliot__session_ticks(s, FOLIOT__LOG_SECONDS) + foliot__stepper_delay(s);
    foliot_status status =
        foliot__tick_log_init(&l->log, ticks, ticks + 1024 * (s->player_limit + 8));
    l->streams = calloc(s->player_limit ? s->player_limit : 1, sizeof *l->streams);
    for (uint32_t p = 0; l->streams && status == FOLIOT_STATUS_OK && p < s->player_limit; p++)
        status =
            foliot__tick_log_init(&l->streams[p].log, FOLIOT__STREAM_TICKS, FOLIOT__STREAM_TICKS);
    if (status != FOLIOT_STATUS_OK)
        return status;
    l->sums = calloc(l->log.capacity, sizeof *l->sums);
    l->digests = calloc(l->log.capacity, sizeof *l->digests);
    l->search.chain = calloc(FOLIOT__CHAIN_TICKS, sizeof *l->search.chain);
    if (!l->streams || !l->sums || !l->digests || !l->search.chain || !l->keyframes)
        return FOLIOT_STATUS_MEMORY;
    foliot__tick_log_clear(&l->log, s->tick);
    foliot__command_log_init(&l->commands, l->log.capacity, SIZE_MAX);
    foliot__keyframe_prepare(s, &l->keyframes[0]);
    foliot__keyframe_save(s);
    return foliot__keyframe_saved(s) ? FOLIOT_STATUS_OK : FOLIOT_STATUS_MEMORY;
}

void foliot__lockstep_destroy(foliot__session *s)
{
    foliot__lockstep *l = s->lockstep;
    if (!l)
        return;
    foliot__tick_log_free(&l->log);
    foliot__command_log_free(&l->commands);
    for (uint32_t p = 0; l->streams && p < s->player_limit; p++)
        foliot__tick_log_free(&l->streams[p].log);
    for (uint32_t i = 0; l->keyframes && i < l->keyframe_count; i++) {
        free(l->keyframes[i].bytes);
        free(l->keyframes[i].packed);
    }
    foliot__keyframe_encoder_free(&l->encoder);
    free(l->streams);
    free(l->keyframes);
    free(l->sums);
    free(l->digests);
    free(l->search.chain);
    free(l->search.state);
    foliot__rewind_free(&l->search.rewind);
    free(l);
    s->lockstep = NULL;
    s->server->lockstep_count--;
}

// -- sending

static bool relays_to(const foliot__session *s, const foliot__peer *peer)
{
    return peer->state == FOLIOT__PEER_IN && peer->session == s && foliot__peer_steps(peer) &&
           peer->lockstep.transfer.bulk_sent;
}

// The first tick that still has to be sent unreliably to it.
static uint64_t first_wanted(const foliot__session *s, const foliot__peer *peer)
{
    const foliot__lockstep_peer *p = &peer->lockstep;
    uint64_t end = foliot__lockstep_visible(s, peer),
             first = p->acked > p->transfer.bulk ? p->acked : p->transfer.bulk;
    if (first + RELAY_TICKS_MAX < end)
        return end - RELAY_TICKS_MAX;
    return first + RELAY_TICKS_SHARED < end ? first - first % RELAY_TICKS_SHARED : first;
}

static void send_relay(foliot__session *s, const foliot_peer_id *peers, uint32_t count,
                       uint64_t end, uint64_t first, const uint8_t *block, size_t length)
{
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    foliot_server_counters *counters = &s->server->counters;
    uint8_t runs[FOLIOT__COMMAND_RUNS_BYTES];
    uint64_t runs_end = end;
    foliot__relay relay = {.end = (uint32_t)end,
                           .ticks = (uint32_t)(end - first),
                           .block = block,
                           .block_length = length,
                           .runs = runs};
    relay.runs_length =
        foliot__command_runs(&s->lockstep->commands, &first, &runs_end, false, runs);
    FOLIOT_ASSERT(runs_end == end); // the choice of ticks ensures it
    size_t size = foliot__relay_encode(&relay, bytes);
    if (size == SIZE_MAX)
        return;
    uint32_t sent = foliot_transport_send_many(s->server->config.transport, peers, count,
                                               FOLIOT_DELIVERY_UNRELIABLE, bytes, size);
    counters->relays_sent += sent;
    counters->relay_bytes_sent += size * sent;
    foliot__early_allow(s, size * sent);
    counters->relay_encodes++;
}

// One tick that no packet holds.
static void send_reliably(foliot__session *s, const foliot__peer *peer, uint64_t tick)
{
    foliot__lockstep *l = s->lockstep;
    uint8_t block[FOLIOT__SCENE_PART_BYTES];
    uint64_t next;
    size_t length =
        foliot__block_of_oldest(&l->log, tick, tick + 1, &l->block, block, sizeof block, &next);
    foliot__message m = {.kind = FOLIOT__TICKS_PART};
    if (length == SIZE_MAX)
        return;
    uint8_t runs[FOLIOT__COMMAND_RUNS_BYTES];
    uint64_t end = tick + 1;
    m.as.ticks_part.commands = runs;
    m.as.ticks_part.commands_length =
        (uint32_t)foliot__command_runs(&l->commands, &tick, &end, false, runs);
    m.as.ticks_part.first = tick;
    m.as.ticks_part.ticks = 1;
    m.as.ticks_part.block = block;
    m.as.ticks_part.length = (uint32_t)length;
    foliot__server_send(s->server, peer->id, &m);
    s->server->counters.ticks_too_large++;
}

// All peers that lack the ticks [from, end) get one packet.
static void relay_group(foliot__session *s, const uint32_t *members, uint32_t count, uint64_t from,
                        uint64_t end)
{
    foliot__lockstep *l = s->lockstep;
    uint8_t block[FOLIOT_PACKET_BYTES_MAX], runs[FOLIOT__COMMAND_RUNS_BYTES];
    uint64_t first;
    if (from < l->log.first)
        from = l->log.first;
    size_t room = sizeof block - 16 - foliot__command_runs(&l->commands, &from, &end, true, runs);
    size_t length = foliot__block_of_newest(&l->log, from, end, &l->block, block, room, &first);
    if (length == SIZE_MAX) { // more inputs in a tick than a packet holds
        for (uint32_t i = 0; i < count; i++)
            send_reliably(s, &s->server->peers[members[i]], end - 1);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        s->server->group[i] = s->server->peers[members[i]].id;
        s->server->peers[members[i]].lockstep.window_first = first;
    }
    send_relay(s, s->server->group, count, end, first, block, length);
}

// Resends ticks that acknowledgements show to be lost, and that no later packet repeats.
static void fill_holes(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep *l = s->lockstep;
    foliot__lockstep_peer *p = &peer->lockstep;
    foliot_server *server = s->server;
    uint64_t from, to, next,
        round_trip = foliot_transport_get_round_trip_ns(server->config.transport, peer->id);
    if (p->acks.count == 0 ||
        (p->hole_copies == 0 &&
         (server->now_ns - p->hole_ns < round_trip + HOLE_PATIENCE_NS || p->word_ns <= p->hole_ns)))
        return; // and a silent peer has reported nothing new
    if (l->hole_work == 0) {
        server->counters.holes_put_off++;
        return;
    }
    if (p->hole_copies == 0)
        p->hole_copies = HOLE_COPIES;
    uint64_t done = 0;
    for (uint32_t i = 0; i < HOLES_AT_ONCE && done < HOLE_WORK_A_PEER &&
                         foliot__tick_hole(&p->acks, p->acked, i, &from, &to);
         i++) {
        uint8_t block[FOLIOT_PACKET_BYTES_MAX], runs[FOLIOT__COMMAND_RUNS_BYTES];
        if (from >= p->window_first || from < l->log.first ||
            to > foliot__lockstep_visible(s, peer))
            break;
        if (to - from > HOLE_TICKS_MAX)
            to = from + HOLE_TICKS_MAX;
        size_t room =
            sizeof block - 16 - foliot__command_runs(&l->commands, &from, &to, false, runs);
        size_t length = foliot__block_of_oldest(&l->log, from, to, &l->block, block, room, &next);
        uint64_t work = 1 + l->block.count + l->block.ticks / 8;
        done += work;
        l->hole_work = work < l->hole_work ? l->hole_work - work : 0;
        if (length == SIZE_MAX) {
            if (p->hole_copies == HOLE_COPIES) // the other copy would be one too many
                send_reliably(s, peer, from);
            break;
        }
        send_relay(s, &peer->id, 1, next, from, block, length);
        server->counters.holes_filled += next - from;
    }
    if (--p->hole_copies == 0)
        p->hole_ns = server->now_ns;
}

static void send_status(foliot__session *s, foliot__peer *peer)
{
    foliot_server *server = s->server;
    const foliot__lockstep_peer *p = &peer->lockstep;
    if (peer->stepper_input_ns == 0 ||
        server->now_ns - peer->stepper_status_ns < FOLIOT__STATUS_EVERY_NS)
        return;
    peer->stepper_status_ns = server->now_ns;
    uint64_t came_ns = peer->stepper_input_ns;
    int64_t slack_us = (int64_t)(foliot__session_closes_ns(s, p->stamp) - came_ns) / 1000;
    uint64_t held_ms = (server->now_ns - came_ns) / 1000000;
    foliot__lockstep_status status = {
        .tick = (uint32_t)s->tick,
        .checked = (uint32_t)p->check.compared,
        .diverged = p->check.state != FOLIOT__CHECK_EQUAL,
        .stamp = (uint32_t)p->stamp,
        .slack_us = (int32_t)(slack_us < -1000000000  ? -1000000000
                              : slack_us > 1000000000 ? 1000000000
                                                      : slack_us),
        .echo_ms = p->echo_ms,
        .held_ms = (uint16_t)(held_ms < UINT16_MAX ? held_ms : UINT16_MAX),
    };
    if (peer->player != FOLIOT_NO_PLAYER) {
        const foliot__stream *stream = &s->lockstep->streams[peer->player];
        status.acks = foliot__tick_acks_of(&stream->log);
        status.late = stream->late_changes;
        status.missing = stream->missing;
    }
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    size_t length = foliot__lockstep_status_encode(&status, bytes);
    foliot__server_send_packet(server, peer->id, FOLIOT_DELIVERY_UNRELIABLE, bytes, length);
}

// Sorts by the first tick that they lack, and by how far they may see.
static int by_need(const void *a, const void *b, void *context)
{
    const foliot__session *s = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const foliot__peer *p = &s->server->peers[i], *q = &s->server->peers[j];
    uint64_t x = foliot__lockstep_visible(s, p), y = foliot__lockstep_visible(s, q);
    if (x == y) {
        x = first_wanted(s, p);
        y = first_wanted(s, q);
    }
    return x < y ? -1 : x > y ? 1 : i < j ? -1 : i > j;
}

static void relay_all(foliot__session *s)
{
    foliot_server *server = s->server;
    uint32_t count = 0;
    for (const foliot__peer *peer = s->peers; peer; peer = peer->next) {
        if (!relays_to(s, peer) || first_wanted(s, peer) >= foliot__lockstep_visible(s, peer))
            continue;
        // A silent peer gets every other tick, after one more second every fourth, and so on. The
        // turns of peers are spread.
        uint64_t silent = (server->now_ns - peer->lockstep.word_ns) / RARELY_AFTER_NS;
        uint64_t every = silent < 6 ? (uint64_t)1 << silent : RARELY_TICKS_MAX;
        if ((s->tick + (uint64_t)(peer - server->peers)) % every == 0)
            server->order[count++] = (uint32_t)(peer - server->peers);
        else
            server->counters.relays_spared++;
    }
    qsort_r(server->order, count, sizeof *server->order, by_need, s);
    for (uint32_t i = 0, next; i < count; i = next) {
        const foliot__peer *peer = &server->peers[server->order[i]];
        uint64_t from = first_wanted(s, peer), end = foliot__lockstep_visible(s, peer);
        for (next = i + 1; next < count; next++) {
            const foliot__peer *other = &server->peers[server->order[next]];
            if (first_wanted(s, other) != from || foliot__lockstep_visible(s, other) != end)
                break;
        }
        relay_group(s, server->order + i, next - i, from, end);
    }
}

// Sends commands reliably: no packet repeats them. A second of commands may be megabytes: a
// newcomer, or a peer on a slow path, gets more when it has acknowledged most of them.
static void send_commands(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep *l = s->lockstep;
    foliot__lockstep_peer *p = &peer->lockstep;
    uint64_t end = foliot__lockstep_visible(s, peer);
    for (; p->commanded < end; p->commanded++) {
        if (foliot_transport_get_backlog(s->server->config.transport, peer->id) >
            COMMANDS_BACKLOG_MAX)
            return;
        const foliot__tick_commands *c = foliot__command_log_find(&l->commands, p->commanded);
        for (uint32_t at = 0; c && at < c->total; at += FOLIOT__SCENE_PART_BYTES) {
            uint32_t left = c->total - at;
            foliot__message m = {.kind = FOLIOT__COMMANDS};
            m.as.commands = (foliot__commands_part){
                .tick = c->tick,
                .offset = at,
                .total = c->total,
                .bytes = c->bytes + at,
                .length = left < FOLIOT__SCENE_PART_BYTES ? left : FOLIOT__SCENE_PART_BYTES};
            foliot__server_send(s->server, peer->id, &m);
            s->server->counters.command_parts_sent++;
        }
    }
}

void foliot__lockstep_closed(foliot__session *s)
{
    foliot__lockstep *l = s->lockstep;
    foliot_server *server = s->server;
    while (foliot__tick_log_put(&l->log, s->tick, s->step.inputs, s->step.input_count) ==
               FOLIOT_STATUS_FULL &&
           l->log.first < l->log.end)
        foliot__tick_log_forget(&l->log, l->log.first + l->log.capacity / 64 + 1);
    // Without memory for its commands nobody could step the tick: the session ends.
    const foliot_command_list *commands = &s->game.commands;
    l->lost_commands = commands->count > 0 &&
                       foliot__command_log_put(&l->commands, s->tick, commands) != FOLIOT_STATUS_OK;
    relay_all(s);
    l->hole_work = HOLE_WORK_A_TICK;
    // Does not always begin with the same peers: the work is bounded.
    foliot__peer *first = foliot__session_peer_from(s, (uint32_t)(s->tick % server->peers_max));
    for (foliot__peer *peer = first; peer; peer = foliot__session_peer_after(s, peer, first)) {
        if (peer->state != FOLIOT__PEER_IN || !foliot__peer_steps(peer))
            continue;
        if (relays_to(s, peer)) {
            send_commands(s, peer);
            fill_holes(s, peer);
        }
        send_status(s, peer);
        if (peer->role != FOLIOT__PEER_CLOSING)
            foliot__late_join_check(s, peer);
    }
    foliot__divergence_search_update(s);
    foliot_transport_flush(server->config.transport, server->now_ns);
    foliot__keyframe_choose(s);
}

// -- receiving

// False if the claims of the packet are impossible.
static bool apply_acks(foliot__session *s, foliot__peer *peer, const foliot__tick_acks *acks,
                       uint64_t *next)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    uint64_t end = *next = foliot__tick_near(acks->next, s->lockstep->log.end);
    for (uint32_t i = 0; i < acks->count; i++)
        end += acks->runs[i].missing + acks->runs[i].here;
    if (end > foliot__lockstep_visible(s, peer) && end > p->start) {
        foliot__peer_violated(s, peer, FOLIOT__VIOLATION_violations_unclosed);
        return false;
    }
    if (*next < p->acked)
        return true; // overtaken by a later one
    p->acked = *next;
    p->acks = *acks;
    return true;
}

void foliot__lockstep_receive(foliot__session *s, foliot__peer *peer,
                              const foliot__lockstep_input *packet)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    uint64_t next = foliot__tick_near(packet->acks.next, s->lockstep->log.end);
    if (foliot__peer_floods(s, peer))
        return;
    // A packet that was in flight when the peer got another state does not apply to that state.
    bool current = packet->state == (uint8_t)p->start;
    if (current && !apply_acks(s, peer, &packet->acks, &next))
        return;
    p->word_ns = s->server->now_ns;
    p->patience_ns = FOLIOT__SILENT_NS;
    if (p->transfer.bulk_sent && p->acked >= p->transfer.bulk)
        peer->misbehaviour.restarts = 0;
    uint64_t tick = next + packet->ahead;
    if (peer->stepper_input_ns == 0 || (int16_t)(packet->sent_ms - p->echo_ms) > 0 ||
        s->server->now_ns - peer->stepper_input_ns > 30000000000u) {
        peer->stepper_input_ns = s->server->arrived_ns;
        p->echo_ms = packet->sent_ms;
        p->stamp = tick;
        if (peer->player != FOLIOT_NO_PLAYER)
            s->players[peer->player].input.shown_before = packet->shown;
    }
    if (peer->player != FOLIOT_NO_PLAYER) {
        // The first packet for a tick holds its player's changes for it; later ones repeat them.
        struct foliot__shown_at *at =
            &s->players[peer->player].input.shown_at[tick % FOLIOT__SHOWN_TICKS];
        if (at->tick != tick)
            *at = (struct foliot__shown_at){tick, packet->shown};
    }
    if (peer->player != FOLIOT_NO_PLAYER && packet->ticks > 0 &&
        (uint64_t)packet->back + packet->ticks <= tick + 1) {
        foliot__block *block = &s->lockstep->block;
        if (foliot__block_decode(packet->block, packet->block_length, packet->ticks, block) ==
            FOLIOT_STATUS_OK) {
            foliot__stream_receive(s, peer, block, tick + 1 - packet->back - packet->ticks);
        } else {
            s->server->counters.input_packets--; // it does not count as one
            foliot__peer_malformed(s->server, peer);
        }
    }
    if (peer->state == FOLIOT__PEER_IN && current && packet->behind <= next)
        foliot__desync_check_report(s, peer, next - packet->behind, packet->digests);
}
