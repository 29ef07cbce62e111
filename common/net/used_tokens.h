// SPDX-License-Identifier: MIT
// used_tokens.h: what a server remembers of tokens, whichever of its transports they came to: which
// were used, and what each client holds and opens. Which were used may lie in a file, so that a
// restarted server still knows; what clients hold does not outlast the process.
#ifndef FOLIOT_NET_USED_TOKENS_H
#define FOLIOT_NET_USED_TOKENS_H

#include <pthread.h>

#include "crypto/token.h"
#include "foliot/transport.h"
#include "net/admission.h"

struct foliot_used_tokens {
    pthread_mutex_t lock; // of the table: tokens are shown on other threads, too
    foliot__used_tokens table;
    foliot__admission clients; // by their numbers in tokens; of the transports' thread
    void *block;               // what holds the table
    size_t bytes;
    int fd; // of the file, which is locked; -1: none
};

#endif
