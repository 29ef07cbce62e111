// SPDX-License-Identifier: MIT
// signature.h: signatures inside a recording. A chain of hashes runs over the file: over its start,
// then over each block with the hash before. A signature is a block and signs the chain up to it,
// so that a reader needs a single pass over the file.
#ifndef FOLIOT_RECORDING_SIGNATURE_H
#define FOLIOT_RECORDING_SIGNATURE_H

#include "base/pack.h"
#include "crypto/crypto.h"
#include "foliot/replay.h"
#include "recording/block_reader.h"

struct foliot_signer {
    foliot__signing_key key;
};

typedef struct foliot__signed_chain {
    uint8_t hash[FOLIOT__HASH_BYTES]; // zeros before the start
} foliot__signed_chain;

// The start of the file, and then every block, with its header.
void foliot__signed_chain_add(foliot__signed_chain *chain, const void *bytes, size_t count);
// Adds the bytes of the source before `end`, the end of a block. FOLIOT_STATUS_IO, _MEMORY.
foliot_status foliot__signed_chain_read(foliot__signed_chain *chain, foliot__byte_source *source,
                                        uint64_t end);
// The record of a signature on all of the chain, added to `out`. `final`: only the closing block
// follows.
void foliot__signature_encode(foliot__buffer *out, const foliot_signer *signer,
                              const foliot__signed_chain *chain, uint64_t tick, bool final);

#endif
