// SPDX-License-Identifier: MIT
// stepper.h: shared by the files that make a client a stepper. stepped.c: events and records of
// steps. predict.c: predicted worlds. catch_up.c: how a client becomes a stepper and a watcher.
// stepper.c: the table that the rest of the client calls. Each calls only files before it in this
// list, and client/lib/shared.
#ifndef FOLIOT_CLIENT_LIB_STEPPER_H
#define FOLIOT_CLIENT_LIB_STEPPER_H

#include "../shared/internal.h"

// stepped.c
void foliot__stepped_state_begun(foliot_client *c); // a state has come, to be stepped
void foliot__stepped_update(foliot_client *c);      // what the last step did
void foliot__stepped_predict(foliot_client *c, const foliot_world *world); // or a predicted one
void foliot__stepped_show(foliot_client *c);      // the client shows its own steps from now on
void foliot__stepped_hand_over(foliot_client *c); // or the server's snapshots

// predict.c
// A connection begins: worlds are predicted again, if the client asked for it.
foliot_status foliot__predict_begin(foliot_client *c);
void foliot__predict_forget(foliot_client *c); // the setup's bytes are about to be freed
void foliot__predict_end(foliot_client *c);    // not in this session
void foliot__predict_leave(foliot_client *c);  // the client steps no more: takes back its guesses

// Whether the predictor's clock decides when own inputs are made.
bool foliot__predict_leads(const foliot_client *c);
// Advances the time, right before inputs are decided.
void foliot__predict_tick(foliot_client *c);
// The tick that inputs made now are for.
uint64_t foliot__predict_input_tick(const foliot_client *c);
uint64_t foliot__predict_wake_ns(const foliot_client *c); // when that is the next tick
void foliot__predict_decided(foliot_client *c, uint64_t tick, const foliot_input *controls);
// The most closed ticks that this update may step.
uint32_t foliot__predict_closed_steps(const foliot_client *c);
// Makes the confirmed world's next step, and measures it. False: the tick is not closed yet.
bool foliot__predict_step(foliot_client *c);
void foliot__predict_update(foliot_client *c, uint32_t closed_steps);
void foliot__predict_receive_relay(foliot_client *c, const uint8_t *bytes, size_t length);
void foliot__predict_receive_early(foliot_client *c, const uint8_t *bytes, size_t length);
// False: there is no prediction to show.
bool foliot__predict_sample(foliot_client *c, uint64_t now_ns, foliot_sample *sample);
void foliot__predict_count(const foliot_client *c, foliot_client_statistics *s);

// catch_up.c: see foliot__stepper
foliot_status foliot__catch_up_enter(foliot_client *c, const foliot__welcome *w);
void foliot__catch_up_close(foliot_client *c);
void foliot__catch_up_create_simulation(foliot_client *c);
void foliot__catch_up_begin(foliot_client *c);
void foliot__catch_up_stop(foliot_client *c, const foliot__kind_message *given);
void foliot__catch_up_update(foliot_client *c);
// The server's state has arrived: earlier steps are void.
void foliot__catch_up_state_begun(foliot_client *c);

// stepper.c
// Adds the state of a world that is stepped here. False without memory, or if the tick is present.
bool foliot__buffer_put(foliot__snapshot_buffer *buffer, const foliot_world *world);

#endif
