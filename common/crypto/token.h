// SPDX-License-Identifier: MIT
// token.h (crypto): connect tokens to bytes and back, and the table of those that were used
// (include/foliot/token.h has their meaning; docs/reference/protocol.md, section 1, every byte).
#ifndef FOLIOT_CRYPTO_TOKEN_H
#define FOLIOT_CRYPTO_TOKEN_H

#include "foliot/token.h"

#define FOLIOT__TOKEN_MARK "foliot-token-1."
#define FOLIOT__TOKEN_NONCE_BYTES 24
#define FOLIOT__TOKEN_KEYS_BYTES 64   // the secret that client and server share
#define FOLIOT__TOKEN_PLAIN_BYTES 556 // what is sealed
#define FOLIOT__TOKEN_SEALED_BYTES (FOLIOT__TOKEN_NONCE_BYTES + FOLIOT__TOKEN_PLAIN_BYTES + 16)

// The part that the client knows, with the part that it does not.
typedef struct foliot__client_token {
    foliot_token known; // expiry, session and addresses; the rest is zero
    uint8_t keys[FOLIOT__TOKEN_KEYS_BYTES];
    uint8_t sealed[FOLIOT__TOKEN_SEALED_BYTES];
} foliot__client_token;
// The caller wipes *token, on an error too.
foliot_status foliot__client_token_read(const char *text, foliot__client_token *token);

// As a server opens what a client shows. False: not made with this key. The caller wipes `keys`.
bool foliot__token_unseal(const uint8_t sealed[FOLIOT__TOKEN_SEALED_BYTES],
                          const uint8_t key[FOLIOT_KEY_BYTES], foliot_token *token,
                          uint8_t keys[FOLIOT__TOKEN_KEYS_BYTES]);

// Clocks of two machines differ: a token from the future is good if it is by at most this much.
#define FOLIOT__TOKEN_SKEW_S 5
typedef enum foliot__token_verdict {
    FOLIOT__TOKEN_GOOD,
    FOLIOT__TOKEN_EXPIRED,
    FOLIOT__TOKEN_EARLY,   // made in the future
    FOLIOT__TOKEN_FOREIGN, // for other servers
    FOLIOT__TOKEN_USED,    // by a client that cannot be distinguished from a thief
    FOLIOT__TOKEN_NO_ROOM, // the table of used ones is full of tokens that still are good
} foliot__token_verdict;
// By its times and addresses. No `own` addresses: any.
foliot__token_verdict foliot__token_check(const foliot_token *token, uint64_t now_s,
                                          const foliot_token_address *own, uint32_t own_count);

// Tokens that were used, each with the secrets by which its client may come back: that of its last
// connection, and of the one before, since the client may not have seen the last one answered.
typedef struct foliot__used_token {
    uint8_t nonce[FOLIOT__TOKEN_NONCE_BYTES];
    uint64_t keep_until_s; // 0: a free entry
    uint8_t answered;      // whether its client has proved that it holds the last connection's keys
    uint8_t returns[2][32];
} foliot__used_token;
typedef struct foliot__used_tokens {
    foliot__used_token *entries; // lent. Linear scan on purpose: once a join, and behind a proof
                                 // that the token is real
    uint32_t capacity;
} foliot__used_tokens;
#define FOLIOT__TOKEN_RETURN_S 3600 // how long after its expiry a client may still come back

foliot__used_token *foliot__used_token_find(foliot__used_tokens *used, const uint8_t *nonce);
// A free entry, or one that is over by now; NULL: none.
foliot__used_token *foliot__used_token_reserve(foliot__used_tokens *used, uint64_t now_s);

// -- files of secrets

// A secret is one line of a file: a key, a password or a token. A file that others may read is
// refused.

// `file` "-" is stdin. `guarded`: a file that everybody can read, or that a group can write, is
// refused. The line, without its end, goes to `text` (at least 1 byte of it, at most bytes - 1).
// False, with a sentence in `why`: text is empty then. The caller wipes `text`.
bool foliot__secret_read(const char *file, bool guarded, char *text, size_t bytes, char *why,
                         size_t why_bytes);

// Keys of connect tokens, one a line, 1 .. FOLIOT_KEYS_MAX, of a file as above; blank lines count
// for nothing. `keys` has room for FOLIOT_KEYS_MAX, one behind the other; the caller wipes it.
bool foliot__secret_read_keys(const char *file, uint8_t *keys, uint32_t *count, char *why,
                              size_t why_bytes);

#endif
