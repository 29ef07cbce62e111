// SPDX-License-Identifier: MIT
// late_join.c: newcomers in lockstep. They are sent a saved state, in parts and never more of it on
// its way than a window, then the ticks since, and from then on what everybody is sent; bulk.c says
// when. Players notice nothing of it. A state is not overwritten while it is being sent, but
// whoever does not acknowledge it cannot hold it: there is always one for newcomers, and a place
// for the next.
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "internal.h"

#define HEAD_START_BYTES 16384.0 // of a rate: whoever has just begun is not slow yet
#define PART_HEAD_BYTES 64       // what a message costs beside its bytes
#define SCENE_NS_MAX 60000000000u

// -- saving

static bool grow(foliot__keyframe *k, size_t length)
{
    if (length <= k->capacity)
        return true;
    uint8_t *bytes = realloc(k->bytes, length);
    if (!bytes)
        return false;
    k->bytes = bytes;
    k->capacity = length;
    return true;
}

// Over which one to save, with what the players have given so far: their slots are not the worker's
// to read.
void foliot__keyframe_prepare(foliot__session *s, foliot__keyframe *k)
{
    size_t head = 4 * (size_t)s->player_limit;
    k->valid = false;
    k->players = s->player_limit;
    if (!grow(k, head + 1))
        return;
    foliot__writer w = foliot__writer_of(k->bytes, head);
    for (uint32_t p = 0; p < s->player_limit; p++)
        foliot__write_u32(&w, s->players[p].input_sequence);
    s->lockstep->saving = k;
}

// Who is sent which state: how many, and how fast the fastest of them is. Peers whose address is
// sent a newer one as well count half: one address is not to hold several.
static void count_pins(foliot__session *s)
{
    foliot__lockstep *l = s->lockstep;
    foliot_server *server = s->server;
    enum { FORGET, FIND_NEWEST, COUNT, PASSES };
    for (uint32_t i = 0; i < l->keyframe_count; i++) {
        l->keyframes[i].pins = 0;
        l->keyframes[i].rate = 0;
    }
    for (uint32_t i = 0; i < PASSES * server->peers_max; i++) {
        foliot__peer *peer = &server->peers[i % server->peers_max];
        const foliot__lockstep_peer *p = &peer->lockstep;
        if (peer->state != FOLIOT__PEER_IN || peer->session != s || !p->joining)
            continue;
        foliot__keyframe *k = &l->keyframes[p->keyframe];
        foliot__address *address = foliot__address_of(server, peer);
        double age = (double)(server->now_ns - p->begun_ns) * 1e-9 + 1;
        double rate = (double)(p->heard + HEAD_START_BYTES) / age *
                      (k->tick < address->pinned_tick ? 0.5 : 1);
        if (i / server->peers_max == FORGET) {
            address->pinned_tick = 0;
        } else if (i / server->peers_max == FIND_NEWEST) {
            address->pinned_tick = k->tick > address->pinned_tick ? k->tick : address->pinned_tick;
        } else {
            k->pins++;
            k->rate = rate > k->rate ? rate : k->rate;
        }
    }
}

static void give_anew(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    uint64_t lacks = s->lockstep->log.first > p->acked ? s->lockstep->log.first - p->acked : 0;
    p->joining = p->bulk_sent = false;
    p->begun_ns = s->server->now_ns;
    s->server->counters.behind++;
    foliot__server_event(s->server, FOLIOT_SERVER_BEHIND, s, peer->player, lacks, peer->name);
    if (++peer->conduct.restarts > FOLIOT__RESTARTS_MAX)
        foliot__server_drop(s->server, peer, FOLIOT__REFUSE_SLOW,
                            "it is too slow for the session's state");
}

static void take_back(foliot__session *s, const foliot__keyframe *k)
{
    foliot_server *server = s->server;
    server->counters.keyframes_taken_back++;
    for (uint32_t i = 0; i < server->peers_max; i++) {
        foliot__peer *peer = &server->peers[i];
        if (peer->state == FOLIOT__PEER_IN && peer->session == s && peer->lockstep.joining &&
            &s->lockstep->keyframes[peer->lockstep.keyframe] == k)
            give_anew(s, peer);
    }
}

// Where the next state goes: never over one that newcomers need, which are the newest that
// spectators may see and all after it. What is being sent goes last, and of that what moves
// slowest: whoever acknowledges nothing holds nothing up.
static foliot__keyframe *place_to_save(foliot__session *s)
{
    foliot__lockstep *l = s->lockstep;
    const foliot__keyframe *needed = foliot__keyframe_before(s, foliot__lockstep_shown(s, true));
    foliot__keyframe *oldest = NULL, *slowest = NULL;
    count_pins(s);
    for (uint32_t i = 0; i < l->keyframe_count; i++) {
        foliot__keyframe *k = &l->keyframes[i];
        if (k->valid && needed && k->tick >= needed->tick)
            continue;
        if (k->pins == 0 && (!oldest || (oldest->valid && (!k->valid || k->tick < oldest->tick))))
            oldest = k;
        if (k->pins > 0 && (!slowest || k->rate < slowest->rate))
            slowest = k;
    }
    if (!oldest && slowest)
        take_back(s, slowest);
    return oldest ? oldest : slowest;
}

// Before a step: whether it saves.
void foliot__keyframe_choose(foliot__session *s)
{
    foliot__lockstep *l = s->lockstep;
    l->saving = NULL;
    if ((s->tick + 1) % l->keyframe_ticks != 0)
        return;
    foliot__keyframe *place = place_to_save(s);
    if (place)
        foliot__keyframe_prepare(s, place);
    else
        s->server->counters.keyframes_unsaved++;
}

// On the worker that has stepped.
void foliot__keyframe_save(foliot__session *s)
{
    foliot__keyframe *k = s->lockstep->saving;
    const foliot_simulation *simulation = &s->lockstep->simulation;
    size_t length = 0, head = 4 * (size_t)s->player_limit;
    if (!k || foliot_simulation_capture(simulation, NULL, 0, &length) != FOLIOT_STATUS_OK ||
        length + head > UINT32_MAX || !grow(k, head + length + 1))
        return;
    k->valid = foliot_simulation_capture(simulation, k->bytes + head, length, &length) == FOLIOT_STATUS_OK;
    k->length = head + length;
    k->tick = foliot_simulation_get_tick(simulation);
}

// When the step is taken in.
bool foliot__keyframe_saved(foliot__session *s)
{
    foliot__keyframe *k = s->lockstep->saving;
    s->lockstep->saving = NULL;
    if (k && k->valid)
        s->server->counters.keyframes_saved++;
    return k && k->valid;
}

const foliot__keyframe *foliot__keyframe_before(const foliot__session *s, uint64_t tick)
{
    const foliot__lockstep *l = s->lockstep;
    const foliot__keyframe *best = NULL;
    for (uint32_t i = 0; i < l->keyframe_count; i++) {
        const foliot__keyframe *k = &l->keyframes[i];
        if (k->valid && k != l->saving && k->tick >= l->log.first && k->tick <= tick &&
            (!best || k->tick > best->tick))
            best = k;
    }
    return best;
}

// -- sending

bool foliot__late_join_possible(const foliot__session *s, bool spectates)
{
    return foliot__keyframe_before(s, foliot__lockstep_shown(s, spectates)) != NULL;
}

// What was sent before the state takes its time too, on a slow way.
static uint64_t first_progress_ns(const foliot__session *s)
{
    uint64_t scene_ns = (uint64_t)s->scene_length * 1000000000u / FOLIOT__PROGRESS_BYTES_A_SECOND;
    return s->server->now_ns + FOLIOT__PROGRESS_NS +
           (scene_ns < SCENE_NS_MAX ? scene_ns : SCENE_NS_MAX);
}

static bool begin(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep *l = s->lockstep;
    const foliot__keyframe *k = foliot__keyframe_before(s, foliot__lockstep_visible(s, peer));
    foliot__lockstep_peer *p = &peer->lockstep;
    if (!k)
        return false;
    *p = (foliot__lockstep_peer){.start = k->tick,
                                 .acked = k->tick,
                                 .stepped = k->tick,
                                 .compared = k->tick,
                                 .bulk = k->tick,
                                 .joining = true,
                                 .keyframe = (uint32_t)(k - l->keyframes),
                                 .begun_ns = s->server->now_ns,
                                 .progress_ns = first_progress_ns(s),
                                 .sum_start = l->sums[k->tick & (l->log.capacity - 1)]};
    if (peer->player != FOLIOT__NO_PLAYER)
        foliot__stream_restart(&l->streams[peer->player]);
    s->server->counters.keyframes_sent++;
    return true;
}

static size_t send_part(foliot__session *s, foliot__peer *peer, const foliot__keyframe *k)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    foliot__message m = {.kind = FOLIOT__KEYFRAME_PART};
    size_t left = k->length - p->sent;
    m.as.keyframe_part.tick = k->tick;
    m.as.keyframe_part.players = k->players;
    m.as.keyframe_part.offset = (uint32_t)p->sent;
    m.as.keyframe_part.total = (uint32_t)k->length;
    m.as.keyframe_part.bytes = k->bytes + p->sent;
    m.as.keyframe_part.length =
        (uint32_t)(left < FOLIOT__KEYFRAME_PART_BYTES ? left : FOLIOT__KEYFRAME_PART_BYTES);
    foliot__server_send(s->server, peer->id, &m);
    if (p->sent == p->heard && p->sent > 0) // nothing was on its way: the time begins now
        p->progress_ns = s->server->now_ns + FOLIOT__PROGRESS_NS;
    p->sent += m.as.keyframe_part.length;
    s->server->counters.keyframe_bytes_sent += m.as.keyframe_part.length;
    return m.as.keyframe_part.length;
}

// Some of the ticks from the state until now, reliably: they are all needed, and many.
static size_t send_ticks(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep *l = s->lockstep;
    foliot__lockstep_peer *p = &peer->lockstep;
    uint64_t end = foliot__lockstep_visible(s, peer), next = p->bulk;
    uint8_t block[FOLIOT__SCENE_PART_BYTES];
    size_t length = 0;
    if (p->bulk < end)
        length =
            foliot__block_of_oldest(&l->log, p->bulk, end, &l->block, block, sizeof block, &next);
    if (p->bulk < end && length != SIZE_MAX) {
        foliot__message m = {.kind = FOLIOT__TICKS_PART};
        m.as.ticks_part.first = p->bulk;
        m.as.ticks_part.ticks = (uint32_t)(next - p->bulk);
        m.as.ticks_part.block = block;
        m.as.ticks_part.length = (uint32_t)length;
        foliot__server_send(s->server, peer->id, &m);
        p->bulk = next;
    }
    if (p->bulk == end || length == SIZE_MAX) {
        p->joining = false;
        p->bulk_sent = true;
        p->word_ns = s->server->now_ns;
        p->patience_ns = FOLIOT__SILENT_NS +
                         (p->sent - p->heard) * 1000000000u / FOLIOT__PROGRESS_BYTES_A_SECOND;
    }
    return length == SIZE_MAX ? 0 : length + PART_HEAD_BYTES;
}

bool foliot__late_join_wants(const foliot__session *s, const foliot__peer *peer)
{
    const foliot__lockstep_peer *p = &peer->lockstep;
    if (!p->joining)
        return !p->bulk_sent;
    return p->sent == s->lockstep->keyframes[p->keyframe].length ||
           p->sent - p->heard < FOLIOT__KEYFRAME_WINDOW;
}

size_t foliot__late_join_send(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    if (!p->joining && !begin(s, peer))
        return 0;
    const foliot__keyframe *k = &s->lockstep->keyframes[p->keyframe];
    FOLIOT_ASSERT(k->valid && k->tick == p->start && p->sent <= k->length);
    return p->sent < k->length ? send_part(s, peer, k) : send_ticks(s, peer);
}

void foliot__late_join_check(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    uint64_t now = s->server->now_ns;
    if (!p->joining && !p->bulk_sent && peer->scene_sent == s->scene_length &&
        now - p->begun_ns >= FOLIOT__PROGRESS_NS)
        foliot__server_drop(s->server, peer, FOLIOT__REFUSE_BUSY,
                            "the session had no state to give it");
    else if ((p->bulk_sent && p->acked < s->lockstep->log.first) ||
             (p->joining && p->bulk < s->lockstep->log.first))
        give_anew(s, peer); // what it lacks is forgotten
    else if (p->joining && now >= p->progress_ns) {
        s->server->counters.keyframes_stalled++;
        foliot__server_drop(s->server, peer, FOLIOT__REFUSE_SLOW,
                            "it acknowledged next to nothing of the session's state");
    } else if (p->bulk_sent && now - p->word_ns >= p->patience_ns) {
        s->server->counters.peers_silent++;
        foliot__server_drop(s->server, peer, FOLIOT__REFUSE_SILENT,
                            "nothing was heard of it but its network's pings");
    }
}

void foliot__late_join_heard(foliot__session *s, foliot__peer *peer,
                             const foliot__keyframe_heard *heard)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    if (heard->tick != p->start || heard->offset <= p->heard || heard->offset > p->sent)
        return;
    p->heard = heard->offset;
    s->server->bulk_waits = true;
    if (p->heard - p->progress < FOLIOT__PROGRESS_BYTES)
        return;
    p->progress = p->heard;
    p->progress_ns = s->server->now_ns + FOLIOT__PROGRESS_NS;
}
