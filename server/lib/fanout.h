// SPDX-License-Identifier: MIT
// fanout.h: snapshots to watchers.
#ifndef FOLIOT_SERVER_LIB_FANOUT_H
#define FOLIOT_SERVER_LIB_FANOUT_H

#include "session.h"

#define FOLIOT__STATUS_EVERY_NS 100000000u

// fanout.c
foliot_status foliot__fanout_init(foliot__session *session); // no step runs
// Makes the current world the newest snapshot, unless there is one of a recent tick. No step runs.
foliot_status foliot__fanout_refresh(foliot__session *session);
bool foliot__fanout_is_recent(const foliot__session *session);
void foliot__fanout_close(foliot__session *session);
foliot_snapshot *foliot__fanout_next(foliot__session *session, uint64_t tick); // where to capture
// The tick of the newest snapshot that the peer may see.
uint64_t foliot__fanout_shown(const foliot__session *session, const foliot__peer *peer);
// A snapshot was captured; `before` is the tick of the one before it.
void foliot__fanout_captured(foliot__session *session, uint64_t before);
// The peer acknowledged packets of bodies that it is interested in.
void foliot__fanout_receive_partial(foliot__session *session, foliot__peer *peer,
                                    const foliot__partial_acknowledge *packet);
// It has acknowledged a snapshot that it had not before.
void foliot__fanout_acknowledge(const foliot__session *session, foliot__peer *peer, uint64_t tick);
// The snapshot of that tick; NULL if it is not kept any more.
const foliot_snapshot *foliot__fanout_find(const foliot__session *session, uint64_t tick);
void foliot__fanout_broadcast(foliot__session *session);
// A recent complete snapshot: the first baseline of a newcomer.
void foliot__fanout_greet(foliot__session *session, foliot__peer *peer);

#endif
