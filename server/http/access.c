// SPDX-License-Identifier: MIT
// access.c: checks Host, Origin, bearer tokens, and paths of routes. Pure functions of untrusted
// text.
#include "http.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"

#define HOST_BYTES 256
#define BEARER "Bearer "

static bool numeric(const char *address)
{
    uint8_t bytes[16];
    return inet_pton(AF_INET, address, bytes) == 1 || inet_pton(AF_INET6, address, bytes) == 1;
}

bool foliot__http_host_allowed(const char *host, const char *const *names, uint32_t count)
{
    char name[HOST_BYTES];
    // The name of "name:port", "[v6]:port" or either without a port.
    uint64_t port;
    const char *end = host[0] == '[' ? strchr(host, ']') : strchr(host, ':'),
               *from = host + (host[0] == '[');
    if (host[0] == '[' && !end)
        return false;
    size_t length = end ? (size_t)(end - from) : strlen(from);
    const char *rest = from + length + (host[0] == '[');
    if (length == 0 || length >= HOST_BYTES)
        return false;
    if (*rest && (*rest != ':' || !foliot__parse_count(rest + 1, &port) || port > 65535))
        return false;
    memcpy(name, from, length);
    name[length] = 0;
    if (numeric(name) || strcasecmp(name, "localhost") == 0)
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

bool foliot__http_origin_allowed(const char *origin, const char *host)
{
    const char *rest = strncmp(origin, "http://", 7) == 0    ? origin + 7
                       : strncmp(origin, "https://", 8) == 0 ? origin + 8
                                                             : NULL;
    return rest && *rest && strcasecmp(rest, host) == 0;
}

bool foliot__http_token_fits(const char *authorization, const char *token)
{
    size_t length = strlen(token);
    if (strncasecmp(authorization, BEARER, sizeof BEARER - 1) != 0)
        return false;
    authorization += sizeof BEARER - 1;
    return strlen(authorization) == length && foliot__secrets_equal(authorization, token, length);
}

bool foliot__http_path_fits(const char *pattern, const char *path,
                            char arguments[FOLIOT__HTTP_ARGUMENTS][FOLIOT__HTTP_ARGUMENT_BYTES])
{
    uint32_t count = 0;
    while (*pattern) {
        if (strncmp(pattern, "{}", 2) != 0) {
            if (*pattern++ != *path++)
                return false;
            continue;
        }
        size_t length = strcspn(path, "/");
        if (length == 0 || length >= FOLIOT__HTTP_ARGUMENT_BYTES || count == FOLIOT__HTTP_ARGUMENTS)
            return false;
        memcpy(arguments[count], path, length);
        arguments[count++][length] = 0;
        pattern += 2;
        path += length;
    }
    return !*path;
}

static bool refuse(char *problem, size_t bytes, const char *file, const char *why)
{
    snprintf(problem, bytes, "%s: %s", file, why);
    return false;
}

bool foliot__http_token_read(const char *file, char token[FOLIOT__HTTP_TOKEN_BYTES_MAX + 1],
                             char *problem, size_t problem_bytes)
{
    struct stat about;
    int descriptor = foliot__file_open(file);
    if (descriptor < 0)
        return refuse(problem, problem_bytes, file, foliot__file_problem(errno));
    ssize_t got = -1;
    bool known = fstat(descriptor, &about) == 0;
    if (known && about.st_size <= FOLIOT__HTTP_TOKEN_BYTES_MAX)
        got = read(descriptor, token, FOLIOT__HTTP_TOKEN_BYTES_MAX);
    close(descriptor);
    if (known && (about.st_mode & 077))
        return refuse(problem, problem_bytes, file,
                      "other users may read it: chmod 600 it, and replace the token");
    if (got < 0)
        return refuse(problem, problem_bytes, file, "a token has at most 512 bytes");
    got = (ssize_t)foliot__text_plain(token, (size_t)got);
    while (got > 0 && isspace((unsigned char)token[got - 1]))
        got--;
    token[got] = 0;
    if (got < FOLIOT__HTTP_TOKEN_BYTES_MIN)
        return refuse(problem, problem_bytes, file,
                      "a token has at least 16 bytes: openssl rand -hex 32 makes one");
    for (ssize_t i = 0; i < got; i++)
        if (token[i] <= ' ' || token[i] > '~')
            return refuse(problem, problem_bytes, file,
                          "a token is one word of printable ASCII characters");
    return true;
}

bool foliot__http_listen_parse(const char *text, char address[64], uint16_t *port)
{
    const char *colon = strrchr(text, ':'), *number = colon ? colon + 1 : text;
    uint64_t value;
    if (!foliot__parse_count(number, &value) || value > 65535)
        return false;
    *port = (uint16_t)value;
    snprintf(address, 64, "127.0.0.1");
    if (!colon)
        return true;
    size_t length = (size_t)(colon - text);
    bool bracketed = length > 2 && text[0] == '[' && text[length - 1] == ']';
    if (length >= 64)
        return false;
    snprintf(address, 64, "%.*s", (int)(bracketed ? length - 2 : length), text + bracketed);
    return numeric(address) && bracketed == (strchr(address, ':') != NULL);
}

bool foliot__http_is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 ||
           strncmp(address, "::ffff:127.", 11) == 0;
}
