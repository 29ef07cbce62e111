// SPDX-License-Identifier: MIT
// secure.c: see secure.h.
#include "net/secure.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "crypto/crypto.h"
#include "net/secure_internal.h"

#define OPENING_SETS 1024u // of openings that are remembered longer than their cookies are good
#define OPENINGS_A_SET 32u
#define OPENINGS_REMEMBERED (OPENING_SETS * OPENINGS_A_SET)
#define OPENING_NS (2 * FOLIOT__COOKIE_EPOCH_NS + 1000000000u)
#define USED_TOKENS_A_PEER 16u // tokens that a host remembers, in the middle
#define USED_TOKENS_MIN 4096u
#define EXPIRE_EVERY_NS 1000000000u

// Offsets in an opening.
enum { AT_CONNECTION = 8, AT_COOKIE = 12, AT_SECURITY = 20, AT_RETURNS, AT_SHARE, AT_TOKEN = 54 };

static bool needs_met(const foliot_transport_config *config)
{
    size_t password = config->password ? strlen(config->password) : 0;
    if (config->security == FOLIOT_SECURITY_TOKEN)
        return config->bind ? config->key != NULL : config->token != NULL;
    if (config->security == FOLIOT_SECURITY_PASSWORD)
        return password > 0 && password <= FOLIOT_PASSWORD_BYTES_MAX;
    return (uint32_t)config->security <= FOLIOT_SECURITY_ANONYMOUS;
}

// The parts of the block; `base` NULL measures it.
static size_t lay_out(foliot__secure *s, uint8_t *base, uint32_t peers_max, bool listens)
{
    uint32_t bits = 4, capacity = 2 * peers_max; // as many may say farewell as there are
    while (1u << bits < 2 * capacity)
        bits++;
    size_t at = (sizeof *s + 63) & ~(size_t)63, openings, buckets;
    openings = at;
    at += listens ? OPENINGS_REMEMBERED * sizeof(foliot__known_opening) : 0;
    buckets = at;
    at += (sizeof(uint32_t) << bits);
    at = (at + 63) & ~(size_t)63;
    if (base) {
        s->openings = (foliot__known_opening *)(void *)(base + openings);
        s->buckets = (uint32_t *)(void *)(base + buckets);
        s->peers = (foliot__secure_peer *)(void *)(base + at);
        s->capacity = capacity;
        s->bucket_bits = bits;
    }
    return at + capacity * sizeof(foliot__secure_peer);
}

static foliot_status apply_config(foliot__secure *s, const foliot_transport_config *config,
                                  uint16_t port)
{
    s->security = config->security;
    foliot__system_random(NULL, &s->multiplier, sizeof s->multiplier);
    s->multiplier |= 1;
    foliot__system_random(NULL, &s->mac, sizeof s->mac);
    if (config->security == FOLIOT_SECURITY_PASSWORD)
        memcpy(s->password, config->password, strlen(config->password) + 1);
    if (config->security != FOLIOT_SECURITY_TOKEN)
        return FOLIOT_STATUS_OK;
    if (!config->bind)
        return foliot__client_token_read(config->token, &s->token);
    memcpy(s->keys[0], config->key, sizeof s->keys[0]);
    s->key_count = 1;
    s->used = config->used_tokens;
    if (!s->used) {
        uint32_t most = USED_TOKENS_A_PEER * config->peers_max;
        foliot_status status = foliot_used_tokens_open(
            NULL, most < USED_TOKENS_MIN ? USED_TOKENS_MIN : most, &s->used);
        if (status != FOLIOT_STATUS_OK)
            return status;
        s->owns_used = true;
    }
    s->own_count = config->own_address_count < FOLIOT_OWN_ADDRESSES_MAX ? config->own_address_count
                                                                        : FOLIOT_OWN_ADDRESSES_MAX;
    for (uint32_t i = 0; i < s->own_count; i++) {
        s->own[i] = config->own_addresses[i];
        s->own[i].port = s->own[i].port ? s->own[i].port : port;
    }
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__secure_open(const foliot_transport_config *config, uint16_t port,
                                  foliot__secure **secure)
{
    if (!needs_met(config))
        return FOLIOT_STATUS_INVALID;
    size_t bytes = lay_out(NULL, NULL, config->peers_max, config->bind != NULL);
    // Pages that are never used cost nothing.
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return FOLIOT_STATUS_MEMORY;
    madvise(block, bytes, MADV_DONTDUMP);
    foliot__secure *s = block;
    s->bytes = bytes;
    lay_out(s, block, config->peers_max, config->bind != NULL);
    foliot_status status = apply_config(s, config, port);
    if (status == FOLIOT_STATUS_OK)
        *secure = s;
    else
        foliot__secure_close(s);
    return status;
}

static void stop_counting(foliot__secure *s, foliot__secure_peer *p)
{
    if (!p->counted)
        return;
    pthread_mutex_lock(&s->used->lock);
    foliot__admission_release(&s->used->clients, p->identity.token.client);
    pthread_mutex_unlock(&s->used->lock);
    p->counted = false;
}

void foliot__secure_close(foliot__secure *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->taken; i++) {
        stop_counting(s, &s->peers[i]);
        foliot__forget(&s->peers[i], sizeof s->peers[i]);
    }
    if (s->owns_used)
        foliot_used_tokens_close(s->used);
    size_t bytes = s->bytes;
    foliot__forget(s, sizeof *s);
    munmap(s, bytes);
}

// -- peers

static uint32_t *bucket_of(foliot__secure *s, uint32_t connection)
{
    return &s->buckets[connection * s->multiplier >> (32 - s->bucket_bits)];
}

foliot__secure_peer *foliot__secure_find(foliot__secure *s, uint32_t connection)
{
    for (uint32_t i = *bucket_of(s, connection); i; i = s->peers[i - 1].next)
        if (s->peers[i - 1].connection == connection)
            return &s->peers[i - 1];
    return NULL;
}

// A free entry, or else the oldest one that is disconnecting.
static foliot__secure_peer *free_peer(foliot__secure *s, uint64_t now_ns)
{
    foliot__secure_peer *oldest = NULL;
    for (uint32_t i = 0; i < s->capacity; i++) {
        foliot__secure_peer *p = &s->peers[i];
        if (p->used && !p->owner && now_ns >= p->until_ns)
            foliot__secure_release(s, p);
        if (!p->used) {
            s->taken = i >= s->taken ? i + 1 : s->taken;
            return p;
        }
        if (!p->owner && (!oldest || p->until_ns < oldest->until_ns))
            oldest = p;
    }
    if (oldest)
        foliot__secure_release(s, oldest);
    return oldest;
}

foliot__secure_peer *foliot__secure_add(foliot__secure *s, uint32_t connection,
                                        foliot__net_address address, uint64_t now_ns)
{
    foliot__secure_peer *p = foliot__secure_find(s, connection) ? NULL : free_peer(s, now_ns);
    if (!p)
        return NULL;
    uint32_t *bucket = bucket_of(s, connection);
    *p = (foliot__secure_peer){
        .used = true, .connection = connection, .next = *bucket, .address = address};
    *bucket = (uint32_t)(p - s->peers) + 1;
    return p;
}

void foliot__secure_release(foliot__secure *s, foliot__secure_peer *p)
{
    uint32_t index = (uint32_t)(p - s->peers) + 1, *at = bucket_of(s, p->connection);
    while (*at != index) {
        FOLIOT_ASSERT(*at);
        at = &s->peers[*at - 1].next;
    }
    *at = p->next;
    stop_counting(s, p);
    foliot__forget(p, sizeof *p);
}

void foliot__secure_linger(foliot__secure *s, foliot__secure_peer *p, uint64_t until_ns)
{
    stop_counting(s, p);
    p->owner = NULL;
    p->until_ns = until_ns;
}

void foliot__secure_expire(foliot__secure *s, uint64_t now_ns)
{
    if (now_ns - s->expired_ns < EXPIRE_EVERY_NS)
        return;
    s->expired_ns = now_ns;
    for (uint32_t i = 0; i < s->taken; i++)
        if (s->peers[i].used && !s->peers[i].owner && now_ns >= s->peers[i].until_ns)
            foliot__secure_release(s, &s->peers[i]);
}

// -- the handshake

static const char *password_of(const foliot__secure *s)
{
    return s->security == FOLIOT_SECURITY_PASSWORD ? s->password : NULL;
}

// The security that a host requires.
static foliot_security asked(const foliot__secure *s)
{
    return s->security == FOLIOT_SECURITY_CLEAR ? FOLIOT_SECURITY_ANONYMOUS : s->security;
}

// Shares live as long as cookies, so that a key that leaks later opens no earlier datagram.
static void renew_shares(foliot__secure *s, uint64_t now_ns)
{
    if (s->drawn_ns && now_ns - s->drawn_ns < FOLIOT__COOKIE_EPOCH_NS)
        return;
    bool stale = !s->drawn_ns || now_ns - s->drawn_ns >= 2 * FOLIOT__COOKIE_EPOCH_NS;
    s->shares[1] = s->shares[0];
    foliot__share_draw(&s->shares[0], password_of(s));
    if (stale)
        foliot__share_draw(&s->shares[1], password_of(s));
    s->drawn_ns = now_ns ? now_ns : 1;
}

void foliot__secure_answer(foliot__secure *s, uint32_t connection, uint64_t cookie, uint64_t now_ns,
                           uint8_t answer[FOLIOT__SECURE_ANSWER_BYTES])
{
    renew_shares(s, now_ns);
    memcpy(answer, FOLIOT__SECURE_ANSWER_MARK, 8);
    memcpy(answer + AT_CONNECTION, &connection, 4);
    for (int i = 0; i < 8; i++)
        answer[AT_COOKIE + i] = (uint8_t)(cookie >> (8 * i));
    answer[AT_SECURITY] = (uint8_t)asked(s);
    memcpy(answer + AT_SECURITY + 1, s->shares[0].shown, FOLIOT__SHARE_BYTES);
}

static void keys_in_use(foliot__secure_peer *p, bool listens, uint64_t now_ns)
{
    foliot__sealer_init(&p->sealer, listens ? p->keys.to_client : p->keys.to_server, now_ns);
    foliot__opener_init(&p->opener, listens ? p->keys.to_server : p->keys.to_client);
    foliot__forget(p->keys.to_client, sizeof p->keys.to_client);
    foliot__forget(p->keys.to_server, sizeof p->keys.to_server);
}

uint32_t foliot__secure_receive_answer(foliot__secure *s, foliot__secure_peer *p,
                                       const uint8_t answer[FOLIOT__SECURE_ANSWER_BYTES],
                                       uint64_t now_ns)
{
    foliot__share share;
    uint8_t *o = p->opening;
    bool token = s->security == FOLIOT_SECURITY_TOKEN;
    if (answer[AT_SECURITY] != (uint8_t)s->security)
        return FOLIOT_DISCONNECT_SECURITY;
    foliot__share_draw(&share, password_of(s));
    memcpy(o, answer, AT_SECURITY + 1); // the same connection and cookie
    memcpy(o, FOLIOT__SECURE_OPENING_MARK, 8);
    o[AT_RETURNS] = token && s->returns;
    memcpy(o + AT_SHARE, share.shown, FOLIOT__SHARE_BYTES);
    if (token)
        memcpy(o + AT_TOKEN, s->token.sealed, FOLIOT__TOKEN_SEALED_BYTES);
    size_t said = AT_TOKEN + (token ? FOLIOT__TOKEN_SEALED_BYTES : 0);
    foliot__handshake h = {.server_share = answer + AT_SECURITY + 1,
                           .said = o,
                           .said_bytes = said,
                           .token_keys = token ? s->token.keys : NULL,
                           .returns = o[AT_RETURNS] ? s->returns_by : NULL};
    bool good =
        foliot__handshake_keys(&share, h.server_share, password_of(s) != NULL, &h, &p->keys);
    foliot__forget(&share, sizeof share);
    if (!good)
        return FOLIOT_DISCONNECT_SECURITY;
    memcpy(o + said, p->keys.proof, FOLIOT__PROOF_BYTES);
    p->opening_bytes = (uint32_t)(said + FOLIOT__PROOF_BYTES);
    keys_in_use(p, false, now_ns);
    return 0;
}

bool foliot__secure_opening_form(const uint8_t *bytes, size_t length, uint32_t *connection,
                                 uint64_t *cookie)
{
    if (length < FOLIOT__SECURE_OPENING_BYTES_MIN ||
        memcmp(bytes, FOLIOT__SECURE_OPENING_MARK, 8) != 0)
        return false;
    size_t token = bytes[AT_SECURITY] == FOLIOT_SECURITY_TOKEN ? FOLIOT__TOKEN_SEALED_BYTES : 0;
    if (length != FOLIOT__SECURE_OPENING_BYTES_MIN + token || bytes[AT_RETURNS] > 1)
        return false;
    memcpy(connection, bytes + AT_CONNECTION, 4);
    *cookie = 0;
    for (int i = 0; i < 8; i++)
        *cookie |= (uint64_t)bytes[AT_COOKIE + i] << (8 * i);
    return true;
}

// Nobody knows which set an opening has: the key of the sums is the host's alone.
static foliot__known_opening *set_of(const foliot__secure *s, uint64_t mac)
{
    return &s->openings[mac % OPENING_SETS * OPENINGS_A_SET];
}

bool foliot__secure_opening_known(const foliot__secure *s, const uint8_t *bytes, size_t length,
                                  uint64_t now_ns, uint32_t *reason)
{
    uint64_t mac = foliot__mac(&s->mac, bytes, length);
    const foliot__known_opening *set = set_of(s, mac);
    for (uint32_t i = 0; i < OPENINGS_A_SET; i++)
        if (set[i].mac == mac && set[i].until_ns > now_ns) {
            *reason = set[i].reason;
            return true;
        }
    return false;
}

// Keys under one of the two shares and one secret to return by, if they are those of the proof.
static bool try_keys(foliot__secure *s, foliot__secure_peer *p, const uint8_t *bytes, size_t length,
                     const uint8_t *token_keys, const uint8_t *returns)
{
    for (int i = 0; i < 2; i++) {
        foliot__handshake h = {.server_share = s->shares[i].shown,
                               .said = bytes,
                               .said_bytes = length - FOLIOT__PROOF_BYTES,
                               .token_keys = token_keys,
                               .returns = returns};
        if (!foliot__handshake_keys(&s->shares[i], bytes + AT_SHARE, password_of(s) != NULL, &h,
                                    &p->keys))
            return false;
        if (foliot__secrets_equal(p->keys.proof, bytes + length - FOLIOT__PROOF_BYTES,
                                  FOLIOT__PROOF_BYTES))
            return true;
    }
    return false;
}

static uint32_t accept_token(foliot__secure *s, foliot__secure_peer *p, const uint8_t *bytes,
                             size_t length, uint64_t now_ns, uint64_t now_s)
{
    pthread_mutex_lock(&s->used->lock);
    // With the lock held.
    uint32_t reason;
    uint8_t token_keys[FOLIOT__TOKEN_KEYS_BYTES] = {0};
    foliot_token *token = &p->identity.token;
    bool returns = bytes[AT_RETURNS], good = false;
    uint8_t came_by[FOLIOT__RETURN_BYTES] = {0};
    if (!foliot__secure_unseal_token(s, bytes + AT_TOKEN, token, token_keys)) {
        reason = FOLIOT_DISCONNECT_TOKEN;
    } else {
        foliot__used_token *used = foliot__used_token_find(&s->used->table, bytes + AT_TOKEN);
        uint32_t why = foliot__secure_look_up_token(s, token, returns, now_s, &used);
        for (int i = 0; !why && !good && i < 1 + returns; i++) {
            if (returns && !foliot__secret_given(used->returns[i]))
                continue;
            good = try_keys(s, p, bytes, length, token_keys, returns ? used->returns[i] : NULL);
            if (good && returns)
                memcpy(came_by, used->returns[i], sizeof came_by);
        }
        foliot__forget(token_keys, sizeof token_keys);
        if (why) {
            reason = why;
        } else if (!good) {
            reason = returns ? FOLIOT_DISCONNECT_TOKEN_USED : FOLIOT_DISCONNECT_TOKEN;
        } else {
            // Whether the token's client may open one more. It proved that the token is its own.
            uint64_t client = p->identity.token.client;
            p->counted =
                client != 0 && foliot__admit(&s->used->clients, client, now_ns) == FOLIOT__ADMITTED;
            if (!p->counted && client != 0) {
                reason = FOLIOT__OVER_CLIENT;
            } else {
                foliot__secure_remember_token(used, bytes + AT_TOKEN, token, p->keys.returns,
                                              came_by, returns);
                p->used_token = (uint32_t)(used - s->used->table.entries) + 1;
                p->returned = returns;
                p->accepted = s->accepted++;
                reason = 0;
            }
        }
    }
    pthread_mutex_unlock(&s->used->lock);
    return reason;
}

uint32_t foliot__secure_accept(foliot__secure *s, foliot__secure_peer *p, const uint8_t *bytes,
                               size_t length, uint64_t now_ns, uint64_t now_s)
{
    uint32_t reason = 0;
    renew_shares(s, now_ns);
    // Refused openings make room for new ones, so that garbage keeps no client out. Openings with a
    // wrong password stay, or passwords could be guessed as fast as they are checked. Accepted
    // openings stay, since a second acceptance would use their keys twice. NULL: the set is full
    // for a moment; the same client with other bytes has another set.
    uint64_t mac = foliot__mac(&s->mac, bytes, length);
    foliot__known_opening *set = set_of(s, mac), *known = NULL;
    for (uint32_t i = 0; i < OPENINGS_A_SET; i++) {
        foliot__known_opening *o = &set[i];
        bool over = o->until_ns <= now_ns;
        if (!over && (o->reason == 0 || s->security == FOLIOT_SECURITY_PASSWORD))
            continue;
        if (!known || o->until_ns < known->until_ns)
            known = o;
        if (over)
            break;
    }
    if (known)
        *known = (foliot__known_opening){.mac = mac, .until_ns = now_ns + OPENING_NS};
    if (!known)
        return FOLIOT_DISCONNECT_FULL;
    if (bytes[AT_SECURITY] != (uint8_t)asked(s))
        reason = FOLIOT_DISCONNECT_SECURITY;
    else if (s->security == FOLIOT_SECURITY_TOKEN)
        reason = accept_token(s, p, bytes, length, now_ns, now_s);
    else if (!try_keys(s, p, bytes, length, NULL, NULL))
        reason = s->security == FOLIOT_SECURITY_PASSWORD ? FOLIOT_DISCONNECT_PASSWORD
                                                         : FOLIOT_DISCONNECT_SECURITY;
    known->reason = reason == FOLIOT__OVER_CLIENT ? FOLIOT_DISCONNECT_FULL : reason;
    if (reason)
        return reason;
    p->identity.security = (foliot_security)bytes[AT_SECURITY];
    keys_in_use(p, true, now_ns);
    return 0;
}

void foliot__secure_confirm(foliot__secure *s, foliot__secure_peer *p)
{
    p->confirmed = true;
    if (p->used_token) {
        pthread_mutex_lock(&s->used->lock);
        foliot__used_token *used = &s->used->table.entries[p->used_token - 1];
        p->too_late = !p->returned && used->answered;
        if (!p->returned && !used->answered) // whatever else came by it meanwhile
            memcpy(used->returns[0], p->keys.returns, FOLIOT__RETURN_BYTES);
        used->answered = true;
        pthread_mutex_unlock(&s->used->lock);
    }
    if (s->security == FOLIOT_SECURITY_TOKEN && p->opening_bytes) {
        s->returns = true;
        memcpy(s->returns_by, p->keys.returns, sizeof s->returns_by);
    }
}

foliot__secure_peer *foliot__secure_replaced(foliot__secure *s, foliot__secure_peer *p,
                                             const foliot__secure_peer *after)
{
    if (p->too_late)
        return after || !p->owner ? NULL : p;
    for (uint32_t i = after ? (uint32_t)(after - s->peers) + 1 : 0;
         p->used_token && p->returned && i < s->taken; i++) {
        foliot__secure_peer *q = &s->peers[i];
        // An entry is another token's only when that of before has long expired.
        if (q != p && q->used && q->owner && q->accepted < p->accepted &&
            p->used_token == q->used_token &&
            p->identity.token.expires_s == q->identity.token.expires_s &&
            p->identity.token.client == q->identity.token.client)
            return q;
    }
    return NULL;
}

void foliot__secure_refused(foliot__secure *s, uint32_t reason)
{
    if (reason == FOLIOT_DISCONNECT_TOKEN_USED || reason == FOLIOT_DISCONNECT_TOKEN)
        s->returns = false;
}
