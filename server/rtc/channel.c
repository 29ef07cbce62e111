// SPDX-License-Identifier: MIT
// channel.c: see channel.h.
#include "rtc/channel.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/address.h"

// -- names

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static bool make_up(char *text, size_t length)
{
    uint8_t random[FOLIOT__RTC_PASSWORD_BYTES];
    if (RAND_bytes(random, (int)length) != 1)
        return false;
    for (size_t i = 0; i < length; i++)
        text[i] = letters[random[i] & 63];
    return true;
}

bool foliot__rtc_name(foliot__rtc_channel *c, uint32_t index)
{
    if (!make_up(c->ufrag, FOLIOT__RTC_UFRAG_BYTES) ||
        !make_up(c->password, FOLIOT__RTC_PASSWORD_BYTES))
        return false;
    for (int i = 0; i < FOLIOT__RTC_INDEX_BYTES; i++)
        c->ufrag[i] = letters[index >> (6 * i) & 63];
    return true;
}

uint32_t foliot__rtc_index_of(const char ufrag[FOLIOT__RTC_UFRAG_BYTES])
{
    uint32_t index = 0;
    for (int i = 0; i < FOLIOT__RTC_INDEX_BYTES; i++) {
        const char *at = ufrag[i] ? strchr(letters, ufrag[i]) : NULL;
        if (!at)
            return UINT32_MAX;
        index |= (uint32_t)(at - letters) << (6 * i);
    }
    return index;
}

// -- layers

void foliot__rtc_send_to(foliot__rtc *rtc, foliot__rtc_path *path, const uint8_t *bytes,
                         size_t length)
{
    if (!foliot__address_may_send(&path->validation, length)) {
        rtc->counters.withheld++;
        return;
    }
    // A datagram that the socket refuses is lost, as on the network.
    sendto(rtc->descriptor, bytes, length, MSG_DONTWAIT, (const struct sockaddr *)&path->address,
           path->address_bytes);
}

static void send_datagram(void *user, const uint8_t *bytes, size_t length)
{
    foliot__rtc_channel *c = user;
    if (c->path.used)
        foliot__rtc_send_to(c->rtc, &c->path, bytes, length);
}

static void receive_packet(void *user, const uint8_t *bytes, size_t length)
{
    foliot__rtc_channel *c = user;
    foliot__rtc_look(c); // the first one may come with the handshake's end
    if (c->sctp)
        foliot__sctp_receive(c->sctp, bytes, length);
}

static void send_packet(void *user, const uint8_t *bytes, size_t length)
{
    foliot__rtc_channel *c = user;
    foliot__dtls_send(c->dtls, bytes, length);
}

void foliot__rtc_receive_message(void *user, const uint8_t *bytes, size_t length)
{
    foliot__rtc_channel *c = user;
    if (!c->told_open || c->over)
        return;
    if (c->packets.tokens < 1) { // its datagram has filled the bucket
        c->rtc->counters.too_many++;
        return;
    }
    c->packets.tokens -= 1;
    c->rtc->config.received(c->rtc->config.user, c->of, bytes, length);
}

static const foliot__dtls_hook below = {send_datagram, receive_packet};
static const foliot__sctp_hook above = {send_packet, foliot__rtc_receive_message};

static bool make_dtls(foliot__rtc_channel *c)
{
    if (!c->dtls)
        c->dtls =
            foliot__dtls_create(c->rtc->dtls, c->offer.waits, c->offer.fingerprint, &below, c);
    if (!c->dtls)
        c->over = "no memory is left for it";
    return !c->over;
}

void foliot__rtc_shake(foliot__rtc_channel *c)
{
    if (make_dtls(c))
        foliot__dtls_start(c->dtls);
}

void foliot__rtc_channel_receive(foliot__rtc_channel *c, const uint8_t *bytes, size_t length)
{
    if (c->offer.waits && !c->dtls)
        c->rtc->counters.strangers++; // the server has not begun
    else if (make_dtls(c))
        foliot__dtls_receive(c->dtls, bytes, length);
}

void foliot__rtc_look(foliot__rtc_channel *c)
{
    if (c->over || !c->dtls)
        return;
    foliot__dtls_state state = foliot__dtls_get_state(c->dtls);
    if (state == FOLIOT__DTLS_OVER)
        c->over = foliot__dtls_is_foreign(c->dtls) ? "its certificate does not match its offer"
                  : c->sctp                        ? "the browser closed it"
                                                   : "its handshake failed";
    if (state != FOLIOT__DTLS_OPEN)
        return;
    if (!c->sctp) {
        c->sctp = foliot__sctp_create(c->offer.sctp_port, c->rtc->datagram_bytes, &above, c);
        if (!c->sctp)
            c->over = "no memory is left for it";
    } else if (foliot__sctp_get_state(c->sctp) == FOLIOT__SCTP_OVER) {
        c->over = "its association ended";
    }
}

// -- the socket, and where it is found

bool foliot__rtc_listen(foliot__rtc *rtc)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(rtc->config.port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(rtc->config.port)};
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    bool is_four = inet_pton(AF_INET, rtc->config.address, &four.sin_addr) == 1;
    if (!is_four && inet_pton(AF_INET6, rtc->config.address, &six.sin6_addr) != 1)
        return false;
    rtc->descriptor =
        socket(is_four ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const struct sockaddr *own = is_four ? (struct sockaddr *)&four : (struct sockaddr *)&six;
    if (rtc->descriptor < 0 ||
        bind(rtc->descriptor, own, is_four ? sizeof four : sizeof six) != 0 ||
        getsockname(rtc->descriptor, (struct sockaddr *)&name, &length) != 0)
        return false;
    foliot__set_fragments(rtc->descriptor, false);
    rtc->port = ntohs(is_four ? ((struct sockaddr_in *)(void *)&name)->sin_port
                              : ((struct sockaddr_in6 *)(void *)&name)->sin6_port);
    return true;
}

// Adds an address, unless it is a wildcard or already in the list.
static uint32_t add(char candidates[FOLIOT__SDP_CANDIDATES_MAX][46], uint32_t count,
                    const char *text)
{
    uint8_t address[16];
    if (strncmp(text, "::ffff:", 7) == 0 && strchr(text, '.'))
        text += 7;
    if (count == FOLIOT__SDP_CANDIDATES_MAX || strlen(text) > 45 || strcmp(text, "0.0.0.0") == 0 ||
        strcmp(text, "::") == 0 ||
        (inet_pton(AF_INET, text, address) != 1 && inet_pton(AF_INET6, text, address) != 1))
        return count;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(candidates[i], text) == 0)
            return count;
    snprintf(candidates[count], 46, "%s", text);
    return count + 1;
}

void foliot__rtc_find_candidates(const foliot__rtc *rtc, const char *local,
                                 char candidates[FOLIOT__SDP_CANDIDATES_MAX][46])
{
    const char *own = rtc->config.address;
    uint32_t count = add(candidates, 0, rtc->config.public_address);
    if (strcmp(own, "0.0.0.0") != 0 && strcmp(own, "::") != 0) {
        add(candidates, count, own);
        return;
    }
    struct ifaddrs *all;
    if (add(candidates, count, local) > count || getifaddrs(&all) != 0)
        return;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && (i->ifa_flags & IFF_UP) &&
            !(i->ifa_flags & IFF_LOOPBACK)) {
            const struct sockaddr_in *found = (const struct sockaddr_in *)(const void *)i->ifa_addr;
            char text[INET6_ADDRSTRLEN];
            inet_ntop(AF_INET, &found->sin_addr, text, sizeof text);
            count = add(candidates, count, text);
        }
    freeifaddrs(all);
}
