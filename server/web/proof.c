// SPDX-License-Identifier: MIT
// proof.c: verifies a browser's token or password before web.c lets it in. It stores only how often
// an address has tried.
#include "web/web.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "crypto/crypto.h"
#include "net/transport.h"

#define TOKEN_HEAD (1 + FOLIOT_RETURN_SECRET_BYTES) // the signal's kind, and the return secret

void foliot__web_address_of(int (*end)(int, struct sockaddr *, socklen_t *), int descriptor,
                            char *text, size_t bytes)
{
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    text[0] = 0;
    if (end(descriptor, (struct sockaddr *)&name, &length) != 0)
        return;
    const void *address =
        name.ss_family == AF_INET6
            ? (const void *)&((const struct sockaddr_in6 *)(const void *)&name)->sin6_addr
            : (const void *)&((const struct sockaddr_in *)(const void *)&name)->sin_addr;
    inet_ntop(name.ss_family, address, text, (socklen_t)bytes);
}

bool foliot__web_proof_wanted(const foliot__web_gate *g)
{
    foliot_security security =
        g->transport ? foliot__transport_get_security(g->transport) : FOLIOT_SECURITY_CLEAR;
    return security == FOLIOT_SECURITY_TOKEN || security == FOLIOT_SECURITY_PASSWORD;
}

foliot_status foliot__web_gate_open(foliot__web_gate *g)
{
    foliot_transport_config limits = foliot_transport_config_default();
    limits.peers_max = 1; // nobody is held longer than he is judged
    limits.peers_per_address_max = FOLIOT__WEB_GUESSES;
    limits.joins_per_second = 1;
    return foliot__admission_init(&g->guesses, &limits);
}

void foliot__web_gate_close(foliot__web_gate *g)
{
    foliot__admission_close(&g->guesses);
}

static uint32_t check_token(const foliot__web_gate *g, const uint8_t *shown, size_t length,
                            uint64_t now_ns, foliot__web_proof *proof)
{
    char text[FOLIOT_TOKEN_TEXT_BYTES] = "";
    foliot__client_token token;
    uint32_t reason = FOLIOT_DISCONNECT_TOKEN;
    if (length > TOKEN_HEAD && length - TOKEN_HEAD < sizeof text) {
        memcpy(text, shown + TOKEN_HEAD, length - TOKEN_HEAD);
        reason = foliot__transport_show_token(g->transport, text, shown + 1, (uint64_t)time(NULL),
                                              now_ns, &proof->identity);
    }
    if (reason == 0 && foliot__client_token_read(text, &token) == FOLIOT_STATUS_OK) {
        memcpy(proof->token_name, token.sealed, sizeof proof->token_name);
        foliot__forget(&token, sizeof token);
    }
    foliot__forget(text, sizeof text);
    switch (reason) {
    case FOLIOT_DISCONNECT_TOKEN_EXPIRED:
        proof->sentence = "this link has expired: ask the host for a new one";
        break;
    case FOLIOT_DISCONNECT_TOKEN_USED:
        proof->sentence =
            "this link was used before, and admits one player: ask the host for another";
        break;
    case FOLIOT_DISCONNECT_FULL:
        proof->sentence = FOLIOT__WEB_FULL_SENTENCE;
        break;
    case FOLIOT_DISCONNECT_SECURITY:
        proof->sentence = "this server does not ask for a token";
        break;
    default:
        proof->sentence = "the server does not know this link's token: it was made with another "
                          "key or for another server, or a part of the link is missing";
        break;
    }
    return reason;
}

static uint32_t check_password(foliot__web_gate *g, const foliot__web_visitor *who,
                               const uint8_t *shown, size_t length, foliot__web_proof *proof)
{
    char password[FOLIOT_PASSWORD_BYTES_MAX + 1] = "", peer[64];
    foliot__web_address_of(getpeername, who->descriptor, peer, sizeof peer);
    proof->sentence = "passwords are accepted by https only, or on the server's own machine: "
                      "others on the network could read them";
    if (!foliot__http_is_loopback(peer))
        return FOLIOT_DISCONNECT_PASSWORD;
    proof->sentence = "too many passwords were tried from your address: wait a moment";
    if (foliot__admit(&g->guesses, who->address_key, who->now_ns) != FOLIOT__ADMITTED)
        return FOLIOT_DISCONNECT_PASSWORD;
    foliot__admission_release(&g->guesses, who->address_key);
    proof->sentence = "the password is wrong";
    if (length - 1 >= sizeof password || memchr(shown + 1, 0, length - 1))
        return FOLIOT_DISCONNECT_PASSWORD;
    memcpy(password, shown + 1, length - 1);
    uint32_t reason = foliot__transport_show_password(g->transport, password, &proof->identity);
    foliot__forget(password, sizeof password);
    return reason;
}

uint32_t foliot__web_judge(foliot__web_gate *g, const foliot__web_visitor *who,
                           const uint8_t *message, size_t length, foliot__web_proof *proof)
{
    bool tokens = foliot__transport_get_security(g->transport) == FOLIOT_SECURITY_TOKEN;
    uint8_t kind = message[0] == FOLIOT__WEB_SIGNAL ? message[1] : 0;
    *proof = (foliot__web_proof){0};
    if (tokens && kind == FOLIOT__WEB_SIGNAL_TOKEN)
        return check_token(g, message + 1, length - 1, who->now_ns, proof);
    if (!tokens && kind == FOLIOT__WEB_SIGNAL_PASSWORD)
        return check_password(g, who, message + 1, length - 1, proof);
    proof->sentence = tokens ? "this server admits players by personal links: ask its host for one"
                             : "this server asks for a password";
    return tokens ? FOLIOT_DISCONNECT_SECURITY : FOLIOT_DISCONNECT_PASSWORD;
}
