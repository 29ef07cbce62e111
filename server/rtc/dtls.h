// SPDX-License-Identifier: MIT
// dtls.h: DTLS 1.2 or later over datagrams that the caller sends and receives. Both sides have
// self-signed certificates; only the fingerprint identifies the other side.
#ifndef FOLIOT_SERVER_RTC_DTLS_H
#define FOLIOT_SERVER_RTC_DTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/path_mtu.h"

#define FOLIOT__DTLS_FINGERPRINT_BYTES 32                   // SHA-256 of a certificate
#define FOLIOT__DTLS_HANDSHAKE_BYTES FOLIOT__PATH_BYTES_MIN // of its datagrams: every path's
#define FOLIOT__DTLS_OVER_BYTES 37 // that a datagram has beyond its payload: head, nonce and tag

typedef struct foliot__dtls_context foliot__dtls_context; // a certificate
typedef struct foliot__dtls foliot__dtls;                 // one connection

typedef struct foliot__dtls_hook {
    void (*send)(void *user, const uint8_t *bytes, size_t length);     // a datagram
    void (*received)(void *user, const uint8_t *bytes, size_t length); // the payload of one
} foliot__dtls_hook;

typedef enum foliot__dtls_state {
    FOLIOT__DTLS_SHAKING,
    FOLIOT__DTLS_OPEN,
    FOLIOT__DTLS_OVER
} foliot__dtls_state;

// A new certificate, ECDSA on P-256. NULL: OpenSSL fails.
foliot__dtls_context *foliot__dtls_context_create(void);
void foliot__dtls_context_destroy(foliot__dtls_context *context);
const uint8_t *foliot__dtls_context_get_fingerprint(const foliot__dtls_context *context);

// `fingerprint` is that of the other side's certificate. `hook` is lent.
foliot__dtls *foliot__dtls_create(foliot__dtls_context *context, bool client,
                                  const uint8_t fingerprint[FOLIOT__DTLS_FINGERPRINT_BYTES],
                                  const foliot__dtls_hook *hook, void *user);
void foliot__dtls_destroy(foliot__dtls *dtls); // NULL is allowed
foliot__dtls_state foliot__dtls_get_state(const foliot__dtls *dtls);
// Whether it ended because the certificate did not match the fingerprint.
bool foliot__dtls_is_foreign(const foliot__dtls *dtls);
// The other side has moved to another address: cookies of the previous one are no longer valid.
void foliot__dtls_move(foliot__dtls *dtls);
void foliot__dtls_start(foliot__dtls *dtls); // a client's first message
void foliot__dtls_receive(foliot__dtls *dtls, const uint8_t *datagram, size_t length);
// Repeats lost messages of a handshake when they are due.
void foliot__dtls_tick(foliot__dtls *dtls);
// At most 2,000 bytes. False: it is not open.
bool foliot__dtls_send(foliot__dtls *dtls, const uint8_t *bytes, size_t length);
void foliot__dtls_close(foliot__dtls *dtls); // notifies the other side

#endif
