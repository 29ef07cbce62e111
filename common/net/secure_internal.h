// SPDX-License-Identifier: MIT
// secure_internal.h: declarations shared by the files of secure.h. secure.c: the block, its peers,
// the handshake. secure_tokens.c: which tokens and passwords are accepted.
#ifndef FOLIOT_NET_SECURE_INTERNAL_H
#define FOLIOT_NET_SECURE_INTERNAL_H

#include "net/secure.h"

typedef struct foliot__known_opening {
    uint64_t mac; // of all its bytes
    uint64_t until_ns;
    uint32_t reason;
} foliot__known_opening;

struct foliot__secure {
    size_t bytes; // of this block
    foliot_security security;
    uint8_t keys[FOLIOT_KEYS_MAX][FOLIOT_KEY_BYTES]; // a host's; under the lock of `used`
    uint32_t key_count;
    char password[FOLIOT_PASSWORD_BYTES_MAX + 1];
    foliot__client_token token;
    bool returns; // the token was used, and this is what the connection left
    uint8_t returns_by[FOLIOT__RETURN_BYTES];
    foliot__share shares[2]; // of a host: now, and before
    uint64_t drawn_ns, expired_ns;
    foliot_token_address own[FOLIOT_OWN_ADDRESSES_MAX];
    uint32_t own_count;
    foliot_used_tokens *used; // a host's, with tokens
    bool owns_used;
    uint64_t accepted;               // tokens' peers
    foliot__mac_key mac;             // by which openings are remembered
    foliot__known_opening *openings; // a host's, in sets
    uint32_t capacity, bucket_bits, multiplier;
    uint32_t *buckets; // index + 1
    foliot__secure_peer *peers;
    uint32_t taken; // peers before this index were used once
};

// secure_tokens.c
// A secret that was never given protects nothing: an attacker knows that it is zero.
bool foliot__secret_given(const uint8_t secret[FOLIOT__RETURN_BYTES]);
// With the lock of used tokens held. Returns 0 if the token is accepted, with its entry among the
// used ones (a new one if there is none); else a foliot_disconnect_reason.
uint32_t foliot__secure_look_up_token(foliot__secure *s, const foliot_token *token, bool returns,
                                      uint64_t now_s, foliot__used_token **used);
// With the lock held. `returns`: what its holder comes back by; `came_by`: what it came back by
// this time, or zeros. Each has FOLIOT__RETURN_BYTES.
void foliot__secure_remember_token(foliot__used_token *used, const uint8_t *nonce,
                                   const foliot_token *token, const uint8_t *returns,
                                   const uint8_t *came_by, bool answered);
// By whichever of the keys it was made. With the lock held. The caller wipes `secret`.
bool foliot__secure_unseal_token(const foliot__secure *s, const uint8_t *sealed,
                                 foliot_token *token, uint8_t secret[FOLIOT__TOKEN_KEYS_BYTES]);
#endif
