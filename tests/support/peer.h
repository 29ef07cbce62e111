// SPDX-License-Identifier: MIT
// peer.h: the far end of a data channel and of its WebSocket, as a browser is: a transport for a
// foliot_client, or for a test that sends what it likes. One UDP socket; ICE as the side that
// asks; DTLS as the side that waits. Where the server has usrsctp, the peer is in another process.
#ifndef FOLIOT_TESTS_RTC_PEER_H
#define FOLIOT_TESTS_RTC_PEER_H

#include <netinet/in.h>

#include "foliot/transport.h"

typedef struct rtc_peer rtc_peer;

typedef struct rtc_answer { // the fields of a server's answer
    char ufrag[64], password[64];
    uint8_t fingerprint[32];
    struct sockaddr_in address;
} rtc_answer;

// Starts usrsctp for this number of peers of this process.
void rtc_start(uint32_t peers);
void rtc_stop(void);
void rtc_tick(uint32_t elapsed_ms); // timers of all

// A transport whose connect opens a WebSocket to a port of `host`, IPv4, and offers a channel.
// `channel`: false: it never does.
rtc_peer *rtc_peer_create(const char *host, bool channel, foliot_transport **transport);
// Whether packets come by the channel, how many have come by each path, and how many may be lost.
bool rtc_peer_is_open(const rtc_peer *peer);
uint64_t rtc_peer_get_received(const rtc_peer *peer, bool by_channel);
// From now on its datagrams of more than `bytes` bytes are dropped, both ways; 0: all.
void rtc_peer_narrow(rtc_peer *peer, size_t bytes);
// The server's answer; NULL: it has not come.
const rtc_answer *rtc_peer_get_answer(const rtc_peer *peer);
void rtc_peer_move(rtc_peer *peer); // to another port, as a network's translation does
void rtc_peer_pump(rtc_peer *peer, uint64_t now_ns); // as each poll does

// For tests without a peer: write the text of an offer with the fingerprint `print` (32 bytes), and
// read an answer. `setup`: "active", or "actpass": then the server begins with DTLS. False: the
// text is no answer.
void rtc_write_offer(const char *ufrag, const char *setup, const uint8_t *print, char *text,
                     size_t bytes);
bool rtc_read_answer(const char *text, const char *host, rtc_answer *answer);
// A binding request, authentic by `password`. Returns its length.
size_t rtc_write_request(const char *ours, const char *theirs, const char *password, bool use,
                         uint8_t bytes[256]);
// A first message of DTLS, as OpenSSL makes it. Returns its length.
size_t rtc_write_hello(uint8_t bytes[256]);

#endif
