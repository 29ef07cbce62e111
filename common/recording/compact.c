// SPDX-License-Identifier: MIT
// compact.c: rewrites a closed recording in longer blocks. Keyframes, notes and the header are
// copied byte for byte; inputs and digests are encoded again. Refuses a recording that would lose
// data. Replaces the file only after it has read back the new one and found the same content.
#define _FILE_OFFSET_BITS 64
#include "recording/recording.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/pack.h"
#include "foliot/divergence.h"
#include "recording/block_reader.h"
#include "recording/encoder.h"
#include "recording/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITE_BYTES ((size_t)256 << 10)

typedef struct compaction {
    foliot__byte_source source;
    foliot__block_reader reader;
    foliot__recording_header header;
    foliot__recording_content content;
    foliot__recording_encoder encoder;
    uint32_t block_ticks;
    bool has_pattern; // the encoder's digest_every and digest_bytes are those of the last digests

    const foliot_signer *signer;
    foliot__signed_chain chain;
    foliot__buffer block; // to be signed
    int out;
    foliot__buffer waiting; // to be written
    uint64_t length;        // of the new file, including the waiting bytes
    uint32_t block_number;
    uint64_t (*index)[2];
    uint32_t index_count, index_capacity;
} compaction;

// -- the new file

static foliot_status write_waiting(compaction *c)
{
    if (c->waiting.failed)
        return FOLIOT_STATUS_MEMORY;
    for (size_t done = 0; done < c->waiting.length;) {
        int64_t taken =
            foliot__file_write(c->out, c->waiting.bytes + done, c->waiting.length - done);
        if (taken < 0 && errno == EINTR)
            continue;
        if (taken <= 0)
            return FOLIOT_STATUS_IO;
        done += (size_t)taken;
    }
    c->waiting.length = 0;
    return FOLIOT_STATUS_OK;
}

static foliot_status put_bytes(compaction *c, const void *bytes, size_t count)
{
    foliot__pack_raw(&c->waiting, bytes, count);
    c->length += count;
    return c->waiting.length >= WRITE_BYTES || c->waiting.failed ? write_waiting(c)
                                                                 : FOLIOT_STATUS_OK;
}

static foliot_status put_block(compaction *c, uint64_t tick, const void *payload, size_t length)
{
    uint8_t header[FOLIOT__RECORDING_BLOCK_BYTES];
    foliot__recording_block_frame(header, c->block_number++, tick, payload, length);
    foliot_status status = put_bytes(c, header, sizeof header);
    if (status == FOLIOT_STATUS_OK)
        status = put_bytes(c, payload, length);
    if (!c->signer || status != FOLIOT_STATUS_OK)
        return status;
    c->block.length = 0;
    foliot__pack_raw(&c->block, header, sizeof header);
    foliot__pack_raw(&c->block, payload, length);
    foliot__signed_chain_add(&c->chain, c->block.bytes, c->block.failed ? 0 : c->block.length);
    return c->block.failed ? FOLIOT_STATUS_MEMORY : FOLIOT_STATUS_OK;
}

// The block in progress.
static foliot_status put_ticks(compaction *c)
{
    foliot__recording_encoder *encoder = &c->encoder;
    size_t inputs, digests;
    if (encoder->tick == encoder->first_tick)
        return FOLIOT_STATUS_OK;
    foliot__recording_encode_block(encoder, &inputs, &digests);
    if (encoder->payload.failed)
        return FOLIOT_STATUS_MEMORY;
    return put_block(c, encoder->tick, encoder->payload.bytes, encoder->payload.length);
}

// -- what is read

static const uint8_t *payload_of(compaction *c, size_t *length)
{
    uint64_t start = c->content.offset + FOLIOT__RECORDING_BLOCK_BYTES;
    *length = (size_t)(c->reader.offset - start);
    return foliot__byte_source_at(&c->source, start, *length, 0);
}

// Copies a block without ticks.
static foliot_status copy_block(compaction *c)
{
    size_t length;
    foliot_status status = put_ticks(c);
    if (status == FOLIOT_STATUS_OK && c->content.has_keyframe) {
        if (!foliot__array_grow(&c->index, c->index_count, &c->index_capacity, 256,
                                sizeof *c->index)) {
            status = FOLIOT_STATUS_MEMORY;
        } else {
            c->index[c->index_count][0] = c->content.tick;
            c->index[c->index_count++][1] = c->length;
        }
    }
    if (status != FOLIOT_STATUS_OK)
        return status;
    if (c->content.has_keyframe)
        foliot__recording_encoder_reset(&c->encoder);
    const uint8_t *payload = payload_of(c, &length);
    return payload ? put_block(c, c->content.tick, payload, length) : FOLIOT_STATUS_IO;
}

// One tick into the block in progress. The encoder leaves digests out by a rule, which the block
// must follow.
static foliot_status encode_tick(compaction *c, uint64_t tick)
{
    const uint8_t *recorded = NULL;
    foliot__recorded_tick entered = {0};
    foliot_tick_inputs *in = &entered.inputs;
    uint8_t bytes[16] = {0};
    foliot__recording_encoder *encoder = &c->encoder;
    if (!foliot__input_log_at(&c->content.inputs, tick, &in->inputs, &in->input_count))
        return FOLIOT_STATUS_UNSUPPORTED;
    in->command_count = foliot__session_log_commands_at(&c->content.session, tick, &in->commands);
    entered.order_count = foliot__session_log_orders_at(&c->content.session, tick, &entered.orders);
    uint32_t digest_bytes = foliot__recording_content_digest(&c->content, tick + 1, &recorded);
    if ((digest_bytes > 0) != ((tick + 1) % encoder->digest_every == 0))
        return FOLIOT_STATUS_UNSUPPORTED;
    if (digest_bytes)
        memcpy(bytes, recorded, digest_bytes);
    foliot_digest digest = foliot__recording_digest_of(bytes);
    if (!foliot__recording_encode_tick(encoder, &entered, digest)) {
        foliot_status status = put_ticks(c);
        if (status != FOLIOT_STATUS_OK)
            return status;
        if (!foliot__recording_encode_tick(encoder, &entered, digest))
            return FOLIOT_STATUS_UNSUPPORTED;
    }
    return encoder->tick - encoder->first_tick >= c->block_ticks ? put_ticks(c) : FOLIOT_STATUS_OK;
}

// A block of ticks.
static foliot_status encode_ticks(compaction *c)
{
    const foliot__recording_content *content = &c->content;
    foliot__recording_encoder *encoder = &c->encoder;
    foliot_status status = FOLIOT_STATUS_OK;
    // Notes are copied byte for byte. They begin a new block: a note applies to later inputs.
    if (content->notes.count > 0) {
        size_t length;
        status = put_ticks(c);
        const uint8_t *payload = payload_of(c, &length);
        if (status != FOLIOT_STATUS_OK || !payload)
            return status != FOLIOT_STATUS_OK ? status : FOLIOT_STATUS_IO;
        foliot__reader r = foliot__reader_of(payload, length);
        while (r.at < r.length && r.status == FOLIOT_STATUS_OK) {
            size_t start = r.at;
            uint32_t values = foliot__unpack_array(&r);
            bool note = foliot__unpack_uint(&r) == FOLIOT__RECORDING_NOTE;
            for (uint32_t i = 1; i < values; i++)
                foliot__unpack_skip(&r);
            if (note)
                foliot__pack_raw(&encoder->notes, payload + start, r.at - start);
        }
        status = r.status;
    }
    // Another pattern of digests begins a new block.
    const foliot__block_digests *digests = &content->digests;
    if (status == FOLIOT_STATUS_OK && digests->count > 1)
        return FOLIOT_STATUS_UNSUPPORTED;
    if (status == FOLIOT_STATUS_OK && digests->count == 1 &&
        (!c->has_pattern || encoder->digest_every != digests->records->every ||
         encoder->digest_bytes != digests->records->each)) {
        status = put_ticks(c);
        encoder->digest_every = digests->records->every;
        encoder->digest_bytes = digests->records->each;
        c->has_pattern = true;
    }
    // Messages say when they were sent, and end no block.
    if (status == FOLIOT_STATUS_OK &&
        encoder->message_count + content->messages.count > FOLIOT__RECORDING_NOTES_MAX)
        status = put_ticks(c);
    for (uint32_t i = 0; status == FOLIOT_STATUS_OK && i < content->messages.count; i++) {
        const foliot__recorded_message *m = &content->messages.items[i];
        foliot__recording_encode_message(&encoder->messages, m->tick, m->player, m->reliable,
                                         content->messages.payload.bytes + m->at, m->length);
        encoder->message_count++;
    }
    for (uint64_t tick = content->first_tick; status == FOLIOT_STATUS_OK && tick < content->tick;
         tick++)
        status = encode_tick(c, tick);
    return status;
}

static foliot_status put_closing(compaction *c)
{
    foliot__buffer *payload = &c->encoder.payload;
    foliot_status status = put_ticks(c);
    if (status != FOLIOT_STATUS_OK)
        return status;
    payload->length = 0;
    if (c->signer) {
        foliot__signature_encode(payload, c->signer, &c->chain, c->content.tick, true);
        if (payload->failed)
            return FOLIOT_STATUS_MEMORY;
        status = put_block(c, c->content.tick, payload->bytes, payload->length);
        payload->length = 0;
    }
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot__recording_encode_closing(payload, c->content.tick,
                                     foliot__recording_digest_of(c->content.closing_digest),
                                     (const uint64_t(*)[2])c->index, c->index_count, c->length);
    if (payload->failed)
        return FOLIOT_STATUS_MEMORY;
    return put_block(c, c->content.tick, payload->bytes, payload->length);
}

// Writes the new file, except for the waiting bytes.
static foliot_status copy_all(compaction *c)
{
    foliot_status status =
        foliot__block_reader_begin(&c->reader, &c->source, &c->header, &c->content, NULL);
    if (status != FOLIOT_STATUS_OK)
        return status;
    const uint8_t *start = foliot__byte_source_at(&c->source, 0, (size_t)c->reader.offset, 0);
    if (!start || !foliot__recording_encoder_init(&c->encoder, c->reader.tick, UINT32_MAX, 4))
        return start ? FOLIOT_STATUS_MEMORY : FOLIOT_STATUS_IO;
    status = put_bytes(c, start, (size_t)c->reader.offset);
    if (status == FOLIOT_STATUS_OK && c->signer)
        status = foliot__signed_chain_read(&c->chain, &c->source, c->reader.offset);
    c->block_number = 1;
    while (status == FOLIOT_STATUS_OK) {
        status = foliot__block_reader_next(&c->reader, &c->content, NULL);
        if (status != FOLIOT_STATUS_OK)
            break;
        if (c->content.unknown)
            status = FOLIOT_STATUS_UNSUPPORTED; // the record it belongs to is not known
        else if (c->content.has_signature)
            status = c->signer ? FOLIOT_STATUS_OK : FOLIOT_STATUS_UNSUPPORTED;
        else if (c->content.has_closing)
            status = put_closing(c);
        else if (c->content.tick == c->content.first_tick)
            status = copy_block(c);
        else
            status = encode_ticks(c);
    }
    return status == FOLIOT_STATUS_NOT_FOUND ? FOLIOT_STATUS_OK
                                             : status; // the end, after the closing block
}

// -- reading back

// The content of a recording, independent of its blocks: a hash of ticks, keyframes and notes in
// order.
typedef struct content_hash {
    foliot__block_reader reader;
    foliot__recording_content content;
    uint64_t hash, messages, blocks;
} content_hash;

static void add_bytes(content_hash *h, const void *bytes, size_t count)
{
    h->hash = foliot_digest_chain(h->hash, foliot_digest_compute(bytes, count));
}

static void add_numbers(content_hash *h, uint64_t tick, uint32_t a, uint32_t b, uint32_t c)
{
    uint8_t bytes[20];
    foliot__writer w = foliot__writer_of(bytes, sizeof bytes);
    foliot__write_u64(&w, tick);
    foliot__write_u32(&w, a);
    foliot__write_u32(&w, b);
    foliot__write_u32(&w, c);
    add_bytes(h, bytes, sizeof bytes);
}

static void add_tick(content_hash *h, uint64_t tick)
{
    const foliot_input *inputs = NULL;
    const foliot_command *commands;
    const foliot_order *orders;
    const uint8_t *digest = NULL;
    uint32_t count = 0;
    foliot__input_log_at(&h->content.inputs, tick, &inputs, &count);
    for (uint32_t i = 0; i < count; i++) {
        add_numbers(h, tick, inputs[i].player, inputs[i].sequence,
                    (uint32_t)inputs[i].kind << 16 | inputs[i].buttons);
        add_bytes(h, inputs[i].axes, sizeof inputs[i].axes);
    }
    count = foliot__session_log_commands_at(&h->content.session, tick, &commands);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t bytes[1024];
        add_bytes(h, bytes, foliot_command_encode(&commands[i], bytes, sizeof bytes));
        add_numbers(h, tick, commands[i].sequence, commands[i].source, 0);
    }
    count = foliot__session_log_orders_at(&h->content.session, tick, &orders);
    for (uint32_t i = 0; i < count; i++) {
        add_numbers(h, tick, orders[i].player, orders[i].sequence, orders[i].kind);
        add_bytes(h, orders[i].bytes, orders[i].length);
    }
    uint32_t digest_bytes = foliot__recording_content_digest(&h->content, tick + 1, &digest);
    add_bytes(h, digest_bytes ? digest : (const uint8_t *)"", digest_bytes);
}

static void add_block(content_hash *h)
{
    const foliot__recording_content *content = &h->content;
    h->blocks++;
    for (uint32_t i = 0; i < content->notes.count; i++) {
        add_bytes(h, content->notes.items[i].what, strlen(content->notes.items[i].what));
        add_bytes(h, content->notes.items[i].text, strlen(content->notes.items[i].text));
    }
    if (content->has_keyframe) {
        add_bytes(h, content->keyframe.digest, sizeof content->keyframe.digest);
        add_bytes(h,
                  content->keyframe.packed ? content->keyframe.compressed.bytes
                                           : content->keyframe.state.bytes,
                  content->keyframe.packed ? content->keyframe.compressed.length
                                           : content->keyframe.state.length);
    }
    if (content->keyframe.has_rules)
        add_bytes(h, content->keyframe.rules.bytes, content->keyframe.rules.length);
    // Messages stand anywhere among the ticks, and have a hash apart.
    uint64_t ticks = h->hash;
    h->hash = h->messages;
    for (uint32_t i = 0; i < content->messages.count; i++) {
        const foliot__recorded_message *m = &content->messages.items[i];
        add_numbers(h, m->tick, m->player, m->reliable, 0);
        add_bytes(h, content->messages.payload.bytes + m->at, m->length);
    }
    h->messages = h->hash;
    h->hash = ticks;
    for (uint64_t tick = content->first_tick; tick < content->tick; tick++)
        add_tick(h, tick);
    if (content->has_closing)
        add_bytes(h, content->closing_digest, sizeof content->closing_digest);
}

// FOLIOT_STATUS_OK if it was read to its closing block, and nothing follows that.
static foliot_status hash_file(const char *file, uint64_t *hash, uint64_t *blocks)
{
    foliot__byte_source source;
    foliot__recording_header header = {0};
    content_hash *h = calloc(1, sizeof *h);
    foliot_status status = h ? foliot__byte_source_open(&source, file) : FOLIOT_STATUS_MEMORY;
    if (status == FOLIOT_STATUS_OK) {
        status = foliot__block_reader_begin(&h->reader, &source, &header, &h->content, NULL);
        while (status == FOLIOT_STATUS_OK) {
            add_block(h);
            status = foliot__block_reader_next(&h->reader, &h->content, NULL);
        }
        *hash = foliot_digest_chain(h->hash, (foliot_digest){h->messages, 0});
        *blocks = h->blocks;
        foliot__recording_header_free(&header);
        foliot__recording_content_free(&h->content);
        foliot__byte_source_close(&source);
    }
    free(h);
    return status == FOLIOT_STATUS_NOT_FOUND ? FOLIOT_STATUS_OK : status;
}

// -- the files

// A file of this name was left by a compaction that was killed: the caller holds the lock of
// `file`.
static int create_beside(const char *path, const char *file)
{
    struct stat about;
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    if (stat(file, &about) != 0)
        return -1;
    int out = open(path, flags, 0600);
    if (out < 0 && errno == EEXIST && unlink(path) == 0)
        out = open(path, flags, 0600);
    if (out < 0)
        return -1;
    bool same_owner = (about.st_uid == geteuid() && about.st_gid == getegid()) ||
                      fchown(out, about.st_uid, about.st_gid) == 0;
    // Locked as the file that it replaces is: one writer a recording.
    if (same_owner && fchmod(out, about.st_mode & 07777) == 0 &&
        (flock(out, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK))
        return out;
    close(out);
    unlink(path);
    return -1;
}

static foliot_status replace_file(compaction *c, const char *file, const char *path)
{
    uint64_t hash[2], blocks[2] = {0};
    foliot_status status = copy_all(c);
    if (status == FOLIOT_STATUS_OK)
        status = write_waiting(c);
    if (status == FOLIOT_STATUS_OK && fsync(c->out) != 0)
        status = FOLIOT_STATUS_IO;
    if (status == FOLIOT_STATUS_OK)
        status = hash_file(file, &hash[0], &blocks[0]);
    if (status == FOLIOT_STATUS_OK)
        status = hash_file(path, &hash[1], &blocks[1]);
    if (status == FOLIOT_STATUS_OK && hash[0] != hash[1])
        status = FOLIOT_STATUS_UNSUPPORTED;
    bool fewer = blocks[1] < blocks[0];
    if (status != FOLIOT_STATUS_OK || !fewer || rename(path, file) != 0) {
        unlink(path);
        return status == FOLIOT_STATUS_OK && fewer ? FOLIOT_STATUS_IO : status;
    }
    // Makes the new name durable, where folders can be synced.
    char *copy = strdup(file);
    int folder = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (folder >= 0) {
        fsync(folder);
        close(folder);
    }
    free(copy);
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__recording_compact(const char *file, uint32_t block_ticks,
                                        const foliot_signer *signer)
{
    // `.NAME.compact` in the folder of NAME. A file of that name is deleted: no user file is
    // expected to have it.
    static const char end[] = ".compact";
    const char *slash = strrchr(file, '/');
    size_t folder = slash ? (size_t)(slash - file) + 1 : 0, bytes = strlen(file) + 1 + sizeof end;
    char *path = malloc(bytes);
    if (path)
        snprintf(path, bytes, "%.*s.%s%s", (int)folder, file, file + folder, end);
    compaction *c = calloc(1, sizeof *c);
    foliot_status status =
        path && c ? foliot__byte_source_open(&c->source, file) : FOLIOT_STATUS_MEMORY;
    if (status == FOLIOT_STATUS_OK) {
        c->block_ticks = block_ticks;
        c->signer = signer;
        c->out = create_beside(path, file);
        status = c->out < 0 ? FOLIOT_STATUS_IO : replace_file(c, file, path);
        if (c->out >= 0)
            close(c->out);
        foliot__byte_source_close(&c->source);
        foliot__recording_header_free(&c->header);
        foliot__recording_content_free(&c->content);
        foliot__recording_encoder_free(&c->encoder);
        foliot__buffer_free(&c->waiting);
        foliot__buffer_free(&c->block);
        free(c->index);
    }
    free(path);
    free(c);
    return status;
}
