// SPDX-License-Identifier: MIT
// main.c: foliot-client: the client library under libuv: as a person at a terminal, as a bot, or as
// many.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <uv.h>

#include "base/canvas.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/json.h"
#include "base/options.h"
#include "base/terminal.h"
#include "base/watchdog.h"
#include "bot.h"
#include "fault.h"
#include "foliot/client.h"
#include "foliot/foliot.h"
#include "screen.h"
#include "sim/selftest/fingerprint.h"

#define FRAME_NS 16000000u
#define TIMER_MS 16
#define TIMER_IMPAIRED_MS 2 // the impairment hands on what is due whenever it is looked at
#define LEAVE_NS 500000000u // for the goodbye to arrive
#define GRACE_SECONDS 0.6   // that steps may go on for when a signal has come
#define STEPS_SECONDS 10.0  // of processor time that one update may take, unless said

static struct {
    const char *session, *name, *bot, *impair, *trace, *perturb, *view;
    double seconds, steps_seconds;
    uint64_t ticks, clients;
    bool json, spectate, force, divergence_ends;
} given = {.session = "", .clients = 1, .steps_seconds = STEPS_SECONDS};

static const foliot__option options[] = {
    {"session", "NAME", FOLIOT__OPTION_TEXT, &given.session, .high = FOLIOT_NAME_BYTES - 1,
     .help = "the server's first one unless said"},
    {"name", "NAME", FOLIOT__OPTION_TEXT, &given.name, .high = FOLIOT_NAME_BYTES - 1,
     .help = "of the player"},
    {"bot", "KIND", FOLIOT__OPTION_TEXT, &given.bot,
     .help = "idle, random, circle, or a file of inputs"},
    {"clients", "N", FOLIOT__OPTION_COUNT, &given.clients, 1, 4000,
     .help = "so many bots in this process"},
    {"seconds", "S", FOLIOT__OPTION_POSITIVE, &given.seconds,
     .help = "leaves after S seconds of play"},
    {"ticks", "N", FOLIOT__OPTION_COUNT, &given.ticks, 1, 0,
     .help = "leaves after N ticks of play"},
    {"impair", "SPEC", FOLIOT__OPTION_TEXT, &given.impair,
     .help = "a bad network, both ways: loss=5%,jitter=0-100ms,..."},
    {"spectate", NULL, FOLIOT__OPTION_FLAG, &given.spectate, .help = "looks on, and plays no part"},
    {"force", NULL, FOLIOT__OPTION_FLAG, &given.force,
     .help = "joins in lockstep though this build computes otherwise than the server's"},
    {"divergence-ends", NULL, FOLIOT__OPTION_FLAG, &given.divergence_ends,
     .help = "in lockstep, leaves once a divergence was found; exit code 3"},
    {"step-limit", "S", FOLIOT__OPTION_POSITIVE, &given.steps_seconds,
     .help = "in lockstep, gives up where the steps of one update take more processor time; 10 "
             "unless said"},
    {"perturb", "TICK[/STAGE]:BODY:FIELD:ULPS", FOLIOT__OPTION_TEXT, &given.perturb,
     .help = "in lockstep, puts a fault in, to see that it is found"},
    {"trace", "FILE", FOLIOT__OPTION_TEXT, &given.trace,
     .help = "one JSON line for every rendered sample"},
    {"view", "SIDE", FOLIOT__OPTION_TEXT, &given.view,
     .help = "top, front, side or corner; what fits the scene unless said"},
    {"json", NULL, FOLIOT__OPTION_FLAG, &given.json,
     .help = "what it saw as JSON, a line a client"},
    {0}};
static const foliot__command commands[] = {
    {"", "HOST[:PORT] [options]", "joins a session",
     "  foliot-client 127.0.0.1\n"
     "  foliot-client game.example:7777 --name ada\n"
     "  foliot-client 127.0.0.1 --bot random --seconds 10 --impair loss=5%,jitter=0-100ms\n",
     options, 1, 1},
    {0}};

static void fingerprint_text(char text[33])
{
    foliot_digest_print(foliot_get_fingerprint(), text);
}

static const foliot__program program = {
    "foliot-client", "joins sessions: live in the terminal, or as bots",
    "  foliot-client 127.0.0.1                   arrows push, Esc leaves\n"
    "  foliot-client 127.0.0.1 --bot random --seconds 10\n",
    commands, fingerprint_text};

typedef struct player {
    foliot_transport *transport;
    foliot_client *client;
    uv_poll_t poll;
    foliot__bot bot;
    bool playing, over, diverged;
    foliot__fault fault;
    uint64_t began_ns, leaving_ns;
    double first_tick;
} player;

typedef struct app {
    uv_loop_t loop;
    uv_timer_t frame;
    player *players;
    uint32_t count, left;
    foliot__screen *screen;
    foliot__input_script script;
    FILE *trace;
    char host[256], address[300];
    uint16_t port;
    bool stopping;
    uint64_t frame_ns;
    foliot_digest fingerprint;
} app;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static const char *body_name(const foliot_client *client, uint32_t slot)
{
    const foliot_scene *scene = foliot_client_get_scene(client);
    const char *name = foliot_client_get_player_name(client, slot);
    if (!name && scene && slot < scene->body_count)
        name = scene->bodies[slot].name;
    return name && *name ? name : NULL;
}

static void trace(app *a, const foliot_client *client, const foliot_sample *sample)
{
    foliot__json json = foliot__json_to(a->trace);
    foliot__json_object(&json, NULL);
    foliot__json_real(&json, "render_tick", sample->render_tick);
    foliot__json_real(&json, "render_time", sample->render_tick * foliot_client_get_dt(client));
    foliot__json_bool(&json, "starved", sample->starved);
    foliot__json_array(&json, "bodies");
    for (uint32_t i = 0; i < sample->count; i++) {
        const foliot_body_state *b = &sample->bodies[i];
        if (!(b->flags & FOLIOT_BODY_ALIVE))
            continue;
        foliot__json_object(&json, NULL);
        foliot__json_count(&json, "slot", i);
        foliot__json_text(&json, "name", body_name(client, i));
        foliot__json_reals(&json, "position", b->position, 3);
        foliot__json_reals(&json, "orientation", b->orientation, 4);
        foliot__json_close(&json);
    }
    foliot__json_close(&json);
    foliot__json_close(&json);
    foliot__json_line(&json);
}

// -- one player

static void leave(player *p, uint64_t now)
{
    if (p->leaving_ns)
        return;
    p->leaving_ns = now;
    foliot_client_leave(p->client, p->leaving_ns);
}

static bool state_over(foliot_client_state state)
{
    return state == FOLIOT_CLIENT_REFUSED || state == FOLIOT_CLIENT_CLOSED ||
           state == FOLIOT_CLIENT_LOST;
}

static void steer(app *a, player *p, uint64_t now)
{
    uint64_t ticks =
        (uint64_t)((double)(now - p->began_ns) * 1e-9 * foliot_client_get_pace_hz(p->client));
    if (a->screen) {
        if (!foliot__screen_keys(a->screen, now, p->bot.axes, &p->bot.buttons))
            leave(p, now);
    } else {
        foliot__bot_think(&p->bot, (double)(now - p->began_ns) * 1e-9, ticks);
    }
    foliot_client_set_input(p->client, p->bot.axes, p->bot.buttons);
    if ((given.seconds > 0 && (double)(now - p->began_ns) * 1e-9 >= given.seconds) ||
        (given.ticks > 0 && ticks >= given.ticks))
        leave(p, now);
}

static void wait_on_screen(app *a, player *p, uint64_t now)
{
    foliot__screen_wait(a->screen, a->address);
    if (!foliot__screen_keys(a->screen, now, p->bot.axes, &p->bot.buttons))
        leave(p, now);
}

static void show(app *a, player *p, uint64_t now)
{
    foliot_sample sample;
    if (foliot_client_sample(p->client, now, &sample) != FOLIOT_STATUS_OK) {
        if (a->screen && !p->playing)
            wait_on_screen(a, p, now);
        return;
    }
    if (!p->playing) {
        p->playing = true;
        p->began_ns = now;
    }
    if (a->trace && p == &a->players[0])
        trace(a, p->client, &sample);
    if (!a->screen)
        return;
    foliot__watchdog_work(); // a terminal may take nothing for as long as it likes
    foliot__screen_draw(a->screen, p->client, &sample, a->address);
    foliot__watchdog_rest();
}

static void finish_player(app *a, player *p)
{
    p->over = true;
    uv_poll_stop(&p->poll);
    uv_close((uv_handle_t *)&p->poll, NULL);
    if (--a->left > 0)
        return;
    uv_timer_stop(&a->frame);
    uv_close((uv_handle_t *)&a->frame, NULL);
}

static void update_client(player *p, uint64_t now)
{
    foliot__watchdog_work(); // in lockstep it steps the server's scene, which may be any
    foliot_client_update(p->client, now);
    foliot__watchdog_rest();
    if (!foliot__fault_look(&p->fault, p->client))
        return;
    p->diverged = true;
    if (given.divergence_ends)
        leave(p, now);
}

static void update(app *a, player *p, bool frame)
{
    if (p->over)
        return;
    uint64_t now = now_ns();
    update_client(p, now);
    if (frame)
        show(a, p, now);
    if (p->playing && frame)
        steer(a, p, now);
    if (a->stopping)
        leave(p, now);
    if (state_over(foliot_client_get_state(p->client)) ||
        (p->leaving_ns && now - p->leaving_ns > LEAVE_NS))
        finish_player(a, p);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    player *p = poll->data;
    (void)status;
    (void)events;
    if (!p->over)
        update_client(p, now_ns());
}

static void on_frame(uv_timer_t *timer)
{
    app *a = timer->data;
    uint64_t now = now_ns();
    bool frame = now - a->frame_ns >= FRAME_NS - 1000000u;
    if (frame)
        a->frame_ns = now;
    a->stopping |= foliot__watchdog_asked();
    for (uint32_t i = 0; i < a->count; i++)
        update(a, &a->players[i], frame);
}

// -- what it saw

static const char *outcome(const player *p)
{
    foliot_client_state state = foliot_client_get_state(p->client);
    return state == FOLIOT_CLIENT_REFUSED ? "refused"
           : state == FOLIOT_CLIENT_LOST  ? "lost"
           : p->playing                   ? "played"
                                          : "left";
}

static void report_json(const player *p)
{
    foliot_client_statistics s = foliot_client_get_statistics(p->client);
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(s.digest, digest);
    foliot__json json = foliot__json_to(stdout);
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "outcome", outcome(p));
    foliot__json_text(&json, "reason", foliot_client_get_reason(p->client));
    foliot__json_text(&json, "scene", foliot_client_get_scene_name(p->client));
    foliot__json_count(&json, "ticks", s.newest_tick);
#define JSON_uint64_t(name) foliot__json_count(&json, #name, s.name);
#define JSON_double(name) foliot__json_real(&json, #name, s.name);
#define JSON(type, name) JSON_##type(name)
    FOLIOT_CLIENT_STATISTICS(JSON)
#undef JSON
#undef JSON_uint64_t
#undef JSON_double
    foliot__json_text(&json, "digest", s.snapshots_received ? digest : NULL);
    foliot__json_close(&json);
    foliot__json_line(&json);
}

static void report_lockstep(const foliot_client_statistics *s, const char *digest)
{
    printf("  lockstep         %llu ticks stepped, %llu compared, %llu divergences, %llu stalls\n",
           (unsigned long long)s->ticks_stepped, (unsigned long long)s->ticks_compared,
           (unsigned long long)s->divergences, (unsigned long long)s->stalls);
    printf("  packets          closed ticks %.1f bytes each (p99 %.0f), ours %.1f (p99 %.0f), "
           "round trip %.1f ms\n",
           s->relay_bytes_mean, s->relay_bytes_p99, s->input_bytes_mean, s->input_bytes_p99,
           s->round_trip_ms);
    printf(
        "  interpolation    %.1f ms behind on average, %llu of %llu samples starved, %llu jumps\n",
        s->delay_mean_ms, (unsigned long long)s->samples_starved, (unsigned long long)s->samples,
        (unsigned long long)s->snaps);
    printf(
        "  inputs           %llu packets, %llu changes late, %llu ticks missing, %llu reconnects\n",
        (unsigned long long)s->inputs_sent, (unsigned long long)s->inputs_late,
        (unsigned long long)s->inputs_missing, (unsigned long long)s->reconnects);
    printf("  last tick        %s\n", digest);
}

static void report_text(const player *p)
{
    foliot_client_statistics s = foliot_client_get_statistics(p->client);
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(s.digest, digest);
    printf("%s%s%s\n", outcome(p), *foliot_client_get_reason(p->client) ? ": " : "",
           foliot_client_get_reason(p->client));
    if (s.snapshots_received == 0)
        return;
    printf("  joined in        %.0f ms, at tick %llu in the end\n", s.join_ms,
           (unsigned long long)s.newest_tick);
    if (foliot_client_get_lockstep(p->client)) {
        report_lockstep(&s, digest);
        return;
    }
    printf("  snapshots        %llu of %llu came, %llu were of use, %.1f bytes each\n",
           (unsigned long long)s.snapshots_received, (unsigned long long)s.snapshots_expected,
           (unsigned long long)s.snapshots_used, s.snapshot_bytes_mean);
    printf("  network          loss %.2f %%, jitter %.1f ms, round trip %.1f ms\n", 100 * s.loss,
           s.jitter_ms, s.round_trip_ms);
    printf(
        "  interpolation    %.1f ms behind on average, %llu of %llu samples starved, %llu jumps\n",
        s.delay_mean_ms, (unsigned long long)s.samples_starved, (unsigned long long)s.samples,
        (unsigned long long)s.snaps);
    printf("  inputs           %llu packets, %llu changes late, %llu reconnects\n",
           (unsigned long long)s.inputs_sent, (unsigned long long)s.inputs_late,
           (unsigned long long)s.reconnects);
    printf("  last full state  %s\n", digest);
}

static bool failed(const player *p)
{
    foliot_client_state state = foliot_client_get_state(p->client);
    return state == FOLIOT_CLIENT_REFUSED || state == FOLIOT_CLIENT_LOST;
}

static int exit_code(const app *a)
{
    int code = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        if (given.divergence_ends && a->players[i].diverged)
            return FOLIOT__EXIT_DIVERGED;
        if (!failed(&a->players[i]))
            continue;
        const foliot_client *client = a->players[i].client;
        int one = foliot_client_get_retryable(client)            ? FOLIOT__EXIT_AGAIN
                  : foliot_client_get_fingerprint_refused(client) ? FOLIOT__EXIT_NOT_VERIFIABLE
                                                             : FOLIOT__EXIT_ERROR;
        code = code == FOLIOT__EXIT_ERROR || (code && one == FOLIOT__EXIT_AGAIN) ? code : one;
    }
    return code;
}

static int close_trace(const app *a)
{
    if (!a->trace)
        return 0;
    bool failed = ferror(a->trace);
    failed = fclose(a->trace) != 0 || failed;
    if (!failed)
        return 0;
    fprintf(stderr, "foliot-client: %s: it could not be written to the end: %s\n", given.trace,
            strerror(errno));
    return FOLIOT__EXIT_AGAIN;
}

// -- from the command line

static bool read_address(app *a, const char *text)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    char *end = NULL;
    long port = colon ? strtol(colon + 1, &end, 10) : FOLIOT_PORT_DEFAULT;
    if (length == 0 || length >= sizeof a->host || (colon && (end == colon + 1 || *end)) ||
        port < 1 || port > 65535)
        return false;
    memcpy(a->host, text, length);
    a->port = (uint16_t)port;
    snprintf(a->address, sizeof a->address, "%s:%ld", a->host, port);
    return true;
}

// libuv ends the process where it gets no descriptors for its signals; what else it lacks it says.
#define LOOP_DESCRIPTORS 6

static int no_loop(int wrong)
{
    fprintf(stderr, "foliot-client: no event loop: %s\n", uv_strerror(wrong));
    return FOLIOT__EXIT_AGAIN;
}

static int open_player(app *a, uint32_t index, const foliot_impairment *impairment)
{
    player *p = &a->players[index];
    char name[FOLIOT_NAME_BYTES];
    foliot_transport_config wire = foliot_transport_config_default();
    wire.send = wire.receive = *impairment;
    wire.send.seed += 2 * index;
    wire.receive.seed += 2 * index + 1;
    if (foliot_transport_create_enet(&wire, now_ns(), &p->transport) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "foliot-client: no socket\n");
        return FOLIOT__EXIT_AGAIN;
    }
    snprintf(name, sizeof name, a->count > 1 ? "%.50s-%u" : "%.63s",
             given.name  ? given.name
             : given.bot ? "bot"
                         : "player",
             index + 1);
    foliot_client_config config = foliot_client_config_default();
    config.transport = p->transport;
    config.address = a->host;
    config.port = a->port;
    config.session = given.session;
    config.name = name;
    config.fingerprint = a->fingerprint;
    config.spectates = given.spectate;
    config.forces = given.force;
    foliot__fault_plant(&p->fault,
                        index == 0 ? given.perturb : NULL); // the first of several; read before
    config.step_host = &p->fault.host;
    foliot_status status = foliot_client_create(&config, now_ns(), &p->client);
    if (status != FOLIOT_STATUS_OK) {
        fprintf(stderr, "foliot-client: %s: %s\n", a->host,
                status == FOLIOT_STATUS_NOT_FOUND ? "there is no such host" : foliot_status_get_text(status));
        return FOLIOT__EXIT_ERROR;
    }
    p->bot.kind = given.bot ? foliot__bot_kind_of(given.bot) : FOLIOT__BOT_IDLE;
    p->bot.rng = foliot__rng_seeded(impairment->seed + index);
    p->bot.script = &a->script;
    int wrong = uv_poll_init(&a->loop, &p->poll, foliot_transport_get_descriptor(p->transport));
    p->poll.data = p;
    if (wrong == 0)
        wrong = uv_poll_start(&p->poll, UV_READABLE, on_readable);
    a->left++;
    return wrong ? no_loop(wrong) : 0;
}

static int prepare(app *a, const foliot__arguments *arguments, foliot_impairment *impairment)
{
    char message[512];
    const char *address = arguments->operands[0];
    if (strchr(address, ':') != strrchr(address, ':'))
        return foliot__options_wrong(&program, arguments,
                                     "'%s': only IPv4 is spoken here, HOST[:PORT]", address);
    if (!read_address(a, address))
        return foliot__options_wrong(&program, arguments, "'%s' is no HOST[:PORT]", address);
    if (given.seconds > 0 && given.ticks > 0)
        return foliot__options_wrong(&program, arguments,
                                     "--seconds and --ticks exclude each other");
    *impairment = (foliot_impairment){.seed = 1};
    if (given.impair &&
        foliot_impairment_parse(given.impair, impairment, message, sizeof message) != FOLIOT_STATUS_OK)
        return foliot__options_wrong(&program, arguments, "--impair: %s", message);
    if (given.bot && foliot__bot_kind_of(given.bot) == FOLIOT__BOT_FILE &&
        foliot__input_script_read(given.bot, &a->script, message, sizeof message) != FOLIOT_STATUS_OK) {
        fprintf(stderr,
                "foliot-client: --bot %s: a bot is idle, random, circle, or a file of inputs: %s\n",
                given.bot, message);
        return FOLIOT__EXIT_ERROR;
    }
    const char *wrong = foliot__fault_plant(&(foliot__fault){0}, given.perturb);
    if (wrong)
        return foliot__options_wrong(&program, arguments, "--perturb %s %s", given.perturb, wrong);
    foliot__view_side side;
    if (given.view && !foliot__view_side_of(given.view, &side))
        return foliot__options_wrong(&program, arguments,
                                     "--view wants top, front, side or corner");
    if (given.trace && !(a->trace = fopen(given.trace, "w"))) {
        fprintf(stderr, "foliot-client: %s: %s\n", given.trace, strerror(errno));
        return FOLIOT__EXIT_ERROR;
    }
    return 0;
}

static int start_loop(app *a)
{
    int wrong = uv_timer_init(&a->loop, &a->frame);
    a->frame.data = a;
    uint64_t period = given.impair ? TIMER_IMPAIRED_MS : TIMER_MS;
    if (wrong == 0)
        wrong = uv_timer_start(&a->frame, on_frame, 0, period);
    return wrong ? no_loop(wrong) : 0;
}

int main(int argc, char **argv)
{
    static app a;
    foliot__arguments arguments;
    foliot_impairment impairment;
    if (!foliot__standard_open())
        return FOLIOT__EXIT_ERROR;
    int code = foliot__options_start(&program, argc, argv, &arguments);
    if (code >= 0)
        return code;
    code = prepare(&a, &arguments, &impairment);
    if (code == 0 && !foliot__descriptors_left(LOOP_DESCRIPTORS))
        code = no_loop(UV_EMFILE);
    int wrong = code == 0 ? uv_loop_init(&a.loop) : 0;
    if (wrong)
        code = no_loop(wrong);
    a.players = calloc(given.clients, sizeof *a.players);
    a.count = (uint32_t)given.clients;
    if (code == 0 && !a.players)
        code = no_loop(UV_ENOMEM);
    a.fingerprint = given.force ? foliot_get_fingerprint() : foliot__fingerprint_base();
    for (uint32_t i = 0; code == 0 && i < a.count; i++)
        code = open_player(&a, i, &impairment);
    if (code == 0)
        code = start_loop(&a);
    if (code)
        return code;
    const foliot__watchdog_config watchdog = {.program = "foliot-client",
                                              .work = "stepping the server's scene",
                                              .lost = "nothing was reported",
                                              .grace_seconds = GRACE_SECONDS,
                                              .limit_seconds = given.steps_seconds,
                                              .abandon = foliot__screen_abandon};
    foliot__watchdog_start(&watchdog);
    if (!given.bot && a.count == 1 && !given.json)
        a.screen = foliot__screen_open(given.view);
    uv_run(&a.loop, UV_RUN_DEFAULT);
    foliot__screen_close(a.screen);
    code = exit_code(&a);
    for (uint32_t i = 0; i < a.count; i++) {
        if (given.json)
            report_json(&a.players[i]);
        else
            report_text(&a.players[i]);
        if (failed(&a.players[i]) && !given.json)
            fprintf(stderr, "foliot-client: %s\n", foliot_client_get_reason(a.players[i].client));
        foliot_client_destroy(a.players[i].client);
        foliot_transport_destroy(a.players[i].transport);
    }
    int traced = close_trace(&a);
    code = code ? code : traced;
    foliot__input_script_free(&a.script);
    uv_loop_close(&a.loop);
    free(a.players);
    return foliot__stdout_done("foliot-client", code);
}
