// SPDX-License-Identifier: MIT
// priority.h: scheduling priorities of the loop and of steps on one processor. No privilege needed.
#ifndef FOLIOT_SERVER_PRIORITY_H
#define FOLIOT_SERVER_PRIORITY_H

// The calling thread runs seldom and briefly, and should run soon after it is woken.
void foliot__priority_loop(void);
// The calling thread steps worlds: it yields to others. May be called repeatedly.
void foliot__priority_step(void);

#endif
