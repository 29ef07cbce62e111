// SPDX-License-Identifier: MIT
// web.h: peers by WebSocket: browsers that join the sessions of this server, and the page that they
// load. It connects the HTTP service's thread with the server by the queues of
// foliot_transport_create_queues; it knows nothing of sessions.
//
// A message of a WebSocket is binary. Its first byte is its type: an unreliable packet, a reliable
// one, or a signal, which is between the page and this module. A connection ends with close code
// 4000 + the reason of the transport.
#ifndef FOLIOT_SERVER_WEB_H
#define FOLIOT_SERVER_WEB_H

#include <sys/socket.h>

#include "crypto/token.h"
#include "foliot/transport.h"
#include "http/http.h"
#include "net/admission.h"
#include "rtc/rtc.h"

#define FOLIOT__WEB_PATH "/ws"
#define FOLIOT__WEB_CLOSE_CODE 4000     // and the reason
#define FOLIOT__WEB_REASON_MAX 999      // larger reasons are given as this one
#define FOLIOT__WEB_MESSAGE_BYTES 16384 // that a browser may send at once
#define FOLIOT__WEB_UNSENT_BYTES 16384 // in the kernel: beyond, snapshots wait here and are dropped
#define FOLIOT__WEB_SILENCE_MS 10000   // a browser that acknowledges nothing for this long is gone
#define FOLIOT__WEB_END_SECONDS 5      // for the last messages to be read
#define FOLIOT__WEB_MESSAGES_BURST 2000  // of one browser,
#define FOLIOT__WEB_MESSAGE_EVERY_NS 1e6 // and then 1,000 a second

#define FOLIOT__WEB_FULL_SENTENCE                                                                  \
    "the server accepts no more connections, or no more from this address or with this token"
#define FOLIOT__WEB_PROOF_SECONDS 5 // to show a token or a password, where one is asked for

enum { FOLIOT__WEB_UNRELIABLE, FOLIOT__WEB_RELIABLE, FOLIOT__WEB_SIGNAL };
// The second byte of a signal. The signals of a proof may only be the first message.
enum {
    FOLIOT__WEB_SIGNAL_TOKEN = 1, // a secret of 32 bytes to return by, the token's text
    FOLIOT__WEB_SIGNAL_PASSWORD,  // the password
};

typedef struct foliot__web foliot__web;

typedef struct foliot__web_config {
    const char *address; // IPv4 or IPv6, to listen on
    uint16_t port;       // 0: a free one
    const char *const *hosts;
    uint32_t host_count;
    uint32_t peers_max, peers_per_address_max; // 0: as of foliot_queues_config
    // Data channels, besides the WebSockets: over UDP, by default at the same address and port.
    bool channels_off;
    const char *channels_address; // NULL: as above
    uint16_t channels_port;       // with channels_address; 0: a free one
    uint32_t mtu;                 // of their packets; 0: as large as is useful
    const char *public_address;   // where browsers find it, behind NAT; NULL: not known
} foliot__web_config;

// Makes the transport of its peers, which the caller owns. NULL with a sentence.
foliot__web *foliot__web_create(const foliot__web_config *config, foliot_transport **transport,
                                char *problem, size_t problem_bytes);
// Sets the transport whose token or password browsers must prove. Lent; call it before the start.
void foliot__web_set_gate(foliot__web *web, foliot_transport *transport);
// Additional routes, and the token of guarded ones (NULL: none); lent.
void foliot__web_set_routes(foliot__web *web, const foliot__http_route *routes, void *user,
                            const char *token);
// Whether the site's address shows the list of sessions, or enters the only one directly.
void foliot__web_set_lobby(foliot__web *web, bool shows);
// Counters of its service and the channels, as of the last call or flush. From any thread.
typedef struct foliot__web_counters {
    foliot__http_counters http;
    foliot__rtc_counters channels;
} foliot__web_counters;
foliot__web_counters foliot__web_get_counters(foliot__web *web);
foliot__http *foliot__web_get_http(const foliot__web *web);
// Opens the port. False with a sentence.
bool foliot__web_start(foliot__web *web, char *problem, size_t problem_bytes);
uint16_t foliot__web_get_port(const foliot__web *web);
// The UDP port of data channels; 0: there are none, and `why` gives the reason, or is empty if none
// were requested. Call it after foliot__web_start.
uint16_t foliot__web_get_channel_port(const foliot__web *web, const char **why);
// From any thread: a sentence for the log. False: there is none.
bool foliot__web_poll_note(foliot__web *web, char *text, size_t bytes);
// Called after every update of the server: sends what it flushed. From one thread.
void foliot__web_flush(foliot__web *web);
// As foliot__http_watch.
foliot__http_health foliot__web_watch(foliot__web *web);
// Lets earlier messages, such as a goodbye, go out for at most half a second, and ends.
void foliot__web_destroy(foliot__web *web);

// pages.c: the page's files, or one that names the missing ones. The caller frees them; the first
// is that of "/", a copy of another. NULL: no memory.
foliot__http_file *foliot__web_files(void);
// Makes the first file a copy of that at `path`. On the service's thread. False: no such file.
bool foliot__web_set_home(foliot__http_file *files, const char *path);
// Generated from the output of `make web`, and linked into foliot-server alone: elsewhere its
// address is NULL. The last path is NULL.
extern const foliot__http_file foliot__web_embedded[] __attribute__((weak));
bool foliot__web_has_page(void); // false: this build was made without `make web`

// Prints the link for players, and a QR code of it if stdout is a terminal. Without the
// page it prints that there is no link.
void foliot__web_print_link(const char *address, uint16_t port);

// -- the second path of browsers: a data channel for each WebSocket, negotiated by signals on the
// WebSocket, for unreliable packets. A signal is one byte, FOLIOT__SIGNAL_*, then text. Without
// channels these functions do nothing, and the WebSockets carry everything. They run on the HTTP
// service's thread, unless their comments differ.

#define FOLIOT__CHANNEL_OFFERS_BURST 3
#define FOLIOT__CHANNEL_OFFER_EVERY_NS 10e9 // for one more

enum { FOLIOT__SIGNAL_OFFER = 3, FOLIOT__SIGNAL_ANSWER, FOLIOT__SIGNAL_REFUSED };

typedef struct foliot__channels foliot__channels;

typedef struct foliot__channel { // of one browser; all zero: there is none
    foliot__rtc_channel *rtc;
    foliot__bucket offers; // that it may still make
    uint8_t *signal;       // a message to send to it; NULL: none
    size_t signal_bytes;
} foliot__channel;

typedef struct foliot__channels_config {
    const foliot__web_config *web;
    void *user;
    void (*received)(void *user, void *of, const uint8_t *bytes, size_t length);
    void (*flows)(void *user, void *of); // packets may go again
} foliot__channels_config;

// Opens the port, with the number of the pages' port unless another is configured. NULL: there is
// none; `problem` gives the reason, and is empty if none is wanted.
foliot__channels *foliot__channels_create(const foliot__channels_config *config, uint16_t web_port,
                                          char *problem, size_t problem_bytes);
void foliot__channels_destroy(foliot__channels *channels); // NULL is allowed, here and below
int foliot__channels_get_descriptor(const foliot__channels *channels);
uint16_t foliot__channels_get_port(const foliot__channels *channels);
void foliot__channels_receive(foliot__channels *channels, uint64_t now_ns);
bool foliot__channels_tick(foliot__channels *channels, uint64_t now_ns); // false: there are none

// Handles a signal of the browser `of`, whose WebSocket connected to `local`. The reply is in
// `channel->signal`. False: it is none of these signals.
bool foliot__channel_receive_signal(foliot__channels *channels, foliot__channel *channel, void *of,
                                    const char *local, const uint8_t *bytes, size_t length,
                                    uint64_t now_ns);
void foliot__channel_close(foliot__channel *channel);
foliot__rtc_counters foliot__channels_get_counters(const foliot__channels *channels);
foliot__rtc_way foliot__channel_get_way(const foliot__channel *channel, uint64_t now_ns);

// From any thread: the oldest sentence for the log. False: there is none.
bool foliot__channels_poll_note(foliot__channels *channels, char *text, size_t bytes);

// -- the proof that a browser shows before it is let in, where the server requires a token or a
// password. On the HTTP service's thread.

#define FOLIOT__WEB_GUESSES 64 // of one address at once; then one a second

typedef struct foliot__web_gate {
    foliot_transport *transport; // lent: the keys and the password; NULL: anybody may join
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

// One end of a connection as text, by getsockname or getpeername; the far end is a proxy's, where
// there is one. "": not known.
void foliot__web_address_of(int (*end)(int, struct sockaddr *, socklen_t *), int descriptor,
                            char *text, size_t bytes);

#endif
