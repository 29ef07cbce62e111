// SPDX-License-Identifier: MIT
// Goal: everybody knows who plays and whose body is whose, where a game gives players their bodies.
// Players without bodies were once reported only to newcomers, never to clients that were there,
// and nobody learned whose body it was. Method: clients of a real server that is given the
// commands.
#include "../support/check.h"

#include "cluster.h"
#include "status.h"

static void control(cluster *s, uint32_t player, uint32_t slot)
{
    const foliot_world *world = foliot_server_get_world(s->server, "main");
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_control);
    c.as.control.player = player;
    if (slot != FOLIOT_NO_BODY) {
        c.fields |= FOLIOT_COMMAND_HAS(control, body);
        c.as.control.body = foliot_world_get_body_id(world, slot);
    }
    c.fields |= FOLIOT_COMMAND_HAS(control, player);
    demand(foliot_server_command(s->server, "main", &c, NULL));
    cluster_run(s, 0.5);
}

static unsigned count(foliot_client *client, foliot_client_event_kind kind)
{
    foliot_client_event e;
    unsigned found = 0;
    while (foliot_client_poll(client, &e))
        found += e.kind == kind;
    return found;
}

static void check_names(const cluster *s, uint32_t slot, bool has)
{
    for (unsigned c = 0; c < s->client_count; c++)
        if (has)
            assert_string_equal(foliot_client_get_player_name(s->clients[c], slot), "player");
        else
            assert_null(foliot_client_get_player_name(s->clients[c], slot));
}

TEST(everybody_is_told_of_players_and_of_their_bodies)
{
    cluster *s = cluster_create(
        &(cluster_options){.world = CLUSTER_SPRINGS, .game = true, .bodiless = true});
    cluster_player(s, "delay=5ms");
    cluster_run(s, 1);
    cluster_player(s, "delay=5ms");
    cluster_spectator(s, "delay=5ms");
    cluster_run(s, 1);
    for (unsigned c = 0; c < 3; c++) {
        assert_non_null(foliot_client_get_name(s->clients[c], 0));
        assert_non_null(foliot_client_get_name(s->clients[c], 1));
        assert_int_equal(count(s->clients[c], FOLIOT_CLIENT_JOINED), 2);
    }
    control(s, 0, 3);
    check_names(s, 3, true);
    control(s, 0, 5); // another body
    check_names(s, 3, false);
    check_names(s, 5, true);
    cluster_spectator(s, "delay=5ms"); // late
    cluster_run(s, 1);
    check_names(s, 5, true);
    control(s, 0, FOLIOT_NO_BODY);
    check_names(s, 5, false);
    for (unsigned c = 0; c < 3; c++) { // and nobody has come or gone
        assert_non_null(foliot_client_get_name(s->clients[c], 0));
        assert_int_equal(count(s->clients[c], FOLIOT_CLIENT_JOINED), 0);
    }
    cluster_destroy(s);
}
