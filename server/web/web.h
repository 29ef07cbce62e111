// SPDX-License-Identifier: MIT
// web.h: peers by WebSocket: browsers that join the sessions of this server, and the page that they
// load. Beside the HTTP service's thread it has the queues of foliot_transport_create_queues; it
// knows nothing of sessions.
//
// A message of a WebSocket is binary. Its first byte says what the rest is: a packet that may be
// lost, one that may not, or a signal, which is between the page and this module. A connection ends
// with close code 4000 + the reason of the transport.
#ifndef FOLIOT_SERVER_WEB_H
#define FOLIOT_SERVER_WEB_H

#include "foliot/transport.h"
#include "http/http.h"
#include "rtc/rtc.h"

#define FOLIOT__WEB_PATH "/ws"
#define FOLIOT__WEB_CLOSE_CODE 4000     // and the reason
#define FOLIOT__WEB_REASON_MAX 999      // larger reasons are given as this one
#define FOLIOT__WEB_MESSAGE_BYTES 16384 // that a browser may send at once
#define FOLIOT__WEB_UNSENT_BYTES 16384 // in the kernel: beyond, snapshots wait here and are dropped
#define FOLIOT__WEB_SILENCE_MS 10000   // who acknowledges nothing for so long is gone
#define FOLIOT__WEB_END_SECONDS 5      // for what was sent before the end to be taken
#define FOLIOT__WEB_MESSAGES_SECOND 1000 // of one browser
#define FOLIOT__WEB_MESSAGES_BURST 2000

#define FOLIOT__WEB_FULL_SENTENCE                                                                  \
    "the server has no room for another connection, or none for more from this address or token"
#define FOLIOT__WEB_PROOF_SECONDS 5 // to show a token or a password, where one is asked for

enum { FOLIOT__WEB_UNRELIABLE, FOLIOT__WEB_RELIABLE, FOLIOT__WEB_SIGNAL };
// A signal's second byte. Those of a proof: the first message alone.
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
    // Data channels, beside the WebSockets: by UDP at the same address and number unless said.
    bool channels_off;
    const char *channels_address; // NULL: as above
    uint16_t channels_port;       // with channels_address; 0: a free one
    uint32_t mtu;                 // of their packets; 0: as large as is of use
    const char *public_address;   // where browsers find it, behind NAT; NULL: not known
} foliot__web_config;

// Makes the transport that its peers are on: the caller's. NULL with a sentence.
foliot__web *foliot__web_create(const foliot__web_config *config, foliot_transport **transport,
                                char *problem, size_t problem_bytes);
// Browsers must show what this transport asks of its peers. Lent until the end; before the start.
void foliot__web_set_gate(foliot__web *web, foliot_transport *transport);
// Requests beside the page's files, and the token of guarded ones (NULL: none); lent.
void foliot__web_set_routes(foliot__web *web, const foliot__http_route *routes, void *user,
                            const char *token);
// Whether the site's address shows the list of sessions, or goes straight into the only one.
void foliot__web_set_lobby(foliot__web *web, bool shows);
// What its service and the data channels have counted, until the last call or some flush behind it.
// From any thread.
typedef struct foliot__web_counters {
    foliot__http_counters http;
    foliot__rtc_counters channels;
} foliot__web_counters;
foliot__web_counters foliot__web_get_counters(foliot__web *web);
foliot__http *foliot__web_get_http(const foliot__web *web);
// Opens the port. False with a sentence.
bool foliot__web_start(foliot__web *web, char *problem, size_t problem_bytes);
uint16_t foliot__web_get_port(const foliot__web *web);
// The UDP port of data channels; 0: there are none, and `why` says it, or is empty if none were
// wanted. Behind foliot__web_start.
uint16_t foliot__web_get_channel_port(const foliot__web *web, const char **why);
// From any thread: a sentence for the log. False: there is none.
bool foliot__web_take_note(foliot__web *web, char *text, size_t bytes);
// After every update of the server: what it flushed is on its way then. From one thread.
void foliot__web_flush(foliot__web *web);
// As foliot__http_watch.
foliot__http_health foliot__web_watch(foliot__web *web);
// Lets what was sent before, such as a goodbye, go out for at most half a second, and ends.
void foliot__web_destroy(foliot__web *web);

// pages.c: the page's files, or one that says what is missing. The caller's, to free; the first is
// that of "/", which is a copy of another. NULL: no memory.
foliot__http_file *foliot__web_files(void);
// Of the service's thread: whose copy the first is. False: there is no such file.
bool foliot__web_set_home(foliot__http_file *files, const char *path);
// Generated from what `make web` has built; the last path is NULL.
extern const foliot__http_file foliot__web_embedded[];
bool foliot__web_has_page(void); // false: this build was made without `make web`

// link.c: the link that a player is given, and as a QR code where stdout is a terminal. Without the
// page there is no link: it says so.
void foliot__web_print_link(const char *address, uint16_t port);

#endif
