// SPDX-License-Identifier: MIT
// batched_socket.c: datagrams that can wait. Linux sorts by a socket filter over the sockets that
// share a port (SO_ATTACH_REUSEPORT_CBPF).
#include "net/enet_internal.h"

#include <errno.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "net/raw_datagram.h"

#define BATCH 32u
#define DATAGRAM_BYTES (FOLIOT__RAW_DATAGRAM_BYTES_MAX + 1)
#define SOCKET_BYTES (4 << 20)
// Between two reads. Each costs a wake-up of the process and a walk over all peers (20 us and
// more); data that waits for long is no longer in the caches when it is read.
#define INTERVAL_NS_MIN 750000u
#define INTERVAL_NS_MAX 10000000u
#define MANY_MAX 384u // are read sooner the next time, or a quarter of what the buffer holds
#define BUFFER_SHARE 4
#define DATAGRAM_COST_BYTES 768 // of a small one, as Linux counts: a usual buffer holds some 500
#define WAITED_NS_MAX 50000000u // more than any tick waits: the wall clock was set in between

struct foliot__batched_socket {
    int fd;
    uint64_t read_ns, interval_ns;
    uint32_t many; // for one read
    struct mmsghdr messages[BATCH];
    struct iovec parts[BATCH];
    foliot__socket_address from[BATCH];
    union {
        struct cmsghdr head; // for its alignment
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
    } stamps[BATCH];
    uint8_t bytes[BATCH][DATAGRAM_BYTES];
};

// -- opening

// Datagrams that begin with a mark go to the second socket of the port, all others to the first.
static bool sort_by(int fd, uint8_t mark, uint8_t other_mark)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), // of an empty datagram: ends with 0
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, mark, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other_mark, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog program;
    memset(&program, 0, sizeof program); // its gap too
    program.len = sizeof steps / sizeof steps[0];
    program.filter = steps;
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program) == 0;
}

// The host's socket was bound exclusively, so no other process has this port. Later binds are
// refused as before, unless they share the port on purpose.
static int open_beside(int host_fd, uint8_t mark, uint8_t other_mark)
{
    foliot__socket_address address;
    socklen_t length = sizeof address;
    int on = 1, off = 0, bytes = SOCKET_BYTES;
    if (getsockname(host_fd, &address.any, &length) != 0)
        return -1;
    int fd = socket(address.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (address.any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0 &&
        setsockopt(host_fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0) {
        if (bind(fd, &address.any, length) == 0 && sort_by(fd, mark, other_mark))
            return fd;
        setsockopt(host_fd, SOL_SOCKET, SO_REUSEPORT, &off, sizeof off);
    }
    close(fd); // and the host's socket has the port alone again
    return -1;
}

static void prepare(foliot__batched_socket *batched, uint32_t i)
{
    batched->parts[i] = (struct iovec){batched->bytes[i], DATAGRAM_BYTES};
    batched->messages[i].msg_hdr = (struct msghdr){.msg_name = &batched->from[i],
                                                   .msg_namelen = sizeof batched->from[i],
                                                   .msg_iov = &batched->parts[i],
                                                   .msg_iovlen = 1,
                                                   .msg_control = &batched->stamps[i],
                                                   .msg_controllen = sizeof batched->stamps[i]};
}

foliot__batched_socket *foliot__batched_socket_open(int host_fd, uint8_t mark, uint8_t other_mark)
{
    foliot__batched_socket *batched = calloc(1, sizeof *batched);
    if (!batched)
        return NULL;
    batched->interval_ns = INTERVAL_NS_MAX;
    batched->fd = open_beside(host_fd, mark, other_mark);
    if (batched->fd < 0) {
        free(batched);
        return NULL;
    }
    int bytes = 0;
    socklen_t length = sizeof bytes;
    getsockopt(batched->fd, SOL_SOCKET, SO_RCVBUF, &bytes, &length);
    uint32_t share = (uint32_t)bytes / DATAGRAM_COST_BYTES / BUFFER_SHARE;
    batched->many = share < MANY_MAX ? share : MANY_MAX;
    for (uint32_t i = 0; i < BATCH; i++)
        prepare(batched, i);
    return batched;
}

void foliot__batched_socket_close(foliot__batched_socket *batched)
{
    if (!batched)
        return;
    close(batched->fd);
    free(batched);
}

// -- reading

// How long a datagram has waited. The kernel's stamps are of the wall clock: only the difference
// counts.
static uint64_t waited_ns(struct msghdr *head, const struct timespec *now)
{
    struct timespec stamp;
    const struct cmsghdr *c = CMSG_FIRSTHDR(head);
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS)
        return 0;
    memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
    int64_t waited =
        (int64_t)(now->tv_sec - stamp.tv_sec) * 1000000000 + (now->tv_nsec - stamp.tv_nsec);
    return waited < 0 || waited > (int64_t)WAITED_NS_MAX ? 0 : (uint64_t)waited;
}

static uint32_t read_batch(foliot__batched_socket *batched, foliot__batch_receiver *take,
                           void *user)
{
    struct timespec now;
    int got = recvmmsg(batched->fd, batched->messages, BATCH, MSG_DONTWAIT, NULL);
    clock_gettime(CLOCK_REALTIME, &now);
    for (int i = 0; i < got; i++) {
        struct msghdr *head = &batched->messages[i].msg_hdr;
        if (head->msg_namelen < sizeof batched->from[i].four)
            continue;
        foliot__net_address from = foliot__net_address_of_socket(&batched->from[i]);
        take(user, &from, batched->bytes[i], batched->messages[i].msg_len,
             batched->read_ns - waited_ns(head, &now));
    }
    for (int i = 0; i < got; i++) // those that were used, for the next read
        prepare(batched, (uint32_t)i);
    return got < 0 ? 0 : (uint32_t)got;
}

void foliot__batched_socket_read(foliot__batched_socket *batched, uint64_t now_ns,
                                 foliot__batch_receiver *take, void *user)
{
    uint32_t got, all = 0;
    if (now_ns == batched->read_ns)
        return;
    batched->read_ns = now_ns;
    do {
        got = read_batch(batched, take, user);
        all += got;
    } while (got == BATCH && all < 4096); // a flood must not hold the loop
    if (all > batched->many)
        batched->interval_ns /= 2;
    else if (all < batched->many / 3)
        batched->interval_ns *= 2;
    batched->interval_ns =
        batched->interval_ns < INTERVAL_NS_MIN ? INTERVAL_NS_MIN : batched->interval_ns;
    batched->interval_ns =
        batched->interval_ns > INTERVAL_NS_MAX ? INTERVAL_NS_MAX : batched->interval_ns;
}

uint64_t foliot__batched_socket_wake_ns(const foliot__batched_socket *batched)
{
    return batched->read_ns + batched->interval_ns;
}

bool foliot__batched_socket_is_calm(const foliot__batched_socket *batched)
{
    return batched->interval_ns == INTERVAL_NS_MAX;
}
