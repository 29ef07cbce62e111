// SPDX-License-Identifier: MIT
// watchdog.c: the thread takes no lock that the program may hold: it writes with write(2) and ends
// the process with _exit (watchdog.h).
#include "base/watchdog.h"

#if !defined(__wasm__)

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit_code.h"

#define LOOK_EVERY_NS 100000000
#define BUSY_SECONDS 5.0 // more, where the machine gives it no processor

static struct {
    foliot__watchdog_config config;
    sigset_t signals;
    clockid_t clock; // processor time of the thread that works
    _Atomic(bool) asked;
    _Atomic(uint64_t) stretch; // counts begins and ends: odd inside a unit of work
    _Atomic(uint64_t) began_ns;
    // The thread's own:
    int signal; // the first one; 0: none
    uint64_t signal_ns, signal_cpu_ns, seen_stretch, seen_cpu_ns;
} dog;

static _Noreturn void end_process(const char *sentence)
{
    // A stopped or orphaned terminal accepts nothing: the last sentence must not wait for it.
    int out = fcntl(STDOUT_FILENO, F_GETFL), err = fcntl(STDERR_FILENO, F_GETFL);
    fcntl(STDOUT_FILENO, F_SETFL, out | O_NONBLOCK);
    fcntl(STDERR_FILENO, F_SETFL, err | O_NONBLOCK);
    if (dog.config.abandon)
        dog.config.abandon();
    ssize_t written = write(STDERR_FILENO, sentence, strlen(sentence));
    (void)written;
    fcntl(STDERR_FILENO, F_SETFL, err); // other processes may share them
    fcntl(STDOUT_FILENO, F_SETFL, out);
    _exit(FOLIOT__EXIT_ERROR);
}

static void end_for_signal(uint64_t began_ns)
{
    char sentence[512];
    snprintf(sentence, sizeof sentence,
             "%s: ended by %s in the middle of %s, which has taken %.1f s so far%s%s\n",
             dog.config.program,
             dog.signal == SIGINT    ? "SIGINT"
             : dog.signal == SIGTERM ? "SIGTERM"
                                     : "SIGHUP",
             dog.config.work, 1e-9 * (double)(foliot__clock_ns(CLOCK_MONOTONIC) - began_ns),
             *dog.config.lost ? ": " : "", dog.config.lost);
    end_process(sentence);
}

// On a busy machine any unit of work can take a second: only processor time counts.
static bool grace_is_over(uint64_t began_ns)
{
    bool later = began_ns > dog.signal_ns; // than the signal
    uint64_t from_ns = later ? began_ns : dog.signal_ns;
    uint64_t from_cpu_ns = later ? dog.seen_cpu_ns : dog.signal_cpu_ns;
    double wall = 1e-9 * (double)(foliot__clock_ns(CLOCK_MONOTONIC) - from_ns);
    double cpu = 1e-9 * (double)(foliot__clock_ns(dog.clock) - from_cpu_ns);
    return cpu > dog.config.grace_seconds || wall > dog.config.grace_seconds + BUSY_SECONDS;
}

static void check_limits(void)
{
    uint64_t stretch = atomic_load(&dog.stretch), began = atomic_load(&dog.began_ns);
    if (stretch % 2 == 0 || atomic_load(&dog.stretch) != stretch)
        return;
    if (stretch != dog.seen_stretch) {
        dog.seen_stretch = stretch;
        dog.seen_cpu_ns = foliot__clock_ns(dog.clock);
    }
    if (dog.signal && grace_is_over(began))
        end_for_signal(began);
    if (dog.config.limit_seconds > 0 &&
        1e-9 * (double)(foliot__clock_ns(dog.clock) - dog.seen_cpu_ns) > dog.config.limit_seconds) {
        char sentence[512];
        snprintf(
            sentence, sizeof sentence,
            "%s: %s has taken more than %g s of processor time at once: this machine is too slow "
            "for it%s%s\n",
            dog.config.program, dog.config.work, dog.config.limit_seconds,
            *dog.config.lost ? "; " : "", dog.config.lost);
        end_process(sentence);
    }
}

static void handle_signal(int number)
{
    if (dog.signal && foliot__clock_ns(CLOCK_MONOTONIC) - dog.signal_ns < FOLIOT__SIGNAL_TWICE_NS)
        return;
    if (dog.signal && atomic_load(&dog.stretch) % 2)
        end_for_signal(atomic_load(&dog.began_ns));
    if (dog.signal) {
        char sentence[512];
        snprintf(sentence, sizeof sentence,
                 "%s: ended by a second signal, before it had ended by itself\n",
                 dog.config.program);
        end_process(sentence);
    }
    dog.signal = number;
    dog.signal_ns = foliot__clock_ns(CLOCK_MONOTONIC);
    dog.signal_cpu_ns = foliot__clock_ns(dog.clock);
    atomic_store(&dog.asked, true);
}

static void *watch_signals(void *unused)
{
    const struct timespec every = {.tv_nsec = LOOK_EVERY_NS};
    for (;;) {
        int number = sigtimedwait(&dog.signals, NULL, &every);
        if (number > 0)
            handle_signal(number);
        check_limits();
    }
    return unused;
}

bool foliot__watchdog_start(const foliot__watchdog_config *config)
{
    pthread_t thread;
    sigset_t before;
    struct sigaction hangup;
    dog.config = *config;
    sigemptyset(&dog.signals);
    sigaddset(&dog.signals, SIGINT);
    sigaddset(&dog.signals, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) // nohup
        sigaddset(&dog.signals, SIGHUP);
    if (pthread_getcpuclockid(pthread_self(), &dog.clock) != 0 ||
        pthread_sigmask(SIG_BLOCK, &dog.signals, &before) != 0)
        return false;
    if (pthread_create(&thread, NULL, watch_signals, NULL) == 0) {
        pthread_detach(thread);
        return true;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return false;
}

bool foliot__watchdog_stop_requested(void)
{
    return atomic_load(&dog.asked);
}

void foliot__watchdog_begin_work(void)
{
    atomic_store(&dog.began_ns, foliot__clock_ns(CLOCK_MONOTONIC));
    atomic_fetch_add(&dog.stretch, 1);
}

void foliot__watchdog_end_work(void)
{
    atomic_fetch_add(&dog.stretch, 1);
}

#else // no signals, no threads

bool foliot__watchdog_start(const foliot__watchdog_config *config)
{
    (void)config;
    return false;
}

bool foliot__watchdog_stop_requested(void)
{
    return false;
}

void foliot__watchdog_begin_work(void)
{
}

void foliot__watchdog_end_work(void)
{
}

#endif
