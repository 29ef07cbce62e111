// SPDX-License-Identifier: MIT
// signature.h: recordings signed by who made them (Ed25519, RFC 8032): whose key it was, and that
// nothing was changed, put in or cut off since. docs/reference/recording.md, "Signatures", gives
// the bytes, docs/SECURITY.md what they prove and what not.
#ifndef FOLIOT_SIGNATURE_H
#define FOLIOT_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "foliot/replay.h"
#include "foliot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_KEY_BYTES 32
#define FOLIOT_KEY_TEXT_BYTES (2 * FOLIOT_KEY_BYTES + 1)

// A secret key. Any number of recordings, of any threads, may use it at the same time.
typedef struct foliot_signer foliot_signer;
// Of a seed: 32 bytes that nobody else knows. They are copied.
FOLIOT_MUST_CHECK foliot_status foliot_signer_create(const uint8_t seed[FOLIOT_KEY_BYTES],
                                                     foliot_signer **signer);
// Overwrites and frees it. NULL is allowed.
void foliot_signer_destroy(foliot_signer *signer);
// The public key, for those who check. Valid as long as the signer.
const uint8_t *foliot_signer_get_key(const foliot_signer *signer);

// A pair of keys in two files of one line each. `file` gets the secret one and may be read by its
// owner alone; `file`.pub gets the public one. Neither may exist. FOLIOT_STATUS_IO;
// FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_signer_write_new(const char *file, foliot_error *error);
// The secret key of such a file. FOLIOT_STATUS_INVALID: not one, or others may read it;
// FOLIOT_STATUS_IO; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_signer_read(const char *file, foliot_signer **signer,
                                                   foliot_error *error);
// The public key of a file, or `text` as its 64 hexadecimal digits.
FOLIOT_MUST_CHECK foliot_status foliot_signature_read_key(const char *text,
                                                          uint8_t key[FOLIOT_KEY_BYTES],
                                                          foliot_error *error);
void foliot_signature_print_key(const uint8_t key[FOLIOT_KEY_BYTES],
                                char text[FOLIOT_KEY_TEXT_BYTES]);

// What the signatures of a recording say. All of those counted here fit what is there.
typedef struct foliot_signature_summary {
    uint32_t signatures;
    uint8_t key[FOLIOT_KEY_BYTES]; // of the last one
    bool one_key;                  // all are by that key
    uint64_t first_tick;           // of the recording
    uint64_t signed_tick;          // all up to this tick is signed
    uint64_t last_tick;            // of the recording, as far as it is whole
    // It ended in order, and the last signature says so of all of it. Without it the end may have
    // been cut off, or a part be put behind what was signed.
    bool whole;
} foliot_signature_summary;

// Reads all of the file. FOLIOT_STATUS_OK: signatures are there, and all fit;
// FOLIOT_STATUS_NOT_FOUND: none; FOLIOT_STATUS_CORRUPT: one does not fit what is before it (then
// *damage names its block), or the file is damaged before the first; FOLIOT_STATUS_TRUNCATED,
// FOLIOT_STATUS_NEWER, FOLIOT_STATUS_UNSUPPORTED, FOLIOT_STATUS_IO, FOLIOT_STATUS_MEMORY: as
// foliot_replay_open. Damage behind a signature only ends the reading: `whole` is false. `damage`
// may be NULL.
FOLIOT_MUST_CHECK foliot_status foliot_signature_check(const char *file,
                                                       foliot_signature_summary *summary,
                                                       foliot_damage *damage);

#ifdef __cplusplus
}
#endif

#endif
