// SPDX-License-Identifier: MIT
// test_step_events.c: the events of steps that a server queues for its host. Goal: at 20 frames and
// 60 ticks a second nothing is missed, everything has the names that it has for good, and what is
// lost is counted. Method: a session without clients on a virtual clock. The same commands are also
// given to a host that updates at every tick and reads the events of its world, which are complete.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "cluster.h"

#define TICK_NS 16666667u
#define FRAME_TICKS 3 // of 60 Hz in 50 ms

typedef struct host {
    foliot_scene scene;
    foliot_body_definition bodies[3];
    cluster *c;
} host;

static host *host_create(uint32_t events, uint32_t events_max)
{
    host *h = calloc(1, sizeof *h);
    for (int i = 0; i < 3; i++)
        h->bodies[i] = foliot_body_definition_default();
    h->bodies[0].is_static = true;
    h->bodies[0].name = "floor";
    h->bodies[0].shape = (foliot_shape){.kind = FOLIOT_SHAPE_PLANE, .normal = {0, 0, 1}};
    h->bodies[1].name = "anchor";
    h->bodies[1].is_static = true;
    h->bodies[1].is_sensor = false;
    h->bodies[1].position[0] = -50;
    h->bodies[1].shape = (foliot_shape){.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.5};
    h->bodies[2].name = "ball";
    h->bodies[2].shape = (foliot_shape){.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.5};
    h->scene = foliot_scene_default();
    h->scene.name = "host";
    h->scene.dt = 1.0 / 60;
    h->scene.gravity[2] = -9.81;
    h->scene.bodies = h->bodies;
    h->scene.body_count = 2;
    h->scene.prototypes = h->bodies + 2;
    h->scene.prototype_count = 1;
    h->scene.bodies_max = 32;
    h->scene.commands_max = 64;
    h->scene.joints_max = 16;
    h->c = cluster_create(&(cluster_options){.world = CLUSTER_EMPTY});
    cluster_serve(h->c, NULL, NULL);
    foliot_session_config session = foliot_session_config_default();
    session.scene = &h->scene;
    session.step_events = events;
    session.step_events_max = events_max;
    cluster_host(h->c, &session);
    return h;
}

static void host_destroy(host *h)
{
    cluster_destroy(h->c);
    free(h);
}

static const foliot_world *world_of(const host *h)
{
    const foliot_world *world = foliot_server_get_world(h->c->server, "main");
    assert_non_null(world);
    return world;
}

static void run_ticks(host *h, uint32_t ticks)
{
    h->c->now_ns += (uint64_t)ticks * TICK_NS;
    foliot_server_update(h->c->server, h->c->now_ns);
}

static uint32_t give(host *h, foliot_command c)
{
    uint32_t sequence = 0;
    assert_int_equal(foliot_server_command(h->c->server, "main", &c, &sequence), FOLIOT_STATUS_OK);
    return sequence;
}

static foliot_command spawn(uint32_t ticket, float x, float z)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_spawn);
    c.fields = FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position) |
               FOLIOT_COMMAND_HAS(spawn, ticket);
    c.as.spawn.position[0] = x;
    c.as.spawn.position[2] = z;
    c.as.spawn.ticket = ticket;
    return c;
}

static foliot_command despawn(foliot_body_id body)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_despawn);
    c.fields = FOLIOT_COMMAND_HAS(despawn, body);
    c.as.despawn.body = body;
    return c;
}

static foliot_command joint(uint32_t ticket, foliot_body_id a)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_joint);
    c.fields = FOLIOT_COMMAND_HAS(joint, kind) | FOLIOT_COMMAND_HAS(joint, a) |
               FOLIOT_COMMAND_HAS(joint, anchor_a) | FOLIOT_COMMAND_HAS(joint, ticket);
    c.as.joint.kind = FOLIOT_CONSTRAINT_BALL;
    c.as.joint.a = a;
    c.as.joint.ticket = ticket;
    return c;
}

static foliot_command break_joint(foliot_joint_id id)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_break_joint);
    c.fields = FOLIOT_COMMAND_HAS(break_joint, joint);
    c.as.break_joint.joint = id;
    return c;
}

// The next event, of a tick; fails if there is none.
static foliot_event next_at(host *h, uint64_t *tick)
{
    foliot_step_event e;
    check_eq(foliot_server_poll_step(h->c->server, "main", &e, 1, NULL), 1u);
    check_eq(e.kind, (unsigned)FOLIOT_STEP_EVENT);
    *tick = e.tick;
    return e.as.event;
}

static foliot_event next(host *h)
{
    uint64_t tick;
    return next_at(h, &tick);
}

static void none_left(host *h)
{
    foliot_step_event e;
    uint64_t dropped = 99;
    check_eq(foliot_server_poll_step(h->c->server, "main", &e, 1, &dropped), 0u);
    check_eq(dropped, 0u);
}

TEST(a_ticket_leads_to_a_body_at_20_frames_a_second)
{
    host *h = host_create(FOLIOT_STEP_EVENTS_BODIES, 0);
    foliot_body_id bodies[9] = {{0}};
    for (uint32_t ticket = 1; ticket <= 8; ticket++) {
        uint32_t sequence = give(h, spawn(ticket, 3 * (float)ticket, 5));
        uint64_t before = foliot_world_get_tick(world_of(h));
        run_ticks(h, FRAME_TICKS);
        check_eq(foliot_world_get_tick(world_of(h)), before + FRAME_TICKS);
        uint64_t at;
        foliot_event e = next_at(h, &at);
        check_eq(e.kind, (unsigned)FOLIOT_EVENT_SPAWNED);
        check_eq(at, before + 1);
        check_eq(e.ticket, ticket);
        check_eq(e.sequence, sequence);
        check_eq(e.source, (unsigned)FOLIOT_COMMAND_SOURCE_HOST);
        check_eq(e.player, FOLIOT_NO_PLAYER);
        bodies[ticket] = e.body;
        foliot_body_state body = foliot_world_get_body_state(world_of(h), e.body);
        check_ne(body.flags, 0u);
        check_eq((int)body.position[0], 3 * (int)ticket);
    }
    uint32_t refused = give(h, spawn(77, 3, 0.1f)); // inside the floor
    give(h, despawn(bodies[4]));
    run_ticks(h, FRAME_TICKS);
    foliot_event e = next(h);
    check_eq(e.kind, (unsigned)FOLIOT_EVENT_COMMAND_REFUSED);
    check_eq(e.sequence, refused);
    check_eq(e.ticket, 77u);
    check_eq(e.reason, (unsigned)FOLIOT_COMMAND_REASON_overlap);
    e = next(h);
    check_eq(e.kind, (unsigned)FOLIOT_EVENT_DESPAWNED);
    check_eq(e.body.value, bodies[4].value);
    none_left(h);
    host_destroy(h);
}

// A slot, and a row of joints, that change hands within one tick.
TEST(names_are_of_what_was_meant)
{
    host *h = host_create(FOLIOT_STEP_EVENTS_BODIES, 0);
    give(h, spawn(1, 0, 5));
    run_ticks(h, FRAME_TICKS);
    foliot_body_id first = next(h).body;
    give(h, joint(5, first));
    run_ticks(h, FRAME_TICKS);
    foliot_event e = next(h);
    check_eq(e.kind, (unsigned)FOLIOT_EVENT_JOINT_MADE);
    check_eq(e.ticket, 5u);
    foliot_joint_id made = e.joint;
    check_eq(made.value, foliot_world_get_joint_id(world_of(h), (uint32_t)made.value).value);
    none_left(h);

    // The row is used again in the tick in which its joint breaks, and the slot in which its body
    // goes.
    give(h, break_joint(made));
    give(h, joint(6, first));
    give(h, despawn(first));
    give(h, spawn(2, 0, 5));
    run_ticks(h, FRAME_TICKS);
    e = next(h);
    check_eq(e.kind, (unsigned)FOLIOT_EVENT_JOINT_BROKEN);
    check_eq(e.joint.value, made.value);
    check_eq(e.reason, (unsigned)FOLIOT_BREAK_COMMAND);
    e = next(h);
    check_eq(e.kind, (unsigned)FOLIOT_EVENT_JOINT_MADE);
    check_eq(e.ticket, 6u);
    foliot_joint_id again = e.joint;
    check_eq((uint32_t)again.value, (uint32_t)made.value);
    check_eq(again.value >> 32, (made.value >> 32) + 1);
    e = next(h);
    check_eq(e.kind, (unsigned)FOLIOT_EVENT_DESPAWNED);
    check_eq(e.body.value, first.value);
    e = next(h);
    check_eq(e.kind, (unsigned)FOLIOT_EVENT_JOINT_BROKEN); // with its body
    check_eq(e.joint.value, again.value);
    e = next(h);
    check_eq(e.kind, (unsigned)FOLIOT_EVENT_SPAWNED);
    check_eq((uint32_t)e.body.value, (uint32_t)first.value);
    check_eq(e.body.value, foliot_world_get_body_id(world_of(h), (uint32_t)first.value).value);
    check_ne(e.body.value, first.value);
    none_left(h);
    host_destroy(h);
}

// The world's own events after every tick, as entries of the queue.
static uint32_t counted_by_world(const foliot_world *world, uint32_t counts[4])
{
    foliot_contact_event contacts[64];
    uint32_t n = foliot_world_get_contact_events(world, contacts, 64), hits, begins = 0;
    foliot_world_get_hit_events(world, &hits);
    for (uint32_t i = 0; i < n; i++) {
        begins += contacts[i].change == FOLIOT_CONTACT_BEGIN;
        counts[0] += contacts[i].change == FOLIOT_CONTACT_BEGIN;
        counts[1] += contacts[i].change == FOLIOT_CONTACT_END;
    }
    counts[2] += hits;
    return begins;
}

TEST(contacts_of_every_tick_are_there)
{
    host *slow = host_create(FOLIOT_STEP_EVENTS_CONTACTS | FOLIOT_STEP_EVENTS_HITS, 4096);
    host *each = host_create(0, 0);
    slow->bodies[2].restitution = each->bodies[2].restitution = 0;
    uint32_t by_world[4] = {0}, queued[4] = {0}, last_only[4] = {0};
    uint64_t newest = 0, dropped = 0;
    for (uint32_t frame = 0; frame < 100; frame++) {
        foliot_step_event events[16];
        uint32_t count;
        if (frame < 12) {
            give(slow, spawn(frame, 2 * (float)frame, 1 + 0.37f * (float)frame));
            give(each, spawn(frame, 2 * (float)frame, 1 + 0.37f * (float)frame));
        }
        run_ticks(slow, FRAME_TICKS);
        counted_by_world(world_of(slow), last_only);
        for (int tick = 0; tick < FRAME_TICKS; tick++) {
            run_ticks(each, 1);
            counted_by_world(world_of(each), by_world);
        }
        while ((count = foliot_server_poll_step(slow->c->server, "main", events, 16, &dropped)) > 0)
            for (uint32_t i = 0; i < count; i++) {
                const foliot_step_event *e = &events[i];
                bool contact = e->kind == FOLIOT_STEP_CONTACT;
                check_ge(e->tick, newest);
                newest = e->tick;
                check_ne((contact ? e->as.contact.a : e->as.hit.a).value, 0u);
                check_ne((contact ? e->as.contact.b : e->as.hit.b).value, 0u);
                queued[0] += contact && e->as.contact.change == FOLIOT_CONTACT_BEGIN;
                queued[1] += contact && e->as.contact.change == FOLIOT_CONTACT_END;
                queued[2] += e->kind == FOLIOT_STEP_HIT;
            }
    }
    assert_true(foliot_digest_equal(foliot_world_get_digest(world_of(slow)),
                                    foliot_world_get_digest(world_of(each))));
    for (int k = 0; k < 3; k++)
        check_eq(queued[k], by_world[k]);
    check_ge(queued[0], 12u);
    check_eq(dropped, 0u);
    check_lt(last_only[0], by_world[0]); // what a host saw before there was a queue
    host_destroy(slow);
    host_destroy(each);
}

TEST(what_finds_no_room_is_counted)
{
    host *h = host_create(FOLIOT_STEP_EVENTS_BODIES, 4);
    foliot_step_event events[8];
    uint64_t dropped = 0;
    for (uint32_t ticket = 1; ticket <= 10; ticket++)
        give(h, spawn(ticket, 3 * (float)ticket, 5));
    run_ticks(h, FRAME_TICKS);
    check_eq(foliot_server_poll_step(h->c->server, "main", events, 8, &dropped), 4u);
    check_eq(dropped, 6u);
    check_eq(events[3].as.event.ticket, 4u);
    check_eq(foliot_server_get_counters(h->c->server)->step_events_dropped, 6u);
    give(h, spawn(11, 60, 5)); // there is room again
    run_ticks(h, FRAME_TICKS);
    check_eq(foliot_server_poll_step(h->c->server, "main", events, 8, &dropped), 1u);
    check_eq(events[0].as.event.ticket, 11u);
    check_eq(dropped, 6u);
    check_eq(foliot_server_poll_step(h->c->server, "other", events, 8, &dropped), 0u);
    host_destroy(h);
}
