// SPDX-License-Identifier: MIT
// arguments.h: the command line of foliot-server: options, defaults, and excluded combinations.
#ifndef FOLIOT_SERVER_ARGUMENTS_H
#define FOLIOT_SERVER_ARGUMENTS_H

#include "base/options.h"
#include "base/text.h"
#include "foliot/foliot.h"

// The comment of each group names the files that use it. Texts stay valid as long as the program.
typedef struct foliot__server_choices {
    struct { // bind.c, browser.c, start.c
        uint64_t port, mtu;
        bool has_port;
        foliot__texts binds, public_addresses;
        const char *impair;
        uint64_t spectators, per_address, players_per_address, reconnect_seconds;
        double snapshot_hz;
    } network;
    struct {                                      // security.c, sandbox.c
        const char *key, *password, *used_tokens; // files
        bool insecure, no_sandbox;
        const char *user;
    } access;
    struct {                          // start.c, host.c, hosting.c
        foliot__texts named, resumes; // named: NAME=SCENE
        uint64_t copies;              // of SCENE; 0: one
        const char *resume_all, *scenes, *integrator, *rules, *simulation;
        uint64_t ticks;
        double tick_hz;
        bool strict_rules, allow_modules;
    } sessions;
    struct { // start.c
        const char *mode;
        uint64_t input_delay;
        bool no_force;
        double spectator_delay;
        const char *interest_text; // FAR[,NEAR[,KBIT]]; NULL: none
        foliot_interest interest;  // read from it by foliot__check_words
    } play;
    struct { // recordings.c, rotation.c
        const char *file, *folder, *sign, *command;
        bool off;
        uint64_t bytes_max;
        double minutes;
    } recording;
    struct {                                // front.c, lobby.c, browser.c, admin
        const char *http, *page, *channels; // [ADDRESS:]PORT
        foliot__texts hosts;
        const char *admin_token, *admin_socket, *bans;
        bool create;
    } web;
    struct {                       // main.c, loop.c, life.c
        uint64_t threads, workers; // workers 0: as many as there are processors
        uint64_t drain_seconds;
        const char *life_cycle, *log_format, *config;
        bool verbose, print_config;
    } process;
} foliot__server_choices;

extern const foliot__program foliot__server_program;

// Reads the command line and the file that --config names. -1: go on; else the exit code.
int foliot__arguments_read(int argc, char **argv, foliot__server_choices *choices,
                           foliot__arguments *arguments);

// Copies the NAME of NAME=SCENE, returns the start of SCENE. On an error it prints, and returns
// NULL.
const char *foliot__session_name(const foliot__arguments *arguments, const char *text,
                                 char name[FOLIOT_NAME_BYTES]);
// The folder of new recordings; NULL: the working folder.
const char *foliot__recordings_folder(const foliot__server_choices *choices);
// Refuse values that are none of an option's words, and options that exclude each other. Return an
// exit code; 0 is success. `takes_orders`: the supervisor may order sessions.
int foliot__check_words(foliot__server_choices *choices, const foliot__arguments *arguments);
int foliot__check_sessions(const foliot__server_choices *choices,
                           const foliot__arguments *arguments, bool takes_orders);

#endif
