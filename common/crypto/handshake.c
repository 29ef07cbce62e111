// SPDX-License-Identifier: MIT
// handshake.c: see handshake.h.
#include "crypto/handshake.h"

#include <sodium.h>
#include <string.h>

#include "base/assert.h"
#include "crypto/crypto.h"
#include "foliot/transport.h"

#define HASH_INPUT_BYTES 128 // of SHA-512: CPace fills a block with the password
#define LABEL "foliot keys 1"
#define CHANNEL "foliot"
#define CHANNEL_BYTES_MAX 64 // and of the session id

static size_t put_counted(uint8_t *at, const void *bytes, size_t count)
{
    size_t head = count < 128 ? 1 : 2; // LEB128
    at[0] = (uint8_t)(count < 128 ? count : (count & 127) | 128);
    at[1] = head == 2 ? (uint8_t)(count >> 7) : at[1];
    memcpy(at + head, bytes, count);
    return head + count;
}

void foliot__cpace_generator(const char *password, const uint8_t *channel, size_t channel_bytes,
                             const uint8_t *session, size_t session_bytes,
                             uint8_t generator[FOLIOT__SHARE_BYTES])
{
    static const char domain[] = "CPaceRistretto255";
    static const uint8_t zeros[HASH_INPUT_BYTES];
    uint8_t text[2 * HASH_INPUT_BYTES + FOLIOT_PASSWORD_BYTES_MAX], hash[64];
    size_t length = strlen(password);
    FOLIOT_ASSERT(length <= FOLIOT_PASSWORD_BYTES_MAX);
    FOLIOT_ASSERT(channel_bytes + session_bytes <= CHANNEL_BYTES_MAX);
    text[1] = 0;
    size_t at = put_counted(text, domain, sizeof domain - 1);
    at += put_counted(text + at, password, length);
    size_t pad = at + 1 < HASH_INPUT_BYTES ? HASH_INPUT_BYTES - 1 - at : 0;
    at += put_counted(text + at, zeros, pad);
    at += put_counted(text + at, channel_bytes ? channel : zeros, channel_bytes);
    at += put_counted(text + at, session_bytes ? session : zeros, session_bytes);
    crypto_hash_sha512(hash, text, at);
    crypto_core_ristretto255_from_hash(generator, hash);
    foliot__forget(text, sizeof text);
    foliot__forget(hash, sizeof hash);
}

void foliot__share_draw(foliot__share *share, const char *password)
{
    uint8_t generator[FOLIOT__SHARE_BYTES];
    int failed;
    foliot__system_random(NULL, share->secret, sizeof share->secret);
    if (!password) {
        failed = crypto_scalarmult_base(share->shown, share->secret);
    } else {
        crypto_core_ristretto255_scalar_random(share->secret);
        // No session id: both shares are new for each.
        foliot__cpace_generator(password, (const uint8_t *)CHANNEL, sizeof CHANNEL - 1, NULL, 0,
                                generator);
        failed = crypto_scalarmult_ristretto255(share->shown, share->secret, generator);
        foliot__forget(generator, sizeof generator);
    }
    FOLIOT_ASSERT(failed == 0);
}

static void derive(const uint8_t root[64], const char *label, uint8_t *key, size_t bytes)
{
    int failed = crypto_generichash(key, bytes, (const uint8_t *)label, strlen(label), root, 64);
    FOLIOT_ASSERT(failed == 0);
}

bool foliot__handshake_keys(const foliot__share *own, const uint8_t theirs[FOLIOT__SHARE_BYTES],
                            bool password, const foliot__handshake *h, foliot__session_keys *keys)
{
    static const uint8_t zeros[FOLIOT__TOKEN_KEYS_BYTES];
    uint8_t both[FOLIOT__SHARE_BYTES], root[64];
    crypto_generichash_state state;
    int failed = password ? crypto_scalarmult_ristretto255(both, own->secret, theirs)
                          : crypto_scalarmult(both, own->secret, theirs);
    if (failed)
        return false;
    crypto_generichash_init(&state, NULL, 0, sizeof root);
    crypto_generichash_update(&state, (const uint8_t *)LABEL, sizeof LABEL - 1);
    crypto_generichash_update(&state, both, sizeof both);
    crypto_generichash_update(&state, h->token_keys ? h->token_keys : zeros,
                              FOLIOT__TOKEN_KEYS_BYTES);
    crypto_generichash_update(&state, h->returns ? h->returns : zeros, FOLIOT__RETURN_BYTES);
    crypto_generichash_update(&state, h->server_share, FOLIOT__SHARE_BYTES);
    crypto_generichash_update(&state, h->said, h->said_bytes);
    crypto_generichash_final(&state, root, sizeof root);
    derive(root, "to server", keys->to_server, sizeof keys->to_server);
    derive(root, "to client", keys->to_client, sizeof keys->to_client);
    derive(root, "returns", keys->returns, sizeof keys->returns);
    derive(root, "proof", keys->proof, sizeof keys->proof);
    foliot__forget(&state, sizeof state);
    foliot__forget(both, sizeof both);
    foliot__forget(root, sizeof root);
    return true;
}
