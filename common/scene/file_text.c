// SPDX-License-Identifier: MIT
// file_text.c: the text of a scene's files, in the arena of its reading. A build without a file
// system has another file in its place (web/worlds.c).
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "scene/assembly.h"

// Bytes of all files of a scene together. The largest possible scene takes a tenth of it.
#define FILE_BYTES_MAX ((size_t)1 << 28)
#define READ_BYTES 65536

static char *read_stream(foliot__reading *reading, FILE *stream, size_t *length)
{
    size_t capacity = READ_BYTES, used = 0, most = FILE_BYTES_MAX - reading->file_bytes;
    char *text = malloc(capacity + 1);
    while (text && used < most) {
        used += fread(text + used, 1, capacity - used, stream);
        if (used < capacity)
            break;
        capacity *= 2;
        char *more = realloc(text, capacity + 1);
        if (!more)
            free(text);
        text = more;
    }
    char *kept = NULL;
    if (text && !ferror(stream) && used < most)
        kept = foliot__reading_allocate(reading, used + 1);
    if (kept) {
        memcpy(kept, text, used);
        reading->file_bytes += used;
        *length = foliot__text_plain(kept, used);
        kept[*length] = 0;
    }
    free(text);
    return kept;
}

char *foliot__file_text(foliot__reading *reading, int descriptor, size_t *length)
{
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (!stream) {
        int error = errno;
        if (descriptor >= 0)
            close(descriptor);
        errno = error;
        return NULL;
    }
    errno = 0;
    char *text = read_stream(reading, stream, length);
    int error = text ? 0 : errno ? errno : EFBIG;
    fclose(stream);
    errno = error;
    return text;
}
