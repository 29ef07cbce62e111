// SPDX-License-Identifier: MIT
// secure_tokens.c: which tokens and passwords let in, whether they come in an opening (secure.c) or
// are shown by other means: a browser's come over its WebSocket. Used tokens are shared by
// transports and threads, hence their lock.
#include <pthread.h>
#include <string.h>

#include "base/assert.h"
#include "crypto/crypto.h"
#include "net/secure_internal.h"

void foliot__secure_set_keys(foliot__secure *s, const uint8_t *keys, uint32_t count)
{
    FOLIOT_ASSERT(count > 0 && count <= FOLIOT_KEYS_MAX);
    pthread_mutex_lock(&s->used->lock);
    foliot__forget(s->keys, sizeof s->keys);
    memcpy(s->keys, keys, count * sizeof s->keys[0]);
    s->key_count = count;
    pthread_mutex_unlock(&s->used->lock);
}

bool foliot__secure_unseal_token(const foliot__secure *s, const uint8_t *sealed,
                                 foliot_token *token, uint8_t secret[FOLIOT__TOKEN_KEYS_BYTES])
{
    for (uint32_t i = 0; i < s->key_count; i++)
        if (foliot__token_unseal(sealed, s->keys[i], token, secret))
            return true;
    return false;
}

bool foliot__secret_given(const uint8_t secret[FOLIOT__RETURN_BYTES])
{
    static const uint8_t zeros[FOLIOT__RETURN_BYTES];
    return memcmp(secret, zeros, sizeof zeros) != 0;
}

uint32_t foliot__secure_look_up_token(foliot__secure *s, const foliot_token *token, bool returns,
                                      uint64_t now_s, foliot__used_token **used)
{
    foliot__token_verdict verdict = foliot__token_check(token, now_s, s->own, s->own_count);
    if (returns && *used && verdict == FOLIOT__TOKEN_EXPIRED)
        verdict = FOLIOT__TOKEN_GOOD; // it was in time the first time
    if (verdict == FOLIOT__TOKEN_GOOD && (returns ? !*used : *used && (*used)->answered))
        verdict = FOLIOT__TOKEN_USED;
    if (verdict == FOLIOT__TOKEN_GOOD && !*used &&
        !(*used = foliot__used_token_reserve(&s->used->table, now_s)))
        verdict = FOLIOT__TOKEN_NO_ROOM;
    switch (verdict) {
    case FOLIOT__TOKEN_GOOD:
        return 0;
    case FOLIOT__TOKEN_EXPIRED:
    case FOLIOT__TOKEN_EARLY:
        return FOLIOT_DISCONNECT_TOKEN_EXPIRED;
    case FOLIOT__TOKEN_USED:
        return FOLIOT_DISCONNECT_TOKEN_USED;
    case FOLIOT__TOKEN_NO_ROOM:
        return FOLIOT_DISCONNECT_FULL;
    case FOLIOT__TOKEN_FOREIGN:
    default:
        return FOLIOT_DISCONNECT_TOKEN;
    }
}

void foliot__secure_remember_token(foliot__used_token *used, const uint8_t *nonce,
                                   const foliot_token *token, const uint8_t *returns,
                                   const uint8_t *came_by, bool answered)
{
    memcpy(used->nonce, nonce, sizeof used->nonce);
    memcpy(used->returns[1], came_by, FOLIOT__RETURN_BYTES); // if nothing of this one arrives
    memcpy(used->returns[0], returns, FOLIOT__RETURN_BYTES);
    used->keep_until_s = token->expires_s < UINT64_MAX - FOLIOT__TOKEN_RETURN_S
                             ? token->expires_s + FOLIOT__TOKEN_RETURN_S
                             : UINT64_MAX; // it was to be good for ever, for one client
    used->answered = answered;
}

// With the lock held.
static uint32_t spend_shown(foliot__secure *s, const foliot__client_token *shown,
                            const uint8_t *return_secret, uint64_t now_s, uint64_t now_ns,
                            foliot_peer_identity *identity)
{
    uint8_t keys[FOLIOT__TOKEN_KEYS_BYTES] = {0};
    foliot_token *token = &identity->token;
    static const uint8_t none[FOLIOT__RETURN_BYTES];
    // An eavesdropper who has seen only the sealed part of a token cannot use it.
    bool good = foliot__secure_unseal_token(s, shown->sealed, token, keys) &&
                foliot__secrets_equal(keys, shown->keys, sizeof keys);
    foliot__forget(keys, sizeof keys);
    if (!good)
        return FOLIOT_DISCONNECT_TOKEN;
    foliot__used_token *used = foliot__used_token_find(&s->used->table, shown->sealed);
    bool returns = used && foliot__secret_given(used->returns[0]) &&
                   foliot__secrets_equal(used->returns[0], return_secret, FOLIOT__RETURN_BYTES);
    if (used && !returns)
        return FOLIOT_DISCONNECT_TOKEN_USED;
    uint32_t reason = foliot__secure_look_up_token(s, token, returns, now_s, &used);
    if (!reason && !foliot__used_tokens_count_shown(s->used, shown->sealed, token->client, now_ns,
                                                    &identity->shown))
        reason = FOLIOT_DISCONNECT_FULL;
    if (!reason)
        foliot__secure_remember_token(used, shown->sealed, token, return_secret, none, true);
    return reason;
}

uint32_t foliot__secure_show_token(foliot__secure *s, const char *text,
                                   const uint8_t return_secret[FOLIOT_RETURN_SECRET_BYTES],
                                   uint64_t now_s, uint64_t now_ns, foliot_peer_identity *identity)
{
    foliot__client_token shown;
    foliot_peer_identity who = {.security = FOLIOT_SECURITY_TOKEN};
    uint32_t reason = FOLIOT_DISCONNECT_TOKEN;
    if (s->security != FOLIOT_SECURITY_TOKEN)
        return FOLIOT_DISCONNECT_SECURITY;
    if (foliot__client_token_read(text, &shown) == FOLIOT_STATUS_OK &&
        foliot__secret_given(return_secret)) {
        pthread_mutex_lock(&s->used->lock);
        reason = spend_shown(s, &shown, return_secret, now_s, now_ns, &who);
        pthread_mutex_unlock(&s->used->lock);
    }
    foliot__forget(&shown, sizeof shown);
    if (!reason)
        *identity = who;
    return reason;
}

void foliot__secure_end_shown(foliot__secure *s, const foliot_peer_identity *identity)
{
    if (s->security != FOLIOT_SECURITY_TOKEN)
        return;
    pthread_mutex_lock(&s->used->lock);
    foliot__used_tokens_end_shown(s->used, identity->shown);
    pthread_mutex_unlock(&s->used->lock);
}

uint64_t foliot__secure_poll_over_client(foliot__secure *s)
{
    if (!s->used)
        return 0;
    pthread_mutex_lock(&s->used->lock);
    uint64_t over = s->used->shown_over;
    s->used->shown_over = 0;
    pthread_mutex_unlock(&s->used->lock);
    return over;
}

uint32_t foliot__secure_show_password(const foliot__secure *s, const char *password,
                                      foliot_peer_identity *identity)
{
    uint8_t shown[16], own[16];
    if (s->security != FOLIOT_SECURITY_PASSWORD)
        return FOLIOT_DISCONNECT_SECURITY;
    foliot__one_way(password, strlen(password), shown); // equal lengths to compare
    foliot__one_way(s->password, strlen(s->password), own);
    bool good = foliot__secrets_equal(shown, own, sizeof own);
    foliot__forget(own, sizeof own);
    foliot__forget(shown, sizeof shown);
    if (!good)
        return FOLIOT_DISCONNECT_PASSWORD;
    *identity = (foliot_peer_identity){.security = FOLIOT_SECURITY_PASSWORD};
    return 0;
}
