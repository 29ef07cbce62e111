// SPDX-License-Identifier: MIT
// sealed.c: see sealed.h.
#include "crypto/sealed.h"

#include <sodium.h>
#include <string.h>

#include "base/assert.h"
#include "crypto/crypto.h"

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
