// SPDX-License-Identifier: MIT
// opponent.h: a program that runs another engine, with which a bench takes turns through pipes
// (tests/bench/opponents/rigid_problem.h has the protocol). One that is missing or ends early has
// no `to` after the first call that it does not answer.
#ifndef FOLIOT_TESTS_OPPONENT_H
#define FOLIOT_TESTS_OPPONENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct opponent {
    pid_t pid;
    FILE *to, *from; // NULL: it does not run
} opponent;

// Starts `program` with one argument. The caller ignores SIGPIPE.
opponent opponent_start(const char *program, const char *argument);
void opponent_stop(opponent *other);
// Steps `ticks` ticks; ms[t]: CPU of each.
void opponent_step(opponent *other, uint32_t ticks, double *ms);
// Reads the state of all its bodies, `count` numbers in all.
bool opponent_look(opponent *other, uint32_t count, double *values);

#endif
