// SPDX-License-Identifier: MIT
// internal.h: shared by client/lib/shared and client/lib/step. connection.c: the connection, from
// the first attempt to the last. queues.c: orders of the host, and its events. updates.c: the
// session's state apart from poses. view.c: the host's queries. stream.c: snapshots in, inputs out.
// kind.c: whether it steps or watches. join.c: control messages. client.c: create and update. Each
// calls only files before it in this list, and client/lib/step by a table only.
#ifndef FOLIOT_CLIENT_INTERNAL_H
#define FOLIOT_CLIENT_INTERNAL_H

#include "foliot/client.h"

#include "base/bucket.h"
#include "base/pack.h"
#include "../watch/buffer.h"
#include "../step/lockstep.h"
#include "../step/prediction.h"
#include "../step/prediction_view.h"
#include "../watch/playout.h"
#include "../watch/tracks.h"
#include "wire/message.h"
#include "wire/session_state.h"

#define FOLIOT__PLAYER_NAMES 1024
#define FOLIOT__PIECES_KEPT 64
#define FOLIOT__TICK_MAX ((uint64_t)1 << 60) // no clock has reached this
#define FOLIOT__SCENE_BYTES_MAX FOLIOT_SETUP_BYTES_MAX
// Limit of the world that lockstep builds from a scene, since a few bytes may describe a million
// bodies: a free amount, and more for each byte of the scene.
#define FOLIOT__WORLD_BYTES_FREE ((uint64_t)256 << 20)
#define FOLIOT__WORLD_BYTES_A_BYTE 1024
// Units of an update's work (client.c): for closed ticks, a few bytes of which may be thousands of
// inputs; for a state that begins; for a request, which restores a state.
#define FOLIOT__TICKS_WORK (1u << 11)
#define FOLIOT__RESTART_WORK (1u << 14)
#define FOLIOT__REQUEST_WORK (1u << 20)
#define FOLIOT__CHANGES_HELD FOLIOT__INPUTS_A_PACKET // not acknowledged yet

#define FOLIOT__CLIENT_ORDERS_HELD 256 // not acknowledged yet: as many as a server takes at once
#define FOLIOT__CLIENT_EVENTS_HELD 4096
#define FOLIOT__CLIENT_EVENT_BYTES (1u << 20) // of all queued events, with their data
// Updates that wait for the render time. Beyond this number the oldest are shown early.
#define FOLIOT__CLIENT_PARTS_HELD 1024
#define FOLIOT__CLIENT_PART_BYTES (1u << 20)

typedef struct foliot__player_name {
    uint32_t slot;
    bool here;
    bool was_here; // at the last connection
    char name[FOLIOT_NAME_BYTES];
} foliot__player_name;

// Orders until they are safe at the server. The ring is allocated with the first.
typedef struct foliot__client_orders {
    foliot_order *ring;
    uint64_t shown[FOLIOT__CLIENT_ORDERS_HELD]; // when each was given
    uint32_t first, count;
    uint32_t next;         // sequence of the next one
    foliot__bucket bucket; // orders that may still be given
} foliot__client_orders;

typedef struct foliot__client_events {
    foliot_client_event *ring; // each `bytes` is its own; allocated with the first
    uint32_t first, count;
    size_t bytes;
    uint8_t *shown; // the data of the event that was taken last
} foliot__client_events;

// Records of a tick that is not shown yet.
typedef struct foliot__held_part {
    uint64_t tick;
    bool clears, begins; // clears: earlier state is void; begins: of a full update
    size_t length;
    uint8_t *bytes;
} foliot__held_part;

// The session's state apart from poses: as the server sends it, as the world that is stepped here
// has it, and as it was at the render time.
typedef struct foliot__client_updates {
    foliot__session_state served, stepped, shown;
    foliot__held_part *ring; // records that `shown` lacks; allocated with the first
    uint32_t first, count;
    size_t bytes;
    uint64_t served_full; // tick of the last full update of this connection; UINT64_MAX: none
    uint64_t served_tick; // of the last update
    bool clears;          // the next part of a beginning does
    // The source of the host's events: the server, but the steps for the ticks in between.
    uint64_t stepped_from, stepped_to;
    uint64_t served_told, stepped_told; // the last tick with events of either
    foliot__player_name *players;
    foliot__update_writer *writer; // allocated with the first beginning that is written here
    foliot__buffer scratch;
} foliot__client_updates;

typedef enum foliot__reconnect {
    FOLIOT__RECONNECT_NONE,
    FOLIOT__RECONNECT_LOST, // the connection was lost
    FOLIOT__RECONNECT_NEXT, // the session continues with its next scene
} foliot__reconnect;

// connection.c: the current connection or attempt, and the reason why the last one ended.
typedef struct foliot__client_connection {
    foliot_client_state state;
    char reason[FOLIOT__SENTENCE_BYTES]; // of the end
    uint32_t refusal;
    bool try_again; // another attempt may succeed
    bool leaving;
    foliot__reconnect reconnect;
    foliot_peer_id peer; // null: there is none
    uint32_t path;       // of the newest unreliable packet: foliot_transport_event
    uint64_t tried_ns, hello_ns, lost_ns;
    // Refusals that pass: the last one, the first one of a series, and how long to wait.
    uint64_t refused_ns, refused_since_ns, wait_ns;
    uint64_t progress_ns;    // when data arrived that is needed for the first picture
    uint64_t received_ns;    // last packet from the server
    uint64_t round_trip_ns;  // of the handshake
    uint64_t received_bytes; // from all connections together: bounds the memory that a server can
                             // make us hold
} foliot__client_connection;

// client.c: the simulation that can be stepped here, as created.
typedef struct foliot__client_simulation {
    foliot_simulation_kind kind;
    foliot_host host;
    foliot_digest fingerprint; // computed once, since it takes milliseconds
} foliot__client_simulation;

typedef enum foliot__welcome_state {
    FOLIOT__WELCOME_AWAITED, // there was none
    FOLIOT__WELCOME_PAST,    // an earlier connection's: this one's is awaited
    FOLIOT__WELCOME_READ,    // this connection's, not in effect; later copies are ignored
    FOLIOT__WELCOME_PRESENT,
} foliot__welcome_state;

// join.c: the welcome, and data that waits for it.
typedef struct foliot__client_join {
    foliot__welcome_state state;
    uint64_t welcomed_ns; // when the update began that read it
    // The token of a previous client whose player this one continues (zeros: none), and that
    // player's next sequence.
    foliot__token takes_over;
    uint32_t takes_over_sequence;
    // Snapshot pieces that arrived before the welcome, which states their format.
    uint8_t (*pieces)[FOLIOT_PACKET_BYTES_MAX];
    uint16_t piece_lengths[FOLIOT__PIECES_KEPT];
    uint32_t piece_count;
} foliot__client_join;

// join.c: the setup from which the simulation is created.
typedef struct foliot__client_setup {
    // The parts of this connection that have arrived.
    uint8_t *parts;
    uint32_t parts_length, parts_capacity;
    bool complete;
    // The last complete one, of any connection; NULL: none has arrived.
    uint8_t *bytes;
    uint32_t length;
} foliot__client_setup;

// stream.c: the player's controls, and their changes that are not acknowledged yet.
typedef struct foliot__client_controls {
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons;
    bool changed;   // nothing has gone out since
    bool by_ticks;  // new controls go out in lockstep packets
    uint64_t aimed; // the shown tick when they changed last, in 1 / FOLIOT_AIM_PARTS
    foliot__change changes[FOLIOT__CHANGES_HELD];
    uint32_t change_count, next_sequence;
    uint64_t last_meant, least_meant; // ticks: the last that went out; the next is later
} foliot__client_controls;

// stream.c: when packets are sent, and their content apart from the controls.
typedef struct foliot__client_outgoing {
    double offset_ns; // local time minus the time of the tick that inputs sent now are for
    double jitter_slack_ns;
    bool clock_set; // by a jump of `offset_ns`, at `clock_set_us`
    uint32_t clock_set_us;
    uint64_t inputs_ns, lockstep_ns; // when the last packet of either went out
    uint64_t acknowledged;           // the snapshot in the last input packet, or NO_TICK
    bool has_focus;                  // of a spectator in a session with interest
    double focus[3];
} foliot__client_outgoing;

// stream.c: snapshots of this connection: all that arrived, those of ticks up to the last status,
// and the server's count in that status. And totals of the previous connections.
typedef struct foliot__client_loss {
    uint64_t arrived, arrived_counted, counted_tick;
    uint32_t counted;
    uint64_t lost_before, snaps_before, too_large_before;
} foliot__client_loss;

// The first change of controls that no sample has shown yet.
typedef enum foliot__key_state {
    FOLIOT__KEY_NONE,
    FOLIOT__KEY_UNDECIDED, // which tick it is for
    FOLIOT__KEY_DECIDED,
} foliot__key_state;

// view.c: the latency from a change of controls to its picture.
typedef struct foliot__client_latency {
    double delay_sum_ms;
    uint64_t delay_count;
    foliot__key_state key; // since key_ns; decided: shown from key_tick on
    uint64_t key_ns, key_tick, key_count;
    double key_sum_ms;
} foliot__client_latency;

// The source of its pictures, and its traffic.
typedef enum foliot__role {
    FOLIOT__ROLE_NONE,        // no welcome, or nothing to step can be made
    FOLIOT__ROLE_WATCHER,     // snapshots
    FOLIOT__ROLE_CATCHING_UP, // shows snapshots until its own steps are as new
    FOLIOT__ROLE_STEPPER,
    FOLIOT__ROLE_STEPPER_CLOSING, // shows its own steps until snapshots have come
    FOLIOT__ROLE_WATCHER_CLOSING, // shows snapshots, and awaits the missing data of lockstep
    FOLIOT__ROLE_STEPPER_HEALING, // has diverged: awaits snapshots and another state
    FOLIOT__ROLE_WATCHER_HEALING,
    FOLIOT__ROLE_HEALING_IN_PLACE, // awaits another state alone: no world, nothing to watch
} foliot__role;

// Whether it may step here.
typedef enum foliot__stepping {
    FOLIOT__STEPPING_POSSIBLE,
    FOLIOT__STEPPING_IMPOSSIBLE, // whatever is tried
    FOLIOT__STEPPING_GIVEN_UP,   // and states that are sent are not used
} foliot__stepping;

// kind.c: the role, and its pending change.
typedef struct foliot__client_role {
    foliot__role now;
    foliot__stepping stepping;
    foliot__kind given;  // on this connection; ANY: nothing yet
    foliot__kind asked;  // in a hello
    foliot__kind wished; // ANY: nothing
    foliot__kind_reason wish_reason;
    // After a failed attempt it tries again, with growing pauses.
    foliot__kind preferred;
    uint64_t given_ns, given_tick;     // when and as of which tick it was given the other kind
    uint64_t wish_ns;                  // when a wish went out last
    uint64_t retry_ns, retry_after_ns; // not before; and how long after the next attempt
    uint64_t since_ns;                 // when the shown kind changed last
    uint64_t slow_ns, slow_backlog;
} foliot__client_role;

// Prediction: its worlds, clock, picture and events, and measurements. Each of those is in a file
// that knows nothing of the others.
typedef struct foliot__predictor {
    foliot__prediction *worlds; // NULL: this client does not predict here
    foliot__prediction_clock clock;
    foliot__prediction_view view;
    foliot__prediction_events events;
    uint64_t asked_ns; // for early packets
    double step_ns;    // mean of the last steps
    uint32_t steps_timed;
    bool slow;
    uint64_t cancelled;
} foliot__predictor;

// The functions of client/lib/step that a client calls if it steps. A client without this table
// only watches: a program that creates no other clients links no simulation. Each function is
// called only in lockstep, unless its comment differs.
typedef struct foliot__stepper {
    // A client is created: sets `simulation`, or returns an error.
    foliot_status (*configure)(foliot_client *c);
    void (*destroy)(foliot_client *c);      // in any role
    void (*forget_setup)(foliot_client *c); // its bytes are about to be freed; in any role
    // A connection begins, as a stepper; or as a watcher.
    foliot_status (*enter)(foliot_client *c, const foliot__welcome *w);
    void (*close)(foliot_client *c);
    void (*create_simulation)(foliot_client *c); // the setup is complete
    // The server makes it a stepper, whatever it was before; or a watcher.
    void (*catch_up)(foliot_client *c);
    void (*stop)(foliot_client *c, const foliot__kind_message *given);
    void (*update_role)(foliot_client *c);
    void (*receive_packet)(foliot_client *c, const uint8_t *bytes, size_t length);
    void (*receive_message)(foliot_client *c, const foliot__message *message); // in any role
    void (*advance)(foliot_client *c); // steps what is due, and sends
    // When its next tick begins; 0: there is a tick to step; UINT64_MAX: when a packet is due.
    uint64_t (*wake_ns)(const foliot_client *c);
    // The predicted sample. AGAIN: there is none; UNSUPPORTED: no world is stepped. In any role.
    foliot_status (*sample)(foliot_client *c, uint64_t now_ns, foliot_sample *sample);
    double (*shown_max)(const foliot_client *c); // the last tick that is not a guess
    void (*count)(const foliot_client *c, foliot_client_statistics *s); // in any role
} foliot__stepper;

struct foliot_client {
    const foliot__stepper *stepper; // NULL: it only watches
    foliot_client_config config;
    char host[256], session[FOLIOT_NAME_BYTES], name[FOLIOT_NAME_BYTES];
    uint64_t now_ns, began_ns;
    uint64_t work; // of this update (client.c)
    foliot__client_connection connection;
    foliot__client_simulation simulation;
    foliot__client_join join;
    foliot__welcome welcome;
    foliot__snapshot_buffer buffer;  // the server's snapshots
    foliot__snapshot_buffer stepped; // the states that are stepped here
    foliot__tracks *tracks;          // NULL: the session has no interest, whole snapshots come
    foliot__playout playout;
    foliot__client_role role;
    foliot__client_setup setup;
    foliot_scene *scene; // of the setup; NULL: it is another simulation's, or nothing has arrived
    foliot__lockstep_client *lockstep; // NULL: it has never stepped
    foliot__predictor predictor;
    foliot__client_orders orders;
    foliot__client_events events;
    foliot__client_updates updates;
    foliot__client_controls controls;
    foliot__client_outgoing outgoing;
    foliot__client_loss loss;
    double shown_tick; // of the last sample
    foliot__client_latency latency;
    foliot_client_statistics statistics;
};

// client.c
// `stepper` NULL: the client only watches, and the configuration has no simulation.
foliot_status foliot__client_create(const foliot_client_config *config,
                                    const foliot__stepper *stepper, uint64_t now_ns,
                                    foliot_client **client);

static inline bool foliot__client_steps(const foliot_client *c) // shows its own steps
{
    return c->role.now == FOLIOT__ROLE_STEPPER || c->role.now == FOLIOT__ROLE_STEPPER_CLOSING ||
           c->role.now == FOLIOT__ROLE_STEPPER_HEALING ||
           c->role.now == FOLIOT__ROLE_HEALING_IN_PLACE;
}
static inline bool foliot__client_watches(const foliot_client *c) // is sent snapshots
{
    return c->role.now != FOLIOT__ROLE_NONE && c->role.now != FOLIOT__ROLE_STEPPER &&
           c->role.now != FOLIOT__ROLE_HEALING_IN_PLACE;
}
static inline bool foliot__client_in_lockstep(const foliot_client *c) // is sent a state and ticks
{
    return c->role.now != FOLIOT__ROLE_NONE && c->role.now != FOLIOT__ROLE_WATCHER;
}
// Leaves lockstep as soon as it lacks no data of it.
static inline bool foliot__client_is_closing(const foliot_client *c)
{
    return c->role.now == FOLIOT__ROLE_STEPPER_CLOSING ||
           c->role.now == FOLIOT__ROLE_WATCHER_CLOSING;
}

// connection.c
double foliot__client_tick_ns(const foliot_client *c);
foliot_status foliot__connection_open(foliot_client *c);
bool foliot__connection_awaits_play(const foliot_client *c); // nothing was shown yet
bool foliot__connection_is_over(const foliot_client *c);     // refused, closed or lost, for good
void foliot__connection_end(foliot_client *c, foliot_client_state state, const char *reason);
void foliot__connection_lost(foliot_client *c, uint32_t reason); // the transport's reason
void foliot__connection_refused(foliot_client *c, const foliot__refuse *refuse);
void foliot__connection_update(foliot_client *c); // silence, reconnects, hello
void foliot__connection_send_packet(foliot_client *c, foliot_delivery delivery,
                                    const uint8_t *bytes, size_t length);
void foliot__connection_send(foliot_client *c, const foliot__message *message); // reliably
void foliot__connection_send_hello(foliot_client *c);

// join.c
static inline bool foliot__client_welcomed(const foliot_client *c) // by this connection or before
{
    return c->join.state == FOLIOT__WELCOME_PAST || c->join.state == FOLIOT__WELCOME_PRESENT;
}
static inline bool foliot__client_welcomed_here(const foliot_client *c)
{
    return c->join.state >= FOLIOT__WELCOME_READ;
}

// view.c
// The buffer that it shows: its steps, or the server's snapshots.
static inline foliot__snapshot_buffer *foliot__client_buffer(foliot_client *c)
{
    return foliot__client_steps(c) ? &c->stepped : &c->buffer;
}
static inline const foliot__snapshot_buffer *foliot__client_buffer_now(const foliot_client *c)
{
    return foliot__client_steps(c) ? &c->stepped : &c->buffer;
}
void foliot__client_keep_figures(
    foliot_client *client); // adds those of a connection that has ended
// A sample shows that tick: ends the measurement of a change of controls that waited for it.
void foliot__client_count_sample(foliot_client *c, uint64_t now_ns, double tick, bool starved);

// queues.c
// The tick of the last sample, in 1 / FOLIOT_AIM_PARTS of a tick, unless it is a guess; 0: none.
uint64_t foliot__client_shown(const foliot_client *client);
// Whether a tick must not be shown yet.
bool foliot__client_is_ahead(const foliot_client *client, uint64_t tick);
// `bytes` are copied, with a zero behind them.
void foliot__events_add(foliot_client *c, const foliot_client_event *event, const void *bytes,
                        size_t length);
// Another run of the session begins: queued events belong to past ticks.
void foliot__events_release(foliot_client *c);
void foliot__events_free(foliot_client *c);
// A connection of the player begins: the server has the orders up to `here`.
void foliot__orders_resume(foliot_client *c, uint32_t here, bool same_player);
void foliot__orders_acknowledged(foliot_client *c, uint32_t sequence);

// updates.c
void foliot__updates_receive(foliot_client *c, const foliot__update *update);
void foliot__updates_reset(foliot_client *c); // a connection, that knows nothing
void foliot__updates_free(foliot_client *c);
void foliot__updates_given(foliot_client *c); // the server begins to send all that there is
void foliot__updates_show(foliot_client *c);  // the records due at the render time
void foliot__updates_receive_message(foliot_client *c, const foliot__game_message *message);
void foliot__updates_receive_player(foliot_client *c, const foliot__player_message *message);
void foliot__updates_forget_players(foliot_client *c); // a connection sends them all again
// Holds records back until their tick is shown.
void foliot__updates_hold(foliot_client *c, foliot__held_part part, const uint8_t *bytes);
// Part of a full update: from its tick on it replaces everything.
void foliot__updates_hold_beginning(foliot_client *c, uint64_t tick, const uint8_t *bytes,
                                    size_t length);
void foliot__updates_show_all(foliot__client_updates *u);
// Drops entries of later ticks: another source has them.
void foliot__updates_drop_newer(foliot__client_updates *u, uint64_t tick);
void foliot__updates_drop_all(foliot__client_updates *u);
// Whether the events of that tick come from the steps here.
static inline bool foliot__updates_is_stepped(const foliot__client_updates *u, uint64_t tick)
{
    return tick > u->stepped_from && tick <= u->stepped_to;
}
static inline foliot_client_event foliot__event_at(foliot_client_event_kind kind, uint64_t tick)
{
    return (foliot_client_event){
        .kind = kind, .tick = tick, .player = FOLIOT_NO_PLAYER, .slot = FOLIOT_NO_BODY};
}

// kind.c
void foliot__client_change_role(foliot_client *c, foliot__role role); // must be a possible one
foliot_status foliot__kind_enter(foliot_client *c, const foliot__welcome *w); // a connection begins
void foliot__kind_apply(foliot_client *c, const foliot__kind_message *message);
void foliot__kind_update(foliot_client *c);
// The process did not run for that long.
void foliot__kind_paused(foliot_client *c, uint64_t ns);
void foliot__kind_send(foliot_client *c, foliot__kind kind, foliot__kind_reason reason);
void foliot__kind_watch_instead(foliot_client *c, foliot__kind_reason reason); // it cannot step
void foliot__kind_wait_to_try(foliot_client *c); // it could not, and tries again later
void foliot__kind_clear_buffer(foliot_client *c, foliot__snapshot_buffer *buffer, uint64_t tick);

// join.c
void foliot__client_receive_control(foliot_client *c, const uint8_t *bytes, size_t length);

// stream.c
void foliot__stream_receive_piece(foliot_client *c, const uint8_t *bytes, size_t length);
void foliot__stream_read_kept(foliot_client *c); // pieces that arrived before the welcome
void foliot__stream_receive_status(foliot_client *c, const uint8_t *bytes, size_t length);
void foliot__stream_update(foliot_client *c); // sends inputs that are due; in lockstep steps
uint64_t foliot__stream_period_ns(const foliot_client *c);
// When the next input packet is.
uint64_t foliot__stream_inputs_due_ns(const foliot_client *c);
// The picture of a tick is complete: received, or stepped.
void foliot__stream_complete(foliot_client *c, uint64_t tick);
// Links the change of controls that waits for its first frame to that tick.
void foliot__stream_key_decided(foliot_client *c, uint64_t tick);

#endif
