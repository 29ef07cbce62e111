// SPDX-License-Identifier: MIT
// text.c: strict numbers, word distance, clean names.
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool foliot__parse_real(const char *text, double *value)
{
    if (!text[0] || (text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r')))
        return false;
    char *end;
    double parsed = strtod(text, &end);
    // inf - inf and nan - nan are not zeros: one test for both.
    if (*end || end == text || parsed - parsed != 0)
        return false;
    *value = parsed;
    return true;
}

bool foliot__parse_count(const char *text, uint64_t *value)
{
    uint64_t sum = 0;
    if (!text[0])
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        uint64_t digit = (uint64_t)(*text - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return true;
}

int foliot__hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

char *foliot__hex_print(char *text, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * count] = 0;
    return text;
}

bool foliot__hex_read(const char *text, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < 2 * count; i++) {
        int value = text[i] >= 'A' && text[i] <= 'F' ? -1 : foliot__hex_value(text[i]);
        if (value < 0)
            return false;
        bytes[i / 2] = (uint8_t)(i % 2 ? bytes[i / 2] | value : value << 4);
    }
    return true;
}

const char *foliot__real_text(char text[FOLIOT__REAL_TEXT_BYTES], double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, FOLIOT__REAL_TEXT_BYTES, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

static uint32_t smaller_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static char fold_case(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '_' || c == ' ' ? '-' : c;
}

// Optimal string alignment (Damerau 1964 with each pair swapped once), three rows of the table.
uint32_t foliot__word_distance(const char *a, const char *b)
{
    size_t m = strnlen(a, FOLIOT__WORD_MAX), n = strnlen(b, FOLIOT__WORD_MAX);
    uint32_t rows[3][FOLIOT__WORD_MAX + 1];
    for (uint32_t j = 0; j <= n; j++)
        rows[0][j] = j;
    for (uint32_t i = 1; i <= m; i++) {
        uint32_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (uint32_t j = 1; j <= n; j++) {
            char here = fold_case(a[i - 1]), there = fold_case(b[j - 1]);
            uint32_t best = last[j - 1] + (here != there);
            best = smaller_of(best, smaller_of(now[j - 1], last[j]) + 1);
            if (i > 1 && j > 1 && here == fold_case(b[j - 2]) && fold_case(a[i - 2]) == there)
                best = smaller_of(best, before[j - 2] + 1);
            now[j] = best;
        }
    }
    return rows[m % 3][n];
}

bool foliot__word_close(const char *written, uint32_t distance)
{
    size_t length = strnlen(written, FOLIOT__WORD_MAX);
    return distance <= 2 ? distance < length : distance <= length / 3;
}

size_t foliot__utf8_decode(const char *text, uint32_t *character)
{
    const unsigned char *s = (const unsigned char *)text;
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = s[0] < 0x80   ? 1
                    : s[0] < 0xc2 ? 0
                    : s[0] < 0xe0 ? 2
                    : s[0] < 0xf0 ? 3
                    : s[0] < 0xf5 ? 4
                                  : 0;
    if (length < 2) {
        *character = s[0];
        return s[0] ? length : 0;
    }
    uint32_t value = s[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (s[i] & 0x3fu);
    }
    if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *character = value;
    return length;
}

bool foliot__utf8_text(const char *text, size_t bytes, size_t *length)
{
    *length = strnlen(text, bytes);
    if (*length == bytes)
        return false;
    for (size_t at = 0, taken; at < *length; at += taken) {
        uint32_t character;
        taken = foliot__utf8_decode(text + at, &character);
        if (taken == 0)
            return false;
    }
    return true;
}

uint32_t foliot__character_columns(uint32_t character)
{
    static const struct {
        uint32_t first, last, columns;
    } blocks[] = {
        {0x300, 0x36f, 0},     {0x483, 0x489, 0},     {0x591, 0x5bd, 0},     {0x610, 0x61a, 0},
        {0x64b, 0x65f, 0},     {0x1100, 0x115f, 2},   {0x1160, 0x11ff, 0},   {0x1ab0, 0x1aff, 0},
        {0x1dc0, 0x1dff, 0},   {0x200b, 0x200f, 0},   {0x20d0, 0x20ff, 0},   {0x231a, 0x231b, 2},
        {0x23e9, 0x23f3, 2},   {0x25fd, 0x25fe, 2},   {0x2614, 0x2615, 2},   {0x2e80, 0x3029, 2},
        {0x302a, 0x302d, 0},   {0x302e, 0x303e, 2},   {0x3041, 0x3098, 2},   {0x3099, 0x309a, 0},
        {0x309b, 0xa4cf, 2},   {0xa960, 0xa97f, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},
        {0xfe00, 0xfe0f, 0},   {0xfe10, 0xfe19, 2},   {0xfe20, 0xfe2f, 0},   {0xfe30, 0xfe6f, 2},
        {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f3fa, 2}, {0x1f3fb, 0x1f3ff, 0},
        {0x1f400, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2},
        {0xe0000, 0xe01ef, 0}};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0] && blocks[i].first <= character; i++)
        if (character <= blocks[i].last)
            return blocks[i].columns;
    return 1;
}

// Unicode 15.1: categories Cc, Cf, Zl, Zp and Cs, and what else is never drawn
// (Default_Ignorable_Code_Point). The variation selectors FE00 to FE0F stay: people write them with
// half of all emoji.
bool foliot__printable(uint32_t character)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {{0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
                  {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},
                  {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},   {0x17b4, 0x17b5},
                  {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
                  {0x3164, 0x3164},   {0xd800, 0xdfff},   {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},
                  {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
                  {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
    if (character > 0x10ffff ||
        (character & 0xfffe) == 0xfffe) // the last two of each plane are not characters
        return false;
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0] && hidden[i].first <= character; i++)
        if (character <= hidden[i].last)
            return false;
    return true;
}

char *foliot__text_clean(char *out, size_t capacity, const char *in)
{
    size_t at = 0;
    while (*in) {
        uint32_t c;
        size_t length = foliot__utf8_decode(in, &c);
        if (length && foliot__printable(c)) {
            if (at + length >= capacity)
                break;
            memcpy(out + at, in, length);
            at += length;
        }
        in += length ? length : 1;
    }
    if (capacity)
        out[at] = 0;
    return out;
}

bool foliot__name_misleads(const char *name)
{
    static const char *const roles[] = {"admin",    "administrator", "everybody", "game",
                                        "host",     "moderator",     "nobody",    "server",
                                        "somebody", "system"};
    if (name[0] == '#' || (name[0] && name[strspn(name, "0123456789")] == 0))
        return true;
    if (strstr(name, ": ") || strstr(name, "> ")) // a line of chat would be another's up to there
        return true;
    if (strncasecmp(name, "the ", 4) == 0)
        name += 4;
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (strcasecmp(name, roles[i]) == 0)
            return true;
    return false;
}

char *foliot__text_mend(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        uint32_t c;
        size_t length = foliot__utf8_decode(at, &c);
        if (length && foliot__printable(c)) {
            memmove(to, at, length);
            to += length;
        } else {
            *to++ = '?';
        }
        at += length ? length : 1;
    }
    *to = 0;
    return text;
}

size_t foliot__text_mark(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

size_t foliot__text_plain(char *text, size_t length)
{
    size_t to = 0;
    for (size_t at = foliot__text_mark(text, length); at < length; at++) {
        if (text[at] == '\r' && at + 1 < length && text[at + 1] == '\n')
            continue;
        text[to++] = text[at] == '\r' ? '\n' : text[at];
    }
    return to;
}
