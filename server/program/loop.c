// SPDX-License-Identifier: MIT
// loop.c: the server under libuv. Ticks are due at absolute times of CLOCK_MONOTONIC, and a timerfd
// is armed again after every update. Steps run on workers (step_workers.h); everything else runs on
// the loop's thread.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "app.h"
#include "program/options/arguments.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/watchdog.h"
#include "process.h"
#include "program/report/report.h"
#include "step_workers.h"

#define WORKER_STACK_BYTES ((size_t)8 << 20) // of each of libuv's workers

static void on_readable(uv_poll_t *poll, int status, int events);

// If datagrams arrive one by one, the socket is not watched until the timer fires, and they are
// received together: a flood must not cost one wake-up each. Returns whether it is unwatched.
static bool batch_by_timer(foliot__app *a)
{
    const foliot_transport_counters *counted = foliot_transport_get_counters(a->transport);
    uint64_t received =
        counted->packets_received - counted->packets_batched + counted->datagrams_alone;
    bool rests = received != a->watch.received;
    a->watch.received = received;
    if (rests && !a->watch.rests)
        uv_poll_stop(&a->watch.network);
    if (!rests && a->watch.rests && uv_poll_start(&a->watch.network, UV_READABLE, on_readable) != 0)
        rests = true; // until the timer, when it is tried again
    a->watch.rests = rests;
    return rests;
}

static void arm_timer(foliot__app *a)
{
    uint64_t wake = foliot_server_get_wake_ns(a->server),
             rested = foliot__clock_now_ns() + FOLIOT_SERVER_REST_NS;
    if (batch_by_timer(a) && rested < wake)
        wake = rested;
    struct itimerspec at = {.it_value = {.tv_sec = (time_t)(wake / 1000000000u),
                                         .tv_nsec = (long)(wake % 1000000000u)}};
    if (at.it_value.tv_sec == 0 && at.it_value.tv_nsec == 0)
        at.it_value.tv_nsec = 1; // zero would disarm
    int armed = timerfd_settime(a->watch.timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
    FOLIOT_ASSERT(armed == 0);
}

static void end_session(foliot__app *a, const char *session)
{
    foliot_server_give_up_next(a->server, session);
    foliot__life_session_ended(a, session);
    foliot__admin_session_ended(a, session);
}

static void close_loop(foliot__app *a)
{
    if (a->over)
        return;
    a->over = true;
    foliot__life_stop(a);
    uv_poll_stop(&a->watch.network);
    uv_poll_stop(&a->watch.timer);
    uv_close((uv_handle_t *)&a->watch.network, NULL);
    uv_close((uv_handle_t *)&a->watch.timer, NULL);
    uv_close((uv_handle_t *)&a->watch.turn, NULL);
    uv_close((uv_handle_t *)&a->watch.interrupt, NULL);
    uv_close((uv_handle_t *)&a->watch.terminate, NULL);
    foliot__admin_close(a);
    foliot__front_close(a);
    foliot__lobby_close(a);
    foliot__step_workers_destroy(a->workers); // none reports to a handle that is closed
    a->workers = NULL;
    uv_poll_stop(&a->watch.stepped);
    uv_close((uv_handle_t *)&a->watch.stepped, NULL);
}

static void note_duration(void *app, uint64_t nanoseconds)
{
    foliot__front_step(app, nanoseconds);
}

static void update(foliot__app *a)
{
    if (a->over)
        return;
    // Sessions whose next scene could not be hosted (next.c).
    for (uint32_t i = 0; i < a->hosted_count; i++)
        if (a->hosted[i].next == FOLIOT__NEXT_FAILED) {
            a->hosted[i].next = FOLIOT__NEXT_NONE;
            end_session(a, a->hosted[i].name);
        }
    foliot_server_update(a->server, foliot__clock_now_ns());
    foliot__step_workers_wake(a->workers);
    foliot__step_workers_drain_durations(a->workers, note_duration, a);
    foliot__browser_flush(a);
    foliot_server_event event;
    while (foliot_server_poll(a->server, &event)) {
        foliot__log_event(&event);
        a->failed = a->failed || event.kind == FOLIOT_SERVER_STEP_FAILED;
        bool ended = event.kind == FOLIOT_SERVER_ENDED || event.kind == FOLIOT_SERVER_STEP_FAILED;
        if (event.kind == FOLIOT_SERVER_GAME_ENDED)
            ended = !foliot__app_follow(a, event.session);
        if (ended)
            end_session(a, event.session);
    }
    foliot_divergence_report found;
    while (foliot_server_poll_divergence(a->server, &found)) {
        const foliot__hosted *h = foliot__app_find_hosted(a, found.session);
        foliot__report_divergence(&found, h ? h->scene : NULL,
                                  strcmp(a->choices->process.log_format, "json") == 0, &a->loop);
    }
    foliot__life_update(a);
    foliot__admin_update(a);
    if (foliot_server_get_done(a->server) &&
        (a->ending || (!a->following && (a->drained || !a->stays)))) {
        if (!a->ending) { // all sessions ended by themselves: notify the peers first
            a->ending = true;
            foliot_server_stop(a->server, "the session has reached its last tick",
                               foliot__clock_now_ns());
        } else {
            close_loop(a);
            return;
        }
    }
    arm_timer(a);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    foliot__app *a = poll->data;
    uint64_t expirations;
    (void)status;
    (void)events;
    if (poll == &a->watch.timer && read(a->watch.timer_fd, &expirations, sizeof expirations) < 0 &&
        errno != EAGAIN)
        return;
    update(a);
}

// Runs the update that a callback requested since the last turn, before the loop waits again.
static void on_turn(uv_prepare_t *turn)
{
    foliot__app *a = turn->data;
    bool wakes = a->wakes;
    a->wakes = false;
    if (wakes)
        update(a);
}

static void on_signal(uv_signal_t *signal, int number)
{
    foliot__app *a = signal->data;
    if (a->interrupts > 0 &&
        foliot__clock_now_ns() - a->watch.interrupted_ns < FOLIOT__SIGNAL_TWICE_NS)
        return;
    a->watch.interrupted_ns = foliot__clock_now_ns();
    if (a->interrupts++ > 0) {
        foliot__log_note("stopping",
                         "stopping at once; the recordings end with their last whole block");
        foliot__log_flush();
        _exit(128 + number);
    }
    if (number == SIGTERM && foliot__life_drain(a))
        return;
    foliot__app_end(a);
}

static void report_stepped(void *user)
{
    foliot__app *a = user;
    if (!atomic_exchange(&a->watch.stepped_reported, true))
        (void)!eventfd_write(a->watch.stepped_fd, 1); // it is zero
}

// Another update collects steps that end from here on.
static void on_stepped(uv_poll_t *stepped, int status, int events)
{
    foliot__app *a = stepped->data;
    eventfd_t count;
    (void)status;
    (void)events;
    (void)!eventfd_read(a->watch.stepped_fd, &count);
    atomic_store(&a->watch.stepped_reported, false);
    update(a);
}

static void do_nothing(uv_work_t *work)
{
    (void)work;
}

static void do_nothing_after(uv_work_t *work, int status)
{
    (void)work;
    (void)status;
}

int foliot__app_open_loop(foliot__app *a)
{
    int wrong = uv_loop_init(&a->loop);
    a->watch.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    a->watch.stepped_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wrong == 0 && (a->watch.timer_fd < 0 || a->watch.stepped_fd < 0))
        wrong = uv_translate_sys_error(errno);
    if (wrong == 0)
        wrong = uv_poll_init(&a->loop, &a->watch.network,
                             foliot_transport_get_descriptor(a->transport));
    if (wrong == 0)
        wrong = uv_poll_init(&a->loop, &a->watch.timer, a->watch.timer_fd);
    if (wrong == 0)
        wrong = uv_signal_init(&a->loop, &a->watch.interrupt);
    if (wrong == 0)
        wrong = uv_signal_init(&a->loop, &a->watch.terminate);
    if (wrong == 0)
        wrong = uv_poll_init(&a->loop, &a->watch.stepped, a->watch.stepped_fd);
    if (wrong == 0)
        wrong = uv_prepare_init(&a->loop, &a->watch.turn);
    if (wrong) {
        fprintf(stderr, "foliot-server: no event loop: %s\n", uv_strerror(wrong));
        return FOLIOT__EXIT_AGAIN;
    }
    a->watch.network.data = a->watch.timer.data = a->watch.interrupt.data =
        a->watch.terminate.data = a;
    a->watch.stepped.data = a->watch.turn.data = a;
    // libuv ends the process if it cannot create a worker's thread. So the memory is checked first,
    // and all workers are started at once, with an empty job.
    static uv_work_t first;
    const char *text = getenv("UV_THREADPOOL_SIZE"); // how many workers libuv starts; else 4
    int count = text ? atoi(text) : 4;
    uint32_t workers = count < 1 ? 1 : count > 1024 ? 1024 : (uint32_t)count;
    uint32_t steppers = a->choices->process.workers ? (uint32_t)a->choices->process.workers
                                                    : foliot__step_workers_default();
    if (!foliot__threads_left(workers + steppers, WORKER_STACK_BYTES) ||
        !(a->workers = foliot__step_workers_create(steppers, report_stepped, a)))
        return foliot__host_lacks("the memory for its threads, or that many threads");
    return uv_queue_work(&a->loop, &first, do_nothing, do_nothing_after) == 0
               ? 0
               : foliot__host_lacks("an event loop");
}

int foliot__app_start_loop(foliot__app *a)
{
    foliot__priority_loop();
    int wrong = uv_poll_start(&a->watch.network, UV_READABLE, on_readable);
    if (wrong == 0)
        wrong = uv_poll_start(&a->watch.timer, UV_READABLE, on_readable);
    if (wrong == 0)
        wrong = uv_poll_start(&a->watch.stepped, UV_READABLE, on_stepped);
    if (wrong == 0)
        wrong = uv_prepare_start(&a->watch.turn, on_turn);
    if (wrong == 0)
        wrong = uv_signal_start(&a->watch.interrupt, on_signal, SIGINT);
    if (wrong == 0)
        wrong = uv_signal_start(&a->watch.terminate, on_signal, SIGTERM);
    if (wrong)
        fprintf(stderr, "foliot-server: no event loop: %s\n", uv_strerror(wrong));
    return wrong ? FOLIOT__EXIT_AGAIN : foliot__life_start(a);
}

void foliot__app_run_loop(foliot__app *a)
{
    arm_timer(a);
    uv_run(&a->loop, UV_RUN_DEFAULT);
    uv_loop_close(&a->loop);
    close(a->watch.timer_fd);
    close(a->watch.stepped_fd);
}
