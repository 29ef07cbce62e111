// SPDX-License-Identifier: MIT
// handshake.h: key agreement of two peers (docs/reference/protocol.md, section 1). Each draws a
// share, and they exchange the public halves. The keys are derived from the shared secret, the
// transcript, and the token's keys if there is a token. Shares are of X25519; with a password, of
// CPace over ristretto255 (draft-irtf-cfrg-cpace): each attempt of an attacker tests one password,
// and recorded traffic tests none.
#ifndef FOLIOT_CRYPTO_HANDSHAKE_H
#define FOLIOT_CRYPTO_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/sealed.h"
#include "crypto/token.h"

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
