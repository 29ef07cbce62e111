// SPDX-License-Identifier: MIT
// Goal: a server that is not there, or that accepts a connection and never answers the hello, ends
// a client after config.connect_timeout_ms with a reason, and not sooner. Such a client waited for
// as long as the connection lived. Method: the memory transport with nobody, and with a host that
// reads and says nothing.
#include "../support/check.h"

#include <string.h>

#include "foliot/client.h"

#define MS 1000000u

static void check_given_up(bool host_listens, double timeout_ms, uint32_t transport_ms)
{
    foliot_hub *hub;
    foliot_transport *host = NULL, *wire;
    foliot_client *client;
    foliot_transport_event event;
    foliot_transport_config config = foliot_transport_config_default();
    uint64_t now_ns = 1000 * MS, end_ns = now_ns + 40000 * (uint64_t)MS;
    config.timeout_ms = transport_ms;
    assert_int_equal(foliot_hub_create(&hub), FOLIOT_STATUS_OK);
    if (host_listens) {
        foliot_transport_config listening = config;
        listening.bind = "127.0.0.1";
        listening.port = 7777;
        assert_int_equal(foliot_transport_create_memory(hub, &listening, now_ns, &host),
                         FOLIOT_STATUS_OK);
    }
    assert_int_equal(foliot_transport_create_memory(hub, &config, now_ns, &wire), FOLIOT_STATUS_OK);
    foliot_client_config about = foliot_client_config_default();
    about.transport = wire;
    about.connect_timeout_ms = timeout_ms;
    assert_int_equal(foliot_client_create(&about, now_ns, &client), FOLIOT_STATUS_OK);
    uint64_t began_ns = now_ns;
    while (now_ns < end_ns && foliot_client_get_state(client) != FOLIOT_CLIENT_LOST) {
        now_ns += 10 * MS;
        while (host && foliot_transport_poll(host, now_ns, &event))
            ;
        foliot_client_update(client, now_ns);
        if (host)
            foliot_transport_flush(host, now_ns);
    }
    double took_ms = (double)(now_ns - began_ns) / MS;
    assert_int_equal(foliot_client_get_state(client), FOLIOT_CLIENT_LOST);
    check_ge(took_ms, timeout_ms);
    check_lt(took_ms, timeout_ms + 100);
    assert_non_null(strstr(foliot_client_get_reason(client), "no answer from 127.0.0.1:7777 in "));
    assert_true(foliot_client_get_retryable(client));
    foliot_client_update(client, now_ns + 100 * MS); // what ended stays ended
    assert_int_equal(foliot_client_get_state(client), FOLIOT_CLIENT_LOST);
    foliot_client_destroy(client);
    foliot_transport_destroy(wire);
    foliot_transport_destroy(host);
    foliot_hub_destroy(hub);
}

TEST(nobody_there_is_given_up_in_time)
{
    check_given_up(false, 2000, 10000);
}

TEST(a_host_that_says_nothing_is_given_up_in_time)
{
    check_given_up(true, 3000, 10000);
    check_given_up(true, 12000, 10000);
}
