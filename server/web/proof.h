// SPDX-License-Identifier: MIT
// proof.h: what a browser shows before it is let in, where the server asks for tokens or a
// password. Of the HTTP service's thread.
#ifndef FOLIOT_SERVER_WEB_PROOF_H
#define FOLIOT_SERVER_WEB_PROOF_H

#include "crypto/token.h"
#include "foliot/transport.h"
#include "net/admission.h"
#include "web/web.h"

#define FOLIOT__WEB_GUESSES 64 // of one address at once; then one a second

typedef struct foliot__web_gate {
    foliot_transport *transport; // lent: whose keys and password these are; NULL: anybody may join
    foliot__admission guesses;
} foliot__web_gate;
foliot_status foliot__web_gate_open(foliot__web_gate *gate);
void foliot__web_gate_close(foliot__web_gate *gate);
bool foliot__web_proof_wanted(const foliot__web_gate *gate);

typedef struct foliot__web_visitor {
    int descriptor;
    uint64_t address_key, now_ns;
} foliot__web_visitor;
typedef struct foliot__web_proof {
    foliot_peer_identity identity;
    uint8_t token_name[FOLIOT__TOKEN_NONCE_BYTES]; // zeros: it has none
    const char *sentence;                          // why not; at most 123 bytes
} foliot__web_proof;
// The first message, of at least two bytes. Returns 0 with a proof, or a foliot_disconnect_reason.
uint32_t foliot__web_judge(foliot__web_gate *gate, const foliot__web_visitor *who,
                           const uint8_t *message, size_t length, foliot__web_proof *proof);

// The far end of a connection as text: a proxy's, where there is one.
void foliot__web_peer_address(int descriptor, char *text, size_t bytes);

#endif
