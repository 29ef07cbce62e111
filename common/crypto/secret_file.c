// SPDX-License-Identifier: MIT
// secret_file.c: see secret_file.h. Reads without a stream, whose buffer would keep the secret.
#include "crypto/secret_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "crypto/crypto.h"

#define OTHERS 07
#define GROUP_WRITES 020

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
    snprintf(why, why_bytes, "%s (its mode is %04o): 'chmod 600' it, and take a new secret",
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
        over |= c == '\n';
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
    text[length] = 0;
    if (length == 0 || strlen(text) != length)
        snprintf(why, why_bytes, length ? "it has bytes that are no text" : "it is empty");
    return length > 0 && strlen(text) == length;
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
