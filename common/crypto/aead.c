// SPDX-License-Identifier: MIT
// aead.c: see aead.h. Both primitives are libsodium's. Its own composition of them asks for one
// block of the key stream at a time, where the processor makes four at once for little more: a
// short text is composed here from one call of each, as RFC 8439, section 2.8 says. Long ones are
// left to libsodium.
#include "crypto/aead.h"

#include <sodium.h>
#include <string.h>

#include "base/assert.h"
#include "crypto/crypto.h"

#define BLOCK_BYTES 64
#define STREAM_BYTES (4 * BLOCK_BYTES) // the first block is for Poly1305's key
#define SHORT_BYTES_MAX (STREAM_BYTES - BLOCK_BYTES)
#define PADDED(bytes) (((bytes) + 15) & ~(size_t)15)

_Static_assert(FOLIOT__AEAD_KEY_BYTES == crypto_aead_chacha20poly1305_ietf_KEYBYTES &&
                   FOLIOT__AEAD_NONCE_BYTES == crypto_aead_chacha20poly1305_ietf_NPUBBYTES &&
                   FOLIOT__AEAD_TAG_BYTES == crypto_aead_chacha20poly1305_ietf_ABYTES,
               "ChaCha20-Poly1305");

static void mix(uint8_t *out, const uint8_t *in, const uint8_t *stream, size_t length)
{
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t a, b;
        memcpy(&a, in + i, 8);
        memcpy(&b, stream + i, 8);
        a ^= b;
        memcpy(out + i, &a, 8);
    }
    for (; i < length; i++)
        out[i] = in[i] ^ stream[i];
}

static void put_u64(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

// Of the head and the sealed text, each padded with zeros, and their lengths.
static void tag_of(const uint8_t *stream, foliot__aead_head head, const uint8_t *sealed,
                   size_t length, uint8_t tag[FOLIOT__AEAD_TAG_BYTES])
{
    uint8_t all[FOLIOT__AEAD_HEAD_BYTES_MAX + SHORT_BYTES_MAX + 16];
    size_t text = PADDED(head.length), lengths = text + PADDED(length);
    FOLIOT_ASSERT(head.length <= FOLIOT__AEAD_HEAD_BYTES_MAX && length <= SHORT_BYTES_MAX);
    memset(all, 0, lengths);
    memcpy(all, head.bytes, head.length);
    memcpy(all + text, sealed, length);
    put_u64(all + lengths, head.length);
    put_u64(all + lengths + 8, length);
    crypto_onetimeauth_poly1305(tag, all, lengths + 16, stream);
}

void foliot__aead_seal(const uint8_t key[FOLIOT__AEAD_KEY_BYTES],
                       const uint8_t nonce[FOLIOT__AEAD_NONCE_BYTES], foliot__aead_head head,
                       const uint8_t *plain, size_t length, uint8_t *sealed)
{
    uint8_t stream[STREAM_BYTES];
    if (length > SHORT_BYTES_MAX) {
        crypto_aead_chacha20poly1305_ietf_encrypt(sealed, NULL, plain, length, head.bytes,
                                                  head.length, NULL, nonce, key);
        return;
    }
    crypto_stream_chacha20_ietf(stream, sizeof stream, nonce, key);
    mix(sealed, plain, stream + BLOCK_BYTES, length);
    tag_of(stream, head, sealed, length, sealed + length);
    foliot__forget(stream, sizeof stream);
}

bool foliot__aead_open(const uint8_t key[FOLIOT__AEAD_KEY_BYTES],
                       const uint8_t nonce[FOLIOT__AEAD_NONCE_BYTES], foliot__aead_head head,
                       const uint8_t *sealed, size_t length, uint8_t *plain)
{
    uint8_t stream[STREAM_BYTES], tag[FOLIOT__AEAD_TAG_BYTES];
    if (length > SHORT_BYTES_MAX)
        return crypto_aead_chacha20poly1305_ietf_decrypt(plain, NULL, NULL, sealed,
                                                         length + FOLIOT__AEAD_TAG_BYTES,
                                                         head.bytes, head.length, nonce, key) == 0;
    crypto_stream_chacha20_ietf(stream, sizeof stream, nonce, key);
    tag_of(stream, head, sealed, length, tag);
    bool right = foliot__secrets_equal(tag, sealed + length, sizeof tag);
    if (right)
        mix(plain, sealed, stream + BLOCK_BYTES, length);
    foliot__forget(stream, sizeof stream);
    foliot__forget(tag, sizeof tag);
    return right;
}
