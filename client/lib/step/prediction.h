// SPDX-License-Identifier: MIT
// prediction.h: the worlds that a stepper shows before their ticks are closed. lockstep.h has the
// confirmed world. The predicted one runs ahead of it: own inputs act in the tick that they are
// sent for, and all other players are guessed to hold their controls. When a guess turns out wrong,
// a shadow starts from the confirmed world, catches up some steps at a time, and takes the
// predicted world's place. Joins, leaves and commands are never guessed. Knows no transport and no
// clock. Invariant: a predicted world without a wrong guess is bit by bit equal to the later
// confirmed one.
#ifndef FOLIOT_CLIENT_LIB_PREDICTION_H
#define FOLIOT_CLIENT_LIB_PREDICTION_H

#include "foliot/simulation.h"
#include "lockstep.h"
#include "wire/lockstep_message.h"

#define FOLIOT__PREDICTED_TICKS_MAX 32         // beyond the confirmed one
#define FOLIOT__PREDICTED_INPUTS 4096          // that a world was stepped with, in these ticks
#define FOLIOT__PREDICTED_BYTES_MAX (1u << 27) // of one world: a client has two more than ever
#define FOLIOT__EARLY_HELD 512                 // inputs of ticks that are not closed
#define FOLIOT__EARLY_A_TICK 4                 // of one player
#define FOLIOT__SHADOW_RESTARTS 2              // then a shadow continues, though it is wrong too

// A world that is stepped with guesses.
typedef struct foliot__line {
    foliot_simulation simulation;
    bool begun;     // it is at a tick of the session
    uint64_t tick;  // the simulation's
    uint64_t wrong; // the first tick that is known to have been guessed wrongly; UINT64_MAX: none
    uint32_t sequences[FOLIOT_PLAYERS_MAX]; // of the last inputs, by player
    foliot__tick_log used;                  // the inputs of its ticks that are not confirmed
} foliot__line;

typedef struct foliot__early_input {
    uint64_t tick;
    foliot_input input;
} foliot__early_input;

// Inputs of ticks that are not closed yet.
typedef struct foliot__early_inputs {
    foliot__early_input held[FOLIOT__EARLY_HELD];
    uint32_t count;
    uint64_t received, dropped; // packets; inputs
} foliot__early_inputs;

#define FOLIOT__COPIES_TIMED 8 // before a copy is called slow

// How long a copy of the confirmed simulation takes: mean of the last ones.
typedef struct foliot__copy_timer {
    uint64_t (*clock)(void *user); // NULL: it is not known
    void *user;
    double ns, ns_max; // longer copies count as ns_max
    uint32_t timed;
} foliot__copy_timer;

typedef struct foliot__prediction {
    foliot_simulation_kind kind; // the confirmed world's; of a world, without the host's stages
    foliot_host host;
    foliot__line lines[2];
    foliot__line *predicted, *shadow;
    enum foliot__prediction_state {
        FOLIOT__PREDICTION_UNMADE,
        FOLIOT__PREDICTION_MADE,   // the simulations exist
        FOLIOT__PREDICTION_FAILED, // they could not be made, copied or shown
    } state;
    uint64_t begins; // of the confirmed world: another number is another beginning
    uint32_t ticks_max, player;
    uint32_t restarts; // of this shadow
    bool unchecked;    // something was learnt since the guesses were compared
    // Own controls, by tick % FOLIOT__OWN_TICKS: valid if the tick is the entry's.
    struct foliot__own_controls {
        uint64_t tick;
        bool changed;
        foliot_input input;
    } own[FOLIOT__OWN_TICKS];
    uint64_t own_end; // ticks before are decided
    foliot__early_inputs early;
    foliot__block block;                           // scratch
    foliot_input inputs[FOLIOT__BLOCK_INPUTS_MAX]; // scratch
    // Called after each step of a line, and after it was copied from the confirmed world; and when
    // the shadow takes the predicted world's place, which then becomes the shadow.
    void (*stepped)(void *user, const foliot__line *line);
    void (*replaced)(void *user);
    void *user;
    uint64_t rollbacks, steps;
    foliot__copy_timer copy;
} foliot__prediction;

foliot_status foliot__prediction_create(foliot__prediction **out);
void foliot__prediction_destroy(foliot__prediction *p);
// Destroys the simulations, after which the setup's bytes may be freed.
void foliot__prediction_forget(foliot__prediction *p);
// Discards the predicted world until it has caught up again.
void foliot__prediction_restart(foliot__prediction *p);

// The own controls up to `tick` are decided: they change with it, or not at all (`controls` NULL).
void foliot__prediction_decide(foliot__prediction *p, uint64_t tick, const foliot_input *controls);
// The confirmed world has made a step.
void foliot__prediction_confirm(foliot__prediction *p, const foliot__lockstep_client *l);
// More closed ticks have come, though they cannot be stepped yet.
void foliot__prediction_learn(foliot__prediction *p);
// Adds an early packet. False: it is not a valid one.
bool foliot__prediction_receive_early(foliot__prediction *p, const foliot__lockstep_client *l,
                                      const uint8_t *bytes, size_t length);
// Steps the predicted world to `target`, and uses the rest of `most` steps for the shadow. Neither
// goes farther beyond the confirmed world than `ticks_max` and an eighth of it: the eighth covers
// moments in which closed ticks are late. Returns the number of steps.
uint32_t foliot__prediction_update(foliot__prediction *p, const foliot__lockstep_client *l,
                                   uint64_t target, uint32_t most);
// NULL: no world can be shown.
const foliot__line *foliot__prediction_shown(const foliot__prediction *p);
// Whether it has no known error.
bool foliot__prediction_holds(const foliot__prediction *p);
// NULL: the simulation is not foliot's world.
const foliot_world *foliot__line_world(const foliot__line *line);

#endif
