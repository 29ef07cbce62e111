// SPDX-License-Identifier: MIT
// complain.c: see complain.h. Scenes are opened on several threads, each for another asker.

#include <errno.h>
#include <stdio.h>

#include "base/exit_code.h"
#include "complain.h"

static _Thread_local struct {
    char *text;
    size_t bytes;
} complaints;

void foliot__host_complain_into(char *text, size_t bytes)
{
    complaints.text = text;
    complaints.bytes = bytes;
}

int foliot__host_complain(int code, const char *what, const char *why)
{
    if (complaints.text)
        snprintf(complaints.text, complaints.bytes, "%s%s%s", what ? what : "", what ? ": " : "",
                 why);
    else
        fprintf(stderr, what ? "foliot-server: %s%s%s\n" : "%s%s%s\n", what ? what : "",
                what ? ": " : "", why);
    return code;
}

int foliot__host_exit_for(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EIO:
    case EINTR:
    case EAGAIN:
        return FOLIOT__EXIT_AGAIN;
    default:
        return FOLIOT__EXIT_SCENE;
    }
}

int foliot__host_lacks(const char *what)
{
    fprintf(stderr, "foliot-server: this process may not have %s (ulimit -a shows its limits)\n",
            what);
    return FOLIOT__EXIT_AGAIN;
}
