// SPDX-License-Identifier: MIT
// fuzz_secure.c: any bytes at what a connection with keys reads: a token's text, an opening at
// hosts of every kind, an answer, a sealed datagram, and an address. Without a key nothing is
// accepted, and nothing moves.
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

// At hosts of every kind. Nobody proves anything by chance.
static void greet(const uint8_t *data, size_t size, foliot_security security)
{
    const uint8_t key[FOLIOT_KEY_BYTES] = {7};
    foliot_transport_config config = foliot_transport_config_default();
    foliot__secure *secure;
    uint32_t connection, reason;
    uint64_t cookie;
    config.bind = "127.0.0.1";
    config.key = key;
    config.password = "a night in may";
    config.peers_max = 2;
    config.security = security;
    if (!foliot__secure_opening_form(data, size, &connection, &cookie) ||
        foliot__secure_open(&config, 1, &secure) != FOLIOT_STATUS_OK)
        return;
    foliot__secure_peer *peer =
        foliot__secure_add(secure, connection, foliot__net_address_of_ip4(1, 1), 1);
    FOLIOT_ASSERT(peer && !foliot__secure_opening_known(secure, data, size, 1, &reason));
    FOLIOT_ASSERT(foliot__secure_accept(secure, peer, data, size, 1, 1) != 0);
    FOLIOT_ASSERT(foliot__secure_opening_known(secure, data, size, 1, &reason) && reason);
    foliot__secure_close(secure);
}

// At a client that has asked: any share that is one makes keys, and an opening of the form that
// hosts take.
static void answer(const uint8_t *data, size_t size, foliot_security security)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot__secure *secure;
    uint32_t connection, asked;
    uint64_t cookie;
    config.security = security;
    config.password = "a night in may";
    config.peers_max = 1;
    if (size != FOLIOT__SECURE_ANSWER_BYTES ||
        foliot__secure_open(&config, 1, &secure) != FOLIOT_STATUS_OK)
        return;
    memcpy(&asked, data + 8, sizeof asked);
    foliot__secure_peer *peer =
        foliot__secure_add(secure, asked, foliot__net_address_of_ip4(1, 1), 1);
    FOLIOT_ASSERT(peer);
    if (foliot__secure_receive_answer(secure, peer, data, 1) == 0)
        FOLIOT_ASSERT(
            foliot__secure_opening_form(peer->opening, peer->opening_bytes, &connection, &cookie) &&
            connection == asked);
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

// An address that is read and printed reads as the same address.
static void address(const uint8_t *data, size_t size)
{
    foliot__net_address one, other;
    char text[64], printed[FOLIOT__ADDRESS_TEXT_BYTES];
    size_t length = size < sizeof text ? size : sizeof text - 1;
    if (length)
        memcpy(text, data, length);
    text[length] = 0;
    if (!foliot__net_address_read(text, 7, &one))
        return;
    foliot__net_address_print(&one, printed, sizeof printed);
    char *host = printed[0] == '[' ? printed + 1 : printed;
    *(printed[0] == '[' ? strchr(host, ']') : strrchr(host, ':')) = 0;
    FOLIOT_ASSERT(foliot__net_address_host_key(&one) != 0);
    FOLIOT_ASSERT(foliot__net_address_read(host, 7, &other) &&
                  foliot__net_address_same(&one, &other));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_token(data, size);
    for (foliot_security security = FOLIOT_SECURITY_CLEAR; security <= FOLIOT_SECURITY_TOKEN;
         security++) {
        greet(data, size, security);
        if (security == FOLIOT_SECURITY_ANONYMOUS || security == FOLIOT_SECURITY_PASSWORD)
            answer(data, size, security);
    }
    address(data, size);
    unseal(data, size);
    return 0;
}
