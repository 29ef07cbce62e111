// SPDX-License-Identifier: MIT
// byte_source.c: reads with pread, not through a mapping: a file that is cut while it is read must
// end in a status, not in a signal.
#define _FILE_OFFSET_BITS 64
#include "recording/byte_source.h"

#include "base/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool window_fill(foliot__byte_source *source, uint64_t offset, size_t count)
{
    if (count > source->window_capacity) {
        uint8_t *window = realloc(source->window, count);
        if (!window) {
            source->status = FOLIOT_STATUS_MEMORY;
            return false;
        }
        source->window = window;
        source->window_capacity = count;
    }
    source->status = FOLIOT_STATUS_IO;
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
    size_t wanted = count + ahead;
    if (!window_fill(source, offset, left < wanted ? (size_t)left : wanted))
        return NULL;
    return source->window;
}
