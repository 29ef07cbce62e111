// SPDX-License-Identifier: MIT
// admin.c: see foliot/server.h. Actions of the host on running sessions and their players. Nothing
// here waits, or touches a world while a step runs.
#include "foliot/server.h"

#include <stdio.h>
#include <string.h>

#include "lockstep.h"
#include "peer.h"
#include "session.h"

#define LIFE_EVERY_NS 250000000u
#define STOPPED_BY_HOST "the host has ended the session"

// By its whole name: "" matches none.
static foliot__session *find(const foliot_server *server, const char *name)
{
    return *name ? foliot__session_find(server, name) : NULL;
}

uint32_t foliot_server_get_session_count(const foliot_server *server)
{
    return server->session_count;
}

foliot_status foliot_server_get_session_info(const foliot_server *server, uint32_t index,
                                             foliot_session_info *info)
{
    if (index >= server->session_count ||
        server->sessions[index]->life.phase == FOLIOT__SESSION_RETIRED)
        return FOLIOT_STATUS_NOT_FOUND;
    const foliot__session *s = server->sessions[index];
    *info = (foliot_session_info){.mode = s->roles.mode,
                                  .ended = foliot__session_has_ended(s),
                                  .paused = s->life.paused,
                                  .closed = s->life.closed || server->admission.closed,
                                  .records = s->recording && !s->record.reported,
                                  .first_tick = s->clock.first_tick,
                                  .tick = s->tick,
                                  .pace_hz = s->clock.pace_hz,
                                  .body_count = s->scene ? s->scene->body_count : 0,
                                  .player_limit = s->player_limit};
    memcpy(info->name, s->name, sizeof info->name);
    for (uint32_t p = 0; p < s->player_limit; p++) {
        const foliot__player_slot *player = &s->players[p];
        bool present =
            player->peer >= 0 && foliot__peer_is_here(&server->peers[player->peer]) && !info->ended;
        bool there = player->state != FOLIOT__PLAYER_NONE && (present || !info->ended);
        info->players += there;
        info->absent += there && !present;
    }
    for (const foliot__peer *peer = s->peers; peer; peer = peer->next)
        info->spectators += peer->player == FOLIOT_NO_PLAYER && foliot__peer_is_here(peer);
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_server_find_session(const foliot_server *server, const char *session,
                                         uint32_t *index)
{
    for (uint32_t i = 0; i < server->session_count; i++)
        if (server->sessions[i]->life.phase != FOLIOT__SESSION_RETIRED &&
            strcmp(server->sessions[i]->name, session) == 0) {
            *index = i;
            return FOLIOT_STATUS_OK;
        }
    return FOLIOT_STATUS_NOT_FOUND;
}

foliot_status foliot_server_get_players(const foliot_server *server, const char *session,
                                        foliot_player_info *players, uint32_t capacity,
                                        uint32_t *count)
{
    const foliot__session *s = find(server, session);
    if (!s)
        return FOLIOT_STATUS_NOT_FOUND;
    *count = 0;
    for (uint32_t p = 0; p < s->player_limit && !foliot__session_has_ended(s); p++) {
        if (s->players[p].state == FOLIOT__PLAYER_NONE)
            continue;
        if (++*count > capacity)
            continue;
        const foliot__player_slot *player = &s->players[p];
        const foliot__peer *peer = player->peer >= 0 ? &server->peers[player->peer] : NULL;
        foliot_player_info *info = &players[*count - 1];
        *info = (foliot_player_info){.player = p, .present = peer && foliot__peer_is_here(peer)};
        memcpy(info->name, player->name, sizeof info->name);
        if (!info->present)
            continue;
        foliot_transport_get_peer_address(server->config.transport, peer->id, info->address,
                                          sizeof info->address);
        info->round_trip_ns =
            foliot_transport_get_round_trip_ns(server->config.transport, peer->id);
        info->steps = foliot__peer_steps(peer);
    }
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_server_pause_session(foliot_server *server, const char *session, bool paused,
                                          uint64_t now_ns)
{
    foliot__session *s = find(server, session);
    if (!s)
        return FOLIOT_STATUS_NOT_FOUND;
    if (foliot__session_has_ended(s))
        return FOLIOT_STATUS_INVALID;
    if (paused && !s->life.paused)
        s->life.paused_ns = now_ns;
    if (!paused && s->life.paused) {
        uint64_t rested = now_ns - s->life.paused_ns;
        s->clock.base_ns += rested;
        foliot__players_rest(s, rested, now_ns);
    }
    s->life.paused = paused;
    s->life.notice_ns = now_ns;
    foliot__session_schedule(s);
    return FOLIOT_STATUS_OK;
}

void foliot__session_rest(foliot__session *s)
{
    if (!s->life.paused || foliot__session_has_ended(s) || s->server->now_ns < s->life.notice_ns)
        return;
    s->life.notice_ns = s->server->now_ns + LIFE_EVERY_NS;
    foliot__session_schedule(s);
    // A client takes a server that is silent for a second for dead. An unreliable acknowledgement
    // serves as a keepalive: it has no other effect.
    foliot__message m = {.kind = FOLIOT__ORDER_ACKNOWLEDGE};
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    if (foliot__message_encode(&m, bytes, sizeof bytes, &length) != FOLIOT_STATUS_OK)
        return;
    for (const foliot__peer *peer = s->peers; peer; peer = peer->next)
        if (peer->state == FOLIOT__PEER_IN)
            foliot__server_send_packet(s->server, peer->id, FOLIOT_DELIVERY_UNRELIABLE, bytes,
                                       length);
}

foliot_status foliot_server_end_session(foliot_server *server, const char *session, const char *why,
                                        uint64_t now_ns)
{
    foliot__session *s = find(server, session);
    if (!s)
        return FOLIOT_STATUS_NOT_FOUND;
    if (foliot__session_has_ended(s))
        return FOLIOT_STATUS_INVALID;
    if (s->step.running || (s->lockstep && foliot__divergence_search_running(s)))
        return FOLIOT_STATUS_AGAIN;
    server->now_ns = now_ns;
    why = *why ? why : STOPPED_BY_HOST;
    s->life.phase = FOLIOT__SESSION_ENDED;
    foliot__session_schedule(s);
    foliot__record_write_out(s);
    foliot__server_event(server, FOLIOT_SERVER_GAME_ENDED, s, FOLIOT_NO_PLAYER,
                         s->tick - s->clock.first_tick, why);
    foliot__session_dismiss(s, why);
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_server_remove_session(foliot_server *server, const char *session)
{
    uint32_t index;
    foliot_status status = foliot_server_find_session(server, session, &index);
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot__session *s = server->sessions[index];
    if (!foliot__session_has_ended(s))
        return FOLIOT_STATUS_INVALID;
    if (s->step.running || (s->lockstep && foliot__divergence_search_running(s)))
        return FOLIOT_STATUS_AGAIN;
    if (s->peers)
        return FOLIOT_STATUS_AGAIN;
    foliot__session_retire(s);
    foliot__session_schedule(s);
    foliot__set_remove(server->schedule.touched, index);
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_server_close_session(foliot_server *server, const char *session, bool closed)
{
    foliot__session *s = find(server, session);
    if (!*session) {
        server->admission.closed = closed;
        return FOLIOT_STATUS_OK;
    }
    if (!s)
        return FOLIOT_STATUS_NOT_FOUND;
    s->life.closed = closed;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_server_kick(foliot_server *server, const char *session, uint32_t player,
                                 const char *why)
{
    foliot__session *s = find(server, session);
    foliot__message bye = {.kind = FOLIOT__BYE};
    if (!s || foliot__session_has_ended(s) || player >= s->player_limit ||
        s->players[player].state == FOLIOT__PLAYER_NONE)
        return FOLIOT_STATUS_NOT_FOUND;
    foliot__player_slot *slot = &s->players[player];
    foliot__peer *peer = slot->peer >= 0 ? &server->peers[slot->peer] : NULL;
    if (!peer || !foliot__peer_is_here(peer)) {
        slot->leaves = true; // its place is free again after the next tick
        return FOLIOT_STATUS_OK;
    }
    snprintf(bye.as.bye.sentence, sizeof bye.as.bye.sentence, "%s",
             *why ? why : "the host has removed you from the session");
    foliot__server_send(server, peer->id, &bye);
    foliot__peer_end(peer, (foliot__departure){.for_good = true});
    return FOLIOT_STATUS_OK;
}

void foliot_server_set_admission(foliot_server *server,
                                 bool (*admit)(void *user, const char *session, const char *name,
                                               const char *address,
                                               const foliot_peer_identity *identity, char why[160]),
                                 void *user)
{
    server->admission.admit = admit;
    server->admission.user = user;
}
