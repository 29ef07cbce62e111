// SPDX-License-Identifier: MIT
// web.c: processor time that a server spends on one browser and snapshot by WebSocket on loopback,
// all in: queues, both threads, sending, and receiving an input packet for each; and the memory of
// one. The browsers are sockets in a child process. The opponent is the least that a server can do
// over TCP: one thread, one send a socket and snapshot, one recv for what comes back, and nothing
// else. Its cost is the kernel's, for the most part that of the loopback, where a send also
// does the receiver's half and wakes it up.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"
#include "status.h"
#include "web/web.h"
#include "web_socket.h"

#define BROWSERS_MAX 256
#define HZ 60
#define SECONDS 2
#define SNAPSHOT_BYTES 300
#define INPUT_BYTES 24
#define CHILD_SECONDS 60

static void die(const char *what)
{
    fprintf(stderr, "web: %s\n", what);
    exit(1);
}

// Browsers: read all that comes, and answer each snapshot with an input packet.
static void run_browsers(uint16_t port, uint32_t count, bool bare)
{
    static struct pollfd fds[BROWSERS_MAX];
    static uint8_t bytes[65536];
    uint8_t input[1 + INPUT_BYTES] = {0};
    for (uint32_t i = 0; i < count; i++)
        fds[i] = (struct pollfd){.fd = bare ? web_connect(port) : web_open(port), .events = POLLIN};
    for (;;) {
        poll(fds, count, 1000);
        for (uint32_t i = 0; i < count; i++) {
            if (!fds[i].revents)
                continue;
            if (recv(fds[i].fd, bytes, sizeof bytes, 0) <= 0)
                _exit(0);
            web_send(fds[i].fd, 0x82, input, sizeof input);
        }
    }
}

static double resident_bytes(void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &size, &resident) != 2)
        die("no /proc/self/statm");
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static uint32_t poll_all(foliot_transport *transport, foliot_peer_id *peers, uint32_t have,
                         uint32_t *received)
{
    foliot_transport_event event;
    while (foliot_transport_poll(transport, clock_now_ns(), &event)) {
        if (event.kind == FOLIOT_TRANSPORT_CONNECTED && have < BROWSERS_MAX)
            peers[have++] = event.peer;
        if (event.kind == FOLIOT_TRANSPORT_DISCONNECTED)
            die("a browser is gone");
        *received += event.kind == FOLIOT_TRANSPORT_RECEIVED;
    }
    return have;
}

static void run_ticks(foliot__web *web, foliot_transport *transport, foliot_peer_id *peers,
                      uint32_t count, uint32_t ticks, uint32_t *received)
{
    static uint8_t snapshot[SNAPSHOT_BYTES];
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint32_t t = 0; t < ticks; t++) {
        foliot_transport_send_many(transport, peers, count, FOLIOT_DELIVERY_UNRELIABLE, snapshot,
                                   sizeof snapshot);
        foliot_transport_flush(transport, clock_now_ns());
        foliot__web_flush(web);
        next.tv_nsec += 1000000000 / HZ;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        poll_all(transport, peers, count, received);
    }
}

static pid_t start_browsers(uint16_t port, uint32_t count, bool bare)
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(CHILD_SECONDS);
        run_browsers(port, count, bare);
    }
    return child;
}

// -- the opponent

// Takes what comes until `end`, as it comes.
static void take_bare(struct pollfd *fds, uint32_t count, uint64_t end)
{
    static uint8_t bytes[65536];
    for (uint64_t now; (now = clock_now_ns()) < end;) {
        struct timespec left = {.tv_nsec = (long)(end - now)};
        if (ppoll(fds, count, &left, NULL) <= 0)
            continue;
        for (uint32_t i = 0; i < count; i++)
            if (fds[i].revents && recv(fds[i].fd, bytes, sizeof bytes, 0) <= 0)
                die("a bare socket is gone");
    }
}

static void run_bare(struct pollfd *fds, uint32_t count, uint32_t ticks)
{
    static const uint8_t frame[4 + 1 + SNAPSHOT_BYTES] = {0x82, 126, 1, 45};
    uint64_t next = clock_now_ns();
    for (uint32_t t = 0; t < ticks; t++) {
        for (uint32_t i = 0; i < count; i++)
            if (send(fds[i].fd, frame, sizeof frame, MSG_NOSIGNAL) != sizeof frame)
                die("a bare socket takes nothing");
        next += 1000000000 / HZ;
        take_bare(fds, count, next);
    }
}

// Seconds of processor time a socket and snapshot.
static double measure_bare(uint32_t count)
{
    static struct pollfd fds[BROWSERS_MAX];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, length) != 0 ||
        listen(listener, BROWSERS_MAX) != 0 ||
        getsockname(listener, (struct sockaddr *)&at, &length) != 0)
        die("no bare socket");
    pid_t child = start_browsers(ntohs(at.sin_port), count, true);
    for (uint32_t i = 0; i < count; i++) {
        fds[i] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
        if (setsockopt(fds[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)
            die("a bare socket does not come");
    }
    run_bare(fds, count, HZ / 2);
    double began = clock_process_s();
    run_bare(fds, count, SECONDS * HZ);
    double spent = clock_process_s() - began;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    for (uint32_t i = 0; i < count; i++)
        close(fds[i].fd);
    close(listener);
    return spent / ((double)count * SECONDS * HZ);
}

// -- the service

static void measure(uint32_t count)
{
    static foliot_peer_id peers[BROWSERS_MAX];
    char problem[256], name[80];
    double bare = measure_bare(count);
    foliot_transport *transport;
    foliot__web_config config = {.address = "127.0.0.1", .peers_max = BROWSERS_MAX};
    foliot__web *web = foliot__web_create(&config, &transport, problem, sizeof problem);
    if (!web || !foliot__web_start(web, problem, sizeof problem))
        die(problem);
    double before = resident_bytes();
    pid_t child = start_browsers(foliot__web_get_port(web), count, false);
    uint32_t have = 0, received = 0;
    for (uint64_t end = clock_now_ns() + 30000000000u; have < count && clock_now_ns() < end;
         usleep(1000))
        have = poll_all(transport, peers, have, &received);
    if (have < count)
        die("not all browsers came");
    run_ticks(web, transport, peers, count, HZ / 2, &received);
    received = 0;
    double began = clock_process_s();
    run_ticks(web, transport, peers, count, SECONDS * HZ, &received);
    double snapshots = (double)count * SECONDS * HZ, spent = clock_process_s() - began;
    snprintf(name, sizeof name, "%u browsers: a browser and snapshot", count);
    bench_report("web", name, 1e6 * spent / snapshots, "us", "bare sockets", 1e6 * bare);
    snprintf(name, sizeof name, "%u browsers: inputs a browser and snapshot", count);
    bench_report("web", name, received / snapshots, "", NULL, 0);
    snprintf(name, sizeof name, "%u browsers: memory of one", count);
    bench_report("web", name, (resident_bytes() - before) / count / 1000, "kB", NULL, 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    foliot__web_destroy(web);
    foliot_transport_destroy(transport);
}

int main(void)
{
    measure(16);
    measure(128);
    return 0;
}
