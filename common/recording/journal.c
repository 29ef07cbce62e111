// SPDX-License-Identifier: MIT
// journal.c: see journal.h. Notes come from a file and are not trusted; invalid ones are ignored.
#include "recording/journal.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void foliot__journal_player_text(char text[FOLIOT__NOTE_TEXT_BYTES], uint32_t player,
                                 foliot_player_proof proof, const char *name)
{
    char hex[2 * sizeof proof.bytes + 1];
    snprintf(text, FOLIOT__NOTE_TEXT_BYTES, "%" PRIu32 " %s %.*s", player,
             foliot__hex_print(hex, proof.bytes, sizeof proof.bytes), FOLIOT_NAME_BYTES - 1, name);
}

// The number that the text begins with; NULL: none of a player.
static foliot_recorded_player *player_of(foliot__journal *journal, const char *text,
                                         const char **rest)
{
    char *end;
    unsigned long player = strtoul(text, &end, 10);
    if (end == text || player >= FOLIOT_PLAYERS_MAX)
        return NULL;
    *rest = end;
    journal->players[player].player = (uint32_t)player;
    return &journal->players[player];
}

// " 0123..." and a space: 32 digits. Returns what follows; NULL: the text is not a proof.
static const char *parse_proof(const char *text, foliot_player_proof *proof)
{
    const char *end = text + 1 + 2 * sizeof proof->bytes;
    return *text == ' ' && foliot__hex_read(text + 1, proof->bytes, sizeof proof->bytes) &&
                   *end == ' '
               ? end + 1
               : NULL;
}

void foliot__journal_note(foliot__journal *journal, const foliot__recording_note *note)
{
    static const foliot_player_proof none;
    foliot_player_proof proof;
    if (strcmp(note->what, "session") == 0)
        foliot__text_clean(journal->session, FOLIOT_NAME_BYTES, note->text);
    if (strcmp(note->what, "mode") == 0)
        journal->lockstep = strcmp(note->text, "lockstep") == 0;
    bool is_player = strcmp(note->what, "player") == 0, is_token = strcmp(note->what, "token") == 0,
         acknowledges = strcmp(note->what, "heard") == 0;
    if (!is_player && !is_token && !acknowledges)
        return;
    const char *rest = NULL;
    foliot_recorded_player *p = player_of(journal, note->text, &rest);
    if (p && acknowledges)
        memset(&p->before, 0, sizeof p->before);
    const char *name = p && !acknowledges ? parse_proof(rest, &proof) : NULL;
    if (name && is_player) {
        *p = (foliot_recorded_player){.player = p->player, .proof = proof};
        foliot__text_clean(p->name, FOLIOT_NAME_BYTES, name);
    } else if (name) {
        // A proof that was never acknowledged is replaced, and the one before it still holds.
        if (memcmp(&p->before, &none, sizeof none) == 0)
            p->before = p->proof;
        p->proof = proof;
    }
}

void foliot__journal_input(foliot__journal *journal, const foliot_input *input)
{
    foliot_recorded_player *p = &journal->players[input->player];
    p->player = input->player;
    p->sequence = input->sequence;
    if (input->kind == FOLIOT_INPUT_JOIN)
        p->join_sequence = input->sequence;
    journal->here[input->player] =
        input->kind != FOLIOT_INPUT_LEAVE &&
        (journal->here[input->player] || input->kind == FOLIOT_INPUT_JOIN);
}

void foliot__journal_order(foliot__journal *journal, const foliot_order *order)
{
    if (order->kind == FOLIOT_ORDER_DROPPED)
        return; // of the host
    foliot_recorded_player *p = &journal->players[order->player];
    p->order_sequence = order->sequence;
    p->orders_aimed += order->kind == FOLIOT_ORDER_AIMED;
}

uint32_t foliot__journal_gather(foliot__journal *journal)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < FOLIOT_PLAYERS_MAX; p++)
        if (journal->here[p])
            journal->players[count++] = journal->players[p];
    return count;
}
