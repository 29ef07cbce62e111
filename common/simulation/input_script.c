// SPDX-License-Identifier: MIT
// input_script.c: reads lines of inputs. It refuses everything that the format does not define, and
// reports the place.
#include "simulation/input_script.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/line_script.h"
#include "base/text.h"

#define WORDS_MAX 9
#define FILE_BYTES_MAX ((size_t)1 << 30)

typedef struct reader {
    foliot__line_script lines;
    uint32_t capacity;
    uint32_t sequences[FOLIOT_PLAYERS_MAX];
    foliot__input_script script;
} reader;

typedef struct word {
    char text[24];
    size_t column; // from 0
} word;

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
            return foliot__line_script_refuse(&r->lines, begin,
                                              "this word is not known in an input line");
        if (*count == WORDS_MAX)
            return foliot__line_script_refuse(
                &r->lines, begin, "a line has at most: tick player control x y z turn buttons");
        word *w = &words[(*count)++];
        memcpy(w->text, line + begin, at - begin);
        w->text[at - begin] = 0;
        w->column = begin;
    }
    return true;
}

static bool bad_word(reader *r, const word *w, const char *wanted)
{
    return foliot__line_script_refuse_word(&r->lines, w->column, w->text, wanted);
}

// "control x y z turn [buttons]", "join" or "leave", from the third word on.
static bool read_control(reader *r, const word *words, uint32_t count, foliot_input *input)
{
    const word *w = &words[2], *last = &words[count - 1];
    bool join = strcmp(w->text, "join") == 0, leave = strcmp(w->text, "leave") == 0;
    if (join || leave) {
        input->kind = join ? FOLIOT_INPUT_JOIN : FOLIOT_INPUT_LEAVE;
        return count == 3 || bad_word(r, &words[3], "nothing follows join or leave");
    }
    if (strcmp(w->text, "control") != 0)
        return bad_word(r, w, "an input is join, leave or control");
    input->kind = FOLIOT_INPUT_CONTROL;
    if (count < 3 + FOLIOT_AXIS_COUNT)
        return foliot__line_script_refuse(&r->lines, last->column + strlen(last->text),
                                          "control expects four axes: x y z turn");
    for (uint32_t i = 0; i < FOLIOT_AXIS_COUNT; i++) {
        w = &words[3 + i];
        bool negative = w->text[0] == '-';
        uint64_t value;
        if (!foliot__parse_count(w->text + negative, &value) || value > 127)
            return bad_word(r, w, "an axis is a whole number from -127 to 127");
        input->axes[i] = (int8_t)(negative ? -(int)value : (int)value);
    }
    if (count > 4 + FOLIOT_AXIS_COUNT)
        return bad_word(r, &words[4 + FOLIOT_AXIS_COUNT], "nothing follows the buttons");
    if (count < 4 + FOLIOT_AXIS_COUNT)
        return true;
    w = last;
    uint64_t buttons = 0;
    bool hexadecimal = strncmp(w->text, "0x", 2) == 0, good;
    if (hexadecimal) {
        size_t digits = strspn(w->text + 2, "0123456789abcdefABCDEF");
        good = digits > 0 && digits <= 4 && w->text[2 + digits] == 0;
        buttons = good ? strtoul(w->text + 2, NULL, 16) : 0;
    } else {
        good = foliot__parse_count(w->text, &buttons);
    }
    if (!good || buttons > UINT16_MAX)
        return bad_word(r, w, "buttons are a number from 0 to 65535 or 0x0 to 0xffff");
    input->buttons = (uint16_t)buttons;
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

static bool read_line(void *user, const char *line, size_t length)
{
    reader *r = user;
    foliot__input_script *s = &r->script;
    word words[WORDS_MAX];
    uint32_t count, capacity = r->capacity;
    uint64_t tick, player;
    if (!split_words(r, line, length, words, &count))
        return false;
    if (count == 0)
        return true;
    if (!foliot__parse_count(words[0].text, &tick))
        return bad_word(r, &words[0], "a line begins with its tick, a whole number");
    if (s->count && tick < s->ticks[s->count - 1])
        return bad_word(r, &words[0], "ticks must not decrease");
    if (count < 3)
        return foliot__line_script_refuse(&r->lines,
                                          words[count - 1].column + strlen(words[count - 1].text),
                                          "a line has: tick player join|leave|control");
    if (!foliot__parse_count(words[1].text, &player) || player >= FOLIOT_PLAYERS_MAX)
        return bad_word(r, &words[1], "a player is a number from 0 to 1023");
    foliot_input input = {.player = (uint32_t)player, .sequence = ++r->sequences[player]};
    if (!read_control(r, words, count, &input))
        return false;
    if (!foliot__array_grow(&s->ticks, s->count, &capacity, 64, sizeof *s->ticks) ||
        !foliot__array_grow(&s->inputs, s->count, &r->capacity, 64, sizeof *s->inputs))
        return foliot__line_script_no_memory(&r->lines);
    s->inputs[s->count] = input;
    s->ticks[s->count++] = tick;
    return true;
}

foliot_status foliot__input_script_parse(const char *text, size_t length, const char *name,
                                         foliot__input_script *script, char *message,
                                         size_t message_bytes)
{
    reader r = {.lines = {.name = name,
                          .bytes_max = FILE_BYTES_MAX,
                          .message = message,
                          .message_bytes = message_bytes}};
    foliot_status status = foliot__line_script_parse(&r.lines, text, length, read_line, &r);
    if (status != FOLIOT_STATUS_OK) {
        foliot__input_script_free(&r.script);
        return status;
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
    return foliot__input_script_parse(NULL, 0, file, script, message, message_bytes);
}

uint32_t foliot__input_script_at(const foliot__input_script *script, uint64_t tick,
                                 const foliot_input **inputs)
{
    uint32_t low =
        foliot__array_lower_bound(script->ticks, script->count, sizeof *script->ticks, tick);
    uint32_t end = low;
    while (end < script->count && script->ticks[end] == tick)
        end++;
    *inputs = end > low ? script->inputs + low : NULL;
    return end - low;
}

void foliot__input_script_free(foliot__input_script *script)
{
    free(script->ticks);
    free(script->inputs);
    *script = (foliot__input_script){0};
}
