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

#include "bot.h"
#include "divergence/perturb.h"
#include "foliot/client.h"
#include "foliot/foliot.h"
#include "module/module.h"
#include "screen.h"

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
