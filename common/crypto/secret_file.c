// SPDX-License-Identifier: MIT
// secret_file.c: see secret_file.h. Reads without a stream, whose buffer would keep the secret.
#include "crypto/secret_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "foliot/token.h"

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
