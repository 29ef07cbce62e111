// SPDX-License-Identifier: MIT
// reading.c: writes the first fault of a reading, and allocates its memory.
#include "scene/document.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

// -- the arena: a list of chunks, the newest first. Large requests have a separate chunk.

#define ALIGNMENT 16u
#define CHUNK_BYTES (256u * 1024)

struct foliot__arena_chunk {
    struct foliot__arena_chunk *older;
    size_t capacity, used; // bytes behind this header
};
#define HEADER_BYTES ((sizeof(struct foliot__arena_chunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

// `bytes` aligned to 16, not cleared. NULL if there is no memory.
static void *arena_allocate(foliot__arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct foliot__arena_chunk *chunk = arena->newest;
    if (!chunk || chunk->capacity - chunk->used < bytes) {
        size_t capacity = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        struct foliot__arena_chunk *fresh = malloc(HEADER_BYTES + capacity);
        if (fresh)
            *fresh = (struct foliot__arena_chunk){NULL, capacity, 0};
        chunk = fresh;
        if (!chunk)
            return NULL;
        chunk->older = arena->newest;
        arena->newest = chunk;
    }
    char *taken = (char *)chunk + HEADER_BYTES + chunk->used;
    chunk->used += bytes;
    return taken;
}

void foliot__arena_free(foliot__arena *arena)
{
    for (struct foliot__arena_chunk *chunk = arena->newest, *older; chunk; chunk = older) {
        older = chunk->older;
        free(chunk);
    }
    arena->newest = NULL;
}

// -- faults

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
    foliot_error *error = reading->error;
    if (!error)
        return;
    *error = (foliot_error){.status = status, .line = place.line, .column = place.column};
    snprintf(error->file, sizeof error->file, "%s", reading->file);
    snprintf(error->path, sizeof error->path, "%s", path);
    char where[32] = "";
    if (place.line > 0)
        snprintf(where, sizeof where, ":%u:%u", (unsigned)place.line, (unsigned)place.column);
    snprintf(error->text, sizeof error->text, "%s%s: %s%s%s", error->file, where, path,
             *path ? ": " : "", sentence);
    foliot__text_mend(error->file);
    foliot__text_mend(error->path);
    foliot__text_mend(error->text);
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
    void *taken = arena_allocate(&reading->arena, bytes);
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

// -- words and numbers

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool hex_digit(char c)
{
    return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Digits with at most one point; the count of digits, and of those that are not 0.
static const char *scan_digits(const char *at, bool (*is)(char), unsigned *count, unsigned *nonzero)
{
    bool point = false;
    for (*count = *nonzero = 0; is(*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        ++*count;
        *nonzero += *at != '0';
    }
    return at;
}

static const char *scan_exponent(const char *at, char letter)
{
    if ((*at | 0x20) != letter)
        return at;
    const char *digits = at + 1;
    if (*digits == '+' || *digits == '-')
        digits++;
    if (!digit(*digits))
        return at;
    while (digit(*digits))
        digits++;
    return digits;
}

foliot__number_fault foliot__number_of(const foliot__reading *reading, const char *text,
                                       double *number)
{
    const char *at = text + (*text == '-' || *text == '+');
    static const char *const names[] = {".inf", ".nan", "inf", "nan", "infinity"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(at, names[i]) == 0)
            return FOLIOT__NUMBER_INFINITE;
    unsigned count, nonzero;
    bool hexadecimal = at[0] == '0' && (at[1] | 0x20) == 'x';
    if (hexadecimal)
        at = scan_exponent(scan_digits(at + 2, hex_digit, &count, &nonzero), 'p');
    else
        at = scan_exponent(scan_digits(at, digit, &count, &nonzero), 'e');
    if (*at || count == 0)
        return FOLIOT__NUMBER_NONE;
    double value = strtod_l(text, NULL, reading->numbers);
    if (value - value != 0)
        return FOLIOT__NUMBER_LARGE;
    if (value == 0 && nonzero)
        return FOLIOT__NUMBER_SMALL;
    *number = value;
    return FOLIOT__NUMBER_OK;
}

const char *foliot__number_fault_text(foliot__number_fault fault)
{
    switch (fault) {
    case FOLIOT__NUMBER_OK:
    case FOLIOT__NUMBER_NONE:
        return "must be a number";
    case FOLIOT__NUMBER_INFINITE:
        return "must be a finite number";
    case FOLIOT__NUMBER_LARGE:
        return "is too large for a double";
    case FOLIOT__NUMBER_SMALL:
        return "is too close to 0 for a double";
    }
    return "";
}

bool foliot__whole_of(const char *text, uint64_t *number)
{
    bool hexadecimal = text[0] == '0' && (text[1] | 0x20) == 'x';
    const char *at = text + (hexadecimal ? 2 : 0);
    if (!*at)
        return false;
    for (const char *c = at; *c; c++)
        if (hexadecimal ? !hex_digit(*c) : !digit(*c))
            return false;
    errno = 0;
    unsigned long long value = strtoull(at, NULL, hexadecimal ? 16 : 10);
    if (errno == ERANGE)
        return false;
    *number = value;
    return true;
}

const char *foliot__nearest(const char *written, const char *const *words, uint32_t count)
{
    const char *nearest = NULL;
    uint32_t distance_min = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t d = foliot__word_distance(written, words[i]);
        if (d < distance_min) {
            distance_min = d;
            nearest = words[i];
        }
    }
    return nearest && foliot__word_close(written, distance_min) ? nearest : NULL;
}
