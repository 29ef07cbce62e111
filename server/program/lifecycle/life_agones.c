// SPDX-License-Identifier: MIT
// life_agones.c: the life cycle of a server under Agones: its reports to the SDK server, and the
// answers. A separate thread talks (agones.c has the HTTP); the loop's thread only sets flags, and
// requests are repeated until they succeed.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "life.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "base/json.h"
#include "base/text.h"
#include "program/report/report.h"
#include "program/sandbox/sandbox.h"

#define START_MS 30000u // the SDK server may start after this one
#define TRY_MS 500u
#define LOADING_NS 120000000000u // a server counts as alive this long before and after its loop
#define COUNTER "sessions"
#define CLOSE_MS 1000u
#define KNOWN_BYTES (3 * FOLIOT__AGONES_TEXT_BYTES)
#define HELD_MAX 16 // orders that wait for the loop, and answers that wait for the SDK server

static struct {
    char address[FOLIOT__AGONES_TEXT_BYTES + 16]; // and port, of players
    uint16_t port;
    foliot__agones_server about; // as it was at the start
    bool open, runs;
    pthread_t thread;
    uint64_t began_ns;
    _Atomic(uint64_t) alive_ns; // when the loop was alive last; 0: it has not begun
    _Atomic(uint64_t) ended_ns; // when it ended; 0: it has not
    _Atomic(bool) wants_ready, wants_shutdown, closing, draining;
    _Atomic(uint32_t) ended; // sessions, to be taken off the counter
    uint32_t sessions;
    bool ordered;          // of the loop's thread: a session was hosted for an allocation
    pthread_mutex_t mutex; // of the fields below
    foliot__life_order orders[HELD_MAX];
    uint32_t order_count;
    struct {
        char key[16], value[256];
    } answers[HELD_MAX];
    uint32_t answer_count;
} agones = {.mutex = PTHREAD_MUTEX_INITIALIZER};

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

// The loop reports twice in a period that it is alive.
static bool is_alive(uint64_t now)
{
    uint64_t alive = atomic_load(&agones.alive_ns), ended = atomic_load(&agones.ended_ns);
    if (ended) // recordings are closed, and passed to their commands
        return now < ended || now - ended < LOADING_NS;
    return alive ? now - alive < 2 * period_ns() : now - agones.began_ns < LOADING_NS;
}

static bool post(const char *path)
{
    return foliot__agones_request(agones.port, "POST", path, "{}", NULL, 0);
}

// An annotation, which the SDK server calls agones.dev/sdk-KEY.
static bool annotate(const char *key, const char *value)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return false;
    foliot__json j = foliot__json_to(out);
    foliot__json_object(&j, NULL);
    foliot__json_text(&j, "key", key);
    foliot__json_text(&j, "value", value);
    foliot__json_close(&j);
    bool fine = fclose(out) == 0 &&
                foliot__agones_request(agones.port, "PUT", "/metadata/annotation", text, NULL, 0);
    free(text);
    return fine;
}

static void give_answers(void)
{
    char key[sizeof agones.answers[0].key], value[sizeof agones.answers[0].value];
    for (bool fine = true; fine;) {
        pthread_mutex_lock(&agones.mutex);
        fine = agones.answer_count > 0;
        memcpy(key, agones.answers[0].key, sizeof key);
        memcpy(value, agones.answers[0].value, sizeof value);
        pthread_mutex_unlock(&agones.mutex);
        fine = fine && annotate(key, value);
        pthread_mutex_lock(&agones.mutex);
        if (fine) // the loop only adds
            memmove(&agones.answers[0], &agones.answers[1],
                    --agones.answer_count * sizeof agones.answers[0]);
        pthread_mutex_unlock(&agones.mutex);
    }
}

static void grant_wishes(void)
{
    give_answers();
    while (atomic_load(&agones.ended) > 0 &&
           foliot__agones_request(agones.port, "PATCH", "/v1beta1/counters/" COUNTER,
                                  "{\"countDiff\":\"-1\"}", NULL, 0))
        atomic_fetch_sub(&agones.ended, 1);
    if (atomic_load(&agones.wants_ready) && post("/ready"))
        atomic_store(&agones.wants_ready, false);
    if (atomic_load(&agones.wants_shutdown) && post("/shutdown"))
        atomic_store(&agones.wants_shutdown, false);
}

// An allocation that names a scene is an order. Repeats have the same mark, session and scene.
static void queue_allocation(const foliot__agones_server *now, char known[KNOWN_BYTES])
{
    char mark[KNOWN_BYTES];
    foliot__life_order order;
    if (strcmp(now->state, "Allocated") != 0 || !*now->scene) {
        *known = 0;
        return;
    }
    snprintf(mark, sizeof mark, "%s\n%s\n%s", now->allocated, now->session, now->scene);
    if (strcmp(mark, known) == 0)
        return;
    memcpy(known, mark, sizeof mark);
    snprintf(order.session, sizeof order.session, "%.63s",
             *now->session ? now->session : now->name);
    snprintf(order.scene, sizeof order.scene, "%s", now->scene);
    pthread_mutex_lock(&agones.mutex);
    bool fits = agones.order_count < HELD_MAX;
    if (fits)
        agones.orders[agones.order_count++] = order;
    pthread_mutex_unlock(&agones.mutex);
    if (!fits)
        foliot__log_lines("foliot-server: agones: too many allocations at once; one is left out\n");
}

// Logs the states that a watch reports; states repeat.
static void log_server(foliot__agones_watch *watch, char state[FOLIOT__AGONES_TEXT_BYTES],
                       char known[KNOWN_BYTES])
{
    char note[2 * FOLIOT__AGONES_TEXT_BYTES + 64];
    foliot__agones_server now;
    while (foliot__agones_watch_poll(watch, agones.port, foliot__clock_now_ns(), &now)) {
        queue_allocation(&now, known);
        if (strcmp(now.state, state) == 0)
            continue;
        snprintf(state, FOLIOT__AGONES_TEXT_BYTES, "%s", now.state);
        snprintf(note, sizeof note, "foliot-server: agones: %s is %s\n", now.name, now.state);
        foliot__log_lines(note);
    }
}

static void *talk(void *unused)
{
    char state[FOLIOT__AGONES_TEXT_BYTES] = "", known[KNOWN_BYTES] = "";
    static foliot__agones_watch watch;
    uint64_t told = 0;
    bool fails = false;
    foliot__agones_watch_start(&watch);
    while (!atomic_load(&agones.closing)) {
        uint64_t now = foliot__clock_now_ns();
        if (!agones.about.health_disabled && is_alive(now) && now - told >= period_ns() / 2) {
            bool failed = !post("/health");
            told = now;
            if (failed != fails)
                foliot__log_lines(failed ? "foliot-server: agones: the SDK server does not answer\n"
                                         : "foliot-server: agones: the SDK server answers again\n");
            fails = failed;
        }
        grant_wishes();
        log_server(&watch, state, known);
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

const char *foliot__life_agones_address(void)
{
    return agones.address;
}

static int open_agones(bool port_is_given, uint64_t *port)
{
    uint64_t sdk = FOLIOT__AGONES_PORT;
    const char *text = getenv("AGONES_SDK_HTTP_PORT");
    char problem[160] = "", why[256];
    if (text && *text && (!foliot__parse_count(text, &sdk) || sdk < 1 || sdk > 65535))
        return complain(FOLIOT__EXIT_USAGE, "$AGONES_SDK_HTTP_PORT is not a port");
    agones.port = (uint16_t)sdk;
    agones.began_ns = foliot__clock_now_ns();
    if (!foliot__agones_start_connector(agones.port, foliot__sandbox_drop))
        return complain(FOLIOT__EXIT_AGAIN, "no process that connects to the SDK server");
    while (!foliot__agones_get_server(agones.port, &agones.about, problem, sizeof problem)) {
        if (foliot__clock_now_ns() - agones.began_ns >= START_MS * 1000000ull) {
            snprintf(why, sizeof why, "no answer on 127.0.0.1:%u within %u s: %s", agones.port,
                     START_MS / 1000, problem);
            return complain(FOLIOT__EXIT_AGAIN, why);
        }
        rest(TRY_MS);
    }
    if (!port_is_given && agones.about.port)
        *port = agones.about.port;
    bool six = strchr(agones.about.address, ':') != NULL;
    if (*agones.about.address && agones.about.port)
        snprintf(agones.address, sizeof agones.address, six ? "[%s]:%u" : "%s:%u",
                 agones.about.address, agones.about.port);
    agones.open = true;
    if (pthread_create(&agones.thread, NULL, talk, NULL) != 0)
        return complain(FOLIOT__EXIT_AGAIN, "no thread");
    agones.runs = true;
    return 0;
}

static void ready(uint32_t sessions)
{
    agones.sessions = sessions;
    atomic_store(&agones.alive_ns, foliot__clock_now_ns());
    atomic_store(&agones.wants_ready, true);
}

static uint64_t get_interval_ns(void)
{
    return period_ns() / 2;
}

static void alive(const char *status)
{
    (void)status;
    atomic_store(&agones.alive_ns, foliot__clock_now_ns());
}

// Agones itself sends the SIGTERM; a drained server is not to be allocated again.
static void draining(uint64_t seconds)
{
    (void)seconds;
    atomic_store(&agones.wants_ready, false);
}

static void ending(void)
{
    atomic_store(&agones.ended_ns, foliot__clock_now_ns());
}

static bool poll_order(foliot__life_order *order)
{
    pthread_mutex_lock(&agones.mutex);
    bool any = agones.order_count > 0;
    if (any) {
        *order = agones.orders[0];
        memmove(&agones.orders[0], &agones.orders[1],
                --agones.order_count * sizeof agones.orders[0]);
    }
    pthread_mutex_unlock(&agones.mutex);
    return any;
}

// The allocating program reads agones.dev/sdk-foliot-session, or the reason why there is none.
static bool order_done(const foliot__life_order *order, const char *why, uint32_t left)
{
    pthread_mutex_lock(&agones.mutex);
    if (agones.answer_count < HELD_MAX) {
        uint32_t i = agones.answer_count++;
        snprintf(agones.answers[i].key, sizeof agones.answers[i].key, "%s",
                 why ? "foliot-problem" : "foliot-session");
        snprintf(agones.answers[i].value, sizeof agones.answers[i].value, "%.255s",
                 why ? why : order->session);
    }
    pthread_mutex_unlock(&agones.mutex);
    agones.ordered = true;
    if (why && agones.about.counted)
        atomic_fetch_add(&agones.ended, 1);           // the allocating program has counted it
    return why && left == 0 && !agones.about.counted; // Agones puts another in its place
}

// A server of one session is not used again; one of several waits for others.
static bool session_ended(const char *session, uint32_t left)
{
    (void)session;
    if (agones.sessions > 1 || (agones.ordered && agones.about.counted))
        atomic_fetch_add(&agones.ended, 1);
    if (!agones.ordered || left > 0)
        return false;
    if (agones.about.counted)
        atomic_store(&agones.wants_ready, true);
    return !agones.about.counted;
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
                                               .ending = ending,
                                               .poll_order = poll_order,
                                               .order_done = order_done,
                                               .session_ended = session_ended,
                                               .close = close_agones};
