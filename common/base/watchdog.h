// SPDX-License-Identifier: MIT
// watchdog.h: ends a program on a signal even while it computes. A thread receives SIGINT, SIGTERM
// and, unless it is ignored, SIGHUP. The program polls for them and ends by itself. If it does not
// poll in time, because it is inside one unit of work, the thread ends the process with a sentence.
// It also limits the processor time of one unit of work. One per process; not for libraries. Start
// it before any other thread, which inherits the signal mask.
#ifndef FOLIOT_BASE_WATCHDOG_H
#define FOLIOT_BASE_WATCHDOG_H

#include <stdbool.h>

// A second signal within this time counts as the first: timeout(1) signals the group as well.
#define FOLIOT__SIGNAL_TWICE_NS 100000000u

typedef struct foliot__watchdog_config {
    const char *program;   // its name, for the sentences
    const char *work;      // name of a unit of work: "stepping the scene"
    const char *lost;      // data lost by an end in the middle of it, or ""
    double grace_seconds;  // of processor time for the unit of work to end after a signal, within
                           // 5 s more; a second signal ends the process at once
    double limit_seconds;  // of processor time for one unit of work; 0: no limit
    void (*abandon)(void); // called on the watchdog's thread before the process ends, to restore
                           // the terminal; may be
    // NULL
} foliot__watchdog_config;

// False if no thread can be started; signals then have their default effect.
bool foliot__watchdog_start(const foliot__watchdog_config *config);
bool foliot__watchdog_stop_requested(void); // a signal arrived: the program should end
// Begin and end of a unit of work, on the thread that started the watchdog. They do not nest.
void foliot__watchdog_begin_work(void);
void foliot__watchdog_end_work(void);

#endif
