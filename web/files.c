// SPDX-License-Identifier: MIT
// files.c: the files that a scene names, as whoever has the module gave them: stands in place of
// common/base/file.c and common/scene/file_text.c. There is no file system. The name of a file that
// is missing is kept, so that it can be asked for.
#include "files.h"
#include "instances.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "scene/assembly.h"

#define FILES_MAX 64
#define FILE_BYTES_MAX ((size_t)1 << 28) // of all together, as on a machine
#define NAME_BYTES 512

typedef struct file {
    char name[NAME_BYTES];
    uint8_t *bytes;
    size_t length;
} file;

static file files[FILES_MAX];
static uint32_t count;
static char missing[NAME_BYTES];

WEB_EXPORT(forget_files) void web_forget_files(void)
{
    for (uint32_t i = 0; i < count; i++)
        free(files[i].bytes);
    count = 0;
}

// Room for a file of `length` bytes called `name`, a text with a closing zero, instead of an older
// one of that name. NULL: too many, a name too long, or no memory.
WEB_EXPORT(give_file) uint8_t *web_give_file(const char *name, uint32_t length)
{
    uint32_t i = 0;
    size_t total = length;
    for (uint32_t k = 0; k < count; k++)
        total += files[k].length;
    while (i < count && strcmp(files[i].name, name) != 0)
        i++;
    if (i == FILES_MAX || strlen(name) >= NAME_BYTES || total > FILE_BYTES_MAX)
        return NULL;
    uint8_t *bytes = malloc(length ? length : 1);
    if (!bytes)
        return NULL;
    if (i < count)
        free(files[i].bytes);
    strcpy(files[i].name, name);
    files[i].bytes = bytes;
    files[i].length = length;
    count += i == count;
    return bytes;
}

const char *web_missing_file(void)
{
    return missing;
}

void web_forget_missing_file(void)
{
    missing[0] = 0;
}

// -- what the scene reader calls; a descriptor is an index

const char *foliot__file_problem(int error)
{
    return strerror(error);
}

int foliot__file_open(const char *name)
{
    (void)name; // scenes are read from memory
    errno = ENOENT;
    return -1;
}

int foliot__file_open_below(const char *folder, const char *name)
{
    (void)folder;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(files[i].name, name) == 0)
            return (int)i;
    if (strlen(name) < NAME_BYTES)
        strcpy(missing, name);
    errno = ENOENT;
    return -1;
}

char *foliot__file_text(foliot__reading *reading, int descriptor, size_t *length)
{
    if (descriptor < 0 || (uint32_t)descriptor >= count)
        return NULL;
    const file *f = &files[descriptor];
    char *text = foliot__reading_allocate(reading, f->length + 1);
    if (!text)
        return NULL;
    memcpy(text, f->bytes, f->length);
    *length = foliot__text_plain(text, f->length);
    text[*length] = 0;
    return text;
}

// No environment either: libc would ask the host for one to find the locale.
char *getenv(const char *name)
{
    (void)name;
    return NULL;
}
