// SPDX-License-Identifier: MIT
// admission.h: who is let in, in which role. kind.c decides a peer's kind, join.c welcomes it.
#ifndef FOLIOT_SERVER_LIB_ADMISSION_H
#define FOLIOT_SERVER_LIB_ADMISSION_H

#include "session.h"

// kind.c
// The kind that a newcomer is given. ANY: it is refused, since it could only step, and computes
// differently.
foliot__kind foliot__kind_of_newcomer(foliot__session *session, foliot__peer *peer,
                                      const foliot__hello_message *hello,
                                      foliot__kind_reason *reason);
foliot_digest foliot__session_fingerprint(foliot__session *session);
// Whether the machinery for peers of that kind exists; else it is created while no step runs.
bool foliot__kind_has_machinery(const foliot__session *session, foliot__kind kind);
foliot_status foliot__kind_make_machinery(foliot__session *session, foliot__kind kind);
void foliot__kind_open(foliot__session *session, foliot__peer *peer, foliot__kind kind);
// A client wishes to be another kind, or is ready for it.
void foliot__kind_receive(foliot__session *session, foliot__peer *peer,
                          const foliot__kind_message *message);
void foliot__kinds_update(foliot__session *session); // no step runs
bool foliot__session_is_watched(const foliot__session *session);

// join.c
void foliot__peer_welcome(foliot_server *server, foliot__peer *peer);
void foliot__peer_welcome_again(foliot_server *server, foliot__peer *peer);
// A step has finished, or nothing is recorded: welcomes peers whose player's token is durable.
void foliot__session_welcome_awaiting(foliot__session *session);

void foliot__server_hello(foliot_server *server, foliot__peer *peer,
                          const foliot__hello_message *hello);

#endif
