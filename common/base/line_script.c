// SPDX-License-Identifier: MIT
// line_script.c: see line_script.h.
#include "base/line_script.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

foliot_status
foliot__line_script_parse(foliot__line_script *script, const char *text, size_t length,
                          bool (*read_line)(void *reader, const char *line, size_t length),
                          void *reader)
{
    script->status = FOLIOT_STATUS_OK;
    char *own = NULL;
    if (!text)
        text = own = foliot__file_slurp_message(script->name, script->bytes_max, &length,
                                                script->message, script->message_bytes);
    if (!text)
        return script->status = FOLIOT_STATUS_IO;
    for (size_t at = 0; at < length && script->status == FOLIOT_STATUS_OK;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t line = end ? (size_t)(end - (text + at)) : length - at;
        script->line++;
        if (!read_line(reader, text + at, line))
            break;
        at += line + 1;
    }
    free(own);
    return script->status;
}

bool foliot__line_script_refuse(foliot__line_script *script, size_t column, const char *format, ...)
{
    char sentence[200];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    snprintf(script->message, script->message_bytes, "%s:%u:%zu: %s", script->name, script->line,
             column + 1, sentence);
    script->status = FOLIOT_STATUS_INVALID;
    return false;
}

bool foliot__line_script_refuse_word(foliot__line_script *script, size_t column, const char *word,
                                     const char *wanted)
{
    char clean[FOLIOT__WORD_MAX];
    if (!*word)
        return foliot__line_script_refuse(script, column, "%s", wanted);
    return foliot__line_script_refuse(script, column, "%s, not '%s'", wanted,
                                      foliot__text_clean(clean, sizeof clean, word));
}

bool foliot__line_script_no_memory(foliot__line_script *script)
{
    snprintf(script->message, script->message_bytes, "%s: not enough memory", script->name);
    script->status = FOLIOT_STATUS_MEMORY;
    return false;
}
