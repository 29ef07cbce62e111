// SPDX-License-Identifier: MIT
// takeover.c: handles a service thread that does not return from the library. A thread cannot be
// ended from outside, and one that continues must not resume while a new thread uses the same data.
// So it is stopped where it is, for good, but only while it executes code of a library that may
// loop: there it holds no lock that another thread takes, neither of malloc nor of this program.
// Another thread then takes its place, with the listening sockets; its connections are closed, and
// the library's memory for them is leaked.
#include "service.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define SECOND_NS 1000000000u
#define HANG_CPU_NS (2ull * SECOND_NS) // of processor time within one service call
#define PARK_TRIES 5000                // a millisecond between two of them
#define END_CPU_NS (1ull * SECOND_NS)  // for the thread to end
#define END_TRIES 500
#define END_NS (5ull * SECOND_NS)         // the same, where the machine gives it no processor
#define PAUSE_NS_MAX (300ull * SECOND_NS) // between two takeovers
#define CALM_NS (3600ull * SECOND_NS)     // without a hang: the pauses start small again
#define RANGES 16
#define PARK_SIGNAL (SIGRTMIN + 3)

// -- where a thread may be stopped

static struct {
    uintptr_t from, to;
} ranges[RANGES]; // of code
static int range_count;
static _Thread_local foliot__http *served; // by this thread
static atomic_bool anything_lost;

static int add_ranges(struct dl_phdr_info *info, size_t size, void *user)
{
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
    (void)size;
    (void)user;
    if (strncmp(name, "libwebsockets", 13) != 0 && strncmp(name, "libusrsctp", 10) != 0)
        return 0;
    for (int i = 0; i < info->dlpi_phnum && range_count < RANGES; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        ranges[range_count].from = info->dlpi_addr + part->p_vaddr;
        ranges[range_count++].to = info->dlpi_addr + part->p_vaddr + part->p_memsz;
    }
    return 0;
}

// The instruction that a signal interrupted; 0: unknown on this machine, so no thread is stopped.
static uintptr_t place_of(const ucontext_t *context)
{
#if defined __x86_64__ && defined __LP64__
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined __i386__
    return (uintptr_t)context->uc_mcontext.gregs[REG_EIP];
#elif defined __aarch64__
    return (uintptr_t)context->uc_mcontext.pc;
#elif defined __arm__
    return (uintptr_t)context->uc_mcontext.arm_pc;
#elif defined __riscv
    return (uintptr_t)context->uc_mcontext.__gregs[REG_PC];
#else
    (void)context;
    return 0;
#endif
}

// The handler does not return where the thread is stopped.
static void on_park(int number, siginfo_t *info, void *context)
{
    foliot__http *http = served;
    uintptr_t at = place_of(context);
    bool inside = false;
    (void)number;
    (void)info;
    for (int i = 0; i < range_count; i++)
        inside = inside || (at >= ranges[i].from && at < ranges[i].to);
    // A thread that has come back in the meantime continues.
    if (!http || !inside || !at ||
        atomic_load(&http->watchdog.park_round) != atomic_load(&http->watchdog.rounds))
        return;
    atomic_store(&http->watchdog.parked, true);
    static const struct timespec day = {.tv_sec = 86400};
    for (;;)
        nanosleep(&day, NULL);
}

static void prepare(void)
{
    struct sigaction action = {.sa_sigaction = on_park, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    sigaction(PARK_SIGNAL, &action, NULL);
    dl_iterate_phdr(add_ranges, NULL);
}

void foliot__http_takeover_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
}

void foliot__http_thread_begins(foliot__http *http)
{
    served = http;
    atomic_store(&http->watchdog.clock_known,
                 pthread_getcpuclockid(pthread_self(), &http->watchdog.clock) == 0);
}

// The processor time of the service's thread; 0 until that thread has published its clock.
static uint64_t thread_ns(const foliot__http *http)
{
    return atomic_load(&http->watchdog.clock_known) ? foliot__clock_ns(http->watchdog.clock) : 0;
}

static void wait_a_little(void)
{
    static const struct timespec moment = {.tv_nsec = 1000000};
    nanosleep(&moment, NULL);
}

// Asks the thread to stop, until it has, at a place where it may. False: it was at none.
static bool park(foliot__http *http, pthread_t thread, int tries)
{
    for (int i = 0; i < tries && !atomic_load(&http->watchdog.parked); i++) {
        if (tries > END_TRIES && atomic_load(&http->stopping))
            return false;
        if (atomic_load(&http->watchdog.park_round) != atomic_load(&http->watchdog.rounds))
            return false; // it has come back
        if (pthread_kill(thread, PARK_SIGNAL) != 0)
            return false;
        wait_a_little();
    }
    return atomic_load(&http->watchdog.parked);
}

// -- taking over

static void drop_connections(foliot__http *http)
{
    const foliot__http_sockets *hook = http->config.sockets;
    for (int i = 0; i < FOLIOT__HTTP_LISTENERS + 1; i++)
        if (http->listening.copies[i] >= 0)
            close(http->listening.copies[i]);
    if (hook && hook->abandoned)
        http->listening.hook_descriptor = hook->abandoned(hook->user);
    for (uint32_t i = 0; i < http->connections_max; i++) {
        foliot__http_connection *c = &http->connections[i].connection;
        if (!c->wsi)
            continue;
        // Its number may belong to another file by now, if the library had closed it.
        struct stat about;
        bool is =
            c->descriptor >= 0 && fstat(c->descriptor, &about) == 0 && about.st_ino == c->inode;
        foliot__intake_unwatch(c->descriptor, &c->intake);
        if (is) {
            shutdown(c->descriptor, SHUT_RDWR);
            close(c->descriptor);
        }
        if (c->socket.of_socket)
            hook->closed(hook->user, c->socket.of_socket);
        foliot__intake_close(&c->intake);
        free(c->request.body);
        free(c->answer.owned);
        free(c->socket.message);
        *c = (foliot__http_connection){0};
    }
    http->counters.connections_now = http->counters.sockets_now = 0;
    http->answered = 0;
    http->tick = (lws_sorted_usec_list_t){0}; // its list is the library's that is left
}

static void serve_anew(void *user)
{
    static const struct timespec second = {.tv_sec = 1};
    foliot__http *http = user;
    bool taken = park(http, http->thread, PARK_TRIES);
    if (taken) {
        atomic_store(&http->context, NULL); // the library's, which nobody can tidy up
        foliot__http_thread_begins(http);
        drop_connections(http);
        atomic_store(&http->watchdog.parked, false);
        atomic_fetch_add(&http->watchdog.rounds, 1);
        http->counters.restarts++;
        while (!(taken = foliot__http_open_context(http)) && !atomic_load(&http->stopping))
            nanosleep(&second, NULL);
    }
    atomic_store(&http->watchdog.taking, taken ? FOLIOT__HTTP_TAKEN : FOLIOT__HTTP_NOT_TAKEN);
    if (taken)
        foliot__http_serve(http);
}

// The result of a takeover.
static foliot__http_health end_takeover(foliot__http *http)
{
    int taking = atomic_load(&http->watchdog.taking);
    if (taking == FOLIOT__HTTP_NOBODY || taking == FOLIOT__HTTP_TAKING)
        return FOLIOT__HTTP_HEALTHY;
    atomic_store(&http->watchdog.taking, FOLIOT__HTTP_NOBODY);
    if (taking == FOLIOT__HTTP_TAKEN) {
        pthread_detach(http->thread);
        http->thread = http->watchdog.taker;
        return FOLIOT__HTTP_RESTARTED;
    }
    uv_thread_join(&http->watchdog.taker);
    return atomic_load(&http->watchdog.park_round) == atomic_load(&http->watchdog.rounds)
               ? FOLIOT__HTTP_STUCK
               : FOLIOT__HTTP_HEALTHY;
}

foliot__http_health foliot__http_watch(foliot__http *http)
{
    if (!http || !http->thread)
        return FOLIOT__HTTP_HEALTHY;
    foliot__http_health health = end_takeover(http);
    if (atomic_load(&http->watchdog.taking) != FOLIOT__HTTP_NOBODY ||
        !atomic_load(&http->watchdog.clock_known))
        return health;
    uint64_t round = atomic_load(&http->watchdog.rounds), cpu_ns = thread_ns(http);
    if (health != FOLIOT__HTTP_HEALTHY || round != http->watchdog.seen_round) {
        http->watchdog.seen_round = round;
        http->watchdog.seen_cpu_ns = cpu_ns;
    } else if (cpu_ns - http->watchdog.seen_cpu_ns > HANG_CPU_NS) {
        uint64_t now_ns = foliot__clock_now_ns();
        uint64_t calm_ns = http->watchdog.taken_ns ? now_ns - http->watchdog.taken_ns : CALM_NS;
        if (calm_ns >= http->watchdog.pause_ns &&
            foliot__threads_left(1, FOLIOT__HTTP_STACK_BYTES)) {
            http->watchdog.pause_ns = calm_ns >= CALM_NS ? SECOND_NS
                                      : http->watchdog.pause_ns * 2 > PAUSE_NS_MAX
                                          ? PAUSE_NS_MAX
                                          : http->watchdog.pause_ns * 2;
            http->watchdog.taken_ns = now_ns;
            atomic_store(&http->watchdog.park_round, http->watchdog.seen_round);
            atomic_store(&http->watchdog.taking, FOLIOT__HTTP_TAKING);
            if (uv_thread_create(&http->watchdog.taker, serve_anew, http) != 0)
                atomic_store(&http->watchdog.taking, FOLIOT__HTTP_NOBODY);
        }
    }
    return health;
}

// -- the end

bool foliot__http_end_thread(foliot__http *http)
{
    uint64_t from_ns = foliot__clock_now_ns();
    while (atomic_load(&http->watchdog.taking) == FOLIOT__HTTP_TAKING)
        wait_a_little(); // for seconds at most
    (void)end_takeover(http);
    uint64_t cpu_ns = thread_ns(http);
    while (!atomic_load(&http->watchdog.ended) && foliot__clock_now_ns() - from_ns < END_NS &&
           thread_ns(http) - cpu_ns < END_CPU_NS)
        wait_a_little();
    if (atomic_load(&http->watchdog.ended))
        return uv_thread_join(&http->thread) == 0;
    atomic_store(&anything_lost, true);
    atomic_store(&http->watchdog.park_round, atomic_load(&http->watchdog.rounds));
    (void)park(http, http->thread, END_TRIES); // it need not burn while recordings are closed
    return false;
}

bool foliot__http_is_lost(void)
{
    return atomic_load(&anything_lost);
}
