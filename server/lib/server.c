// SPDX-License-Identifier: MIT
// server.c: a server and its sessions: receives for all of them, lets them tick, and answers the
// host. Counts everything that it drops, and never trusts a byte.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admission.h"
#include "fanout.h"
#include "game.h"
#include "lockstep.h"
#include "peer.h"
#include "player.h"
#include "session.h"

#include "base/assert.h"
#include "net/transport.h"
#include "sim/selftest/fingerprint.h"

#define GREETING_NS 5000000000u // for a hello to come
#define EXPIRE_EVERY_NS 100000000u
#define WATCH_EVERY_NS 1000000000u
#define STOP_NS 1000000000u     // for the goodbyes to arrive ...
#define STOP_NS_MAX 3000000000u // ... where a peer has not acknowledged its own

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
    if (!s->peers || !s->group || !s->order || !foliot__fingerprint_is_known(s->fingerprint)) {
        foliot_server_destroy(s);
        return FOLIOT_STATUS_MEMORY;
    }
    *server = s;
    return FOLIOT_STATUS_OK;
}

static bool any_running(const foliot_server *server)
{
    for (uint32_t i = 0; i < server->session_count; i++)
        if (server->sessions[i]->step.running && !foliot__session_has_stepped(server->sessions[i]))
            return true;
        else if (server->sessions[i]->lockstep &&
                 foliot__divergence_search_running(server->sessions[i]))
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
    for (uint32_t i = 0; server->peers && i < server->peers_max; i++)
        foliot__interest_view_destroy(server->peers[i].interest);
    free(server->peers);
    free(server->group);
    free(server->order);
    free(server);
}

static void reap_peers(foliot_server *server);

// The slot of the session with that name, otherwise that of a removed one; NULL: there is neither.
static foliot__session **place_of(foliot_server *server, const char *name)
{
    foliot__session **removed = NULL;
    for (uint32_t i = 0; i < server->session_count; i++)
        if (server->sessions[i]->life.phase == FOLIOT__SESSION_RETIRED)
            removed = removed ? removed : &server->sessions[i];
        else if (strcmp(server->sessions[i]->name, name) == 0)
            return &server->sessions[i];
    return removed;
}

foliot_status foliot_server_add_session(foliot_server *server, const foliot_session_config *config,
                                        uint64_t now_ns)
{
    foliot__session **place = config->name ? place_of(server, config->name) : NULL, *session;
    server->now_ns = now_ns;
    bool named = config->name && *config->name && strlen(config->name) < FOLIOT_NAME_BYTES;
    bool taken = place && (!foliot__session_has_ended(*place) || (*place)->step.running ||
                           ((*place)->lockstep && foliot__divergence_search_running(*place)));
    bool interest = config->interest.far == 0 || (config->mode == FOLIOT_SESSION_SNAPSHOTS &&
                                                  foliot_interest_valid(&config->interest));
    bool events = config->step_events == 0 ||
                  (!config->simulation && config->step_events < 2 * FOLIOT_STEP_EVENTS_SENSORS);
    bool simulated = config->simulation ? config->mode == FOLIOT_SESSION_LOCKSTEP
                                        : config->world && config->scene;
    if (!named || taken || !interest || !events || !(config->pace_hz > 0) || !simulated)
        return FOLIOT_STATUS_INVALID;
    if (!place && server->session_count == FOLIOT_SESSIONS_MAX)
        return FOLIOT_STATUS_FULL;
    uint32_t index = place ? (uint32_t)(place - server->sessions) : server->session_count;
    foliot_status status = foliot__session_create(server, config, index, &session);
    if (status != FOLIOT_STATUS_OK)
        return status;
    reap_peers(server); // none is left in a session that has ended
    if (place)
        foliot__session_replace(place, session);
    else
        server->sessions[server->session_count++] = session;
    foliot__session_schedule(session);
    return FOLIOT_STATUS_OK;
}

bool foliot_server_poll(foliot_server *server, foliot_server_event *event)
{
    if (server->events.count == 0)
        return false;
    const foliot__held_event *held = &server->events.ring[server->events.first];
    *event = held->event;
    memcpy(server->events.session, held->session, sizeof held->session);
    event->session = server->events.session;
    server->events.first = (server->events.first + 1) % FOLIOT__EVENTS_HELD;
    server->events.count--;
    return true;
}

uint32_t foliot_server_poll_step(foliot_server *server, const char *session,
                                 foliot_step_event *events, uint32_t capacity, uint64_t *dropped)
{
    foliot__session *s = foliot__session_find(server, session);
    if (dropped)
        *dropped = s ? s->step_events.dropped : 0;
    return s ? foliot__step_events_poll(&s->step_events, events, capacity) : 0;
}

// -- receiving

static void receive_control(foliot_server *server, foliot__peer *peer, const uint8_t *bytes,
                            size_t length)
{
    foliot__message message;
    if (foliot__message_decode(bytes, length, &message) != FOLIOT_STATUS_OK) {
        foliot__peer_malformed(server, peer);
        return;
    }
    // Sent before the peer became a watcher, and late.
    bool is_left_over =
        peer->state == FOLIOT__PEER_IN && peer->change.count > 0 &&
        !foliot__peer_is_stepper(peer) &&
        (message.kind == FOLIOT__KEYFRAME_ACKNOWLEDGE || message.kind == FOLIOT__SEARCH_RESPONSE);
    if (message.kind == FOLIOT__HELLO_MESSAGE) { // comes more than once, see the client
        if (peer->state == FOLIOT__PEER_GREETING)
            foliot__server_hello(server, peer, &message.as.hello);
        else
            server->counters.messages_ignored++;
    } else if (message.kind == FOLIOT__BYE && foliot__peer_is_admitted(peer)) {
        server->counters.byes++;
        foliot__peer_end(peer, (foliot__departure){.for_good = true});
    } else if (message.kind == FOLIOT__KIND && peer->state == FOLIOT__PEER_IN) {
        server->counters.answers++;
        foliot__kind_receive(peer->session, peer, &message.as.kind);
    } else if (is_left_over) {
        server->counters.messages_ignored++;
    } else if (message.kind == FOLIOT__KEYFRAME_ACKNOWLEDGE && peer->state == FOLIOT__PEER_IN &&
               foliot__peer_steps(peer)) {
        server->counters.answers++;
        foliot__late_join_acknowledge(peer->session, peer, &message.as.keyframe_acknowledge);
    } else if (message.kind == FOLIOT__SEARCH_RESPONSE && peer->state == FOLIOT__PEER_IN &&
               foliot__peer_steps(peer)) {
        foliot__divergence_search_response(peer->session, peer, &message.as.search);
    } else if (message.kind == FOLIOT__ORDER && peer->state == FOLIOT__PEER_IN) {
        foliot__orders_receive(peer->session, peer, &message.as.order);
    } else {
        bool order = message.kind == FOLIOT__ORDER;
        server->counters.orders_refused += order;
        server->counters.messages_unexpected += !order;
        foliot__peer_offended(server, peer);
    }
}

static void receive_packet(foliot_server *server, foliot__peer *peer, const uint8_t *bytes,
                           size_t length)
{
    foliot_server_counters *counters = &server->counters;
    bool streamed = length > 0 &&
                    (bytes[0] == FOLIOT__LOCKSTEP_INPUT_PACKET || bytes[0] == FOLIOT__EARLY_PACKET);
    bool partial = length > 0 && bytes[0] == FOLIOT__PARTIAL_ACKNOWLEDGE_PACKET;
    bool plays = streamed || partial || (length > 0 && bytes[0] == FOLIOT__INPUT_PACKET);
    if (length > 0 && !plays && peer->state == FOLIOT__PEER_GREETING) {
        receive_control(server, peer, bytes, length);
        return;
    }
    if (length > 0 && foliot__message_is_hello(bytes, length)) {
        counters->messages_ignored++; // a late copy
        if (peer->state == FOLIOT__PEER_IN)
            foliot__peer_welcome_again(server, peer);
        return;
    }
    if (peer->state != FOLIOT__PEER_IN) { // a packet that plays may be of the last connection
        counters->messages_unexpected++;
        return;
    }
    bool expected = streamed ? foliot__peer_steps(peer) : foliot__peer_watches(peer);
    if (peer->change.count > 0 && length > 0 && !expected) {
        counters->messages_ignored++; // was in flight when it changed
        return;
    }
    union {
        foliot__lockstep_input lockstep;
        foliot__partial_acknowledge partial;
        foliot__input_packet input;
    } packet;
    if (streamed ? expected : !expected) { // a stepper
        if (foliot__early_is_asked(bytes, length)) {
            foliot__early_ask(peer->session, peer);
        } else if (foliot__lockstep_input_decode(bytes, length, &packet.lockstep) ==
                   FOLIOT_STATUS_OK) {
            counters->input_packets++;
            foliot__player_acknowledge_token(peer->session, peer);
            foliot__lockstep_receive(peer->session, peer, &packet.lockstep);
        } else {
            foliot__peer_malformed(server, peer);
        }
    } else if (partial) {
        if (peer->session->interest &&
            foliot__partial_acknowledge_decode(bytes, length, &packet.partial) == FOLIOT_STATUS_OK)
            foliot__fanout_receive_partial(peer->session, peer, &packet.partial);
        else
            foliot__peer_malformed(server, peer);
    } else if (foliot__input_packet_decode(bytes, length, peer->session->tick, &packet.input) ==
               FOLIOT_STATUS_OK) {
        counters->input_packets++;
        foliot__player_acknowledge_token(peer->session, peer);
        foliot__input_receive(peer->session, peer, &packet.input);
    } else {
        foliot__peer_malformed(server, peer);
    }
}

// -- ending

// A peer's slot is freed only here: until then a handler may keep using its peer.
static void reap_peer(foliot_server *server, foliot__peer *peer)
{
    const foliot__departure *how = &peer->departure;
    foliot__session *session = peer->session;
    bool played = peer->player != FOLIOT_NO_PLAYER;
    bool left_one = played && foliot__player_peer_lost(session, peer);
    if (how->lost && left_one)
        foliot__server_event(server, FOLIOT_SERVER_LOST, session, peer->player, 0,
                             session->players[peer->player].name);
    if (!how->lost)
        foliot_transport_disconnect(server->config.transport, peer->id, how->code, how->at_once);
    foliot__interest_view_destroy(peer->interest);
    peer->interest = NULL;
    peer->state = FOLIOT__PEER_NONE;
    foliot__peer_leave_session(peer);
}

static void reap_peers(foliot_server *server)
{
    for (uint32_t i = 0; i < server->peers_used; i++)
        if (server->peers[i].state == FOLIOT__PEER_ENDED)
            reap_peer(server, &server->peers[i]);
    while (server->peers_used > 0 &&
           server->peers[server->peers_used - 1].state == FOLIOT__PEER_NONE)
        server->peers_used--;
}

static void receive_event(foliot_server *server, const foliot_transport_event *event)
{
    uint32_t index = foliot__peer_index(event->peer);
    if (index >= server->peers_max)
        return;
    foliot__peer *peer = &server->peers[index];
    if (event->kind == FOLIOT_TRANSPORT_CONNECTED) {
        if (peer->state == FOLIOT__PEER_ENDED) // the transport was faster than this update
            reap_peer(server, peer);
        foliot__peer_leave_session(peer);
        if (server->peers_used <= index)
            server->peers_used = index + 1;
        *peer = (foliot__peer){.id = event->peer,
                               .state = FOLIOT__PEER_GREETING,
                               .player = FOLIOT_NO_PLAYER,
                               .connected_ns = server->now_ns,
                               .received_ns = server->now_ns};
        return;
    }
    if (!foliot__peer_is_here(peer) || peer->id.value != event->peer.value) {
        server->counters.messages_ignored += event->kind == FOLIOT_TRANSPORT_RECEIVED;
        return;
    }
    server->arrived_ns = event->arrived_ns;
    if (event->kind == FOLIOT_TRANSPORT_RECEIVED)
        peer->received_ns = server->now_ns;
    if (event->kind == FOLIOT_TRANSPORT_DISCONNECTED) {
        server->counters.peers_lost += peer->player != FOLIOT_NO_PLAYER;
        foliot__peer_end(peer, (foliot__departure){.lost = true});
    } else if (event->delivery == FOLIOT_DELIVERY_RELIABLE) {
        receive_control(server, peer, event->bytes, event->length);
    } else {
        receive_packet(server, peer, event->bytes, event->length);
    }
    if (peer->session)
        foliot__set_add(server->schedule.touched, peer->session->index);
}

// A peer that connects and sends no hello occupies a place that others could use.
static void expire_silent_peers(foliot_server *server)
{
    if (server->now_ns < server->expire_ns)
        return;
    server->expire_ns = server->now_ns + EXPIRE_EVERY_NS;
    for (uint32_t i = 0; i < server->peers_used; i++) {
        foliot__peer *peer = &server->peers[i];
        if (peer->state == FOLIOT__PEER_GREETING &&
            server->now_ns - peer->connected_ns > GREETING_NS) {
            server->counters.peers_dropped++;
            foliot__peer_end(peer, (foliot__departure){.at_once = true});
        }
    }
}

// -- watching

// Counts of refused packets are logged at 1, 10, 100 and so on, checked once a second: an attack
// can neither hide nor fill the disk.
#define WATCHED_TRANSPORT(X)                                                                       \
    X(datagrams_dropped_source)                                                                    \
    X(datagrams_dropped_unproven)                                                                  \
    X(datagrams_dropped_malformed)                                                                 \
    X(datagrams_dropped_fragment)                                                                  \
    X(service_errors)                                                                              \
    X(connects_refused)                                                                            \
    X(connects_over_address)                                                                       \
    X(connects_too_fast)
#define COOKIE_DROPS_A_JOIN 16
#define HELD_NS 1000000000u // between two updates: something held this server up
#define WATCHED_SERVER(X)                                                                          \
    X(messages_malformed)                                                                          \
    X(messages_unexpected)                                                                         \
    X(inputs_refused)                                                                              \
    X(refusals_reserved)                                                                           \
    X(refusals_over_address)                                                                       \
    X(events_dropped)

static void watch_counter(foliot_server *server, uint32_t at, const char *name, uint64_t count)
{
    uint64_t *due = &server->watched[at], before = *due;
    if (*due == 0)
        *due = 1;
    while (*due <= count && *due <= UINT64_MAX / 10)
        *due *= 10;
    if (*due != before && count > 0)
        foliot__server_event(server, FOLIOT_SERVER_REFUSALS, NULL, FOLIOT_NO_PLAYER, count, name);
}

// Joins over a path that loses or reorders packets cause some: datagrams that arrive before their
// cookie. Those are not attacks, and are not logged.
static uint64_t cookies_beyond_joins(foliot_server *server,
                                     const foliot_transport_counters *network)
{
    uint64_t drops = network->datagrams_dropped_cookie - server->cookies_seen;
    uint64_t joins = network->connects - server->connects_seen + 1; // one may still connect
    server->cookies_seen = network->datagrams_dropped_cookie;
    server->connects_seen = network->connects;
    if (drops > COOKIE_DROPS_A_JOIN * joins)
        server->cookies_beyond += drops - COOKIE_DROPS_A_JOIN * joins;
    return server->cookies_beyond;
}

static void watch_counters(foliot_server *server)
{
    const foliot_transport_counters *network =
        foliot_transport_get_counters(server->config.transport);
    const foliot_server_counters *counters = &server->counters;
    uint32_t at = 0;
    if (server->now_ns < server->watch_ns)
        return;
    server->watch_ns = server->now_ns + WATCH_EVERY_NS;
#define LOOK(name) watch_counter(server, at++, #name, network->name);
    WATCHED_TRANSPORT(LOOK)
#undef LOOK
    watch_counter(server, at++, "datagrams_dropped_cookie", cookies_beyond_joins(server, network));
#define LOOK(name) watch_counter(server, at++, #name, counters->name);
    WATCHED_SERVER(LOOK)
#undef LOOK
    _Static_assert(sizeof server->watched / sizeof *server->watched >= 20, "room for all");
}

// -- updating

void foliot_server_update(foliot_server *server, uint64_t now_ns)
{
    foliot_transport_event event;
    uint64_t set[FOLIOT__SET_WORDS];
    if (now_ns - server->now_ns > HELD_NS)
        server->ran_since_ns = now_ns;
    server->now_ns = now_ns;
    foliot__schedule_begin(server);
    while (foliot_transport_poll(server->config.transport, now_ns, &event))
        receive_event(server, &event);
    expire_silent_peers(server);
    watch_counters(server);
    // Sessions that have something to do, in the order of their indices.
    for (uint32_t w = 0; w < FOLIOT__SET_WORDS; w++)
        set[w] = server->schedule.touched[w] |
                 atomic_load_explicit(&server->schedule.finished[w], memory_order_relaxed);
    foliot__schedule_due(server, set);
    for (uint32_t w = 0; w < FOLIOT__SET_WORDS; w++)
        for (uint64_t rest = set[w]; rest; rest &= rest - 1) {
            foliot__session *session = server->sessions[64 * w + (uint32_t)__builtin_ctzll(rest)];
            foliot__early_update(session);
            foliot__session_update(session);
            foliot__session_rest(session);
        }
    foliot__bulk_update(server);
    reap_peers(server);
    foliot_transport_flush(server->config.transport, now_ns);
}

uint64_t foliot_server_get_wake_ns(const foliot_server *server)
{
    uint64_t bulk = foliot__bulk_wake_ns(server), due = foliot__schedule_wake_ns(server);
    bool early = false; // only in lockstep inputs are relayed before their tick closes
    for (uint32_t i = 0; server->lockstep_count > 0 && i < server->session_count; i++)
        early = early ||
                (server->sessions[i]->lockstep && !foliot__session_has_ended(server->sessions[i]));
    server->config.transport->tick_ns = due < UINT64_MAX && !early ? due : 0;
    uint64_t wake = foliot_transport_get_wake_ns(server->config.transport);
    wake = bulk < wake ? bulk : wake;
    return due < wake ? due : wake;
}

void foliot_server_stop(foliot_server *server, const char *why, uint64_t now_ns)
{
    foliot__message m = {.kind = FOLIOT__BYE};
    if (server->stop.stopping)
        return;
    server->stop.stopping = true;
    server->stop.silent = !why;
    server->now_ns = server->stop.ns = now_ns;
    snprintf(m.as.bye.sentence, sizeof m.as.bye.sentence, "%s", why ? why : "");
    for (uint32_t i = 0; i < server->peers_max; i++) {
        foliot__peer *peer = &server->peers[i];
        if (foliot__peer_is_here(peer) && why)
            foliot__peer_dismiss(server, peer, &m);
        else if (foliot__peer_is_here(peer))
            foliot__peer_end(peer, (foliot__departure){0});
    }
    reap_peers(server);
    foliot_transport_flush(server->config.transport, now_ns);
}

bool foliot_server_get_done(const foliot_server *server)
{
    bool ended = true;
    for (uint32_t i = 0; ended && i < server->session_count; i++)
        ended =
            foliot__session_has_ended(server->sessions[i]) && !server->sessions[i]->step.running;
    if (ended && !server->stop.stopping)
        return true;
    if (!server->stop.stopping || any_running(server))
        return false;
    uint64_t waited_ns = server->now_ns - server->stop.ns;
    return waited_ns >= STOP_NS_MAX ||
           (waited_ns >= STOP_NS && !foliot__transport_count_leaving(server->config.transport));
}

uint64_t foliot_server_get_step_age_ns(const foliot_server *server, uint64_t now_ns)
{
    uint64_t oldest = 0;
    for (uint32_t i = 0; i < server->session_count; i++) {
        const foliot__session *s = server->sessions[i];
        uint64_t age = s->step.running && now_ns > s->step.began_ns ? now_ns - s->step.began_ns : 1;
        if (s->step.running && age > oldest)
            oldest = age;
    }
    return oldest;
}

const foliot_server_counters *foliot_server_get_counters(const foliot_server *server)
{
    return &server->counters;
}

double foliot_server_get_lateness_us(const foliot_server *server, double share)
{
    uint64_t total = 0, seen = 0;
    for (uint32_t i = 0; i < FOLIOT__LATENESS_BINS; i++)
        total += server->schedule.lateness[i];
    for (uint32_t i = 0; i < FOLIOT__LATENESS_BINS; i++) {
        seen += server->schedule.lateness[i];
        if (total > 0 && (double)seen >= share * (double)total)
            return (i + 1) * FOLIOT__LATENESS_BIN_US;
    }
    return 0;
}

uint64_t foliot_server_get_lateness_count(const foliot_server *server, double within_us,
                                          double *sum_us)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i + 1 < FOLIOT__LATENESS_BINS; i++)
        if ((i + 1) * FOLIOT__LATENESS_BIN_US <= within_us)
            count += server->schedule.lateness[i];
    if (isinf(within_us)) // the last bin is of all that were later
        count += server->schedule.lateness[FOLIOT__LATENESS_BINS - 1];
    if (sum_us)
        *sum_us = server->schedule.lateness_sum_us;
    return count;
}

bool foliot_server_get_next(const foliot_server *server, const char *session, const char **next)
{
    const foliot__session *s = foliot__session_find(server, session);
    return s && foliot__session_has_ended(s) && s->world && foliot_world_get_end(s->world, next);
}

void foliot_server_give_up_next(foliot_server *server, const char *session)
{
    foliot__session *s = foliot__session_find(server, session);
    if (s)
        s->life.next_until_ns = 0;
}

const foliot_world *foliot_server_get_world(const foliot_server *server, const char *session)
{
    const foliot__session *s = foliot__session_find(server, session);
    return s && !s->step.running ? s->world : NULL;
}
