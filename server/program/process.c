// SPDX-License-Identifier: MIT
// process.c: see process.h. Scenes are opened on several threads, each for another asker.
#include "process.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/exit_code.h"

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

// -- messages with descriptors

// Room for one descriptor that goes with a message.
typedef union room {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
} room;

bool foliot__descriptor_send(int socket, const void *bytes, size_t length, int descriptor,
                             int flags)
{
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = length};
    room beside;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    memset(&beside, 0, sizeof beside);
    if (descriptor >= 0) {
        message.msg_control = &beside;
        message.msg_controllen = sizeof beside;
        beside.head.cmsg_level = SOL_SOCKET;
        beside.head.cmsg_type = SCM_RIGHTS;
        beside.head.cmsg_len = CMSG_LEN(sizeof descriptor);
        memcpy(CMSG_DATA(&beside.head), &descriptor, sizeof descriptor);
    }
    return sendmsg(socket, &message, flags | MSG_NOSIGNAL) >= 0;
}

ssize_t foliot__descriptor_receive(int socket, void *bytes, size_t capacity, int *descriptor)
{
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    room beside;
    struct msghdr message;
    ssize_t length;
    *descriptor = -1;
    do {
        message = (struct msghdr){.msg_iov = &part,
                                  .msg_iovlen = 1,
                                  .msg_control = &beside,
                                  .msg_controllen = sizeof beside};
        length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (length < 0 && errno == EINTR);
    const struct cmsghdr *control = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (control && control->cmsg_type == SCM_RIGHTS &&
        control->cmsg_len == CMSG_LEN(sizeof *descriptor))
        memcpy(descriptor, CMSG_DATA(control), sizeof *descriptor);
    return length;
}
