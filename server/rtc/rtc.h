// SPDX-License-Identifier: MIT
// rtc.h: data channels of WebRTC, in addition to WebSockets, on one UDP socket for all browsers:
// ICE-lite, DTLS, SCTP. All functions are for one thread, which watches the descriptor and a timer.
// The module knows nothing of sessions, nor of how descriptions travel.
//
// Security: nothing is answered before a STUN request that is authenticated by the password of an
// answer. An address gets at most three times the bytes that it sent, until it has answered a
// check; a channel moves to another address when that answers, and not before. DTLS is accepted
// only from the channel's address, and only with the certificate that the offer names. A channel
// ends if it does not open within ten seconds, or is silent for thirty.
#ifndef FOLIOT_SERVER_RTC_H
#define FOLIOT_SERVER_RTC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rtc/ice.h"

#define FOLIOT__RTC_TICK_MS 20
#define FOLIOT__RTC_OPEN_SECONDS 10     // for a handshake, from the offer on
#define FOLIOT__RTC_SILENCE_SECONDS 30  // without an authenticated request
#define FOLIOT__RTC_CONSENT_SECONDS 30  // without an answer to a check
#define FOLIOT__RTC_DOUBT_MS 600        // without an acknowledgement of sent data
#define FOLIOT__RTC_PACKETS_SECOND 2000 // of one channel: datagrams, and messages in them
#define FOLIOT__RTC_PACKETS_BURST 4000

typedef struct foliot__rtc foliot__rtc;
typedef struct foliot__rtc_channel foliot__rtc_channel;

typedef struct foliot__rtc_config {
    const char *address;        // IPv4 or IPv6, to listen on
    uint16_t port;              // of UDP; 0: a free one
    const char *public_address; // that browsers find it at, listed first; "": none
    uint32_t channels_max;
    uint32_t mtu; // the largest packet of the network, heads included; 0: see foliot__rtc_create
    void *user;
    // A message has arrived. `of` is the value passed with the offer.
    void (*received)(void *user, void *of, const uint8_t *bytes, size_t length);
    void (*opened)(void *user, void *of);
    // The channel ended by itself, and is gone. Neither `opened` nor `closed` is called within
    // foliot__rtc_offer.
    void (*closed)(void *user, void *of, const char *why);
    void (*drained)(void *user, void *of); // the queue has gone out, or is acknowledged again
} foliot__rtc_config;

#define FOLIOT__RTC_COUNTERS(X)                                                                    \
    X(offers, "Offers of a data channel.")                                                         \
    X(opened, "Data channels opened.")                                                             \
    X(failed, "Data channels that ended before they were open.")                                   \
    X(lost, "Open data channels that failed or were closed.")                                      \
    X(datagrams, "Datagrams received for data channels.")                                          \
    X(strangers, "Datagrams from unverified addresses, and of no known protocol.")                 \
    X(unauthentic, "STUN messages of an unknown user, or with a wrong password.")                  \
    X(withheld, "Datagrams not sent, to addresses that have not shown that they receive.")         \
    X(path_probes, "Datagrams sent to find how large others may be.")                              \
    X(too_many, "Messages beyond what one channel may send in a second.")
typedef struct foliot__rtc_counters {
#define FOLIOT__RTC_COUNTER_FIELD(name, help) uint64_t name;
    FOLIOT__RTC_COUNTERS(FOLIOT__RTC_COUNTER_FIELD)
#undef FOLIOT__RTC_COUNTER_FIELD
} foliot__rtc_counters;

// One per process. NULL with a sentence. Without an MTU datagrams grow until one holds a packet of
// FOLIOT_PACKET_BYTES_MAX, if the path carries them.
foliot__rtc *foliot__rtc_create(const foliot__rtc_config *config, char *problem,
                                size_t problem_bytes);
void foliot__rtc_destroy(
    foliot__rtc *rtc); // with all its channels, without a word; NULL is allowed
int foliot__rtc_get_descriptor(const foliot__rtc *rtc);
uint16_t foliot__rtc_get_port(const foliot__rtc *rtc);
const foliot__rtc_counters *foliot__rtc_get_counters(const foliot__rtc *rtc);
// Reads a bounded number of the datagrams that have arrived.
void foliot__rtc_receive(foliot__rtc *rtc, uint64_t now_ns);
// Every FOLIOT__RTC_TICK_MS while there are channels. False: there are none.
bool foliot__rtc_tick(foliot__rtc *rtc, uint64_t now_ns);

// Creates a channel for an offer, and the answer to it. `local` is the address of this machine that
// the page connected to; "": not known. NULL with a sentence, lent.
foliot__rtc_channel *foliot__rtc_offer(foliot__rtc *rtc, void *of, const char *local,
                                       const char *offer, size_t length, uint64_t now_ns,
                                       char answer[FOLIOT__SDP_ANSWER_BYTES], const char **problem);
void foliot__rtc_close(foliot__rtc_channel *channel); // `closed` is not called; NULL is allowed

// Whether packets go through the channel now. ABSENT: not open, or nothing is acknowledged now.
typedef enum foliot__rtc_way {
    FOLIOT__RTC_ABSENT,
    FOLIOT__RTC_WAIT, // `drained` follows, or it becomes absent
    FOLIOT__RTC_READY
} foliot__rtc_way;
foliot__rtc_way foliot__rtc_get_way(const foliot__rtc_channel *channel, uint64_t now_ns);
// The packet may be lost. False: it was not accepted.
bool foliot__rtc_send(foliot__rtc_channel *channel, const uint8_t *bytes, size_t length,
                      uint64_t now_ns);

#endif
