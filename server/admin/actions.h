// SPDX-License-Identifier: MIT
// actions.h: actions of the table that are in hosting.c: sessions that come and go, and recordings;
// and what an unfinished one leaves.
#ifndef FOLIOT_SERVER_ADMIN_ACTIONS_H
#define FOLIOT_SERVER_ADMIN_ACTIONS_H

#include "admin.h"

foliot__outcome foliot__act_create(foliot__call *call);
void foliot__work_create(foliot__call *call);
void foliot__call_discard_hosted(foliot__call *call); // a session that was opened for nothing
void foliot__print_created(const foliot__call *call, foliot__json *json);
foliot__outcome foliot__act_record(foliot__call *call);
void foliot__work_record(foliot__call *call);
foliot__outcome foliot__act_stop_recording(foliot__call *call);
void foliot__work_stop_recording(foliot__call *call);
void foliot__print_recording(const foliot__call *call, foliot__json *json);

#endif
