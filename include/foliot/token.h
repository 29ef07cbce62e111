// SPDX-License-Identifier: MIT
// token.h: connect tokens: which client may join, and in which role. An issuer (a matchmaker, the
// program that runs the servers) shares a key of 32 bytes with its servers. It makes a token for
// each player and delivers it over a confidential channel (HTTPS). The server does not contact the
// issuer: the token is complete, and nobody without the key can make or change one.
//
// A token is valid for one client, until it expires. docs/reference/protocol.md, section 1, has
// every byte, for issuers in other languages.
#ifndef FOLIOT_TOKEN_H
#define FOLIOT_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/scene.h"
#include "foliot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_KEY_BYTES 32
#define FOLIOT_TOKEN_ADDRESSES_MAX 8
#define FOLIOT_TOKEN_USER_BYTES_MAX 256
#define FOLIOT_TOKEN_TEXT_BYTES 1280 // of a token as text, its end included, at most

typedef enum foliot_role {
    FOLIOT_ROLE_PLAYER,    // plays or watches
    FOLIOT_ROLE_SPECTATOR, // watches
    FOLIOT_ROLE_ADMIN,     // both; the host may allow more to it
} foliot_role;
#define FOLIOT_ROLES 3

// An address of a server: IPv4 as ::ffff:a.b.c.d.
typedef struct foliot_token_address {
    uint8_t ip[16];
    uint16_t port;
} foliot_token_address;

typedef struct foliot_token {
    uint64_t client;               // who, in the issuer's numbers
    uint64_t created_s, expires_s; // seconds since 1970, UTC
    foliot_role role;
    char session[FOLIOT_NAME_BYTES]; // that it may join; "": any
    // The servers that accept it; none: every server that has the key, and the token can then be
    // used once at each of them.
    uint32_t address_count;
    foliot_token_address addresses[FOLIOT_TOKEN_ADDRESSES_MAX];
    uint32_t user_bytes; // of user data, which means nothing to foliot
    uint8_t user[FOLIOT_TOKEN_USER_BYTES_MAX];
} foliot_token;
// A player, anywhere, from `now_s` on for 60 seconds. The caller sets the rest.
foliot_token foliot_token_default(uint64_t now_s);

// Makes the text for the client: one line, without its end. FOLIOT_STATUS_INVALID: a field is out
// of range, or it expires before it begins.
FOLIOT_MUST_CHECK foliot_status foliot_token_print(const foliot_token *token,
                                                   const uint8_t key[FOLIOT_KEY_BYTES],
                                                   char text[FOLIOT_TOKEN_TEXT_BYTES]);
// Reads the public part of a token: where and until when it is valid. No key is needed.
// FOLIOT_STATUS_CORRUPT: not a token; FOLIOT_STATUS_NEWER: of a later version. Blanks and line ends
// around it are skipped.
FOLIOT_MUST_CHECK foliot_status foliot_token_read(const char *text, foliot_token *token);
// Opens a token as a server does, without checking the time. FOLIOT_STATUS_CORRUPT: it was not made
// with this key, or was changed.
FOLIOT_MUST_CHECK foliot_status foliot_token_open(const char *text,
                                                  const uint8_t key[FOLIOT_KEY_BYTES],
                                                  foliot_token *token);

// Reads a key from text: 64 hexadecimal digits. FOLIOT_STATUS_CORRUPT: not a key.
FOLIOT_MUST_CHECK foliot_status foliot_key_read(const char *text, uint8_t key[FOLIOT_KEY_BYTES]);
#define FOLIOT_KEYS_MAX 4 // that a server accepts at the same time, while one replaces another
void foliot_key_draw(uint8_t key[FOLIOT_KEY_BYTES]); // from the system's random source

// "203.0.113.5:7777", "[2001:db8::1]:7777"; `port` is the default port. FOLIOT_STATUS_INVALID: not
// an address.
FOLIOT_MUST_CHECK foliot_status foliot_token_address_read(const char *text, uint16_t port,
                                                          foliot_token_address *address);
#define FOLIOT_TOKEN_ADDRESS_TEXT_BYTES 56
void foliot_token_address_print(const foliot_token_address *address,
                                char text[FOLIOT_TOKEN_ADDRESS_TEXT_BYTES]);

const char *foliot_role_get_name(foliot_role role); // "player", "spectator", "admin"
// False: no role has that name.
bool foliot_role_find(const char *name, foliot_role *role);

#ifdef __cplusplus
}
#endif

#endif
