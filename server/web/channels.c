// SPDX-License-Identifier: MIT
// channels.c: see channels.h. A channel belongs to a browser, whose `foliot__channel` is its first
// member: so an ended channel finds its owner.
#include "web/web.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES 8
#define NOTE_BYTES 160

struct foliot__channels {
    foliot__channels_config config;
    foliot__rtc *rtc;
    uint64_t refused;      // offers
    pthread_mutex_t mutex; // of the notes
    atomic_uint note_count;
    uint32_t note_first;
    char notes[NOTES][NOTE_BYTES];
};

// Failures are logged at counts 1, 10, 100, ...
static bool is_logged(uint64_t count)
{
    while (count >= 10 && count % 10 == 0)
        count /= 10;
    return count == 1;
}

static void note(foliot__channels *s, const char *what, const char *why, uint64_t count)
{
    if (!is_logged(count))
        return;
    pthread_mutex_lock(&s->mutex);
    uint32_t held = atomic_load(&s->note_count);
    if (held < NOTES) {
        char *text = s->notes[(s->note_first + held) % NOTES];
        snprintf(text, NOTE_BYTES, "a browser's data channel %s: %s (%llu so far)", what, why,
                 (unsigned long long)count);
        atomic_store(&s->note_count, held + 1);
    }
    pthread_mutex_unlock(&s->mutex);
}

foliot__rtc_counters foliot__channels_get_counters(const foliot__channels *channels)
{
    return *foliot__rtc_get_counters(channels->rtc);
}

bool foliot__channels_poll_note(foliot__channels *channels, char *text, size_t bytes)
{
    if (!channels || atomic_load(&channels->note_count) == 0)
        return false;
    pthread_mutex_lock(&channels->mutex);
    snprintf(text, bytes, "%s", channels->notes[channels->note_first]);
    channels->note_first = (channels->note_first + 1) % NOTES;
    atomic_fetch_sub(&channels->note_count, 1);
    pthread_mutex_unlock(&channels->mutex);
    return true;
}

// -- callbacks of the channels

static void on_received(void *user, void *of, const uint8_t *bytes, size_t length)
{
    foliot__channels *s = user;
    s->config.received(s->config.user, of, bytes, length);
}

static void on_opened(void *user, void *of)
{
    (void)user; // the next packet takes it
    (void)of;
}

static void on_closed(void *user, void *of, const char *why)
{
    foliot__channels *s = user;
    foliot__channel *channel = of;
    const foliot__rtc_counters *counters = foliot__rtc_get_counters(s->rtc);
    channel->rtc = NULL;
    note(s, "ended; its WebSocket carries everything", why, counters->failed + counters->lost);
    s->config.flows(s->config.user, of);
}

static void on_drained(void *user, void *of)
{
    foliot__channels *s = user;
    s->config.flows(s->config.user, of);
}

// -- life

foliot__channels *foliot__channels_create(const foliot__channels_config *config, uint16_t web_port,
                                          char *problem, size_t problem_bytes)
{
    const foliot__web_config *web = config->web;
    foliot__channels *s = web->channels_off ? NULL : calloc(1, sizeof *s);
    problem[0] = 0;
    if (!s)
        return NULL;
    s->config = *config;
    foliot__rtc_config below = {.address =
                                    web->channels_address ? web->channels_address : web->address,
                                .port = web->channels_address ? web->channels_port : web_port,
                                .public_address = web->public_address ? web->public_address : "",
                                .channels_max = web->peers_max,
                                .mtu = web->mtu,
                                .user = s,
                                .received = on_received,
                                .opened = on_opened,
                                .closed = on_closed,
                                .drained = on_drained};
    s->rtc = foliot__rtc_create(&below, problem, problem_bytes);
    if (!s->rtc && !web->channels_address && !web->port) {
        below.port = 0; // another has the number that was found for TCP
        s->rtc = foliot__rtc_create(&below, problem, problem_bytes);
    }
    if (!s->rtc) {
        free(s);
        return NULL;
    }
    pthread_mutex_init(&s->mutex, NULL);
    return s;
}

void foliot__channels_destroy(foliot__channels *channels)
{
    if (!channels)
        return;
    foliot__rtc_destroy(channels->rtc);
    pthread_mutex_destroy(&channels->mutex);
    free(channels);
}

int foliot__channels_get_descriptor(const foliot__channels *channels)
{
    return channels ? foliot__rtc_get_descriptor(channels->rtc) : -1;
}

uint16_t foliot__channels_get_port(const foliot__channels *channels)
{
    return channels ? foliot__rtc_get_port(channels->rtc) : 0;
}

void foliot__channels_receive(foliot__channels *channels, uint64_t now_ns)
{
    foliot__rtc_receive(channels->rtc, now_ns);
}

bool foliot__channels_tick(foliot__channels *channels, uint64_t now_ns)
{
    return foliot__rtc_tick(channels->rtc, now_ns);
}

// -- signals

static void answer(foliot__channel *channel, uint8_t kind, const char *text)
{
    size_t length = strlen(text);
    free(channel->signal);
    channel->signal = malloc(2 + length);
    if (!channel->signal)
        return; // the page continues with its WebSocket
    channel->signal[0] = FOLIOT__WEB_SIGNAL;
    channel->signal[1] = kind;
    memcpy(channel->signal + 2, text, length);
    channel->signal_bytes = 2 + length;
}

bool foliot__channel_receive_signal(foliot__channels *channels, foliot__channel *channel, void *of,
                                    const char *local, const uint8_t *bytes, size_t length,
                                    uint64_t now_ns)
{
    char text[FOLIOT__SDP_ANSWER_BYTES];
    const char *problem = "this server has no data channels";
    if (length < 1 || bytes[0] != FOLIOT__SIGNAL_OFFER)
        return false;
    bool early = channels && !foliot__bucket_spend(&channel->offers, FOLIOT__CHANNEL_OFFERS_BURST,
                                                   FOLIOT__CHANNEL_OFFER_EVERY_NS, now_ns);
    if (early) {
        problem = "offers come too fast"; // what there is stays
    } else if (channels) {
        const foliot__rtc_counters *counters = foliot__rtc_get_counters(channels->rtc);
        uint64_t failed = counters->failed;
        foliot__rtc_close(channel->rtc); // the previous one: a WebSocket has one
        if (counters->failed > failed)
            note(channels, "ended; its WebSocket carries everything",
                 "its page gave up, and makes a new offer", counters->failed + counters->lost);
        channel->rtc = foliot__rtc_offer(channels->rtc, of, local, (const char *)bytes + 1,
                                         length - 1, now_ns, text, &problem);
        if (!channel->rtc)
            note(channels, "is refused because of its offer", problem, ++channels->refused);
    }
    if (channel->rtc && !early)
        answer(channel, FOLIOT__SIGNAL_ANSWER, text);
    else
        answer(channel, FOLIOT__SIGNAL_REFUSED, problem);
    return true;
}

void foliot__channel_close(foliot__channel *channel)
{
    foliot__rtc_close(channel->rtc);
    free(channel->signal);
    *channel = (foliot__channel){0};
}

foliot__rtc_way foliot__channel_get_way(const foliot__channel *channel, uint64_t now_ns)
{
    return channel->rtc ? foliot__rtc_get_way(channel->rtc, now_ns) : FOLIOT__RTC_ABSENT;
}
