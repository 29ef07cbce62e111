// SPDX-License-Identifier: MIT
// block_content.c: the memory of a block's content. Buffers are reused from block to block.
#include "recording/block_content.h"

#include "recording/keyframe_codec.h"

#include <stdlib.h>
#include <string.h>

void foliot__recording_content_free(foliot__recording_content *content)
{
    foliot__input_log_free(&content->inputs);
    foliot__session_log_free(&content->session);
    free(content->messages);
    free(content->message_bytes);
    free(content->rules);
    free(content->digest_bytes);
    free(content->keyframe);
    free(content->packed);
    free(content->index);
    free(content->noted);
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
    for (uint32_t i = 0; i < content->digest_records; i++) {
        const foliot__recording_digests *d = &content->digests[i];
        if (tick < d->first || (tick - d->first) % d->every != 0)
            continue;
        uint64_t index = (tick - d->first) / d->every;
        if (index >= d->count)
            continue;
        *bytes = content->digest_bytes + d->at + index * d->each;
        return d->each;
    }
    return 0;
}

foliot_status foliot__recording_content_unpack(foliot__recording_content *content, size_t limit)
{
    if (!content->keyframe_packed)
        return FOLIOT_STATUS_OK;
    size_t size = (size_t)content->unpacked_size;
    if (content->unpacked_size > limit || size == 0)
        return FOLIOT_STATUS_CORRUPT;
    if (!foliot__recording_content_reserve(&content->keyframe, &content->keyframe_capacity, size))
        return FOLIOT_STATUS_MEMORY;
    foliot_status status = foliot__keyframe_decompress(content->packed, content->packed_length,
                                                       content->keyframe, size);
    if (status != FOLIOT_STATUS_OK)
        return status;
    content->keyframe_length = size;
    content->keyframe_packed = false;
    return FOLIOT_STATUS_OK;
}

void foliot__recording_content_clear(foliot__recording_content *content, uint64_t number,
                                     uint64_t offset, uint64_t tick)
{
    foliot__input_log_clear(&content->inputs, tick);
    foliot__session_log_clear(&content->session);
    content->message_count = 0;
    content->message_length = content->rules_length = 0;
    content->has_rules = false;
    content->number = number;
    content->offset = offset;
    content->first_tick = content->tick = tick;
    content->digest_records = content->notes = content->unknown = content->index_count = 0;
    content->digest_length = content->keyframe_length = 0;
    content->has_header = content->has_keyframe = content->has_closing = false;
    content->has_signature = false;
    content->keyframe_packed = false;
    content->input_bytes = content->command_bytes = content->order_bytes = 0;
    content->digest_record_bytes = content->keyframe_bytes = 0;
    content->header_bytes = content->other_bytes = 0;
}

bool foliot__recording_content_reserve(uint8_t **bytes, size_t *capacity, size_t length)
{
    if (length <= *capacity)
        return true;
    size_t wanted = length > 2 * *capacity ? length : 2 * *capacity;
    uint8_t *larger = realloc(*bytes, wanted);
    if (!larger)
        return false;
    *bytes = larger;
    *capacity = wanted;
    return true;
}
