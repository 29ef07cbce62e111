// SPDX-License-Identifier: MIT
// step_events.c: a host whose game runs at 20 frames a second, with a session of 60 ticks a second.
// Each frame it requests a crate. Events report whether each crate appeared, and when it landed.
//
//     cc examples/step_events.c $(pkg-config --cflags --libs foliot) -o step_events &&
//     ./step_events
//
// An update closes three ticks here. foliot_server_poll_step has the events of all three;
// foliot_world_get_events has those of the last one only.
#include <stdio.h>
#include <stdlib.h>

#include <foliot/foliot.h>

#define FRAME_NS 50000000u
#define CRATES 20u
#define FRAMES 60

static void must(foliot_status status, const char *what)
{
    if (status == FOLIOT_STATUS_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, foliot_status_get_text(status));
    exit(1);
}

// A floor, and the prototype of a crate. There is room for one crate less than requested.
static void describe_scene(foliot_scene *scene, foliot_body_definition bodies[2])
{
    bodies[0] = bodies[1] = foliot_body_definition_default();
    bodies[0].name = "floor";
    bodies[0].is_static = true;
    bodies[0].shape = (foliot_shape){.kind = FOLIOT_SHAPE_PLANE, .normal = {0, 0, 1}};
    bodies[1].name = "crate";
    bodies[1].shape = (foliot_shape){.kind = FOLIOT_SHAPE_BOX, .half = {0.5, 0.5, 0.5}};
    *scene = foliot_scene_default();
    scene->name = "crates";
    scene->dt = 1.0 / 60;
    scene->gravity[2] = -9.81;
    scene->bodies = bodies;
    scene->body_count = 1;
    scene->prototypes = bodies + 1;
    scene->prototype_count = 1;
    scene->bodies_max = CRATES; // the floor is one
    scene->commands_max = 16;
}

static foliot_server *host_session(const foliot_scene *scene, foliot_transport *transport)
{
    foliot_world *world = NULL;
    must(foliot_world_create(scene, &world, NULL), "world");
    foliot_server_config config = foliot_server_config_default();
    config.transport = transport;
    foliot_server *server = NULL;
    must(foliot_server_create(&config, 0, &server), "server");
    foliot_session_config session = foliot_session_config_default();
    session.scene = scene;
    session.world = world;
    session.step_events = FOLIOT_STEP_EVENTS_BODIES | FOLIOT_STEP_EVENTS_CONTACTS;
    must(foliot_server_add_session(server, &session, 0), "session");
    return server;
}

// The ticket comes back in the event: so a host knows which of its objects a body belongs to.
static void ask_for_crate(foliot_server *server, uint32_t ticket)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_spawn);
    c.fields = FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position) |
               FOLIOT_COMMAND_HAS(spawn, ticket);
    c.as.spawn.prototype = 0;
    c.as.spawn.position[0] = 2 * (float)ticket;
    c.as.spawn.position[2] = 2;
    c.as.spawn.ticket = ticket;
    must(foliot_server_command(server, "main", &c, NULL), "command");
}

typedef struct game {
    foliot_body_id crates[CRATES + 1]; // by ticket; zero: it is not there
    uint32_t there, refused;
    uint64_t dropped;
} game;

static void take_event(game *g, const foliot_step_event *e)
{
    const foliot_event *event = &e->as.event;
    const foliot_contact_event *contact = &e->as.contact;
    if (e->kind == FOLIOT_STEP_EVENT && event->kind == FOLIOT_EVENT_SPAWNED) {
        g->crates[event->ticket] = event->body;
        g->there++;
    } else if (e->kind == FOLIOT_STEP_EVENT && event->kind == FOLIOT_EVENT_COMMAND_REFUSED) {
        g->refused++;
        printf("tick %3llu: crate %u was refused: %s\n", (unsigned long long)e->tick, event->ticket,
               foliot_command_reason_get_text((foliot_command_reason)event->reason));
    } else if (e->kind == FOLIOT_STEP_CONTACT && contact->change == FOLIOT_CONTACT_BEGIN) {
        for (uint32_t ticket = 1; ticket <= CRATES; ticket++)
            if (g->crates[ticket].value == contact->b.value) // the floor has slot 0, so it is `a`
                printf("tick %3llu: crate %u has landed at %.1f m/s\n", (unsigned long long)e->tick,
                       ticket, contact->speed);
    }
}

int main(void)
{
    foliot_scene scene;
    foliot_body_definition bodies[2];
    foliot_hub *hub = NULL;
    foliot_transport *transport = NULL;
    game g = {0};
    describe_scene(&scene, bodies);
    must(foliot_hub_create(&hub), "hub");
    foliot_transport_config config = foliot_transport_config_default();
    config.bind = "127.0.0.1";
    must(foliot_transport_create_memory(hub, &config, 0, &transport), "transport");
    foliot_server *server = host_session(&scene, transport);
    for (uint32_t frame = 1; frame <= FRAMES; frame++) {
        foliot_step_event events[64];
        uint32_t count;
        if (frame <= CRATES)
            ask_for_crate(server, frame);
        foliot_server_update(server, (uint64_t)frame * FRAME_NS);
        do {
            count = foliot_server_poll_step(server, "main", events, 64, &g.dropped);
            for (uint32_t i = 0; i < count; i++)
                take_event(&g, &events[i]);
        } while (count == 64);
    }
    printf("%u crates asked for, %u are there, %u was refused, %llu events dropped\n", CRATES,
           g.there, g.refused, (unsigned long long)g.dropped);
    foliot_server_destroy(server);
    foliot_transport_destroy(transport);
    foliot_hub_destroy(hub);
    return 0;
}
