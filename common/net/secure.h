// SPDX-License-Identifier: MIT
// secure.h: the keys of a transport and of its peers, the handshake, and datagrams sealed with the
// keys (docs/reference/protocol.md, section 1). All secrets lie in one block of memory that is
// excluded from core dumps and wiped. It knows nothing of sockets and of ENet; the owner maps slots
// to peers.
#ifndef FOLIOT_NET_SECURE_H
#define FOLIOT_NET_SECURE_H

#include <pthread.h>

#include "crypto/sealed.h"
#include "crypto/token.h"
#include "foliot/transport.h"
#include "net/admission.h"

// -- used tokens

// A server's memory of tokens, for all of its transports: the used tokens, and the connections that
// each client holds and opens. The used tokens may be stored in a file, so that a restarted server
// still knows them; the counts of clients do not outlast the process.

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

// First bytes of sealed datagrams. None of ENet's begins so: it would be compressed.
#define FOLIOT__SEALED_RAW 0x68     // packets, as in a raw datagram, without its head
#define FOLIOT__SEALED_ENET 0x69    // a datagram of ENet's
#define FOLIOT__SEALED_CONTROL 0x6a // a challenge, or the answer to it
#define FOLIOT__SEALED_BYTES_MAX 4096

#define FOLIOT__CONTROL_CHALLENGE 1
#define FOLIOT__CONTROL_ANSWER 2
#define FOLIOT__CONTROL_BYTES 9 // what it is, and the challenge

// Datagrams before a connection that has keys.
#define FOLIOT__SECURE_QUESTION_MARK "foliot?k" // connect id, zeros: longer than the answer
#define FOLIOT__SECURE_QUESTION_BYTES 64
#define FOLIOT__SECURE_ANSWER_MARK "foliot!k" // connect id, cookie (8), foliot_security, share (32)
#define FOLIOT__SECURE_ANSWER_BYTES 53
// Connect id, cookie (8), foliot_security, flag: returns, share (32), the token if there is one,
// proof (16).
#define FOLIOT__SECURE_OPENING_MARK "foliot>k"
#define FOLIOT__SECURE_OPENING_BYTES_MIN (8 + 4 + 8 + 2 + FOLIOT__SHARE_BYTES + FOLIOT__PROOF_BYTES)
#define FOLIOT__SECURE_OPENING_BYTES_MAX                                                           \
    (FOLIOT__SECURE_OPENING_BYTES_MIN + FOLIOT__TOKEN_SEALED_BYTES)

typedef struct foliot__secure_peer {
    // First, in whole cache lines, the members that sealing uses, then those that opening uses:
    // with a thousand peers, none of a peer's data is still in the cache at its next datagram.
    _Alignas(64) uint32_t connection; // the connect id
    uint32_t next;                    // in its bucket: index + 1
    bool used, confirmed; // confirmed: a datagram of the peer's was opened with these keys
    bool moved_lately;    // a host's: and may be found where it was
    foliot__sealer sealer;
    void *owner;       // NULL: its slot is gone, and ENet still says farewell
    uint64_t until_ns; // until then
    foliot__net_address address;
    foliot__opener opener;
    foliot__session_keys keys; // returns alone is kept
    // A host's.
    foliot_peer_identity identity;
    uint32_t used_token;       // index + 1 of the entry; 0: none
    bool counted;              // among what its client holds
    bool returned;             // by the secret that its token's holder was given
    bool too_late;             // not so, and the holder has shown itself before
    uint64_t accepted;         // number of connections accepted before it
    foliot__net_address moved; // an address that is not proven yet; port 0: none
    foliot__net_address left;  // where it was, if it has moved lately
    uint8_t challenge[8];      // sent to `moved`,
    uint8_t stays[8];          // and to where it was
    uint64_t challenged_ns, moved_ns;
    uint64_t settled_ns; // when it was found where it was
    // A client's.
    uint8_t opening[FOLIOT__SECURE_OPENING_BYTES_MAX];
    uint32_t opening_bytes;
} foliot__secure_peer;

typedef struct foliot__secure foliot__secure;

// FOLIOT_STATUS_INVALID: something that the security needs is missing; FOLIOT_STATUS_CORRUPT: the
// token is none; FOLIOT_STATUS_MEMORY.
// `port` is the transport's own: that of own addresses without one.
foliot_status foliot__secure_open(const foliot_transport_config *config, uint16_t port,
                                  foliot__secure **secure);
// A host's, of tokens: count in 1 .. FOLIOT_KEYS_MAX. From any thread.
void foliot__secure_set_keys(foliot__secure *s, const uint8_t *keys, uint32_t count);
void foliot__secure_close(foliot__secure *secure); // may be NULL

// -- peers
foliot__secure_peer *foliot__secure_find(foliot__secure *secure, uint32_t connection);
// NULL: the connect id is in use, or there is no room.
foliot__secure_peer *foliot__secure_add(foliot__secure *secure, uint32_t connection,
                                        foliot__net_address address, uint64_t now_ns);
void foliot__secure_release(foliot__secure *secure, foliot__secure_peer *peer);
// Its slot is gone; its keys stay until then.
void foliot__secure_linger(foliot__secure *secure, foliot__secure_peer *peer, uint64_t until_ns);
// Forgets those whose farewell is over. Cheap if it was called less than a second ago.
void foliot__secure_expire(foliot__secure *secure, uint64_t now_ns);

// -- the handshake
// A host's answer to a question that an address asks, with the cookie for it.
void foliot__secure_answer(foliot__secure *secure, uint32_t connection, uint64_t cookie,
                           uint64_t now_ns, uint8_t answer[FOLIOT__SECURE_ANSWER_BYTES]);
// A client that got it makes its keys and its opening. 0, or why it goes no further.
uint32_t foliot__secure_receive_answer(foliot__secure *secure, foliot__secure_peer *peer,
                                       const uint8_t answer[FOLIOT__SECURE_ANSWER_BYTES],
                                       uint64_t now_ns);
// A host's: whether a datagram has the form of an opening.
bool foliot__secure_opening_form(const uint8_t *bytes, size_t length, uint32_t *connection,
                                 uint64_t *cookie);
// Whether this opening is a repetition, which needs no work. *reason: why it was refused, or 0.
bool foliot__secure_opening_known(const foliot__secure *secure, const uint8_t *bytes, size_t length,
                                  uint64_t now_ns, uint32_t *reason);
// Makes the peer's keys, or returns why not: a foliot_disconnect_reason, or that the token's client
// has reached its limit.
#define FOLIOT__OVER_CLIENT UINT32_MAX
uint32_t foliot__secure_accept(foliot__secure *secure, foliot__secure_peer *peer,
                               const uint8_t *bytes, size_t length, uint64_t now_ns,
                               uint64_t now_s);
// A datagram of this peer's was opened for the first time.
void foliot__secure_confirm(foliot__secure *secure, foliot__secure_peer *peer);
// The next peer after `after` (NULL: the first) that ends because `peer` was confirmed: a
// connection of the same token, accepted earlier, if `peer` returned by the secret that only the
// holder has; else `peer` itself, if its token's holder has confirmed a connection before. NULL: no
// more.
foliot__secure_peer *foliot__secure_replaced(foliot__secure *secure, foliot__secure_peer *peer,
                                             const foliot__secure_peer *after);
// The host refused it: a client that tried to return connects as a new one the next time.
void foliot__secure_refused(foliot__secure *secure, uint32_t reason);

// -- shown by other means than an opening, from any thread
// As foliot__transport_show_token and foliot__transport_show_password.
uint32_t foliot__secure_show_token(foliot__secure *secure, const char *text,
                                   const uint8_t return_secret[FOLIOT_RETURN_SECRET_BYTES],
                                   uint64_t now_s, uint64_t now_ns, foliot_peer_identity *identity);
void foliot__secure_end_shown(foliot__secure *secure, const foliot_peer_identity *identity);
// How many were refused by it, since the last call, for what their clients had.
uint64_t foliot__secure_poll_over_client(foliot__secure *secure);
uint32_t foliot__secure_show_password(const foliot__secure *secure, const char *password,
                                      foliot_peer_identity *identity);

#endif
