// SPDX-License-Identifier: MIT
// priority.h: who goes first where a processor has both the loop and a step to run. Nothing here
// needs a privilege.
#ifndef FOLIOT_SERVER_PRIORITY_H
#define FOLIOT_SERVER_PRIORITY_H

// The calling thread runs seldom, briefly, and soon after it is woken up.
void foliot__priority_loop(void);
// The calling thread steps worlds: it gives way. May be called again and again.
void foliot__priority_step(void);

#endif
