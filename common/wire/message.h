// SPDX-License-Identifier: MIT
// message.h: the messages between server and client (docs/reference/protocol.md). Control messages
// are msgpack arrays [kind, fields...] on the reliable channel; inputs, snapshots and status have
// their own byte formats, each starting with its kind, on the unreliable one. Every decoder accepts
// hostile bytes.
#ifndef FOLIOT_WIRE_MESSAGE_H
#define FOLIOT_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/digest.h"
#include "foliot/rules.h"
#include "foliot/scene.h"
#include "foliot/simulation.h"
#include "foliot/snapshot.h"
#include "foliot/status.h"

#define FOLIOT__SENTENCE_BYTES 256
#define FOLIOT__SCENE_PART_BYTES 8192
#define FOLIOT__COMMAND_RUNS_BYTES 160 // maximum per message for the runs of ticks with commands
#define FOLIOT__CONTROL_BYTES_MAX (FOLIOT__SCENE_PART_BYTES + FOLIOT__COMMAND_RUNS_BYTES + 64)
#define FOLIOT__INPUTS_A_PACKET 64
#define FOLIOT__NO_TICK UINT64_MAX

// The right to be a player: its owner resumes that player after a lost connection. The server draws
// it, sends it to the owner only, and never logs it. All zero: none.
typedef struct foliot__token {
    uint8_t bytes[16];
} foliot__token;

static inline bool foliot__token_is_none(const foliot__token *token)
{
    uint8_t any = 0;
    for (size_t i = 0; i < sizeof token->bytes; i++)
        any |= token->bytes[i];
    return any == 0;
}

typedef enum foliot__message_kind {
    FOLIOT__HELLO_MESSAGE = 1,        // client: its identity and its request
    FOLIOT__WELCOME = 2,              // server: the join is accepted
    FOLIOT__REFUSE = 3,               // server: the join is refused, with the reason
    FOLIOT__SCENE_PART = 4,           // server: a part of the scene's canonical bytes
    FOLIOT__PLAYER = 5,               // server: a player joined or left
    FOLIOT__BYE = 6,                  // both: the end, on purpose
    FOLIOT__KEYFRAME_PART = 7,        // server, lockstep: a part of a saved state
    FOLIOT__TICKS_PART = 8,           // server, lockstep: closed ticks after it
    FOLIOT__KEYFRAME_ACKNOWLEDGE = 9, // client, lockstep: the number of bytes received
    FOLIOT__SEARCH_REQUEST = 10,      // server, lockstep: in search of a divergence
    FOLIOT__SEARCH_RESPONSE = 11,     // client, lockstep
    FOLIOT__DIVERGED = 12,            // server, lockstep: the result of the search
    FOLIOT__ORDER = 13,               // client: from a player to the session's rules
    FOLIOT__ORDER_ACKNOWLEDGE = 14,   // server: orders that are safe
    FOLIOT__MESSAGE = 15,             // server: from the rules, the host or another player
    FOLIOT__INPUT_PACKET = 16,        // client, unreliable
    FOLIOT__SNAPSHOT_PACKET = 17,     // server, unreliable: and a piece of a snapshot behind it
    FOLIOT__STATUS_PACKET = 18,       // server, unreliable
    // 19 to 21: lockstep_message.h
    FOLIOT__UPDATE = 22,   // server: changes of state other than poses (session_state.h)
    FOLIOT__COMMANDS = 23, // server, lockstep: commands of a closed tick
    // 24: lockstep_message.h
    FOLIOT__KIND = 25, // both: which kind of peer the client is to be, or is
} foliot__message_kind;

// The kind of a peer: it steps the world itself, or it watches snapshots of it.
typedef enum foliot__kind {
    FOLIOT__KIND_ANY = 0, // as the session's mode says
    FOLIOT__KIND_WATCHER = 1,
    FOLIOT__KIND_STEPPER = 2,
} foliot__kind;

// Why a peer is of that kind.
typedef enum foliot__kind_reason {
    FOLIOT__KIND_WISHED = 0,      // by the client
    FOLIOT__KIND_READY = 1,       // client: it is of the assigned kind; the other traffic may end
    FOLIOT__KIND_FINGERPRINT = 2, // it computes differently, and could not step
    FOLIOT__KIND_SLOW = 3,        // it could not keep up
    FOLIOT__KIND_DIVERGED = 4,    // server: until it has received the server's state
    FOLIOT__KIND_UNHEALED = 5,    // server: it differed again too soon after that
    FOLIOT__KIND_TOO_SOON = 6,    // server: it changes too often, and keeps its kind
    FOLIOT__KIND_IMPOSSIBLE = 7,  // server: the session supports no other kind for it
} foliot__kind_reason;

typedef struct foliot__hello_message {
    uint32_t protocol;               // if not ours, the rest was not read
    char session[FOLIOT_NAME_BYTES]; // "" is the first one
    char name[FOLIOT_NAME_BYTES];
    bool name_too_long; // and is not in `name`
    bool spectates;
    foliot__token token; // of the player to resume
    foliot_digest fingerprint;
    char build[FOLIOT_NAME_BYTES];
    bool force_stepping;                     // into a lockstep session of another fingerprint
    char simulation[FOLIOT_KIND_NAME_BYTES]; // that it can step, and the version of its rules
    uint32_t rules;
    uint32_t kind; // foliot__kind, wished
} foliot__hello_message;

typedef struct foliot__welcome {
    uint32_t protocol;
    char session[FOLIOT_NAME_BYTES], scene[FOLIOT_NAME_BYTES], integrator[FOLIOT_NAME_BYTES];
    uint32_t player; // FOLIOT_NO_PLAYER: a spectator
    foliot__token token;
    uint64_t tick;
    double dt, pace_hz, snapshot_hz;
    foliot_snapshot_format format;
    uint32_t scene_bytes; // that will follow in parts; in lockstep, the simulation's setup
    foliot_digest fingerprint;
    bool lockstep; // the client is a stepper
    uint32_t
        input_delay; // ticks, lockstep: inputs made now are for a tick that is closed no earlier
    bool resumed;    // `player` is the one of the hello's token: its changes continue by their
                     // sequences
    uint32_t orders; // of this player that are here, by their sequence: the next is one more
    bool watchable;  // the session has snapshots for clients that want to watch
    uint32_t kind_reason; // foliot__kind_reason
    double near, far; // of the session's interest, length units; far 0: whole snapshots are sent
} foliot__welcome;

// Why a client is refused. Those marked may be tried again.
#define FOLIOT__DISCONNECT_REFUSED 256 // data of a disconnect: this and the reason
#define FOLIOT__DISCONNECT_NEXT 301    // the session restarts with another scene: reconnect
#define FOLIOT__REFUSALS(X)                                                                        \
    X(PROTOCOL, 1, false)                                                                          \
    X(SESSION, 2, false)                                                                           \
    X(FULL, 3, true)                                                                               \
    X(NAME, 4, false)                                                                              \
    X(FINGERPRINT, 5, false)                                                                       \
    X(CLOSING, 6, true)                                                                            \
    X(MALFORMED, 7, false)                                                                         \
    X(SIMULATION, 8, false)                                                                        \
    X(VIOLATION, 9, false)                                                                         \
    X(BUSY, 10, true)                                                                              \
    X(SLOW, 11, true)                                                                              \
    X(SILENT, 12, true)
typedef enum foliot__refusal {
#define FOLIOT__REFUSAL_ENUM(name, value, again) FOLIOT__REFUSE_##name = (value),
    FOLIOT__REFUSALS(FOLIOT__REFUSAL_ENUM)
#undef FOLIOT__REFUSAL_ENUM
} foliot__refusal;

typedef struct foliot__refuse {
    uint32_t reason; // foliot__refusal
    bool again;
    char sentence[FOLIOT__SENTENCE_BYTES];
} foliot__refuse;

typedef struct foliot__scene_part {
    uint32_t offset, total;
    const uint8_t *bytes; // in place
    uint32_t length;
} foliot__scene_part;

typedef struct foliot__player_message {
    uint32_t player;
    bool joined;
    uint32_t slot; // its body
    char name[FOLIOT_NAME_BYTES];
} foliot__player_message;

// Several of these make a saved state, compressed by zstd: `players` sequence numbers of inputs so
// far (u32 each), then what the simulation saved.
typedef struct foliot__keyframe_part {
    uint64_t tick;
    uint32_t players, offset, total;
    const uint8_t *bytes; // in place
    uint32_t length;
    uint32_t state_bytes; // size after decompression; equal to `total`: not compressed
} foliot__keyframe_part;

typedef struct foliot__ticks_part {
    uint64_t first;
    uint32_t ticks;
    const uint8_t *block; // in place
    uint32_t length;
    const uint8_t *commands; // in place: which of these ticks have commands (lockstep_message.h)
    uint32_t commands_length;
} foliot__ticks_part;

typedef struct foliot__keyframe_acknowledge {
    uint64_t tick;
    uint32_t offset;
} foliot__keyframe_acknowledge;

// Message of the search, both ways.
#define FOLIOT__SEARCH_BYTES_MAX 1024
typedef struct foliot__search_message {
    uint32_t number;      // an answer has the number of its question
    uint64_t first;       // of a question: the chain of digests begins with this state's
    const uint8_t *bytes; // in place
    uint32_t length;
} foliot__search_message;

// The result of the search: foliot_divergence without its pointers. Texts are empty where nothing
// is known.
typedef struct foliot__diverged {
    uint64_t tick, index, expected, actual, ulps;
    uint32_t part, field, type, body;
    char stage[FOLIOT_NAME_BYTES], group[FOLIOT_NAME_BYTES], field_name[FOLIOT_NAME_BYTES];
    bool part_known, field_known;
} foliot__diverged;

typedef struct foliot__order_message {
    uint32_t sequence;    // of the player, from the welcome's on, without holes
    uint32_t kind;        // FOLIOT_ORDER_GAME, FOLIOT_ORDER_CHAT
    const uint8_t *bytes; // in place
    uint32_t length;
    uint64_t shown; // shown when the order was given, in 1 / FOLIOT_AIM_PARTS of a tick; 0: nothing
                    // was shown
} foliot__order_message;

typedef struct foliot__order_acknowledge {
    uint32_t sequence; // all orders up to it are closed, and recorded where there is a recording
} foliot__order_acknowledge;

typedef enum foliot__message_from {
    FOLIOT__FROM_GAME = 0,
    FOLIOT__FROM_PLAYER = 1, // chat
} foliot__message_from;

typedef struct foliot__game_message {
    uint64_t tick;        // it is of the state after that many steps
    uint32_t from;        // foliot__message_from
    uint32_t player;      // the sender; FOLIOT_NO_PLAYER: the game
    const uint8_t *bytes; // in place
    uint32_t length;
} foliot__game_message;

#define FOLIOT__UPDATE_BYTES_MAX FOLIOT__SCENE_PART_BYTES
typedef struct foliot__update {
    uint64_t tick; // the state after that many steps
    bool full;     // earlier knowledge is void: this part and those after it contain everything
    const uint8_t *bytes; // in place
    uint32_t length;
} foliot__update;

// Maximum per tick: canonical bytes, a source for each command, a sequence.
#define FOLIOT__TICK_COMMANDS_BYTES_MAX (2 * FOLIOT_COMMAND_TICK_BYTES_MAX + 16)
typedef struct foliot__commands_part {
    uint64_t tick;
    uint32_t offset, total; // in bytes
    const uint8_t *bytes;   // in place
    uint32_t length;
} foliot__commands_part;

typedef struct foliot__kind_message {
    uint32_t kind;     // foliot__kind
    uint64_t tick;     // the server's next; or the client's
    uint32_t sequence; // server: the next change of this player is to have it, or a later one
    uint32_t reason;   // foliot__kind_reason
} foliot__kind_message;

typedef struct foliot__bye {
    char sentence[FOLIOT__SENTENCE_BYTES];
} foliot__bye;

// Any control message, decoded.
typedef struct foliot__message {
    foliot__message_kind kind;
    union {
        foliot__hello_message hello;
        foliot__welcome welcome;
        foliot__refuse refuse;
        foliot__scene_part scene_part;
        foliot__player_message player;
        foliot__bye bye;
        foliot__keyframe_part keyframe_part;
        foliot__ticks_part ticks_part;
        foliot__keyframe_acknowledge keyframe_acknowledge;
        foliot__search_message search; // question, answer
        foliot__diverged diverged;
        foliot__order_message order;
        foliot__order_acknowledge order_acknowledge;
        foliot__game_message message;
        foliot__update update;
        foliot__commands_part commands;
        foliot__kind_message kind;
    } as;
} foliot__message;

// FOLIOT_STATUS_FULL if it does not fit (FOLIOT__CONTROL_BYTES_MAX always does).
foliot_status foliot__message_encode(const foliot__message *message, uint8_t *bytes,
                                     size_t capacity, size_t *length);
// FOLIOT_STATUS_TRUNCATED, FOLIOT_STATUS_CORRUPT; names are made printable.
foliot_status foliot__message_decode(const uint8_t *bytes, size_t length, foliot__message *message);

// Whether the bytes may be a control message, and not one of the packets that start with their
// kind: those may overtake a welcome.
static inline bool foliot__message_is_control(const uint8_t *bytes, size_t length)
{
    return length > 0 && bytes[0] >= 0x80;
}

// Whether bytes begin as a hello does. Hellos and welcomes also travel unreliably, several times.
bool foliot__message_is_hello(const uint8_t *bytes, size_t length);

// A change of a player's controls, as it travels until the server has it.
typedef struct foliot__change {
    uint32_t sequence; // from 1, without holes
    uint64_t tick;     // in which it counts
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons;
    uint16_t shown; // when it was made: how long before `tick`, in 1 / FOLIOT_AIM_PARTS of a tick
} foliot__change;

// A tick in such parts that was shown, as the time before a later one: bounded by what 16 bits
// hold. Nothing shown (0) and a tick to come are the tick itself.
static inline uint16_t foliot__shown_before(uint64_t tick, uint64_t shown)
{
    uint64_t at = tick * FOLIOT_AIM_PARTS, age = shown && shown < at ? at - shown : 0;
    return (uint16_t)(age < UINT16_MAX ? age : UINT16_MAX);
}

// And back.
static inline uint64_t foliot__shown_of(uint64_t tick, uint16_t before)
{
    uint64_t at = tick * FOLIOT_AIM_PARTS;
    return at > before ? at - before : 1;
}

typedef struct foliot__input_packet {
    uint64_t newest_snapshot; // complete at the client; FOLIOT__NO_TICK: none
    uint64_t tick;            // the client's: inputs made now count in this one
    uint16_t shown;           // how long before `tick` is shown now, as of a change
    uint32_t sent_us;         // client's clock, comes back in a status
    uint32_t count;
    foliot__change changes[FOLIOT__INPUTS_A_PACKET]; // oldest first, consecutive sequences
} foliot__input_packet;

typedef struct foliot__status_packet {
    uint32_t sent;     // snapshots of different ticks that were sent to this client
    uint32_t tick;     // of the newest of these, low bits
    uint32_t sequence; // all changes up to it have arrived
    int32_t slack_us;  // how long before its tick closed the newest input packet came; < 0: late
    uint32_t late_changes; // counted so far
    uint32_t echo_us;      // sent_us of that packet
    uint32_t held_us;      // between its arrival and this status
} foliot__status_packet;

size_t foliot__input_packet_encode(const foliot__input_packet *packet,
                                   uint8_t bytes[FOLIOT_SNAPSHOT_PIECE_BYTES]);
// Ticks travel as their low 32 bits; `near` is one that the server knows: its own.
foliot_status foliot__input_packet_decode(const uint8_t *bytes, size_t length, uint64_t near,
                                          foliot__input_packet *packet);
#define FOLIOT__STATUS_PACKET_BYTES 29
void foliot__status_packet_encode(const foliot__status_packet *packet,
                                  uint8_t bytes[FOLIOT__STATUS_PACKET_BYTES]);
foliot_status foliot__status_packet_decode(const uint8_t *bytes, size_t length,
                                           foliot__status_packet *packet);

// -- ticks

// Ticks have 64 bits, and are sent as their low 32: a reader knows a near one.

// The tick with these low bits that is nearest to `near`; none is below 0.
static inline uint64_t foliot__tick_near(uint32_t low, uint64_t near)
{
    int32_t distance = (int32_t)(low - (uint32_t)near);
    return distance < 0 && near < (uint64_t) - (int64_t)distance
               ? low
               : near + (uint64_t)(int64_t)distance;
}

#endif
