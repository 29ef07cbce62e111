// SPDX-License-Identifier: MIT
// Goal: sealed datagrams are opened once, in any order within the window, under keys that follow
// each other, and not at all if a bit of them differs (docs/reference/protocol.md, section 1).
// Method: a sealer and an opener without a network; the order is drawn from a seed.
#include "check.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "crypto/sealed.h"
#include "foliot/transport.h"

#define TYPE 0x68
#define CONNECTION 0x11223344u
#define EPOCH (UINT64_C(1) << FOLIOT__SEAL_EPOCH_BITS)

static const uint8_t key[FOLIOT__SEAL_KEY_BYTES] = {1, 2, 3};

typedef struct pair {
    foliot__sealer sealer;
    foliot__opener opener;
} pair;

static pair make(void)
{
    pair p;
    foliot__sealer_init(&p.sealer, key, 0);
    foliot__opener_init(&p.opener, key);
    return p;
}

typedef struct datagram {
    uint8_t bytes[64];
    size_t length;
} datagram;

static datagram seal(pair *p, uint32_t content, uint64_t now_ns)
{
    datagram d;
    d.length =
        foliot__seal(&p->sealer, TYPE, CONNECTION, (const uint8_t *)&content, 4, now_ns, d.bytes);
    check_eq(d.length, (size_t)4 + FOLIOT__SEAL_BYTES);
    return d;
}

static foliot__opened unseal(pair *p, const datagram *d, uint32_t *content)
{
    uint8_t plain[64];
    foliot__opened opened = foliot__unseal(&p->opener, d->bytes, d->length, plain, NULL);
    if (opened == FOLIOT__OPENED)
        memcpy(content, plain, 4);
    return opened;
}

static void expect(pair *p, const datagram *d, uint32_t content)
{
    uint32_t got = 0;
    check_eq((int)unseal(p, d, &got), (int)FOLIOT__OPENED);
    check_eq(got, content);
    check_eq((int)unseal(p, d, &got), (int)FOLIOT__OPENED_REPEATED);
}

TEST(any_order_within_the_window_is_taken_once)
{
    enum { COUNT = 20000, SPREAD = 900 };
    foliot__rng rng = foliot__rng_seeded(check_seed(1));
    datagram *d = malloc(COUNT * sizeof *d);
    uint32_t *order = malloc(COUNT * sizeof *order), got;
    pair p = make();
    assert_non_null(d);
    assert_non_null(order);
    for (uint32_t i = 0; i < COUNT; i++) {
        d[i] = seal(&p, i, 0);
        order[i] = i;
    }
    for (uint32_t at = 0; at + SPREAD <= COUNT; at += SPREAD) // shuffled in stretches
        for (uint32_t i = SPREAD - 1; i > 0; i--) {
            uint32_t k = (uint32_t)(foliot__rng_unit(&rng) * (i + 1)), kept = order[at + i];
            order[at + i] = order[at + k];
            order[at + k] = kept;
        }
    for (uint32_t i = 0; i < COUNT; i++)
        if (foliot__rng_unit(&rng) < 0.9)
            expect(&p, &d[order[i]], order[i]);
    check_eq((int)unseal(&p, &d[0], &got), (int)FOLIOT__OPENED_REPEATED); // too old
    free(d);
    free(order);
}

TEST(no_flipped_bit_and_no_shorter_one_is_taken)
{
    pair p = make();
    uint32_t got = 0;
    (void)seal(&p, 1, 0);
    datagram d = seal(&p, 7, 0);
    for (size_t bit = 0; bit < 8 * d.length; bit++) {
        d.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        check_ne((int)unseal(&p, &d, &got), (int)FOLIOT__OPENED);
        d.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t length = 0; length < d.length; length++) {
        datagram shorter = d;
        shorter.length = length;
        check_eq((int)unseal(&p, &shorter, &got), (int)FOLIOT__OPENED_FORGED);
    }
    expect(&p, &d, 7);
}

TEST(keys_follow_each_other_by_count)
{
    pair p = make();
    for (uint64_t e = 1; e < 40; e++) { // the numbers on the wire wrap twice
        p.sealer.next = e * EPOCH - 2;
        datagram a = seal(&p, 1, 0), b = seal(&p, 2, 0), c = seal(&p, 3, 0), d = seal(&p, 4, 0);
        expect(&p, &c, 3); // the new key before the last of the old one
        expect(&p, &a, 1);
        expect(&p, &d, 4);
        expect(&p, &b, 2);
        check_eq(p.opener.epoch, e);
    }
    check_ne(memcmp(p.opener.key, key, sizeof key), 0);
}

TEST(keys_follow_each_other_by_time)
{
    pair p = make();
    datagram before = seal(&p, 1, 1);
    datagram after = seal(&p, 2, 1 + FOLIOT__SEAL_EPOCH_NS);
    expect(&p, &before, 1);
    expect(&p, &after, 2);
    check_eq(p.opener.epoch, 1u);
    for (uint64_t i = 2; i < 50; i++) { // those between are lost
        datagram d = seal(&p, (uint32_t)i, 1 + i * FOLIOT__SEAL_EPOCH_NS);
        if (i % FOLIOT__SEAL_EPOCHS_AHEAD == 0)
            expect(&p, &d, (uint32_t)i);
    }
}

TEST(a_forged_number_moves_nothing)
{
    pair p = make();
    uint32_t got;
    datagram good = seal(&p, 1, 0), next = seal(&p, 2, 0);
    foliot__opener before;
    expect(&p, &good, 1);
    before = p.opener;
    for (uint32_t high = 0; high < 256; high++) {
        datagram forged = next;
        forged.bytes[7] ^= (uint8_t)(high | 1);
        check_eq((int)unseal(&p, &forged, &got), (int)FOLIOT__OPENED_FORGED);
    }
    assert_memory_equal(&before, &p.opener, sizeof before);
    expect(&p, &next, 2);
}

// RFC 7748, section 6.1, through our derivation: both sides come to the same keys, and to others if
// a byte of the exchange differs.
TEST(both_sides_have_the_same_keys)
{
    for (int with = 0; with < 2; with++) {
        const char *password = with ? "open sesame" : NULL;
        foliot__share server, client;
        uint8_t said[70] = "foliot>k";
        foliot__session_keys a, b;
        foliot__share_draw(&server, password);
        foliot__share_draw(&client, password);
        foliot__handshake h = {.server_share = server.shown, .said = said, .said_bytes = 54};
        assert_true(foliot__handshake_keys(&server, client.shown, with, &h, &a));
        assert_true(foliot__handshake_keys(&client, server.shown, with, &h, &b));
        assert_memory_equal(&a, &b, sizeof a);
        assert_memory_not_equal(a.to_client, a.to_server, sizeof a.to_client);
        said[20] ^= 1;
        assert_true(foliot__handshake_keys(&client, server.shown, with, &h, &b));
        assert_memory_not_equal(a.proof, b.proof, sizeof a.proof);
        uint8_t nothing[FOLIOT__SHARE_BYTES] = {0};
        assert_false(foliot__handshake_keys(&client, nothing, with, &h, &b));
    }
    foliot__share one, other;
    foliot__session_keys a, b;
    uint8_t said[54] = {0};
    foliot__share_draw(&one, "open sesame");
    foliot__share_draw(&other, "open sesamE");
    foliot__handshake h = {.server_share = one.shown, .said = said, .said_bytes = 54};
    assert_true(foliot__handshake_keys(&one, other.shown, true, &h, &a));
    assert_true(foliot__handshake_keys(&other, one.shown, true, &h, &b));
    assert_memory_not_equal(a.proof, b.proof, sizeof a.proof);
}

// -- cpace: Goal: passwords are proved by CPace as its authors mean it: generator, shares and
// shared point are those of the test vector of draft-irtf-cfrg-cpace, appendix B.3
// (CPACE-RISTR255-SHA512), and what is no point is refused. Method: the vector's scalars in the
// place of random ones.

static void hex(const char *text, uint8_t *bytes, size_t count)
{
    size_t got;
    assert_int_equal(sodium_hex2bin(bytes, count, text, strlen(text), NULL, &got, NULL), 0);
    check_eq(got, count);
}

static void is(const uint8_t *bytes, const char *text)
{
    uint8_t expected[FOLIOT__SHARE_BYTES];
    hex(text, expected, sizeof expected);
    assert_memory_equal(bytes, expected, sizeof expected);
}

TEST(the_generator_is_the_drafts)
{
    uint8_t channel[26], session[16], generator[FOLIOT__SHARE_BYTES];
    hex("6f630b425f726573706f6e6465720b415f696e69746961746f72", channel, sizeof channel);
    hex("7e4b4791d6a8ef019b936c79fb7f2c57", session, sizeof session);
    foliot__cpace_generator("Password", channel, sizeof channel, session, sizeof session,
                            generator);
    is(generator, "a6fc82c3b8968fbb2e06fee81ca858586dea50d248f0c7ca6a18b0902a30b36b");
}

TEST(shares_and_the_shared_point_are_the_drafts)
{
    uint8_t generator[32], a[32], b[32], share_a[32], share_b[32], both[32];
    hex("a6fc82c3b8968fbb2e06fee81ca858586dea50d248f0c7ca6a18b0902a30b36b", generator, 32);
    hex("da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08", a, 32);
    hex("d2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d", b, 32);
    assert_int_equal(crypto_scalarmult_ristretto255(share_a, a, generator), 0);
    assert_int_equal(crypto_scalarmult_ristretto255(share_b, b, generator), 0);
    is(share_a, "d40fb265a7abeaee7939d91a585fe59f7053f982c296ec413c624c669308f87a");
    is(share_b, "08bcf6e9777a9c313a3db6daa510f2d398403319c2341bd506a92e672eb7e307");
    assert_int_equal(crypto_scalarmult_ristretto255(both, a, share_b), 0);
    is(both, "e22b1ef7788f661478f3cddd4c600774fc0f41e6b711569190ff88fa0e607e09");
    assert_int_equal(crypto_scalarmult_ristretto255(both, b, share_a), 0);
    is(both, "e22b1ef7788f661478f3cddd4c600774fc0f41e6b711569190ff88fa0e607e09");
}

// The draft: abort where the encoding is wrong, or the result is the neutral element.
TEST(what_is_no_point_is_refused)
{
    static const char *const bad[] = {
        "2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c", // the draft's
        "0000000000000000000000000000000000000000000000000000000000000000",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"};
    foliot__share own;
    foliot__session_keys keys;
    const foliot__handshake h = {.server_share = own.shown, .said = own.shown, .said_bytes = 32};
    foliot__share_draw(&own, "a night in may");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t theirs[FOLIOT__SHARE_BYTES];
        hex(bad[i], theirs, sizeof theirs);
        assert_false(foliot__handshake_keys(&own, theirs, true, &h, &keys));
    }
}

TEST(passwords_of_every_length_agree_with_themselves_alone)
{
    char word[FOLIOT_PASSWORD_BYTES_MAX + 1] = "";
    for (size_t length = 1; length <= FOLIOT_PASSWORD_BYTES_MAX; length++) {
        uint8_t one[32], other[32], again[32];
        word[length - 1] = 'a';
        word[length] = 0;
        foliot__cpace_generator(word, (const uint8_t *)"foliot", 6, NULL, 0, one);
        foliot__cpace_generator(word, (const uint8_t *)"foliot", 6, NULL, 0, again);
        word[length - 1] = 'b';
        foliot__cpace_generator(word, (const uint8_t *)"foliot", 6, NULL, 0, other);
        word[length - 1] = 'a';
        assert_memory_equal(one, again, sizeof one);
        assert_int_not_equal(memcmp(one, other, sizeof one), 0);
    }
}
