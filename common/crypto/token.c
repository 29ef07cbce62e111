// SPDX-License-Identifier: MIT
// token.c: see token.h. XChaCha20-Poly1305 under the key of the issuer; the nonce is random and
// names the token.
#include "crypto/token.h"
#include "foliot/token.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"

#define AAD "foliot token 1"
#define ADDRESS_BYTES 18
#define PUBLIC_BYTES                                                                               \
    (8 + 1 + FOLIOT_TOKEN_ADDRESSES_MAX * ADDRESS_BYTES + FOLIOT_NAME_BYTES +                      \
     FOLIOT__TOKEN_KEYS_BYTES + FOLIOT__TOKEN_SEALED_BYTES)
#define BASE64 sodium_base64_VARIANT_URLSAFE_NO_PADDING

_Static_assert(8 + 8 + 8 + 1 + 1 + FOLIOT_TOKEN_ADDRESSES_MAX * ADDRESS_BYTES + FOLIOT_NAME_BYTES +
                       2 + FOLIOT_TOKEN_USER_BYTES_MAX + FOLIOT__TOKEN_KEYS_BYTES ==
                   FOLIOT__TOKEN_PLAIN_BYTES,
               "the sealed part");
_Static_assert(sizeof FOLIOT__TOKEN_MARK + sodium_base64_ENCODED_LEN(PUBLIC_BYTES, BASE64) <=
                   FOLIOT_TOKEN_TEXT_BYTES,
               "a token as text");

static const char *const role_names[FOLIOT_ROLES] = {"player", "spectator", "admin"};

// -- fields

static uint8_t *put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
    return at + bytes;
}

static uint8_t *put_bytes(uint8_t *at, const void *bytes, size_t count)
{
    memcpy(at, bytes, count);
    return at + count;
}

static uint64_t read_number(const uint8_t **at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)(*at)[i] << (8 * i);
    *at += bytes;
    return value;
}

static void read_bytes(const uint8_t **at, void *bytes, size_t count)
{
    memcpy(bytes, *at, count);
    *at += count;
}

static uint8_t *put_addresses(uint8_t *at, const foliot_token *token)
{
    at = put(at, token->address_count, 1);
    for (uint32_t i = 0; i < FOLIOT_TOKEN_ADDRESSES_MAX; i++) {
        at = put_bytes(at, token->addresses[i].ip, 16);
        at = put(at, token->addresses[i].port, 2);
    }
    return at;
}

static void read_addresses(const uint8_t **at, foliot_token *token)
{
    token->address_count = (uint32_t)read_number(at, 1);
    for (uint32_t i = 0; i < FOLIOT_TOKEN_ADDRESSES_MAX; i++) {
        read_bytes(at, token->addresses[i].ip, 16);
        token->addresses[i].port = (uint16_t)read_number(at, 2);
    }
}

static bool in_range(const foliot_token *token)
{
    return token->expires_s > token->created_s && (uint32_t)token->role < FOLIOT_ROLES &&
           memchr(token->session, 0, sizeof token->session) &&
           token->address_count <= FOLIOT_TOKEN_ADDRESSES_MAX &&
           token->user_bytes <= FOLIOT_TOKEN_USER_BYTES_MAX;
}

// -- sealing

static void seal(const foliot_token *token, const uint8_t key[FOLIOT_KEY_BYTES],
                 const uint8_t keys[FOLIOT__TOKEN_KEYS_BYTES],
                 uint8_t sealed[FOLIOT__TOKEN_SEALED_BYTES])
{
    uint8_t plain[FOLIOT__TOKEN_PLAIN_BYTES] = {0}, *at = plain;
    at = put(at, token->client, 8);
    at = put(at, token->created_s, 8);
    at = put(at, token->expires_s, 8);
    at = put(at, token->role, 1);
    at = put_addresses(at, token);
    strncpy((char *)at, token->session, FOLIOT_NAME_BYTES); // zeros behind the name
    at = put(at + FOLIOT_NAME_BYTES, token->user_bytes, 2);
    memcpy(at, token->user, token->user_bytes);
    put_bytes(at + FOLIOT_TOKEN_USER_BYTES_MAX, keys, FOLIOT__TOKEN_KEYS_BYTES);
    foliot__system_random(NULL, sealed, FOLIOT__TOKEN_NONCE_BYTES);
    crypto_aead_xchacha20poly1305_ietf_encrypt(sealed + FOLIOT__TOKEN_NONCE_BYTES, NULL, plain,
                                               sizeof plain, (const uint8_t *)AAD, sizeof AAD - 1,
                                               NULL, sealed, key);
    foliot__forget(plain, sizeof plain);
}

bool foliot__token_unseal(const uint8_t sealed[FOLIOT__TOKEN_SEALED_BYTES],
                          const uint8_t key[FOLIOT_KEY_BYTES], foliot_token *token,
                          uint8_t keys[FOLIOT__TOKEN_KEYS_BYTES])
{
    uint8_t plain[FOLIOT__TOKEN_PLAIN_BYTES];
    const uint8_t *at = plain;
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(
            plain, NULL, NULL, sealed + FOLIOT__TOKEN_NONCE_BYTES,
            FOLIOT__TOKEN_SEALED_BYTES - FOLIOT__TOKEN_NONCE_BYTES, (const uint8_t *)AAD,
            sizeof AAD - 1, sealed, key) != 0)
        return false;
    *token = (foliot_token){0};
    token->client = read_number(&at, 8);
    token->created_s = read_number(&at, 8);
    token->expires_s = read_number(&at, 8);
    token->role = (foliot_role)read_number(&at, 1);
    read_addresses(&at, token);
    read_bytes(&at, token->session, FOLIOT_NAME_BYTES);
    token->user_bytes = (uint32_t)read_number(&at, 2);
    read_bytes(&at, token->user, FOLIOT_TOKEN_USER_BYTES_MAX);
    read_bytes(&at, keys, FOLIOT__TOKEN_KEYS_BYTES);
    foliot__forget(plain, sizeof plain);
    return in_range(token);
}

// -- text

foliot_token foliot_token_default(uint64_t now_s)
{
    return (foliot_token){.created_s = now_s, .expires_s = now_s + 60};
}

foliot_status foliot_token_print(const foliot_token *token, const uint8_t key[FOLIOT_KEY_BYTES],
                                 char text[FOLIOT_TOKEN_TEXT_BYTES])
{
    uint8_t bytes[PUBLIC_BYTES] = {0}, keys[FOLIOT__TOKEN_KEYS_BYTES], *at = bytes;
    if (!in_range(token))
        return FOLIOT_STATUS_INVALID;
    foliot__system_random(NULL, keys, sizeof keys);
    at = put(at, token->expires_s, 8);
    at = put_addresses(at, token);
    strncpy((char *)at, token->session, FOLIOT_NAME_BYTES);
    at = put_bytes(at + FOLIOT_NAME_BYTES, keys, sizeof keys);
    seal(token, key, keys, at);
    memcpy(text, FOLIOT__TOKEN_MARK, sizeof FOLIOT__TOKEN_MARK);
    sodium_bin2base64(text + sizeof FOLIOT__TOKEN_MARK - 1,
                      FOLIOT_TOKEN_TEXT_BYTES - sizeof FOLIOT__TOKEN_MARK + 1, bytes, sizeof bytes,
                      BASE64);
    foliot__forget(keys, sizeof keys);
    foliot__forget(bytes, sizeof bytes);
    return FOLIOT_STATUS_OK;
}

// Decodes the text to bytes; blanks and line ends are allowed only at its ends.
static foliot_status bytes_of(const char *text, uint8_t bytes[PUBLIC_BYTES])
{
    static const char mark[] = "foliot-token-";
    size_t got = 0;
    const char *end;
    text += strspn(text, " \t\r\n");
    if (strncmp(text, mark, sizeof mark - 1) != 0)
        return FOLIOT_STATUS_CORRUPT;
    if (strncmp(text, FOLIOT__TOKEN_MARK, sizeof FOLIOT__TOKEN_MARK - 1) != 0)
        return FOLIOT_STATUS_NEWER;
    text += sizeof FOLIOT__TOKEN_MARK - 1;
    if (sodium_base642bin(bytes, PUBLIC_BYTES, text, strcspn(text, " \t\r\n"), NULL, &got, &end,
                          BASE64) != 0 ||
        got != PUBLIC_BYTES || end[strspn(end, " \t\r\n")] != 0)
        return FOLIOT_STATUS_CORRUPT;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__client_token_read(const char *text, foliot__client_token *token)
{
    uint8_t bytes[PUBLIC_BYTES];
    const uint8_t *at = bytes;
    foliot_status status = bytes_of(text, bytes);
    *token = (foliot__client_token){0};
    if (status != FOLIOT_STATUS_OK)
        return status;
    token->known.expires_s = read_number(&at, 8);
    read_addresses(&at, &token->known);
    read_bytes(&at, token->known.session, FOLIOT_NAME_BYTES);
    read_bytes(&at, token->keys, sizeof token->keys);
    read_bytes(&at, token->sealed, sizeof token->sealed);
    foliot__forget(bytes, sizeof bytes);
    return in_range(&token->known) ? FOLIOT_STATUS_OK : FOLIOT_STATUS_CORRUPT;
}

foliot_status foliot_token_read(const char *text, foliot_token *token)
{
    foliot__client_token read;
    foliot_status status = foliot__client_token_read(text, &read);
    if (status == FOLIOT_STATUS_OK)
        *token = read.known;
    foliot__forget(&read, sizeof read);
    return status;
}

foliot_status foliot_token_open(const char *text, const uint8_t key[FOLIOT_KEY_BYTES],
                                foliot_token *token)
{
    foliot__client_token read;
    foliot_token opened;
    uint8_t keys[FOLIOT__TOKEN_KEYS_BYTES] = {0};
    foliot_status status = foliot__client_token_read(text, &read);
    if (status == FOLIOT_STATUS_OK && !foliot__token_unseal(read.sealed, key, &opened, keys))
        status = FOLIOT_STATUS_CORRUPT;
    if (status == FOLIOT_STATUS_OK)
        *token = opened;
    foliot__forget(keys, sizeof keys);
    foliot__forget(&read, sizeof read);
    return status;
}

foliot_status foliot_key_read(const char *text, uint8_t key[FOLIOT_KEY_BYTES])
{
    uint8_t read[FOLIOT_KEY_BYTES];
    const char *end;
    size_t got = 0;
    text += strspn(text, " \t\r\n");
    if (sodium_hex2bin(read, sizeof read, text, strcspn(text, " \t\r\n"), NULL, &got, &end) != 0 ||
        got != sizeof read || end[strspn(end, " \t\r\n")] != 0) {
        foliot__forget(read, sizeof read);
        return FOLIOT_STATUS_CORRUPT;
    }
    memcpy(key, read, sizeof read);
    foliot__forget(read, sizeof read);
    return FOLIOT_STATUS_OK;
}

void foliot_key_draw(uint8_t key[FOLIOT_KEY_BYTES])
{
    foliot__system_random(NULL, key, FOLIOT_KEY_BYTES);
}

const char *foliot_role_get_name(foliot_role role)
{
    return (uint32_t)role < FOLIOT_ROLES ? role_names[role] : "unknown";
}

bool foliot_role_find(const char *name, foliot_role *role)
{
    for (uint32_t i = 0; i < FOLIOT_ROLES; i++)
        if (strcmp(name, role_names[i]) == 0) {
            *role = (foliot_role)i;
            return true;
        }
    return false;
}

// -- whether it is good

static bool meant_for(const foliot_token *token, const foliot_token_address *own,
                      uint32_t own_count)
{
    if (token->address_count == 0 || own_count == 0)
        return true;
    for (uint32_t i = 0; i < token->address_count; i++)
        for (uint32_t k = 0; k < own_count; k++)
            if (token->addresses[i].port == own[k].port &&
                memcmp(token->addresses[i].ip, own[k].ip, sizeof own[k].ip) == 0)
                return true;
    return false;
}

foliot__token_verdict foliot__token_check(const foliot_token *token, uint64_t now_s,
                                          const foliot_token_address *own, uint32_t own_count)
{
    if (now_s >= token->expires_s)
        return FOLIOT__TOKEN_EXPIRED;
    if (token->created_s > now_s + FOLIOT__TOKEN_SKEW_S)
        return FOLIOT__TOKEN_EARLY;
    return meant_for(token, own, own_count) ? FOLIOT__TOKEN_GOOD : FOLIOT__TOKEN_FOREIGN;
}

foliot__used_token *foliot__used_token_find(foliot__used_tokens *used, const uint8_t *nonce)
{
    for (uint32_t i = 0; i < used->capacity; i++)
        if (used->entries[i].keep_until_s != 0 &&
            memcmp(used->entries[i].nonce, nonce, FOLIOT__TOKEN_NONCE_BYTES) == 0)
            return &used->entries[i];
    return NULL;
}

foliot__used_token *foliot__used_token_reserve(foliot__used_tokens *used, uint64_t now_s)
{
    for (uint32_t i = 0; i < used->capacity; i++)
        if (used->entries[i].keep_until_s <= now_s)
            return &used->entries[i];
    return NULL;
}

// -- addresses in tokens, to text and back. IPv4 lies in IPv6 as ::ffff:a.b.c.d.

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

static bool port_of(const char *text, uint16_t *port)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    long value = strtol(text, &end, 10);
    if (*end || value < 1 || value > 65535)
        return false;
    *port = (uint16_t)value;
    return true;
}

foliot_status foliot_token_address_read(const char *text, uint16_t port,
                                        foliot_token_address *address)
{
    char host[FOLIOT_TOKEN_ADDRESS_TEXT_BYTES];
    foliot_token_address read = {.port = port};
    bool six = text[0] == '[';
    const char *end = six ? strchr(text, ']') : text + strcspn(text, ":");
    size_t length = end ? (size_t)(end - text) - six : 0;
    if (length == 0 || length >= sizeof host)
        return FOLIOT_STATUS_INVALID;
    memcpy(host, text + six, length);
    host[length] = 0;
    end += six;
    if (*end && (*end != ':' || !port_of(end + 1, &read.port)))
        return FOLIOT_STATUS_INVALID;
    if (!six)
        memcpy(read.ip, mapped, sizeof mapped);
    if (inet_pton(six ? AF_INET6 : AF_INET, host, read.ip + (six ? 0 : sizeof mapped)) != 1)
        return FOLIOT_STATUS_INVALID;
    *address = read;
    return FOLIOT_STATUS_OK;
}

void foliot_token_address_print(const foliot_token_address *address,
                                char text[FOLIOT_TOKEN_ADDRESS_TEXT_BYTES])
{
    char host[INET6_ADDRSTRLEN];
    bool four = memcmp(address->ip, mapped, sizeof mapped) == 0;
    inet_ntop(four ? AF_INET : AF_INET6, address->ip + (four ? sizeof mapped : 0), host,
              sizeof host);
    snprintf(text, FOLIOT_TOKEN_ADDRESS_TEXT_BYTES, four ? "%s:%u" : "[%s]:%u", host,
             address->port);
}

// -- files of secrets

// Read without a stream, whose buffer would keep the secret.

#define OTHERS 07
#define GROUP_WRITES 020
#define KEYS_BYTES_MAX ((size_t)1024)

static bool may_be_secret(int fd, char *why, size_t why_bytes)
{
    struct stat s;
    if (fstat(fd, &s) != 0) {
        snprintf(why, why_bytes, "%s", strerror(errno));
        return false;
    }
    unsigned mode = s.st_mode & 07777u;
    if ((mode & (OTHERS | GROUP_WRITES)) == 0)
        return true;
    snprintf(why, why_bytes, "%s (its mode is %04o): 'chmod 600' it, and replace the secret",
             mode & OTHERS ? "others may open it" : "its group may change it", mode);
    return false;
}

// The first line, and nothing behind it but blank lines.
static bool read_line(int fd, char *text, size_t bytes, char *why, size_t why_bytes)
{
    size_t length = 0;
    char c;
    bool over = false;
    for (;;) {
        ssize_t got = read(fd, &c, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            snprintf(why, why_bytes, "%s", strerror(errno));
            return false;
        }
        if (got == 0 || (c == '\n' && fd == STDIN_FILENO))
            break;
        over |= c == '\n' || c == '\r';
        if (over && c != '\n' && c != '\r') {
            snprintf(why, why_bytes, "it has more than one line");
            return false;
        }
        if (!over && length + 1 == bytes) {
            snprintf(why, why_bytes, "its line is longer than %zu bytes", bytes - 1);
            return false;
        }
        if (!over && c != '\r')
            text[length++] = c;
    }
    length = foliot__text_plain(text, length);
    text[length] = 0;
    if (length == 0 || strlen(text) != length)
        snprintf(why, why_bytes, length ? "it has bytes that are not text" : "it is empty");
    return length > 0 && strlen(text) == length;
}

// All of a file that is small. False, with a sentence.
static bool read_all(int fd, char *text, size_t bytes, char *why, size_t why_bytes)
{
    size_t length = 0;
    ssize_t got;
    while ((got = read(fd, text + length, bytes - length)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        length += got > 0 ? (size_t)got : 0;
        if (got < 0 || length == bytes) {
            snprintf(why, why_bytes, "%s", got < 0 ? strerror(errno) : "it is too long");
            return false;
        }
    }
    length = foliot__text_plain(text, length);
    text[length] = 0;
    snprintf(why, why_bytes, "it is empty");
    return text[strspn(text, " \t\r\n")] != 0;
}

static bool read_keys(char *text, uint8_t *keys, uint32_t *count, char *why, size_t why_bytes)
{
    char *rest = text;
    *count = 0;
    for (const char *line; (line = strsep(&rest, "\n"));) {
        if (!line[strspn(line, " \t")])
            continue;
        if (*count == FOLIOT_KEYS_MAX) {
            snprintf(why, why_bytes, "it has more than %d keys", FOLIOT_KEYS_MAX);
            return false;
        }
        if (foliot_key_read(line, keys + *count * FOLIOT_KEY_BYTES) != FOLIOT_STATUS_OK) {
            snprintf(why, why_bytes,
                     "a key is 64 hexadecimal digits ('foliotctl key FILE' makes one)");
            return false;
        }
        ++*count;
    }
    return true;
}

bool foliot__secret_read_keys(const char *file, uint8_t *keys, uint32_t *count, char *why,
                              size_t why_bytes)
{
    char text[KEYS_BYTES_MAX];
    int fd = foliot__file_open(file);
    if (fd < 0) {
        snprintf(why, why_bytes, "%s", foliot__file_problem(errno));
        return false;
    }
    bool good = may_be_secret(fd, why, why_bytes) &&
                read_all(fd, text, sizeof text, why, why_bytes) &&
                read_keys(text, keys, count, why, why_bytes);
    close(fd);
    foliot__forget(text, sizeof text);
    return good;
}

bool foliot__secret_read(const char *file, bool guarded, char *text, size_t bytes, char *why,
                         size_t why_bytes)
{
    bool piped = strcmp(file, "-") == 0;
    int fd = piped ? STDIN_FILENO : foliot__file_open(file);
    memset(text, 0, bytes);
    if (fd < 0) {
        snprintf(why, why_bytes, "%s", foliot__file_problem(errno));
        return false;
    }
    bool good = (piped || !guarded || may_be_secret(fd, why, why_bytes)) &&
                read_line(fd, text, bytes, why, why_bytes);
    if (!piped)
        close(fd);
    if (!good)
        foliot__forget(text, bytes);
    return good;
}
