// SPDX-License-Identifier: MIT
// game.h: the game of a session: queued commands, rules that run after every step, orders of
// players, and updates to watchers. commands.c closes a tick's commands and runs the rules;
// orders.c receives orders; updates.c sends updates and messages.
#ifndef FOLIOT_SERVER_LIB_GAME_H
#define FOLIOT_SERVER_LIB_GAME_H

#include "base/bucket.h"
#include "base/pack.h"
#include "foliot/command.h"
#include "foliot/rules.h"
#include "foliot/server.h"
#include "wire/session_state.h"

#define FOLIOT__ORDERS_HELD 256   // of one player, that wait for their tick
#define FOLIOT__ORDERS_A_TICK 32  // of one player, the rest in the ticks after it
#define FOLIOT__ORDERS_BURST 256u // that may come at once: a network held them back
// Orders a second and player. A clock that is a little fast is not a fault.
#define FOLIOT__ORDERS_EVERY_NS (1e9 / (1.01 * FOLIOT_ORDERS_PER_SECOND_MAX))
#define FOLIOT__ORDER_ACKNOWLEDGE_NS 200000000u // between two, at least
#define FOLIOT__LEAVE_REASON_BYTES 128
// Messages queued for delayed spectators, updates included. Updates are never dropped.
#define FOLIOT__DELAYED_BYTES_MAX ((size_t)32 << 20)
// Reliable pieces that a peer may leave unacknowledged: some 8 MB in pieces of 1 KB, and less where
// the path has a small MTU. A newcomer's missing bytes count as smallest pieces.
#define FOLIOT__BACKLOG_MAX 8192u
#define FOLIOT__BACKLOG_PIECE_BYTES 448u
#define FOLIOT__AIM_BACK_SECONDS 0.25 // a shot is judged at most this far in the past
// Ticks after the acknowledged one: the most that a client predicts, and shows beyond that.
#define FOLIOT__AIM_AHEAD_TICKS 20u
// Most aims of one player in a tick: later orders use the last one. So the orders of all players in
// one tick fit into a block of a recording.
#define FOLIOT__AIMS_A_TICK 16
#define FOLIOT__AIM_STEADY 2u // while a button is held, smaller changes of the aim are left out

// The orders of one player. `next`, `closed` and `safe` are numbers of the protocol. `sequence` is
// that of the orders that rules get: refused orders do not count, and joining and leaving do.
typedef struct foliot__order_book {
    uint32_t next;         // that is expected
    uint32_t sequence;     // of the last closed order of this place, whichever player had it
    uint32_t waiting;      // orders of this player, among the session's
    uint32_t closed, safe; // up to here: closed with a tick; known to outlive the server
    uint32_t saving;       // will be safe when the recording has written `saving_tick`
    uint64_t saving_tick;  // 0: nothing is
    uint64_t acknowledged_ns;
    uint32_t acknowledged;
    foliot__bucket bucket; // orders that may still come
    uint64_t over_budget;  // orders that the rules refused
    bool gap;              // orders that were acknowledged as safe may be lost with a server's disk
} foliot__order_book;

typedef struct foliot__waiting_order {
    foliot_order order;
    uint64_t shown; // when it was given, in 1 / FOLIOT_AIM_PARTS of a tick; 0: nothing
} foliot__waiting_order;

// A datagram or message for delayed spectators.
typedef struct foliot__delayed {
    uint64_t tick;
    foliot_delivery delivery;
    bool update; // `bytes` are an update
    size_t length;
    uint8_t *bytes;
} foliot__delayed;

// Events of steps, for the host: a ring.
typedef struct foliot__step_events {
    uint32_t wanted; // bits of foliot_step_event_set; 0: none, and the rest is empty
    foliot_step_event *events;
    uint32_t first, count, capacity;
    uint64_t dropped;
    uint64_t world_dropped;         // of the world's counter, so far
    foliot_contact_event *contacts; // scratch, which grows; sensors too
    uint32_t contact_capacity;
    foliot_sensor_event *sensors;
    uint32_t sensor_capacity;
} foliot__step_events;

typedef struct foliot__game {
    foliot_rules *rules; // lent; NULL: none
    foliot_rules_view view;
    uint32_t commands_max;        // 0: the session takes none
    foliot_command_list queued;   // of the host and of administrators, for the next tick
    foliot_command_list commands; // of the step that runs
    uint32_t sequence;            // of the last command
    bool rules_reported;
    bool stop_recorded;             // a keyframe was requested when they were stopped
    uint64_t rules_dropped;         // callbacks
    bool strict;                    // then the session ends
    bool looks_back;                // rules of a scene with history_ticks
    foliot__waiting_order *waiting; // by arrival
    uint32_t waiting_count, waiting_capacity;
    foliot_order *orders; // closed with the step that runs
    uint32_t order_count, order_capacity;
    // The states that watchers have: all of them, and delayed spectators.
    bool updates; // are sent: not in lockstep, where peers step the world
    foliot__session_state now, shown;
    foliot__update_writer writer;
    size_t greeting_bytes;    // of the last full update
    foliot__delayed *delayed; // ring, by tick
    size_t delayed_first, delayed_count, delayed_capacity, delayed_bytes;
    foliot__buffer packed;   // scratch
    foliot__buffer messages; // since the last step was finished, for the recording
} foliot__game;

typedef struct foliot__session foliot__session;
typedef struct foliot__peer foliot__peer;

typedef enum foliot__update_route {
    FOLIOT__UPDATE_NONE,     // to no peer: the initial state
    FOLIOT__UPDATE_CHANGE,   // to all watchers, at once or when they may see it
    FOLIOT__UPDATE_COMMON,   // to watchers, whatever is near them: `behind` says which
    FOLIOT__UPDATE_END,      // to steppers
    FOLIOT__UPDATE_GREETING, // to a newcomer: replaces all that it knew
    FOLIOT__UPDATE_NEAR,     // to one watcher, out of its budget
} foliot__update_route;

typedef struct foliot__update_target {
    foliot__session *session;
    foliot__update_route route;
    uint64_t tick;
    bool behind;
    foliot__peer *peer; // of GREETING and NEAR
    uint32_t messages;  // emitted so far
    size_t bytes;       // in them
} foliot__update_target;

// updates.c
foliot_status foliot__updates_begin(foliot__session *session);
void foliot__updates_end(foliot__session *session);
void foliot__updates_step(foliot__session *session);                      // a step has finished
void foliot__updates_greet(foliot__session *session, foliot__peer *peer); // all so far
// To one player or FOLIOT_TO_ALL; `from` is a player or FOLIOT_NO_PLAYER.
void foliot__session_message(foliot__session *session, uint32_t to, uint32_t from,
                             const uint8_t *bytes, size_t length, bool reliable);

// Emits an update to its target: `user` is a foliot__update_target.
void foliot__update_emit(void *user, const uint8_t *bytes, size_t length);

// orders.c
void foliot__orders_receive(foliot__session *session, foliot__peer *peer,
                            const foliot__order_message *message);
void foliot__orders_enter(foliot__order_book *book, uint64_t now_ns); // a new player
// A player from before the server's death; `sequence` is that of its last order.
void foliot__orders_keep(foliot__order_book *book, uint32_t sequence, uint32_t aims,
                         uint64_t now_ns);
// Closes the player's orders for the current tick; `all`: the player leaves.
void foliot__orders_close(foliot__session *session, uint32_t player, bool all);
void foliot__orders_forget(foliot__session *session, uint32_t player); // those that wait
// For rules that look back: the tick that the player was shown, bounded, ahead of its actions.
// `steady`: it does nothing new, and small changes are left out.
void foliot__orders_close_aimed(foliot__session *session, uint32_t player, uint64_t shown,
                                bool steady);
void foliot__orders_close_joined(foliot__session *session, uint32_t player);
void foliot__orders_close_left(foliot__session *session, uint32_t player);
// Reserves room for `count` more orders of the current tick; false without memory.
bool foliot__orders_reserve(foliot__session *session, uint32_t count);
void foliot__orders_acknowledge(foliot__session *session);

// commands.c
void foliot__commands_close(foliot__session *session); // of the tick that is closed now
// For a simulation that is not a world: turns the orders closed with the tick into commands.
void foliot__commands_apply_orders(foliot__session *session);
void foliot__rules_run(foliot__session *session);           // after its step, on the same thread
void foliot__rules_apply_results(foliot__session *session); // when the step has finished
// The reason if strict rules end the session; NULL: they do not.
const char *foliot__rules_end_session(const foliot__session *session);

// step_events.c
foliot_status foliot__step_events_create(foliot__session *session,
                                         const foliot_session_config *config);
void foliot__step_events_destroy(foliot__step_events *events);
void foliot__step_events_append(foliot__session *session); // a step has finished
uint32_t foliot__step_events_poll(foliot__step_events *step_events, foliot_step_event *events,
                                  uint32_t capacity);

#endif
