// SPDX-License-Identifier: MIT
// hang.c: a fault for tests: as a shared object that is loaded before libwebsockets or usrsctp, and
// is named like one of them, it never comes back from a function of theirs while the file that
// HANG_FILE names is there. No part of any program.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

int lws_hdr_total_length(void *wsi, int header);
int lws_hdr_total_length(void *wsi, int header)
{
    static int (*next)(void *, int);
    const char *file = getenv("HANG_FILE");
    volatile unsigned long turns = 0;
    if (file && access(file, F_OK) == 0)
        for (;;)
            turns++;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "lws_hdr_total_length");
    return next(wsi, header);
}
