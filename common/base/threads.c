// SPDX-License-Identifier: MIT
// threads.c: starts threads that wait for each other (threads.h).
#include "base/threads.h"

#include <pthread.h>
#include <stdlib.h>

static void *wait_for_all(void *all)
{
    pthread_mutex_lock(all);
    pthread_mutex_unlock(all);
    return NULL;
}

bool foliot__threads_left(uint32_t count, size_t stack_bytes)
{
    pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
    pthread_attr_t attributes;
    pthread_t *threads = calloc(count ? count : 1, sizeof *threads);
    uint32_t started = 0;
    if (!threads || pthread_attr_init(&attributes) != 0) {
        free(threads);
        return false;
    }
    pthread_mutex_lock(&all);
    if (pthread_attr_setstacksize(&attributes, stack_bytes) == 0)
        while (started < count &&
               pthread_create(&threads[started], &attributes, wait_for_all, &all) == 0)
            started++;
    pthread_mutex_unlock(&all);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attributes);
    free(threads);
    return started == count;
}
