// SPDX-License-Identifier: MIT
// header_decoder.h: the keys of a recording's HEADER.
#ifndef FOLIOT_RECORDING_HEADER_DECODER_H
#define FOLIOT_RECORDING_HEADER_DECODER_H

#include "base/bytes.h"
#include "recording/block_content.h"

// The bits that foliot__decode_header_key returns.
#define FOLIOT__HEADER_KEYS_WORLD 0x1ffu   // scene to version
#define FOLIOT__HEADER_KEYS_FOREIGN 0xfd0u // tick, fingerprint to setup
#define FOLIOT__HEADER_KEYS_RULES 0xf000u  // of the session's rules

// One key and its value; the bit of a key that is known, 0 for others.
unsigned foliot__decode_header_key(foliot__reader *r, foliot__recording_header *header);
// A digest, or anything else of 16 bytes.
void foliot__unpack_bin16(foliot__reader *r, uint8_t out[16]);

#endif
