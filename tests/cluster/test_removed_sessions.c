// SPDX-License-Identifier: MIT
// Goal: sessions that come and go leave nothing behind, and events of one that is gone still have
// its name. Method: a server over the transport in memory; the heap is counted after a hundred
// sessions and after five hundred more; events wait while the place of their session is taken.
#include "check.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "foliot/server.h"
#include "cluster.h"

#define FIRST 100
#define MORE 500
#define TICK_NS 16666667u

typedef struct host {
    cluster *c;
    foliot_scene *scene;
} host;

static void open_host(host *h)
{
    foliot_error error;
    h->c = cluster_create(&(cluster_options){.world = CLUSTER_EMPTY});
    cluster_serve(h->c, NULL, NULL);
    assert_int_equal(foliot_scene_read("scenes/pendulum.yaml", &h->scene, &error),
                     FOLIOT_STATUS_OK);
}

static void close_host(host *h)
{
    cluster_destroy(h->c);
    foliot_scene_destroy(h->scene);
}

static void add(host *h, const char *name)
{
    foliot_session_config session = foliot_session_config_default();
    session.name = name;
    session.scene = h->scene;
    cluster_host(h->c, &session);
}

static void end(host *h, const char *name)
{
    for (int i = 0; i < 3; i++)
        foliot_server_update(h->c->server, h->c->now_ns += TICK_NS);
    assert_int_equal(foliot_server_end_session(h->c->server, name, "", h->c->now_ns),
                     FOLIOT_STATUS_OK);
    foliot_server_update(h->c->server, h->c->now_ns += TICK_NS);
}

static size_t heap_after(host *h, int sessions)
{
    char name[32];
    foliot_server_event event;
    for (int i = 0; i < sessions; i++) {
        snprintf(name, sizeof name, "game-%d", i % 7);
        add(h, name);
        end(h, name);
        assert_int_equal(foliot_server_remove_session(h->c->server, name), FOLIOT_STATUS_OK);
        while (foliot_server_poll(h->c->server, &event))
            assert_string_equal(event.session, name);
    }
    return mallinfo2().uordblks;
}

TEST(sessions_that_were_removed_leave_nothing_behind)
{
    host h;
    open_host(&h);
    size_t before = heap_after(&h, FIRST), after = heap_after(&h, MORE);
    assert_in_range(after, 0, before + 4096); // a few bytes are whoever prints
    close_host(&h);
}

TEST(an_event_has_the_name_of_a_session_that_is_gone)
{
    host h;
    foliot_server_event event;
    open_host(&h);
    add(&h, "former");
    end(&h, "former");
    assert_int_equal(foliot_server_remove_session(h.c->server, "former"), FOLIOT_STATUS_OK);
    add(&h, "latter");
    end(&h, "latter");
    assert_true(foliot_server_poll(h.c->server, &event));
    assert_string_equal(event.session, "former");
    assert_true(foliot_server_poll(h.c->server, &event));
    assert_string_equal(event.session, "latter");
    assert_false(foliot_server_poll(h.c->server, &event));
    close_host(&h);
}
