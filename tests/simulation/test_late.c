// SPDX-License-Identifier: MIT
// test_late.c: what a server says of late ticks. Goal: once a second at most, with how late they
// were, and nothing of a host that keeps its time. Method: a host that updates 20 or 200 times a
// second, on a virtual clock.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "foliot/foliot.h"

#define SECONDS 10u

// Updates a session of 60 Hz so often; returns how many events said that ticks were late, the worst
// of them in *ms.
static uint32_t late_events(uint32_t updates_hz, double *ms)
{
    foliot_body_definition body = foliot_body_definition_default();
    foliot_scene scene = foliot_scene_default();
    foliot_world *world;
    foliot_hub *hub;
    foliot_transport *transport;
    foliot_server *server;
    foliot_server_event event;
    uint32_t count = 0;
    body.name = "one";
    scene.name = "late";
    scene.dt = 1.0 / 60;
    scene.bodies = &body;
    scene.body_count = 1;
    assert_int_equal(foliot_hub_create(&hub), FOLIOT_STATUS_OK);
    foliot_transport_config wire = foliot_transport_config_default();
    wire.bind = "127.0.0.1";
    assert_int_equal(foliot_transport_create_memory(hub, &wire, 0, &transport), FOLIOT_STATUS_OK);
    foliot_server_config config = foliot_server_config_default();
    config.transport = transport;
    assert_int_equal(foliot_server_create(&config, 0, &server), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_create(&scene, &world, NULL), FOLIOT_STATUS_OK);
    foliot_session_config session = foliot_session_config_default();
    session.scene = &scene;
    session.world = world;
    assert_int_equal(foliot_server_add_session(server, &session, 0), FOLIOT_STATUS_OK);
    *ms = 0;
    for (uint32_t i = 1; i <= SECONDS * updates_hz; i++) {
        foliot_server_update(server, 1000000000ull * i / updates_hz);
        while (foliot_server_poll(server, &event))
            if (event.kind == FOLIOT_SERVER_LATE) {
                double said = atof(event.text);
                assert_non_null(strstr(event.text, " ms"));
                *ms = said > *ms ? said : *ms;
                count++;
            }
    }
    foliot_server_destroy(server);
    foliot_transport_destroy(transport);
    foliot_hub_destroy(hub);
    return count;
}

static void once_a_second_with_milliseconds(void **state)
{
    (void)state;
    double ms;
    uint32_t count = late_events(20, &ms); // the first of three ticks is 33 ms late
    check_ge(count, SECONDS - 1);
    check_le(count, SECONDS);
    assert_true(ms > 30 && ms < 50);
}

static void not_of_a_host_that_keeps_its_time(void **state)
{
    (void)state;
    double ms;
    check_eq(late_events(200, &ms), 0u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(once_a_second_with_milliseconds),
        cmocka_unit_test(not_of_a_host_that_keeps_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
