// SPDX-License-Identifier: MIT
// order_script.c: reads lines of orders. It refuses everything that the format does not define, and
// reports the place.
#include "recording/session_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/line_script.h"
#include "base/text.h"
#include "recording/format.h"

#define FILE_BYTES_MAX ((size_t)1 << 28)
#define WORD_BYTES 24

typedef struct reader {
    foliot__line_script lines;
    uint32_t players;
    uint32_t tick_count; // orders of the last line's tick
    uint32_t sequences[FOLIOT_PLAYERS_MAX];
    foliot__order_script script;
} reader;

// The part of a line that was not read yet.
typedef struct rest {
    const char *start, *at, *end;
} rest;

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

// Bytes of the order: hexadecimal digits, or the text as it stands.
static bool read_content(reader *r, const rest *text, bool digits, foliot__scripted_order *order)
{
    size_t column = (size_t)(text->at - text->start), length = (size_t)(text->end - text->at);
    foliot__buffer *bytes = &r->script.bytes;
    for (size_t i = 0; i < length; i++)
        if (digits ? foliot__hex_value(text->at[i]) < 0 : text->at[i] == 0)
            return foliot__line_script_refuse(&r->lines, column + i,
                                              digits ? "bytes are hexadecimal digits"
                                                     : "a text has no zero bytes");
    if (digits && length % 2 != 0)
        return foliot__line_script_refuse(&r->lines, column + length, "bytes are pairs of digits");
    order->length = 0;
    if ((digits ? length / 2 : length) > FOLIOT_ORDER_BYTES_MAX)
        return foliot__line_script_refuse(&r->lines, column, "an order has at most %d bytes",
                                          FOLIOT_ORDER_BYTES_MAX);
    order->at = bytes->length;
    order->length = (uint8_t)(digits ? length / 2 : length);
    if (digits) {
        uint8_t values[FOLIOT_ORDER_BYTES_MAX];
        for (size_t i = 0; i < order->length; i++)
            values[i] = (uint8_t)(foliot__hex_value(text->at[2 * i]) << 4 |
                                  foliot__hex_value(text->at[2 * i + 1]));
        foliot__pack_raw(bytes, values, order->length);
    } else {
        foliot__pack_raw(bytes, text->at, order->length);
    }
    return !bytes->failed || foliot__line_script_no_memory(&r->lines);
}

static bool read_line(void *user, const char *text, size_t length)
{
    static const struct {
        const char *name;
        foliot_order_kind kind;
    } kinds[] = {{"game", FOLIOT_ORDER_GAME},
                 {"chat", FOLIOT_ORDER_CHAT},
                 {"joined", FOLIOT_ORDER_JOINED},
                 {"left", FOLIOT_ORDER_LEFT},
                 {"bytes", FOLIOT_ORDER_GAME}}; // the last one: its bytes are digits
    const size_t kind_count = sizeof kinds / sizeof kinds[0];
    reader *r = user;
    foliot__order_script *s = &r->script;
    rest line = {text, text, text + length};
    char word[WORD_BYTES];
    uint64_t tick, player, before = s->count ? s->orders[s->count - 1].tick : 0;
    skip_blanks(&line);
    if (line.at == line.end || *line.at == '#')
        return true;
    size_t column = read_word(&line, word), kind = 0;
    if (!foliot__parse_count(word, &tick))
        return foliot__line_script_refuse_word(&r->lines, column, word,
                                               "a line begins with its tick, a whole number");
    if (tick < before)
        return foliot__line_script_refuse_word(&r->lines, column, word, "ticks must not decrease");
    r->tick_count = tick == before ? r->tick_count + 1 : 1;
    if (r->tick_count > FOLIOT__RECORDING_BLOCK_ORDERS_MAX)
        return foliot__line_script_refuse(&r->lines, column, "a tick has at most %d orders",
                                          FOLIOT__RECORDING_BLOCK_ORDERS_MAX);
    column = read_word(&line, word);
    if (!foliot__parse_count(word, &player))
        return foliot__line_script_refuse_word(&r->lines, column, word,
                                               "a player is a whole number");
    if (player >= r->players)
        return foliot__line_script_refuse(&r->lines, column,
                                          "player %s does not exist: the scene's limit is %u", word,
                                          (unsigned)r->players);
    column = read_word(&line, word);
    while (kind < kind_count && strcmp(word, kinds[kind].name) != 0)
        kind++;
    if (kind == kind_count)
        return foliot__line_script_refuse_word(&r->lines, column, word,
                                               "an order is game, bytes, chat, joined or left");
    skip_blanks(&line);
    while (line.end > line.at && is_blank(line.end[-1]))
        line.end--;
    foliot__scripted_order order = {.tick = tick,
                                    .player = (uint32_t)player,
                                    .sequence = ++r->sequences[player],
                                    .kind = (uint8_t)kinds[kind].kind};
    if (!read_content(r, &line, kind + 1 == kind_count, &order))
        return false;
    if (!foliot__array_grow(&s->orders, s->count, &s->capacity, 64, sizeof *s->orders))
        return foliot__line_script_no_memory(&r->lines);
    s->orders[s->count++] = order;
    return true;
}

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
    reader r = {.lines = {.name = name,
                          .bytes_max = FILE_BYTES_MAX,
                          .message = message,
                          .message_bytes = message_bytes},
                .players = players < FOLIOT_PLAYERS_MAX ? players : FOLIOT_PLAYERS_MAX};
    foliot_status status = foliot__line_script_parse(&r.lines, text, length, read_line, &r);
    if (status != FOLIOT_STATUS_OK) {
        foliot__order_script_free(&r.script);
        return status;
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
    return foliot__order_script_parse(NULL, 0, file, players, script, message, message_bytes);
}

foliot_status foliot__order_script_at(foliot__order_script *s, uint64_t tick,
                                      const foliot_order **orders, uint32_t *count)
{
    uint32_t low = foliot__array_lower_bound(s->orders, s->count, sizeof *s->orders, tick);
    uint32_t end = low;
    while (end < s->count && s->orders[end].tick == tick)
        end++;
    *count = end - low;
    if (!foliot__array_reserve(&s->given, &s->given_capacity, *count, *count, sizeof *s->given))
        return FOLIOT_STATUS_MEMORY;
    for (uint32_t i = 0; i < *count; i++) {
        const foliot__scripted_order *from = &s->orders[low + i];
        s->given[i] = (foliot_order){from->player, from->sequence, from->kind, from->length, {0}};
        if (from->length) // without a byte in any order there is no buffer
            memcpy(s->given[i].bytes, s->bytes.bytes + from->at, from->length);
    }
    *orders = s->given;
    return FOLIOT_STATUS_OK;
}

void foliot__order_script_free(foliot__order_script *script)
{
    free(script->orders);
    foliot__buffer_free(&script->bytes);
    free(script->given);
    *script = (foliot__order_script){0};
}
