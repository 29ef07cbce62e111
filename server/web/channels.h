// SPDX-License-Identifier: MIT
// channels.h: the second path of browsers: a data channel beside each WebSocket, agreed on by its
// signals, for what may be lost. A signal is one byte, FOLIOT__SIGNAL_*, then text. Without
// channels everything here does nothing, and the WebSockets carry all. Of the HTTP service's
// thread, but for what says otherwise.
#ifndef FOLIOT_SERVER_WEB_CHANNELS_H
#define FOLIOT_SERVER_WEB_CHANNELS_H

#include "rtc/rtc.h"
#include "web/web.h"

#define FOLIOT__CHANNEL_OFFERS_BURST 3
#define FOLIOT__CHANNEL_OFFER_SECONDS 10 // for one more

enum { FOLIOT__SIGNAL_OFFER = 3, FOLIOT__SIGNAL_ANSWER, FOLIOT__SIGNAL_REFUSED };

typedef struct foliot__channels foliot__channels;

typedef struct foliot__channel { // of one browser; all zero: there is none
    foliot__rtc_channel *rtc;
    double allowance; // of offers, less than FOLIOT__CHANNEL_OFFERS_BURST
    uint64_t allowed_ns;
    uint8_t *signal; // a message that is to be sent to it; NULL: none
    size_t signal_bytes;
} foliot__channel;

typedef struct foliot__channels_config {
    const foliot__web_config *web;
    void *user;
    void (*received)(void *user, void *of, const uint8_t *bytes, size_t length);
    void (*flows)(void *user, void *of); // packets may go again
} foliot__channels_config;

// Opens the port, by the number of the pages' port unless another is given. NULL: there is none;
// `problem` says why, and is empty where none is wanted.
foliot__channels *foliot__channels_create(const foliot__channels_config *config, uint16_t web_port,
                                          char *problem, size_t problem_bytes);
void foliot__channels_destroy(foliot__channels *channels); // NULL is allowed, here and below
int foliot__channels_get_descriptor(const foliot__channels *channels);
uint16_t foliot__channels_get_port(const foliot__channels *channels);
void foliot__channels_receive(foliot__channels *channels, uint64_t now_ns);
bool foliot__channels_tick(foliot__channels *channels, uint64_t now_ns); // false: there are none

// A signal of the browser `of`, whose WebSocket came to `local`. What is to be sent is in
// `channel->signal` then. False: it is none of these signals.
bool foliot__channel_take_signal(foliot__channels *channels, foliot__channel *channel, void *of,
                                 const char *local, const uint8_t *bytes, size_t length,
                                 uint64_t now_ns);
void foliot__channel_close(foliot__channel *channel);
foliot__rtc_counters foliot__channels_get_counters(const foliot__channels *channels);
foliot__rtc_way foliot__channel_get_way(const foliot__channel *channel, uint64_t now_ns);

// From any thread: the oldest sentence for the log. False: there is none.
bool foliot__channels_take_note(foliot__channels *channels, char *text, size_t bytes);

#endif
