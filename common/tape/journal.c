// SPDX-License-Identifier: MIT
// journal.c: see journal.h. Notes come from a file and may say anything; what cannot be right is passed over.
#include "tape/journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void foliot__journal_player_text(char text[FOLIOT__NOTE_TEXT_BYTES], uint32_t player, uint64_t proof, const char *name)
{
    snprintf(text, FOLIOT__NOTE_TEXT_BYTES, "%" PRIu32 " %016" PRIx64 " %.*s", player, proof, FOLIOT_NAME_BYTES - 1,
             name);
}

// Control characters have no place in a name.
static void take_name(char name[FOLIOT_NAME_BYTES], const char *text)
{
    size_t length = 0;
    for (; *text && length + 1 < FOLIOT_NAME_BYTES; text++)
        if ((unsigned char)*text >= ' ' && *text != 0x7f)
            name[length++] = *text;
    name[length] = '\0';
}

static void take_player(foliot__journal *journal, const char *text)
{
    char *end;
    unsigned long player = strtoul(text, &end, 10);
    if (end == text || *end != ' ' || player >= FOLIOT_PLAYERS_MAX)
        return;
    const char *from = end + 1;
    uint64_t proof = strtoull(from, &end, 16);
    if (end == from || *end != ' ')
        return;
    foliot_recorded_player *p = &journal->players[player];
    *p = (foliot_recorded_player){.player = (uint32_t)player, .proof = proof};
    take_name(p->name, end + 1);
}

void foliot__journal_note(foliot__journal *journal, const foliot__tape_note *note)
{
    if (strcmp(note->what, "session") == 0)
        take_name(journal->session, note->text);
    if (strcmp(note->what, "mode") == 0)
        journal->lockstep = strcmp(note->text, "lockstep") == 0;
    if (strcmp(note->what, "player") == 0)
        take_player(journal, note->text);
}

void foliot__journal_input(foliot__journal *journal, const foliot_input *input)
{
    foliot_recorded_player *p = &journal->players[input->player];
    p->player = input->player;
    p->sequence = input->sequence;
    if (input->kind == FOLIOT_INPUT_JOIN)
        p->join_sequence = input->sequence;
    journal->here[input->player] = input->kind != FOLIOT_INPUT_LEAVE &&
                                   (journal->here[input->player] || input->kind == FOLIOT_INPUT_JOIN);
}

uint32_t foliot__journal_gather(foliot__journal *journal)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < FOLIOT_PLAYERS_MAX; p++)
        if (journal->here[p])
            journal->players[count++] = journal->players[p];
    return count;
}
