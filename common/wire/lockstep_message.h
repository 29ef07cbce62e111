// SPDX-License-Identifier: MIT
// lockstep_message.h: the packets of a lockstep session (docs/reference/protocol.md, LOCKSTEP).
// Ticks are sent as their low 32 bits. Every decoder accepts hostile bytes; a block stays in place,
// to be decoded by foliot__block_decode.
#ifndef FOLIOT_WIRE_LOCKSTEP_MESSAGE_H
#define FOLIOT_WIRE_LOCKSTEP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/digest.h"
#include "foliot/status.h"
#include "foliot/transport.h"
#include "wire/message.h"
#include "wire/tick_log.h"

// -- the inputs of consecutive ticks

// A block is compact, and can be decoded alone, whatever other packets were lost: the first
// controls of each player in it are complete, later ones are differences.
// (docs/reference/protocol.md)

#define FOLIOT__BLOCK_INPUTS_MAX 4096 // in one block
#define FOLIOT__BLOCK_TICKS_MAX 16383

// By tick, then by player, then in the order of input. Sequences are not sent.
typedef struct foliot__block {
    uint32_t ticks, count;
    uint32_t ages[FOLIOT__BLOCK_INPUTS_MAX]; // of each input: ticks after the first of the block
    foliot_input inputs[FOLIOT__BLOCK_INPUTS_MAX];
} foliot__block;

// The bytes of a block after its head; 0 is valid (no inputs). SIZE_MAX if it does not fit.
size_t foliot__block_encode(const foliot__block *block, uint8_t *bytes, size_t capacity);
// All of `length` are the block's. `ticks` comes from the head. FOLIOT_STATUS_CORRUPT,
// FOLIOT_STATUS_TRUNCATED.
foliot_status foliot__block_decode(const uint8_t *bytes, size_t length, uint32_t ticks,
                                   foliot__block *block);

#define FOLIOT__LOCKSTEP_INPUT_PACKET 19  // client
#define FOLIOT__RELAY_PACKET 20           // server
#define FOLIOT__LOCKSTEP_STATUS_PACKET 21 // server
#define FOLIOT__RELAY_COMMANDS_PACKET                                                              \
    24 // server: a relay packet of ticks some of which have commands
#define FOLIOT__EARLY_PACKET                                                                       \
    26 // client: asks for inputs of ticks that are not closed; server: some of them
#define FOLIOT__EARLY_TICKS_MAX 1024 // that an early packet spans

#define FOLIOT__RUNS_MAX 8
#define FOLIOT__BLOCK_BUDGET                                                                       \
    64 // bytes that a packet's block has, unless fewer than its least ticks fit
#define FOLIOT__LEAST_TICKS 6
#define FOLIOT__BUDGET_INPUTS 256 // more than these never fit the budget

// The received ticks: all before `next`, and then runs, each after some missing ones.
typedef struct foliot__tick_acks {
    uint32_t next;
    uint32_t count;
    struct {
        uint32_t missing, here; // at least 1 each, at most 16383
    } runs[FOLIOT__RUNS_MAX];
} foliot__tick_acks;

typedef struct foliot__lockstep_input {
    foliot__tick_acks acks; // of closed ticks
    uint32_t behind;        // of those before acks.next, how many are not stepped yet
    uint64_t digests;       // sum of foliot__digest_share over the ticks stepped since the keyframe
    uint32_t ahead;         // inputs made now are for tick acks.next + ahead
    uint16_t sent_ms;       // client's clock, comes back in a status
    uint16_t shown; // how long before that tick is shown now, in 1 / FOLIOT_AIM_PARTS of a tick
    uint8_t state;  // low bits of the tick of its initial state, to which its data on closed ticks
                    // and digests refers
    uint32_t back;  // number of ticks from the end of the block to that tick; 0: it ends with it
    uint32_t ticks; // of the block
    const uint8_t *block;
    size_t block_length;
} foliot__lockstep_input;

typedef struct foliot__relay {
    uint32_t end;   // the tick after the block's last
    uint32_t ticks; // of the block
    const uint8_t *block;
    size_t block_length;
    const uint8_t *runs; // which of the ticks have commands (tick_log.h)
    size_t runs_length;  // 0: none of them
} foliot__relay;

// Inputs of some players for ticks that are not closed yet. Nothing is known of other ticks and
// other players.
typedef struct foliot__early {
    uint32_t first; // tick of the block's first
    uint32_t ticks; // of the block, at least 1
    const uint8_t *block;
    size_t block_length;
} foliot__early;

typedef struct foliot__lockstep_status {
    uint32_t tick;          // the server's next
    foliot__tick_acks acks; // of the client's own ticks
    uint32_t checked;       // the client's digests agree up to this tick
    bool diverged;          // and later ones do not
    uint32_t stamp;         // tick that inputs were for when the newest packet was sent ...
    int32_t slack_us;       // ... how long it arrived before that tick was closed; < 0: late
    uint16_t echo_ms;       // ... its sent_ms
    uint16_t held_ms;       // ... and how long the server has held it
    uint32_t late,
        missing; // so far: late changes, ticks closed without the player's packet
} foliot__lockstep_status;

// The length; SIZE_MAX if it does not fit.
size_t foliot__lockstep_input_encode(const foliot__lockstep_input *packet,
                                     uint8_t bytes[FOLIOT_PACKET_BYTES_MAX]);
foliot_status foliot__lockstep_input_decode(const uint8_t *bytes, size_t length,
                                            foliot__lockstep_input *packet);
size_t foliot__relay_encode(const foliot__relay *packet, uint8_t bytes[FOLIOT_PACKET_BYTES_MAX]);
foliot_status foliot__relay_decode(const uint8_t *bytes, size_t length, foliot__relay *packet);
size_t foliot__early_encode(const foliot__early *packet, uint8_t bytes[FOLIOT_PACKET_BYTES_MAX]);
foliot_status foliot__early_decode(const uint8_t *bytes, size_t length, foliot__early *packet);
// A client asks for early packets, for the next FOLIOT__EARLY_ASKED_NS: one byte.
#define FOLIOT__EARLY_ASKED_NS 3000000000u
static inline bool foliot__early_is_asked(const uint8_t *bytes, size_t length)
{
    return length == 1 && bytes[0] == FOLIOT__EARLY_PACKET;
}
size_t foliot__lockstep_status_encode(const foliot__lockstep_status *packet,
                                      uint8_t bytes[FOLIOT_PACKET_BYTES_MAX]);
foliot_status foliot__lockstep_status_decode(const uint8_t *bytes, size_t length,
                                             foliot__lockstep_status *packet);

// -- between packets and logs

// The acknowledgement of the received ticks.
foliot__tick_acks foliot__tick_acks_of(const foliot__tick_log *log);
// The i-th of the holes that acknowledgements of ticks from `next` on show: false beyond the last.
bool foliot__tick_hole(const foliot__tick_acks *acks, uint64_t next, uint32_t i, uint64_t *from,
                       uint64_t *to);

// The block of [from, end), or of fewer ticks at its end, so that it has FOLIOT__BLOCK_BUDGET bytes
// or FOLIOT__LEAST_TICKS ticks. *first is the tick it starts with. The number of bytes.
size_t foliot__block_of_newest(const foliot__tick_log *log, uint64_t from, uint64_t end,
                               foliot__block *scratch, uint8_t *bytes, size_t capacity,
                               uint64_t *first);
// The block of [from, end), or of fewer ticks at its start, that fits. *next is the tick after it.
size_t foliot__block_of_oldest(const foliot__tick_log *log, uint64_t from, uint64_t end,
                               foliot__block *scratch, uint8_t *bytes, size_t capacity,
                               uint64_t *next);
// Puts a block's ticks into a log, up to one that does not fit; how many were new.
uint32_t foliot__block_apply(foliot__tick_log *log, const foliot__block *block, uint64_t first);

// The contribution of one tick's digest to a sum of digests.
uint64_t foliot__digest_share(uint64_t tick, foliot_digest digest);

// -- limits

// How much data of a lockstep session is kept and in flight. One function in a separate file, so
// that a test can link a replacement with tiny limits: then small worlds and short runs reach every
// edge.

typedef struct foliot__lockstep_limits {
    double log_seconds;      // of closed ticks are kept, and the delay of spectators
    double keyframe_seconds; // between two saved states
    uint32_t part_bytes;     // of a saved state in one message, at most FOLIOT__SCENE_PART_BYTES
    uint32_t heard_bytes;    // of it, after which a client acknowledges them
    uint32_t window_bytes;   // of it in flight to one peer; more than heard_bytes
} foliot__lockstep_limits;
#define FOLIOT__LOCKSTEP_LIMITS                                                                    \
    {                                                                                              \
        90, 2, 8192, 16u << 10, 256u << 10                                                         \
    }

const foliot__lockstep_limits *foliot__lockstep_limits_now(void);

#endif
