// SPDX-License-Identifier: MIT
// test_socket.c: what waits for a page that does not poll, as one in the background, is bounded
// (web/socket.c), and comes in order once it polls.
#include "check.h"

#include <string.h>

#include "page.h"
#include "status.h"

#define TINY_MAX 200000u // of 8 MiB: a message costs more than its bytes

void page_connect(void);
void page_disconnect(uint32_t reason);
void page_send(uint32_t reliable, const uint8_t *bytes, size_t length);

void page_connect(void)
{
}

void page_disconnect(uint32_t reason)
{
    (void)reason;
}

void page_send(uint32_t reliable, const uint8_t *bytes, size_t length)
{
    (void)reliable, (void)bytes, (void)length;
}

static uint32_t polled(foliot_transport *t)
{
    foliot_transport_event event;
    uint32_t count = 0;
    while (foliot_transport_poll(t, 0, &event))
        if (event.kind == FOLIOT_TRANSPORT_RECEIVED) {
            uint32_t number;
            memcpy(&number, event.bytes, sizeof number);
            check_eq(number, count);
            count++;
        }
    return count;
}

static uint32_t taken(size_t length)
{
    static uint8_t bytes[65536];
    uint32_t count = 0;
    for (; count <= TINY_MAX; count++) {
        memcpy(bytes, &count, sizeof count);
        if (!web_socket_received(FOLIOT_DELIVERY_RELIABLE, 0, bytes, length))
            break;
    }
    return count;
}

TEST(what_waits_is_bounded_however_small_it_is)
{
    foliot_transport *t = web_socket_transport();
    foliot_peer_id peer;
    demand(foliot_transport_connect(t, "", 0, 0, &peer));
    assert_true(web_socket_opened());
    for (int round = 0; round < 2; round++) { // what was polled has left its room to others
        uint32_t small = taken(sizeof(uint32_t));
        check_le(small, TINY_MAX - 1);
        check_eq(polled(t), small);
        uint32_t large = taken(65536);
        check_eq(large, 127); // of 8 MiB, with what holds each
        check_eq(polled(t), large);
    }
    foliot_transport_disconnect(t, peer, 0, true);
}
