// SPDX-License-Identifier: MIT
// server.c: peers and what they say. Refuses with a sentence, counts whatever it drops, and never
// trusts a byte: messages are decoded by wire/message.c before anything here sees them.
#include "internal.h"
#include "sim/selftest/fingerprint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/transport.h"

#define GREETING_NS 5000000000u // to say hello in
#define EXPIRE_EVERY_NS 100000000u
#define WELCOME_EVERY_NS 15000000u // at most
#define STOP_NS 1000000000u        // for the goodbyes to arrive

foliot_server_config foliot_server_config_default(void)
{
    return (foliot_server_config){.reconnect_ms = 10000, .catch_up_ticks = 16};
}

foliot_session_config foliot_session_config_default(void)
{
    return (foliot_session_config){
        .name = "main", .pace_hz = 60, .mode = FOLIOT_SESSION_SNAPSHOTS, .input_delay = 3};
}

foliot_status foliot_server_create(const foliot_server_config *config, uint64_t now_ns,
                                   foliot_server **server)
{
    if (!config->transport || config->catch_up_ticks == 0)
        return FOLIOT_STATUS_INVALID;
    foliot_server *s = calloc(1, sizeof *s);
    if (!s)
        return FOLIOT_STATUS_MEMORY;
    s->config = *config;
    s->now_ns = now_ns;
    s->peers_max = config->transport->config.peers_max;
    s->fingerprint = config->fingerprint; // not for each newcomer
    if ((s->fingerprint.high | s->fingerprint.low) == 0)
        s->fingerprint = foliot_get_fingerprint();
    s->fingerprint_base = foliot__fingerprint_base();
    s->peers = calloc(s->peers_max, sizeof *s->peers);
    s->group = calloc(s->peers_max, sizeof *s->group);
    s->order = calloc(s->peers_max, sizeof *s->order);
    if (!s->peers || !s->group || !s->order) {
        foliot_server_destroy(s);
        return FOLIOT_STATUS_MEMORY;
    }
    *server = s;
    return FOLIOT_STATUS_OK;
}

static bool any_running(const foliot_server *server)
{
    for (uint32_t i = 0; i < server->session_count; i++)
        if (server->sessions[i]->running &&
            !atomic_load_explicit(&server->sessions[i]->finished, memory_order_acquire))
            return true;
        else if (server->sessions[i]->lockstep && foliot__inquiry_running(server->sessions[i]))
            return true;
    return false;
}

void foliot_server_destroy(foliot_server *server)
{
    if (!server)
        return;
    while (any_running(server)) {
    } // a worker is in the middle of a step; it ends by itself
    for (uint32_t i = 0; i < server->session_count; i++)
        foliot__session_destroy(server->sessions[i]);
    free(server->peers);
    free(server->group);
    free(server->order);
    free(server);
}

static foliot__session *find_session(const foliot_server *server, const char *name)
{
    for (uint32_t i = 0; i < server->session_count; i++)
        if (!*name || strcmp(server->sessions[i]->name, name) == 0)
            return server->sessions[i];
    return NULL;
}

foliot_status foliot_server_add_session(foliot_server *server, const foliot_session_config *config,
                                        uint64_t now_ns)
{
    server->now_ns = now_ns;
    if (!config->name || !*config->name || strlen(config->name) >= FOLIOT_NAME_BYTES ||
        !(config->pace_hz > 0) || (server->session_count && find_session(server, config->name)) ||
        (config->simulation ? config->mode != FOLIOT_SESSION_LOCKSTEP
                            : !config->world || !config->scene))
        return FOLIOT_STATUS_INVALID;
    if (server->session_count == FOLIOT_SESSIONS_MAX)
        return FOLIOT_STATUS_FULL;
    foliot_status status =
        foliot__session_create(server, config, &server->sessions[server->session_count]);
    if (status == FOLIOT_STATUS_OK)
        server->session_count++;
    return status;
}

// -- telling

void foliot__server_event(foliot_server *server, foliot_server_event_kind kind,
                          const foliot__session *session, uint32_t player, uint64_t value,
                          const char *text)
{
    if (server->event_count == FOLIOT__EVENTS_HELD) {
        server->counters.events_dropped++;
        return;
    }
    foliot_server_event *event =
        &server->events[(server->event_first + server->event_count++) % FOLIOT__EVENTS_HELD];
    *event = (foliot_server_event){.kind = kind,
                                   .session = session ? session->name : "",
                                   .player = player,
                                   .tick = session ? session->tick : 0,
                                   .value = value,
                                   .status = session ? session->failed : FOLIOT_STATUS_OK};
    snprintf(event->text, sizeof event->text, "%s", text);
}

bool foliot_server_poll(foliot_server *server, foliot_server_event *event)
{
    if (server->event_count == 0)
        return false;
    *event = server->events[server->event_first];
    server->event_first = (server->event_first + 1) % FOLIOT__EVENTS_HELD;
    server->event_count--;
    return true;
}

void foliot__server_send_packet(foliot_server *server, foliot_peer_id peer,
                                foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    foliot_status status =
        foliot_transport_send(server->config.transport, peer, delivery, bytes, length);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_NOT_FOUND); // ours are never too large
}

void foliot__server_send(foliot_server *server, foliot_peer_id peer, const foliot__message *message)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    if (foliot__message_encode(message, bytes, sizeof bytes, &length) == FOLIOT_STATUS_OK)
        foliot__server_send_packet(server, peer, FOLIOT_DELIVERY_RELIABLE, bytes, length);
}

// The same, unreliably and twice: whichever copy comes first is taken.
static void hint(foliot_server *server, foliot_peer_id peer, const foliot__message *message)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    if (foliot__message_encode(message, bytes, sizeof bytes, &length) != FOLIOT_STATUS_OK)
        return;
    for (int copy = 0; copy < 2; copy++) { // in two datagrams
        foliot__server_send_packet(server, peer, FOLIOT_DELIVERY_UNRELIABLE, bytes, length);
        foliot_transport_flush(server->config.transport, server->now_ns);
    }
}

void foliot__server_tell(foliot__session *session, const foliot__message *message)
{
    foliot_server *server = session->server;
    for (uint32_t i = 0; i < server->peers_max; i++)
        if (server->peers[i].state == FOLIOT__PEER_IN && server->peers[i].session == session)
            foliot__server_send(server, server->peers[i].id, message);
}

static void dismiss_peer(foliot_server *server, foliot__peer *peer, const foliot__message *bye)
{
    foliot__server_send(server, peer->id, bye);
    foliot_transport_disconnect(server->config.transport, peer->id, 0, false);
    peer->state = FOLIOT__PEER_NONE;
}

void foliot__server_dismiss(foliot__session *session, const char *why)
{
    foliot_server *server = session->server;
    foliot__message m = {.kind = FOLIOT__BYE};
    snprintf(m.as.bye.sentence, sizeof m.as.bye.sentence, "%s", why);
    for (uint32_t i = 0; i < server->peers_max; i++) {
        foliot__peer *peer = &server->peers[i];
        if ((peer->state != FOLIOT__PEER_IN && peer->state != FOLIOT__PEER_AWAITING) ||
            peer->session != session)
            continue;
        if (peer->player != FOLIOT__NO_PLAYER)
            foliot__session_peer_lost(session, peer->player, false);
        dismiss_peer(server, peer, &m);
    }
}

static void refuse(foliot_server *server, foliot__peer *peer, foliot__refusal reason,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
static void refuse(foliot_server *server, foliot__peer *peer, foliot__refusal reason,
                   const char *format, ...)
{
    static const bool again[] = {
#define AGAIN(name, value, flag) [value] = flag,
        FOLIOT__REFUSALS(AGAIN)
#undef AGAIN
    };
    foliot__message m = {.kind = FOLIOT__REFUSE};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(m.as.refuse.sentence, sizeof m.as.refuse.sentence, format, arguments);
    va_end(arguments);
    m.as.refuse.reason = reason;
    m.as.refuse.again = again[reason];
    hint(server, peer->id, &m);
    foliot__server_send(server, peer->id, &m);
    foliot_transport_disconnect(server->config.transport, peer->id,
                                FOLIOT__DISCONNECT_REFUSED + reason, false);
    server->counters.refusals++;
    foliot__server_event(server, FOLIOT_SERVER_REFUSED, NULL, FOLIOT__NO_PLAYER, reason,
                         m.as.refuse.sentence);
    peer->state = FOLIOT__PEER_NONE;
}

// -- joining

static void send_players(foliot_server *server, const foliot__session *session, foliot_peer_id peer)
{
    for (uint32_t p = 0; p < session->player_limit; p++) {
        const foliot__player_slot *player = &session->players[p];
        if (player->state != FOLIOT__PLAYER_IN_WORLD)
            continue;
        foliot__message m = {.kind = FOLIOT__PLAYER};
        m.as.player.player = p;
        m.as.player.joined = true;
        m.as.player.slot = session->running || !session->world
                               ? FOLIOT_NO_BODY
                               : foliot_world_get_player_body(session->world, p);
        memcpy(m.as.player.name, player->name, sizeof m.as.player.name);
        foliot__server_send(server, peer, &m);
    }
}

static void write_welcome(const foliot_server *server, const foliot__peer *peer, foliot__message *m)
{
    const foliot__session *session = peer->session;
    foliot__welcome *w = &m->as.welcome;
    m->kind = FOLIOT__WELCOME;
    w->protocol = FOLIOT_PROTOCOL;
    snprintf(w->session, sizeof w->session, "%s", session->name);
    snprintf(w->scene, sizeof w->scene, "%s",
             session->scene ? session->scene->name : session->name);
    if (session->scene)
        snprintf(w->integrator, sizeof w->integrator, "%s",
                 foliot_integrator_get_info(session->scene->integrator)->name);
    w->player = peer->player;
    if (peer->player != FOLIOT__NO_PLAYER) {
        w->token = session->players[peer->player].token;
        w->resumed = session->players[peer->player].same;
    }
    w->tick = session->tick;
    w->dt = session->scene ? session->scene->dt : 1 / session->pace_hz;
    w->pace_hz = session->pace_hz;
    w->snapshot_hz = session->pace_hz / session->snapshot_every;
    w->format = session->format;
    w->scene_bytes = (uint32_t)session->scene_length;
    w->fingerprint = session->lockstep ? session->lockstep->fingerprint : server->fingerprint;
    w->lockstep = session->lockstep != NULL;
    w->input_delay = session->lockstep ? session->lockstep->input_delay : 0;
}

void foliot__server_welcome(foliot_server *server, foliot__peer *peer)
{
    foliot__message m = {0};
    peer->state = FOLIOT__PEER_IN;
    write_welcome(server, peer, &m);
    peer->welcomed_ns = server->now_ns;
    hint(server, peer->id, &m);
    if (!peer->session->lockstep)
        foliot__fanout_greet(peer->session, peer);
    foliot__server_send(server, peer->id, &m);
    send_players(server, peer->session, peer->id);
    server->bulk_waits = true;
    if (peer->session->scene_length == 0) // nothing is sent before a state
        peer->lockstep.begun_ns = server->now_ns;
}

// Who says hello again has not heard the welcome.
static void welcome_again(foliot_server *server, foliot__peer *peer)
{
    foliot__message m = {0};
    if (peer->acknowledged || server->now_ns - peer->welcomed_ns < WELCOME_EVERY_NS)
        return;
    peer->welcomed_ns = server->now_ns;
    write_welcome(server, peer, &m);
    hint(server, peer->id, &m);
}

void foliot__server_supersede(foliot_server *server, uint32_t index)
{
    foliot__peer *peer = &server->peers[index];
    if (peer->state == FOLIOT__PEER_NONE)
        return;
    foliot_transport_disconnect(server->config.transport, peer->id, FOLIOT__DISCONNECT_SUPERSEDED,
                                true);
    server->counters.peers_superseded++;
    peer->state = FOLIOT__PEER_NONE;
}

// Whether it would compute as we do; if not, it is refused.
static bool fits(foliot_server *server, const foliot__session *session, foliot__peer *peer,
                 const foliot__hello_message *hello)
{
    const foliot__lockstep *l = session->lockstep;
    const foliot_simulation_kind *kind = l->simulation.kind;
    if (strcmp(hello->simulation, kind->name) != 0 || hello->rules != kind->version) {
        refuse(server, peer, FOLIOT__REFUSE_SIMULATION,
               "the session '%s' steps %s, version %u; you step %s, version %u", session->name,
               kind->name, kind->version, hello->simulation, hello->rules);
        return false;
    }
    if (foliot_digest_equal(hello->fingerprint, l->fingerprint) ||
        (hello->forces && !l->refuses_forced))
        return true;
    // In a world of ours a client that does not force compares the rest itself, once it has the
    // scene.
    if (kind->create == foliot_world_kind.create &&
        (foliot_digest_equal(hello->fingerprint, server->fingerprint) ||
         (!hello->forces && foliot_digest_equal(hello->fingerprint, server->fingerprint_base))))
        return true;
    char ours[FOLIOT_DIGEST_TEXT_BYTES], yours[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(l->fingerprint, ours);
    foliot_digest_print(hello->fingerprint, yours);
    refuse(server, peer, FOLIOT__REFUSE_FINGERPRINT,
           "your build does not compute as this server's does, and would diverge in lockstep: its "
           "fingerprint is %.8s, ours %.8s%s",
           yours, ours, l->refuses_forced ? "" : " (--force joins all the same)");
    return false;
}

// Whether there would be a connection too few if all came back who are away.
static bool kept_for_others(const foliot_server *server)
{
    foliot_server_presence present = foliot_server_get_presence(server);
    return present.peers + present.absent > server->peers_max;
}

static void take_hello(foliot_server *server, foliot__peer *peer,
                       const foliot__hello_message *hello)
{
    if (hello->protocol != FOLIOT_PROTOCOL) {
        refuse(server, peer, FOLIOT__REFUSE_PROTOCOL,
               "this server speaks protocol %d, you speak %u", FOLIOT_PROTOCOL, hello->protocol);
        return;
    }
    if (hello->name_too_long) {
        refuse(server, peer, FOLIOT__REFUSE_NAME, "a name has at most %d bytes",
               FOLIOT_NAME_BYTES - 1);
        return;
    }
    foliot__session *session = find_session(server, hello->session);
    if (!session) {
        refuse(server, peer, FOLIOT__REFUSE_SESSION, "there is no session '%s' here",
               hello->session);
        return;
    }
    if (server->stopping || session->ended) {
        refuse(server, peer, FOLIOT__REFUSE_CLOSING, "the session '%s' is ending", session->name);
        return;
    }
    if (session->lockstep && !fits(server, session, peer, hello))
        return;
    if (!hello->spectates && session->player_limit == 0) { // and never will have room
        refuse(server, peer, FOLIOT__REFUSE_SESSION,
               "nobody plays in the session '%s': it can only be watched (--spectate)",
               session->name);
        return;
    }
    bool returns = !hello->spectates && foliot__session_knows(session, &hello->token);
    if (!returns && !hello->spectates &&
        foliot__session_over_address(
            session, foliot_transport_get_peer_address_key(server->config.transport, peer->id))) {
        server->counters.refusals_over_address++;
        refuse(server, peer, FOLIOT__REFUSE_FULL,
               "your address has all the places that it may have in the session '%s'",
               session->name);
        return;
    }
    if (!returns && kept_for_others(server)) {
        server->counters.refusals_reserved++;
        refuse(server, peer, FOLIOT__REFUSE_FULL,
               "the connections that are left are kept for players who may come back");
        return;
    }
    if (session->lockstep && !foliot__late_join_possible(session, hello->spectates)) {
        refuse(server, peer, FOLIOT__REFUSE_BUSY,
               "the session '%s' has no state to begin with just now: try again", session->name);
        return;
    }
    bool resumed = false;
    uint32_t index = (uint32_t)(peer - server->peers), player = FOLIOT__NO_PLAYER;
    if (!hello->spectates)
        player = foliot__session_enter(session, hello, index, &resumed);
    if (!hello->spectates && player == FOLIOT__NO_PLAYER) {
        refuse(server, peer, FOLIOT__REFUSE_FULL,
               "the session '%s' is full: it has room for %u players", session->name,
               session->player_limit);
        return;
    }
    peer->session = session;
    peer->player = player;
    memcpy(peer->name, hello->spectates ? hello->name : session->players[player].name,
           sizeof peer->name);
    char address[64], text[160];
    foliot_transport_get_peer_address(server->config.transport, peer->id, address, sizeof address);
    snprintf(text, sizeof text, "%s (%s)", peer->name, address);
    foliot__server_event(server, resumed ? FOLIOT_SERVER_RESUMED : FOLIOT_SERVER_JOINED, session,
                         player, 0, text);
    if (resumed)
        server->counters.resumes++;
    else
        server->counters.joins++;
    if (!resumed || !session->recording) {
        foliot__server_welcome(server, peer);
        return;
    }
    peer->state = FOLIOT__PEER_AWAITING;
    session->awaiting = true;
}

// -- receiving

void foliot__server_drop(foliot_server *server, foliot__peer *peer, foliot__refusal reason,
                         const char *why)
{
    char address[64], text[256];
    bool in = peer->state == FOLIOT__PEER_IN || peer->state == FOLIOT__PEER_AWAITING;
    if (peer->state == FOLIOT__PEER_NONE)
        return;
    server->counters.peers_dropped++;
    foliot_transport_get_peer_address(server->config.transport, peer->id, address, sizeof address);
    snprintf(text, sizeof text, "%s%s%s%s was dropped: %s", peer->name, in ? " (" : "", address,
             in ? ")" : "", why);
    foliot__server_event(server, FOLIOT_SERVER_DROPPED, peer->session, peer->player, reason, text);
    bool for_good = reason != FOLIOT__REFUSE_SLOW && reason != FOLIOT__REFUSE_SILENT;
    if (in && peer->player != FOLIOT__NO_PLAYER)
        foliot__session_peer_lost(peer->session, peer->player, for_good);
    foliot_transport_disconnect(server->config.transport, peer->id,
                                FOLIOT__DISCONNECT_REFUSED + reason, true);
    peer->state = FOLIOT__PEER_NONE;
}

// Nonsense is forgiven for a while, and counted.
static void offended(foliot_server *server, foliot__peer *peer)
{
    if (++peer->malformed >= FOLIOT__MALFORMED_MAX)
        foliot__server_drop(server, peer, FOLIOT__REFUSE_MALFORMED,
                            "it went on sending what is no message");
}

void foliot__server_malformed(foliot_server *server, foliot__peer *peer)
{
    server->counters.messages_malformed++;
    offended(server, peer);
}

static void take_control(foliot_server *server, foliot__peer *peer, const uint8_t *bytes,
                         size_t length)
{
    foliot__message message;
    if (foliot__message_decode(bytes, length, &message) != FOLIOT_STATUS_OK) {
        foliot__server_malformed(server, peer);
        return;
    }
    if (message.kind == FOLIOT__HELLO_MESSAGE) { // comes more than once, see the client
        if (peer->state == FOLIOT__PEER_GREETING)
            take_hello(server, peer, &message.as.hello);
        else
            server->counters.messages_ignored++;
    } else if (message.kind == FOLIOT__BYE &&
               (peer->state == FOLIOT__PEER_IN || peer->state == FOLIOT__PEER_AWAITING)) {
        server->counters.byes++;
        if (peer->player != FOLIOT__NO_PLAYER)
            foliot__session_peer_lost(peer->session, peer->player, true);
        foliot_transport_disconnect(server->config.transport, peer->id, 0, false);
        peer->state = FOLIOT__PEER_NONE;
    } else if (message.kind == FOLIOT__KEYFRAME_HEARD && peer->state == FOLIOT__PEER_IN &&
               peer->session->lockstep) {
        server->counters.answers++;
        foliot__late_join_heard(peer->session, peer, &message.as.keyframe_heard);
    } else if (message.kind == FOLIOT__ANSWER && peer->state == FOLIOT__PEER_IN &&
               peer->session->lockstep) {
        foliot__inquiry_hear(peer->session, peer, &message.as.search);
    } else {
        server->counters.messages_unexpected++;
        offended(server, peer);
    }
}

static void take_lockstep(foliot_server *server, foliot__peer *peer, const uint8_t *bytes,
                          size_t length)
{
    foliot__lockstep_input packet;
    if (foliot__lockstep_input_decode(bytes, length, &packet) != FOLIOT_STATUS_OK) {
        foliot__server_malformed(server, peer);
        return;
    }
    server->counters.input_packets++;
    foliot__session_heard(peer->session, peer);
    foliot__lockstep_take(peer->session, peer, &packet);
}

static void take_packet(foliot_server *server, foliot__peer *peer, const uint8_t *bytes,
                        size_t length)
{
    foliot__input_packet packet;
    if (length > 0 && bytes[0] != FOLIOT__INPUT_PACKET &&
        bytes[0] != FOLIOT__LOCKSTEP_INPUT_PACKET && peer->state == FOLIOT__PEER_GREETING) {
        take_control(server, peer, bytes, length);
        return;
    }
    if (length > 0 && foliot__message_is_hello(bytes, length)) {
        server->counters.messages_ignored++; // a late copy
        if (peer->state == FOLIOT__PEER_IN)
            welcome_again(server, peer);
        return;
    }
    if (peer->state != FOLIOT__PEER_IN) {
        server->counters.messages_unexpected++;
        return;
    }
    if (peer->session->lockstep) {
        take_lockstep(server, peer, bytes, length);
        return;
    }
    if (foliot__input_packet_decode(bytes, length, &packet) != FOLIOT_STATUS_OK) {
        foliot__server_malformed(server, peer);
        return;
    }
    server->counters.input_packets++;
    foliot__session_heard(peer->session, peer);
    foliot__session_take_input(peer->session, peer, &packet);
}

static void peer_gone(foliot_server *server, foliot__peer *peer)
{
    if ((peer->state == FOLIOT__PEER_IN || peer->state == FOLIOT__PEER_AWAITING) &&
        peer->player != FOLIOT__NO_PLAYER) {
        foliot__session *session = peer->session;
        // The player may have come back through another peer before this one timed out.
        if (session->players[peer->player].peer == peer - server->peers) {
            foliot__session_peer_lost(session, peer->player, false);
            foliot__server_event(server, FOLIOT_SERVER_LOST, session, peer->player, 0,
                                 session->players[peer->player].name);
        }
        server->counters.peers_lost++;
    }
    peer->state = FOLIOT__PEER_NONE;
}

static void take_event(foliot_server *server, const foliot_transport_event *event)
{
    uint32_t index = foliot__peer_index(event->peer);
    if (index >= server->peers_max)
        return;
    foliot__peer *peer = &server->peers[index];
    if (event->kind == FOLIOT_TRANSPORT_CONNECTED) {
        *peer = (foliot__peer){.id = event->peer,
                               .state = FOLIOT__PEER_GREETING,
                               .player = FOLIOT__NO_PLAYER,
                               .connected_ns = server->now_ns};
        return;
    }
    if (peer->state == FOLIOT__PEER_NONE || peer->id.value != event->peer.value) {
        server->counters.messages_ignored += event->kind == FOLIOT_TRANSPORT_RECEIVED;
        return;
    }
    server->arrived_ns = event->arrived_ns;
    if (event->kind == FOLIOT_TRANSPORT_DISCONNECTED)
        peer_gone(server, peer);
    else if (event->delivery == FOLIOT_DELIVERY_RELIABLE)
        take_control(server, peer, event->bytes, event->length);
    else
        take_packet(server, peer, event->bytes, event->length);
}

// Who connects and says nothing holds a slot that others could use.
static void expire_silent_peers(foliot_server *server)
{
    if (server->now_ns < server->expire_ns)
        return;
    server->expire_ns = server->now_ns + EXPIRE_EVERY_NS;
    for (uint32_t i = 0; i < server->peers_max; i++) {
        foliot__peer *peer = &server->peers[i];
        if (peer->state == FOLIOT__PEER_GREETING &&
            server->now_ns - peer->connected_ns > GREETING_NS) {
            foliot_transport_disconnect(server->config.transport, peer->id, 0, true);
            server->counters.peers_dropped++;
            peer->state = FOLIOT__PEER_NONE;
        }
    }
}

void foliot_server_update(foliot_server *server, uint64_t now_ns)
{
    foliot_transport_event event;
    server->now_ns = now_ns;
    while (foliot_transport_poll(server->config.transport, now_ns, &event))
        take_event(server, &event);
    expire_silent_peers(server);
    foliot__watch_update(server);
    for (uint32_t i = 0; i < server->session_count; i++)
        foliot__session_update(server->sessions[i]);
    foliot__bulk_update(server);
    foliot_transport_flush(server->config.transport, now_ns);
}

uint64_t foliot_server_get_wake_ns(const foliot_server *server)
{
    uint64_t wake = foliot_transport_get_wake_ns(server->config.transport),
             bulk = foliot__bulk_wake_ns(server);
    if (bulk < wake)
        wake = bulk;
    for (uint32_t i = 0; i < server->session_count; i++) {
        const foliot__session *s = server->sessions[i];
        uint64_t due = foliot__session_due_ns(s, s->tick);
        if (!s->ended && !s->running && !server->stopping && due < wake)
            wake = due;
    }
    return wake;
}

void foliot_server_stop(foliot_server *server, const char *why, uint64_t now_ns)
{
    foliot__message m = {.kind = FOLIOT__BYE};
    if (server->stopping)
        return;
    server->stopping = true;
    server->now_ns = server->stopped_ns = now_ns;
    snprintf(m.as.bye.sentence, sizeof m.as.bye.sentence, "%s", why);
    for (uint32_t i = 0; i < server->peers_max; i++) {
        foliot__peer *peer = &server->peers[i];
        if (peer->state == FOLIOT__PEER_NONE)
            continue;
        dismiss_peer(server, peer, &m);
    }
    foliot_transport_flush(server->config.transport, now_ns);
}

bool foliot_server_get_done(const foliot_server *server)
{
    bool ended = true;
    for (uint32_t i = 0; i < server->session_count; i++)
        ended = ended && server->sessions[i]->ended && !server->sessions[i]->running;
    if (ended && !server->stopping)
        return true;
    return server->stopping && !any_running(server) &&
           server->now_ns - server->stopped_ns >= STOP_NS;
}

const foliot_server_counters *foliot_server_get_counters(const foliot_server *server)
{
    return &server->counters;
}

foliot_server_presence foliot_server_get_presence(const foliot_server *server)
{
    foliot_server_presence present = {0};
    for (uint32_t i = 0; i < server->peers_max; i++)
        present.peers += server->peers[i].state != FOLIOT__PEER_NONE;
    for (uint32_t i = 0; i < server->session_count; i++)
        for (uint32_t p = 0; p < server->sessions[i]->player_limit; p++) {
            const foliot__player_slot *player = &server->sessions[i]->players[p];
            present.players += player->state != FOLIOT__PLAYER_NONE;
            present.absent += player->state != FOLIOT__PLAYER_NONE && player->peer < 0;
            present.inputs += player->change_count;
        }
    return present;
}

double foliot_server_get_lateness_us(const foliot_server *server, double share)
{
    uint64_t total = 0, seen = 0;
    for (uint32_t i = 0; i < FOLIOT__LATENESS_BINS; i++)
        total += server->lateness[i];
    for (uint32_t i = 0; i < FOLIOT__LATENESS_BINS; i++) {
        seen += server->lateness[i];
        if (total > 0 && (double)seen >= share * (double)total)
            return (i + 1) * FOLIOT__LATENESS_BIN_US;
    }
    return 0;
}

const foliot_world *foliot_server_get_world(const foliot_server *server, const char *session)
{
    const foliot__session *s = find_session(server, session);
    return s && !s->running ? s->world : NULL;
}
