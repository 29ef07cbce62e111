// SPDX-License-Identifier: MIT
// hang.c: a fault for tests; no program contains it. It is a shared object that the loader finds
// before libwebsockets and usrsctp. While the variable hang_now is set, or the file exists that
// HANG_FILE names, a call of a function of these libraries never returns.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

extern volatile int hang_now;
volatile int hang_now;

static void hang_if_asked(void)
{
    const char *file = getenv("HANG_FILE");
    volatile unsigned long turns = 0;
    if (hang_now || (file && access(file, F_OK) == 0))
        for (;;)
            turns++;
}

int lws_hdr_total_length(void *wsi, int header);
int lws_hdr_total_length(void *wsi, int header)
{
    static int (*next)(void *, int);
    hang_if_asked();
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "lws_hdr_total_length");
    return next(wsi, header);
}

void usrsctp_conninput(void *address, const void *packet, size_t length, uint8_t ecn);
void usrsctp_conninput(void *address, const void *packet, size_t length, uint8_t ecn)
{
    static void (*next)(void *, const void *, size_t, uint8_t);
    hang_if_asked();
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "usrsctp_conninput");
    next(address, packet, length, ecn);
}
