// SPDX-License-Identifier: MIT
// Goal: passwords are proved by CPace as its authors mean it: generator, shares and shared point
// are those of the test vector of draft-irtf-cfrg-cpace, appendix B.3 (CPACE-RISTR255-SHA512), and
// what is no point is refused. Method: the vector's scalars in the place of random ones.
#include "check.h"

#include <sodium.h>
#include <string.h>

#include "crypto/handshake.h"
#include "foliot/transport.h"

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
