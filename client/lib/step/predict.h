// SPDX-License-Identifier: MIT
// predict.h: prediction as part of a client: the worlds, the clock, the picture and the events of
// it, and what is measured. Each of those is in a file that knows nothing of the others.
#ifndef FOLIOT_CLIENT_LIB_PREDICT_H
#define FOLIOT_CLIENT_LIB_PREDICT_H

#include "prediction.h"
#include "prediction_clock.h"
#include "prediction_events.h"
#include "prediction_view.h"

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

// A connection begins: worlds are predicted anew, if the client asked for it.
foliot_status foliot__predict_begin(foliot_client *c);
void foliot__predict_forget(foliot_client *c); // the setup's bytes are about to be freed
void foliot__predict_end(foliot_client *c);    // not in this session
void foliot__predict_leave(foliot_client *c);  // the client steps no more: takes back its guesses

// Whether the predictor's clock says when own inputs are made.
bool foliot__predict_leads(const foliot_client *c);
// Time passes. Right before inputs are decided.
void foliot__predict_tick(foliot_client *c);
// The tick that inputs made now are for.
uint64_t foliot__predict_input_tick(const foliot_client *c);
uint64_t foliot__predict_wake_ns(const foliot_client *c); // when that is the next tick
void foliot__predict_decided(foliot_client *c, uint64_t tick, const foliot_input *controls);
// How many closed ticks this update may step, at most.
uint32_t foliot__predict_closed_steps(const foliot_client *c);
// Makes the confirmed world's next step, and measures it. False: it is not closed yet.
bool foliot__predict_step(foliot_client *c);
void foliot__predict_update(foliot_client *c, uint32_t closed_steps);
void foliot__predict_receive_relay(foliot_client *c, const uint8_t *bytes, size_t length);
void foliot__predict_receive_early(foliot_client *c, const uint8_t *bytes, size_t length);
// False: nothing predicted is to be shown.
bool foliot__predict_sample(foliot_client *c, uint64_t now_ns, foliot_sample *sample);
void foliot__predict_count(const foliot_client *c, foliot_client_statistics *s);

#endif
