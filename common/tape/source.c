// SPDX-License-Identifier: MIT
// source.c: reads with pread, not through a mapping: a file that is cut while it is read must end
// in a status, not in a signal.
#define _FILE_OFFSET_BITS 64
#include "tape/source.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void foliot__source_of(foliot__source *source, const void *bytes, size_t length)
{
    static const uint8_t nothing[1];
    *source = (foliot__source){.memory = length ? bytes : nothing, .file = -1, .length = length};
}

// What cannot be read at an offset (a pipe) is read to its end.
static foliot_status read_all(foliot__source *source, int file)
{
    size_t length = 0, capacity = 1 << 16;
    uint8_t *bytes = malloc(capacity);
    ssize_t count = 1;
    while (bytes && count > 0) {
        if (length == capacity) {
            uint8_t *larger = capacity > SIZE_MAX / 2 ? NULL : realloc(bytes, 2 * capacity);
            if (!larger)
                break;
            bytes = larger;
            capacity *= 2;
        }
        count = read(file, bytes + length, capacity - length);
        length += count > 0 ? (size_t)count : 0;
    }
    if (!bytes || count != 0) {
        free(bytes);
        return count < 0 ? FOLIOT_IO : FOLIOT_MEMORY;
    }
    foliot__source_of(source, bytes, length);
    source->owned = bytes;
    return FOLIOT_OK;
}

foliot_status foliot__source_open(foliot__source *source, const char *file)
{
    struct stat about;
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return FOLIOT_IO;
    if (fstat(descriptor, &about) != 0 || S_ISDIR(about.st_mode)) {
        close(descriptor);
        return FOLIOT_IO;
    }
    if (!S_ISREG(about.st_mode)) {
        foliot_status status = read_all(source, descriptor);
        close(descriptor);
        return status;
    }
    *source = (foliot__source){.file = descriptor, .length = (uint64_t)about.st_size};
    return FOLIOT_OK;
}

void foliot__source_close(foliot__source *source)
{
    if (source->file >= 0)
        close(source->file);
    free(source->owned);
    free(source->window);
    *source = (foliot__source){.file = -1};
}

static bool window_fill(foliot__source *source, uint64_t offset, size_t count)
{
    if (count > source->window_capacity) {
        uint8_t *window = realloc(source->window, count);
        if (!window)
            return false;
        source->window = window;
        source->window_capacity = count;
    }
    source->window_offset = offset;
    source->window_length = 0;
    while (source->window_length < count) {
        ssize_t taken =
            pread(source->file, source->window + source->window_length,
                  count - source->window_length, (off_t)(offset + source->window_length));
        if (taken <= 0)
            return false;
        source->window_length += (size_t)taken;
    }
    return true;
}

const uint8_t *foliot__source_at(foliot__source *source, uint64_t offset, size_t count,
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
    size_t wanted = count + ahead;
    if (!window_fill(source, offset, left < wanted ? (size_t)left : wanted))
        return NULL;
    return source->window;
}
