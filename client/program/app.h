// SPDX-License-Identifier: MIT
// app.h: shared by the files of foliot-client: the options, and the players of one process. main.c:
// the command line. session.c: the event loop, one player's update, its messages, and the secret
// for joining. report.c: divergences, the trace, and the statistics at the end. Each calls only
// files after it in this list.
#ifndef FOLIOT_CLIENT_APP_H
#define FOLIOT_CLIENT_APP_H

#include <stdbool.h>
#include <stdio.h>
#include <uv.h>

#include "base/rng.h"
#include "divergence/perturb.h"
#include "foliot/client.h"
#include "foliot/command.h"
#include "foliot/foliot.h"
#include "module/module.h"
#include "simulation/input_script.h"

// -- bot.c

// Bots: idle, random, circle, inputs from a file, or one that plays the games of games/: it sees
// what the screen would show, and does what a player could do. Time is an argument.

typedef enum foliot__bot_kind {
    FOLIOT__BOT_IDLE,
    FOLIOT__BOT_RANDOM,
    FOLIOT__BOT_CIRCLE,
    FOLIOT__BOT_PLAY, // foliot__game_bot_think sets its controls
    FOLIOT__BOT_FILE
} foliot__bot_kind;

typedef struct foliot__bot {
    foliot__bot_kind kind;
    foliot__rng rng;
    double next;                        // random: time of the next change, seconds
    const foliot__input_script *script; // file: of its player 0, in ticks of play
    uint32_t at;
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons;
} foliot__bot;

// Kind by name; anything else is a file.
foliot__bot_kind foliot__bot_kind_of(const char *name);
// Sets its controls at `seconds` (`tick`) after it began to play.
void foliot__bot_think(foliot__bot *bot, double seconds, uint64_t tick);

typedef struct foliot__game_bot {
    foliot__rng rng;
    double next; // second of play at which it looks round again
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons;
} foliot__game_bot;

// Looks at the sample `seconds` after it began to play, sets its controls, and gives orders. False:
// it does not know the game, which it recognises by the scene's name.
bool foliot__game_bot_think(foliot__game_bot *bot, foliot_client *client,
                            const foliot_sample *sample, double seconds);

// -- screen.c

// Draws the world live in a terminal, and reads the keyboard.

typedef struct foliot__screen foliot__screen;

// Takes over the terminal (raw, alternate screen) until closed. NULL if there is none. `side`: the
// direction of the view (foliot__view_side_of); NULL: one that fits the scene.
// `module`: of a simulation that is not a world; NULL.
foliot__screen *foliot__screen_open(const char *side, const foliot__module *module);
void foliot__screen_close(foliot__screen *screen);
// Restores the terminal and nothing else, from any thread: for the end of the process.
void foliot__screen_abandon(void);
#define FOLIOT__WAITED_SECONDS 3 // without an answer, until that is shown
// While there is nothing to draw: shows the server and the time that is left.
void foliot__screen_wait(foliot__screen *screen, const char *server, double waited_seconds,
                         double left_seconds);
void foliot__screen_draw(foliot__screen *screen, const foliot_client *client,
                         const foliot_sample *sample, const char *server);
// Sets the focus of a spectator in a session with interest: its circle is drawn around it.
void foliot__screen_look(foliot__screen *screen, const double focus[3]);
// Draws the circle around a player's own body too.
void foliot__screen_show_interest(foliot__screen *screen);
// Draws the newest state by the module.
void foliot__screen_draw_simulation(foliot__screen *screen, const foliot_client *client,
                                    const foliot_simulation_sample *sample, const char *server);
// Texts of the session: chat, messages, joins and leaves. Shown for a while, the newest last.
void foliot__screen_say(foliot__screen *screen, uint64_t now_ns, const char *text);
// The line that was entered since the last call, "" if it is empty; NULL: none was.
const char *foliot__screen_line(foliot__screen *screen);
// Whether the key to step or to watch was pressed since the last call.
bool foliot__screen_kind(foliot__screen *screen);
// Reads keys. Enter opens a line to chat, Enter again sends it, Esc gives it up. Otherwise arrows
// or WASD push, R and F up and down, Q and E turn, space and 1..9 are buttons, V changes the view
// (from above, the front, the side, a corner), K the kind (foliot__screen_kind), Esc or X leaves
// (false). Terminals report presses only, so an axis is held for KEY_HOLD_NS after the last one.
bool foliot__screen_keys(foliot__screen *screen, uint64_t now_ns, int8_t axes[FOLIOT_AXIS_COUNT],
                         uint16_t *buttons);

// -- the program

typedef struct foliot__client_options {
    const char *session, *name, *bot, *impair, *trace, *perturb, *view, *simulation;
    double seconds, steps_seconds, connect_seconds;
    uint64_t ticks, clients, input_delay, mtu;
    bool json, spectate, interest, force, divergence_ends, predict, no_predict;
    const char *kind;
    const char *token, *password; // files
    bool insecure;
} foliot__client_options;

// Divergences of a lockstep client, and a fault that the user plants, to test that it is found.
#define FOLIOT__FAULT_FILES_MAX 16 // written by one run

typedef struct foliot__fault {
    bool planted;
    foliot__perturb_request request;
    foliot_perturbation fault; // its body is found by name once the scene has arrived
    foliot__perturber perturber;
    foliot_host host; // for the steps
    unsigned files;
    uint64_t reported; // divergences so far; beyond the files they are reported at counts of 100,
                       // 1,000, ...
} foliot__fault;

typedef struct foliot__app_player {
    foliot_transport *transport;
    foliot_client *client;
    uv_poll_t poll;
    foliot__bot bot;
    foliot__game_bot game_bot;
    bool playing, over, diverged, reconnecting;
    foliot_peer_kind kind; // as last reported
    foliot__fault fault;
    uint64_t began_ns, leaving_ns;
} foliot__app_player;

typedef struct foliot__app {
    const foliot__client_options *options;
    uv_loop_t loop;
    uv_timer_t frame;
    foliot__app_player *players;
    uint32_t count, left;
    foliot__screen *screen;
    foliot__input_script script;
    FILE *trace;
    char host[256], address[300];
    uint16_t port;
    bool stopping, waited; // the missing answer was reported
    uint64_t started_ns, frame_ns;
    double focus[3]; // of a spectator, where the session has interest
    uint64_t focus_ns;
    foliot_digest fingerprint;
    const foliot__module *module; // NULL: worlds
    const foliot_simulation_kind
        *faulty; // the first client's, with the fault of --perturb; or NULL
} foliot__app;

// -- session.c -- All return 0 or an exit code, with a sentence on stderr.
// Reads the secret that the options name. Without a HOST the token states the address. Returns an
// exit code, with a sentence on stderr.
int foliot__security_read(foliot__app *app);
// Connects to app->host. The configuration points to the secret until foliot__security_forget.
void foliot__security_apply(const foliot__app *app, foliot_transport_config *config);
void foliot__security_forget(void);
uint64_t foliot__now_ns(void);
int foliot__no_loop(int wrong); // reports libuv's error
int foliot__player_open(foliot__app *app, uint32_t index, const foliot_impairment *impairment);
int foliot__app_start(foliot__app *app); // the timer: uv_run may follow

// -- report.c
// Plants the fault that `text` describes (as foliot-replay's --perturb), or none if it is NULL.
// Returns NULL, or the error in the text.
const char *foliot__fault_plant(foliot__fault *fault, const char *text);
// To be called after every update: finds the body and reports a divergence. True if there was one.
bool foliot__fault_update(foliot__fault *fault, foliot_client *client);
void foliot__report(const foliot__app *app); // on stdout; why a client failed, on stderr
void foliot__trace_sample(foliot__app *app, const foliot_client *client,
                          const foliot_sample *sample);
void foliot__trace_simulation(foliot__app *app, const foliot_client *client,
                              const foliot_simulation_sample *sample);
int foliot__trace_close(const foliot__app *app);
int foliot__app_exit_code(const foliot__app *app);

#endif
