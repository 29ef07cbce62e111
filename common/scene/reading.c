// SPDX-License-Identifier: MIT
// reading.c: writes the first fault of a reading, and allocates its memory.
#include "scene/reading.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void append_text(char *text, size_t bytes, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, bytes - used, "%s", more);
}

void foliot__path_text(const foliot__path *path, char *text, size_t bytes)
{
    if (!path) {
        text[0] = 0;
        return;
    }
    foliot__path_text(path->up, text, bytes);
    if (path->key) {
        append_text(text, bytes, text[0] ? "." : "");
        append_text(text, bytes, path->key);
    } else {
        char index[16];
        snprintf(index, sizeof index, "[%u]", (unsigned)path->index);
        append_text(text, bytes, index);
    }
}

void foliot__fault_text(foliot__reading *reading, foliot_status status, foliot__text_place place,
                        const char *path, const char *sentence)
{
    if (reading->status != FOLIOT_STATUS_OK)
        return;
    reading->status = status;
    foliot_scene_error *error = reading->error;
    if (!error)
        return;
    snprintf(error->file, sizeof error->file, "%s", reading->file);
    error->line = place.line;
    error->column = place.column;
    char where[32] = "";
    if (place.line > 0)
        snprintf(where, sizeof where, ":%u:%u", (unsigned)place.line, (unsigned)place.column);
    snprintf(error->message, sizeof error->message, "%s%s: %s%s%s", error->file, where, path,
             *path ? ": " : "", sentence);
    foliot__text_mend(error->file);
    foliot__text_mend(error->message);
}

void foliot__fault(foliot__reading *reading, foliot_status status, foliot__text_place place,
                   const foliot__path *path, const char *format, ...)
{
    if (reading->status != FOLIOT_STATUS_OK)
        return;
    char path_text[256], sentence[800];
    foliot__path_text(path, path_text, sizeof path_text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    foliot__fault_text(reading, status, place, path_text, sentence);
}

void *foliot__reading_allocate(foliot__reading *reading, size_t bytes)
{
    void *taken = foliot__arena_take(&reading->arena, bytes);
    if (!taken)
        foliot__fault(reading, FOLIOT_STATUS_MEMORY, (foliot__text_place){1, 1}, NULL,
                      "no memory for a scene of this size");
    return taken;
}

const char *foliot__reading_copy_text(foliot__reading *reading, const char *text, size_t length)
{
    char *kept = foliot__reading_allocate(reading, length + 1);
    if (!kept)
        return "";
    memcpy(kept, text, length);
    kept[length] = 0;
    return kept;
}
