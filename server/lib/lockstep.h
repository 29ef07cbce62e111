// SPDX-License-Identifier: MIT
// lockstep.h: the server's data of a lockstep session. lockstep.c sends closed ticks and reads the
// replies; stream.c holds players' inputs until their tick is closed, and relays them early;
// keyframe.c and late_join.c save states and send them to newcomers; desync.c compares digests and
// locates differences.
#ifndef FOLIOT_SERVER_LIB_LOCKSTEP_H
#define FOLIOT_SERVER_LIB_LOCKSTEP_H

#include <stdatomic.h>

#include "base/bucket.h"
#include "foliot/divergence.h"
#include "foliot/server.h"
#include "foliot/simulation.h"
#include "recording/keyframe_codec.h"
#include "divergence/rewind.h"
#include "wire/lockstep_message.h"
#include "wire/tick_log.h"

#define FOLIOT__STREAM_TICKS 1024 // of one player that are held, past and to come
#define FOLIOT__STREAM_PAST 300   // of them past: to tell a repeated input from another one
#define FOLIOT__LONG_AGO 900      // ticks: no honest input takes longer
#define FOLIOT__LATE_HELD 32
#define FOLIOT__INPUTS_A_TICK 4 // of one player
#define FOLIOT__LOG_SECONDS                                                                        \
    (foliot__lockstep_limits_now()                                                                 \
         ->log_seconds)          // of closed ticks are kept, and what spectators are behind
#define FOLIOT__CHAIN_TICKS 4096 // in which a divergence is searched for
#define FOLIOT__KEYFRAME_SECONDS (foliot__lockstep_limits_now()->keyframe_seconds)
#define FOLIOT__KEYFRAMES_SPARE 4
// The least time between a state that is saved early and the one before it: peers that are being
// sent a state would otherwise lose it.
#define FOLIOT__KEYFRAME_LEAST_NS 500000000u
#define FOLIOT__KEYFRAME_WINDOW                                                                    \
    (foliot__lockstep_limits_now()->window_bytes) // bytes of a saved state on their way to one peer
#define FOLIOT__KEYFRAME_PART_BYTES (foliot__lockstep_limits_now()->part_bytes)
// A peer that is being sent a state must acknowledge PROGRESS_BYTES more of it every PROGRESS_NS
// and four round trips, which count as 10 s at most. (256 kbit/s with 5 % loss and a round trip of
// 2 s carries some ten times as much.)
#define FOLIOT__PROGRESS_BYTES 8192u
#define FOLIOT__PROGRESS_NS 10000000000u
#define FOLIOT__PROGRESS_BYTES_A_SECOND                                                            \
    4096u // bytes sent before the state may take as long as at this rate
#define FOLIOT__SILENT_NS                                                                          \
    10000000000u // of silence, after which a peer is dropped, although its transport answers
#define FOLIOT__EARLY_QUEUE 256u       // inputs that wait to be relayed early
#define FOLIOT__EARLY_SHARE 0.14       // of the bytes of closed ticks, at most
#define FOLIOT__EARLY_BYTES_MAX 16384  // that may be sent at once
#define FOLIOT__EARLY_BLOCK_BYTES 256u // of one packet
#define FOLIOT__RESTARTS_MAX 4         // further states that one peer is sent, before it is dropped

typedef enum foliot__violation {
#define FOLIOT__VIOLATION_ENUM(name, help) FOLIOT__VIOLATION_##name,
    FOLIOT_SERVER_VIOLATIONS(FOLIOT__VIOLATION_ENUM)
#undef FOLIOT__VIOLATION_ENUM
        FOLIOT__VIOLATION_COUNT
} foliot__violation;

// A player's inputs, by the tick that they are meant for.
typedef struct foliot__stream {
    foliot__tick_log log;
    bool begun;
    uint64_t given;                 // all ticks before have had their inputs given to the world
    uint64_t newest_given;          // 1 + the tick of the newest of them
    uint32_t late_changes, missing; // so far
} foliot__stream;

typedef struct foliot__keyframe {
    bool valid;
    uint64_t tick;
    uint32_t players; // sequence numbers in front of the saved state
    uint8_t *bytes;   // as searches take it
    size_t length, capacity;
    uint8_t *packed; // as newcomers are sent it: compressed, or NULL where that saves nothing
    size_t packed_length, packed_capacity;
    uint32_t pins; // peers that are sent it, when last counted
    double rate;   // of the fastest of them, bytes a second
} foliot__keyframe;

// Violations that no honest peer commits. They are kept when the peer begins again.
typedef struct foliot__misbehaviour {
    uint64_t violations[FOLIOT__VIOLATION_COUNT];
    uint32_t offences;
    uint64_t offence_ns, forgiven_ns;
    uint32_t restarts;      // further states that it was sent, since it last had caught up
    uint32_t searches;      // for its divergences
    foliot__bucket packets; // that it may still send
} foliot__misbehaviour;

// A healing state is sent while the peer keeps the diverged one.
typedef enum foliot__heal {
    FOLIOT__HEAL_NONE,
    FOLIOT__HEAL_HELD,     // all but its last part, until nothing is searched for any more
    FOLIOT__HEAL_RELEASED, // to its end
} foliot__heal;

// late_join.c: how a peer gets a state and the ticks since.
typedef struct foliot__state_transfer {
    bool joining;   // they are being sent: keyframe, sent and acknowledged are valid
    bool bulk_sent; // they were sent
    bool goes_on;   // an earlier state was this connection's: the player's stream stays
    foliot__heal heal;
    uint64_t heal_after; // the tick of a state that heals is a later one
    uint64_t bulk;       // ticks before were sent reliably, behind the state; valid if bulk_sent
    uint32_t keyframe;   // index
    size_t sent, acknowledged; // bytes of it
    size_t progress;           // bytes acknowledged when the time below began
    uint64_t begun_ns;         // when the state began, or the waiting for one
    uint64_t progress_ns;      // more must be acknowledged by then
} foliot__state_transfer;

typedef enum foliot__check_state {
    FOLIOT__CHECK_EQUAL,    // as far as digests were compared
    FOLIOT__CHECK_DIVERGED, // waits for its search
    FOLIOT__CHECK_SEARCHED, // has had it, or gets none
} foliot__check_state;

// desync.c: digests that a peer reported, and the progress of their comparison.
typedef struct foliot__desync_check {
    foliot__check_state state;
    bool put_off; // no budget was left when its search was to begin
    uint64_t stepped, digests, compared;
    uint64_t sum_start;
    uint64_t search_ns; // not before
    uint64_t diverged_ns;
} foliot__desync_check;

// One peer in a lockstep session. Fields outside the groups are written by lockstep.c.
typedef struct foliot__lockstep_peer {
    uint64_t start; // tick of the state that it began with
    uint64_t acked; // all ticks before have come
    foliot__tick_acks acks;
    uint64_t commanded;    // commands of ticks before were sent
    uint64_t word_ns;      // when its last packet came, or the whole state was sent
    uint64_t patience_ns;  // of silence, after which it is dropped
    uint64_t window_first; // of the last relay packet
    uint64_t hole_ns;      // when holes were last filled
    uint32_t hole_copies;
    uint16_t echo_ms;
    uint64_t stamp;
    uint64_t early_until_ns; // it predicts: inputs of others are of use to it before their tick
    foliot__state_transfer transfer;
    foliot__desync_check check;
} foliot__lockstep_peer;

// Inputs for future ticks that were not relayed yet, by tick and player.
typedef struct foliot__early_queue {
    uint64_t ticks[FOLIOT__EARLY_QUEUE];
    foliot_input inputs[FOLIOT__EARLY_QUEUE];
    uint32_t count;
    uint64_t until_ns;    // some peer has asked for them
    double bytes;         // that may be sent: a share of the bytes of closed ticks
    uint64_t sent_before; // a packet went out before this tick was closed: the next one waits
} foliot__early_queue;

// The search for one peer's divergence; the others wait.
typedef struct foliot__divergence_search {
    bool active;
    uint32_t peer; // index
    foliot_peer_id id;
    uint64_t first; // state in the chain
    uint64_t *chain;
    foliot_search search;
    uint32_t number; // of the request that waits for its response; 0: none
    uint64_t asked_ns, begun_ns;
    // A saved state before `first`, kept during the search: those for newcomers soon get younger.
    uint8_t *state; // NULL: none
    size_t state_length;
    uint64_t state_tick;
    foliot__rewind rewind;
    bool running; // on a worker
    atomic_bool finished;
    // The last divergence found, until the next search begins.
    bool reported, has_case;
    uint64_t found_ns;
    foliot_divergence_report found;
    char name[FOLIOT_NAME_BYTES];
} foliot__divergence_search;

typedef struct foliot__lockstep {
    foliot__tick_log log; // closed ticks
    foliot__command_log commands;
    bool lost_commands;     // of the tick that was closed last: no memory
    uint64_t *sums;         // of digest shares, by tick, as many as the log has ticks
    foliot_digest *digests; // by tick, as many
    foliot__divergence_search search;
    foliot__stream *streams; // a player each
    foliot__early_queue early;
    foliot__keyframe *keyframes;
    uint32_t keyframe_count, keyframe_ticks;
    bool keyframe_wanted; // before its time
    uint64_t keyframe_ns; // when the last one was begun
    uint64_t hole_work;   // that may still be done in this tick
    foliot__keyframe_encoder encoder;
    foliot__keyframe *saving; // the step that runs saves into it; NULL: nothing
    foliot_digest digest;     // of the tick that it produced
    foliot__block block;      // scratch
} foliot__lockstep;

typedef struct foliot__session foliot__session;
typedef struct foliot__peer foliot__peer;

// lockstep.c
foliot_status foliot__lockstep_create(foliot__session *session); // no step runs
void foliot__lockstep_destroy(foliot__session *session);
void foliot__lockstep_closed(foliot__session *session); // the tick whose step is about to start
void foliot__lockstep_receive(foliot__session *session, foliot__peer *peer,
                              const foliot__lockstep_input *packet);

// stream.c
void foliot__early_ask(foliot__session *session, foliot__peer *peer); // it predicts
// Inputs that arrived in time for a tick that is not closed.
void foliot__early_add(foliot__session *session, uint64_t tick, const foliot_input *inputs,
                       uint32_t count);
void foliot__early_update(foliot__session *session); // relays them
// `bytes` of closed ticks were sent, which raises the budget of early inputs.
void foliot__early_allow(foliot__session *session, size_t bytes);

// keyframe.c
void foliot__keyframe_prepare(foliot__session *session, foliot__keyframe *keyframe);
void foliot__keyframe_choose(foliot__session *session);
void foliot__keyframe_save(foliot__session *session);
bool foliot__keyframe_saved(foliot__session *session);
// The newest state not after `tick` for which all later ticks are known. NULL: none.
const foliot__keyframe *foliot__keyframe_before(const foliot__session *session, uint64_t tick);
// The peer's state, or the ticks after it, are not kept any more: it begins again. This may end the
// peer, if it happened too often.
void foliot__keyframe_withdraw(foliot__session *session, foliot__peer *peer);

// late_join.c
bool foliot__late_join_possible(const foliot__session *session, bool spectates);
// Every tick: a peer that lacks forgotten ticks begins again, and one without progress is dropped.
// This may end the peer.
void foliot__late_join_check(foliot__session *session, foliot__peer *peer);
void foliot__late_join_acknowledge(foliot__session *session, foliot__peer *peer,
                                   const foliot__keyframe_acknowledge *message);

// desync.c
void foliot__desync_check_report(foliot__session *session, foliot__peer *peer, uint64_t stepped,
                                 uint64_t digests);
void foliot__desync_check_step(foliot__session *session); // a step has finished

void foliot__divergence_search_update(foliot__session *session);
void foliot__divergence_search_response(foliot__session *session, const foliot__peer *peer,
                                        const foliot__search_message *answer);
bool foliot__divergence_search_running(const foliot__session *session); // on a worker

#endif
