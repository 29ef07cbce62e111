// SPDX-License-Identifier: MIT
// watchdog.h: a program that works for long stretches at a time still ends when it is told to. A
// thread of its own takes SIGINT, SIGTERM and, where it is not ignored, SIGHUP; the program asks
// whether one came, and ends by itself. Where it does not get to asking, because one stretch of
// work goes on, the thread ends the process with a sentence. It also ends it where a stretch takes
// more than it may.
// One a process; not for libraries. Start it before any other thread: those inherit that the
// signals are not theirs.
#ifndef FOLIOT_BASE_WATCHDOG_H
#define FOLIOT_BASE_WATCHDOG_H

#include <stdbool.h>

// Within it a second signal is the first once more: timeout(1) sends to the group as well.
#define FOLIOT__SIGNAL_TWICE_NS 100000000u

typedef struct foliot__watchdog_config {
    const char *program;   // of its sentences
    const char *work;      // what a stretch is, of its sentences: "stepping the scene"
    const char *lost;      // what an end in the middle loses, ditto, or ""
    double grace_seconds;  // that a stretch may go on for after a signal; a second signal ends the
                           // process at once
    double limit_seconds;  // of processor time that a stretch may take, signal or none; 0: any
    void (*abandon)(void); // the process ends now: gives the terminal back, on the watchdog's
                           // thread. NULL: nothing
} foliot__watchdog_config;

// False if there is no thread for it; signals then end the program as they always do.
bool foliot__watchdog_start(const foliot__watchdog_config *config);
bool foliot__watchdog_asked(void); // a signal came: end
// A stretch of work of the thread that started it begins, and ends. They do not nest.
void foliot__watchdog_work(void);
void foliot__watchdog_rest(void);

#endif
