// SPDX-License-Identifier: MIT
// viewer.c: the client library for the page: joins a session through the page's WebSocket, gives
// instances to draw, and events as JSON. watches.c or steps.c decides whether it steps. Texts go in
// and out through one block of memory. Times are the page's milliseconds.
#include "page.h"

#include "shared/internal.h"

#include "base/json.h"
#include "foliot/client.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (FOLIOT_RELIABLE_BYTES_MAX + 16)
#define EVENTS_A_CALL 64

static uint8_t block[BLOCK_BYTES]; // what the page gives
static foliot_client *client;
static uint32_t own = FOLIOT_NO_BODY;
static float own_position[4]; // the fourth: whether there is one
static foliot_sample shown;   // the last one; its bodies are valid until the next update
static double shown_tick;

// -- moves a player to another module of the page, as after a lost connection. The ticket, a token
// and the next sequence of controls, is what the next client sends. Its holder is the player.

#define TICKET_BYTES (sizeof(foliot__token) + 4)

static uint8_t ticket[TICKET_BYTES];
static bool ticket_put; // by the page

WEB_EXPORT(ticket) uint8_t *web_ticket(void)
{
    return ticket;
}

WEB_EXPORT(ticket_bytes) uint32_t web_ticket_bytes(void)
{
    return TICKET_BYTES;
}

// The page has written a ticket, for the next client.
WEB_EXPORT(take_over) void web_take_over(void)
{
    ticket_put = true;
}

// -- the client

static uint64_t to_ns(double ms)
{
    return (uint64_t)(ms * 1e6);
}

WEB_EXPORT(block) uint8_t *web_block(void)
{
    return block;
}

WEB_EXPORT(block_bytes) uint32_t web_block_bytes(void)
{
    return BLOCK_BYTES;
}

// The block holds the player's name and the session's, each with a closing zero.
WEB_EXPORT(join) int web_join(uint32_t spectates, double now_ms)
{
    foliot_client_config config = foliot_client_config_default();
    foliot_client_destroy(client);
    client = NULL;
    shown.count = 0;
    block[BLOCK_BYTES - 1] = block[BLOCK_BYTES - 2] = 0;
    config.transport = web_socket_transport();
    config.name = (const char *)block;
    config.session = config.name + strlen(config.name) + 1;
    config.address = "the server of this link";
    config.port = 0;
    config.spectates = spectates;
    foliot_status status = web_kind_create(&config, to_ns(now_ms), &client);
    if (status == FOLIOT_STATUS_OK && ticket_put) { // it continues as the player of the ticket
        memcpy(&client->join.takes_over, ticket, sizeof client->join.takes_over);
        memcpy(&client->join.takes_over_sequence, ticket + sizeof(foliot__token), 4);
        memset(ticket, 0, sizeof ticket);
        ticket_put = false;
    }
    return status;
}

// Prepares the move to another module: the client here ends without leaving, and web_ticket() is
// the data for the other module. Returns 0 if there is no player.
WEB_EXPORT(hand_over) int web_hand_over(void)
{
    if (!client || !foliot__client_welcomed(client) || client->welcome.player == FOLIOT_NO_PLAYER)
        return 0;
    memcpy(ticket, &client->welcome.token, sizeof client->welcome.token);
    memcpy(ticket + sizeof(foliot__token), &client->controls.next_sequence, 4);
    foliot_client_destroy(client);
    client = NULL;
    web_kind_updated(NULL);
    shown.count = 0;
    return 1;
}

WEB_EXPORT(opened) void web_opened(void)
{
    (void)web_socket_opened();
}

WEB_EXPORT(closed) void web_closed(uint32_t reason)
{
    (void)web_socket_closed(reason);
}

enum { UNRELIABLE, RELIABLE, BY_CHANNEL }; // the first byte of a packet: how it came

// A packet, in the block.
WEB_EXPORT(received) int web_received(uint32_t length)
{
    if (length == 0 || length > BLOCK_BYTES || block[0] > BY_CHANNEL)
        return 0;
    foliot_delivery delivery =
        block[0] == RELIABLE ? FOLIOT_DELIVERY_RELIABLE : FOLIOT_DELIVERY_UNRELIABLE;
    if (delivery == FOLIOT_DELIVERY_UNRELIABLE && length > 1 && !web_kind_reads(block[1]))
        return 0;
    return web_socket_received(delivery, block[0] == BY_CHANNEL, block + 1, length - 1);
}

// Returns the client's state.
WEB_EXPORT(update) int web_update(double now_ms)
{
    if (!client)
        return FOLIOT_CLIENT_CLOSED;
    shown.count = 0;
    foliot_client_update(client, to_ns(now_ms));
    web_kind_updated(client);
    return foliot_client_get_state(client);
}

WEB_EXPORT(leave) void web_leave(double now_ms)
{
    if (client)
        foliot_client_leave(client, to_ns(now_ms));
}

WEB_EXPORT(set_input)
void web_set_input(int32_t x, int32_t y, int32_t z, int32_t turn, uint32_t buttons)
{
    const int8_t axes[FOLIOT_AXIS_COUNT] = {(int8_t)x, (int8_t)y, (int8_t)z, (int8_t)turn};
    if (client)
        foliot_client_set_input(client, axes, (uint16_t)buttons);
}

// The block holds UTF-8 text. Text after a slash is for the game, as in foliot-client.
WEB_EXPORT(chat) int web_chat(uint32_t length)
{
    if (!client || length > FOLIOT_ORDER_BYTES_MAX)
        return FOLIOT_STATUS_INVALID;
    bool order = length > 0 && block[0] == '/';
    return foliot_client_order(client, order ? FOLIOT_ORDER_GAME : FOLIOT_ORDER_CHAT, block + order,
                               length - order, NULL);
}

// The definition of the body in a slot; a point without collisions if it is not known.
static const foliot_body_definition *definition_of(uint32_t slot)
{
    static const foliot_body_definition unknown;
    const foliot_scene *scene = foliot_client_get_scene(client);
    uint32_t prototype = foliot_client_get_prototype(client, slot);
    if (!scene || (prototype != FOLIOT_NO_BODY && prototype >= scene->prototype_count))
        return &unknown; // the server may name any
    return prototype != FOLIOT_NO_BODY ? &scene->prototypes[prototype]
           : slot < scene->body_count  ? &scene->bodies[slot]
                                       : &scene->players.body;
}

// The player whose body is in a slot; the slot itself if that is not known.
static uint32_t player_of(uint32_t slot)
{
    static uint32_t last; // mostly the next slot is the next player's
    for (uint32_t i = 1; i <= FOLIOT__PLAYER_NAMES; i++) {
        uint32_t p = (last + i) % FOLIOT__PLAYER_NAMES;
        if (client->updates.players[p].here && client->updates.players[p].slot == slot)
            return last = p;
    }
    return slot;
}

// Returns the number of instances to draw, -1 before there is a picture: the scene, which defines
// the shapes of bodies, may arrive after their first snapshot.
WEB_EXPORT(sample) int web_sample(double now_ms)
{
    foliot_sample sample;
    own_position[3] = 0;
    if (!client || !foliot_client_get_scene(client) ||
        foliot_client_sample(client, to_ns(now_ms), &sample) != FOLIOT_STATUS_OK ||
        !web_instances_begin(sample.count))
        return -1;
    shown = sample;
    shown_tick = sample.render_tick;
    // A game may give its players any bodies, and change them later.
    uint32_t player = foliot_client_get_player(client);
    own = player < FOLIOT__PLAYER_NAMES && client->updates.players[player].here
              ? client->updates.players[player].slot
              : FOLIOT_NO_BODY;
    for (uint32_t i = 0; i < sample.count; i++) {
        const foliot_body_state *state = &sample.bodies[i];
        if (!(state->flags & FOLIOT_BODY_ALIVE))
            continue;
        web_body body = {.state = *state, .shape = definition_of(i)->shape, .slot = i};
        body.tag = foliot_client_get_tag(client, i);
        body.player = state->flags & FOLIOT_BODY_PLAYER ? player_of(i) : i;
        web_instances_add(&body);
        if (i != own)
            continue;
        for (int k = 0; k < 3; k++)
            own_position[k] = (float)state->position[k];
        own_position[3] = 1;
    }
    if (own_position[3] == 0)
        own = FOLIOT_NO_BODY;
    return (int)web_instances_end();
}

WEB_EXPORT(own_position) const float *web_own_position(void)
{
    return own_position;
}

// The position of the body in a slot, three doubles, right after a sample; NULL: there is none.
WEB_EXPORT(body_position) const double *web_body_position(uint32_t slot)
{
    bool here = slot < shown.count && shown.bodies[slot].flags & FOLIOT_BODY_ALIVE;
    return here ? shown.bodies[slot].position : NULL;
}

// -- data shown on demand

// The name of the body in a slot: the player's, the scene's, or its prototype's; "": it has none.
WEB_EXPORT(body_name) const char *web_body_name(uint32_t slot)
{
    const char *name = client ? foliot_client_get_player_name(client, slot) : NULL;
    if (client && !name)
        name = definition_of(slot)->name;
    return name ? name : "";
}

WEB_EXPORT(body_tag) uint32_t web_body_tag(uint32_t slot)
{
    return client ? foliot_client_get_tag(client, slot) : 0;
}

// The last picture for details.c, right after a sample; NULL: there is none, or no memory.
WEB_EXPORT(details) const web_details *web_details_block(void)
{
    static web_details *details;
    static size_t capacity;
    uint32_t joints = shown.count ? foliot_client_get_joint_count(client) : 0;
    size_t wanted = sizeof *details + shown.count * sizeof(web_detail_body) +
                    joints * sizeof(foliot_constraint_definition);
    if (shown.count == 0)
        return NULL;
    if (wanted > capacity) {
        free(details);
        details = malloc(wanted);
        capacity = details ? wanted : 0;
    }
    if (!details)
        return NULL;
    web_detail_body *body = (web_detail_body *)(details + 1);
    *details = (web_details){.body_count = shown.count, .rounding = web_kind_rounding(client)};
    for (uint32_t i = 0; i < shown.count; i++, body++) {
        const foliot_body_definition *made = definition_of(i);
        *body = (web_detail_body){.state = shown.bodies[i],
                                  .shape = made->shape,
                                  .category = made->category,
                                  .mask = made->mask,
                                  .group = (uint32_t)made->group};
        web_kind_filter(client, i, body);
    }
    foliot_constraint_definition *joint = (foliot_constraint_definition *)body;
    for (uint32_t i = 0; i < joints; i++)
        if (foliot_client_get_joint(client, i, joint))
            joint++;
    details->joint_count = (uint32_t)(joint - (foliot_constraint_definition *)body);
    details->bytes = (uint32_t)((char *)joint - (char *)details);
    return details;
}

// -- the session, as JSON

static void write_session(foliot__json *j)
{
    foliot_client_statistics s = foliot_client_get_statistics(client);
    const foliot_scene *scene = foliot_client_get_scene(client);
    foliot__json_text(j, "scene", foliot_client_get_scene_name(client));
    uint32_t player = foliot_client_get_player(client);
    foliot__json_integer(j, "player", player == FOLIOT_NO_PLAYER ? -1 : (int64_t)player);
    foliot__json_real(j, "pace_hz", foliot_client_get_pace_hz(client));
    foliot__json_real(j, "tick", shown_tick);
    foliot__json_real(j, "delay_ms", s.delay_ms);
    foliot__json_real(j, "round_trip_ms", s.round_trip_ms);
    foliot__json_real(j, "loss", s.loss);
    foliot__json_count(j, "bytes", s.bytes_received);
    foliot__json_count(j, "snapshots", s.snapshots_received);
    foliot__json_integer(j, "own", own == FOLIOT_NO_BODY ? -1 : (int64_t)own);
    if (scene)
        foliot__json_count(j, "control", scene->players.control);
    web_kind_write(j, client);
    foliot__json_array(j, "vars");
    for (uint32_t i = 0; i < foliot_client_get_var_count(client); i++) {
        foliot_var var = foliot_client_get_var_at(client, i);
        foliot__json_array(j, NULL);
        foliot__json_text(j, NULL, var.key);
        if (var.type == FOLIOT_VAR_INTEGER)
            foliot__json_integer(j, NULL, var.integer);
        else if (var.type == FOLIOT_VAR_NUMBER)
            foliot__json_real(j, NULL, var.number);
        else
            foliot__json_text(j, NULL, var.text);
        foliot__json_close(j);
    }
    foliot__json_close(j);
    foliot__json_object(j, "players");
    for (uint32_t p = 0; p < FOLIOT_PLAYERS_MAX; p++) {
        const char *name = foliot_client_get_name(client, p);
        char key[16];
        snprintf(key, sizeof key, "%u", (unsigned)p);
        if (name)
            foliot__json_text(j, key, name);
    }
    foliot__json_close(j);
}

// A text with a closing zero, valid until the next call that gives one.
WEB_EXPORT(about) const char *web_about(void)
{
    FILE *out;
    foliot__json j = begin_answer(&out);
    foliot__json_object(&j, NULL);
    foliot__json_integer(&j, "state", client ? (int)foliot_client_get_state(client) : -1);
    foliot__json_text(&j, "reason", client ? foliot_client_get_reason(client) : "");
    if (client && foliot_client_get_state(client) == FOLIOT_CLIENT_PLAYING)
        write_session(&j);
    foliot__json_close(&j);
    return end_answer(out);
}

// The events since the last call: an array.
WEB_EXPORT(events) const char *web_events(void)
{
    FILE *out;
    foliot_client_event event;
    foliot__json j = begin_answer(&out);
    foliot__json_array(&j, NULL);
    for (int i = 0; client && i < EVENTS_A_CALL && foliot_client_poll(client, &event);) {
        foliot_client_event_kind kind = event.kind;
        if (kind != FOLIOT_CLIENT_JOINED && kind != FOLIOT_CLIENT_LEFT &&
            kind != FOLIOT_CLIENT_CHAT && kind != FOLIOT_CLIENT_ENDED &&
            kind != FOLIOT_CLIENT_MESSAGE)
            continue;
        i++;
        foliot__json_object(&j, NULL);
        foliot__json_count(&j, "kind", kind);
        foliot__json_integer(&j, "player",
                             event.player == FOLIOT_NO_PLAYER ? -1 : (int64_t)event.player);
        foliot__json_text(&j, "text", event.bytes ? (const char *)event.bytes : "");
        if (kind == FOLIOT_CLIENT_CHAT && event.player != FOLIOT_NO_PLAYER)
            foliot__json_text(&j, "from", foliot_client_get_name(client, event.player));
        foliot__json_close(&j);
    }
    foliot__json_close(&j);
    return end_answer(out);
}
