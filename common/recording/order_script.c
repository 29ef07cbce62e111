// SPDX-License-Identifier: MIT
// order_script.c: reads lines of orders. It refuses everything that the format does not define, and
// reports the place.
#include "recording/order_script.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/text.h"
#include "recording/format.h"

#define FILE_BYTES_MAX ((size_t)1 << 28)
#define WORD_BYTES 24

typedef struct reader {
    const char *name;
    unsigned line;
    char *message;
    size_t message_bytes;
    uint32_t players;
    uint32_t tick_count; // orders of the last line's tick
    uint32_t sequences[FOLIOT_PLAYERS_MAX];
    foliot_status status;
    foliot__order_script script;
} reader;

// What is left of a line.
typedef struct rest {
    const char *start, *at, *end;
} rest;

__attribute__((format(printf, 3, 4))) static bool complain(reader *r, size_t column,
                                                           const char *format, ...)
{
    char what[200];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    snprintf(r->message, r->message_bytes, "%s:%u:%zu: %s", r->name, r->line, column + 1, what);
    r->status = FOLIOT_STATUS_INVALID;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(rest *r)
{
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
}

// The next word, "" if there is none; a longer one is cut. Returns its column, from 0.
static size_t read_word(rest *r, char word[WORD_BYTES])
{
    skip_blanks(r);
    const char *begin = r->at;
    while (r->at < r->end && !is_blank(*r->at))
        r->at++;
    size_t length = (size_t)(r->at - begin);
    length = length < WORD_BYTES ? length : WORD_BYTES - 1;
    memcpy(word, begin, length);
    word[length] = 0;
    return (size_t)(begin - r->start);
}

static bool bad_word(reader *r, size_t column, const char *word, const char *wanted)
{
    char clean[WORD_BYTES];
    if (!*word)
        return complain(r, column, "%s", wanted);
    return complain(r, column, "%s, not '%s'", wanted,
                    foliot__text_clean(clean, sizeof clean, word));
}

// -- one line

// Room for one more order.
static bool reserve(foliot__order_script *s)
{
    void *orders =
        foliot__array_with_room(s->orders, s->count, &s->capacity, 64, sizeof *s->orders);
    if (!orders)
        return false;
    s->orders = orders;
    if (s->bytes_capacity - s->length < FOLIOT_ORDER_BYTES_MAX) {
        size_t capacity = 2 * s->bytes_capacity + 4096;
        uint8_t *bytes = realloc(s->bytes, capacity);
        if (!bytes)
            return false;
        s->bytes = bytes;
        s->bytes_capacity = capacity;
    }
    return true;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool read_bytes(reader *r, const rest *text, size_t column, foliot__scripted_order *order)
{
    size_t digits = (size_t)(text->end - text->at);
    for (size_t i = 0; i < digits; i++)
        if (digit_of(text->at[i]) < 0)
            return complain(r, column + i, "bytes are hexadecimal digits");
    if (digits % 2 != 0)
        return complain(r, column + digits, "bytes are pairs of digits");
    if (digits / 2 > FOLIOT_ORDER_BYTES_MAX)
        return complain(r, column, "an order has at most %d bytes", FOLIOT_ORDER_BYTES_MAX);
    for (size_t i = 0; i < digits; i += 2)
        r->script.bytes[order->at + i / 2] =
            (uint8_t)(digit_of(text->at[i]) << 4 | digit_of(text->at[i + 1]));
    order->length = (uint8_t)(digits / 2);
    return true;
}

static bool read_text(reader *r, const rest *text, size_t column, foliot__scripted_order *order)
{
    size_t length = (size_t)(text->end - text->at);
    const char *zero = length ? memchr(text->at, 0, length) : NULL;
    if (zero)
        return complain(r, column + (size_t)(zero - text->at), "a text has no zero bytes");
    if (length > FOLIOT_ORDER_BYTES_MAX)
        return complain(r, column, "an order has at most %d bytes", FOLIOT_ORDER_BYTES_MAX);
    memcpy(r->script.bytes + order->at, text->at, length);
    order->length = (uint8_t)length;
    return true;
}

// What the order is, and its bytes.
static bool read_content(reader *r, rest *line, foliot__scripted_order *order)
{
    static const struct {
        const char *name;
        foliot_order_kind kind;
    } kinds[] = {{"game", FOLIOT_ORDER_GAME},
                 {"chat", FOLIOT_ORDER_CHAT},
                 {"joined", FOLIOT_ORDER_JOINED},
                 {"left", FOLIOT_ORDER_LEFT},
                 {"bytes", FOLIOT_ORDER_GAME}};
    const size_t count = sizeof kinds / sizeof kinds[0];
    char word[WORD_BYTES];
    size_t column = read_word(line, word), i = 0;
    while (i < count && strcmp(word, kinds[i].name) != 0)
        i++;
    if (i == count)
        return bad_word(r, column, word, "an order is game, bytes, chat, joined or left");
    order->kind = (uint8_t)kinds[i].kind;
    skip_blanks(line);
    while (line->end > line->at && is_blank(line->end[-1]))
        line->end--;
    column = (size_t)(line->at - line->start);
    return i + 1 == count ? read_bytes(r, line, column, order) : read_text(r, line, column, order);
}

static bool read_line(reader *r, const char *text, size_t length)
{
    foliot__order_script *s = &r->script;
    rest line = {text, text, text + length};
    char word[WORD_BYTES];
    uint64_t tick, player, before = s->count ? s->orders[s->count - 1].tick : 0;
    skip_blanks(&line);
    if (line.at == line.end || *line.at == '#')
        return true;
    if (!reserve(s)) {
        snprintf(r->message, r->message_bytes, "%s: not enough memory for the orders", r->name);
        r->status = FOLIOT_STATUS_MEMORY;
        return false;
    }
    size_t column = read_word(&line, word);
    if (!foliot__parse_count(word, &tick))
        return bad_word(r, column, word, "a line begins with its tick, a whole number");
    if (tick < before)
        return bad_word(r, column, word, "ticks must not fall");
    r->tick_count = tick == before ? r->tick_count + 1 : 1;
    if (r->tick_count > FOLIOT__RECORDING_BLOCK_ORDERS_MAX)
        return complain(r, column, "a tick has at most %d orders",
                        FOLIOT__RECORDING_BLOCK_ORDERS_MAX);
    column = read_word(&line, word);
    if (!foliot__parse_count(word, &player))
        return bad_word(r, column, word, "a player is a whole number");
    if (player >= r->players)
        return complain(r, column, "player %s does not exist: the scene's limit is %u", word,
                        (unsigned)r->players);
    foliot__scripted_order order = {.tick = tick, .at = s->length, .player = (uint32_t)player};
    order.sequence = ++r->sequences[player];
    if (!read_content(r, &line, &order))
        return false;
    s->length += order.length;
    s->orders[s->count++] = order;
    return true;
}

// -- the whole

// The order of a recording.
static int by_place(const void *a, const void *b)
{
    const foliot__scripted_order *x = a, *y = b;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    if (x->player != y->player)
        return x->player < y->player ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

foliot_status foliot__order_script_parse(const char *text, size_t length, const char *name,
                                         uint32_t players, foliot__order_script *script,
                                         char *message, size_t message_bytes)
{
    reader r = {.name = name,
                .message = message,
                .message_bytes = message_bytes,
                .players = players < FOLIOT_PLAYERS_MAX ? players : FOLIOT_PLAYERS_MAX};
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t line = end ? (size_t)(end - (text + at)) : length - at;
        r.line++;
        if (!read_line(&r, text + at, line)) {
            foliot__order_script_free(&r.script);
            return r.status;
        }
        at += line + 1;
    }
    if (r.script.count)
        qsort(r.script.orders, r.script.count, sizeof *r.script.orders, by_place);
    *script = r.script;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__order_script_read(const char *file, uint32_t players,
                                        foliot__order_script *script, char *message,
                                        size_t message_bytes)
{
    size_t length = 0;
    char *text = foliot__file_slurp_told(file, FILE_BYTES_MAX, &length, message, message_bytes);
    if (!text)
        return FOLIOT_STATUS_IO;
    foliot_status status =
        foliot__order_script_parse(text, length, file, players, script, message, message_bytes);
    free(text);
    return status;
}

foliot_status foliot__order_script_at(foliot__order_script *s, uint64_t tick,
                                      const foliot_order **orders, uint32_t *count)
{
    uint32_t low = 0, high = s->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->orders[middle].tick < tick)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t end = low;
    while (end < s->count && s->orders[end].tick == tick)
        end++;
    *count = end - low;
    if (*count > s->given_capacity) {
        foliot_order *given = realloc(s->given, *count * sizeof *given);
        if (!given)
            return FOLIOT_STATUS_MEMORY;
        s->given = given;
        s->given_capacity = *count;
    }
    for (uint32_t i = 0; i < *count; i++) {
        const foliot__scripted_order *from = &s->orders[low + i];
        s->given[i] = (foliot_order){from->player, from->sequence, from->kind, from->length, {0}};
        memcpy(s->given[i].bytes, s->bytes + from->at, from->length);
    }
    *orders = s->given;
    return FOLIOT_STATUS_OK;
}

void foliot__order_script_free(foliot__order_script *script)
{
    free(script->orders);
    free(script->bytes);
    free(script->given);
    *script = (foliot__order_script){0};
}
