// SPDX-License-Identifier: MIT
// format.h: the constants of the recording format. docs/reference/recording.md gives their meaning;
// a number that was ever released is never reused.
#ifndef FOLIOT_RECORDING_FORMAT_H
#define FOLIOT_RECORDING_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/digest.h"
#include "foliot/recording.h"

#define FOLIOT__RECORDING_MAGIC                                                                    \
    "\x89"                                                                                         \
    "FOLIOT\n" // 8 bytes; the first catches 7-bit transfers, the last text mode
#define FOLIOT__RECORDING_MAGIC_BYTES 8
#define FOLIOT__RECORDING_START_BYTES 16          // magic, u32 version, u32 CRC32C of the first 12
#define FOLIOT__RECORDING_BLOCK_MAGIC 0x6b6c42feu // bytes fe 42 6c 6b
#define FOLIOT__RECORDING_BLOCK_BYTES 28          // header of a block
#define FOLIOT__RECORDING_PAYLOAD_MAX (1u << 30)
#define FOLIOT__RECORDING_NOTES_MAX 65536u             // in a block; and as many messages
#define FOLIOT__RECORDING_RULES_MAX (1u << 20)         // bytes of the state of rules ...
#define FOLIOT__RECORDING_RULES_HISTORY_MAX (1u << 24) // ... that look back
// Every reader may rely on these; a writer closes a block early to keep them.
#define FOLIOT__RECORDING_BLOCK_TICKS_MAX 65536u
#define FOLIOT__RECORDING_BLOCK_INPUTS_MAX 65536u
#define FOLIOT__RECORDING_BLOCK_COMMANDS_MAX 65536u
#define FOLIOT__RECORDING_BLOCK_ORDERS_MAX 65536u
#define FOLIOT__RECORDING_END_BYTES 11 // the record END has this fixed size

// Types of records. 1..63 must be known to a replayer; 64..127 may be skipped.
enum foliot__recording_record {
    FOLIOT__RECORDING_HEADER = 1,     // [1, map]
    FOLIOT__RECORDING_KEYFRAME = 2,   // [2, tick, digest, encoding, bytes, (size)]
    FOLIOT__RECORDING_INPUTS = 3,     // [3, first tick, integers ...]
    FOLIOT__RECORDING_DIGESTS = 4,    // [4, first tick, every, bytes of each, bytes]
    FOLIOT__RECORDING_CLOSING = 5,    // [5, tick, digest]
    FOLIOT__RECORDING_INDEX = 6,      // [6, (ticks on, bytes on) ...]
    FOLIOT__RECORDING_END = 7,        // [7, offset of the closing block as uint 64]
    FOLIOT__RECORDING_COMMANDS = 8,   // [8, first tick, bytes]
    FOLIOT__RECORDING_ORDERS = 9,     // [9, first tick, bytes]
    FOLIOT__RECORDING_STATE = 10,     // [10, tick, encoding, bytes, (size), digest]: of the rules
    FOLIOT__RECORDING_NOTE = 64,      // [64, tick, what, text]
    FOLIOT__RECORDING_MESSAGE = 65,   // [65, tick, player, reliable, bytes]
    FOLIOT__RECORDING_SIGNATURE = 66, // [66, tick, final, key, signature]
};
#define FOLIOT__RECORDING_OPTIONAL 64
#define FOLIOT__RECORDING_TYPE_MAX 127

// How a keyframe's bytes are stored.
enum foliot__recording_encoding {
    FOLIOT__RECORDING_RAW = 0,
    FOLIOT__RECORDING_ZSTD = 1, // one zstd frame; the size of the state follows it
};

// Entries of INPUTS: ticks on, player * 8 + code, then for all but NONE a mask and what it
// announces.
enum foliot__recording_code {
    FOLIOT__RECORDING_CONTROL = 0, // one input
    FOLIOT__RECORDING_STREAM =
        1, // one input, and one more with the next sequence in every tick without entry
    FOLIOT__RECORDING_JOIN = 2,
    FOLIOT__RECORDING_LEAVE = 3,
    FOLIOT__RECORDING_NONE = 4, // no input, the stream ends
};
#define FOLIOT__RECORDING_CODES 8
// Mask: bits 0..3 axes, 4 buttons, 5 sequence; announced values follow in this order.
#define FOLIOT__RECORDING_MASK_BUTTONS 16u
#define FOLIOT__RECORDING_MASK_SEQUENCE 32u

// Prediction of a player's inputs, the same at both ends. All zero at every keyframe.
typedef struct foliot__recording_player {
    uint32_t sequence; // that is expected next
    int8_t axes[4];
    uint16_t buttons;
    bool streams;
} foliot__recording_player;

// The bits of a run's head and of an order's place.
#define FOLIOT__RUN_SOURCE 3u   // bits 0 and 1 of a run's head
#define FOLIOT__RUN_SEQUENCE 4u // its first sequence follows
#define FOLIOT__RUN_COUNT 3     // bits below the count of commands, less one

#define FOLIOT__PLACE_SEQUENCE 1u // the order's sequence follows
#define FOLIOT__PLACE_KIND 1      // bits below its kind
#define FOLIOT__PLACE_PLAYER 4    // bits below its player

// Prediction of sequences, the same at both ends. All zero at every keyframe.
typedef struct foliot__session_known {
    uint32_t command_sequence;                        // that is expected next
    uint32_t order_sequences[FOLIOT_PLAYERS_MAX + 1]; // of each player, and of the host
} foliot__session_known;

typedef struct foliot__recording_block {
    uint32_t length; // of the payload
    uint32_t number; // from 0
    uint64_t tick;   // that the recording reaches with this block
    uint32_t payload_crc;
} foliot__recording_block;

// The 28 bytes before a payload.
void foliot__recording_block_write(uint8_t bytes[FOLIOT__RECORDING_BLOCK_BYTES],
                                   const foliot__recording_block *block);
// False if they are not a block header.
bool foliot__recording_block_read(const uint8_t bytes[FOLIOT__RECORDING_BLOCK_BYTES],
                                  foliot__recording_block *block);
// The same, of a payload that is at hand: its length and its checksum are taken from it.
void foliot__recording_block_frame(uint8_t bytes[FOLIOT__RECORDING_BLOCK_BYTES], uint32_t number,
                                   uint64_t tick, const void *payload, size_t length);
void foliot__recording_start_write(uint8_t bytes[FOLIOT__RECORDING_START_BYTES]);
bool foliot__recording_start_read(const uint8_t bytes[FOLIOT__RECORDING_START_BYTES],
                                  uint32_t *version);

// In the order in which it is written: high first, the most significant byte first.
void foliot__recording_digest_bytes(foliot_digest digest, uint8_t bytes[16]);
foliot_digest foliot__recording_digest_of(const uint8_t bytes[16]);
// The digest of the rules' state, bound to its keyframe's digest `keyframe`.
foliot_digest foliot__recording_rules_digest(foliot_digest keyframe, const void *bytes,
                                             size_t count);

// The name of a feature in the HEADER, as "rules"; NULL: no feature of this build.
const char *foliot__recording_feature_name(uint32_t feature);
// A feature by its name; 0: this build has none of that name.
uint32_t foliot__recording_feature_of(const char *name, size_t length);

#endif
