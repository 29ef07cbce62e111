// SPDX-License-Identifier: MIT
// player.h: one player: its place, its token and its inputs. player.c lets it in and keeps its
// place without a peer; input.c and stream.c hold its inputs until their tick is closed.
#ifndef FOLIOT_SERVER_LIB_PLAYER_H
#define FOLIOT_SERVER_LIB_PLAYER_H

#include "foliot/server.h"
#include "game.h"
#include "lockstep.h"
#include "wire/message.h"

#define FOLIOT__CHANGES_HELD 128    // of one player, for ticks to come
#define FOLIOT__TICKS_AHEAD_MAX 600 // that an input may be meant for
#define FOLIOT__SHOWN_TICKS 32      // of a player in lockstep whose shown ticks are remembered
#define FOLIOT__GAP_MAX 65536       // changes that a server's death may have lost of one player

typedef struct foliot__session foliot__session;
typedef struct foliot__peer foliot__peer;

typedef enum foliot__player_state {
    FOLIOT__PLAYER_NONE,
    FOLIOT__PLAYER_ENTERING, // joins the world with the next tick
    FOLIOT__PLAYER_IN_WORLD,
    FOLIOT__PLAYER_LEAVING,
} foliot__player_state;

// player.c: its token, which is replaced at every connection. The previous token stays valid until
// its owner has shown, by a packet, that the new one arrived; then only its proof is kept.
typedef struct foliot__player_token {
    foliot__token current;
    foliot_player_proof proof, before, spent; // spent: of the last one that holds no more
    bool same;                     // `before` was of this player; else of one that was gone
    bool rotated, acknowledged;    // to be noted in the recording, with the next tick
    uint64_t noted_tick, noted_ns; // that its block has, and when it was given to the recording
} foliot__player_token;

typedef enum foliot__input_way { FOLIOT__INPUT_BY_CHANGE, FOLIOT__INPUT_BY_TICK } foliot__input_way;

typedef struct foliot__queued_input {
    uint64_t due;   // acts in this tick, or the next that is closed
    uint64_t tick;  // meant for
    uint64_t shown; // the tick that its player saw then, in 1 / FOLIOT_AIM_PARTS of a tick
    foliot__input_way way;
    foliot_input input; // `sequence`: of the change; the world's is given when it acts
} foliot__queued_input;

#define FOLIOT__INPUTS_QUEUED (FOLIOT__CHANGES_HELD + FOLIOT__LATE_HELD + FOLIOT__INPUTS_A_TICK)

// input.c: inputs that wait for their tick, in the order in which they act.
typedef struct foliot__input_queue {
    foliot__queued_input entries[FOLIOT__INPUTS_QUEUED]; // ring
    uint32_t first, count, counts[2];                    // counts: by way
} foliot__input_queue;

// input.c, stream.c: its inputs, and the tick that its client shows with them.
typedef struct foliot__player_input {
    uint32_t next_sequence; // of the change expected next
    bool gap; // changes that the server acknowledged may have died with it: the next may be later
    // Inputs given to the world: changes follow the JOIN by their own sequences.
    uint32_t sequence, join_sequence;
    uint64_t late_changes;
    // The newest input given to the world: the tick that it was meant for, and its way.
    uint64_t newest_meant;
    foliot__input_way newest_way;
    foliot__input_queue queue;
    // The tick that its client shows: how long before the tick of its newest packet, in 1 /
    // FOLIOT_AIM_PARTS of a tick.
    uint16_t shown_before;
    // The same in lockstep, of the first packet for a tick, which has the changes.
    struct foliot__shown_at {
        uint64_t tick;
        uint16_t before;
    } shown_at[FOLIOT__SHOWN_TICKS];
} foliot__player_input;

typedef struct foliot__player_slot {
    foliot__player_state state;
    char name[FOLIOT_NAME_BYTES];
    foliot__player_token token;
    uint64_t host;                 // address of its last peer, to count by; 0: unknown
    uint64_t client;               // that the connect token of its last peer names; 0: none
    bool leaves;                   // its goodbye came before its first tick
    bool announced;                // everybody knows of it,
    uint32_t announced_body;       // and of this body
    int64_t peer;                  // index, -1: its peer is gone
    uint64_t lost_ns, received_ns; // when its peer was lost, and its last packet arrived
    foliot__player_input input;
    uint32_t aim; // the last one that the rules were given; UINT32_MAX: none
    foliot__order_book orders;
    char leave_reason[FOLIOT__LEAVE_REASON_BYTES]; // a sentence for the rules, may be ""
} foliot__player_slot;

// player.c
// Players who were present when the server that wrote the recording died.
void foliot__players_keep(foliot__session *session);
// A player for a newcomer, or the one that the token names. FOLIOT_NO_PLAYER if there is no room.
uint32_t foliot__player_enter(foliot__session *session, const foliot__hello_message *hello,
                              uint32_t peer, bool *resumed);
// Whether the address has used up its share of player places.
bool foliot__players_over_address(const foliot__session *session, uint64_t host);
// Whether a place becomes free for the newcomer: a player who has been silent for too long leaves
// with the next tick. `host` is the newcomer's, where its address has no place left, else 0.
bool foliot__players_yield(foliot__session *session, const foliot__peer *newcomer, uint64_t host);
// Whether somebody may return to that player with the token.
bool foliot__player_known(const foliot__session *session, const foliot__token *token);
void foliot__player_acknowledge_token(foliot__session *session,
                                      const foliot__peer *peer); // its welcome, as it plays
// The peer has ended. Whether its player was its own still, and has no peer now.
bool foliot__player_peer_lost(foliot__session *session, const foliot__peer *peer);
void foliot__players_expire(foliot__session *session); // those whose peers do not come back
// A pause that lasted for `rested_ns` ends: places are kept as long again.
void foliot__players_rest(foliot__session *session, uint64_t rested_ns, uint64_t now_ns);

// input.c
void foliot__input_receive(foliot__session *session, foliot__peer *peer,
                           const foliot__input_packet *packet);

// False: the queue of that way is full. `due` is set here.
bool foliot__input_queue_add(foliot__input_queue *queue, const foliot__queued_input *input);
// The next input that acts in the tick, or should have acted earlier. False: there is none.
bool foliot__input_queue_pop(foliot__input_queue *queue, uint64_t tick,
                             foliot__queued_input *input);
void foliot__input_queue_show(foliot__input_queue *queue, uint64_t shown); // those by tick
void foliot__input_queue_drop(foliot__input_queue *queue, foliot__input_way way);

// stream.c
void foliot__stream_restart(foliot__session *session, uint32_t player);
void foliot__stream_receive(foliot__session *session, foliot__peer *peer,
                            const foliot__block *block, uint64_t first);
// Queues the inputs of the tick that is closed now.
void foliot__stream_close(foliot__session *session, uint32_t player);

#endif
