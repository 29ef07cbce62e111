// SPDX-License-Identifier: MIT
// secure_stage.h: two transports over ENet on the loopback, and a wire of the test's between them,
// which keeps every datagram and sends what it likes. A call that must not fail is asserted.
#ifndef FOLIOT_TESTS_SECURE_STAGE_H
#define FOLIOT_TESTS_SECURE_STAGE_H

#include "foliot/transport.h"
#include "net/address.h"

#define STAGE_CAUGHT_MAX 4000
#define STAGE_PHRASE "nobody on the way reads this phrase"

typedef struct caught {
    bool to_host;
    size_t length;
    uint8_t bytes[1600];
} caught;

typedef struct stage {
    foliot_transport *host, *client;
    foliot_transport_config host_config, client_config;
    int front, back; // the wire's sockets: where clients come to, and where the host sees them from
    // A faster attacker next to the wire: clients' datagrams arrive from there first, and only the
    // host's challenges are passed on from there. 0: none.
    int foe;
    uint16_t port;
    foliot__net_address host_at, client_at;
    foliot_peer_id at_host, at_client;
    uint32_t host_reason, client_reason;
    unsigned host_got, client_got;
    caught *caught;
    size_t caught_count;
    uint64_t began_ns;
} stage;

// A socket of the loopback at a port, 0: a free one; `at` is its address.
int stage_open_socket(uint16_t port, foliot__net_address *at);
void stage_send_on(stage *s, const uint8_t *bytes, size_t length, bool to_host);

// The two, not open yet: their configs may be changed. Then the wire and both, and a client that
// connects, again where there was one.
stage *stage_new(foliot_security at_host, foliot_security at_client);
void stage_open(stage *s);
void stage_open_client(stage *s);
void stage_pump(stage *s); // what lies at the wire goes on
void stage_run(stage *s, unsigned ms);
// Runs until `condition` holds, and 5 s at most: a busy machine takes its time.
#define stage_await(s, condition)                                                                  \
    for (int turns_ = 0; turns_ < 1000 && !(condition); turns_++)                                  \
    stage_run(s, 5)
void stage_close(stage *s);

// Both send the phrase `count` times.
void stage_talk(stage *s, unsigned count);
void stage_expect_talk(stage *s); // and hear all of it
void stage_expect_refused(stage *s, uint32_t reason);
const foliot_transport_counters *stage_counters(const stage *s); // the host's

// The key and the token of stage_with_token, which draws the one and prints the other.
extern uint8_t stage_key[FOLIOT_KEY_BYTES];
extern char stage_token[FOLIOT_TOKEN_TEXT_BYTES];

foliot_token stage_some_token(void);
stage *stage_with_token(const foliot_token *token);
stage *stage_open_with_token(void); // of some token, and connected

#endif
