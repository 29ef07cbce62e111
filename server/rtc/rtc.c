// SPDX-License-Identifier: MIT
// rtc.c: see rtc.h. A channel is found by the user name in STUN, whose first letters are its index,
// or by its address. Ended channels are reaped after the datagram or tick that ended them, since
// the libraries below are still on the call stack until then.
#include "rtc/rtc.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rtc/channel.h"
#include "rtc/sctp.h"

#define BATCH 16  // datagrams that are read at once
#define BATCHES 4 // of them for one call
#define SECOND_NS ((uint64_t)1000000000u)
#define KEPT_NS (10 * SECOND_NS)         // an open channel's address, after its last request
#define CHECK_NS 100000000u              // between two checks of an address
#define CONSENT_EVERY_NS (5 * SECOND_NS) // after an answer
#define DATAGRAM_BYTES 2048              // longer ones are cut, and fail

// -- channels by address

static uint32_t bucket_of(const foliot__rtc *rtc, const foliot__rtc_address *a)
{
    uint64_t hash = rtc->secret;
    for (size_t i = 0; i < sizeof a->host; i++)
        hash = (hash ^ a->host[i]) * 0x100000001B3u;
    hash = (hash ^ a->port) * 0x100000001B3u;
    return (uint32_t)(hash >> 32) % rtc->config.channels_max;
}

static foliot__rtc_address key_of(const struct sockaddr_storage *from)
{
    foliot__rtc_address a = {.port = 0};
    if (from->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)from;
        memcpy(a.host, &six->sin6_addr, 16);
        a.port = six->sin6_port;
    } else {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)from;
        memcpy(a.host, &four->sin_addr, 4);
        a.port = four->sin_port;
    }
    return a;
}

static bool same_address(const foliot__rtc_address *a, const foliot__rtc_address *b)
{
    return a->port == b->port && memcmp(a->host, b->host, sizeof a->host) == 0;
}

static foliot__rtc_channel *by_address(const foliot__rtc *rtc, const foliot__rtc_address *a)
{
    foliot__rtc_channel *c = rtc->buckets[bucket_of(rtc, a)];
    while (c && !same_address(&c->path.key, a))
        c = c->next;
    return c;
}

static void forget_address(foliot__rtc_channel *c)
{
    foliot__rtc_channel **link = &c->rtc->buckets[bucket_of(c->rtc, &c->path.key)];
    if (!c->path.used)
        return;
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    c->path.used = false;
}

// The channel moves to that address. Cookies of DTLS are bound to an address.
static void use_path(foliot__rtc_channel *c, const foliot__rtc_path *path)
{
    foliot__rtc_channel *other = by_address(c->rtc, &path->key);
    if (other)
        forget_address(other);
    forget_address(c);
    c->path = *path;
    uint32_t bucket = bucket_of(c->rtc, &c->path.key);
    c->next = c->rtc->buckets[bucket];
    c->rtc->buckets[bucket] = c;
    if (c->dtls)
        foliot__dtls_move(c->dtls);
    if (c->sctp)
        foliot__sctp_move(c->sctp);
}

// -- addresses that are validated

// Sends a connectivity check to this path, which only the browser can answer. The transaction is
// random except for the channel's index. An unanswered check is repeated.
static void check_path(foliot__rtc_channel *c, foliot__rtc_path *path, uint64_t now_ns)
{
    uint8_t request[FOLIOT__STUN_REQUEST_BYTES];
    char name[FOLIOT__SDP_UFRAG_MAX + FOLIOT__RTC_UFRAG_BYTES + 2];
    if (path->checked_ns && now_ns - path->checked_ns < CHECK_NS)
        return;
    bool answered = path->answered_ns >= path->checked_ns;
    if (answered && RAND_bytes(path->transaction, sizeof path->transaction) != 1)
        return;
    for (int i = 0; i < FOLIOT__RTC_INDEX_BYTES; i++)
        path->transaction[i] = (uint8_t)(c->index >> (8 * i));
    path->checked_ns = now_ns;
    snprintf(name, sizeof name, "%s:%s", c->offer.ufrag, c->ufrag);
    size_t length = foliot__stun_request(path->transaction, name, c->offer.password,
                                         strlen(c->offer.password), request);
    if (length > 0)
        foliot__rtc_send_to(c->rtc, path, request, length);
}

// -- life of a channel

static void destroy_channel(foliot__rtc_channel *c)
{
    foliot__rtc *rtc = c->rtc;
    foliot__sctp_destroy(c->sctp); // sends its abort through the others
    if (c->dtls)
        foliot__dtls_close(c->dtls);
    foliot__dtls_destroy(c->dtls);
    forget_address(c);
    rtc->channels[c->index] = NULL;
    rtc->count--;
    free(c);
}

// Updates the channel's state after calls into the layers.
static void look_at(foliot__rtc_channel *c)
{
    foliot__rtc_look(c);
    if (!c->over && !c->told_open && c->sctp &&
        foliot__sctp_get_state(c->sctp) == FOLIOT__SCTP_OPEN) {
        c->told_open = true;
        c->rtc->counters.opened++;
        c->rtc->config.opened(c->rtc->config.user, c->of);
    }
    bool waits = c->sctp && foliot__sctp_is_clogged(c->sctp);
    if (c->waited && !waits && !c->over) {
        c->waited = false;
        c->rtc->config.drained(c->rtc->config.user, c->of);
    }
    foliot__rtc *rtc = c->rtc;
    void *of = c->of;
    const char *why = c->over;
    if (!why)
        return;
    rtc->counters.failed += !c->told_open;
    rtc->counters.lost += c->told_open;
    destroy_channel(c);
    rtc->config.closed(rtc->config.user, of, why);
}

void foliot__rtc_close(foliot__rtc_channel *channel)
{
    if (!channel)
        return;
    channel->rtc->counters.failed += !channel->told_open;
    destroy_channel(channel);
}

// -- datagrams

static bool too_many(foliot__rtc_channel *c, uint64_t now_ns)
{
    return !foliot__bucket_spend(&c->packets, FOLIOT__RTC_PACKETS_BURST,
                                 1e9 / FOLIOT__RTC_PACKETS_SECOND, now_ns);
}

// The channel that a request is meant for, by a user name "OURS:THEIRS"; NULL: none.
static foliot__rtc_channel *by_name(const foliot__rtc *rtc, const foliot__stun_message *m)
{
    if (!m->username || m->username_bytes < FOLIOT__RTC_UFRAG_BYTES + 2 ||
        m->username[FOLIOT__RTC_UFRAG_BYTES] != ':')
        return NULL;
    uint32_t index = foliot__rtc_index_of((const char *)m->username);
    foliot__rtc_channel *c = index < rtc->config.channels_max ? rtc->channels[index] : NULL;
    const char *theirs = (const char *)m->username + FOLIOT__RTC_UFRAG_BYTES + 1;
    size_t length = m->username_bytes - FOLIOT__RTC_UFRAG_BYTES - 1;
    return c && memcmp(c->ufrag, m->username, FOLIOT__RTC_UFRAG_BYTES) == 0 &&
                   length == strlen(c->offer.ufrag) && memcmp(theirs, c->offer.ufrag, length) == 0
               ? c
               : NULL;
}

static void receive_request(foliot__rtc *rtc, const foliot__rtc_datagram *d,
                            const foliot__stun_message *m, uint64_t now_ns)
{
    uint8_t answer[FOLIOT__STUN_ANSWER_BYTES];
    foliot__rtc_channel *c = by_name(rtc, m);
    if (!c) {
        rtc->counters.unauthentic++;
        return;
    }
    if (too_many(c, now_ns)) {
        rtc->counters.too_many++;
        return;
    }
    if (!foliot__stun_authentic(d->bytes, m, c->password, sizeof c->password - 1)) {
        rtc->counters.unauthentic++;
        return;
    }
    c->asked_ns = now_ns;
    foliot__rtc_path once = {.address = d->from, .address_bytes = d->from_bytes};
    // An authentic request came from this address: the channel's path, or a candidate. Sources can
    // be spoofed: without a known path the channel begins at this address, unless
    // another channel has validated that address and still sends requests; otherwise this channel
    // waits for an answer to a check. NULL: the address is ignored.
    foliot__rtc_path *path;
    foliot__rtc_path fresh = {.used = true, .address = d->from, .address_bytes = d->from_bytes};
    fresh.key = key_of(&d->from);
    if (c->path.used && same_address(&c->path.key, &fresh.key)) {
        path = &c->path;
    } else if (c->candidate.used && same_address(&c->candidate.key, &fresh.key)) {
        path = &c->candidate;
    } else if (c->path.used && !m->use_candidate) {
        path = NULL;
    } else {
        const foliot__rtc_channel *other = by_address(c->rtc, &fresh.key);
        bool taken =
            other && other->path.validation.validated && c->asked_ns - other->asked_ns < KEPT_NS;
        if (!c->path.used && !taken) {
            use_path(c, &fresh);
            path = &c->path;
        } else {
            c->candidate = fresh;
            path = &c->candidate;
        }
    }
    bool asks = path && !path->validation.validated;
    path = path ? path : &once;
    foliot__address_received(&path->validation, d->length);
    if (asks) // first, so that it is answered before a handshake begins
        check_path(c, path, now_ns);
    size_t length = foliot__stun_answer(m, (const struct sockaddr *)&d->from, c->password,
                                        sizeof c->password - 1, answer);
    if (length > 0 && length <= d->length)
        foliot__rtc_send_to(rtc, path, answer, length);
}

static bool answers(const foliot__rtc_path *path, const foliot__rtc_datagram *d,
                    const foliot__stun_message *m)
{
    foliot__rtc_address key = key_of(&d->from);
    return path->used && path->checked_ns > path->answered_ns && same_address(&path->key, &key) &&
           CRYPTO_memcmp(path->transaction, m->transaction, sizeof m->transaction) == 0;
}

// The answer to a check: the browser receives at that address.
static void receive_answer(foliot__rtc *rtc, const foliot__rtc_datagram *d,
                           const foliot__stun_message *m, uint64_t now_ns)
{
    uint32_t index = 0;
    for (int i = 0; i < FOLIOT__RTC_INDEX_BYTES; i++)
        index |= (uint32_t)m->transaction[i] << (8 * i);
    foliot__rtc_channel *c = index < rtc->config.channels_max ? rtc->channels[index] : NULL;
    foliot__rtc_path *path = c && answers(&c->path, d, m)        ? &c->path
                             : c && answers(&c->candidate, d, m) ? &c->candidate
                                                                 : NULL;
    if (!path ||
        !foliot__stun_authentic(d->bytes, m, c->offer.password, strlen(c->offer.password))) {
        rtc->counters.unauthentic++;
        return;
    }
    foliot__address_validate(&path->validation);
    path->answered_ns = now_ns;
    if (path == &c->candidate) {
        use_path(c, path);
        c->candidate.used = false;
    }
    if (c->offer.waits && !c->dtls) {
        foliot__rtc_shake(c);
        look_at(c);
    }
}

void foliot__rtc_receive_datagram(foliot__rtc *rtc, const foliot__rtc_datagram *d, uint64_t now_ns)
{
    rtc->counters.datagrams++;
    switch (foliot__rtc_protocol_of(d->bytes, d->length)) {
    case FOLIOT__RTC_STUN: {
        foliot__stun_message m;
        bool read = foliot__stun_read(d->bytes, d->length, &m) && m.has_fingerprint && !m.unknown;
        if (read && m.type == FOLIOT__STUN_BINDING_REQUEST)
            receive_request(rtc, d, &m, now_ns);
        else if (read && m.type == FOLIOT__STUN_BINDING_SUCCESS)
            receive_answer(rtc, d, &m, now_ns);
        else
            rtc->counters.unauthentic++;
        break;
    }
    case FOLIOT__RTC_DTLS: {
        foliot__rtc_address key = key_of(&d->from);
        foliot__rtc_channel *c = by_address(rtc, &key);
        if (!c) {
            rtc->counters.strangers++;
        } else if (too_many(c, now_ns)) {
            rtc->counters.too_many++;
        } else {
            foliot__address_received(&c->path.validation, d->length);
            foliot__rtc_channel_receive(c, d->bytes, d->length);
            look_at(c);
        }
        break;
    }
    default:
        rtc->counters.strangers++;
    }
}

void foliot__rtc_receive(foliot__rtc *rtc, uint64_t now_ns)
{
    static _Thread_local uint8_t bytes[BATCH][DATAGRAM_BYTES];
    struct sockaddr_storage from[BATCH];
    struct iovec parts[BATCH];
    struct mmsghdr heads[BATCH];
    for (int batch = 0, got = BATCH; batch < BATCHES && got == BATCH; batch++) {
        for (int i = 0; i < BATCH; i++) {
            parts[i] = (struct iovec){.iov_base = bytes[i], .iov_len = DATAGRAM_BYTES};
            heads[i] = (struct mmsghdr){.msg_hdr = {.msg_name = &from[i],
                                                    .msg_namelen = sizeof from[i],
                                                    .msg_iov = &parts[i],
                                                    .msg_iovlen = 1}};
        }
        got = recvmmsg(rtc->descriptor, heads, BATCH, MSG_DONTWAIT, NULL);
        for (int i = 0; i < got; i++) {
            foliot__rtc_datagram d = {bytes[i], heads[i].msg_len, from[i],
                                      heads[i].msg_hdr.msg_namelen};
            foliot__rtc_receive_datagram(rtc, &d, now_ns);
        }
    }
}

bool foliot__rtc_tick(foliot__rtc *rtc, uint64_t now_ns)
{
    uint64_t elapsed_ms = (now_ns - rtc->ticked_ns) / 1000000u;
    if (elapsed_ms > 0) {
        rtc->ticked_ns += elapsed_ms * 1000000u;
        foliot__sctp_tick(elapsed_ms < 1000 ? (uint32_t)elapsed_ms : 1000);
    }
    for (uint32_t i = 0; i < rtc->config.channels_max && rtc->count > 0; i++) {
        foliot__rtc_channel *c = rtc->channels[i];
        if (!c)
            continue;
        // Checks continue on the path, so that packets to a peer that left stop soon (RFC 7675).
        foliot__rtc_path *path = &c->path;
        if (path->used && path->validation.validated) {
            uint64_t ago_ns = now_ns - path->answered_ns;
            if (ago_ns > FOLIOT__RTC_CONSENT_SECONDS * SECOND_NS)
                path->validation = (foliot__address_validation){.validated = false};
            else if (ago_ns > CONSENT_EVERY_NS && now_ns - path->checked_ns > SECOND_NS)
                check_path(c, path, now_ns);
        }
        if (c->dtls)
            foliot__dtls_tick(c->dtls);
        if (c->sctp && !c->over && foliot__sctp_probe(c->sctp, now_ns))
            rtc->counters.path_probes++;
        if (!c->over && !c->told_open &&
            now_ns - c->begun_ns > FOLIOT__RTC_OPEN_SECONDS * (uint64_t)1000000000u)
            c->over = c->path.used ? "its handshake took too long"
                                   : "no datagram arrived: UDP may be blocked";
        if (!c->over && now_ns - c->asked_ns > FOLIOT__RTC_SILENCE_SECONDS * (uint64_t)1000000000u)
            c->over = "it went silent";
        look_at(c);
    }
    return rtc->count > 0;
}

// -- offers

foliot__rtc_channel *foliot__rtc_offer(foliot__rtc *rtc, void *of, const char *local,
                                       const char *offer, size_t length, uint64_t now_ns,
                                       char answer[FOLIOT__SDP_ANSWER_BYTES], const char **problem)
{
    uint32_t index = 0;
    foliot__rtc_channel *c = calloc(1, sizeof *c);
    rtc->counters.offers++;
    *problem = "there is no room for another channel";
    while (index < rtc->config.channels_max && rtc->channels[index])
        index++;
    if (!c || index == rtc->config.channels_max ||
        !foliot__sdp_read(offer, length, &c->offer, problem) || !foliot__rtc_name(c, index)) {
        free(c);
        return NULL;
    }
    if (rtc->count == 0)
        rtc->ticked_ns = now_ns;
    c->rtc = rtc;
    c->of = of;
    c->index = index;
    c->begun_ns = c->asked_ns = now_ns;
    c->packets = (foliot__bucket){FOLIOT__RTC_PACKETS_BURST, now_ns};
    rtc->channels[index] = c;
    rtc->count++;
    foliot__sdp_answer said = {.ufrag = c->ufrag,
                               .password = c->password,
                               .mid = c->offer.mid,
                               .fingerprint = foliot__dtls_context_get_fingerprint(rtc->dtls),
                               .sctp_port = FOLIOT__SCTP_PORT,
                               .port = rtc->port,
                               .message_bytes_max = FOLIOT__SCTP_MESSAGE_BYTES,
                               .begins = c->offer.waits};
    foliot__rtc_find_candidates(rtc, local, said.candidates);
    foliot__sdp_write(&said, answer);
    return c;
}

foliot__rtc_way foliot__rtc_get_way(const foliot__rtc_channel *channel, uint64_t now_ns)
{
    uint64_t silent_ns = channel->sctp ? foliot__sctp_get_silent_ns(channel->sctp) : 0;
    if (channel->over || !channel->told_open)
        return FOLIOT__RTC_ABSENT;
    if (silent_ns && now_ns > silent_ns && now_ns - silent_ns > FOLIOT__RTC_DOUBT_MS * 1000000u)
        return FOLIOT__RTC_ABSENT;
    return foliot__sctp_is_clogged(channel->sctp) ? FOLIOT__RTC_WAIT : FOLIOT__RTC_READY;
}

bool foliot__rtc_send(foliot__rtc_channel *channel, const uint8_t *bytes, size_t length,
                      uint64_t now_ns)
{
    foliot__sctp_sent sent = foliot__sctp_send(channel->sctp, bytes, length, now_ns);
    channel->waited = channel->waited || sent == FOLIOT__SCTP_WAITS;
    return sent != FOLIOT__SCTP_NOT_SENT;
}

// -- life

foliot__rtc *foliot__rtc_create(const foliot__rtc_config *config, char *problem,
                                size_t problem_bytes)
{
    foliot__rtc *rtc = calloc(1, sizeof *rtc);
    snprintf(problem, problem_bytes, "no memory");
    if (!rtc)
        return NULL;
    rtc->config = *config;
    rtc->datagram_bytes =
        config->mtu && config->mtu - FOLIOT__PATH_HEADS_BYTES < FOLIOT__SCTP_DATAGRAM_BYTES
            ? config->mtu - FOLIOT__PATH_HEADS_BYTES
            : FOLIOT__SCTP_DATAGRAM_BYTES;
    rtc->descriptor = -1;
    rtc->channels = calloc(config->channels_max, sizeof(foliot__rtc_channel *));
    rtc->buckets = calloc(config->channels_max, sizeof(foliot__rtc_channel *));
    if (!rtc->channels || !rtc->buckets) {
        foliot__rtc_destroy(rtc);
        return NULL;
    }
    rtc->dtls = foliot__dtls_context_create();
    if (!rtc->dtls || RAND_bytes((unsigned char *)&rtc->secret, sizeof rtc->secret) != 1)
        snprintf(problem, problem_bytes, "OpenSSL cannot make a certificate");
    else if (!foliot__rtc_listen(rtc))
        snprintf(problem, problem_bytes, "UDP port %u on %s: %s", config->port, config->address,
                 strerror(errno));
    else if (!(rtc->has_sctp = foliot__sctp_start(config->channels_max)))
        snprintf(problem, problem_bytes, "another part of this process has data channels");
    else
        return rtc;
    foliot__rtc_destroy(rtc);
    return NULL;
}

void foliot__rtc_destroy(foliot__rtc *rtc)
{
    if (!rtc)
        return;
    for (uint32_t i = 0; rtc->channels && i < rtc->config.channels_max; i++)
        foliot__rtc_close(rtc->channels[i]);
    if (rtc->has_sctp)
        foliot__sctp_stop();
    foliot__dtls_context_destroy(rtc->dtls);
    if (rtc->descriptor >= 0)
        close(rtc->descriptor);
    free(rtc->channels);
    free(rtc->buckets);
    free(rtc);
}

int foliot__rtc_get_descriptor(const foliot__rtc *rtc)
{
    return rtc->descriptor;
}

uint16_t foliot__rtc_get_port(const foliot__rtc *rtc)
{
    return rtc->port;
}

const foliot__rtc_counters *foliot__rtc_get_counters(const foliot__rtc *rtc)
{
    return &rtc->counters;
}
