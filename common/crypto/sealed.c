// SPDX-License-Identifier: MIT
// sealed.c: datagrams under a key, and how two peers agree on one (sealed.h).
#include "crypto/sealed.h"

#include <sodium.h>
#include <string.h>

#include "base/assert.h"
#include "crypto/crypto.h"
#include "foliot/transport.h"

#define NUMBER_BITS 24
#define NUMBERS (UINT64_C(1) << NUMBER_BITS)
#define EPOCH(number) ((number) >> FOLIOT__SEAL_EPOCH_BITS)

_Static_assert(FOLIOT__SEAL_KEY_BYTES == crypto_aead_chacha20poly1305_ietf_KEYBYTES &&
                   FOLIOT__SEAL_TAG_BYTES == crypto_aead_chacha20poly1305_ietf_ABYTES,
               "ChaCha20-Poly1305");

static void next_key(const uint8_t key[FOLIOT__SEAL_KEY_BYTES],
                     uint8_t next[FOLIOT__SEAL_KEY_BYTES])
{
    static const uint8_t label[] = "foliot rekey";
    uint8_t made[FOLIOT__SEAL_KEY_BYTES];
    crypto_generichash(made, sizeof made, label, sizeof label - 1, key, FOLIOT__SEAL_KEY_BYTES);
    memcpy(next, made, sizeof made);
    foliot__forget(made, sizeof made);
}

static void nonce_of(uint64_t number, uint8_t nonce[12])
{
    memset(nonce, 0, 12);
    for (int i = 0; i < 8; i++)
        nonce[4 + i] = (uint8_t)(number >> (8 * i));
}

uint32_t foliot__sealed_connection(const uint8_t *bytes)
{
    uint32_t connection;
    memcpy(&connection, bytes + 1, 4);
    return connection;
}

void foliot__sealer_init(foliot__sealer *sealer, const uint8_t key[FOLIOT__SEAL_KEY_BYTES],
                         uint64_t now_ns)
{
    *sealer = (foliot__sealer){.began_ns = now_ns};
    memcpy(sealer->key, key, FOLIOT__SEAL_KEY_BYTES);
}

size_t foliot__seal(foliot__sealer *sealer, uint8_t type, uint32_t connection, const uint8_t *plain,
                    size_t length, uint64_t now_ns, uint8_t *out)
{
    uint8_t nonce[12];
    // A new key begins with the first number of an epoch: the receiver sees it by the number alone.
    uint64_t in_epoch = sealer->next & ((UINT64_C(1) << FOLIOT__SEAL_EPOCH_BITS) - 1);
    bool full = in_epoch == 0 && sealer->next > 0;
    bool old = in_epoch > 0 && now_ns - sealer->began_ns >= FOLIOT__SEAL_EPOCH_NS;
    if (full || old) {
        if (old)
            sealer->next = (EPOCH(sealer->next) + 1) << FOLIOT__SEAL_EPOCH_BITS;
        next_key(sealer->key, sealer->key);
        sealer->began_ns = now_ns;
    }
    out[0] = type;
    memcpy(out + 1, &connection, 4);
    for (int i = 0; i < 3; i++)
        out[5 + i] = (uint8_t)(sealer->next >> (8 * i));
    nonce_of(sealer->next++, nonce);
    crypto_aead_chacha20poly1305_ietf_encrypt(out + FOLIOT__SEAL_HEAD_BYTES, NULL, plain, length,
                                              out, FOLIOT__SEAL_HEAD_BYTES, NULL, nonce,
                                              sealer->key);
    return length + FOLIOT__SEAL_BYTES;
}

void foliot__opener_init(foliot__opener *opener, const uint8_t key[FOLIOT__SEAL_KEY_BYTES])
{
    *opener = (foliot__opener){0};
    memcpy(opener->key, key, FOLIOT__SEAL_KEY_BYTES);
}

// The number nearest to the highest so far of those with these low bits.
static uint64_t whole_number(const foliot__opener *opener, const uint8_t *low)
{
    uint64_t number = (opener->highest & ~(NUMBERS - 1)) | low[0] | (uint64_t)low[1] << 8 |
                      (uint64_t)low[2] << 16;
    if (number + NUMBERS / 2 < opener->highest)
        return number + NUMBERS;
    return number > opener->highest + NUMBERS / 2 && number >= NUMBERS ? number - NUMBERS : number;
}

static bool was_accepted(const foliot__opener *opener, uint64_t number)
{
    if (!opener->any || number > opener->highest)
        return false;
    if (opener->highest - number >= FOLIOT__SEAL_WINDOW)
        return true;
    uint64_t bit = number % FOLIOT__SEAL_WINDOW;
    return (opener->window[bit / 64] >> (bit % 64)) & 1;
}

// The key of an epoch, and of the one before; false: too far from the present one.
static bool keys_of(const foliot__opener *opener, uint64_t epoch,
                    uint8_t keys[2][FOLIOT__SEAL_KEY_BYTES])
{
    if (epoch + 1 == opener->epoch) {
        memcpy(keys[1], opener->before, FOLIOT__SEAL_KEY_BYTES);
        return true;
    }
    if (epoch < opener->epoch || epoch - opener->epoch > FOLIOT__SEAL_EPOCHS_AHEAD)
        return false;
    memcpy(keys[1], opener->key, FOLIOT__SEAL_KEY_BYTES);
    for (uint64_t e = opener->epoch; e < epoch; e++) {
        memcpy(keys[0], keys[1], FOLIOT__SEAL_KEY_BYTES);
        next_key(keys[0], keys[1]);
    }
    return true;
}

foliot__opened foliot__unseal(foliot__opener *opener, const uint8_t *bytes, size_t length,
                              uint8_t *plain, bool *newest)
{
    uint8_t nonce[12], keys[2][FOLIOT__SEAL_KEY_BYTES];
    const uint8_t *key = opener->key;
    if (length < FOLIOT__SEAL_BYTES)
        return FOLIOT__OPENED_FORGED;
    uint64_t number = whole_number(opener, bytes + 5), epoch = EPOCH(number);
    if (was_accepted(opener, number))
        return FOLIOT__OPENED_REPEATED;
    bool other = epoch != opener->epoch;
    if (other && !keys_of(opener, epoch, keys))
        return FOLIOT__OPENED_FORGED;
    if (other)
        key = keys[1];
    nonce_of(number, nonce);
    int wrong = crypto_aead_chacha20poly1305_ietf_decrypt(
        plain, NULL, NULL, bytes + FOLIOT__SEAL_HEAD_BYTES, length - FOLIOT__SEAL_HEAD_BYTES, bytes,
        FOLIOT__SEAL_HEAD_BYTES, nonce, key);
    if (wrong == 0 && epoch > opener->epoch) {
        memcpy(opener->before, keys[0], FOLIOT__SEAL_KEY_BYTES);
        memcpy(opener->key, keys[1], FOLIOT__SEAL_KEY_BYTES);
        opener->epoch = epoch;
    }
    if (other)
        foliot__forget(keys, sizeof keys);
    if (wrong)
        return FOLIOT__OPENED_FORGED;
    if (newest)
        *newest = !opener->any || number > opener->highest;
    uint64_t first = opener->any ? opener->highest + 1 : 0;
    if (number >= first && number - first >= FOLIOT__SEAL_WINDOW)
        memset(opener->window, 0, sizeof opener->window);
    else
        for (uint64_t n = first; n < number; n++) // numbers that are still to come
            opener->window[n % FOLIOT__SEAL_WINDOW / 64] &= ~(UINT64_C(1) << (n % 64));
    opener->window[number % FOLIOT__SEAL_WINDOW / 64] |= UINT64_C(1) << (number % 64);
    if (number >= first)
        opener->highest = number;
    opener->any = true;
    return FOLIOT__OPENED;
}

// -- the handshake

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
