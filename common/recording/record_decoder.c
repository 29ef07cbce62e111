// SPDX-License-Identifier: MIT
// record_decoder.c: the records of one block, read straight through a bounds-checked cursor with a
// sticky status. Nothing is trusted: every length is checked against the bytes present.
// Players' entries are only found here; expand.c turns them into inputs.
#include "recording/record_decoder.h"

#include "base/array.h"
#include "base/unpack.h"
#include "recording/block_content.h"
#include "recording/keyframe_codec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// What a decoder is given: the record's values after its type.
typedef struct decoding {
    foliot__reader *r;
    uint32_t values; // after the type
    const foliot__recording_block *block;
    uint32_t features; // of the recording; in block 0 the header has them
    foliot__recording_content *content;
    foliot__recording_header *header; // NULL but in block 0
    foliot__reader entries;           // of INPUTS
    uint32_t entry_values;
    foliot__session_entries commands, orders;
    uint32_t records; // so far
    bool has_inputs, has_index, has_end;
} decoding;

static void corrupt_if(decoding *d, bool wrong)
{
    if (wrong)
        foliot__reader_fail(d->r, FOLIOT_STATUS_CORRUPT);
}

// In every format the first two keys are the features and the version of the writer's program, so
// that a reader can say what it lacks.
static void decode_header(decoding *d)
{
    foliot__recording_header *header = d->header;
    unsigned found = 0;
    corrupt_if(d, d->values < 1 || !header || d->content->has_header);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    uint32_t pairs = foliot__unpack_map(d->r);
    for (uint32_t i = 0; i < pairs && d->r->status == FOLIOT_STATUS_OK; i++) {
        unsigned bit = foliot__decode_header_key(d->r, header);
        corrupt_if(d, (found & bit) || (i < 2 && bit != 1u << i));
        found |= bit;
        if (i != 1 || d->r->status != FOLIOT_STATUS_OK)
            continue;
        if (header->unknown_feature[0] || header->format != FOLIOT_RECORDING_FORMAT)
            foliot__reader_fail(d->r, FOLIOT_STATUS_NEWER);
    }
    uint32_t foreign = header->features & FOLIOT_RECORDING_SIMULATION,
             rules = header->features & FOLIOT_RECORDING_RULES,
             history = header->features & FOLIOT_RECORDING_HISTORY;
    unsigned wanted = FOLIOT__HEADER_KEYS | (rules ? FOLIOT__HEADER_KEYS_RULES : 0) |
                      (foreign ? FOLIOT__HEADER_KEYS_SIMULATION : FOLIOT__HEADER_KEYS_WORLD);
    corrupt_if(d, found != wanted || (history && (foreign || !rules)) ||
                      header->tick != d->block->tick || (foreign && !header->simulation[0]) ||
                      (rules && !header->rules_name[0]));
    d->content->has_header = true;
    d->values -= 1;
}

static void copy_raw_keyframe(decoding *d, const uint8_t *bytes, uint32_t length)
{
    foliot__recording_content *content = d->content;
    if (!foliot__recording_content_reserve(&content->keyframe, &content->keyframe_capacity,
                                           (size_t)length + 1)) {
        foliot__reader_fail(d->r, FOLIOT_STATUS_MEMORY);
        return;
    }
    memcpy(content->keyframe, bytes, length);
    content->keyframe_length = length;
}

// Kept as it is: how large a state may be is not known here.
static void copy_packed_keyframe(decoding *d, const uint8_t *bytes, uint32_t length)
{
    foliot__recording_content *content = d->content;
    corrupt_if(d, d->values < 1);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    content->unpacked_size = foliot__unpack_uint(d->r);
    d->values--;
    if (!foliot__recording_content_reserve(&content->packed, &content->packed_capacity,
                                           (size_t)length + 1)) {
        foliot__reader_fail(d->r, FOLIOT_STATUS_MEMORY);
        return;
    }
    memcpy(content->packed, bytes, length);
    content->packed_length = length;
    content->keyframe_packed = true;
}

static void decode_keyframe(decoding *d)
{
    foliot__recording_content *content = d->content;
    uint32_t length;
    corrupt_if(d, d->values < 4 || content->has_keyframe || d->header);
    uint64_t tick = foliot__unpack_uint(d->r);
    foliot__unpack_bin16(d->r, content->keyframe_digest);
    uint64_t encoding = foliot__unpack_uint(d->r);
    const uint8_t *bytes = foliot__unpack_bin(d->r, &length);
    bool packed = encoding == FOLIOT__RECORDING_ZSTD;
    corrupt_if(d, tick != d->block->tick || tick != d->content->first_tick);
    if (encoding != FOLIOT__RECORDING_RAW && !packed)
        foliot__reader_fail(d->r, FOLIOT_STATUS_UNSUPPORTED);
    d->values -= 4;
    if (packed && d->r->status == FOLIOT_STATUS_OK)
        copy_packed_keyframe(d, bytes, length);
    else if (d->r->status == FOLIOT_STATUS_OK)
        copy_raw_keyframe(d, bytes, length);
    content->has_keyframe = d->r->status == FOLIOT_STATUS_OK;
}

// Only finds the entries: they are expanded once the whole block is known to be valid.
static void decode_inputs(decoding *d)
{
    corrupt_if(d, d->values < 1 || d->has_inputs || d->header);
    corrupt_if(d, foliot__unpack_uint(d->r) != d->content->first_tick);
    d->has_inputs = true;
    d->entries = *d->r;
    d->entry_values = d->values - 1;
    for (uint32_t i = 0; i < d->entry_values && d->r->status == FOLIOT_STATUS_OK; i++)
        foliot__unpack_int(d->r);
    d->entries.length = d->r->at;
    d->values = 0;
}

// Only finds the entries, too.
static void decode_session(decoding *d, foliot__session_entries *entries)
{
    corrupt_if(d, d->values < 2 || entries->given || d->header);
    corrupt_if(d, foliot__unpack_uint(d->r) != d->content->first_tick);
    entries->bytes = foliot__unpack_bin(d->r, &entries->length);
    entries->given = true;
    d->values -= 2;
}

// Decompressed at once: it is small, and nothing else says how large it may be.
static void copy_state(decoding *d, const uint8_t *bytes, uint32_t length, bool packed)
{
    foliot__recording_content *content = d->content;
    uint64_t size = length, most = d->features & FOLIOT_RECORDING_HISTORY
                                       ? FOLIOT__RECORDING_RULES_HISTORY_MAX
                                       : FOLIOT__RECORDING_RULES_MAX;
    if (packed) {
        size = foliot__unpack_uint(d->r);
        d->values--;
    }
    corrupt_if(d, size > most || d->values < 1);
    foliot__unpack_bin16(d->r, content->rules_digest);
    d->values--;
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    if (!foliot__recording_content_reserve(&content->rules, &content->rules_capacity,
                                           (size_t)size + 1)) {
        foliot__reader_fail(d->r, FOLIOT_STATUS_MEMORY);
        return;
    }
    foliot_status status = FOLIOT_STATUS_OK;
    if (packed)
        status = foliot__keyframe_decompress(bytes, length, content->rules, (size_t)size);
    else
        memcpy(content->rules, bytes, length);
    content->rules_length = (size_t)size;
    content->has_rules = status == FOLIOT_STATUS_OK;
    if (status != FOLIOT_STATUS_OK && status != FOLIOT_STATUS_UNSUPPORTED) // no zstd: not here
        foliot__reader_fail(d->r, status);
}

static void decode_state(decoding *d)
{
    foliot__recording_content *content = d->content;
    uint32_t length;
    corrupt_if(d, d->values < 4 || !content->has_keyframe || content->has_rules ||
                      !(d->features & FOLIOT_RECORDING_RULES));
    uint64_t tick = foliot__unpack_uint(d->r), encoding = foliot__unpack_uint(d->r);
    const uint8_t *bytes = foliot__unpack_bin(d->r, &length);
    corrupt_if(d, tick != d->block->tick);
    if (encoding > FOLIOT__RECORDING_ZSTD)
        foliot__reader_fail(d->r, FOLIOT_STATUS_UNSUPPORTED);
    d->values -= 3;
    if (d->r->status == FOLIOT_STATUS_OK)
        copy_state(d, bytes, length, encoding == FOLIOT__RECORDING_ZSTD);
}

static void decode_digests(decoding *d)
{
    foliot__recording_content *content = d->content;
    corrupt_if(d, d->values < 4 || content->digest_records == FOLIOT__RECORDING_DIGESTS_MAX);
    uint64_t first = foliot__unpack_uint(d->r), every = foliot__unpack_uint(d->r);
    uint64_t each = foliot__unpack_uint(d->r);
    uint32_t length;
    const uint8_t *bytes = foliot__unpack_bin(d->r, &length);
    corrupt_if(d, every < 1 || every > UINT32_MAX || each < 4 || each > 16);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    uint32_t count = length / (uint32_t)each;
    uint64_t ticks = d->block->tick - content->first_tick;
    corrupt_if(d, length % each || count < 1 || first <= content->first_tick ||
                      first > d->block->tick || (count - 1) * every > ticks ||
                      first + (count - 1) * every > d->block->tick);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    if (!foliot__recording_content_reserve(&content->digest_bytes, &content->digest_capacity,
                                           content->digest_length + length)) {
        foliot__reader_fail(d->r, FOLIOT_STATUS_MEMORY);
        return;
    }
    memcpy(content->digest_bytes + content->digest_length, bytes, length);
    content->digests[content->digest_records++] = (foliot__recording_digests){
        first, (uint32_t)every, (uint32_t)each, count, content->digest_length};
    content->digest_length += length;
    d->values -= 4;
}

static void decode_closing(decoding *d)
{
    corrupt_if(d, d->values < 2 || d->content->has_closing || d->header);
    uint64_t tick = foliot__unpack_uint(d->r);
    foliot__unpack_bin16(d->r, d->content->closing_digest);
    corrupt_if(d, tick != d->block->tick || tick != d->content->first_tick);
    d->content->has_closing = true;
    d->values -= 2;
}

static void decode_index(decoding *d)
{
    foliot__recording_content *content = d->content;
    corrupt_if(d, d->values % 2 || !content->has_closing || d->has_index);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    d->has_index = true;
    free(content->index);
    content->index_count = 0;
    content->index = malloc(sizeof *content->index * (d->values / 2 + 1));
    if (!content->index) {
        foliot__reader_fail(d->r, FOLIOT_STATUS_MEMORY);
        return;
    }
    uint64_t tick = 0, offset = 0;
    for (uint32_t i = 0; i < d->values / 2; i++) {
        uint64_t ticks = foliot__unpack_uint(d->r), bytes = foliot__unpack_uint(d->r);
        corrupt_if(d, ticks > d->block->tick - tick || bytes == 0 ||
                          bytes >= content->offset - offset);
        if (d->r->status != FOLIOT_STATUS_OK)
            return;
        content->index[content->index_count][0] = tick += ticks;
        content->index[content->index_count++][1] = offset += bytes;
    }
    d->values = 0;
}

static void decode_end(decoding *d)
{
    corrupt_if(d, d->values < 1 || !d->has_index || d->has_end);
    corrupt_if(d, foliot__unpack_uint(d->r) != d->content->offset);
    d->has_end = true;
    d->values -= 1;
}

static void copy_text(char *to, size_t bytes, const char *text, uint32_t length)
{
    if (length >= bytes)
        length = (uint32_t)bytes - 1;
    if (length)
        memcpy(to, text, length);
    to[length] = '\0';
}

static void decode_note(decoding *d)
{
    foliot__recording_content *content = d->content;
    uint32_t what_length = 0, text_length = 0;
    corrupt_if(d, d->values < 3 || content->notes >= FOLIOT__RECORDING_NOTES_MAX);
    uint64_t tick = foliot__unpack_uint(d->r);
    const char *what = foliot__unpack_str(d->r, &what_length);
    const char *text = foliot__unpack_str(d->r, &text_length);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    void *noted = foliot__array_with_room(content->noted, content->notes, &content->noted_capacity,
                                          8, sizeof *content->noted);
    if (!noted) {
        foliot__reader_fail(d->r, FOLIOT_STATUS_MEMORY);
        return;
    }
    content->noted = noted;
    foliot__recording_note *note = &content->noted[content->notes++];
    note->tick = tick;
    copy_text(note->what, sizeof note->what, what, what_length);
    copy_text(note->text, sizeof note->text, text, text_length);
    d->values -= 3;
}

static bool reserve_message(foliot__recording_content *content, uint32_t length)
{
    void *messages =
        foliot__array_with_room(content->messages, content->message_count,
                                &content->message_capacity, 16, sizeof *content->messages);
    if (!messages)
        return false;
    content->messages = messages;
    return foliot__recording_content_reserve(&content->message_bytes,
                                             &content->message_bytes_capacity,
                                             content->message_length + length + 1);
}

static void decode_message(decoding *d)
{
    foliot__recording_content *content = d->content;
    uint32_t length;
    corrupt_if(d, d->values < 4 || content->message_count >= FOLIOT__RECORDING_NOTES_MAX);
    uint64_t tick = foliot__unpack_uint(d->r), player = foliot__unpack_uint(d->r);
    uint64_t reliable = foliot__unpack_uint(d->r);
    const uint8_t *bytes = foliot__unpack_bin(d->r, &length);
    corrupt_if(d, player > UINT32_MAX || reliable > 1 || length > FOLIOT_MESSAGE_BYTES_MAX);
    d->values -= 4;
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    if (!reserve_message(content, length)) {
        foliot__reader_fail(d->r, FOLIOT_STATUS_MEMORY);
        return;
    }
    memcpy(content->message_bytes + content->message_length, bytes, length);
    content->messages[content->message_count++] = (foliot__recorded_message){
        tick, (uint32_t)player, length, content->message_length, reliable == 1};
    content->message_length += length;
}

static void decode_signature(decoding *d)
{
    foliot__recording_content *content = d->content;
    uint32_t key_length, length;
    corrupt_if(d, d->values < 4 || content->has_signature);
    content->signature.tick = foliot__unpack_uint(d->r);
    uint64_t final = foliot__unpack_uint(d->r);
    const uint8_t *key = foliot__unpack_bin(d->r, &key_length);
    const uint8_t *bytes = foliot__unpack_bin(d->r, &length);
    corrupt_if(d, final > 1 || key_length != sizeof content->signature.key ||
                      length != sizeof content->signature.bytes);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    content->has_signature = true;
    content->signature.final = final == 1;
    memcpy(content->signature.key, key, key_length);
    memcpy(content->signature.bytes, bytes, length);
    d->values -= 4;
}

static uint64_t *bytes_counter(foliot__recording_content *content, uint64_t type)
{
    return type == FOLIOT__RECORDING_INPUTS     ? &content->input_bytes
           : type == FOLIOT__RECORDING_COMMANDS ? &content->command_bytes
           : type == FOLIOT__RECORDING_ORDERS   ? &content->order_bytes
           : type == FOLIOT__RECORDING_DIGESTS  ? &content->digest_record_bytes
           : type == FOLIOT__RECORDING_KEYFRAME ? &content->keyframe_bytes
           : type == FOLIOT__RECORDING_STATE    ? &content->keyframe_bytes
                                                : &content->other_bytes;
}

// No signature covers the closing block, nor the block of the last signature. So they have exactly
// what they must say: a record or a value more would be anybody's.
static bool record_exact(uint64_t type)
{
    return type == FOLIOT__RECORDING_CLOSING || type == FOLIOT__RECORDING_INDEX ||
           type == FOLIOT__RECORDING_END || type == FOLIOT__RECORDING_SIGNATURE;
}

// One record. *type is its type, for the damage's text.
static void decode_record(decoding *d, uint64_t *type)
{
    size_t start = d->r->at;
    d->values = foliot__unpack_array(d->r);
    *type = foliot__unpack_uint(d->r);
    corrupt_if(d, d->values < 1 || *type < 1 || *type > FOLIOT__RECORDING_TYPE_MAX);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    d->values--;
    corrupt_if(d, d->has_end);
    corrupt_if(d, *type == FOLIOT__RECORDING_CLOSING && d->records > 0);
    corrupt_if(d, d->content->has_closing && *type != FOLIOT__RECORDING_INDEX &&
                      *type != FOLIOT__RECORDING_END);
    d->records++;
    switch (*type) {
    case FOLIOT__RECORDING_HEADER:
        decode_header(d);
        break;
    case FOLIOT__RECORDING_KEYFRAME:
        decode_keyframe(d);
        break;
    case FOLIOT__RECORDING_INPUTS:
        decode_inputs(d);
        break;
    case FOLIOT__RECORDING_DIGESTS:
        decode_digests(d);
        break;
    case FOLIOT__RECORDING_CLOSING:
        decode_closing(d);
        break;
    case FOLIOT__RECORDING_INDEX:
        decode_index(d);
        break;
    case FOLIOT__RECORDING_END:
        decode_end(d);
        break;
    case FOLIOT__RECORDING_NOTE:
        decode_note(d);
        break;
    case FOLIOT__RECORDING_SIGNATURE:
        decode_signature(d);
        break;
    case FOLIOT__RECORDING_COMMANDS:
        decode_session(d, &d->commands);
        break;
    case FOLIOT__RECORDING_ORDERS:
        decode_session(d, &d->orders);
        break;
    case FOLIOT__RECORDING_STATE:
        decode_state(d);
        break;
    case FOLIOT__RECORDING_MESSAGE:
        decode_message(d);
        break;
    default:
        if (*type < FOLIOT__RECORDING_OPTIONAL)
            foliot__reader_fail(d->r, FOLIOT_STATUS_UNSUPPORTED);
        d->content->unknown++;
        break;
    }
    corrupt_if(d, d->values > 0 && record_exact(*type));
    // Later minor versions may append values to any other record.
    for (uint32_t i = 0; i < d->values && d->r->status == FOLIOT_STATUS_OK; i++)
        foliot__unpack_skip(d->r);
    *bytes_counter(d->content, *type) += d->r->at - start;
}

// Whole, but not for this build: what it lacks, and which program wrote the recording.
static foliot_status newer_damage(const foliot__recording_header *header, foliot_damage *damage)
{
    if (header->format != FOLIOT_RECORDING_FORMAT)
        return foliot__damage_set(damage, FOLIOT_STATUS_NEWER, 0, 0,
                                  "format %" PRIu32 ", written by foliot %s; this build reads "
                                  "format %d",
                                  header->format, header->version, FOLIOT_RECORDING_FORMAT);
    return foliot__damage_set(damage, FOLIOT_STATUS_NEWER, 0, 0,
                              "it has the feature '%s', which this build does not know; written "
                              "by foliot %s",
                              header->unknown_feature, header->version);
}

static foliot_status decode_payload(decoding *d, foliot_damage *damage)
{
    const foliot__recording_content *content = d->content;
    foliot__reader *r = d->r;
    uint64_t type = 0;
    while (r->status == FOLIOT_STATUS_OK && r->at < r->length)
        decode_record(d, &type);
    if (r->status == FOLIOT_STATUS_UNSUPPORTED)
        return foliot__damage_set(
            damage, FOLIOT_STATUS_UNSUPPORTED, content->number, content->offset,
            "record type %" PRIu64 " must be understood, and this build does not", type);
    if (r->status == FOLIOT_STATUS_NEWER)
        return newer_damage(d->header, damage);
    if (r->status == FOLIOT_STATUS_MEMORY)
        return foliot__damage_set(damage, FOLIOT_STATUS_MEMORY, content->number, content->offset,
                                  "no memory");
    // A block is whole by its checksum: values that end early were written so.
    if (r->status != FOLIOT_STATUS_OK)
        return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, content->number, content->offset,
                                  "record of type %" PRIu64
                                  " is malformed near byte %zu of the block's payload",
                                  type, r->at);
    if (content->has_signature && d->records > 1)
        return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, content->number, content->offset,
                                  "a signature has a block of its own");
    bool still =
        content->has_keyframe || content->has_closing || content->has_signature || d->header;
    if (still && content->first_tick != d->block->tick)
        return foliot__damage_set(
            damage, FOLIOT_STATUS_CORRUPT, content->number, content->offset,
            "a keyframe, signature, header or closing block has ticks of its own");
    if (content->has_closing && !d->has_end)
        return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, content->number, content->offset,
                                  "closing block without its index or end");
    if (d->header && !content->has_header)
        return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, content->number, content->offset,
                                  "block 0 holds no header");
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__decode_records(const foliot__recording_block *block, uint32_t features,
                                     const uint8_t *payload, foliot__recording_header *header,
                                     foliot__recording_content *content,
                                     foliot__tick_entries *entries, foliot_damage *damage)
{
    foliot__reader r = foliot__reader_of(payload, block->length);
    decoding d = {
        .r = &r, .block = block, .features = features, .content = content, .header = header};
    foliot_status status = decode_payload(&d, damage);
    *entries = (foliot__tick_entries){{d.entries, d.entry_values}, d.commands, d.orders};
    return status;
}
