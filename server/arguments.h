// SPDX-License-Identifier: MIT
// arguments.h: the command line of foliot-server: options, defaults, and options that exclude each
// other.
#ifndef FOLIOT_SERVER_ARGUMENTS_H
#define FOLIOT_SERVER_ARGUMENTS_H

#include "base/options.h"
#include "base/text.h"
#include "foliot/foliot.h"

typedef struct foliot__server_choices {
    uint64_t port, ticks, threads;
    const char *http, *admin_token, *admin_socket, *scenes, *bans, *web, *webrtc;
    const char *recordings, *resume_all, *on_recording, *life_cycle;
    bool has_port;
    uint64_t recordings_bytes, drain_seconds;
    foliot__texts binds;
    const char *record, *sign, *integrator, *mode, *impair, *log_format, *rules, *simulation;
    uint64_t workers; // 0: as many as there are processors
    uint64_t copies;  // sessions of SCENE; 0: one
    uint64_t reconnect_seconds;
    const char *config;
    bool print_config;
    const char *key, *password; // files
    const char *user, *used_tokens;
    bool no_sandbox, web_create, verbose;
    bool insecure;
    foliot__texts public_addresses;
    bool no_record, no_force, has_input_delay, allow_modules, strict_rules;
    double tick_hz, snapshot_hz, spectator_delay, recordings_minutes;
    const char *interest_text; // FAR[,NEAR[,KBIT]], as given; NULL: none
    foliot_interest interest;  // read from it
    uint64_t input_delay, spectators, per_address, players_per_address, mtu;
    foliot__texts sessions, resumes, http_hosts;
} foliot__server_choices;

extern foliot__server_choices foliot__given; // the parsed command line
extern const foliot__program foliot__server_program;

// Copies the NAME of NAME=SCENE and returns where SCENE begins. On an error it prints why and
// returns NULL.
const char *foliot__session_name(const foliot__arguments *arguments, const char *text,
                                 char name[FOLIOT_NAME_BYTES]);
// Of new recordings; NULL: the working folder.
const char *foliot__recordings_folder(void);
// Refuse values that are none of an option's words, and options that exclude each other. Return an
// exit code; 0 is success. `takes_orders`: sessions may come from whoever started the server.
int foliot__check_words(const foliot__arguments *arguments);
int foliot__check_sessions(const foliot__arguments *arguments, bool takes_orders);

#endif
