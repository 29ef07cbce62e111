// SPDX-License-Identifier: MIT
// life_agones.c: the life cycle of a server under Agones: what is told to its SDK server, and what
// that says. A thread of its own talks (agones.c has the HTTP); the loop's thread only leaves
// wishes, which are tried again until they are granted.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agones.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "life.h"
#include "log.h"

#define START_MS 30000u // the SDK server may start after this one
#define TRY_MS 500u
#define LOADING_NS 120000000000u // until the first tick the server counts as alive for so long
#define COUNTER "sessions"
#define CLOSE_MS 1000u

static struct {
    uint16_t port;
    foliot__agones_server about; // as it was at the start
    bool open, runs;
    pthread_t thread;
    uint64_t began_ns;
    _Atomic(uint64_t) alive_ns; // when the loop was alive last; 0: it has not begun
    _Atomic(bool) wants_ready, wants_shutdown, closing, draining;
    _Atomic(uint32_t) ended; // sessions, to be taken off the counter
    uint32_t sessions;
} agones;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void rest(uint32_t ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static bool present(void)
{
    return getenv("AGONES_SDK_HTTP_PORT") != NULL;
}

// -- the thread

static uint64_t period_ns(void)
{
    return agones.about.health_period_s * 1000000000ull;
}

// The loop tells twice in a period that it is alive.
static bool is_alive(uint64_t now)
{
    uint64_t alive = atomic_load(&agones.alive_ns);
    return alive ? now - alive < 2 * period_ns() : now - agones.began_ns < LOADING_NS;
}

static bool post(const char *path)
{
    return foliot__agones_request(agones.port, "POST", path, "{}", NULL, 0);
}

static void grant_wishes(void)
{
    if (atomic_load(&agones.wants_ready) && post("/ready"))
        atomic_store(&agones.wants_ready, false);
    while (atomic_load(&agones.ended) > 0 &&
           foliot__agones_request(agones.port, "PATCH", "/v1beta1/counters/" COUNTER,
                                  "{\"countDiff\":\"-1\"}", NULL, 0))
        atomic_fetch_sub(&agones.ended, 1);
    if (atomic_load(&agones.wants_shutdown) && post("/shutdown"))
        atomic_store(&agones.wants_shutdown, false);
}

// What a watch says goes to the log; states repeat.
static void take_server(foliot__agones_watch *watch, char state[FOLIOT__AGONES_TEXT_BYTES])
{
    char note[2 * FOLIOT__AGONES_TEXT_BYTES + 64];
    foliot__agones_server now;
    while (foliot__agones_watch_poll(watch, agones.port, now_ns(), &now)) {
        if (strcmp(now.state, state) == 0)
            continue;
        snprintf(state, FOLIOT__AGONES_TEXT_BYTES, "%s", now.state);
        snprintf(note, sizeof note, "foliot-server: agones: %s is %s\n", now.name, now.state);
        foliot__log_lines(note);
    }
}

static void *talk(void *unused)
{
    char state[FOLIOT__AGONES_TEXT_BYTES] = "";
    static foliot__agones_watch watch;
    uint64_t told = 0;
    bool fails = false;
    foliot__agones_watch_start(&watch);
    while (!atomic_load(&agones.closing)) {
        uint64_t now = now_ns();
        if (!agones.about.health_disabled && is_alive(now) && now - told >= period_ns() / 2) {
            bool failed = !post("/health");
            told = now;
            if (failed != fails)
                foliot__log_lines(failed ? "foliot-server: agones: the SDK server does not answer\n"
                                         : "foliot-server: agones: the SDK server answers again\n");
            fails = failed;
        }
        grant_wishes();
        take_server(&watch, state);
        rest(fails ? TRY_MS : 50);
    }
    grant_wishes();
    foliot__agones_watch_stop(&watch);
    return unused;
}

// -- the loop's side

static int complain(int code, const char *why)
{
    fprintf(stderr, "foliot-server: agones: %s\n", why);
    return code;
}

static int open_agones(bool port_is_given, uint64_t *port)
{
    uint64_t sdk = FOLIOT__AGONES_PORT;
    const char *text = getenv("AGONES_SDK_HTTP_PORT");
    char problem[160] = "", why[256];
    if (text && *text && (!foliot__parse_count(text, &sdk) || sdk < 1 || sdk > 65535))
        return complain(FOLIOT__EXIT_USAGE, "$AGONES_SDK_HTTP_PORT is no port");
    agones.port = (uint16_t)sdk;
    agones.began_ns = now_ns();
    while (!foliot__agones_get_server(agones.port, &agones.about, problem, sizeof problem)) {
        if (now_ns() - agones.began_ns >= START_MS * 1000000ull) {
            snprintf(why, sizeof why, "no answer on 127.0.0.1:%u within %u s: %s", agones.port,
                     START_MS / 1000, problem);
            return complain(FOLIOT__EXIT_AGAIN, why);
        }
        rest(TRY_MS);
    }
    if (!port_is_given && agones.about.port)
        *port = agones.about.port;
    agones.open = true;
    if (pthread_create(&agones.thread, NULL, talk, NULL) != 0)
        return complain(FOLIOT__EXIT_AGAIN, "no thread");
    agones.runs = true;
    return 0;
}

static void ready(uint32_t sessions)
{
    agones.sessions = sessions;
    atomic_store(&agones.alive_ns, now_ns());
    atomic_store(&agones.wants_ready, true);
}

static uint64_t get_interval_ns(void)
{
    return period_ns() / 2;
}

static void alive(const char *status)
{
    (void)status;
    atomic_store(&agones.alive_ns, now_ns());
}

// Agones itself sends the SIGTERM; a drained server is not to be allocated again.
static void draining(uint64_t seconds)
{
    (void)seconds;
    atomic_store(&agones.wants_ready, false);
}

static void session_ended(const char *session)
{
    (void)session;
    if (agones.sessions > 1)
        atomic_fetch_add(&agones.ended, 1);
}

// All recordings are on the disk.
static void close_agones(void)
{
    if (!agones.runs)
        return;
    atomic_store(&agones.wants_ready, false);
    atomic_store(&agones.wants_shutdown, true);
    atomic_store(&agones.closing, true);
    for (uint32_t waited = 0; waited < CLOSE_MS && atomic_load(&agones.wants_shutdown);
         waited += 20)
        rest(20);
    if (!atomic_load(&agones.wants_shutdown))
        pthread_join(agones.thread, NULL);
}

const foliot__life_kind foliot__life_agones = {.name = "agones",
                                               .present = present,
                                               .open = open_agones,
                                               .ready = ready,
                                               .get_interval_ns = get_interval_ns,
                                               .alive = alive,
                                               .draining = draining,
                                               .session_ended = session_ended,
                                               .close = close_agones};
