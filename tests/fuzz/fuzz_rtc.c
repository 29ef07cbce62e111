// SPDX-License-Identifier: MIT
// fuzz_rtc.c: any datagrams at the socket of data channels, from three addresses: as they are, or
// as STUN of a user that has the password. A byte says which, two say how long, and the rest
// follows. Whatever comes, only an address that asked with the password has a channel, and no
// address is validated.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <openssl/crypto.h>

#include "base/assert.h"
#include "rtc/channel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define AUTHENTIC 1 // of the first byte; the next two bits are the address
#define CLOSES 8
#define TICKS 16

static const char offer[] =
    "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=ice-ufrag:cD4T\r\n"
    "a=ice-pwd:yBtUPgO4YDbycBVRxxvOaU/F\r\na=fingerprint:sha-256 "
    "EE:31:FD:9F:DA:DB:D0:5B:46:29:65:41:F9:E3:D4:EB:12:1B:F8:B7:9C:E3:A6:BB:7C:32:18:27:25:BD:FA:"
    "6D\r\na=setup:active\r\na=mid:0\r\na=sctp-port:5000\r\n";

static foliot__rtc *rtc;
static foliot__rtc_channel *channel;
static uint64_t now_ns;

static void on_message(void *user, void *of, const uint8_t *bytes, size_t length)
{
    (void)user, (void)of, (void)bytes, (void)length;
    FOLIOT_ASSERT(false); // nobody here has the certificate
}

static void on_open(void *user, void *of)
{
    on_message(user, of, NULL, 0);
}

static void on_end(void *user, void *of, const char *why)
{
    (void)user, (void)of;
    FOLIOT_ASSERT(why && *why);
    channel = NULL;
}

static void on_drain(void *user, void *of)
{
    on_message(user, of, NULL, 0);
}

static void set_up(void)
{
    char problem[256], answer[FOLIOT__SDP_ANSWER_BYTES];
    const char *why;
    foliot__rtc_config config = {.address = "127.0.0.1",
                                 .public_address = "",
                                 .channels_max = 4,
                                 .received = on_message,
                                 .opened = on_open,
                                 .closed = on_end,
                                 .drained = on_drain};
    if (!rtc)
        rtc = foliot__rtc_create(&config, problem, sizeof problem);
    FOLIOT_ASSERT(rtc);
    if (!channel)
        channel = foliot__rtc_offer(rtc, NULL, "", offer, sizeof offer - 1, now_ns, answer, &why);
    FOLIOT_ASSERT(channel);
}

// A binding request with user name and password, and these bytes as one attribute more.
static size_t make_authentic(uint8_t *out, const uint8_t *bytes, size_t length)
{
    char name[32];
    int name_bytes = snprintf(name, sizeof name, "%s:cD4T", channel->ufrag);
    uint8_t *at = out;
    length = length / 4 * 4;
    memcpy(at, "\0\1\0\0\x21\x12\xa4\x42", 8);
    memset(at + 8, 7, 12);
    at += 20;
    memcpy(at, "\0\6\0", 3);
    at[3] = (uint8_t)name_bytes;
    memset(at + 4, 0, 20);
    memcpy(at + 4, name, (size_t)name_bytes);
    at += 4 + (name_bytes + 3) / 4 * 4;
    memcpy(at, bytes, length);
    return foliot__stun_close(out, (size_t)(at - out) + length, channel->password,
                              FOLIOT__RTC_PASSWORD_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t made[FOLIOT__STUN_BYTES_MAX + 64];
    for (size_t at = 0; at + 3 <= size;) {
        uint8_t kind = data[at];
        size_t length = (size_t)data[at + 1] << 8 | data[at + 2];
        at += 3;
        length = length < size - at ? length : size - at;
        now_ns += 1000000;
        set_up();
        foliot__rtc_datagram d = {.bytes = data + at, .length = length};
        struct sockaddr_in from = {.sin_family = AF_INET, .sin_port = htons(9)};
        from.sin_addr.s_addr = htonl(0x7f000001u + (kind >> 1 & 3));
        memcpy(&d.from, &from, sizeof from);
        d.from_bytes = sizeof from;
        if (kind & AUTHENTIC) {
            d.length = make_authentic(made, data + at, length < 512 ? length : 512);
            d.bytes = made;
        }
        bool had = channel->path.used;
        foliot__rtc_receive_datagram(rtc, &d, now_ns);
        FOLIOT_ASSERT(!channel || channel->path.used == had || (kind & AUTHENTIC) || !had);
        if (channel && !had && channel->path.used)
            FOLIOT_ASSERT(kind & AUTHENTIC);
        if (channel) { // nobody here hears what an address is asked
            const foliot__address_validation *v = &channel->path.validation;
            FOLIOT_ASSERT(!v->validated && v->sent <= FOLIOT__AMPLIFICATION_MAX * v->received);
            FOLIOT_ASSERT(!channel->candidate.used || !channel->candidate.validation.validated);
        }
        at += length;
        if (kind & TICKS)
            foliot__rtc_tick(rtc, now_ns += 20000000);
        if (kind & CLOSES && channel) {
            foliot__rtc_close(channel);
            channel = NULL;
        }
    }
    return 0;
}
