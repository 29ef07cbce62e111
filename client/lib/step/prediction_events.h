// SPDX-License-Identifier: MIT
// prediction_events.h: matches the events of predicted worlds with those of confirmed ones. A host
// is given each event once: when it is predicted, otherwise when it is confirmed. Two events of the
// same kind about the same objects within FOLIOT__EVENT_TICKS are one, since a correction moves
// them. Knows no queue.
#ifndef FOLIOT_CLIENT_LIB_PREDICTION_EVENTS_H
#define FOLIOT_CLIENT_LIB_PREDICTION_EVENTS_H

#include "foliot/client.h"

#define FOLIOT__EVENT_TICKS 8
#define FOLIOT__PREDICTED_EVENTS 512 // that are remembered; the oldest are overwritten

typedef struct foliot__predicted_event {
    foliot_client_event event; // identity 0: none
    bool confirmed;
} foliot__predicted_event;

typedef struct foliot__prediction_events {
    foliot__predicted_event *ring; // NULL: nothing is remembered, and every event is given
    uint32_t next;
    uint64_t identities; // given so far
} foliot__prediction_events;

foliot_status foliot__prediction_events_open(foliot__prediction_events *events);
void foliot__prediction_events_close(foliot__prediction_events *events);
void foliot__prediction_events_clear(foliot__prediction_events *events);
// Whether the host is to be given the event; sets its identity and `predicted`.
bool foliot__prediction_events_predict(foliot__prediction_events *events,
                                       foliot_client_event *event);
bool foliot__prediction_events_confirm(foliot__prediction_events *events,
                                       foliot_client_event *event);
// The confirmed world has reached `tick`: takes the next event due until then; false: none.
bool foliot__prediction_events_cancel(foliot__prediction_events *events, uint64_t tick,
                                      foliot_client_event *event);

#endif
