// SPDX-License-Identifier: MIT
// simulation.h: a server and clients in one process, over the transport in memory and a virtual
// clock. What clients show is compared with the server's state at the times that they show.
#ifndef FOLIOT_TESTS_SIMULATION_H
#define FOLIOT_TESTS_SIMULATION_H

#include "bridge.h"
#include "foliot/client.h"
#include "foliot/rules.h"
#include "foliot/server.h"

#define SIMULATION_CLIENTS 8
#define SIMULATION_HISTORY 4096 // ticks
#define SIMULATION_BODIES 12
#define SIMULATION_ERRORS 65536 // kept for the quantiles

typedef struct simulation {
    foliot_hub *hub;
    foliot_scene scene;
    foliot_body_definition bodies[SIMULATION_BODIES];
    foliot_force_definition forces[SIMULATION_BODIES];
    foliot_body_definition prototype; // of a game
    const foliot_rules_kind *rules_kind;
    foliot_rules *rules;
    const char *file; // that it records to; NULL: none
    foliot_recording *recording;
    foliot_recording_rules recorded_rules;
    foliot_scene *resumed_scene;
    foliot_transport *host, *wires[SIMULATION_CLIENTS];
    bool bridged;
    bridge bridge;
    foliot_server *server;
    foliot_client *clients[SIMULATION_CLIENTS];
    unsigned client_count;
    double snapshot_hz; // 0: every tick
    uint64_t now_ns;
    double history[SIMULATION_HISTORY][SIMULATION_BODIES][3]; // position by tick
    double turns[SIMULATION_HISTORY][SIMULATION_BODIES][4];   // orientations
    uint64_t seen_tick;
    // Of the first client: distance of what is shown from what was, metres.
    double error_square, error_max, jump_max;
    double last_error[SIMULATION_BODIES][3];
    bool has_last;
    uint64_t error_count;
    float errors[SIMULATION_ERRORS];
    double turn_square; // of angles between what is shown and what was, degrees
    float turn_errors[SIMULATION_ERRORS];
} simulation;

// Twelve spinning balls on springs of different periods at 60 Hz, up to four players.
simulation *simulation_create(void);
simulation *simulation_create_delayed(double spectator_delay_s);
// The same with a prototype, 64 commands a tick, room for 8 joints, and rules (NULL: none).
simulation *simulation_create_game(const foliot_rules_kind *rules, double spectator_delay_s);
simulation *simulation_create_slow_game(double snapshot_hz); // without rules
simulation *simulation_create_bodiless(void);                // nor bodies of players
// The same, with rules that look back.
simulation *simulation_create_looking_back(const foliot_rules_kind *rules);
// The same as simulation_create_game, recorded to a file.
simulation *simulation_create_recorded_game(const foliot_rules_kind *rules, const char *file);
// The same as simulation_create, of two transports: clients of even numbers reach the first, the
// others the queues that are the second.
simulation *simulation_create_bridged(void);
// The game's host follows it to its next scene, which is the same.
void simulation_follow(simulation *s);
// The server dies, and another goes on with its recording `down_s` later. Clients stay.
void simulation_crash(simulation *s, double down_s);
void simulation_destroy(simulation *s);
// One more client behind `impairment`, both ways. Returns its number.
unsigned simulation_join(simulation *s, const char *impairment, bool spectates);
// Another network for a client from now on.
void simulation_impair(simulation *s, unsigned client, const char *impairment);
// Lets time pass in steps of 1 ms; clients sample every 16 ms.
void simulation_run(simulation *s, double seconds);
double simulation_error_rms(const simulation *s);
double simulation_error_quantile(simulation *s, double share);
double simulation_turn_rms(const simulation *s); // of orientations, degrees
double simulation_turn_quantile(simulation *s, double share);

#endif
