// SPDX-License-Identifier: MIT
// annotations.c: see tool.h. One block is held at a time. Notes and messages whose ticks are
// not those of their block were written by no program of ours, and are left out.
#include "tool.h"

#include "recording/recording.h"
#include "recording/replay.h"

#include <stdlib.h>

struct annotations {
    foliot__block_reader reader;
    foliot__recording_header header;
    foliot__recording_content content; // the block at hand
    uint32_t note, message;            // of it, the next ones
    bool ended;
};

annotations *annotations_open(foliot_replay *replay)
{
    foliot_damage damage;
    annotations *a = calloc(1, sizeof *a);
    if (a)
        a->ended = foliot__block_reader_begin(&a->reader, &replay->source, &a->header, &a->content,
                                              &damage) != FOLIOT_STATUS_OK;
    return a;
}

void annotations_close(annotations *a)
{
    if (!a)
        return;
    foliot__recording_content_free(&a->content);
    foliot__recording_header_free(&a->header);
    free(a);
}

// Notes before the step from `tick`, in the order of the block.
static foliot_status copy_notes(annotations *a, uint64_t from, uint64_t tick,
                                foliot_recording *recording)
{
    foliot_status status = FOLIOT_STATUS_OK;
    for (; a->note < a->content.notes && status == FOLIOT_STATUS_OK; a->note++) {
        const foliot__recording_note *note = &a->content.noted[a->note];
        if (note->tick > tick && note->tick <= a->content.tick)
            break; // later in the block, or behind its last tick
        if (note->tick >= from && note->tick <= tick)
            status = foliot__recording_note_text(recording, note->what, note->text);
    }
    return status;
}

// Messages after the step to `tick`.
static foliot_status copy_messages(annotations *a, uint64_t from, uint64_t tick,
                                   foliot_recording *recording)
{
    const foliot__recording_content *content = &a->content;
    foliot_status status = FOLIOT_STATUS_OK;
    for (; a->message < content->message_count && status == FOLIOT_STATUS_OK; a->message++) {
        const foliot__recorded_message *message = &content->messages[a->message];
        if (message->tick > tick && message->tick <= content->tick + 1)
            break; // a block that was full may end with the messages of the next tick
        if (message->tick > from && message->tick == tick)
            status = foliot_recording_note_message(recording, message->player, message->reliable,
                                                   content->message_bytes + message->at,
                                                   message->length);
    }
    return status;
}

static foliot_status copy_block(annotations *a, uint64_t from, uint64_t tick,
                                foliot_recording *recording)
{
    foliot_status status = copy_notes(a, from, tick, recording);
    return status == FOLIOT_STATUS_OK ? copy_messages(a, from, tick + 1, recording) : status;
}

foliot_status annotations_copy(annotations *a, uint64_t from, uint64_t tick,
                               foliot_recording *recording)
{
    foliot_damage damage;
    foliot_status status = copy_block(a, from, tick, recording);
    // Until the block of that step; damage is what the replay meets, too.
    while (status == FOLIOT_STATUS_OK && !a->ended && a->content.tick <= tick) {
        foliot_status read = foliot__block_reader_next(&a->reader, &a->content, &damage);
        if (read == FOLIOT_STATUS_MEMORY)
            return read;
        a->ended = read != FOLIOT_STATUS_OK;
        a->note = a->message = 0;
        if (!a->ended)
            status = copy_block(a, from, tick, recording);
    }
    return status;
}
