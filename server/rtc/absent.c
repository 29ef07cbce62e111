// SPDX-License-Identifier: MIT
// absent.c: replaces data channels where this program is built without OpenSSL or usrsctp: browsers
// have only their WebSockets.
#include "rtc/present.h"

#if !FOLIOT__RTC_PRESENT

#include <stdio.h>

#include "rtc/rtc.h"

bool foliot__rtc_available(void)
{
    return false;
}

foliot__rtc *foliot__rtc_create(const foliot__rtc_config *config, char *problem,
                                size_t problem_bytes)
{
    (void)config;
    snprintf(problem, problem_bytes,
             "this foliot-server was built without data channels: install libssl-dev and "
             "libusrsctp-dev and build it again");
    return NULL;
}

void foliot__rtc_destroy(foliot__rtc *rtc)
{
    (void)rtc;
}

int foliot__rtc_get_descriptor(const foliot__rtc *rtc)
{
    (void)rtc;
    return -1;
}

uint16_t foliot__rtc_get_port(const foliot__rtc *rtc)
{
    (void)rtc;
    return 0;
}

const foliot__rtc_counters *foliot__rtc_get_counters(const foliot__rtc *rtc)
{
    static const foliot__rtc_counters none;
    (void)rtc;
    return &none;
}

void foliot__rtc_receive(foliot__rtc *rtc, uint64_t now_ns)
{
    (void)rtc;
    (void)now_ns;
}

bool foliot__rtc_tick(foliot__rtc *rtc, uint64_t now_ns)
{
    (void)rtc;
    (void)now_ns;
    return false;
}

foliot__rtc_channel *foliot__rtc_offer(foliot__rtc *rtc, void *of, const char *local,
                                       const char *offer, size_t length, uint64_t now_ns,
                                       char answer[FOLIOT__SDP_ANSWER_BYTES], const char **problem)
{
    (void)rtc;
    (void)of;
    (void)local;
    (void)offer;
    (void)length;
    (void)now_ns;
    (void)answer;
    *problem = "this server has no data channels";
    return NULL;
}

void foliot__rtc_close(foliot__rtc_channel *channel)
{
    (void)channel;
}

foliot__rtc_way foliot__rtc_get_way(const foliot__rtc_channel *channel, uint64_t now_ns)
{
    (void)channel;
    (void)now_ns;
    return FOLIOT__RTC_ABSENT;
}

bool foliot__rtc_send(foliot__rtc_channel *channel, const uint8_t *bytes, size_t length,
                      uint64_t now_ns)
{
    (void)channel;
    (void)bytes;
    (void)length;
    (void)now_ns;
    return false;
}

#endif
