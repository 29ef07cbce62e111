// SPDX-License-Identifier: MIT
// internal.h: what the files of the client library share. connection.c: the connection, from the
// first attempt to the last. view.c: what a host asks for. stream.c: snapshots in, inputs out.
// join.c: control messages. client.c: create and update. Each calls only files before it in this
// list.
#ifndef FOLIOT_CLIENT_INTERNAL_H
#define FOLIOT_CLIENT_INTERNAL_H

#include "foliot/client.h"

#include "buffer.h"
#include "lockstep.h"
#include "playout.h"
#include "wire/message.h"

#define FOLIOT__PLAYER_NAMES 1024
#define FOLIOT__PIECES_KEPT 64
#define FOLIOT__SCENE_BYTES_MAX FOLIOT_SETUP_BYTES_MAX
// Of the world that lockstep makes of a scene: some bytes may ask for room for a million bodies. So
// much is free, then so many bytes for each of the scene's.
#define FOLIOT__WORLD_BYTES_FREE ((uint64_t)256 << 20)
#define FOLIOT__WORLD_BYTES_A_BYTE 1024
// Of an update: closed ticks, some bytes of which may be thousands of inputs; a state that begins;
// a question, for which a state is restored.
#define FOLIOT__TICKS_WORK (1u << 11)
#define FOLIOT__RESTART_WORK (1u << 14)
#define FOLIOT__QUESTION_WORK (1u << 20)
#define FOLIOT__CHANGES_HELD FOLIOT__INPUTS_A_PACKET // not yet acknowledged

typedef struct foliot__player_name {
    uint32_t slot;
    bool here;
    char name[FOLIOT_NAME_BYTES];
} foliot__player_name;

struct foliot_client {
    foliot_client_config config;
    char host[256], session[FOLIOT_NAME_BYTES], name[FOLIOT_NAME_BYTES];
    foliot_client_state state;
    char reason[FOLIOT__SENTENCE_BYTES];
    bool try_again, leaving;
    uint32_t refusal;
    foliot_peer_id peer;
    uint64_t now_ns, began_ns, lost_ns, tried_ns;
    uint64_t heard_ns;    // anything from the server
    uint64_t bytes_heard; // from servers, all connections together: what they may make us hold
                          // grows with it
    uint64_t work;        // of this update, see client.c
    bool reconnecting, welcomed;
    bool welcomed_here; // by this connection: later copies of the welcome are ignored
    uint64_t hello_ns;
    // Pieces that overtook the welcome, which says how to read them.
    uint8_t (*kept)[FOLIOT_PACKET_BYTES_MAX];
    uint16_t kept_lengths[FOLIOT__PIECES_KEPT];
    uint32_t kept_count;
    foliot_digest fingerprint; // ours: it takes milliseconds, so once
    foliot_simulation_kind kind;
    foliot_host step_host;
    foliot__welcome welcome;
    foliot__snapshot_buffer buffer;
    foliot__playout playout;
    // The scene, or lockstep's setup, of this connection: as much as has come, and room that grows
    // with it.
    uint8_t *scene_bytes;
    uint32_t scene_have, scene_capacity;
    bool scene_done;
    // The last whole one, of whichever connection, and what it says; `scene` NULL: it is no scene,
    // or there is none. What is stepped here was made of it.
    uint8_t *setup;
    uint32_t setup_bytes;
    foliot_scene *scene;
    foliot__lockstep_client *lockstep; // NULL: the session is none of lockstep
    foliot__player_name *players;
    // Inputs. `input_offset_ns`: local time less the time of the tick that inputs made now are for.
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons;
    bool changed;
    foliot__change changes[FOLIOT__CHANGES_HELD];
    uint32_t change_count, next_sequence;
    double input_offset_ns, jitter_slack_ns;
    bool clock_set; // at once and by much, when `clock_set_us` was
    uint32_t clock_set_us;
    uint64_t input_sent_ns;
    uint64_t first_snapshot; // of this connection
    uint64_t expected_before, snaps_before,
        too_large_before; // of the connections before it: snapshots expected, snaps ...
    double delay_sum;
    uint64_t delay_count;
    double shown_tick; // of the last sample
    foliot_client_statistics statistics;
};

// connection.c
double foliot__client_tick_ns(const foliot_client *c);
foliot_status foliot__connection_open(foliot_client *c);
bool foliot__connection_is_over(const foliot_client *c); // refused, closed or lost, for good
void foliot__connection_end(foliot_client *c, foliot_client_state state, const char *reason);
void foliot__connection_lost(foliot_client *c, uint32_t reason); // the transport's reason
void foliot__connection_update(foliot_client *c);                // silence, reconnects, hello
void foliot__connection_send(foliot_client *c, const foliot__message *message); // reliably
void foliot__connection_send_hello(foliot_client *c);
// The answer to a question of the divergence search; SIZE_MAX: there is none yet.
void foliot__connection_send_answer(foliot_client *c, const uint8_t *bytes, size_t length);

// view.c
void foliot__client_keep_figures(foliot_client *client); // of a connection that is over

// join.c
void foliot__client_take_control(foliot_client *c, const uint8_t *bytes, size_t length);

// stream.c
void foliot__stream_take_piece(foliot_client *c, const uint8_t *bytes, size_t length);
void foliot__stream_read_kept(foliot_client *c); // pieces that overtook the welcome
void foliot__stream_take_status(foliot_client *c, const uint8_t *bytes, size_t length);
void foliot__stream_update(foliot_client *c); // inputs that are due, and steps
uint64_t foliot__stream_period_ns(const foliot_client *c);

#endif
