// SPDX-License-Identifier: MIT
// token.c: foliotctl key, token and show: makes keys and connect tokens, and reads tokens. Keys are
// written only to files that nobody else may read; stdout gets tokens.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "crypto/token.h"
#include "ctl.h"
#include "foliot/token.h"
#include "foliot/transport.h"

#define SECONDS_MAX 604800
#define LINK_BYTES 1000

static struct {
    const char *key, *session, *role, *user, *link;
    foliot__texts servers;
    uint64_t client, seconds;
} given = {.session = "", .role = "player", .user = "", .seconds = 60};

const foliot__option foliot__ctl_token_options[] = {
    {"key", "FILE", FOLIOT__OPTION_TEXT, &given.key, .help = "key of the servers"},
    {"server", "ADDR[:PORT]", FOLIOT__OPTION_TEXTS, &given.servers,
     .help = "server that the token is for (default: any with the key)",
     .details = "At most 8 are given. Without one the token is good once at every server that has "
                "the key."},
    {"session", "NAME", FOLIOT__OPTION_TEXT, &given.session, .high = FOLIOT_NAME_BYTES - 1,
     .help = "session that it admits to (default: any)"},
    {"role", "player|spectator|admin", FOLIOT__OPTION_TEXT, &given.role,
     .help = "role that it admits to"},
    {"client", "N", FOLIOT__OPTION_COUNT, &given.client,
     .help = "number of the client, which the issuer chooses (default 0)"},
    {"seconds", "S", FOLIOT__OPTION_COUNT, &given.seconds, 1, SECONDS_MAX,
     .help = "time for which it admits a client"},
    {"user", "TEXT", FOLIOT__OPTION_TEXT, &given.user, .high = FOLIOT_TOKEN_USER_BYTES_MAX,
     .help = "text about the client, for the host of the game"},
    {"link", "URL", FOLIOT__OPTION_TEXT, &given.link, .high = LINK_BYTES,
     .help = "prints a link for a browser; URL is the address of the server's --web",
     .details = "URL may be the address of a proxy in front of it."},
    {0}};
const foliot__option foliot__ctl_show_options[] = {
    {"key", "FILE", FOLIOT__OPTION_TEXT, &given.key,
     .help = "key of the servers: also shows the parts that the client cannot read"},
    {0}};

#define KEYS_BYTES ((size_t)FOLIOT_KEYS_MAX * FOLIOT_KEY_BYTES)

int foliot__ctl_key(const foliot__arguments *arguments)
{
    const char *file = arguments->operands[0];
    uint8_t key[FOLIOT_KEY_BYTES];
    char text[2 * FOLIOT_KEY_BYTES + 1];
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        fprintf(stderr, "foliotctl: %s: %s\n", file,
                errno == EEXIST ? "exists already, and is not overwritten" : strerror(errno));
        return FOLIOT__EXIT_ERROR;
    }
    foliot_key_draw(key);
    foliot__hex_print(text, key, sizeof key);
    text[sizeof text - 1] = '\n';
    bool written = write(fd, text, sizeof text) == (ssize_t)sizeof text && fsync(fd) == 0;
    int wrong = errno;
    written = close(fd) == 0 && written;
    foliot__forget(key, sizeof key);
    foliot__forget(text, sizeof text);
    if (written)
        return 0;
    fprintf(stderr, "foliotctl: %s: %s\n", file, strerror(wrong));
    unlink(file);
    return FOLIOT__EXIT_ERROR;
}

// In the order of servers: tokens are made with the first.
static int read_keys(uint8_t keys[KEYS_BYTES], uint32_t *count)
{
    char why[256];
    if (foliot__secret_read_keys(given.key, keys, count, why, sizeof why))
        return 0;
    foliot__forget(keys, KEYS_BYTES);
    fprintf(stderr, "foliotctl: --key %s: %s\n", given.key, why);
    return FOLIOT__EXIT_SCENE;
}

// Applies the options; a usage error otherwise.
static int describe(const foliot__program *program, const foliot__arguments *arguments,
                    foliot_token *token)
{
    char clean[FOLIOT_NAME_BYTES];
    *token = foliot_token_default((uint64_t)time(NULL));
    token->expires_s = token->created_s + given.seconds;
    token->client = given.client;
    FOLIOT_ASSERT(foliot_role_find(given.role, &token->role)); // the table has them all
    if (strcmp(foliot__text_clean(clean, sizeof clean, given.session), given.session) != 0)
        return foliot__options_wrong(program, arguments,
                                     "--session: a name has no control characters, and is UTF-8");
    snprintf(token->session, sizeof token->session, "%s", given.session);
    token->user_bytes = (uint32_t)strlen(given.user);
    memcpy(token->user, given.user, token->user_bytes);
    for (uint32_t i = 0; i < given.servers.count; i++)
        if (i == FOLIOT_TOKEN_ADDRESSES_MAX ||
            foliot_token_address_read(given.servers.items[i], FOLIOT_PORT_DEFAULT,
                                      &token->addresses[token->address_count++]) !=
                FOLIOT_STATUS_OK)
            return foliot__options_wrong(
                program, arguments,
                i == FOLIOT_TOKEN_ADDRESSES_MAX
                    ? "--server %s: a token names at most 8"
                    : "--server: '%s' is not ADDRESS[:PORT]; host names are not looked up",
                given.servers.items[i]);
    return 0;
}

// The problem of --link; NULL: none.
static const char *link_problem(const char *link)
{
    const char *host = strncmp(link, "http://", 7) == 0    ? link + 7
                       : strncmp(link, "https://", 8) == 0 ? link + 8
                                                           : NULL;
    if (!host || !*host || *host == '/')
        return "it begins with http:// or https:// and a host";
    for (const char *at = link; *at; at++)
        if (*at <= ' ' || *at > '~' || strchr("#\"<>\\^`{|}", *at))
            return "it is a plain address, without a '#' part";
    return NULL;
}

int foliot__ctl_token(const foliot__program *program, const foliot__arguments *arguments)
{
    foliot_token token;
    uint8_t keys[KEYS_BYTES];
    uint32_t count;
    char text[FOLIOT_TOKEN_TEXT_BYTES];
    if (!given.key)
        return foliot__options_wrong(program, arguments, "--key FILE is missing");
    if (given.link && link_problem(given.link))
        return foliot__options_wrong(program, arguments, "--link %s: %s", given.link,
                                     link_problem(given.link));
    int code = describe(program, arguments, &token);
    if (code == 0)
        code = read_keys(keys, &count);
    if (code)
        return code;
    foliot_status status = foliot_token_print(&token, keys, text);
    foliot__forget(keys, sizeof keys);
    if (status != FOLIOT_STATUS_OK) {
        fprintf(stderr, "foliotctl: no token: %s\n", foliot_status_get_text(status));
        return FOLIOT__EXIT_ERROR;
    }
    if (given.link) {
        // The page reads the text after the '#', which no browser sends to a server.
        const char *host = strstr(given.link, "://") + 3;
        printf("%s%s#token=%s%s\n", given.link, strpbrk(host, "/?") ? "" : "/", text,
               token.role == FOLIOT_ROLE_SPECTATOR ? "&watch=1" : "");
    } else {
        puts(text);
    }
    foliot__forget(text, sizeof text);
    return 0;
}

int foliot__ctl_show(const foliot__arguments *arguments)
{
    foliot_token token;
    uint8_t keys[KEYS_BYTES];
    uint32_t count = 0;
    char text[FOLIOT_TOKEN_TEXT_BYTES], why[256];
    const char *file = arguments->operands[0];
    int code = given.key ? read_keys(keys, &count) : 0;
    if (code)
        return code;
    if (!foliot__secret_read(file, false, text, sizeof text, why, sizeof why)) {
        fprintf(stderr, "foliotctl: %s: %s\n", file, why);
        return FOLIOT__EXIT_ERROR;
    }
    foliot_status status = foliot_token_read(text, &token);
    bool read = status == FOLIOT_STATUS_OK;
    for (uint32_t i = 0; read && i < count && (i == 0 || status != FOLIOT_STATUS_OK); i++)
        status = foliot_token_open(text, keys + i * FOLIOT_KEY_BYTES, &token);
    foliot__forget(keys, sizeof keys);
    foliot__forget(text, sizeof text);
    if (status != FOLIOT_STATUS_OK) {
        fprintf(stderr, "foliotctl: %s: %s\n", file,
                read ? "it was not made with this key, or was changed"
                : status == FOLIOT_STATUS_NEWER
                    ? "a token of a later version than this program knows"
                    : "this is not a complete token");
        return FOLIOT__EXIT_ERROR;
    }
    char line[FOLIOT_TOKEN_ADDRESS_TEXT_BYTES], name[FOLIOT_NAME_BYTES];
    char user[FOLIOT_TOKEN_USER_BYTES_MAX + 1] = {0};
    int64_t left = (int64_t)(token.expires_s - (uint64_t)time(NULL));
    for (uint32_t i = 0; i < token.address_count; i++) {
        foliot_token_address_print(&token.addresses[i], line);
        printf("server   %s\n", line);
    }
    printf("session  %s\n",
           token.session[0] ? foliot__text_clean(name, sizeof name, token.session) : "(any)");
    printf(left > 0 ? "expires  in %" PRId64 " s\n" : "expires  %" PRId64 " s (expired)\n", left);
    if (given.key != NULL) {
        memcpy(user, token.user, token.user_bytes);
        printf("role     %s\nclient   %" PRIu64 "\nuser     %s\n", foliot_role_get_name(token.role),
               token.client, foliot__text_mend(user));
    }
    return 0;
}
