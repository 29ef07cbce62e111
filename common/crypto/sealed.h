// SPDX-License-Identifier: MIT
// sealed.h: datagrams that only the holder of a key can make or read: ChaCha20-Poly1305 (RFC 8439)
// under keys of one direction of one connection (docs/reference/protocol.md, section 1). A number
// counts datagrams; it is the nonce, and so it is never used twice under a key. A window over the
// numbers refuses repetitions. Keys are replaced by a one-way function, so that a leaked key opens
// no earlier datagram. Knows nothing of sockets.
#ifndef FOLIOT_CRYPTO_SEALED_H
#define FOLIOT_CRYPTO_SEALED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/token.h"

#define FOLIOT__SEAL_KEY_BYTES 32
#define FOLIOT__SEAL_HEAD_BYTES 8 // type, connection id (4), number of the datagram modulo 2^24 (3)
#define FOLIOT__SEAL_TAG_BYTES 16
#define FOLIOT__SEAL_BYTES (FOLIOT__SEAL_HEAD_BYTES + FOLIOT__SEAL_TAG_BYTES)
#define FOLIOT__SEAL_WINDOW 1024   // numbers below the highest that are still accepted, once
#define FOLIOT__SEAL_EPOCH_BITS 20 // number of datagrams that one key seals, as a power of two,
#define FOLIOT__SEAL_EPOCH_NS 600000000000u // and the time that one key is used
#define FOLIOT__SEAL_EPOCHS_AHEAD 3 // keys that are tried for a datagram: its own and those before

typedef struct foliot__sealer {
    uint8_t key[FOLIOT__SEAL_KEY_BYTES];
    uint64_t next;     // the number of the next datagram
    uint64_t began_ns; // when the key was first used
} foliot__sealer;

// In this order for the sake of cache lines.
typedef struct foliot__opener {
    uint64_t epoch;   // of `key`
    uint64_t highest; // number that was accepted
    bool any;         // one was
    uint8_t key[FOLIOT__SEAL_KEY_BYTES];
    uint64_t window[FOLIOT__SEAL_WINDOW / 64]; // by number modulo its size
    uint8_t before[FOLIOT__SEAL_KEY_BYTES];    // the key of the epoch before
} foliot__opener;

typedef enum foliot__opened {
    FOLIOT__OPENED,
    FOLIOT__OPENED_REPEATED, // was accepted before, or is older than the window
    FOLIOT__OPENED_FORGED,   // not of this key, or not whole
} foliot__opened;

void foliot__sealer_init(foliot__sealer *sealer, const uint8_t key[FOLIOT__SEAL_KEY_BYTES],
                         uint64_t now_ns);
// Writes length + FOLIOT__SEAL_BYTES to `out`, which may not overlap with `plain`.
size_t foliot__seal(foliot__sealer *sealer, uint8_t type, uint32_t connection, const uint8_t *plain,
                    size_t length, uint64_t now_ns, uint8_t *out);

void foliot__opener_init(foliot__opener *opener, const uint8_t key[FOLIOT__SEAL_KEY_BYTES]);
// Writes length - FOLIOT__SEAL_BYTES to `plain`, which may not overlap with `bytes`. `newest` (may
// be NULL): whether its number is the highest so far. Changes nothing unless FOLIOT__OPENED.
foliot__opened foliot__unseal(foliot__opener *opener, const uint8_t *bytes, size_t length,
                              uint8_t *plain, bool *newest);
uint32_t foliot__sealed_connection(const uint8_t *bytes); // of at least FOLIOT__SEAL_HEAD_BYTES

// -- the handshake

// Key agreement of two peers (docs/reference/protocol.md, section 1). Each draws a share, and they
// exchange the public halves. The keys are derived from the shared secret, the transcript, and the
// token's keys if there is a token. Shares are of X25519; with a password, of CPace over
// ristretto255 (draft-irtf-cfrg-cpace): each attempt of an attacker tests one password, and
// recorded traffic tests none.

#define FOLIOT__SHARE_BYTES 32
#define FOLIOT__PROOF_BYTES 16
#define FOLIOT__RETURN_BYTES 32

typedef struct foliot__share {
    uint8_t secret[FOLIOT__SHARE_BYTES], shown[FOLIOT__SHARE_BYTES];
} foliot__share;
void foliot__share_draw(foliot__share *share, const char *password); // NULL: none

// CPace's generator (draft-irtf-cfrg-cpace): a point that only a holder of the password can
// compute. Channel and session id are 64 bytes together at most.
void foliot__cpace_generator(const char *password, const uint8_t *channel, size_t channel_bytes,
                             const uint8_t *session, size_t session_bytes,
                             uint8_t generator[FOLIOT__SHARE_BYTES]);

// The inputs of the handshake besides the shares.
typedef struct foliot__handshake {
    const uint8_t *server_share; // its public half
    const uint8_t *said;         // what the client says in its opening, its share included
    size_t said_bytes;
    const uint8_t *token_keys; // FOLIOT__TOKEN_KEYS_BYTES; NULL: none
    const uint8_t *returns;    // of the connection before, FOLIOT__RETURN_BYTES; NULL: the first
} foliot__handshake;
typedef struct foliot__session_keys {
    uint8_t to_server[FOLIOT__SEAL_KEY_BYTES], to_client[FOLIOT__SEAL_KEY_BYTES];
    uint8_t returns[FOLIOT__RETURN_BYTES]; // by which the client may come back with its token
    uint8_t proof[FOLIOT__PROOF_BYTES];    // the client's proof that it knows the keys
} foliot__session_keys;
// False: the peer's half is invalid. The caller wipes *keys.
bool foliot__handshake_keys(const foliot__share *own, const uint8_t theirs[FOLIOT__SHARE_BYTES],
                            bool password, const foliot__handshake *handshake,
                            foliot__session_keys *keys);

#endif
