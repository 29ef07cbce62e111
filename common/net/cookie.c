// SPDX-License-Identifier: MIT
// cookie.c: see cookie.h.
#include "net/cookie.h"

#include <string.h>

void foliot__cookie_keys_draw(foliot__cookie_keys *keys, uint64_t now_ns)
{
    foliot__system_random(NULL, &keys->now, sizeof keys->now);
    foliot__system_random(NULL, &keys->before, sizeof keys->before);
    keys->drawn_ns = now_ns;
}

void foliot__cookie_keys_rotate(foliot__cookie_keys *keys, uint64_t now_ns)
{
    if (now_ns - keys->drawn_ns < FOLIOT__COOKIE_EPOCH_NS)
        return;
    keys->before = keys->now;
    foliot__system_random(NULL, &keys->now, sizeof keys->now);
    if (now_ns - keys->drawn_ns >=
        2 * (uint64_t)FOLIOT__COOKIE_EPOCH_NS) // idle for two epochs: the old key is too old
        foliot__system_random(NULL, &keys->before, sizeof keys->before);
    keys->drawn_ns = now_ns;
}

static uint64_t mac(const foliot__mac_key *key, const foliot__net_address *address,
                    uint32_t connect_id)
{
    uint8_t message[26];
    memcpy(message, address->ip, 16);
    memcpy(message + 16, &address->scope, 4);
    memcpy(message + 20, &address->port, 2);
    memcpy(message + 22, &connect_id, 4);
    return foliot__mac(key, message, sizeof message);
}

uint64_t foliot__cookie(const foliot__cookie_keys *keys, const foliot__net_address *address,
                        uint32_t connect_id)
{
    return mac(&keys->now, address, connect_id);
}

bool foliot__cookie_good(const foliot__cookie_keys *keys, const foliot__net_address *address,
                         uint32_t connect_id, uint64_t cookie)
{
    uint64_t now = mac(&keys->now, address, connect_id),
             before = mac(&keys->before, address, connect_id);
    bool is_now = foliot__secrets_equal(&now, &cookie, sizeof cookie);
    bool is_before = foliot__secrets_equal(&before, &cookie, sizeof cookie);
    return is_now || is_before;
}
