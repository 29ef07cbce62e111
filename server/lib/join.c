// SPDX-License-Identifier: MIT
// join.c: lets a newcomer in: into which session, as which player, and what it is sent first.
// Refuses with a sentence; never trusts a byte: wire/message.c decodes messages before anything
// here sees them. The welcome of a player who returned waits until the recording has its new token:
// a server that dies right after the welcome must know that token.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "admission.h"
#include "game.h"
#include "lockstep.h"
#include "peer.h"
#include "player.h"
#include "session.h"

#include "foliot/scene.h"
#include "net/transport.h"
#include "sim/selftest/fingerprint.h"

#define WELCOME_EVERY_NS 15000000u // at most

// -- the welcome

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
    if (peer->player != FOLIOT_NO_PLAYER) {
        w->token = session->players[peer->player].token.current;
        w->resumed = session->players[peer->player].token.same;
        w->orders = session->players[peer->player].orders.next - 1;
    }
    w->tick = session->tick;
    w->dt = session->scene ? session->scene->dt : 1 / session->clock.pace_hz;
    w->pace_hz = session->clock.pace_hz;
    w->snapshot_hz = session->clock.pace_hz / session->snapshots.every;
    w->format = session->snapshots.format;
    w->scene_bytes = (uint32_t)session->setup.length;
    w->fingerprint = foliot__fingerprint_is_known(session->roles.fingerprint)
                         ? session->roles.fingerprint
                         : server->fingerprint;
    w->lockstep = peer->change.kind == FOLIOT__KIND_STEPPER;
    w->input_delay = session->input_delay;
    w->watchable = session->world != NULL;
    w->kind_reason = peer->change.wanted_reason;
    w->near = session->interest ? foliot__interest_map_get(session->interest)->near : 0;
    w->far = session->interest ? foliot__interest_map_get(session->interest)->far : 0;
}

void foliot__peer_welcome(foliot_server *server, foliot__peer *peer)
{
    foliot__session *session = peer->session;
    foliot__message m = {0};
    peer->state = FOLIOT__PEER_IN;
    write_welcome(server, peer, &m);
    peer->welcomed_ns = server->now_ns;
    foliot__server_send_twice(server, peer->id, &m);
    foliot__kind_open(session, peer, peer->change.kind);
    foliot__server_send(server, peer->id, &m);
    for (uint32_t p = 0; p < session->player_limit; p++) {
        foliot__player_slot *player = &session->players[p];
        if (player->state != FOLIOT__PLAYER_IN_WORLD)
            continue;
        if (session->step.running) // its body is announced after the step
            player->announced = false;
        m = (foliot__message){.kind = FOLIOT__PLAYER};
        m.as.player.player = p;
        m.as.player.joined = true;
        m.as.player.slot =
            session->step.running || !session->world
                ? FOLIOT_NO_BODY
                : foliot_body_id_get_slot(foliot_world_get_player_body(session->world, p));
        memcpy(m.as.player.name, player->name, sizeof m.as.player.name);
        foliot__server_send(server, peer->id, &m);
    }
    foliot__updates_greet(session, peer);
    server->bulk.waits = true;
}

// A peer that sends its hello again has not received the welcome.
void foliot__peer_welcome_again(foliot_server *server, foliot__peer *peer)
{
    foliot__message m = {0};
    if (peer->snapshots.baseline == FOLIOT__BASELINE_ACKNOWLEDGED ||
        server->now_ns - peer->welcomed_ns < WELCOME_EVERY_NS)
        return;
    peer->welcomed_ns = server->now_ns;
    write_welcome(server, peer, &m);
    foliot__server_send_twice(server, peer->id, &m);
}

void foliot__session_welcome_awaiting(foliot__session *s)
{
    foliot_server *server = s->server;
    bool any = s->pending & FOLIOT__PENDING_WELCOMES;
    s->pending &= ~(uint32_t)FOLIOT__PENDING_WELCOMES;
    for (foliot__peer *peer = s->peers; any && peer; peer = peer->next) {
        if (peer->state != FOLIOT__PEER_AWAITING_TOKEN && peer->state != FOLIOT__PEER_AWAITING)
            continue;
        bool recorded = peer->state == FOLIOT__PEER_AWAITING ||
                        foliot__record_has_token(s, &s->players[peer->player]);
        if (recorded && foliot__kind_make_machinery(s, peer->change.kind) == FOLIOT_STATUS_OK)
            foliot__peer_welcome(server, peer);
        else if (recorded)
            foliot__peer_drop(server, peer, FOLIOT__REFUSE_BUSY, "the server has no memory for it");
        else
            s->pending |= FOLIOT__PENDING_WELCOMES;
    }
}

// -- letting in

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
    foliot__server_send_twice(server, peer->id, &m);
    foliot__server_send(server, peer->id, &m);
    foliot__peer_end(peer, (foliot__departure){.code = FOLIOT__DISCONNECT_REFUSED + reason});
    server->counters.refusals++;
    foliot__server_event(server, FOLIOT_SERVER_REFUSED, NULL, FOLIOT_NO_PLAYER, reason,
                         m.as.refuse.sentence);
}

// The peer can neither step nor watch. The sentence gives the reason.
static void refuse_stepper(foliot_server *server, foliot__session *session, foliot__peer *peer,
                           const foliot__hello_message *hello)
{
    const foliot_simulation_kind *kind = session->simulation.kind;
    if (strcmp(hello->simulation, kind->name) != 0 || hello->rules != kind->version) {
        refuse(server, peer, FOLIOT__REFUSE_SIMULATION,
               "the session '%s' steps %s, version %u; you step %s, version %u", session->name,
               kind->name, kind->version, hello->simulation, hello->rules);
        return;
    }
    char ours[FOLIOT_DIGEST_TEXT_BYTES], yours[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(foliot__session_fingerprint(session), ours);
    foliot_digest_print(hello->fingerprint, yours);
    refuse(server, peer, FOLIOT__REFUSE_FINGERPRINT,
           "your build computes differently from this server's, and would diverge in lockstep: its "
           "fingerprint is %.8s, ours %.8s%s",
           yours, ours, session->roles.refuses_forced ? "" : " (--force joins anyway)");
}

// Whether the peer's connect token allows its hello's request; if not, the peer is refused.
static bool token_allows(foliot_server *server, foliot__peer *peer, const foliot_token *token,
                         const foliot__hello_message *hello)
{
    bool elsewhere =
        token->session[0] && hello->session[0] && strcmp(token->session, hello->session) != 0;
    if (elsewhere)
        refuse(server, peer, FOLIOT__REFUSE_SESSION, "your token is for the session '%s' only",
               token->session);
    else if (token->role == FOLIOT_ROLE_SPECTATOR && !hello->spectates)
        refuse(server, peer, FOLIOT__REFUSE_SESSION,
               "your token is a spectator's: it lets you watch (--spectate)");
    else
        return true;
    return false;
}

// The session that the hello names; NULL: refused. If the protocol version differs, the other
// fields were not read.
static foliot__session *session_for(foliot_server *server, foliot__peer *peer,
                                    const foliot__hello_message *hello)
{
    foliot_peer_identity identity;
    bool understood = hello->protocol == FOLIOT_PROTOCOL;
    (void)foliot_transport_get_peer_identity(server->config.transport, peer->id, &identity);
    if (understood && !token_allows(server, peer, &identity.token, hello))
        return NULL;
    const char *wanted = hello->session[0] ? hello->session : identity.token.session;
    foliot__session *session = understood ? foliot__session_find(server, wanted) : NULL;
    if (!understood)
        refuse(server, peer, FOLIOT__REFUSE_PROTOCOL,
               "this server speaks protocol %d, you speak %u", FOLIOT_PROTOCOL, hello->protocol);
    else if (hello->name_too_long)
        refuse(server, peer, FOLIOT__REFUSE_NAME, "a name has at most %d bytes",
               FOLIOT_NAME_BYTES - 1);
    else if (!session)
        refuse(server, peer, FOLIOT__REFUSE_SESSION, "there is no session '%s' here", wanted);
    else if (server->stop.silent && !foliot__session_has_ended(session))
        foliot__peer_end(peer, (foliot__departure){0});
    else if (!server->stop.stopping && server->now_ns < session->life.next_until_ns)
        peer->connected_ns = server->now_ns; // is not silent: its hello comes again every 20 ms
    else if (server->stop.stopping || foliot__session_has_ended(session))
        refuse(server, peer, FOLIOT__REFUSE_CLOSING, "the session '%s' is ending", session->name);
    else
        return session;
    return NULL;
}

// Whether the host lets it in; if not, it is refused.
static bool host_admits(foliot_server *server, const foliot__session *session, foliot__peer *peer,
                        const foliot__hello_message *hello, bool returns)
{
    char address[64], why[160] = "";
    if ((server->admission.closed || session->life.closed) && !returns) {
        refuse(server, peer, FOLIOT__REFUSE_CLOSING, "the session '%s' admits no new players",
               session->name);
        return false;
    }
    if (!server->admission.admit)
        return true;
    foliot_transport_get_peer_address(server->config.transport, peer->id, address, sizeof address);
    foliot_peer_identity identity = {0};
    (void)foliot_transport_get_peer_identity(server->config.transport, peer->id, &identity);
    if (server->admission.admit(server->admission.user, session->name, hello->name, address,
                                &identity, why))
        return true;
    refuse(server, peer, FOLIOT__REFUSE_SESSION, "%s", why);
    return false;
}

// Whether a silent player makes room. The hello is left unanswered: it comes again every 20 ms.
static bool awaits_place(foliot__session *session, foliot__peer *peer, uint64_t host)
{
    if (!foliot__players_yield(session, peer, host))
        return false;
    peer->connected_ns = session->server->now_ns; // is not silent
    session->server->counters.messages_ignored++;
    return true;
}

// Whether the newcomer may have a place; if not, it is refused.
static bool may_enter(foliot_server *server, foliot__session *session, foliot__peer *peer,
                      const foliot__hello_message *hello)
{
    uint64_t host = foliot__transport_get_peer_address_key(server->config.transport, peer->id);
    bool plays = !hello->spectates;
    bool returns = plays && foliot__player_known(session, &hello->token);
    // Every absent player may return and needs a connection.
    foliot_server_presence present = {0};
    if (!returns)
        present = foliot_server_get_presence(server);
    if (!host_admits(server, session, peer, hello, returns))
        return false;
    if (plays && session->player_limit == 0) { // and never will have room
        refuse(server, peer, FOLIOT__REFUSE_SESSION,
               "the session '%s' has no players: it can only be watched (--spectate)",
               session->name);
    } else if (plays && !returns && foliot__players_over_address(session, host)) {
        if (awaits_place(session, peer, host))
            return false;
        server->counters.refusals_over_address++;
        refuse(server, peer, FOLIOT__REFUSE_FULL,
               "your address holds all the slots that it may in the session '%s'", session->name);
    } else if (present.peers + present.absent > server->peers_max) {
        server->counters.refusals_reserved++;
        refuse(server, peer, FOLIOT__REFUSE_FULL,
               "the remaining connections are kept for players who may come back");
    } else if (peer->change.kind == FOLIOT__KIND_STEPPER && session->lockstep &&
               !foliot__late_join_possible(session, hello->spectates)) {
        refuse(server, peer, FOLIOT__REFUSE_BUSY,
               "the session '%s' has no state for newcomers just now: try again", session->name);
    } else {
        return true;
    }
    return false;
}

static void let_in(foliot_server *server, foliot__session *session, foliot__peer *peer,
                   const foliot__hello_message *hello, uint32_t player, bool resumed)
{
    char address[64], text[160];
    foliot__peer_enter_session(peer, session);
    peer->player = player;
    memcpy(peer->name, hello->spectates ? hello->name : session->players[player].name,
           sizeof peer->name);
    foliot_transport_get_peer_address(server->config.transport, peer->id, address, sizeof address);
    snprintf(text, sizeof text, "%s (%s)", peer->name, address);
    foliot__server_event(server, resumed ? FOLIOT_SERVER_RESUMED : FOLIOT_SERVER_JOINED, session,
                         player, 0, text);
    if (resumed)
        server->counters.resumes++;
    else
        server->counters.joins++;
    bool awaits_token = resumed && session->recording;
    if (awaits_token || !foliot__kind_has_machinery(session, peer->change.kind)) {
        peer->state = awaits_token ? FOLIOT__PEER_AWAITING_TOKEN : FOLIOT__PEER_AWAITING;
        session->pending |= FOLIOT__PENDING_WELCOMES;
    } else {
        foliot__peer_welcome(server, peer);
    }
}

void foliot__server_hello(foliot_server *server, foliot__peer *peer,
                          const foliot__hello_message *hello)
{
    bool resumed = false;
    uint32_t player = FOLIOT_NO_PLAYER;
    foliot__session *session = session_for(server, peer, hello);
    if (!session)
        return;
    peer->change.kind = foliot__kind_of_newcomer(session, peer, hello, &peer->change.wanted_reason);
    if (peer->change.kind == FOLIOT__KIND_ANY) {
        refuse_stepper(server, session, peer, hello);
        return;
    }
    if (!may_enter(server, session, peer, hello))
        return;
    if (!hello->spectates)
        player = foliot__player_enter(session, hello, (uint32_t)(peer - server->peers), &resumed);
    if (hello->spectates || player != FOLIOT_NO_PLAYER)
        let_in(server, session, peer, hello, player, resumed);
    else if (!awaits_place(session, peer, 0))
        refuse(server, peer, FOLIOT__REFUSE_FULL,
               "the session '%s' is full: it has room for %u player%s", session->name,
               session->player_limit, session->player_limit == 1 ? "" : "s");
}
