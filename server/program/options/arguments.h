// SPDX-License-Identifier: MIT
// arguments.h: the command line of foliot-server: options, defaults, and excluded combinations.
#ifndef FOLIOT_SERVER_ARGUMENTS_H
#define FOLIOT_SERVER_ARGUMENTS_H

#include "foliot/transport.h"
#include "base/options.h"
#include "base/text.h"
#include "foliot/foliot.h"

// Each group names the files that use it. Texts stay valid as long as the program.

typedef struct foliot__network_choices { // bind.c, browser.c, start.c
    uint64_t port, mtu;
    bool has_port;
    foliot__texts binds, public_addresses;
    const char *impair;
    uint64_t spectators, per_address, players_per_address, reconnect_seconds;
    double snapshot_hz;
} foliot__network_choices;

typedef struct foliot__access_choices {       // security.c, sandbox.c
    const char *key, *password, *used_tokens; // files
    bool insecure, no_sandbox;
    const char *user;
} foliot__access_choices;

typedef struct foliot__sessions_choices { // start.c, host.c, hosting.c
    foliot__texts named, resumes;         // named: NAME=SCENE
    uint64_t copies;                      // of SCENE; 0: one
    const char *resume_all, *scenes, *integrator, *rules, *simulation;
    uint64_t ticks;
    double tick_hz;
    bool strict_rules, allow_modules;
} foliot__sessions_choices;

typedef struct foliot__play_choices { // start.c
    const char *mode;
    uint64_t input_delay;
    bool no_force;
    double spectator_delay;
    const char *interest_text; // FAR[,NEAR[,KBIT]]; NULL: none
    foliot_interest interest;  // read from it by foliot__check_words
} foliot__play_choices;

typedef struct foliot__recording_choices { // recordings.c, rotation.c
    const char *file, *folder, *sign, *command;
    bool off;
    uint64_t bytes_max;
    double minutes;
} foliot__recording_choices;

typedef struct foliot__web_choices {    // front.c, lobby.c, browser.c, admin
    const char *http, *page, *channels; // [ADDRESS:]PORT
    foliot__texts hosts;
    const char *admin_token, *admin_socket, *bans;
    bool create;
} foliot__web_choices;

typedef struct foliot__process_choices { // main.c, loop.c, life.c
    uint64_t threads, workers;           // workers 0: as many as there are processors
    uint64_t drain_seconds;
    const char *life_cycle, *log_format, *config;
    bool verbose, print_config;
} foliot__process_choices;

typedef struct foliot__server_choices {
    foliot__network_choices network;
    foliot__access_choices access;
    foliot__sessions_choices sessions;
    foliot__play_choices play;
    foliot__recording_choices recording;
    foliot__web_choices web;
    foliot__process_choices process;
} foliot__server_choices;

extern const foliot__program foliot__server_program;

// Reads the command line and the file that --config names. -1: continue; else the exit code.
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

// -- bind.c: the addresses on which the server listens for clients: an IPv4 address, an IPv6
// address, or one of each on the same port.

// Parses the value of --bind. Returns an exit code, with a sentence on stderr.
int foliot__bind_check(const foliot__server_choices *choices, const foliot__arguments *arguments);
// All addresses are on the loopback: clients are on this machine.
bool foliot__bind_is_loopback(void);
uint32_t foliot__bind_count(void); // 2: one address of each family
// The address of --bind that is not on the loopback; otherwise the first.
const char *foliot__bind_widest(void);
// The addresses that tokens may name, with port 0, unless the user sets others; their number.
uint32_t foliot__bind_own_addresses(foliot_token_address *own, uint32_t capacity);
// Opens one transport, or two as one. `config` without its address. An exit code, with a sentence.
int foliot__bind_open(const foliot_transport_config *config, uint64_t now_ns,
                      foliot_transport **transport);
void foliot__bind_announce(uint16_t port);   // "listening on ...", a line each
void foliot__bind_print_host(uint16_t port); // "127.0.0.1:7777", to be given to clients

// -- config.c: --config FILE: a YAML mapping whose keys are the options' names. The command line
// takes precedence over the file, and the file over the defaults.

// If the arguments name a file, *argc and *argv become those of the file and the command line
// together. Returns an exit code, and prints errors with their place.
int foliot__config_read(const foliot__program *program, int *argc, char ***argv);
// The file's `scene`, if the command line names none.
void foliot__config_apply_scene(foliot__arguments *arguments);
// Prints every option of the first command with its value and its source.
void foliot__config_print(const foliot__program *program);

// -- security.c: who may join, as the command line states: by token, by password, or anybody.

// Refuses options that exclude each other, and a server that everybody can reach without an
// explicit option. Returns an exit code; 0 is success.
int foliot__security_check(const foliot__server_choices *choices,
                           const foliot__arguments *arguments);
// Reads the secrets into `config`, which points to them until foliot__security_forget. Returns an
// exit code, with a sentence on stderr.
int foliot__security_read(const foliot__server_choices *choices, foliot_transport_config *config);
// Opens the list of used tokens, for all transports of a server with tokens; without tokens it
// stays NULL. Returns an exit code, with a sentence on stderr.
int foliot__security_open_used(const foliot__server_choices *choices, uint32_t peers_max,
                               foliot_used_tokens **used);
// Adds the keys for which the configuration has no room.
void foliot__security_apply_keys(const foliot__server_choices *choices,
                                 foliot_transport *transport);
void foliot__security_forget(void);
// Reads the file of --key again: FOLIOT_KEYS_MAX keys at most, which the caller wipes. False, with
// a sentence in `problem`.
bool foliot__security_read_again(const foliot__server_choices *choices, uint8_t *keys,
                                 uint32_t *count, char *problem, size_t problem_bytes);
// Prints the consequences for clients, warnings on stderr. `client_options`: those that they need.
const char *foliot__security_client_options(const foliot__server_choices *choices);
void foliot__security_announce(const foliot__server_choices *choices);

#endif
