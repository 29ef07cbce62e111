// SPDX-License-Identifier: MIT
// admission.c: see admission.h. An address has a token bucket of connections that it may open, as
// large as the number that it may hold, so that all clients behind it can reconnect at once after
// an outage; it refills slowly.
#include "net/admission.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define PER_ADDRESS_SHARE 4 // an address may hold a quarter of all connections,
#define PER_ADDRESS_MIN 8   // and at least this number
#define PER_SECOND 4
#define BURST_MIN 16

foliot_status foliot__admission_init(foliot__admission *a, const foliot_transport_config *config)
{
    uint32_t share = config->peers_max / PER_ADDRESS_SHARE;
    *a = (foliot__admission){
        .capacity = config->peers_max + FOLIOT__ADDRESSES_REMEMBERED,
        .per_address_max = share < PER_ADDRESS_MIN ? PER_ADDRESS_MIN : share,
        .every_ns = 1e9 / (config->joins_per_second > 0 ? config->joins_per_second : PER_SECOND)};
    if (config->peers_per_address_max)
        a->per_address_max = config->peers_per_address_max;
    a->burst = a->per_address_max < BURST_MIN ? BURST_MIN : a->per_address_max;
    a->addresses = calloc(a->capacity, sizeof *a->addresses);
    return a->addresses ? FOLIOT_STATUS_OK : FOLIOT_STATUS_MEMORY;
}

void foliot__admission_close(foliot__admission *a)
{
    free(a->addresses);
    *a = (foliot__admission){0};
}

// The address's entry, else a free one, else the one unused for the longest time. One always
// exists, since there are more entries than connections.
static foliot__admission_entry *entry_of(foliot__admission *a, uint64_t host)
{
    foliot__admission_entry *oldest = NULL;
    for (uint32_t i = 0; i < a->capacity; i++) {
        foliot__admission_entry *e = &a->addresses[i];
        if (e->host == host)
            return e;
        if (e->connections == 0 &&
            (!oldest ||
             (oldest->host != 0 && (e->host == 0 || e->opens.filled_ns < oldest->opens.filled_ns))))
            oldest = e;
    }
    FOLIOT_ASSERT(oldest);
    *oldest = (foliot__admission_entry){.host = host};
    return oldest;
}

bool foliot__admission_allows(foliot__admission *a, uint64_t host, uint64_t now_ns)
{
    foliot__admission_entry *e = entry_of(a, host);
    foliot__bucket_fill(&e->opens, a->burst, a->every_ns, now_ns);
    return e->opens.tokens >= 1;
}

foliot__admitted foliot__admit(foliot__admission *a, uint64_t host, uint64_t now_ns)
{
    foliot__admission_entry *e = entry_of(a, host);
    if (e->connections >= a->per_address_max)
        return FOLIOT__ADMITTED_NOT_MORE;
    if (!foliot__bucket_spend(&e->opens, a->burst, a->every_ns, now_ns))
        return FOLIOT__ADMITTED_NOT_YET;
    e->connections++;
    return FOLIOT__ADMITTED;
}

void foliot__admission_release(foliot__admission *a, uint64_t host)
{
    for (uint32_t i = 0; i < a->capacity; i++)
        if (a->addresses[i].host == host && a->addresses[i].connections > 0) {
            a->addresses[i].connections--;
            return;
        }
}

void foliot__admission_restore(foliot__admission *a, uint64_t host, uint64_t now_ns)
{
    foliot__admission_entry *e = entry_of(a, host);
    foliot__bucket_fill(&e->opens, a->burst, a->every_ns, now_ns);
    e->connections++;
}

// -- cookies

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
