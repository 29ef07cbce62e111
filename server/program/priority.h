// SPDX-License-Identifier: MIT
// priority.h: scheduling priorities of the loop and of steps that share a processor. Needs no
// privilege.
#ifndef FOLIOT_SERVER_PRIORITY_H
#define FOLIOT_SERVER_PRIORITY_H

// The calling thread runs seldom, briefly, and soon after it is woken up.
void foliot__priority_loop(void);
// The calling thread steps worlds: it gives way. May be called again and again.
void foliot__priority_step(void);

#endif
