// SPDX-License-Identifier: MIT
// channel.c: players in browsers by WebSocket alone, and with a data channel as well. First what
// a snapshot for one costs, all in, and what memory one takes, on the loopback: as bench web does,
// against bare sockets that send and take as many datagrams of as many bytes. Then, where network
// namespaces may be made: a server in one and a client library in another, with a wire between them
// that delays by 25 ms each way and loses packets of TCP and UDP alike. The client's playout delay
// and how late the worst snapshots are, by either path. The wire is this process, which moves
// packets between two tun devices.

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"
#include "base/rng.h"
#include "bench.h"
#include "clock.h"
#include "foliot/client.h"
#include "foliot/foliot.h"
#include "foliot/server.h"
#include "status.h"
#include "web/web.h"

#define PEERS_MAX 128
#define HZ 60
#define SECONDS 2
#define SNAPSHOT_BYTES 300
#define INPUT_BYTES 24
#define DATAGRAM_MORE 65 // bytes: 28 of SCTP with one chunk, 37 of DTLS 1.2 with AES-GCM
#define CHILD_SECONDS 240
#define SERVER_ADDRESS "10.61.0.1"
#define CLIENT_ADDRESS "10.61.0.2"
#define PORT 8080
#define ONE_WAY_NS 25000000u
#define SETTLE_SECONDS 12
#define LOSS_SECONDS 60

static void die(const char *what)
{
    fprintf(stderr, "channel: %s\n", what);
    exit(1);
}

// -- peers

// Takes all that comes, and answers each packet with an input.
static void run_peers(uint16_t port, uint32_t count)
{
    static rtc_peer *peers[PEERS_MAX];
    static foliot_transport *transports[PEERS_MAX];
    static struct pollfd fds[PEERS_MAX];
    foliot_peer_id ids[PEERS_MAX];
    uint8_t input[INPUT_BYTES] = {0};
    rtc_start(count);
    for (uint32_t i = 0; i < count; i++) {
        peers[i] = rtc_peer_create("127.0.0.1", true, &transports[i]);
        if (foliot_transport_connect(transports[i], "", port, clock_now_ns(), &ids[i]) !=
            FOLIOT_STATUS_OK)
            _exit(1);
        fds[i] =
            (struct pollfd){.fd = foliot_transport_get_descriptor(transports[i]), .events = POLLIN};
    }
    for (uint64_t ticked_ns = clock_now_ns();;) {
        foliot_transport_event event;
        poll(fds, count, 20);
        for (uint32_t i = 0; i < count; i++)
            while (foliot_transport_poll(transports[i], clock_now_ns(), &event)) {
                if (event.kind == FOLIOT_TRANSPORT_DISCONNECTED)
                    _exit(0);
                // The first byte says by which path it came.
                input[0] = (uint8_t)rtc_peer_is_open(peers[i]);
                if (event.kind == FOLIOT_TRANSPORT_RECEIVED) {
                    foliot_status status = foliot_transport_send(
                        transports[i], ids[i], FOLIOT_DELIVERY_UNRELIABLE, input, sizeof input);
                    (void)status;
                }
            }
        uint64_t now = clock_now_ns();
        rtc_tick((uint32_t)((now - ticked_ns) / 1000000u));
        ticked_ns += (now - ticked_ns) / 1000000u * 1000000u;
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

typedef struct crowd {
    foliot__web *web;
    foliot_transport *transport;
    foliot_peer_id peers[PEERS_MAX];
    uint32_t have, received, open; // open: inputs whose sender has a channel
} crowd;

static void poll_all(crowd *c)
{
    foliot_transport_event event;
    while (foliot_transport_poll(c->transport, clock_now_ns(), &event)) {
        if (event.kind == FOLIOT_TRANSPORT_CONNECTED && c->have < PEERS_MAX)
            c->peers[c->have++] = event.peer;
        if (event.kind == FOLIOT_TRANSPORT_DISCONNECTED)
            die("a peer is gone");
        c->received += event.kind == FOLIOT_TRANSPORT_RECEIVED;
        c->open += event.kind == FOLIOT_TRANSPORT_RECEIVED && event.bytes[0];
    }
}

static void wait_for_tick(struct timespec *next)
{
    next->tv_nsec += 1000000000 / HZ;
    next->tv_sec += next->tv_nsec / 1000000000;
    next->tv_nsec %= 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

static void run_ticks(crowd *c, uint32_t ticks)
{
    static uint8_t snapshot[SNAPSHOT_BYTES];
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint32_t t = 0; t < ticks; t++) {
        foliot_transport_send_many(c->transport, c->peers, c->have, FOLIOT_DELIVERY_UNRELIABLE,
                                   snapshot, sizeof snapshot);
        foliot_transport_flush(c->transport, clock_now_ns());
        foliot__web_flush(c->web);
        wait_for_tick(&next);
        poll_all(c);
    }
}

// -- bare sockets

static struct sockaddr_in loopback_port(in_port_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int bare_socket(in_port_t *port)
{
    struct sockaddr_in at = loopback_port(0);
    socklen_t length = sizeof at;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &length) != 0)
        die("no socket");
    *port = at.sin_port;
    return fd;
}

static void run_bare_peers(const int *sockets, uint32_t count)
{
    static struct pollfd fds[PEERS_MAX];
    uint8_t bytes[SNAPSHOT_BYTES + DATAGRAM_MORE];
    struct sockaddr_in from;
    for (uint32_t i = 0; i < count; i++)
        fds[i] = (struct pollfd){.fd = sockets[i], .events = POLLIN};
    for (;;) {
        poll(fds, count, 20);
        for (uint32_t i = 0; i < count; i++) {
            socklen_t length = sizeof from;
            while (recvfrom(fds[i].fd, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &length) >
                   0)
                sendto(fds[i].fd, bytes, INPUT_BYTES + DATAGRAM_MORE, 0, (struct sockaddr *)&from,
                       length);
        }
    }
}

static uint32_t take_bare(int fd)
{
    enum { BATCH = 16 };
    static uint8_t bytes[BATCH][SNAPSHOT_BYTES];
    struct iovec parts[BATCH];
    struct mmsghdr heads[BATCH];
    uint32_t taken = 0;
    for (int got = BATCH; got == BATCH; taken += got > 0 ? (uint32_t)got : 0) {
        for (int i = 0; i < BATCH; i++) {
            parts[i] = (struct iovec){bytes[i], sizeof bytes[i]};
            heads[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &parts[i], .msg_iovlen = 1}};
        }
        got = recvmmsg(fd, heads, BATCH, MSG_DONTWAIT, NULL);
    }
    return taken;
}

// Microseconds of a datagram out and one in, with nothing above the sockets.
static double bare_us(uint32_t count)
{
    static const uint8_t bytes[SNAPSHOT_BYTES + DATAGRAM_MORE];
    int sockets[PEERS_MAX];
    in_port_t own, ports[PEERS_MAX];
    int fd = bare_socket(&own);
    for (uint32_t i = 0; i < count; i++)
        sockets[i] = bare_socket(&ports[i]);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(CHILD_SECONDS);
        run_bare_peers(sockets, count);
    }
    double began = 0;
    uint32_t taken = 0;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint32_t t = 0; t < (1 + SECONDS) * HZ; t++) {
        if (t == HZ) { // warm by now
            began = clock_process_s();
            taken = 0;
        }
        for (uint32_t i = 0; i < count; i++) {
            struct sockaddr_in to = loopback_port(ports[i]);
            sendto(fd, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof to);
        }
        wait_for_tick(&next);
        taken += take_bare(fd);
    }
    double spent = clock_process_s() - began, sent = (double)count * SECONDS * HZ;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(fd);
    for (uint32_t i = 0; i < count; i++)
        close(sockets[i]);
    if (taken < sent * 0.9)
        die("bare sockets lose datagrams");
    return 1e6 * spent / sent;
}

// -- what one costs

static void measure_cost(uint32_t count)
{
    char problem[256], name[80];
    int ends[2];
    uint16_t port = 0;
    const char *why;
    crowd c = {0};
    if (pipe(ends) != 0)
        die("no pipe");
    pid_t child = fork(); // before there is a server: usrsctp is one a process
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(CHILD_SECONDS);
        if (read(ends[0], &port, sizeof port) == sizeof port)
            run_peers(port, count);
        _exit(1);
    }
    foliot__web_config config = {.address = "127.0.0.1", .peers_max = PEERS_MAX};
    c.web = foliot__web_create(&config, &c.transport, problem, sizeof problem);
    if (!c.web || !foliot__web_start(c.web, problem, sizeof problem))
        die(problem);
    if (!foliot__web_get_channel_port(c.web, &why))
        die(why);
    double before = resident_bytes();
    port = foliot__web_get_port(c.web);
    if (write(ends[1], &port, sizeof port) != sizeof port)
        die("no peers");
    for (uint64_t end = clock_now_ns() + 60000000000u; c.have < count && clock_now_ns() < end;
         usleep(1000))
        poll_all(&c);
    for (int i = 0; i < 60; i++) { // until all have their channels
        c.received = c.open = 0;
        run_ticks(&c, HZ / 2);
        if (c.have == count && c.received > 0 && c.open == c.received)
            break;
    }
    c.received = c.open = 0;
    double began = clock_process_s();
    run_ticks(&c, SECONDS * HZ);
    double snapshots = (double)count * SECONDS * HZ, spent = clock_process_s() - began;
    if (c.open < c.received)
        die("not all peers have channels");
    snprintf(name, sizeof name, "%u peers: a peer and snapshot", count);
    bench_report("channel", name, 1e6 * spent / snapshots, "us", "bare sockets", bare_us(count));
    snprintf(name, sizeof name, "%u peers: inputs a peer and snapshot", count);
    bench_report("channel", name, c.received / snapshots, "", NULL, 0);
    snprintf(name, sizeof name, "%u peers: memory of one", count);
    bench_report("channel", name, (resident_bytes() - before) / count / 1000, "kB", NULL, 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    foliot__web_destroy(c.web);
    foliot_transport_destroy(c.transport);
}

// -- a wire that loses

#define QUEUE 65536 // packets on their way, of each direction
#define WIRE_BYTES 1600

typedef struct on_the_way {
    uint64_t due_ns;
    size_t length;
    uint8_t bytes[WIRE_BYTES];
} on_the_way;

typedef struct direction {
    on_the_way *ring;
    uint32_t first, count;
    uint64_t lost, passed;
} direction;

// First in line for the processors, where that is allowed: this machine may be busy.
static void hurry(int priority)
{
    struct sched_param how = {.sched_priority = priority};
    if (sched_setscheduler(0, SCHED_RR, &how) != 0)
        fprintf(stderr, "channel: no real-time scheduling: figures depend on what else runs\n");
}

// In a separate namespace: a tun device with this address. Returns its descriptor; -1: not
// allowed.
static int enter_network(const char *address)
{
    struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    struct sockaddr_in in = {.sin_family = AF_INET};
    if (unshare(CLONE_NEWNET) != 0)
        return -1;
    int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC), s = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &r) != 0)
        return -1;
    inet_pton(AF_INET, address, &in.sin_addr);
    memcpy(&r.ifr_addr, &in, sizeof in);
    if (ioctl(s, SIOCSIFADDR, &r) != 0)
        return -1;
    inet_pton(AF_INET, "255.255.255.0", &in.sin_addr);
    memcpy(&r.ifr_netmask, &in, sizeof in);
    if (ioctl(s, SIOCSIFNETMASK, &r) != 0 || ioctl(s, SIOCGIFFLAGS, &r) != 0)
        return -1;
    r.ifr_flags = (short)(r.ifr_flags | IFF_UP | IFF_RUNNING);
    if (ioctl(s, SIOCSIFFLAGS, &r) != 0)
        return -1;
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    if (ioctl(s, SIOCSIFFLAGS, &loopback) != 0)
        return -1;
    close(s);
    return fd;
}

static void give_descriptor(int to, int fd)
{
    char byte = fd >= 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        m.msg_control = control;
        m.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        *c = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    if (sendmsg(to, &m, 0) != 1)
        die("a descriptor does not pass");
}

static int take_descriptor(int from)
{
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof control};
    int fd = -1;
    if (recvmsg(from, &m, 0) == 1 && byte && CMSG_FIRSTHDR(&m))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    return fd;
}

static void take_in(direction *d, int from, double loss, foliot__rng *rng)
{
    for (;;) {
        on_the_way *p = &d->ring[(d->first + d->count) % QUEUE];
        ssize_t length = read(from, p->bytes, sizeof p->bytes);
        if (length <= 0)
            return;
        bool lost = (double)(foliot__rng_u64(rng) >> 11) * 0x1p-53 < loss;
        d->lost += lost;
        d->passed += !lost;
        if (lost || d->count == QUEUE - 1)
            continue;
        p->length = (size_t)length;
        p->due_ns = clock_now_ns() + ONE_WAY_NS;
        d->count++;
    }
}

static uint64_t give_out(direction *d, int to)
{
    uint64_t now = clock_now_ns();
    while (d->count > 0 && d->ring[d->first].due_ns <= now) {
        ssize_t written = write(to, d->ring[d->first].bytes, d->ring[d->first].length);
        (void)written;
        d->first = (d->first + 1) % QUEUE;
        d->count--;
    }
    return d->count > 0 ? d->ring[d->first].due_ns : UINT64_MAX;
}

// All threads of the server, which chooses its own scheduling at its start.
static void hurry_threads(pid_t process)
{
    char path[64];
    struct sched_param how = {.sched_priority = 11};
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *tasks = opendir(path);
    for (struct dirent *d; tasks && (d = readdir(tasks));)
        if (atoi(d->d_name) > 0)
            sched_setscheduler(atoi(d->d_name), SCHED_RR, &how);
    if (tasks)
        closedir(tasks);
}

// Until the client's process ends.
static void run_wire(const int tun[2], double loss, pid_t client, pid_t server)
{
    uint64_t settled_ns = clock_now_ns() + (SETTLE_SECONDS - 2) * 1000000000ull;
    direction d[2];
    foliot__rng rng = foliot__rng_seeded(20261123);
    memset(d, 0, sizeof d);
    for (int i = 0; i < 2; i++) {
        fcntl(tun[i], F_SETFL, O_NONBLOCK);
        d[i].ring = mmap(NULL, QUEUE * sizeof(on_the_way), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (d[i].ring == MAP_FAILED)
            die("no memory");
    }
    while (waitpid(client, NULL, WNOHANG) == 0) {
        if (settled_ns && clock_now_ns() > settled_ns) {
            hurry_threads(server);
            settled_ns = 0;
        }
        struct pollfd fds[2] = {{.fd = tun[0], .events = POLLIN}, {.fd = tun[1], .events = POLLIN}};
        uint64_t due = UINT64_MAX, now = clock_now_ns();
        for (int i = 0; i < 2; i++) {
            uint64_t of_this = give_out(&d[i], tun[1 - i]);
            due = of_this < due ? of_this : due;
        }
        uint64_t wait = due == UINT64_MAX ? 100000000u : due > now ? due - now : 0;
        struct timespec t = {.tv_nsec = (long)(wait < 100000000u ? wait : 100000000u)};
        ppoll(fds, 2, &t, NULL);
        for (int i = 0; i < 2; i++)
            if (fds[i].revents)
                take_in(&d[i], tun[i], loss, &rng);
    }
    for (int i = 0; i < 2; i++)
        munmap(d[i].ring, QUEUE * sizeof(on_the_way));
}

static void run_server(int to, const char *program)
{
    int fd = enter_network(SERVER_ADDRESS), null = open("/dev/null", O_WRONLY);
    give_descriptor(to, fd);
    if (fd < 0 || null < 0)
        _exit(1);
    hurry(11);
    dup2(null, 1);
    dup2(null, 2);
    execl(program, program, "--web", SERVER_ADDRESS ":8080", "--insecure", "--port", "0",
          "--no-record", "scenes/cubes.yaml", (char *)NULL);
    _exit(1);
}

typedef struct figures {
    double delay_ms, late_ms, loss, by_channel;
    uint64_t snapshots;
} figures;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// How much later than the earliest of them the latest in a thousand came.
static double late_of(double *arrivals, uint32_t count)
{
    if (count == 0)
        return 0;
    qsort(arrivals, count, sizeof *arrivals, by_size);
    return arrivals[(uint32_t)((double)(count - 1) * 0.999)] - arrivals[0];
}

static foliot_client *join_session(foliot_transport *transport, const char *name)
{
    foliot_client *client;
    foliot_client_config config = foliot_client_config_default();
    config.transport = transport;
    config.address = SERVER_ADDRESS;
    config.port = PORT;
    config.name = name;
    config.kind = FOLIOT_PEER_WATCHER;
    if (foliot_client_create(&config, clock_now_ns(), &client) != FOLIOT_STATUS_OK)
        die("no client");
    return client;
}

static void update_client(foliot_client *client)
{
    foliot_client_event event;
    foliot_client_update(client, clock_now_ns());
    while (foliot_client_poll(client, &event))
        ;
}

// Another player, who comes first: a session's ticks shift once when its first player joins.
static foliot_client *join_before(void)
{
    foliot_transport *transport;
    rtc_peer_create(SERVER_ADDRESS, false, &transport);
    foliot_client *first = join_session(transport, "ben");
    for (uint64_t end = clock_now_ns() + 3000000000u; clock_now_ns() < end; usleep(4000))
        update_client(first);
    return first;
}

static void watch_session(rtc_peer *peer, foliot_transport *transport, figures *f)
{
    foliot_client *first = join_before();
    static double arrivals[LOSS_SECONDS * 4 * HZ];
    uint32_t count = 0;
    uint64_t newest = 0, begun = clock_now_ns(), ticked_ns = begun, sampled_ns = begun;
    double delays = 0, samples = 0;
    foliot_client *client = join_session(transport, "ann");
    for (uint64_t now; (now = clock_now_ns()) < begun + (LOSS_SECONDS + 10) * 1000000000ull;) {
        struct pollfd fd = {.fd = foliot_transport_get_descriptor(transport), .events = POLLIN};
        poll(&fd, 1, 4);
        now = clock_now_ns();
        update_client(client);
        update_client(first);
        rtc_tick((uint32_t)((now - ticked_ns) / 1000000u));
        ticked_ns += (now - ticked_ns) / 1000000u * 1000000u;
        if (foliot_client_get_state(client) != FOLIOT_CLIENT_PLAYING)
            continue;
        foliot_client_statistics s = foliot_client_get_statistics(client);
        bool counts = now > begun + 10000000000ull; // behind the join
        if (s.newest_tick > newest && counts && count < sizeof arrivals / sizeof arrivals[0])
            arrivals[count++] = (double)now * 1e-6 - (double)s.newest_tick * 1000.0 / HZ;
        newest = s.newest_tick;
        if (now - sampled_ns > 16666667u) {
            foliot_sample sample;
            sampled_ns = now;
            foliot_status status = foliot_client_sample(client, now, &sample);
            // The shown time, against the earliest arrivals of the same time.
            if (counts && status == FOLIOT_STATUS_OK)
                delays += (double)now * 1e-6 - sample.render_tick * 1000.0 / HZ;
            samples += counts && status == FOLIOT_STATUS_OK;
        }
    }
    foliot_client_statistics s = foliot_client_get_statistics(client);
    double by[2] = {(double)rtc_peer_get_received(peer, false),
                    (double)rtc_peer_get_received(peer, true)};
    double late_ms = late_of(arrivals, count); // sorts them
    *f = (figures){.delay_ms = delays / samples - arrivals[0],
                   .late_ms = late_ms,
                   .loss = s.loss,
                   .by_channel = by[1] / (by[0] + by[1]),
                   .snapshots = s.snapshots_received};
    foliot_client_destroy(client);
}

static void run_client(int to, bool channel, figures *f)
{
    foliot_transport *transport;
    int fd = enter_network(CLIENT_ADDRESS);
    give_descriptor(to, fd);
    if (fd < 0)
        _exit(1);
    hurry(12);
    sleep(SETTLE_SECONDS); // the server's start, and the scene comes to rest
    rtc_start(1);
    rtc_peer *peer = rtc_peer_create(SERVER_ADDRESS, channel, &transport);
    watch_session(peer, transport, f);
    _exit(0);
}

static void report_wire(double loss, bool channel, const figures *f)
{
    const struct {
        const char *name, *unit;
        double value;
    } rows[] = {{"playout delay", "ms", f->delay_ms},
                {"lateness p99.9", "ms", f->late_ms},
                {"snapshots that never came", "%", 100 * f->loss},
                {"by the channel", "%", 100 * f->by_channel}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[96];
        snprintf(name, sizeof name, "round trip 50 ms, loss %.0f %%, %s: %s", 100 * loss,
                 channel ? "channel" : "WebSocket alone", rows[i].name);
        bench_report("channel", name, rows[i].value, rows[i].unit, NULL, 0);
    }
}

static bool measure_wire(const char *program, double loss, bool channel)
{
    int pair[2][2], tun[2];
    pid_t child[2];
    figures *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (f == MAP_FAILED)
        die("no memory");
    for (int i = 0; i < 2; i++) {
        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair[i]) != 0)
            die("no sockets");
        child[i] = fork();
        if (child[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (i == 0)
                run_server(pair[i][1], program);
            run_client(pair[i][1], channel, f);
        }
        tun[i] = take_descriptor(pair[i][0]);
    }
    bool possible = tun[0] >= 0 && tun[1] >= 0;
    if (possible)
        run_wire(tun, loss, child[1], child[0]);
    kill(child[0], SIGKILL);
    kill(child[1], SIGKILL);
    for (int i = 0; i < 2; i++) {
        waitpid(child[i], NULL, 0);
        close(pair[i][0]);
        close(pair[i][1]);
        close(tun[i]);
    }
    if (possible && f->snapshots > 0)
        report_wire(loss, channel, f);
    munmap(f, sizeof *f);
    return possible;
}

int main(int argc, char **argv)
{
    char program[512];
    const char *slash = strrchr(argv[0], '/');
    snprintf(program, sizeof program, "%.*s../foliot-server",
             slash ? (int)(slash - argv[0] + 1) : 0, argv[0]);
    if (argc < 2) {
        measure_cost(16);
        measure_cost(128);
    }
    hurry(13);
    for (int percent = 2; percent <= 5; percent += 3)
        for (int channel = 0; channel < 2; channel++)
            if (!measure_wire(program, percent / 100.0, channel)) {
                fprintf(stderr, "channel: no network namespaces here: losses are not measured\n");
                return 0;
            }
    return 0;
}
