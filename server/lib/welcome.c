// SPDX-License-Identifier: MIT
// welcome.c: what a newcomer is told when it is let in. The welcome of a player who came back waits
// until the recording has its new token: a server that died right after it must know that token.
#include <stdio.h>
#include <string.h>

#include "foliot/integrator.h"
#include "admission.h"
#include "sim/selftest/fingerprint.h"
#include "game.h"
#include "peer.h"
#include "session.h"

#define WELCOME_EVERY_NS 15000000u  // at most
#define RECORDED_NS_MAX 1000000000u // that a welcome waits for a slow disk

static void send_players(foliot_server *server, foliot__session *session, foliot_peer_id peer)
{
    for (uint32_t p = 0; p < session->player_limit; p++) {
        foliot__player_slot *player = &session->players[p];
        if (player->state != FOLIOT__PLAYER_IN_WORLD)
            continue;
        if (session->step.running) // its body is told behind the step
            player->announced = false;
        foliot__message m = {.kind = FOLIOT__PLAYER};
        m.as.player.player = p;
        m.as.player.joined = true;
        m.as.player.slot = session->step.running || !session->world
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
    foliot__message m = {0};
    peer->state = FOLIOT__PEER_IN;
    write_welcome(server, peer, &m);
    peer->welcomed_ns = server->now_ns;
    foliot__server_send_twice(server, peer->id, &m);
    foliot__kind_open(peer->session, peer, peer->change.kind);
    foliot__server_send(server, peer->id, &m);
    send_players(server, peer->session, peer->id);
    foliot__updates_greet(peer->session, peer);
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

// A server that died right after a welcome must know the token that it gave.
static bool token_recorded(const foliot__session *s, const foliot__player_slot *player)
{
    if (!s->recording || foliot__session_has_ended(s))
        return true;
    if (player->token.rotated)
        return false;
    foliot_recording_state state = foliot_recording_get_state(s->recording);
    return state.stopped != FOLIOT_STATUS_OK || state.written_tick >= player->token.noted_tick ||
           s->server->now_ns - player->token.noted_ns >= RECORDED_NS_MAX;
}

void foliot__session_welcome_awaiting(foliot__session *s)
{
    foliot_server *server = s->server;
    bool any = s->pending & FOLIOT__PENDING_WELCOMES;
    s->pending &= ~(uint32_t)FOLIOT__PENDING_WELCOMES;
    for (foliot__peer *peer = s->peers; any && peer; peer = peer->next) {
        if (peer->state != FOLIOT__PEER_AWAITING_TOKEN && peer->state != FOLIOT__PEER_AWAITING)
            continue;
        bool recorded =
            peer->state == FOLIOT__PEER_AWAITING || token_recorded(s, &s->players[peer->player]);
        if (recorded && foliot__kind_make_machinery(s, peer->change.kind) == FOLIOT_STATUS_OK)
            foliot__peer_welcome(server, peer);
        else if (recorded)
            foliot__peer_drop(server, peer, FOLIOT__REFUSE_BUSY,
                              "there is no memory for what it needs");
        else
            s->pending |= FOLIOT__PENDING_WELCOMES;
    }
}
