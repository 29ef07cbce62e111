// SPDX-License-Identifier: MIT
// player.c: the players of a session: their places, the tokens that name them, and the fate of a
// player whose peer is lost. A player outlives its peers: it leaves the world only in a tick.
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "game.h"
#include "net/transport.h"
#include "peer.h"
#include "player.h"
#include "session.h"

#define PLAYERS_SHARE 4             // an address may have a quarter of a session's places,
#define PLAYERS_MIN 2               // and this many at least
#define SILENCE_NS_MIN 5000000000u  // after which a newcomer may get a silent player's place,
#define SILENCE_NS_SAME 2000000000u // and a newcomer of the same client of connect tokens
#define NAME_NUMBER_BYTES 6         // "-1000", closed
#define NAME_NUMBER_MAX 1000

static const foliot_player_proof no_proof; // all zero

static foliot_player_proof proof_of(const foliot__token *token)
{
    foliot_player_proof proof = {{0}};
    if (!foliot__token_is_none(token))
        foliot__one_way(token, sizeof *token, proof.bytes);
    return proof;
}

static bool same_proof(const foliot_player_proof *a, const foliot_player_proof *b)
{
    return foliot__secrets_equal(a, b, sizeof *a);
}

static void give_token(const foliot_server *server, foliot__player_slot *player)
{
    foliot__random_source *random =
        server->config.random ? server->config.random : foliot__system_random;
    do
        random(server->config.random_user, &player->token.current, sizeof player->token.current);
    while (foliot__token_is_none(&player->token.current));
    player->token.proof = proof_of(&player->token.current);
}

static bool has_ended(const foliot__session *session, const foliot__player_slot *player)
{
    return player->peer < 0 || session->server->peers[player->peer].state == FOLIOT__PEER_ENDED;
}

// The player that a token names: its current token, or the previous one until the owner has
// acknowledged the current one. Checks every player, so that the time reveals nothing.
static uint32_t find_player(const foliot__session *session, const foliot__token *token)
{
    uint32_t found = FOLIOT_NO_PLAYER;
    foliot_player_proof proof = proof_of(token);
    if (foliot__token_is_none(token))
        return found;
    for (uint32_t p = 0; p < session->player_limit; p++) {
        const foliot__player_slot *player = &session->players[p];
        bool here =
            player->state == FOLIOT__PLAYER_ENTERING || player->state == FOLIOT__PLAYER_IN_WORLD;
        bool leaves = player->peer >= 0 && has_ended(session, player) &&
                      session->server->peers[player->peer].departure.for_good;
        here = here && !player->leaves && !leaves;
        bool is_new = same_proof(&player->token.proof, &proof),
             is_before = same_proof(&player->token.before, &proof);
        if (here && (is_new || is_before))
            found = p;
    }
    return found;
}

bool foliot__player_known(const foliot__session *session, const foliot__token *token)
{
    return find_player(session, token) != FOLIOT_NO_PLAYER;
}

// The token of the hello stays valid until the peer acknowledges the new one.
static void resume_player(foliot__session *session, foliot__player_slot *player,
                          const foliot__token *token, uint32_t peer)
{
    foliot_player_proof proof = proof_of(token);
    if (same_proof(&player->token.proof,
                   &proof)) { // so its welcome arrived, though no input has shown that yet
        if (player->token.same && !same_proof(&player->token.before, &no_proof))
            player->token.spent = player->token.before;
        player->token.same = player->token.acknowledged = true;
    }
    player->token.before = proof;
    give_token(session->server, player);
    player->token.rotated = true;
    session->server->counters.tokens_rotated++;
    if (player->peer >= 0 && player->peer != (int64_t)peer)
        foliot__peer_supersede(session->server, (uint32_t)player->peer);
    player->peer = peer;
}

// A token that was replaced, and whose replacement its owner had acknowledged: the owner lost the
// new one, or the token was stolen.
static void report_spent_token(foliot__session *session, const foliot__token *token)
{
    foliot_player_proof proof = proof_of(token);
    for (uint32_t p = 0; !foliot__token_is_none(token) && p < session->player_limit; p++) {
        const foliot__player_slot *player = &session->players[p];
        if (player->state == FOLIOT__PLAYER_NONE || !same_proof(&player->token.spent, &proof))
            continue;
        session->server->counters.tokens_spent++;
        foliot__server_event(session->server, FOLIOT_SERVER_SPENT, session, p, 0, player->name);
    }
}

bool foliot__players_over_address(const foliot__session *session, uint64_t host)
{
    uint32_t most = session->server->config.players_per_address_max, held = 0;
    if (most == 0)
        most = session->player_limit / PLAYERS_SHARE < PLAYERS_MIN
                   ? PLAYERS_MIN
                   : session->player_limit / PLAYERS_SHARE;
    for (uint32_t p = 0; p < session->player_limit; p++)
        held +=
            session->players[p].state != FOLIOT__PLAYER_NONE && session->players[p].host == host;
    return host != 0 && held >= most;
}

static uint64_t client_of(const foliot_server *server, const foliot__peer *peer)
{
    foliot_peer_identity identity = {0};
    bool known = foliot_transport_get_peer_identity(server->config.transport, peer->id, &identity);
    return known && identity.security == FOLIOT_SECURITY_TOKEN ? identity.token.client : 0;
}

// Places are kept for reconnect_ms of silence. Without newcomers they are kept longer, by the time
// that the transport takes to notice that a peer is gone. A client that a connect token names
// follows itself much sooner: nobody else has its identity.
bool foliot__players_yield(foliot__session *session, const foliot__peer *newcomer, uint64_t host)
{
    foliot_server *server = session->server;
    const uint64_t client = client_of(server, newcomer);
    uint64_t keep_ns = (uint64_t)server->config.reconnect_ms * 1000000u, longest = 0;
    foliot__player_slot *silent = NULL;
    keep_ns = keep_ns > SILENCE_NS_MIN ? keep_ns : SILENCE_NS_MIN;
    if (session->life.paused)
        return false;
    for (uint32_t p = 0; p < session->player_limit; p++) {
        foliot__player_slot *player = &session->players[p];
        if (player->state == FOLIOT__PLAYER_NONE || (host && player->host != host))
            continue;
        if (player->state == FOLIOT__PLAYER_LEAVING || player->leaves ||
            (player->peer >= 0 && has_ended(session, player) &&
             server->peers[player->peer].departure.for_good))
            return true; // its place is free with the next tick
        const bool same = client != 0 && player->client == client;
        // Time in which this server did not run does not count.
        uint64_t received =
            player->peer >= 0 ? server->peers[player->peer].received_ns : player->received_ns;
        received = received > server->ran_since_ns ? received : server->ran_since_ns;
        const uint64_t silence = server->now_ns - received;
        if (silence < (same ? SILENCE_NS_SAME : keep_ns) || silence <= longest)
            continue;
        longest = silence;
        silent = player;
    }
    if (!silent)
        return false;
    char text[FOLIOT_NAME_BYTES + 64];
    snprintf(text, sizeof text, "%s was silent for %u s, and a newcomer gets the place",
             silent->name, (unsigned)(longest / 1000000000u));
    foliot__server_event(server, FOLIOT_SERVER_DROPPED, session,
                         (uint32_t)(silent - session->players), FOLIOT__REFUSE_SILENT, text);
    server->counters.places_yielded++;
    if (silent->peer >= 0 && foliot__peer_is_here(&server->peers[silent->peer])) {
        foliot__peer_end(
            &server->peers[silent->peer],
            (foliot__departure){.for_good = true,
                                .at_once = true,
                                .code = FOLIOT__DISCONNECT_REFUSED + FOLIOT__REFUSE_SILENT});
    } else if (silent->state == FOLIOT__PLAYER_ENTERING) {
        silent->leaves = true;
    } else {
        silent->state = FOLIOT__PLAYER_LEAVING;
    }
    return true;
}

// Whether another player of the session has that name, including absent ones.
static bool name_taken(const foliot__session *session, uint32_t player, const char *name)
{
    for (uint32_t p = 0; p < session->player_limit; p++)
        if (p != player && session->players[p].state != FOLIOT__PLAYER_NONE &&
            strcmp(session->players[p].name, name) == 0)
            return true;
    return false;
}

// Removes unprintable characters and makes the name unique: the second ann is ann-2. A name that
// could be mistaken for a number or for the game is dropped.
static void name_player(foliot__session *session, uint32_t player, const char *wished)
{
    char clean[FOLIOT_NAME_BYTES], *name = session->players[player].name;
    foliot__text_clean(clean, sizeof clean, wished);
    if (!*clean || foliot__name_misleads(clean)) // others want to call him something
        snprintf(clean, sizeof clean, "player-%u", player);
    snprintf(name, FOLIOT_NAME_BYTES, "%s", clean);
    for (uint32_t i = 2; name_taken(session, player, name) && i < NAME_NUMBER_MAX; i++) {
        char shorter[FOLIOT_NAME_BYTES - NAME_NUMBER_BYTES];
        foliot__text_clean(shorter, sizeof shorter, clean); // cuts no character in two
        snprintf(name, FOLIOT_NAME_BYTES, "%s-%u", shorter, i);
    }
}

uint32_t foliot__player_enter(foliot__session *session, const foliot__hello_message *hello,
                              uint32_t peer, bool *resumed)
{
    uint64_t host = foliot__transport_get_peer_address_key(session->server->config.transport,
                                                           session->server->peers[peer].id);
    uint32_t found = find_player(session, &hello->token);
    *resumed = found != FOLIOT_NO_PLAYER;
    if (*resumed) {
        resume_player(session, &session->players[found], &hello->token, peer);
        session->players[found].host = host;
        session->players[found].client = client_of(session->server, &session->server->peers[peer]);
        return found;
    }
    report_spent_token(session, &hello->token);
    for (found = 0; found < session->player_limit; found++)
        if (session->players[found].state == FOLIOT__PLAYER_NONE)
            break;
    if (found == session->player_limit)
        return FOLIOT_NO_PLAYER;
    foliot__player_slot *player = &session->players[found];
    uint32_t input_sequence = player->input.sequence;
    memset(player, 0, sizeof *player);
    foliot__orders_enter(&player->orders, session->server->now_ns);
    player->state = FOLIOT__PLAYER_ENTERING;
    session->players_here++;
    player->peer = peer;
    player->host = host;
    player->client = client_of(session->server, &session->server->peers[peer]);
    give_token(session->server, player);
    player->token.before = proof_of(&hello->token); // of a player that is gone
    player->input.next_sequence = 1;
    player->input.sequence = input_sequence;
    if (session->lockstep) // of the player that had the place before
        foliot__stream_restart(session, found);
    name_player(session, found, hello->name);
    return found;
}

void foliot__player_acknowledge_token(foliot__session *session, const foliot__peer *peer)
{
    foliot__player_slot *player =
        peer->player == FOLIOT_NO_PLAYER ? NULL : &session->players[peer->player];
    if (!player || foliot__token_is_none(&player->token.current))
        return;
    if (player->token.same)
        player->token.spent = player->token.before;
    player->token.acknowledged = !same_proof(&player->token.before, &no_proof); // to be noted
    player->token.before = no_proof;
    foliot__forget(&player->token.current, sizeof player->token.current);
}

bool foliot__player_peer_lost(foliot__session *session, const foliot__peer *peer)
{
    foliot__player_slot *player = &session->players[peer->player];
    bool for_good = peer->departure.for_good;
    if (player->peer != peer - session->server->peers)
        return false; // it has come back through another peer, or the place is another's
    player->peer = -1;
    player->lost_ns = session->server->now_ns;
    player->received_ns = peer->received_ns;
    if (for_good && player->state == FOLIOT__PLAYER_ENTERING)
        player->leaves = true; // after its join, so that the recording has both
    else if (for_good && player->state != FOLIOT__PLAYER_NONE)
        player->state = FOLIOT__PLAYER_LEAVING;
    return true;
}

void foliot__players_expire(foliot__session *session)
{
    uint64_t keep_ns = (uint64_t)session->server->config.reconnect_ms * 1000000u;
    for (uint32_t p = 0; p < session->player_limit; p++) {
        foliot__player_slot *player = &session->players[p];
        bool over = player->leaves || session->server->now_ns - player->lost_ns >= keep_ns;
        if (player->state == FOLIOT__PLAYER_IN_WORLD && player->peer < 0 && over)
            player->state = FOLIOT__PLAYER_LEAVING;
    }
}

static void defer(uint64_t *time_ns, uint64_t rested_ns, uint64_t now_ns)
{
    *time_ns = *time_ns + rested_ns < now_ns ? *time_ns + rested_ns : now_ns;
}

void foliot__players_rest(foliot__session *session, uint64_t rested_ns, uint64_t now_ns)
{
    for (uint32_t p = 0; p < session->player_limit; p++) {
        foliot__player_slot *player = &session->players[p];
        defer(&player->lost_ns, rested_ns, now_ns);
        defer(player->peer >= 0 ? &session->server->peers[player->peer].received_ns
                                : &player->received_ns,
              rested_ns, now_ns);
    }
}

// Keeps the places of players who were present when the server that wrote the recording died.
void foliot__players_keep(foliot__session *s)
{
    const foliot_resumption *resumed =
        s->recording ? foliot_recording_get_resumption(s->recording) : NULL;
    for (uint32_t p = 0; p < s->player_limit; p++) {
        s->players[p].peer = -1;
        if (!s->world || foliot_world_get_player_body(s->world, p).value == 0)
            continue;
        s->players[p].state = FOLIOT__PLAYER_IN_WORLD; // though nobody may know it again
        s->players_here++;
        s->players[p].lost_ns = s->players[p].received_ns = s->server->now_ns;
        s->players[p].input.next_sequence = 1;
        foliot__orders_keep(&s->players[p].orders, 0, 0, s->server->now_ns);
    }
    for (uint32_t i = 0; resumed && i < resumed->player_count; i++) {
        const foliot_recorded_player *r = &resumed->players[i];
        if (r->player >= s->player_limit)
            continue;
        foliot__player_slot *player = &s->players[r->player];
        s->players_here += player->state == FOLIOT__PLAYER_NONE;
        player->state = FOLIOT__PLAYER_IN_WORLD;
        player->lost_ns = player->received_ns = s->server->now_ns;
        if (r->join_sequence) {
            player->token.proof = r->proof;
            player->token.before = r->before;
            player->token.same = true;
        }
        player->input.join_sequence = r->join_sequence;
        player->input.sequence = r->sequence;
        player->input.next_sequence = r->sequence - r->join_sequence + 1;
        player->input.gap = true;
        foliot__orders_keep(&player->orders, r->order_sequence, r->orders_aimed, s->server->now_ns);
        player->aim = UINT32_MAX;
        name_player(s, r->player, r->name); // as for a newcomer: the file may be anybody's
    }
}

foliot_server_presence foliot_server_get_presence(const foliot_server *server)
{
    foliot_server_presence present = {0};
    for (uint32_t i = 0; i < server->peers_used; i++)
        present.peers += foliot__peer_is_here(&server->peers[i]);
    for (uint32_t i = 0; i < server->session_count; i++)
        for (uint32_t p = 0;
             server->sessions[i]->players_here && p < server->sessions[i]->player_limit; p++) {
            const foliot__player_slot *player = &server->sessions[i]->players[p];
            bool gone = has_ended(server->sessions[i], player);
            if (player->state == FOLIOT__PLAYER_NONE ||
                (foliot__session_has_ended(server->sessions[i]) && gone))
                continue; // nobody comes back to a session that has ended
            present.players++;
            present.absent += gone;
            present.inputs += player->input.queue.counts[FOLIOT__INPUT_BY_CHANGE];
        }
    return present;
}
