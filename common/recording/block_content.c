// SPDX-License-Identifier: MIT
// block_content.c: the memory of a block's content, and the text of a damage. Buffers are reused
// from block to block.
#include "recording/block_content.h"

#include "recording/keyframe_codec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void foliot__recording_content_free(foliot__recording_content *content)
{
    foliot__input_log_free(&content->inputs);
    foliot__session_log_free(&content->session);
    foliot__buffer_free(&content->keyframe.state);
    foliot__buffer_free(&content->keyframe.compressed);
    foliot__buffer_free(&content->keyframe.rules);
    foliot__buffer_free(&content->digests.values);
    foliot__buffer_free(&content->messages.payload);
    free(content->messages.items);
    free(content->notes.items);
    free(content->index);
    *content = (foliot__recording_content){0};
}

void foliot__recording_header_free(foliot__recording_header *header)
{
    free(header->scene);
    free(header->rules_text);
    header->scene = header->rules_text = NULL;
}

uint32_t foliot__recording_content_digest(const foliot__recording_content *content, uint64_t tick,
                                          const uint8_t **bytes)
{
    for (uint32_t i = 0; i < content->digests.count; i++) {
        const foliot__recording_digests *d = &content->digests.records[i];
        if (tick < d->first || (tick - d->first) % d->every != 0)
            continue;
        uint64_t index = (tick - d->first) / d->every;
        if (index >= d->count)
            continue;
        *bytes = content->digests.values.bytes + d->at + index * d->each;
        return d->each;
    }
    return 0;
}

foliot_status foliot__recording_content_unpack(foliot__recording_content *content, size_t limit)
{
    if (!content->keyframe.packed)
        return FOLIOT_STATUS_OK;
    size_t size = (size_t)content->keyframe.size;
    if (content->keyframe.size > limit || size == 0)
        return FOLIOT_STATUS_CORRUPT;
    if (!foliot__buffer_reserve(&content->keyframe.state, size))
        return FOLIOT_STATUS_MEMORY;
    foliot_status status = foliot__keyframe_decompress(content->keyframe.compressed.bytes,
                                                       content->keyframe.compressed.length,
                                                       content->keyframe.state.bytes, size);
    if (status != FOLIOT_STATUS_OK)
        return status;
    content->keyframe.state.length = size;
    content->keyframe.packed = false;
    return FOLIOT_STATUS_OK;
}

void foliot__recording_content_clear(foliot__recording_content *content, uint64_t number,
                                     uint64_t offset, uint64_t tick)
{
    foliot__input_log_clear(&content->inputs, tick);
    foliot__session_log_clear(&content->session);
    content->number = number;
    content->offset = offset;
    content->first_tick = content->tick = tick;
    content->has_header = content->has_keyframe = content->has_closing = false;
    content->has_signature = content->keyframe.has_rules = content->keyframe.packed = false;
    foliot__buffer *const buffers[] = {&content->keyframe.state, &content->keyframe.rules,
                                       &content->digests.values, &content->messages.payload};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        buffers[i]->length = 0;
        buffers[i]->failed = false;
    }
    content->digests.count = content->messages.count = content->notes.count = 0;
    content->unknown = content->index_count = 0;
    content->sizes = (foliot__block_sizes){0};
}

bool foliot__recording_content_set(foliot__buffer *buffer, const void *bytes, size_t count)
{
    if (!foliot__buffer_reserve(buffer, count + 1)) // a pointer to bytes, also where there are none
        return false;
    if (count)
        memcpy(buffer->bytes, bytes, count);
    buffer->length = count;
    return true;
}

foliot_status foliot__damage_set(foliot_damage *damage, foliot_status status, uint64_t block,
                                 uint64_t offset, const char *format, ...)
{
    if (!damage)
        return status;
    *damage = (foliot_damage){.status = status, .block = block, .offset = offset};
    int length = snprintf(damage->text, sizeof damage->text,
                          "block %" PRIu64 " at offset %" PRIu64 ": ", block, offset);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(damage->text + length, sizeof damage->text - (size_t)length, format, arguments);
    va_end(arguments);
    return status;
}
