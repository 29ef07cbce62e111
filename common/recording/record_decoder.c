// SPDX-License-Identifier: MIT
// record_decoder.c: decodes the records of one block through a bounds-checked cursor with a sticky
// status. Nothing is trusted: every length is checked against the bytes present. A table defines
// the values of each record and where it may occur. Entries of ticks are only located here;
// tick_decoder.c turns them into inputs, commands and orders.
#include "recording/record_decoder.h"

#include "base/array.h"
#include "base/pack.h"
#include "recording/block_content.h"
#include "recording/keyframe_codec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct decoding {
    foliot__reader *r;
    uint32_t values; // that the record has beyond those of its row
    const foliot__recording_block *block;
    uint32_t features; // of the recording; in block 0 the header has them
    foliot__recording_content *content;
    foliot__recording_header *header; // NULL but in block 0
    foliot__tick_entries *entries;
    uint32_t records;                                // so far
    uint32_t counts[FOLIOT__RECORDING_TYPE_MAX + 1]; // of each type
} decoding;

static void corrupt_if(decoding *d, bool wrong)
{
    if (wrong)
        foliot__reader_fail(d->r, FOLIOT_STATUS_CORRUPT);
}

static void no_memory(decoding *d)
{
    foliot__reader_fail(d->r, FOLIOT_STATUS_MEMORY);
}

// A digest, or another value of 16 bytes.
static void unpack_bin16(foliot__reader *r, uint8_t out[16])
{
    uint32_t length;
    const uint8_t *bytes = foliot__unpack_bin(r, &length);
    if (length == 16)
        memcpy(out, bytes, 16);
    else
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
}

// -- HEADER

enum header_key {
    HEADER_FEATURES, // the first key, and
    HEADER_VERSION,  // the second one, in every format
    HEADER_TICK,
    HEADER_FINGERPRINT,
    HEADER_BUILD,
    HEADER_SCENE,
    HEADER_INTEGRATOR,
    HEADER_DT,
    HEADER_SEED,
    HEADER_CAPACITIES,
    HEADER_SIMULATION,
    HEADER_SIMULATION_VERSION,
    HEADER_SETUP,
    HEADER_RULES_NAME,
    HEADER_RULES_VERSION,
    HEADER_RULES_TEXT,
    HEADER_RULES_BUILD,
};
// Bits of the keys of every header, of a world's, of another simulation's, and with rules.
#define HEADER_KEYS 0x1fu
#define HEADER_KEYS_WORLD 0x3e0u
#define HEADER_KEYS_SIMULATION 0x1c00u
#define HEADER_KEYS_RULES 0x1e000u

static void unpack_text(foliot__reader *r, char *out, size_t capacity)
{
    uint32_t length;
    const char *text = foliot__unpack_str(r, &length);
    if (length >= capacity)
        length = (uint32_t)capacity - 1;
    for (uint32_t i = 0; i < length; i++) // it will be printed
        out[i] = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
    out[length] = 0;
}

static uint32_t unpack_u32(foliot__reader *r)
{
    uint64_t value = foliot__unpack_uint(r);
    if (value > UINT32_MAX)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return (uint32_t)value;
}

// Names, each once. The first unknown one is kept for the message.
static void unpack_features(foliot__reader *r, foliot__recording_header *header)
{
    uint32_t count = foliot__unpack_array(r);
    for (uint32_t i = 0; i < count && r->status == FOLIOT_STATUS_OK; i++) {
        foliot__reader before = *r;
        uint32_t length;
        const char *name = foliot__unpack_str(r, &length);
        if (r->status != FOLIOT_STATUS_OK)
            return;
        uint32_t feature = foliot__recording_feature_of(name, length);
        if (length == 0 || (header->features & feature))
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        if (!feature && !header->unknown_feature[0])
            unpack_text(&before, header->unknown_feature, sizeof header->unknown_feature);
        header->features |= feature;
    }
}

// The keys in the order of header_key.
static const char *const keys[] = {
    "features",   "version",    "tick",          "fingerprint", "build",      "scene",
    "integrator", "dt",         "seed",          "capacities",  "simulation", "simulation_version",
    "setup",      "rules_name", "rules_version", "rules_text",  "rules_build"};
#define KEYS (sizeof keys / sizeof keys[0])

// Decodes one key and its value. Returns the bit of a known key, 0 for others.
static unsigned decode_header_key(foliot__reader *r, foliot__recording_header *header)
{
    uint32_t length;
    unsigned key = 0;
    const char *text = foliot__unpack_str(r, &length);
    while (key < KEYS && !(text && strlen(keys[key]) == length && !memcmp(keys[key], text, length)))
        key++;
    switch (key) {
    case HEADER_FEATURES:
        unpack_features(r, header);
        break;
    case HEADER_VERSION:
        unpack_text(r, header->version, sizeof header->version);
        break;
    case HEADER_TICK:
        header->tick = foliot__unpack_uint(r);
        break;
    case HEADER_FINGERPRINT:
        unpack_bin16(r, header->fingerprint);
        break;
    case HEADER_BUILD:
        unpack_text(r, header->build, sizeof header->build);
        break;
    case HEADER_SCENE:
    case HEADER_SETUP: {
        const uint8_t *bytes = foliot__unpack_bin(r, &header->scene_bytes);
        free(header->scene);
        header->scene = malloc(header->scene_bytes + 1);
        if (!header->scene)
            foliot__reader_fail(r, FOLIOT_STATUS_MEMORY);
        else if (bytes)
            memcpy(header->scene, bytes, header->scene_bytes);
        break;
    }
    case HEADER_INTEGRATOR:
        unpack_text(r, header->integrator, sizeof header->integrator);
        break;
    case HEADER_DT:
        header->dt = foliot__unpack_f64(r);
        break;
    case HEADER_SEED:
        header->seed = foliot__unpack_uint(r);
        break;
    case HEADER_CAPACITIES: {
        uint32_t count = foliot__unpack_array(r);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t value = foliot__unpack_uint(r);
            if (value > UINT32_MAX)
                foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
            else if (i < 6)
                header->capacities[i] = (uint32_t)value;
        }
        if (count < 6)
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        break;
    }
    case HEADER_SIMULATION:
        unpack_text(r, header->simulation, sizeof header->simulation);
        break;
    case HEADER_SIMULATION_VERSION:
        header->simulation_version = unpack_u32(r);
        break;
    case HEADER_RULES_NAME:
        unpack_text(r, header->rules_name, sizeof header->rules_name);
        break;
    case HEADER_RULES_VERSION:
        header->rules_version = unpack_u32(r);
        break;
    case HEADER_RULES_TEXT: {
        const uint8_t *bytes = foliot__unpack_bin(r, &length);
        if (length > FOLIOT_RULES_SCRIPT_BYTES_MAX)
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        if (r->status != FOLIOT_STATUS_OK)
            break;
        free(header->rules_text);
        header->rules_text = calloc(1, (size_t)length + 1); // ends with a zero
        header->rules_text_bytes = length;
        if (!header->rules_text)
            foliot__reader_fail(r, FOLIOT_STATUS_MEMORY);
        else if (length)
            memcpy(header->rules_text, bytes, length);
        break;
    }
    case HEADER_RULES_BUILD:
        unpack_text(r, header->rules_build, sizeof header->rules_build);
        break;
    default:
        foliot__unpack_skip(r);
        return 0;
    }
    return 1u << key;
}

// The first two keys of every format are the features and the version of the writer's program, so
// that a reader can say what it lacks.
static void decode_header(decoding *d)
{
    foliot__recording_header *header = d->header;
    unsigned found = 0;
    uint32_t pairs = foliot__unpack_map(d->r);
    for (uint32_t i = 0; i < pairs && d->r->status == FOLIOT_STATUS_OK; i++) {
        unsigned bit = decode_header_key(d->r, header);
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
    unsigned wanted = HEADER_KEYS | (rules ? HEADER_KEYS_RULES : 0) |
                      (foreign ? HEADER_KEYS_SIMULATION : HEADER_KEYS_WORLD);
    corrupt_if(d, found != wanted || (history && (foreign || !rules)) ||
                      header->tick != d->block->tick || (foreign && !header->simulation[0]) ||
                      (rules && !header->rules_name[0]));
    d->content->has_header = true;
}

// -- states

// A compressed state stays compressed: its largest size is not known here.
static void decode_keyframe(decoding *d)
{
    foliot__block_keyframe *keyframe = &d->content->keyframe;
    uint32_t length;
    uint64_t tick = foliot__unpack_uint(d->r);
    unpack_bin16(d->r, keyframe->digest);
    uint64_t encoding = foliot__unpack_uint(d->r);
    const uint8_t *bytes = foliot__unpack_bin(d->r, &length);
    bool packed = encoding == FOLIOT__RECORDING_ZSTD;
    corrupt_if(d, tick != d->block->tick || tick != d->content->first_tick);
    if (encoding != FOLIOT__RECORDING_RAW && !packed)
        foliot__reader_fail(d->r, FOLIOT_STATUS_UNSUPPORTED);
    if (packed) {
        corrupt_if(d, d->values < 1);
        keyframe->size = foliot__unpack_uint(d->r);
        d->values--;
    }
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    if (!foliot__recording_content_set(packed ? &keyframe->compressed : &keyframe->state, bytes,
                                       length))
        no_memory(d);
    keyframe->packed = packed;
    d->content->has_keyframe = d->r->status == FOLIOT_STATUS_OK;
}

// The state of the rules is small, and decompressed at once: no other record says how large it may
// be.
static void decode_state(decoding *d)
{
    foliot__block_keyframe *keyframe = &d->content->keyframe;
    foliot_status status = FOLIOT_STATUS_OK;
    uint32_t length;
    corrupt_if(d, !(d->features & FOLIOT_RECORDING_RULES));
    uint64_t tick = foliot__unpack_uint(d->r), encoding = foliot__unpack_uint(d->r);
    const uint8_t *bytes = foliot__unpack_bin(d->r, &length);
    corrupt_if(d, tick != d->block->tick);
    if (encoding > FOLIOT__RECORDING_ZSTD)
        foliot__reader_fail(d->r, FOLIOT_STATUS_UNSUPPORTED);
    uint64_t size = length, most = d->features & FOLIOT_RECORDING_HISTORY
                                       ? FOLIOT__RECORDING_RULES_HISTORY_MAX
                                       : FOLIOT__RECORDING_RULES_MAX;
    if (encoding == FOLIOT__RECORDING_ZSTD) {
        size = foliot__unpack_uint(d->r);
        corrupt_if(d, d->values < 1);
        d->values--;
    }
    corrupt_if(d, size > most);
    unpack_bin16(d->r, keyframe->rules_digest);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    if (!foliot__buffer_reserve(&keyframe->rules, (size_t)size + 1)) {
        no_memory(d);
        return;
    }
    if (encoding == FOLIOT__RECORDING_ZSTD)
        status = foliot__keyframe_decompress(bytes, length, keyframe->rules.bytes, (size_t)size);
    else
        memcpy(keyframe->rules.bytes, bytes, length);
    keyframe->rules.length = (size_t)size;
    keyframe->has_rules = status == FOLIOT_STATUS_OK;
    if (status != FOLIOT_STATUS_OK && status != FOLIOT_STATUS_UNSUPPORTED) // no zstd: no state
        foliot__reader_fail(d->r, status);
}

// -- inputs, commands and orders

static void decode_inputs(decoding *d)
{
    foliot__input_entries *inputs = &d->entries->inputs;
    corrupt_if(d, foliot__unpack_uint(d->r) != d->content->first_tick);
    *inputs = (foliot__input_entries){*d->r, d->values};
    for (; d->values > 0 && d->r->status == FOLIOT_STATUS_OK; d->values--)
        foliot__unpack_int(d->r);
    inputs->reader.length = d->r->at;
}

static void decode_session(decoding *d, foliot__session_entries *entries)
{
    corrupt_if(d, foliot__unpack_uint(d->r) != d->content->first_tick);
    entries->bytes = foliot__unpack_bin(d->r, &entries->length);
    entries->given = true;
}

static void decode_commands(decoding *d)
{
    decode_session(d, &d->entries->commands);
}

static void decode_orders(decoding *d)
{
    decode_session(d, &d->entries->orders);
}

static void decode_digests(decoding *d)
{
    foliot__block_digests *digests = &d->content->digests;
    uint64_t start = d->content->first_tick, end = d->block->tick;
    uint64_t first = foliot__unpack_uint(d->r), every = foliot__unpack_uint(d->r);
    uint64_t each = foliot__unpack_uint(d->r);
    uint32_t length;
    const uint8_t *bytes = foliot__unpack_bin(d->r, &length);
    corrupt_if(d, every < 1 || every > UINT32_MAX || each < 4 || each > 16);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    uint32_t count = length / (uint32_t)each;
    corrupt_if(d, length % each || count < 1 || first <= start || first > end ||
                      (count - 1) * every > end - start || first + (count - 1) * every > end);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    digests->records[digests->count++] = (foliot__recording_digests){
        first, (uint32_t)every, (uint32_t)each, count, digests->values.length};
    foliot__pack_raw(&digests->values, bytes, length);
    if (digests->values.failed)
        no_memory(d);
}

// -- the end

static void decode_closing(decoding *d)
{
    uint64_t tick = foliot__unpack_uint(d->r);
    unpack_bin16(d->r, d->content->closing_digest);
    corrupt_if(d, tick != d->block->tick || tick != d->content->first_tick);
    d->content->has_closing = true;
}

static void decode_index(decoding *d)
{
    foliot__recording_content *content = d->content;
    corrupt_if(d, d->values % 2);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    free(content->index);
    content->index_count = 0;
    content->index = malloc(sizeof *content->index * (d->values / 2 + 1));
    if (!content->index) {
        no_memory(d);
        return;
    }
    uint64_t tick = 0, offset = 0;
    for (; d->values > 0; d->values -= 2) {
        uint64_t ticks = foliot__unpack_uint(d->r), bytes = foliot__unpack_uint(d->r);
        corrupt_if(d, ticks > d->block->tick - tick || bytes == 0 ||
                          bytes >= content->offset - offset);
        if (d->r->status != FOLIOT_STATUS_OK)
            return;
        content->index[content->index_count][0] = tick += ticks;
        content->index[content->index_count++][1] = offset += bytes;
    }
}

static void decode_end(decoding *d)
{
    corrupt_if(d, foliot__unpack_uint(d->r) != d->content->offset);
}

// -- records that a replay may skip

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
    foliot__block_notes *notes = &d->content->notes;
    uint32_t what_length = 0, text_length = 0;
    uint64_t tick = foliot__unpack_uint(d->r);
    const char *what = foliot__unpack_str(d->r, &what_length);
    const char *text = foliot__unpack_str(d->r, &text_length);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    if (!foliot__array_grow(&notes->items, notes->count, &notes->capacity, 8,
                            sizeof *notes->items)) {
        no_memory(d);
        return;
    }
    foliot__recording_note *note = &notes->items[notes->count++];
    note->tick = tick;
    copy_text(note->what, sizeof note->what, what, what_length);
    copy_text(note->text, sizeof note->text, text, text_length);
}

static void decode_message(decoding *d)
{
    foliot__block_messages *messages = &d->content->messages;
    uint32_t length;
    uint64_t tick = foliot__unpack_uint(d->r), player = foliot__unpack_uint(d->r);
    uint64_t reliable = foliot__unpack_uint(d->r);
    const uint8_t *bytes = foliot__unpack_bin(d->r, &length);
    corrupt_if(d, player > UINT32_MAX || reliable > 1 || length > FOLIOT_MESSAGE_BYTES_MAX);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    bool room = foliot__array_grow(&messages->items, messages->count, &messages->capacity, 16,
                                   sizeof *messages->items);
    if (room) {
        messages->items[messages->count++] = (foliot__recorded_message){
            tick, (uint32_t)player, length, messages->payload.length, reliable == 1};
        // A pointer to bytes, also where all messages are empty.
        if (messages->payload.capacity > 0 || foliot__buffer_reserve(&messages->payload, 256))
            foliot__pack_raw(&messages->payload, bytes, length);
    }
    if (!room || messages->payload.failed)
        no_memory(d);
}

static void decode_signature(decoding *d)
{
    foliot__recorded_signature *signature = &d->content->signature;
    uint32_t key_length, length;
    signature->tick = foliot__unpack_uint(d->r);
    uint64_t final = foliot__unpack_uint(d->r);
    const uint8_t *key = foliot__unpack_bin(d->r, &key_length);
    const uint8_t *bytes = foliot__unpack_bin(d->r, &length);
    corrupt_if(d, final > 1 || key_length != sizeof signature->key ||
                      length != sizeof signature->bytes);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    d->content->has_signature = true;
    signature->final = final == 1;
    memcpy(signature->key, key, key_length);
    memcpy(signature->bytes, bytes, length);
}

// -- one block

enum place { ANYWHERE, IN_BLOCK_0, BEHIND_BLOCK_0 };

// A record of each type.
static const struct row {
    const char *name;
    void (*decode)(decoding *d);
    uint32_t values, most; // that it has at least, behind its type; records in a block
    enum place place;
    uint32_t after; // a record of this type stands before it; 0: none need
    bool exact;     // it has no values but those of this version
    size_t size;    // counter of its bytes in the block's sizes
} rows[FOLIOT__RECORDING_TYPE_MAX + 1] = {
#define SIZE(member) offsetof(foliot__block_sizes, member)
    [FOLIOT__RECORDING_HEADER] = {"HEADER", decode_header, 1, 1, IN_BLOCK_0, 0, false, SIZE(other)},
    [FOLIOT__RECORDING_KEYFRAME] = {"KEYFRAME", decode_keyframe, 4, 1, BEHIND_BLOCK_0, 0, false,
                                    SIZE(keyframes)},
    [FOLIOT__RECORDING_INPUTS] = {"INPUTS", decode_inputs, 1, 1, BEHIND_BLOCK_0, 0, false,
                                  SIZE(inputs)},
    [FOLIOT__RECORDING_DIGESTS] = {"DIGESTS", decode_digests, 4, FOLIOT__RECORDING_DIGESTS_MAX,
                                   ANYWHERE, 0, false, SIZE(digests)},
    [FOLIOT__RECORDING_CLOSING] = {"CLOSING", decode_closing, 2, 1, BEHIND_BLOCK_0, 0, true,
                                   SIZE(other)},
    [FOLIOT__RECORDING_INDEX] = {"INDEX", decode_index, 0, 1, ANYWHERE, FOLIOT__RECORDING_CLOSING,
                                 true, SIZE(other)},
    [FOLIOT__RECORDING_END] = {"END", decode_end, 1, 1, ANYWHERE, FOLIOT__RECORDING_INDEX, true,
                               SIZE(other)},
    [FOLIOT__RECORDING_COMMANDS] = {"COMMANDS", decode_commands, 2, 1, BEHIND_BLOCK_0, 0, false,
                                    SIZE(commands)},
    [FOLIOT__RECORDING_ORDERS] = {"ORDERS", decode_orders, 2, 1, BEHIND_BLOCK_0, 0, false,
                                  SIZE(orders)},
    [FOLIOT__RECORDING_STATE] = {"STATE", decode_state, 4, 1, ANYWHERE, FOLIOT__RECORDING_KEYFRAME,
                                 false, SIZE(keyframes)},
    [FOLIOT__RECORDING_NOTE] = {"NOTE", decode_note, 3, FOLIOT__RECORDING_NOTES_MAX, ANYWHERE, 0,
                                false, SIZE(other)},
    [FOLIOT__RECORDING_MESSAGE] = {"MESSAGE", decode_message, 4, FOLIOT__RECORDING_NOTES_MAX,
                                   ANYWHERE, 0, false, SIZE(other)},
    [FOLIOT__RECORDING_SIGNATURE] = {"SIGNATURE", decode_signature, 4, 1, ANYWHERE, 0, true,
                                     SIZE(other)},
};

// Decodes one record. *type is its type, for the damage's text.
static void decode_record(decoding *d, uint64_t *type)
{
    size_t start = d->r->at;
    d->values = foliot__unpack_array(d->r);
    *type = foliot__unpack_uint(d->r);
    corrupt_if(d, d->values < 1 || *type < 1 || *type > FOLIOT__RECORDING_TYPE_MAX);
    if (d->r->status != FOLIOT_STATUS_OK)
        return;
    const struct row *row = &rows[*type];
    d->values--;
    corrupt_if(d, d->counts[FOLIOT__RECORDING_END] > 0);
    corrupt_if(d, *type == FOLIOT__RECORDING_CLOSING && d->records > 0);
    corrupt_if(d, d->content->has_closing && *type != FOLIOT__RECORDING_INDEX &&
                      *type != FOLIOT__RECORDING_END);
    d->records++;
    if (row->decode) {
        corrupt_if(d, d->values < row->values || d->counts[*type] >= row->most ||
                          (row->place == IN_BLOCK_0 && !d->header) ||
                          (row->place == BEHIND_BLOCK_0 && d->header) ||
                          (row->after && d->counts[row->after] == 0));
        if (d->r->status != FOLIOT_STATUS_OK)
            return;
        d->counts[*type]++;
        d->values -= row->values;
        row->decode(d);
    } else {
        if (*type < FOLIOT__RECORDING_OPTIONAL)
            foliot__reader_fail(d->r, FOLIOT_STATUS_UNSUPPORTED);
        d->content->unknown++;
    }
    // No signature covers the closing block, nor the block of the last signature. An extra value
    // there could come from anybody. Later minor versions may append values to every other record.
    corrupt_if(d, d->values > 0 && row->exact);
    for (uint32_t i = 0; i < d->values && d->r->status == FOLIOT_STATUS_OK; i++)
        foliot__unpack_skip(d->r);
    uint8_t *sizes = (uint8_t *)&d->content->sizes;
    *(uint64_t *)(sizes + (row->decode ? row->size : SIZE(other))) += d->r->at - start;
}

// The file is complete, but newer than this build: reports the missing features and the writing
// program.
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

foliot_status foliot__decode_records(const foliot__recording_block *block, uint32_t features,
                                     const uint8_t *payload, foliot__recording_header *header,
                                     foliot__recording_content *content,
                                     foliot__tick_entries *entries, foliot_damage *damage)
{
    foliot__reader r = foliot__reader_of(payload, block->length);
    decoding d = {.r = &r,
                  .block = block,
                  .features = features,
                  .content = content,
                  .header = header,
                  .entries = entries};
    uint64_t type = 0;
    const char *wrong = NULL;
    *entries = (foliot__tick_entries){0};
    while (r.status == FOLIOT_STATUS_OK && r.at < r.length)
        decode_record(&d, &type);
    if (r.status == FOLIOT_STATUS_UNSUPPORTED)
        return foliot__damage_set(
            damage, r.status, content->number, content->offset,
            "record type %" PRIu64 " must be understood, and this build does not", type);
    if (r.status == FOLIOT_STATUS_NEWER)
        return newer_damage(header, damage);
    if (r.status == FOLIOT_STATUS_MEMORY)
        return foliot__damage_set(damage, r.status, content->number, content->offset, "no memory");
    // The checksum shows that the block is complete: a truncated value was written that way.
    if (r.status != FOLIOT_STATUS_OK) {
        bool known = type <= FOLIOT__RECORDING_TYPE_MAX && rows[type].name;
        return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, content->number, content->offset,
                                  "record of type %" PRIu64
                                  "%s%s is malformed near byte %zu of the block's payload",
                                  type, known ? ", " : "", known ? rows[type].name : "", r.at);
    }
    bool has_no_ticks =
        content->has_keyframe || content->has_closing || content->has_signature || header;
    if (content->has_signature && d.records > 1)
        wrong = "a signature shares its block with other records";
    else if (has_no_ticks && content->first_tick != block->tick)
        wrong = "a keyframe, signature, header or closing block spans ticks";
    else if (content->has_closing && d.counts[FOLIOT__RECORDING_END] == 0)
        wrong = "closing block without its index or end";
    else if (header && !content->has_header)
        wrong = "block 0 holds no header";
    if (wrong)
        return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, content->number, content->offset,
                                  "%s", wrong);
    return FOLIOT_STATUS_OK;
}
