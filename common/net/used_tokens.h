// SPDX-License-Identifier: MIT
// used_tokens.h: a server's memory of tokens, for all of its transports: the used tokens, and the
// connections that each client holds and opens. The used tokens may be stored in a file, so that a
// restarted server still knows them; the counts of clients do not outlast the process.
#ifndef FOLIOT_NET_USED_TOKENS_H
#define FOLIOT_NET_USED_TOKENS_H

#include <pthread.h>

#include "crypto/token.h"
#include "foliot/transport.h"
#include "net/admission.h"

#define FOLIOT__SHOWN_MAX FOLIOT_PEERS_MAX

typedef struct foliot__shown { // a connected peer of another network than the transport's
    uint64_t serial;           // 0: unused
    uint64_t client;
    uint8_t nonce[FOLIOT__TOKEN_NONCE_BYTES];
} foliot__shown;

struct foliot_used_tokens {
    pthread_mutex_t lock; // of all of it: tokens are shown on other threads, too
    foliot__used_tokens table;
    foliot__admission clients;         // by their numbers in tokens
    foliot__shown *shown;              // FOLIOT__SHOWN_MAX
    uint64_t shown_serial, shown_over; // over: refused for what their clients had
    void *block;                       // what holds the table
    size_t bytes;
    int fd; // of the file, which is locked; -1: none
};

// With the lock held. A token that was shown, and lets in: it counts among what its client holds,
// once. False: the client has all that it may. *serial 0: it has no client, and is not counted.
bool foliot__used_tokens_count_shown(foliot_used_tokens *used, const uint8_t *nonce,
                                     uint64_t client, uint64_t now_ns, uint64_t *serial);
void foliot__used_tokens_end_shown(foliot_used_tokens *used, uint64_t serial);

#endif
