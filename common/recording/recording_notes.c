// SPDX-License-Identifier: MIT
// recording_notes.c: what a recording stores beside its ticks, for people, for a resumption and for
// listeners: notes and messages. A replay needs none of it.
#include "recording/recording.h"

#include <stdio.h>

foliot_status foliot__recording_note_text(foliot_recording *recording, const char *what,
                                          const char *text)
{
    if (recording->ended)
        return FOLIOT_STATUS_INVALID;
    if (foliot__recording_status(recording) == FOLIOT_STATUS_OK)
        foliot__recording_encode_note(&recording->encoder.notes, recording->encoder.tick, what,
                                      text);
    return foliot__recording_status(recording);
}

foliot_status foliot_recording_note_session(foliot_recording *recording, const char *name,
                                            bool lockstep)
{
    foliot__recording_note_text(recording, "mode", lockstep ? "lockstep" : "snapshot");
    return foliot__recording_note_text(recording, "session", name);
}

foliot_status foliot_recording_note_player(foliot_recording *recording, uint32_t player,
                                           const char *name, foliot_player_proof proof)
{
    char text[FOLIOT__NOTE_TEXT_BYTES];
    foliot__journal_player_text(text, player, proof, name);
    return foliot__recording_note_text(recording, "player", text);
}

foliot_status foliot_recording_note_token(foliot_recording *recording, uint32_t player,
                                          foliot_player_proof proof)
{
    char text[FOLIOT__NOTE_TEXT_BYTES];
    foliot__journal_player_text(text, player, proof, "");
    return foliot__recording_note_text(recording, "token", text);
}

foliot_status foliot_recording_note_acknowledged(foliot_recording *recording, uint32_t player)
{
    char text[FOLIOT__NOTE_TEXT_BYTES];
    snprintf(text, sizeof text, "%u", player);
    return foliot__recording_note_text(recording, "heard", text);
}

foliot_status foliot_recording_note_message(foliot_recording *recording, uint32_t player,
                                            bool reliable, const void *bytes, size_t length)
{
    if (recording->ended || length > FOLIOT_MESSAGE_BYTES_MAX)
        return FOLIOT_STATUS_INVALID;
    foliot__recording_encoder *encoder = &recording->encoder;
    if (foliot__recording_status(recording) != FOLIOT_STATUS_OK)
        return foliot__recording_status(recording);
    if (encoder->message_count == FOLIOT__RECORDING_NOTES_MAX &&
        !foliot__recording_close_block(recording))
        return foliot__recording_status(recording);
    if (encoder->message_count == FOLIOT__RECORDING_NOTES_MAX)
        return FOLIOT_STATUS_FULL; // all of one tick
    encoder->message_count++;
    foliot__recording_encode_message(&encoder->messages, encoder->tick + 1, player, reliable, bytes,
                                     (uint32_t)length);
    return FOLIOT_STATUS_OK;
}
