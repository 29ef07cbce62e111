// SPDX-License-Identifier: MIT
// main.c: foliot-server: the server library under libuv. Here is the only clock: ticks are due at
// absolute times of CLOCK_MONOTONIC, for which a timerfd is armed anew after every update.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <uv.h>

#include "base/assert.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/options.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/watchdog.h"
#include "base/threads.h"
#include "foliot/foliot.h"
#include "foliot/transport.h"
#include "host.h"
#include "log.h"
#include "pool.h"
#include "priority.h"
#include "report.h"

#define PEERS_EXTRA 16 // connections beyond players and spectators: those who are refused
#define SPECTATOR_DELAY_MAX 3600

static struct {
    uint64_t port, ticks, threads;
    const char *bind, *record, *integrator, *mode, *impair, *log_format;
    bool no_record, no_force, has_input_delay;
    double tick_hz, snapshot_hz, spectator_delay;
    uint64_t input_delay, spectators, per_address, players_per_address;
    foliot__texts sessions, resumes;
} given = {.port = FOLIOT_PORT_DEFAULT,
           .bind = "127.0.0.1",
           .log_format = "text",
           .threads = 1,
           .input_delay = 3,
           .spectators = 64};

static const foliot__option host_options[] = {
    {"port", "PORT", FOLIOT__OPTION_COUNT, &given.port, 0, 65535,
     .help = "UDP port; 0 takes a free one"},
    {"bind", "ADDR", FOLIOT__OPTION_TEXT, &given.bind,
     .help = "IPv4 address to listen on; 127.0.0.1 unless said"},
    {"record", "FILE", FOLIOT__OPTION_TEXT, &given.record,
     .help = "recording; NAME-DATE.foliot unless said"},
    {"no-record", NULL, FOLIOT__OPTION_FLAG, &given.no_record, .help = "records nothing"},
    {"integrator", "NAME", FOLIOT__OPTION_TEXT, &given.integrator,
     .help = "instead of the scene's"},
    {"tick-hz", "HZ", FOLIOT__OPTION_REAL, &given.tick_hz, FOLIOT__PACE_HZ_MIN, FOLIOT__PACE_HZ_MAX,
     .help = "ticks a second; dt is 1 / HZ where the scene's time is in seconds, else its own"},
    {"snapshot-hz", "HZ", FOLIOT__OPTION_POSITIVE, &given.snapshot_hz,
     .help = "at most; every tick unless said"},
    {"mode", "MODE", FOLIOT__OPTION_TEXT, &given.mode, .help = "snapshot or lockstep"},
    {"input-delay", "TICKS", FOLIOT__OPTION_COUNT, &given.input_delay, 0, 600,
     &given.has_input_delay,
     .help =
         "lockstep: ticks from an input to its effect, for all who can keep to it; 3 unless said"},
    {"spectators", "N", FOLIOT__OPTION_COUNT, &given.spectators, 0, FOLIOT_PEERS_MAX,
     .help = "connections for spectators; 64 unless said"},
    {"per-address", "N", FOLIOT__OPTION_COUNT, &given.per_address, 1, FOLIOT_PEERS_MAX,
     .help = "connections that one address may hold; a quarter of all unless said; no limit on the "
             "loopback"},
    {"players-per-address", "N", FOLIOT__OPTION_COUNT, &given.players_per_address, 1,
     FOLIOT_PLAYERS_MAX,
     .help = "places of players that one address may have; a quarter of a session's unless said; "
             "no limit on the loopback"},
    {"spectator-delay", "SECONDS", FOLIOT__OPTION_REAL, &given.spectator_delay, 0,
     SPECTATOR_DELAY_MAX, .help = "spectators are shown what was so long ago"},
    {"no-force", NULL, FOLIOT__OPTION_FLAG, &given.no_force,
     .help = "lockstep: refuses builds that compute otherwise though they ask with --force"},
    {"resume", "FILE", FOLIOT__OPTION_TEXTS, &given.resumes,
     .help = "goes on with a recording; no SCENE then"},
    {"session", "NAME=SCENE", FOLIOT__OPTION_TEXTS, &given.sessions, .help = "one more session"},
    {"ticks", "N", FOLIOT__OPTION_COUNT, &given.ticks, 1, 0, .help = "ends after N ticks"},
    {"impair", "SPEC", FOLIOT__OPTION_TEXT, &given.impair,
     .help = "a bad network, both ways: loss=5%,delay=50ms,jitter=0-100ms,..."},
    {"threads", "N", FOLIOT__OPTION_COUNT, &given.threads, 1, 256,
     .help = "inside a step; the bits are the same"},
    {"log-format", "FORMAT", FOLIOT__OPTION_TEXT, &given.log_format,
     .help = "text or json, on stderr"},
    {0}};
static const foliot__option no_options[] = {{0}};

static const foliot__command commands[] = {
    {"", "SCENE [options]", "hosts a session",
     "  foliot-server scenes/spacewar.yaml\n"
     "  foliot-server scenes/marbles.yaml --port 0 --record match.foliot\n"
     "  foliot-server --resume match.foliot\n",
     host_options, 0, 1},
    {"check", "SCENE...", "only checks scenes", "  foliot-server check scenes/cloth.yaml\n",
     no_options, 1, UINT32_MAX},
    {0}};

static void fingerprint_text(char text[33])
{
    foliot_digest_print(foliot_get_fingerprint(), text);
}

static const foliot__program program = {
    "foliot-server", "hosts multiplayer physics sessions, and records them",
    "  foliot-server scenes/spacewar.yaml        then, elsewhere: foliot-client 127.0.0.1\n"
    "  foliot-server scenes/marbles.yaml --ticks 600 --record marbles.foliot\n"
    "  foliot-server check my-scene.yaml\n",
    commands, fingerprint_text};

typedef struct app {
    uv_loop_t loop;
    uv_poll_t network, timer;
    uv_signal_t interrupt, terminate;
    int timer_fd;
    foliot_transport *transport;
    foliot_server *server;
    foliot__hosted hosted[FOLIOT_SESSIONS_MAX];
    uint32_t hosted_count;
    foliot__pool *pool;
    foliot_host host;
    unsigned interrupts;
    uint64_t interrupted_ns;
    uint64_t received; // packets that were not batched, before the last update
    bool over, rests;  // rests: the socket is not watched until the timer
    bool failed;       // a session, whose step did
} app;

// libuv ends the process where it gets no descriptor for its signals and no thread for its workers.
// So both are looked for first, and its workers are started at once: each has a stack of 8 MiB.
#define LOOP_DESCRIPTORS 11
#define WORKER_STACK_BYTES ((size_t)8 << 20)

static int lacks(const char *what)
{
    fprintf(stderr, "foliot-server: this process may not have %s (ulimit -a tells its limits)\n",
            what);
    return FOLIOT__EXIT_AGAIN;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// -- the loop

static void on_readable(uv_poll_t *poll, int status, int events);

// Where packets come one after the other, they are taken together.
static bool rest(app *a)
{
    const foliot_transport_counters *counted = foliot_transport_get_counters(a->transport);
    uint64_t received = counted->packets_received - counted->packets_batched;
    bool rests = received != a->received;
    a->received = received;
    if (rests && !a->rests)
        uv_poll_stop(&a->network);
    if (!rests && a->rests && uv_poll_start(&a->network, UV_READABLE, on_readable) != 0)
        rests = true; // until the timer, when it is tried again
    a->rests = rests;
    return rests;
}

static void arm(app *a)
{
    uint64_t wake = foliot_server_get_wake_ns(a->server), rested = now_ns() + FOLIOT_SERVER_REST_NS;
    if (rest(a) && rested < wake)
        wake = rested;
    struct itimerspec at = {.it_value = {.tv_sec = (time_t)(wake / 1000000000u),
                                         .tv_nsec = (long)(wake % 1000000000u)}};
    if (at.it_value.tv_sec == 0 && at.it_value.tv_nsec == 0)
        at.it_value.tv_nsec = 1; // zero would disarm
    int armed = timerfd_settime(a->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
    FOLIOT_ASSERT(armed == 0);
}

static const foliot_scene *scene_of(const app *a, const char *session)
{
    for (uint32_t i = 0; i < a->hosted_count; i++)
        if (strcmp(a->hosted[i].name, session) == 0)
            return a->hosted[i].scene;
    return NULL;
}

static void log_events(app *a)
{
    foliot_server_event event;
    while (foliot_server_poll(a->server, &event)) {
        foliot__log_event(&event);
        a->failed = a->failed || event.kind == FOLIOT_SERVER_STEP_FAILED;
    }
    foliot_divergence_report found;
    while (foliot_server_poll_divergence(a->server, &found))
        foliot__report_divergence(&found, scene_of(a, found.session),
                                  strcmp(given.log_format, "json") == 0, &a->loop);
}

static void close_loop(app *a)
{
    if (a->over)
        return;
    a->over = true;
    uv_poll_stop(&a->network);
    uv_poll_stop(&a->timer);
    uv_close((uv_handle_t *)&a->network, NULL);
    uv_close((uv_handle_t *)&a->timer, NULL);
    uv_close((uv_handle_t *)&a->interrupt, NULL);
    uv_close((uv_handle_t *)&a->terminate, NULL);
}

static void update(app *a)
{
    if (a->over)
        return;
    foliot_server_update(a->server, now_ns());
    log_events(a);
    if (foliot_server_get_done(a->server)) {
        if (a->interrupts == 0) { // all ended by themselves: tell the peers first
            a->interrupts = 1;
            foliot_server_stop(a->server, "the session has reached its last tick", now_ns());
        } else {
            close_loop(a);
            return;
        }
    }
    arm(a);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    app *a = poll->data;
    uint64_t expirations;
    (void)status;
    (void)events;
    if (poll == &a->timer && read(a->timer_fd, &expirations, sizeof expirations) < 0 &&
        errno != EAGAIN)
        return;
    update(a);
}

static void on_signal(uv_signal_t *signal, int number)
{
    app *a = signal->data;
    if (a->interrupts > 0 && now_ns() - a->interrupted_ns < FOLIOT__SIGNAL_TWICE_NS)
        return;
    a->interrupted_ns = now_ns();
    if (a->interrupts++ > 0) {
        foliot__log_note("stopping at once; the recordings end with their last whole block");
        foliot__log_flush();
        _exit(128 + number);
    }
    foliot__log_note("stopping; once more to stop at once");
    foliot_server_stop(a->server, "the host has stopped the session", now_ns());
    update(a);
}

// Steps run on libuv's workers, so that the network is served in the meantime.
typedef struct step_job {
    uv_work_t work;
    app *app;
    void (*run)(void *job);
    void *job;
} step_job;

static void job_run(uv_work_t *work)
{
    step_job *job = work->data;
    foliot__priority_step();
    job->run(job->job);
}

static void job_done(uv_work_t *work, int status)
{
    step_job *job = work->data;
    app *a = job->app;
    (void)status;
    free(job);
    update(a);
}

static void start_step(void *user, void (*run)(void *job), void *job_of_server)
{
    step_job *job = malloc(sizeof *job);
    if (!job) { // no memory for a job: the step runs here
        run(job_of_server);
        return;
    }
    *job = (step_job){.app = user, .run = run, .job = job_of_server};
    job->work.data = job;
    if (uv_queue_work(&job->app->loop, &job->work, job_run, job_done) != 0) {
        free(job);
        run(job_of_server);
    }
}

// -- from the command line to a running server

// NAME=SCENE; returns where SCENE begins, or says what is wrong with it.
static const char *session_name(const foliot__arguments *arguments, const char *text,
                                char name[FOLIOT_NAME_BYTES])
{
    char clean[FOLIOT_NAME_BYTES];
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        foliot__options_wrong(&program, arguments, "--session wants NAME=SCENE, not '%s'", text);
        return NULL;
    }
    if (equals - text >= FOLIOT_NAME_BYTES) {
        foliot__options_wrong(&program, arguments, "--session: a name has at most %d bytes",
                              FOLIOT_NAME_BYTES - 1);
        return NULL;
    }
    snprintf(name, FOLIOT_NAME_BYTES, "%.*s", (int)(equals - text), text);
    if (strcmp(foliot__text_clean(clean, sizeof clean, name), name) != 0) {
        foliot__options_wrong(&program, arguments,
                              "--session: a name has no control characters, and is UTF-8");
        return NULL;
    }
    return equals + 1;
}

static int open_sessions(app *a, const foliot__arguments *arguments,
                         const foliot__host_options *options)
{
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < given.resumes.count; i++) {
        if (a->hosted_count == FOLIOT_SESSIONS_MAX)
            return foliot__options_wrong(&program, arguments, "at most %d sessions",
                                         FOLIOT_SESSIONS_MAX);
        code = foliot__hosted_resume(&a->hosted[a->hosted_count++], given.resumes.items[i]);
    }
    if (arguments->operand_count == 1)
        code = foliot__hosted_open(&a->hosted[a->hosted_count++], NULL, arguments->operands[0],
                                   options);
    for (uint32_t i = 0; code == 0 && i < given.sessions.count; i++) {
        char name[FOLIOT_NAME_BYTES];
        const char *file = session_name(arguments, given.sessions.items[i], name);
        if (!file)
            return FOLIOT__EXIT_USAGE;
        if (a->hosted_count == FOLIOT_SESSIONS_MAX)
            return foliot__options_wrong(&program, arguments, "at most %d sessions",
                                         FOLIOT_SESSIONS_MAX);
        code = foliot__hosted_open(&a->hosted[a->hosted_count++], name, file, options);
    }
    return code;
}

static int check_names(const app *a)
{
    for (uint32_t i = 0; i < a->hosted_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(a->hosted[i].name, a->hosted[k].name) == 0) {
                fprintf(stderr, "foliot-server: there are two sessions named '%s'\n",
                        a->hosted[i].name);
                return FOLIOT__EXIT_USAGE;
            }
    return 0;
}

static int open_transport(app *a)
{
    foliot_transport_config config = foliot_transport_config_default();
    char problem[256];
    uint32_t peers = PEERS_EXTRA + (uint32_t)given.spectators;
    for (uint32_t i = 0; i < a->hosted_count; i++)
        peers += 2 * a->hosted[i].scene->players.limit;
    config.bind = given.bind;
    config.port = (uint16_t)given.port;
    config.batches = true;
    config.peers_max = peers < FOLIOT_PEERS_MAX ? peers : FOLIOT_PEERS_MAX;
    config.peers_per_address_max = (uint32_t)given.per_address;
    if (given.impair && foliot_impairment_parse(given.impair, &config.send, problem,
                                                sizeof problem) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "foliot-server: --impair: %s\n", problem);
        return FOLIOT__EXIT_USAGE;
    }
    config.receive = config.send;
    foliot_status status = foliot_transport_create_enet(&config, now_ns(), &a->transport);
    if (status == FOLIOT_STATUS_OK)
        return 0;
    if (status == FOLIOT_STATUS_INVALID) {
        fprintf(stderr, "foliot-server: --bind: '%s' is no IPv4 address\n", given.bind);
        return FOLIOT__EXIT_USAGE;
    }
    if (status == FOLIOT_STATUS_NOT_FOUND || status == FOLIOT_STATUS_REFUSED) {
        fprintf(stderr,
                status == FOLIOT_STATUS_REFUSED
                    ? "foliot-server: port %u needs rights that this user does not have\n"
                    : "foliot-server: port %u on %s: this machine has no such address\n",
                config.port, given.bind);
        return FOLIOT__EXIT_ERROR;
    }
    fprintf(stderr, "foliot-server: port %u on %s is busy; --port 0 takes a free one\n",
            config.port, given.bind);
    return FOLIOT__EXIT_AGAIN;
}

// A session that is resumed keeps its mode unless another one is asked for.
static bool lockstep(const foliot__hosted *h)
{
    return given.mode ? strcmp(given.mode, "lockstep") == 0 : h->resumed && h->lockstep;
}

// What would do nothing is refused: whoever gave it thinks that it does something.
static int check_lockstep(const app *a, const foliot__arguments *arguments)
{
    for (uint32_t i = 0; i < a->hosted_count; i++)
        if (lockstep(&a->hosted[i]))
            return 0;
    if (!given.has_input_delay && !given.no_force)
        return 0;
    return foliot__options_wrong(&program, arguments, "--%s is for --mode lockstep",
                                 given.no_force ? "no-force" : "input-delay");
}

static int start_server(app *a)
{
    foliot_server_config config = foliot_server_config_default();
    config.transport = a->transport;
    config.start = start_step;
    config.start_user = a;
    config.snapshot_hz = given.snapshot_hz;
    config.players_per_address_max = (uint32_t)given.players_per_address;
    if (!given.players_per_address && (given.impair || strncmp(given.bind, "127.", 4) == 0))
        config.players_per_address_max = FOLIOT_PLAYERS_MAX; // all are of one address
    if (foliot_server_create(&config, now_ns(), &a->server) != FOLIOT_STATUS_OK)
        return FOLIOT__EXIT_ERROR;
    if (given.threads > 1 && !(a->pool = foliot__pool_create((uint32_t)given.threads)))
        return lacks("so many threads");
    a->host = (foliot_host){.run = a->pool ? foliot__pool_run : NULL,
                            .run_user = a->pool,
                            .threads = (uint32_t)given.threads,
                            .yield = foliot__pool_yield};
    for (uint32_t i = 0; i < a->hosted_count; i++) {
        foliot__hosted *h = &a->hosted[i];
        foliot_session_config session = {.name = h->name,
                                         .scene = h->scene,
                                         .world = h->world,
                                         .recording = h->recording,
                                         .pace_hz = h->pace_hz,
                                         .ticks = given.ticks,
                                         .host = &a->host,
                                         .mode = lockstep(h) ? FOLIOT_SESSION_LOCKSTEP
                                                             : FOLIOT_SESSION_SNAPSHOTS,
                                         .input_delay = (uint32_t)given.input_delay,
                                         .spectator_delay_s = given.spectator_delay,
                                         .refuses_forced = given.no_force};
        foliot_status status = foliot_server_add_session(a->server, &session, now_ns());
        if (status != FOLIOT_STATUS_OK) {
            fprintf(stderr, "foliot-server: the session '%s' cannot be hosted: %s\n", h->name,
                    foliot_status_get_text(status));
            return FOLIOT__EXIT_ERROR;
        }
    }
    return 0;
}

// As a shell takes it for one word.
static const char *quoted(const char *name, char text[FOLIOT_NAME_BYTES + 2])
{
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] ==
        0)
        return name;
    snprintf(text, FOLIOT_NAME_BYTES + 2, "%c%s%c", strchr(name, '\'') ? '"' : '\'', name,
             strchr(name, '\'') ? '"' : '\'');
    return text;
}

static void announce(const app *a)
{
    uint16_t port = foliot_transport_get_port(a->transport);
    char word[FOLIOT_NAME_BYTES + 2];
    printf("listening on %s:%u\n", given.bind, port);
    for (uint32_t i = 0; i < a->hosted_count; i++) {
        const foliot__hosted *h = &a->hosted[i];
        printf("session '%s'%s: %s at %g Hz, %u bodies, room for %u players%s%s\n", h->name,
               lockstep(h) ? " in lockstep" : "",
               foliot_integrator_get_info(h->scene->integrator)->name, h->pace_hz,
               h->scene->body_count, h->scene->players.limit, h->recording ? ", recorded in " : "",
               h->recording ? h->recording_file : "");
        if (h->resumed)
            printf("resumed at tick %llu\n", (unsigned long long)foliot_world_get_tick(h->world));
    }
    const foliot__hosted *named = &a->hosted[a->hosted_count > 1];
    printf("join with: foliot-client %s:%u%s%s%s\n",
           strcmp(given.bind, "0.0.0.0") == 0 ? "HOST" : given.bind, port,
           a->hosted_count > 1 ? " --session " : "",
           a->hosted_count > 1 ? quoted(named->name, word) : "",
           named->scene->players.limit == 0 ? " --spectate" : "");
    fflush(stdout);
    if (strncmp(given.bind, "127.", 4) != 0)
        fprintf(stderr, "foliot-server: what is sent is not encrypted: anyone on the way can read "
                        "and change it\n");
}

static void nothing(uv_work_t *work)
{
    (void)work;
}

static void nothing_done(uv_work_t *work, int status)
{
    (void)work;
    (void)status;
}

// As many as libuv will start: what UV_THREADPOOL_SIZE says, else 4.
static uint32_t worker_count(void)
{
    const char *text = getenv("UV_THREADPOOL_SIZE");
    int count = text ? atoi(text) : 4;
    return count < 1 ? 1 : count > 1024 ? 1024 : (uint32_t)count;
}

static int start_workers(app *a)
{
    static uv_work_t first;
    if (!foliot__threads_left(worker_count(), WORKER_STACK_BYTES))
        return lacks("the memory for its threads, or that many threads");
    return uv_queue_work(&a->loop, &first, nothing, nothing_done) == 0 ? 0 : lacks("an event loop");
}

// Everything that the loop needs, before anything is written or announced. The handles are started
// later.
static int open_loop(app *a)
{
    int wrong = uv_loop_init(&a->loop);
    a->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (wrong == 0 && a->timer_fd < 0)
        wrong = uv_translate_sys_error(errno);
    if (wrong == 0)
        wrong = uv_poll_init(&a->loop, &a->network, foliot_transport_get_descriptor(a->transport));
    if (wrong == 0)
        wrong = uv_poll_init(&a->loop, &a->timer, a->timer_fd);
    if (wrong == 0)
        wrong = uv_signal_init(&a->loop, &a->interrupt);
    if (wrong == 0)
        wrong = uv_signal_init(&a->loop, &a->terminate);
    if (wrong) {
        fprintf(stderr, "foliot-server: no event loop: %s\n", uv_strerror(wrong));
        return FOLIOT__EXIT_AGAIN;
    }
    a->network.data = a->timer.data = a->interrupt.data = a->terminate.data = a;
    return start_workers(a);
}

static int start_loop(app *a)
{
    foliot__priority_loop();
    int wrong = uv_poll_start(&a->network, UV_READABLE, on_readable);
    if (wrong == 0)
        wrong = uv_poll_start(&a->timer, UV_READABLE, on_readable);
    if (wrong == 0)
        wrong = uv_signal_start(&a->interrupt, on_signal, SIGINT);
    if (wrong == 0)
        wrong = uv_signal_start(&a->terminate, on_signal, SIGTERM);
    if (wrong)
        fprintf(stderr, "foliot-server: no event loop: %s\n", uv_strerror(wrong));
    return wrong ? FOLIOT__EXIT_AGAIN : 0;
}

static void print_counters(const app *a)
{
    const foliot_server_counters *s = foliot_server_get_counters(a->server);
    const foliot_transport_counters *t = foliot_transport_get_counters(a->transport);
#define PRINT_SERVER(name) printf("%-28s %llu\n", #name, (unsigned long long)s->name);
#define PRINT_TRANSPORT(name) printf("%-28s %llu\n", #name, (unsigned long long)t->name);
    FOLIOT_SERVER_COUNTERS(PRINT_SERVER)
    FOLIOT_TRANSPORT_COUNTERS(PRINT_TRANSPORT)
    printf("%-28s %.0f\n", "tick_start_us_p50", foliot_server_get_lateness_us(a->server, 0.5));
    printf("%-28s %.0f\n", "tick_start_us_p99", foliot_server_get_lateness_us(a->server, 0.99));
#undef PRINT_SERVER
#undef PRINT_TRANSPORT
}

static int check_choices(const foliot__arguments *arguments)
{
    if (given.mode && strcmp(given.mode, "lockstep") != 0 && strcmp(given.mode, "snapshot") != 0)
        return foliot__options_wrong(&program, arguments,
                                     "--mode is snapshot or lockstep, not '%s'", given.mode);
    if (!foliot__log_start(given.log_format))
        return foliot__options_wrong(&program, arguments, "--log-format is text or json, not '%s'",
                                     given.log_format);
    uint32_t scenes = arguments->operand_count + given.sessions.count;
    if (given.resumes.count > 0 && arguments->operand_count > 0)
        return foliot__options_wrong(
            &program, arguments,
            "--resume takes one recording and no SCENE: several are --resume %s --resume %s, and "
            "new sessions are named with --session",
            given.resumes.items[0], arguments->operands[0]);
    for (uint32_t i = 1; i < given.resumes.count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(given.resumes.items[i], given.resumes.items[k]) == 0)
                return foliot__options_wrong(&program, arguments, "--resume %s is given twice",
                                             given.resumes.items[i]);
    if (given.resumes.count == 0 && scenes == 0)
        return foliot__options_wrong(&program, arguments, "a SCENE is missing");
    if (given.record && given.no_record)
        return foliot__options_wrong(&program, arguments,
                                     "--record and --no-record exclude each other");
    if (given.record && (scenes > 1 || given.resumes.count > 0))
        return foliot__options_wrong(&program, arguments,
                                     "--record names one file for one new session");
    if (scenes == 0 && (given.integrator || given.tick_hz > 0 || given.no_record))
        return foliot__options_wrong(
            &program, arguments,
            "--resume goes on as it was recorded, and records: --%s is for new sessions",
            given.integrator  ? "integrator"
            : given.no_record ? "no-record"
                              : "tick-hz");
    return 0;
}

static int host(const foliot__arguments *arguments)
{
    static app a;
    int code = check_choices(arguments);
    if (code)
        return code;
    foliot__host_options options = {given.record, given.no_record, given.integrator, given.tick_hz};
    code = open_sessions(&a, arguments, &options);
    if (code == 0)
        code = check_names(&a);
    if (code == 0)
        code = check_lockstep(&a, arguments);
    if (code == 0 && !foliot__descriptors_left(LOOP_DESCRIPTORS + a.hosted_count))
        code = lacks("as many open files as it needs");
    if (code == 0)
        code = open_transport(&a);
    if (code == 0)
        code = open_loop(&a);
    for (uint32_t i = 0; code == 0 && i < a.hosted_count;
         i++) // when nothing else can be refused any more
        code = foliot__hosted_record(&a.hosted[i], &options);
    if (code == 0)
        code = start_server(&a);
    if (code == 0)
        code = start_loop(&a);
    if (code == 0) {
        announce(&a);
        arm(&a);
        uv_run(&a.loop, UV_RUN_DEFAULT);
        uv_loop_close(&a.loop);
        close(a.timer_fd);
        print_counters(&a);
        code = a.failed ? FOLIOT__EXIT_ERROR : 0;
    }
    foliot_server_destroy(a.server);
    for (uint32_t i = 0; i < a.hosted_count; i++) {
        int closed = foliot__hosted_close(&a.hosted[i]);
        code = code ? code : closed;
    }
    foliot_transport_destroy(a.transport);
    foliot__pool_destroy(a.pool);
    foliot__log_stop();
    return foliot__stdout_done("foliot-server", code);
}

static int check(const foliot__arguments *arguments)
{
    int code = 0;
    for (uint32_t i = 0; i < arguments->operand_count; i++) {
        foliot_scene *scene;
        foliot_scene_error error;
        char name[FOLIOT_NAME_BYTES];
        if (foliot_scene_read(arguments->operands[i], &scene, &error) != FOLIOT_STATUS_OK) {
            fprintf(stderr, "%s\n", error.message);
            code = FOLIOT__EXIT_SCENE;
            continue;
        }
        printf("%s: fine: '%s', bodies: %u, forces: %u, constraints: %u, players: %u, substeps: "
               "%u, %s\n",
               arguments->operands[i], foliot__text_clean(name, sizeof name, scene->name),
               scene->body_count, scene->force_count, scene->constraint_count, scene->players.limit,
               scene->substeps, foliot_integrator_get_info(scene->integrator)->name);
        foliot_scene_destroy(scene);
    }
    return foliot__stdout_done("foliot-server", code);
}

int main(int argc, char **argv)
{
    foliot__arguments arguments;
    if (!foliot__standard_open())
        return FOLIOT__EXIT_ERROR;
    int code = foliot__options_start(&program, argc, argv, &arguments);
    if (code >= 0)
        return code;
    signal(SIGPIPE, SIG_IGN);
    return strcmp(arguments.command->name, "check") == 0 ? check(&arguments) : host(&arguments);
}
