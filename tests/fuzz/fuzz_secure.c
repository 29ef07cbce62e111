// SPDX-License-Identifier: MIT
// fuzz_secure.c: any bytes at what a connection with keys reads: a token's text, an opening, an
// answer and a sealed datagram. Without a key nothing is accepted, and nothing moves.
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/secure.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_token(const uint8_t *data, size_t size)
{
    foliot_token token;
    const uint8_t key[FOLIOT_KEY_BYTES] = {7};
    char *text = malloc(size + 1);
    FOLIOT_ASSERT(text);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    if (foliot_token_read(text, &token) == FOLIOT_STATUS_OK)
        FOLIOT_ASSERT(token.address_count <= FOLIOT_TOKEN_ADDRESSES_MAX);
    FOLIOT_ASSERT(foliot_token_open(text, key, &token) != FOLIOT_STATUS_OK);
    free(text);
}

// At a host that asks for tokens, and at a client that has answers.
static void greet(const uint8_t *data, size_t size)
{
    const uint8_t key[FOLIOT_KEY_BYTES] = {7};
    foliot_transport_config config = foliot_transport_config_default();
    foliot__secure *secure;
    uint32_t connection, reason;
    uint64_t cookie;
    config.bind = "127.0.0.1";
    config.key = key;
    config.security = FOLIOT_SECURITY_TOKEN;
    if (!foliot__secure_opening_form(data, size, &connection, &cookie) ||
        foliot__secure_open(&config, 1, &secure) != FOLIOT_STATUS_OK)
        return;
    foliot__secure_peer *peer =
        foliot__secure_take(secure, connection, foliot__net_address_of_ip4(1, 1), 1);
    FOLIOT_ASSERT(peer && !foliot__secure_opening_known(secure, data, size, 1, &reason));
    FOLIOT_ASSERT(foliot__secure_accept(secure, peer, data, size, 1, 1) != 0);
    FOLIOT_ASSERT(foliot__secure_opening_known(secure, data, size, 1, &reason) && reason);
    foliot__secure_close(secure);
}

static void unseal(const uint8_t *data, size_t size)
{
    const uint8_t key[FOLIOT__SEAL_KEY_BYTES] = {7};
    foliot__opener opener, before;
    uint8_t *plain = malloc(size + 1);
    FOLIOT_ASSERT(plain);
    foliot__opener_init(&opener, key);
    before = opener;
    FOLIOT_ASSERT(foliot__unseal(&opener, data, size, plain, NULL) != FOLIOT__OPENED);
    FOLIOT_ASSERT(memcmp(&before, &opener, sizeof opener) == 0);
    free(plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_token(data, size);
    greet(data, size);
    unseal(data, size);
    return 0;
}
