// SPDX-License-Identifier: MIT
// test_late.c: what a server says of late ticks. Goal: once a second at most, with how late they
// were, and nothing of a host that keeps its time. Method: a host that updates 20 or 200 times a
// second, on a virtual clock.
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

#define SECONDS 10u

// Updates a session of 60 Hz at that rate. Returns the number of events of late ticks; *ms is the
// latest of their ticks.
static uint64_t late_events(uint32_t updates_hz, double *ms)
{
    foliot_body_definition body = foliot_body_definition_default();
    foliot_scene scene = foliot_scene_default();
    body.name = "one";
    scene.name = "late";
    scene.dt = 1.0 / 60;
    scene.bodies = &body;
    scene.body_count = 1;
    cluster *c = cluster_create(
        &(cluster_options){.world = CLUSTER_EMPTY, .step_ns = 1000000000u / updates_hz});
    cluster_serve(c, NULL, NULL);
    foliot_session_config session = foliot_session_config_default();
    session.scene = &scene;
    cluster_host(c, &session);
    const foliot_server_event *late = &c->last[FOLIOT_SERVER_LATE];
    *ms = 0;
    for (uint32_t i = 1; i <= SECONDS * updates_hz; i++) {
        c->now_ns += c->step_ns;
        cluster_update(c);
        if (c->events[FOLIOT_SERVER_LATE] > 0) {
            assert_non_null(strstr(late->text, " ms"));
            *ms = fmax(*ms, atof(late->text));
        }
    }
    uint64_t count = c->events[FOLIOT_SERVER_LATE];
    cluster_destroy(c);
    return count;
}

TEST(once_a_second_with_milliseconds)
{
    double ms;
    uint64_t count = late_events(20, &ms); // the first of three ticks is 33 ms late
    check_ge(count, SECONDS - 1);
    check_le(count, SECONDS);
    assert_true(ms > 30 && ms < 50);
}

TEST(not_of_a_host_that_keeps_its_time)
{
    double ms;
    check_eq(late_events(200, &ms), 0u);
}
