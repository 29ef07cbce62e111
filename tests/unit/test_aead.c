// SPDX-License-Identifier: MIT
// Goal: foliot__aead_seal writes what RFC 8439 says, at every length, and foliot__aead_open takes
// exactly that.
// Method: the vector of the RFC's section 2.8.2; libsodium's own composition as the second opinion
// for every length of a datagram; every bit of a short one flipped.
#include "check.h"

#include <sodium.h>
#include <string.h>

#include "crypto/aead.h"

#define BYTES_MAX 1300

static const uint8_t rfc_key[FOLIOT__AEAD_KEY_BYTES] = {
    0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f,
    0x90, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f};
static const uint8_t rfc_nonce[FOLIOT__AEAD_NONCE_BYTES] = {0x07, 0,    0,    0,    0x40, 0x41,
                                                            0x42, 0x43, 0x44, 0x45, 0x46, 0x47};
static const uint8_t rfc_head[12] = {0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1,
                                     0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7};
static const char rfc_text[] = "Ladies and Gentlemen of the class of '99: If I could offer you "
                               "only one tip for the future, sunscreen would be it.";

static void vector_of_the_rfc(void **state)
{
    static const uint8_t first[16] = {0xd3, 0x1a, 0x8d, 0x34, 0x64, 0x8e, 0x60, 0xdb,
                                      0x7b, 0x86, 0xaf, 0xbc, 0x53, 0xef, 0x7e, 0xc2};
    static const uint8_t tag[16] = {0x1a, 0xe1, 0x0b, 0x59, 0x4f, 0x09, 0xe2, 0x6a,
                                    0x7e, 0x90, 0x2e, 0xcb, 0xd0, 0x60, 0x06, 0x91};
    uint8_t sealed[sizeof rfc_text + FOLIOT__AEAD_TAG_BYTES];
    size_t length = sizeof rfc_text - 1;
    (void)state;
    foliot__aead_seal(rfc_key, rfc_nonce, (foliot__aead_head){rfc_head, sizeof rfc_head},
                      (const uint8_t *)rfc_text, length, sealed);
    assert_memory_equal(sealed, first, sizeof first);
    assert_memory_equal(sealed + length, tag, sizeof tag);
}

static void every_length_agrees_with_libsodium(void **state)
{
    static uint8_t plain[BYTES_MAX], sealed[BYTES_MAX + 16], theirs[BYTES_MAX + 16];
    static uint8_t opened[BYTES_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof plain; i++)
        plain[i] = (uint8_t)(i * 7 + i / 256);
    for (size_t length = 0; length <= BYTES_MAX; length++) {
        uint8_t nonce[FOLIOT__AEAD_NONCE_BYTES] = {[4] = (uint8_t)length, [5] = 9};
        size_t head = length % (FOLIOT__AEAD_HEAD_BYTES_MAX + 1);
        foliot__aead_head own = {rfc_key, head};
        foliot__aead_seal(rfc_key, nonce, own, plain, length, sealed);
        crypto_aead_chacha20poly1305_ietf_encrypt(theirs, NULL, plain, length, rfc_key, head, NULL,
                                                  nonce, rfc_key);
        assert_memory_equal(sealed, theirs, length + 16);
        assert_true(foliot__aead_open(rfc_key, nonce, own, sealed, length, opened));
        assert_memory_equal(opened, plain, length);
        sealed[length * 5 % (length + 16)] ^= 4;
        assert_false(foliot__aead_open(rfc_key, nonce, own, sealed, length, opened));
    }
}

static void any_bit_that_differs_is_refused(void **state)
{
    uint8_t sealed[40 + 16], head[8] = {1, 2, 3}, opened[40], nonce[FOLIOT__AEAD_NONCE_BYTES] = {1};
    (void)state;
    foliot__aead_seal(rfc_key, nonce, (foliot__aead_head){head, sizeof head},
                      (const uint8_t *)rfc_text, 40, sealed);
    for (size_t bit = 0; bit < 8 * (sizeof sealed + sizeof head + sizeof nonce); bit++) {
        size_t at = bit / 8;
        uint8_t *byte = at < sizeof sealed ? &sealed[at]
                        : at < sizeof sealed + sizeof head
                            ? &head[at - sizeof sealed]
                            : &nonce[at - sizeof sealed - sizeof head];
        *byte ^= (uint8_t)(1 << bit % 8);
        assert_false(foliot__aead_open(rfc_key, nonce, (foliot__aead_head){head, sizeof head},
                                       sealed, 40, opened));
        *byte ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(foliot__aead_open(rfc_key, nonce, (foliot__aead_head){head, sizeof head}, sealed,
                                  40, opened));
    assert_memory_equal(opened, rfc_text, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_of_the_rfc),
        cmocka_unit_test(every_length_agrees_with_libsodium),
        cmocka_unit_test(any_bit_that_differs_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
