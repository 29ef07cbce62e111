// SPDX-License-Identifier: MIT
// journal.h: data of the session in a recording: its name and its players. They are notes, which a
// replay ignores. A server that resumes the recording recognises its players by them.
#ifndef FOLIOT_RECORDING_JOURNAL_H
#define FOLIOT_RECORDING_JOURNAL_H

#include "foliot/recording.h"

#define FOLIOT__NOTE_WHAT_BYTES 16
#define FOLIOT__NOTE_TEXT_BYTES 112 // longer ones are cut when they are read

typedef struct foliot__recording_note {
    uint64_t tick;
    char what[FOLIOT__NOTE_WHAT_BYTES], text[FOLIOT__NOTE_TEXT_BYTES];
} foliot__recording_note;

typedef struct foliot__journal {
    char session[FOLIOT_NAME_BYTES];
    bool lockstep;
    foliot_recorded_player players[FOLIOT_PLAYERS_MAX]; // by player
    bool here[FOLIOT_PLAYERS_MAX];
} foliot__journal;

void foliot__journal_note(foliot__journal *journal, const foliot__recording_note *note);
void foliot__journal_input(foliot__journal *journal, const foliot_input *input);
void foliot__journal_order(foliot__journal *journal, const foliot_order *order);
// Moves the players present to the front of `players`. Returns how many there are.
uint32_t foliot__journal_gather(foliot__journal *journal);
// The text of a "player" note, and with the name "" of a "token" note.
void foliot__journal_player_text(char text[FOLIOT__NOTE_TEXT_BYTES], uint32_t player,
                                 foliot_player_proof proof, const char *name);

#endif
