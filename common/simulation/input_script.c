// SPDX-License-Identifier: MIT
// input_script.c: reads lines of inputs. It refuses everything that the format does not define, and
// reports the place.
#include "simulation/input_script.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

#define WORDS_MAX 9
#define FILE_BYTES_MAX ((size_t)1 << 30)

typedef struct reader {
    const char *name;
    unsigned line;
    char *message;
    size_t message_bytes;
    uint32_t capacity;
    uint32_t sequences[FOLIOT_PLAYERS_MAX];
    foliot__input_script script;
} reader;

typedef struct word {
    char text[24];
    unsigned column; // from 1
} word;

__attribute__((format(printf, 3, 4))) static bool complain(reader *r, unsigned column,
                                                           const char *format, ...)
{
    int used = snprintf(r->message, r->message_bytes, "%s:%u:%u: ", r->name, r->line, column);
    if (used < 0 || (size_t)used >= r->message_bytes)
        return false;
    va_list list;
    va_start(list, format);
    vsnprintf(r->message + used, r->message_bytes - (size_t)used, format, list);
    va_end(list);
    return false;
}

// Words of a line up to its comment. False with a message if one is too long or there are too many.
static bool split_words(reader *r, const char *line, size_t length, word *words, uint32_t *count)
{
    *count = 0;
    for (size_t at = 0; at < length && line[at] != '#';) {
        if (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
            at++;
            continue;
        }
        size_t begin = at;
        while (at < length && !strchr(" \t\r#", line[at]))
            at++;
        if (line[begin] == 0 || at - begin >= sizeof words[0].text)
            return complain(r, (unsigned)begin + 1, "this is no word of an input line");
        if (*count == WORDS_MAX)
            return complain(r, (unsigned)begin + 1,
                            "a line has at most: tick player control x y z turn buttons");
        word *w = &words[(*count)++];
        memcpy(w->text, line + begin, at - begin);
        w->text[at - begin] = 0;
        w->column = (unsigned)begin + 1;
    }
    return true;
}

// Quotes the word in the message, without control characters.
static bool bad_word(reader *r, const word *w, const char *wanted)
{
    char clean[sizeof w->text];
    return complain(r, w->column, "%s, not '%s'", wanted,
                    foliot__text_clean(clean, sizeof clean, w->text));
}

static bool axis_of(reader *r, const word *w, int8_t *axis)
{
    bool negative = w->text[0] == '-';
    uint64_t value;
    if (!foliot__parse_count(w->text + negative, &value) || value > 127)
        return bad_word(r, w, "an axis is a whole number from -127 to 127");
    *axis = (int8_t)(negative ? -(int)value : (int)value);
    return true;
}

static bool buttons_of(reader *r, const word *w, uint16_t *buttons)
{
    uint64_t value = 0;
    bool hexadecimal = strncmp(w->text, "0x", 2) == 0, good;
    if (hexadecimal) {
        size_t digits = strspn(w->text + 2, "0123456789abcdefABCDEF");
        good = digits > 0 && digits <= 4 && w->text[2 + digits] == 0;
        value = good ? strtoul(w->text + 2, NULL, 16) : 0;
    } else {
        good = foliot__parse_count(w->text, &value);
    }
    if (!good || value > UINT16_MAX)
        return bad_word(r, w, "buttons are a number from 0 to 65535 or 0x0 to 0xffff");
    *buttons = (uint16_t)value;
    return true;
}

static bool kind_of(reader *r, const word *words, uint32_t count, foliot_input *input)
{
    const word *w = &words[2];
    unsigned end = words[count - 1].column + (unsigned)strlen(words[count - 1].text);
    bool join = strcmp(w->text, "join") == 0, leave = strcmp(w->text, "leave") == 0;
    if (join || leave) {
        input->kind = join ? FOLIOT_INPUT_JOIN : FOLIOT_INPUT_LEAVE;
        return count == 3 || bad_word(r, &words[3], "nothing follows join or leave");
    }
    if (strcmp(w->text, "control") != 0)
        return bad_word(r, w, "an input is join, leave or control");
    input->kind = FOLIOT_INPUT_CONTROL;
    if (count < 3 + FOLIOT_AXIS_COUNT)
        return complain(r, end, "control wants four axes: x y z turn");
    for (uint32_t i = 0; i < FOLIOT_AXIS_COUNT; i++)
        if (!axis_of(r, &words[3 + i], &input->axes[i]))
            return false;
    if (count > 4 + FOLIOT_AXIS_COUNT)
        return bad_word(r, &words[4 + FOLIOT_AXIS_COUNT], "nothing follows the buttons");
    return count < 4 + FOLIOT_AXIS_COUNT ||
           buttons_of(r, &words[3 + FOLIOT_AXIS_COUNT], &input->buttons);
}

static bool append_input(reader *r, uint64_t tick, foliot_input input)
{
    foliot__input_script *s = &r->script;
    if (s->count == r->capacity) {
        uint32_t capacity = r->capacity ? 2 * r->capacity : 64;
        uint64_t *ticks = realloc(s->ticks, capacity * sizeof *ticks);
        s->ticks = ticks ? ticks : s->ticks;
        foliot_input *inputs = realloc(s->inputs, capacity * sizeof *inputs);
        s->inputs = inputs ? inputs : s->inputs;
        if (!ticks || !inputs)
            return complain(r, 1, "no memory for so many inputs");
        r->capacity = capacity;
    }
    s->inputs[s->count] = input;
    s->ticks[s->count++] = tick;
    return true;
}

// Sorts within a tick by player, then by sequence, which keeps the written order of one player.
static int by_player(const void *a, const void *b)
{
    const foliot_input *x = a, *y = b;
    if (x->player != y->player)
        return x->player < y->player ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static bool read_line(reader *r, const char *line, size_t length)
{
    word words[WORDS_MAX];
    uint32_t count;
    uint64_t tick, player;
    if (!split_words(r, line, length, words, &count))
        return false;
    if (count == 0)
        return true;
    if (!foliot__parse_count(words[0].text, &tick))
        return bad_word(r, &words[0], "a line begins with its tick, a whole number");
    if (r->script.count && tick < r->script.ticks[r->script.count - 1])
        return bad_word(r, &words[0], "ticks must not fall");
    if (count < 3)
        return complain(r, words[count - 1].column + (unsigned)strlen(words[count - 1].text),
                        "a line wants: tick player join|leave|control");
    if (!foliot__parse_count(words[1].text, &player) || player >= FOLIOT_PLAYERS_MAX)
        return bad_word(r, &words[1], "a player is a number from 0 to 1023");
    foliot_input input = {.player = (uint32_t)player, .sequence = ++r->sequences[player]};
    return kind_of(r, words, count, &input) && append_input(r, tick, input);
}

foliot_status foliot__input_script_parse(const char *text, size_t length, const char *name,
                                         foliot__input_script *script, char *message,
                                         size_t message_bytes)
{
    reader r = {.name = name, .message = message, .message_bytes = message_bytes};
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t line = end ? (size_t)(end - (text + at)) : length - at;
        r.line++;
        if (!read_line(&r, text + at, line)) {
            foliot__input_script_free(&r.script);
            return FOLIOT_STATUS_INVALID;
        }
        at += line + 1;
    }
    for (uint32_t from = 0, end; from < r.script.count; from = end) {
        for (end = from + 1; end < r.script.count && r.script.ticks[end] == r.script.ticks[from];
             end++) {
        }
        qsort(r.script.inputs + from, end - from, sizeof *r.script.inputs, by_player);
    }
    *script = r.script;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__input_script_read(const char *file, foliot__input_script *script,
                                        char *message, size_t message_bytes)
{
    size_t length = 0;
    char *text = foliot__file_slurp_told(file, FILE_BYTES_MAX, &length, message, message_bytes);
    if (!text)
        return FOLIOT_STATUS_IO;
    foliot_status status =
        foliot__input_script_parse(text, length, file, script, message, message_bytes);
    free(text);
    return status;
}

uint32_t foliot__input_script_at(const foliot__input_script *script, uint64_t tick,
                                 const foliot_input **inputs)
{
    uint32_t low = 0, high = script->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (script->ticks[middle] < tick)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t end = low;
    while (end < script->count && script->ticks[end] == tick)
        end++;
    *inputs = script->inputs + low;
    return end - low;
}

void foliot__input_script_free(foliot__input_script *script)
{
    free(script->ticks);
    free(script->inputs);
    *script = (foliot__input_script){0};
}
