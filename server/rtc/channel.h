// SPDX-License-Identifier: MIT
// channel.h: what rtc.c and channel.c share. rtc.c: all channels, and datagrams on their way to
// one. channel.c: one channel's layers, its names, the socket and the addresses of this machine.
#ifndef FOLIOT_SERVER_RTC_CHANNEL_H
#define FOLIOT_SERVER_RTC_CHANNEL_H

#include <sys/socket.h>

#include "base/bucket.h"
#include "net/admission.h"
#include "rtc/dtls.h"
#include "rtc/rtc.h"
#include "rtc/sctp.h"
#include "rtc/ice.h"

#define FOLIOT__RTC_INDEX_BYTES 3  // of a user name: 6 bits each
#define FOLIOT__RTC_UFRAG_BYTES 12 // with 54 random bits
#define FOLIOT__RTC_PASSWORD_BYTES 24

typedef struct foliot__rtc_address { // as a key: IPv4 in the first four bytes
    uint8_t host[16];
    uint16_t port;
} foliot__rtc_address;

typedef struct foliot__rtc_datagram {
    const uint8_t *bytes;
    size_t length;
    struct sockaddr_storage from;
    socklen_t from_bytes;
} foliot__rtc_datagram;

// The address of a browser, verified or presumed. Only its owner can answer a check.
typedef struct foliot__rtc_path {
    bool used;
    struct sockaddr_storage address;
    socklen_t address_bytes;
    foliot__rtc_address key;
    foliot__address_validation validation;
    uint8_t transaction[12]; // of the checks until one is answered
    uint64_t checked_ns, answered_ns;
} foliot__rtc_path;

struct foliot__rtc_channel {
    foliot__rtc *rtc;
    void *of;
    uint32_t index;
    char ufrag[FOLIOT__RTC_UFRAG_BYTES + 1], password[FOLIOT__RTC_PASSWORD_BYTES + 1];
    foliot__sdp_offer offer;
    foliot__rtc_path path;      // all packets go there, and the channel is found by it
    foliot__rtc_path candidate; // an address that it asked from, which is being checked
    foliot__rtc_channel *next;  // of the same bucket
    foliot__dtls *dtls;         // NULL until its address is validated, or its first datagram
    foliot__sctp *sctp;         // NULL until DTLS is open
    bool told_open, waited;
    const char *over; // why it has ended; NULL: it has not
    uint64_t begun_ns, asked_ns;
    foliot__bucket packets; // datagrams and messages: one datagram may hold a hundred
};

struct foliot__rtc {
    foliot__rtc_config config;
    int descriptor;
    uint16_t port;
    uint32_t datagram_bytes; // the largest
    bool has_sctp;
    uint64_t secret; // of the buckets
    foliot__dtls_context *dtls;
    foliot__rtc_channel **channels, **buckets;
    uint32_t count;
    uint64_t ticked_ns;
    foliot__rtc_counters counters;
};

// rtc.c
void foliot__rtc_receive_datagram(foliot__rtc *rtc, const foliot__rtc_datagram *d, uint64_t now_ns);

// channel.c
// How many bytes the address may still get.
void foliot__rtc_send_to(foliot__rtc *rtc, foliot__rtc_path *path, const uint8_t *bytes,
                         size_t length);
// Generates a user name and a password. False: there is no randomness.
bool foliot__rtc_name(foliot__rtc_channel *c, uint32_t index);
uint32_t foliot__rtc_index_of(const char ufrag[FOLIOT__RTC_UFRAG_BYTES]); // UINT32_MAX: none
// A message of SCTP; `user` is the channel.
void foliot__rtc_receive_message(void *user, const uint8_t *bytes, size_t length);
// Begins the handshake, if the browser waits for it.
void foliot__rtc_shake(foliot__rtc_channel *c);
// A datagram of DTLS from the channel's address.
void foliot__rtc_channel_receive(foliot__rtc_channel *c, const uint8_t *bytes, size_t length);
void foliot__rtc_look(foliot__rtc_channel *c); // whether a layer has opened, or ended
bool foliot__rtc_listen(foliot__rtc *rtc);     // errno says why not
void foliot__rtc_find_candidates(const foliot__rtc *rtc, const char *local,
                                 char candidates[FOLIOT__SDP_CANDIDATES_MAX][46]);

#endif
