// SPDX-License-Identifier: MIT
// exit_code.h: the exit statuses of all programs. Scripts rely on these numbers.
#ifndef FOLIOT_BASE_EXIT_CODE_H
#define FOLIOT_BASE_EXIT_CODE_H

typedef enum foliot__exit {
    FOLIOT__EXIT_FINE = 0,
    FOLIOT__EXIT_ERROR = 1,
    FOLIOT__EXIT_USAGE = 2,          // wrong command line
    FOLIOT__EXIT_DIVERGED = 3,       // two runs differ that must be equal
    FOLIOT__EXIT_CORRUPT = 4,        // a recording is damaged
    FOLIOT__EXIT_NOT_VERIFIABLE = 5, // by this build: a newer format, another fingerprint
    FOLIOT__EXIT_UNFINISHED = 6,     // a recording agrees as far as it goes, and has no end (yet)
    FOLIOT__EXIT_AGAIN = 75, // port busy, disk full, server and client: no memory, threads or
                             // files; trying later makes sense
    FOLIOT__EXIT_SCENE =
        78, // bad scene or configuration: a file or folder that an option names, too
} foliot__exit;

// The worse of two results, in the order 4, 3, 5, 1, 6, any other code, 0.
static inline int foliot__exit_worse(int a, int b)
{
    static const int order[] = {FOLIOT__EXIT_CORRUPT, FOLIOT__EXIT_DIVERGED,
                                FOLIOT__EXIT_NOT_VERIFIABLE, FOLIOT__EXIT_ERROR,
                                FOLIOT__EXIT_UNFINISHED};
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return a ? a : b;
}

#endif
