// SPDX-License-Identifier: MIT
// block_reader.c: the bytes of a recording and their frames: each block's header, length, number,
// tick and checksum are checked before its records are decoded. It goes forward, or to a keyframe
// that an index names. Files are read with pread and not mapped: a file that is cut while it is
// read must end in a status, not in a signal.
#define _FILE_OFFSET_BITS 64
#include "recording/block_reader.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/pack.h"
#include "recording/block_content.h"
#include "recording/record_decoder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AHEAD (256u << 10)

void foliot__byte_source_of(foliot__byte_source *source, const void *bytes, size_t length)
{
    static const uint8_t nothing[1];
    *source =
        (foliot__byte_source){.memory = length ? bytes : nothing, .file = -1, .length = length};
}

foliot_status foliot__byte_source_open(foliot__byte_source *source, const char *file)
{
    struct stat about;
    int descriptor = foliot__file_open(file);
    if (descriptor < 0)
        return FOLIOT_STATUS_IO;
    if (fstat(descriptor, &about) != 0) {
        int error = errno;
        close(descriptor);
        errno = error;
        return FOLIOT_STATUS_IO;
    }
    *source = (foliot__byte_source){.file = descriptor, .length = (uint64_t)about.st_size};
    return FOLIOT_STATUS_OK;
}

void foliot__byte_source_close(foliot__byte_source *source)
{
    if (source->file >= 0)
        close(source->file);
    free(source->window);
    *source = (foliot__byte_source){.file = -1};
}

const uint8_t *foliot__byte_source_at(foliot__byte_source *source, uint64_t offset, size_t count,
                                      size_t ahead)
{
    if (offset > source->length || count > source->length - offset)
        return NULL;
    if (source->memory)
        return source->memory + offset;
    if (source->window && offset >= source->window_offset &&
        offset - source->window_offset <= source->window_length &&
        count <= source->window_length - (offset - source->window_offset))
        return source->window + (offset - source->window_offset);
    uint64_t left = source->length - offset;
    size_t wanted = count + ahead < left ? count + ahead : (size_t)left;
    if (wanted > source->window_capacity) {
        uint8_t *window = realloc(source->window, wanted);
        if (!window) {
            source->status = FOLIOT_STATUS_MEMORY;
            return NULL;
        }
        source->window = window;
        source->window_capacity = wanted;
    }
    source->status = FOLIOT_STATUS_IO;
    source->window_offset = offset;
    source->window_length = 0;
    while (source->window_length < wanted) {
        ssize_t got =
            pread(source->file, source->window + source->window_length,
                  wanted - source->window_length, (off_t)(offset + source->window_length));
        if (got <= 0)
            return NULL;
        source->window_length += (size_t)got;
    }
    return source->window;
}

// -- frames

// The bytes are in the file, but the system does not return them.
static foliot_status source_refused(const foliot__block_reader *reader, foliot_damage *damage)
{
    foliot_status status = reader->source->status;
    return foliot__damage_set(damage, status, reader->number, reader->offset,
                              status == FOLIOT_STATUS_MEMORY ? "no memory to read it"
                                                             : "the system cannot read it");
}

// The header of a block is damaged, or there is none: a file system returns zeros for data that was
// not written before the machine stopped.
static foliot_status refuse_header(foliot__block_reader *reader, foliot_damage *damage)
{
    foliot__byte_source *source = reader->source;
    bool zeros = true;
    for (uint64_t at = reader->offset; zeros && at < source->length;) {
        uint64_t left = source->length - at;
        size_t count = left < AHEAD ? (size_t)left : AHEAD;
        const uint8_t *bytes = foliot__byte_source_at(source, at, count, 0);
        if (!bytes)
            return source_refused(reader, damage);
        zeros = bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
        at += count;
    }
    if (zeros)
        return foliot__damage_set(damage, FOLIOT_STATUS_TRUNCATED, reader->number, reader->offset,
                                  "nothing but zeros follows, %" PRIu64 " bytes",
                                  source->length - reader->offset);
    return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, reader->number, reader->offset,
                              "the block's header is damaged");
}

static foliot_status read_block(foliot__block_reader *reader, foliot__recording_block *block,
                                const uint8_t **payload, foliot_damage *damage)
{
    foliot__byte_source *source = reader->source;
    uint64_t left = source->length - reader->offset;
    if (left < FOLIOT__RECORDING_BLOCK_BYTES)
        return foliot__damage_set(damage, FOLIOT_STATUS_TRUNCATED, reader->number, reader->offset,
                                  left ? "the file ends inside the block's header"
                                       : "the file ends without its closing block");
    const uint8_t *bytes =
        foliot__byte_source_at(source, reader->offset, FOLIOT__RECORDING_BLOCK_BYTES, AHEAD);
    if (!bytes)
        return source_refused(reader, damage);
    if (!foliot__recording_block_read(bytes, block))
        return refuse_header(reader, damage);
    if (block->length > left - FOLIOT__RECORDING_BLOCK_BYTES)
        return foliot__damage_set(damage, FOLIOT_STATUS_TRUNCATED, reader->number, reader->offset,
                                  "the file ends inside the block: %" PRIu64 " of %" PRIu32
                                  " bytes are there",
                                  left - FOLIOT__RECORDING_BLOCK_BYTES, block->length);
    *payload = foliot__byte_source_at(source, reader->offset + FOLIOT__RECORDING_BLOCK_BYTES,
                                      block->length, AHEAD);
    if (!*payload)
        return source_refused(reader, damage);
    if (foliot__crc32c(0, *payload, block->length) != block->payload_crc)
        return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, reader->number, reader->offset,
                                  "checksum of its %" PRIu32 " bytes differs", block->length);
    return FOLIOT_STATUS_OK;
}

// Expands the entries of the block's ticks into its content.
static foliot_status expand_entries(foliot__block_reader *reader,
                                    foliot__recording_content *content, uint64_t tick,
                                    foliot__tick_entries *entries, foliot_damage *damage)
{
    const foliot__session_entries *commands = &entries->commands, *orders = &entries->orders;
    const char *what = "its inputs are malformed";
    foliot_status status = foliot__recording_expand(reader, content, tick, &entries->inputs.reader,
                                                    entries->inputs.values);
    if (status == FOLIOT_STATUS_OK && commands->given) {
        what = "its commands are malformed";
        status = foliot__session_decode_commands(&reader->session, &content->session,
                                                 content->first_tick, tick, commands->bytes,
                                                 commands->length);
    }
    if (status == FOLIOT_STATUS_OK && orders->given) {
        what = "its orders are malformed";
        status =
            foliot__session_decode_orders(&reader->session, &content->session, content->first_tick,
                                          tick, orders->bytes, orders->length, reader->features);
    }
    if (status == FOLIOT_STATUS_UNSUPPORTED)
        what = "it has a command or an order that this build does not know";
    return status == FOLIOT_STATUS_OK
               ? status
               : foliot__damage_set(damage, status, reader->number, reader->offset, "%s", what);
}

static foliot_status read_next_block(foliot__block_reader *reader,
                                     foliot__recording_content *content,
                                     foliot__recording_header *header, foliot_damage *damage)
{
    foliot__recording_block block;
    const uint8_t *payload = NULL;
    foliot_status status = read_block(reader, &block, &payload, damage);
    if (status != FOLIOT_STATUS_OK)
        return status;
    if (header)
        reader->tick = block.tick;
    if (block.number != (uint32_t)reader->number || block.tick < reader->tick ||
        block.tick - reader->tick > FOLIOT__RECORDING_BLOCK_TICKS_MAX)
        return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, reader->number, reader->offset,
                                  "its number or its tick does not follow the block before");
    foliot__tick_entries entries;
    foliot__recording_content_clear(content, reader->number, reader->offset, reader->tick);
    status = foliot__decode_records(&block, reader->features, payload, header, content, &entries,
                                    damage);
    if (status != FOLIOT_STATUS_OK)
        return status;
    if (content->has_keyframe)
        foliot__recording_forget_players(reader);
    status = expand_entries(reader, content, block.tick, &entries, damage);
    if (status != FOLIOT_STATUS_OK)
        return status;
    content->tick = reader->tick = block.tick;
    content->sizes.header = FOLIOT__RECORDING_BLOCK_BYTES;
    reader->closed = content->has_closing;
    reader->number++;
    reader->offset += FOLIOT__RECORDING_BLOCK_BYTES + block.length;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__block_reader_begin(foliot__block_reader *reader, foliot__byte_source *source,
                                         foliot__recording_header *header,
                                         foliot__recording_content *content, foliot_damage *damage)
{
    memset(reader, 0, sizeof *reader);
    reader->source = source;
    const uint8_t *start = foliot__byte_source_at(source, 0, FOLIOT__RECORDING_START_BYTES, AHEAD);
    if (!start && source->length >= FOLIOT__RECORDING_START_BYTES)
        return source_refused(reader, damage);
    if (!start && source->length == 0) // the writer creates the file before it writes
        return foliot__damage_set(damage, FOLIOT_STATUS_TRUNCATED, 0, 0, "the file is empty");
    if (!start) {
        size_t count = source->length < FOLIOT__RECORDING_MAGIC_BYTES
                           ? (size_t)source->length
                           : FOLIOT__RECORDING_MAGIC_BYTES;
        start = foliot__byte_source_at(source, 0, count, AHEAD);
        if (!start || memcmp(start, FOLIOT__RECORDING_MAGIC, count) != 0)
            return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, 0, 0, "not a recording");
        return foliot__damage_set(damage, FOLIOT_STATUS_TRUNCATED, 0, 0,
                                  "the file ends inside its first %d bytes",
                                  FOLIOT__RECORDING_START_BYTES);
    }
    if (!foliot__recording_start_read(start, &header->format))
        return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, 0, 0,
                                  "not a recording, or its first %d bytes are damaged",
                                  FOLIOT__RECORDING_START_BYTES);
    reader->offset = FOLIOT__RECORDING_START_BYTES;
    foliot_status status = read_next_block(reader, content, header, damage);
    reader->features = header->features;
    if (header->format != FOLIOT_RECORDING_FORMAT && status != FOLIOT_STATUS_NEWER)
        status = foliot__damage_set(damage, FOLIOT_STATUS_NEWER, 0, 0,
                                    "format %" PRIu32 ", and this build reads format %d",
                                    header->format, FOLIOT_RECORDING_FORMAT);
    return status;
}

foliot_status foliot__block_reader_next(foliot__block_reader *reader,
                                        foliot__recording_content *content, foliot_damage *damage)
{
    if (!reader->closed)
        return read_next_block(reader, content, NULL, damage);
    if (reader->offset == reader->source->length)
        return FOLIOT_STATUS_NOT_FOUND;
    return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, reader->number, reader->offset,
                              "%" PRIu64 " bytes follow the closing block",
                              reader->source->length - reader->offset);
}

foliot_status foliot__block_reader_seek(foliot__block_reader *reader, uint64_t offset,
                                        uint64_t tick, foliot_damage *damage)
{
    foliot__recording_block block;
    const uint8_t *bytes =
        foliot__byte_source_at(reader->source, offset, FOLIOT__RECORDING_BLOCK_BYTES, AHEAD);
    if (!bytes && offset <= reader->source->length &&
        reader->source->length - offset >= FOLIOT__RECORDING_BLOCK_BYTES)
        return source_refused(reader, damage);
    if (!bytes || !foliot__recording_block_read(bytes, &block) || block.tick != tick)
        return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, reader->number, offset,
                                  "the index names a keyframe here, and there is none");
    reader->offset = offset;
    reader->number = block.number;
    reader->tick = tick;
    reader->closed = false;
    foliot__recording_forget_players(reader);
    return FOLIOT_STATUS_OK;
}

bool foliot__recording_closing(foliot__byte_source *source, foliot__recording_content *content)
{
    foliot__recording_block block;
    foliot__block_reader *reader;
    if (source->length < FOLIOT__RECORDING_END_BYTES)
        return false;
    const uint8_t *bytes = foliot__byte_source_at(
        source, source->length - FOLIOT__RECORDING_END_BYTES, FOLIOT__RECORDING_END_BYTES, 0);
    if (!bytes || bytes[0] != 0x92 || bytes[1] != FOLIOT__RECORDING_END)
        return false;
    foliot__reader r = foliot__reader_of(bytes + 2, FOLIOT__RECORDING_END_BYTES - 2);
    uint64_t offset = foliot__unpack_uint(&r);
    bytes = foliot__byte_source_at(source, offset, FOLIOT__RECORDING_BLOCK_BYTES, AHEAD);
    if (r.status != FOLIOT_STATUS_OK || !bytes || !foliot__recording_block_read(bytes, &block))
        return false;
    reader = calloc(1, sizeof *reader);
    if (!reader)
        return false;
    *reader = (foliot__block_reader){
        .source = source, .offset = offset, .number = block.number, .tick = block.tick};
    bool closing = read_next_block(reader, content, NULL, NULL) == FOLIOT_STATUS_OK &&
                   content->has_closing && reader->offset == source->length;
    free(reader);
    return closing;
}
