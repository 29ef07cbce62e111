// SPDX-License-Identifier: MIT
// session.c: the event loop: every player's update, input and picture, until all have left. It
// reads no options from the command line and reports nothing at the end. Invariant: app->left
// counts the players whose poll handle is open.
#include "app.h"
#include "base/clock.h"
#include "view/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/exit_code.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/watchdog.h"
#include "crypto/crypto.h"
#include "crypto/token.h"

#define FRAME_NS 16000000u
#define TIMER_MS 16
#define SLOW_SHARE 0.25     // of a tick: a step that takes more is slow
#define TIMER_IMPAIRED_MS 2 // the impairment delivers due packets at each update
#define LEAVE_NS 500000000u // for the goodbye to arrive

uint64_t foliot__now_ns(void)
{
    return foliot__clock_now_ns();
}

// The cost of steps, as if this player's steps were those of all players in this process.
static uint64_t step_clock(void *user)
{
    const foliot__app *a = user;
    return a->count * foliot__clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

// -- one player

static void leave_session(foliot__app_player *p, uint64_t now)
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

static void send_controls(foliot__app *a, foliot__app_player *p, uint64_t now)
{
    uint64_t ticks =
        (uint64_t)((double)(now - p->began_ns) * 1e-9 * foliot_client_get_pace_hz(p->client));
    if (a->screen) {
        if (!foliot__screen_keys(a->screen, now, p->bot.axes, &p->bot.buttons))
            leave_session(p, now);
        // The keys move a spectator's focus: in a second by its range of sight.
        double near, far, seconds = fmin((double)(now - a->focus_ns) * 1e-9, 0.1);
        a->focus_ns = now;
        if (a->options->spectate && foliot_client_get_interest(p->client, &near, &far)) {
            foliot__focus_move(a->focus, foliot_client_get_scene(p->client), p->bot.axes, far,
                               seconds);
            foliot_client_set_focus(p->client, a->focus);
            foliot__screen_look(a->screen, a->focus);
        }
    } else {
        foliot__bot_think(&p->bot, (double)(now - p->began_ns) * 1e-9, ticks);
    }
    foliot_client_set_input(p->client, p->bot.axes, p->bot.buttons);
    if ((a->options->seconds > 0 && (double)(now - p->began_ns) * 1e-9 >= a->options->seconds) ||
        (a->options->ticks > 0 && ticks >= a->options->ticks))
        leave_session(p, now);
}

// -- events of the session

static void say_event(foliot__app *a, const foliot__app_player *p, uint64_t now,
                      const foliot_client_event *e)
{
    char line[FOLIOT_MESSAGE_BYTES_MAX + FOLIOT_NAME_BYTES + 32];
    const char *text = (const char *)e->bytes, *name = foliot_client_get_name(p->client, e->player);
    if (e->kind == FOLIOT_CLIENT_CHAT)
        snprintf(line, sizeof line, "<%s> %s", name ? name : "somebody", text); // not our line
    else if (e->kind == FOLIOT_CLIENT_MESSAGE)
        snprintf(line, sizeof line, "%s", text);
    else if (e->kind == FOLIOT_CLIENT_ENDED)
        snprintf(line, sizeof line, "the game has ended: %s", text);
    else if (e->kind == FOLIOT_CLIENT_JOINED || e->kind == FOLIOT_CLIENT_LEFT)
        snprintf(line, sizeof line, "%s %s", text,
                 e->kind == FOLIOT_CLIENT_JOINED ? "joined" : "left");
    else
        return;
    if (a->screen) {
        foliot__screen_say(a->screen, now, line);
        return;
    }
    char clean[sizeof line]; // other players and games may send any bytes
    printf("  %s\n", foliot__text_clean(clean, sizeof clean, line));
}

// Also without a display: events must not pile up.
static void handle_events(foliot__app *a, foliot__app_player *p, uint64_t now)
{
    foliot_client_event event;
    const char *line = a->screen ? foliot__screen_line(a->screen) : NULL;
    bool tells = a->screen || (p == &a->players[0] && !a->options->json);
    while (foliot_client_poll(p->client, &event))
        if (tells)
            say_event(a, p, now, &event);
    if (!line || !*line)
        return;
    bool order = line[0] == '/'; // to the game, without the slash
    foliot_status status =
        foliot_client_order(p->client, order ? FOLIOT_ORDER_GAME : FOLIOT_ORDER_CHAT, line + order,
                            strlen(line) - order, NULL);
    if (status != FOLIOT_STATUS_OK)
        foliot__screen_say(a->screen, now,
                           status == FOLIOT_STATUS_FULL ? "not sent: too much at once"
                                                        : "not sent: not possible now");
}

// Prints that the client has changed its kind, and wishes the kind that a key requests.
static void change_kind(foliot__app *a, foliot__app_player *p, uint64_t now)
{
    foliot_peer_kind kind = foliot_client_get_kind(p->client);
    bool steps = kind == FOLIOT_PEER_STEPPER;
    if (a->screen && foliot__screen_kind(a->screen) &&
        foliot_client_set_kind(p->client, steps ? FOLIOT_PEER_WATCHER : FOLIOT_PEER_STEPPER) !=
            FOLIOT_STATUS_OK)
        foliot__screen_say(a->screen, now, "this session can only be stepped");
    bool changed =
        p->playing && p->kind != FOLIOT_PEER_ANY && kind != FOLIOT_PEER_ANY && p->kind != kind;
    p->kind = kind;
    if (!changed)
        return;
    foliot_client_statistics s = foliot_client_get_statistics(p->client);
    char why[96] = "you watch the server's world";
    if (!steps && s.step_us > SLOW_SHARE * 1e6 / foliot_client_get_pace_hz(p->client))
        snprintf(why, sizeof why, "a step takes %.1f ms here: you watch the server's world",
                 1e-3 * s.step_us);
    if (a->screen)
        foliot__screen_say(a->screen, now, steps ? "you step the world yourself" : why);
    else if (p == &a->players[0] && !a->options->json)
        printf("  %s\n", steps ? "stepping from now on" : "watching from now on");
}

static void wait_on_screen(foliot__app *a, foliot__app_player *p, uint64_t now)
{
    double waited = (double)(now - a->started_ns) * 1e-9;
    foliot__screen_wait(a->screen, a->address, waited, a->options->connect_seconds - waited);
    if (!foliot__screen_keys(a->screen, now, p->bot.axes, &p->bot.buttons))
        leave_session(p, now);
}

static void begin_play(foliot__app_player *p, uint64_t now)
{
    if (p->playing)
        return;
    p->playing = true;
    p->began_ns = now;
}

static void show_simulation(foliot__app *a, foliot__app_player *p, uint64_t now)
{
    foliot_simulation_sample sample;
    if (foliot_client_sample_simulation(p->client, now, &sample) != FOLIOT_STATUS_OK) {
        if (a->screen && !p->playing)
            wait_on_screen(a, p, now);
        return;
    }
    begin_play(p, now);
    if (a->trace && p == &a->players[0])
        foliot__trace_simulation(a, p->client, &sample);
    if (!a->screen)
        return;
    foliot__watchdog_begin_work();
    foliot__screen_draw_simulation(a->screen, p->client, &sample, a->address);
    foliot__watchdog_end_work();
}

static void show_world(foliot__app *a, foliot__app_player *p, uint64_t now)
{
    foliot_sample sample;
    if (a->module) {
        show_simulation(a, p, now);
        return;
    }
    if (foliot_client_sample(p->client, now, &sample) != FOLIOT_STATUS_OK) {
        if (a->screen && !p->playing)
            wait_on_screen(a, p, now);
        return;
    }
    begin_play(p, now);
    if (p->bot.kind == FOLIOT__BOT_PLAY &&
        foliot__game_bot_think(&p->game_bot, p->client, &sample,
                               (double)(now - p->began_ns) * 1e-9)) {
        memcpy(p->bot.axes, p->game_bot.axes, sizeof p->bot.axes);
        p->bot.buttons = p->game_bot.buttons;
    }
    if (a->trace && p == &a->players[0])
        foliot__trace_sample(a, p->client, &sample);
    if (!a->screen)
        return;
    foliot__watchdog_begin_work(); // a terminal may block the write for any time
    foliot__screen_draw(a->screen, p->client, &sample, a->address);
    foliot__watchdog_end_work();
}

static void update_client(const foliot__app *a, foliot__app_player *p, uint64_t now)
{
    foliot__watchdog_begin_work(); // in lockstep it steps the server's scene, of any size
    foliot_client_update(p->client, now);
    foliot__watchdog_end_work();
    if (!foliot__fault_update(&p->fault, p->client))
        return;
    p->diverged = true;
    if (a->options->divergence_ends)
        leave_session(p, now);
}

// Only for the first player: many lose the same server. The screen has a separate place for it.
static void report_reconnecting(const foliot__app *a, foliot__app_player *p)
{
    foliot_client_state state = foliot_client_get_state(p->client);
    bool reconnecting = p->playing && state < FOLIOT_CLIENT_PLAYING;
    if (a->screen || p->leaving_ns || p != &a->players[0] || reconnecting == p->reconnecting ||
        state_over(state))
        return;
    p->reconnecting = reconnecting;
    if (reconnecting)
        fprintf(stderr, "foliot-client: the connection to %s was lost; reconnecting ...\n",
                a->address);
    else
        fprintf(stderr, "foliot-client: reconnected to %s\n", a->address);
}

static void update_player(foliot__app *a, foliot__app_player *p, bool frame)
{
    if (p->over)
        return;
    uint64_t now = foliot__now_ns();
    if (p->playing && frame)
        send_controls(a, p, now); // pressed keys are in this frame's picture
    update_client(a, p, now);
    if (frame) {
        show_world(a, p, now);
        handle_events(a, p, now);
        change_kind(a, p, now);
    }
    report_reconnecting(a, p);
    if (a->stopping)
        leave_session(p, now);
    if (state_over(foliot_client_get_state(p->client)) ||
        (p->leaving_ns && now - p->leaving_ns > LEAVE_NS)) {
        p->over = true;
        uv_poll_stop(&p->poll);
        uv_close((uv_handle_t *)&p->poll, NULL);
        if (--a->left > 0)
            return;
        uv_timer_stop(&a->frame);
        uv_close((uv_handle_t *)&a->frame, NULL);
    }
}

// -- all of them

static void on_readable(uv_poll_t *poll, int status, int events)
{
    foliot__app_player *p = poll->data;
    (void)status;
    (void)events;
    if (!p->over)
        update_client(poll->loop->data, p, foliot__now_ns());
}

// Once, for all players. The screen shows the same in its own line.
static void report_waiting(foliot__app *a, uint64_t now)
{
    double limit = a->options->connect_seconds, waited = (double)(now - a->started_ns) * 1e-9;
    if (a->waited || a->screen || waited < FOLIOT__WAITED_SECONDS || limit <= waited)
        return;
    for (uint32_t i = 0; i < a->count; i++) {
        if (foliot_client_get_state(a->players[i].client) > FOLIOT_CLIENT_JOINING)
            continue;
        fprintf(stderr, "foliot-client: no answer from %s yet; giving up in %.0f s\n", a->address,
                limit - waited);
        a->waited = true;
        return;
    }
}

static void on_frame(uv_timer_t *timer)
{
    foliot__app *a = timer->data;
    uint64_t now = foliot__now_ns();
    bool frame = now - a->frame_ns >= FRAME_NS - 1000000u;
    if (frame)
        a->frame_ns = now;
    a->stopping |= foliot__watchdog_stop_requested();
    report_waiting(a, now);
    for (uint32_t i = 0; i < a->count; i++)
        update_player(a, &a->players[i], frame);
}

// -- the secret for joining

static char secret[FOLIOT_TOKEN_TEXT_BYTES]; // longer than any password

static int read_token(foliot__app *app, const char *file)
{
    foliot_token token;
    char why[256], text[FOLIOT_TOKEN_ADDRESS_TEXT_BYTES];
    if (!foliot__secret_read(file, false, secret, sizeof secret, why, sizeof why)) {
        fprintf(stderr, "foliot-client: --token %s: %s\n", file, why);
        return FOLIOT__EXIT_SCENE;
    }
    foliot_status status = foliot_token_read(secret, &token);
    if (status != FOLIOT_STATUS_OK) {
        fprintf(stderr, "foliot-client: --token %s: %s\n", file,
                status == FOLIOT_STATUS_NEWER ? "a token of a later version than this client knows"
                                              : "this is not a complete token");
        return FOLIOT__EXIT_SCENE;
    }
    if (app->host[0])
        return 0;
    if (token.address_count == 0) {
        fprintf(stderr, "foliot-client: --token %s: it names no server: give HOST[:PORT]\n", file);
        return FOLIOT__EXIT_USAGE;
    }
    foliot_token_address_print(&token.addresses[0], text);
    memcpy(app->address, text, sizeof text);
    memcpy(app->host, text, text[0] == '[' ? strcspn(text, "]") + 1 : strcspn(text, ":"));
    app->port = token.addresses[0].port;
    return 0;
}

int foliot__security_read(foliot__app *app)
{
    char why[256];
    const char *file = app->options->password;
    if (app->options->token)
        return read_token(app, app->options->token);
    if (!file ||
        foliot__secret_read(file, true, secret, FOLIOT_PASSWORD_BYTES_MAX + 1, why, sizeof why))
        return 0;
    fprintf(stderr, "foliot-client: --password %s: %s\n", file, why);
    return FOLIOT__EXIT_SCENE;
}

// Clear text goes only to the loopback: nobody can read it there. Every other connection is
// encrypted; with neither token nor password nobody is authenticated.
void foliot__security_apply(const foliot__app *app, foliot_transport_config *config)
{
    const char *host = app->host;
    bool loopback = strncmp(host, "127.", 4) == 0 || strcmp(host, "localhost") == 0 ||
                    strcmp(host, "[localhost]") == 0 || strcmp(host, "[::1]") == 0;
    config->token = config->password = secret;
    config->security = app->options->token                  ? FOLIOT_SECURITY_TOKEN
                       : app->options->password             ? FOLIOT_SECURITY_PASSWORD
                       : app->options->insecure || loopback ? FOLIOT_SECURITY_CLEAR
                                                            : FOLIOT_SECURITY_ANONYMOUS;
}

void foliot__security_forget(void)
{
    foliot__forget(secret, sizeof secret);
}

// -- the start

int foliot__no_loop(int wrong)
{
    fprintf(stderr, "foliot-client: no event loop: %s\n", uv_strerror(wrong));
    return FOLIOT__EXIT_AGAIN;
}

int foliot__player_open(foliot__app *a, uint32_t index, const foliot_impairment *impairment)
{
    foliot__app_player *p = &a->players[index];
    char name[FOLIOT_NAME_BYTES];
    foliot_transport_config wire = foliot_transport_config_default();
    double connect_ms = 1000 * a->options->connect_seconds;
    if (connect_ms > wire.timeout_ms)
        wire.timeout_ms = (uint32_t)connect_ms; // the client decides
    wire.send = wire.receive = *impairment;
    wire.mtu = (uint32_t)a->options->mtu;
    wire.send.seed += 2 * index;
    wire.receive.seed += 2 * index + 1;
    foliot__security_apply(a, &wire);
    if (foliot_transport_create_enet(&wire, foliot__now_ns(), &p->transport) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "foliot-client: no socket\n");
        return FOLIOT__EXIT_AGAIN;
    }
    snprintf(name, sizeof name, a->count > 1 ? "%.50s-%u" : "%.63s",
             a->options->name  ? a->options->name
             : a->options->bot ? "bot"
                               : "player",
             index + 1);
    foliot_client_config config = foliot_client_config_default();
    config.transport = p->transport;
    config.address = a->host;
    config.port = a->port;
    config.session = a->options->session;
    config.name = name;
    config.fingerprint = a->fingerprint;
    config.spectates = a->options->spectate;
    config.force_stepping = a->options->force;
    config.predicts = !a->options->no_predict;
    config.input_delay = (uint32_t)a->options->input_delay;
    config.clock = a->options->predict ? NULL : step_clock;
    config.clock_user = a;
    config.kind = !a->options->kind                       ? FOLIOT_PEER_ANY
                  : strcmp(a->options->kind, "step") == 0 ? FOLIOT_PEER_STEPPER
                                                          : FOLIOT_PEER_WATCHER;
    // People step and predict where that is cheap, so that their keys act at once. Bots keep the
    // session's mode, since they measure it.
    config.steps_if_cheap =
        !a->options->bot && !a->options->kind && !a->options->spectate && !a->options->no_predict;
    config.connect_timeout_ms = connect_ms;
    foliot__fault_plant(&p->fault,
                        index == 0 && !a->module ? a->options->perturb
                                                 : NULL); // the first of several; read before
    config.step_host = &p->fault.host;
    config.simulation = index == 0 && a->faulty ? a->faulty : a->module ? &a->module->kind : NULL;
    foliot_status status = foliot_client_create(&config, foliot__now_ns(), &p->client);
    if (status != FOLIOT_STATUS_OK) {
        fprintf(stderr, "foliot-client: %s: %s\n", a->host,
                status == FOLIOT_STATUS_NOT_FOUND ? "there is no such host"
                                                  : foliot_status_get_text(status));
        return FOLIOT__EXIT_ERROR;
    }
    p->bot.kind = a->options->bot ? foliot__bot_kind_of(a->options->bot) : FOLIOT__BOT_IDLE;
    p->bot.rng = foliot__rng_seeded(impairment->seed + index);
    p->game_bot.rng = foliot__rng_seeded(impairment->seed + index);
    p->bot.script = &a->script;
    int wrong = uv_poll_init(&a->loop, &p->poll, foliot_transport_get_descriptor(p->transport));
    p->poll.data = p;
    if (wrong == 0)
        wrong = uv_poll_start(&p->poll, UV_READABLE, on_readable);
    a->left++;
    return wrong ? foliot__no_loop(wrong) : 0;
}

int foliot__app_start(foliot__app *a)
{
    int wrong = uv_timer_init(&a->loop, &a->frame);
    a->frame.data = a;
    a->loop.data = a;
    a->started_ns = foliot__now_ns();
    uint64_t period = a->options->impair ? TIMER_IMPAIRED_MS : TIMER_MS;
    if (wrong == 0)
        wrong = uv_timer_start(&a->frame, on_frame, 0, period);
    return wrong ? foliot__no_loop(wrong) : 0;
}
