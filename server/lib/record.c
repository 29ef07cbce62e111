// SPDX-License-Identifier: MIT
// record.c: the recording of a session: what is noted in it and when, how far it is durable, and
// why it stopped. All functions but foliot__record_tick run while no step does. Invariant: the
// first status that is not OK gives the reason why the recording is not whole.
#include <string.h>

#include "game.h"
#include "player.h"
#include "session.h"

#define DURABLE_NS_MAX 1000000000u // that a welcome waits for a slow disk

static void note(foliot__session *s, foliot_status status)
{
    s->record.status = s->record.status == FOLIOT_STATUS_OK ? status : s->record.status;
}

static foliot_status begin(const foliot__session *s, foliot_recording *recording)
{
    return foliot_recording_note_session(recording, s->name,
                                         s->roles.mode == FOLIOT_SESSION_LOCKSTEP);
}

void foliot__record_begin(foliot__session *s)
{
    if (s->recording)
        note(s, begin(s, s->recording));
}

void foliot__record_player(foliot__session *s, uint32_t p)
{
    const foliot__player_token *token = &s->players[p].token;
    if (s->recording)
        note(s, foliot_recording_note_player(s->recording, p, s->players[p].name,
                                             token->rotated ? token->before : token->proof));
}

void foliot__record_token(foliot__session *s, uint32_t p)
{
    foliot__player_token *token = &s->players[p].token;
    // A token is noted as acknowledged before the note of the token that follows it.
    if (s->recording && token->acknowledged)
        note(s, foliot_recording_note_acknowledged(s->recording, p));
    if (s->recording && token->rotated) {
        note(s, foliot_recording_note_token(s->recording, p, token->proof));
        token->noted_tick = s->tick + 1;
        token->noted_ns = s->server->now_ns;
        s->record.writes_out = true;
    }
    token->rotated = token->acknowledged = false;
}

bool foliot__record_has_token(const foliot__session *s, const foliot__player_slot *player)
{
    if (!s->recording || foliot__session_has_ended(s))
        return true;
    if (player->token.rotated)
        return false;
    foliot_recording_state state = foliot_recording_get_state(s->recording);
    return state.stopped != FOLIOT_STATUS_OK || state.written_tick >= player->token.noted_tick ||
           s->server->now_ns - player->token.noted_ns >= DURABLE_NS_MAX;
}

void foliot__record_tick(foliot__session *s, const foliot_tick_inputs *tick)
{
    const foliot__game *game = &s->game;
    // Orders are recorded where they can have an effect: with a world that takes commands or has
    // rules, and with another simulation that turns them into commands. Once stopped, a recording
    // counts what is missing.
    bool with_orders =
        s->world ? game->commands_max > 0 || game->rules : s->simulation.kind->order != NULL;
    if (s->recording)
        note(s, foliot_recording_append(s->recording, &s->simulation, tick, game->orders,
                                        with_orders ? game->order_count : 0));
}

void foliot__record_stepped(foliot__session *s)
{
    if (s->record.writes_out) // so that a welcome need not wait
        foliot__record_write_out(s);
    s->record.writes_out = false;
}

void foliot__record_report(foliot__session *s)
{
    if (!s->recording || s->record.status == FOLIOT_STATUS_OK)
        return;
    foliot_recording_state state = foliot_recording_get_state(s->recording);
    s->server->counters.ticks_unrecorded += state.ticks_lost - s->record.ticks_lost;
    s->record.ticks_lost = state.ticks_lost;
    if (!s->record.reported)
        foliot__server_event(s->server, FOLIOT_SERVER_RECORDING_STOPPED, s, FOLIOT_NO_PLAYER, 0,
                             state.stopped_errno ? strerror(state.stopped_errno)
                                                 : foliot_status_get_text(s->record.status));
    s->record.reported = true;
}

void foliot__record_write_out(foliot__session *s)
{
    if (!s->recording)
        return;
    note(s, foliot_recording_flush(s->recording));
    note(s, foliot_recording_drain(s->recording));
}

// -- messages

typedef struct recorded_message { // and its bytes behind it
    uint32_t to, length;
    bool reliable;
} recorded_message;

void foliot__record_message(foliot__session *s, uint32_t to, const uint8_t *bytes, size_t length,
                            bool reliable)
{
    foliot__game *game = &s->game;
    recorded_message head = {to, (uint32_t)length, reliable};
    if (!s->recording || (game->commands_max == 0 && !game->rules))
        return;
    foliot__pack_raw(&game->messages, &head, sizeof head);
    foliot__pack_raw(&game->messages, bytes, length);
}

void foliot__record_messages(foliot__session *s)
{
    foliot__buffer *messages = &s->game.messages;
    recorded_message head;
    for (size_t at = 0; !messages->failed && at < messages->length;
         at += sizeof head + head.length) {
        memcpy(&head, messages->bytes + at, sizeof head);
        foliot_status status = foliot_recording_note_message(
            s->recording, head.to, head.reliable, messages->bytes + at + sizeof head, head.length);
        s->server->counters.messages_unrecorded += status != FOLIOT_STATUS_OK;
    }
    s->server->counters.messages_unrecorded += messages->failed;
    messages->length = 0;
    messages->failed = false;
}

// -- the host's side

foliot_status foliot_server_set_recording(foliot_server *server, const char *session,
                                          foliot_recording *recording)
{
    foliot__session *s = *session ? foliot__session_find(server, session) : NULL;
    if (!s)
        return FOLIOT_STATUS_NOT_FOUND;
    if (foliot__session_has_ended(s) && recording)
        return FOLIOT_STATUS_INVALID;
    if (s->step.running)
        return FOLIOT_STATUS_AGAIN;
    foliot_status status = recording ? begin(s, recording) : FOLIOT_STATUS_OK;
    for (uint32_t p = 0; recording && status == FOLIOT_STATUS_OK && p < s->player_limit; p++)
        if (s->players[p].state == FOLIOT__PLAYER_IN_WORLD ||
            s->players[p].state == FOLIOT__PLAYER_LEAVING)
            status = foliot_recording_note_player(recording, p, s->players[p].name,
                                                  s->players[p].token.proof);
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot__record_write_out(s);
    s->recording = recording;
    s->record = (foliot__session_record){.writes_out = s->record.writes_out};
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_server_release_recording(foliot_server *server, const char *name)
{
    foliot__session *s = NULL;
    for (uint32_t i = 0; i < server->session_count; i++)
        if (strcmp(server->sessions[i]->name, name) == 0)
            s = server->sessions[i];
    if (!s)
        return FOLIOT_STATUS_NOT_FOUND;
    if (s->step.running)
        return FOLIOT_STATUS_AGAIN;
    s->recording = NULL;
    s->record.status = FOLIOT_STATUS_OK;
    s->record.writes_out = false;
    s->game.messages.length = 0;
    return FOLIOT_STATUS_OK;
}
