// SPDX-License-Identifier: MIT
// json_reader.c: RFC 8259, one value after the other. Keeps two bits for each level of nesting;
// nesting costs no stack.
#include "base/json_reader.h"

#include <string.h>

#include "base/text.h"

foliot__json_reader foliot__json_reader_of(const char *text, size_t length)
{
    return (foliot__json_reader){.text = text, .length = length};
}

bool foliot__json_fail(foliot__json_reader *r, const char *problem)
{
    if (!r->problem)
        r->problem = problem;
    return false;
}

// The byte at the cursor; 0 at the end and after a problem.
static char here(const foliot__json_reader *r)
{
    return !r->problem && r->at < r->length ? r->text[r->at] : 0;
}

static void skip_blanks(foliot__json_reader *r)
{
    while (here(r) == ' ' || here(r) == '\t' || here(r) == '\n' || here(r) == '\r')
        r->at++;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

size_t foliot__json_place(foliot__json_reader *r)
{
    skip_blanks(r);
    return r->at;
}

char foliot__json_peek(foliot__json_reader *r)
{
    skip_blanks(r);
    char c = here(r);
    if (c == '-' || is_digit(c))
        return '0';
    if (c && strchr("{[\"tfn", c))
        return c;
    foliot__json_fail(r, "a value is missing");
    return 0;
}

bool foliot__json_enter(foliot__json_reader *r, char bracket)
{
    if (foliot__json_peek(r) != bracket)
        return foliot__json_fail(r,
                                 bracket == '{' ? "this is not an object" : "this is not an array");
    if (r->depth == FOLIOT__JSON_NESTING_MAX)
        return foliot__json_fail(r, "values are nested too deep");
    r->at++;
    uint32_t bit = UINT32_C(1) << ++r->depth;
    r->filled &= ~bit;
    r->is_array = bracket == '[' ? r->is_array | bit : r->is_array & ~bit;
    return true;
}

bool foliot__json_more(foliot__json_reader *r)
{
    uint32_t bit = UINT32_C(1) << r->depth;
    bool array = r->is_array & bit;
    skip_blanks(r);
    if (here(r) == (array ? ']' : '}')) {
        r->at++;
        r->depth--;
        return false;
    }
    if (r->filled & bit) {
        if (here(r) != ',')
            return foliot__json_fail(r,
                                     array ? "a ',' or ']' is missing" : "a ',' or '}' is missing");
        r->at++;
    }
    r->filled |= bit;
    return !r->problem;
}

static bool hex_digits(foliot__json_reader *r, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        int digit = foliot__hex_value(here(r));
        if (digit < 0)
            return foliot__json_fail(r, "\\u expects four hexadecimal digits");
        *value = *value << 4 | (uint32_t)digit;
    }
    return true;
}

// Reads the digits after \u, including a surrogate's partner.
static bool escaped_character(foliot__json_reader *r, uint32_t *character)
{
    uint32_t low;
    if (!hex_digits(r, character))
        return false;
    if (*character == 0)
        return foliot__json_fail(r, "a text holds no zero");
    if (*character < 0xd800 || *character > 0xdfff)
        return true;
    if (*character > 0xdbff || r->length - r->at < 2 || memcmp(r->text + r->at, "\\u", 2) != 0)
        return foliot__json_fail(r, "half of a surrogate pair is missing");
    r->at += 2;
    if (!hex_digits(r, &low))
        return false;
    if (low < 0xdc00 || low > 0xdfff)
        return foliot__json_fail(r, "half of a surrogate pair is missing");
    *character = 0x10000 + ((*character - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

static size_t utf8_encode(uint32_t c, char bytes[4])
{
    static const uint8_t leads[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(leads[length] | c);
    return length;
}

// One character of a text, escaped or not, as UTF-8. Returns its length, 0 with a problem.
static size_t text_character(foliot__json_reader *r, char bytes[4])
{
    static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    uint32_t c;
    if (here(r) != '\\') {
        char padded[5] = {0}; // the decoder may look at four bytes
        size_t left = r->length - r->at;
        memcpy(padded, r->text + r->at, left < 4 ? left : 4);
        size_t length = (uint8_t)padded[0] < 0x20 ? 0 : foliot__utf8_decode(padded, &c);
        if (length == 0)
            foliot__json_fail(r, (uint8_t)padded[0] < 0x20
                                     ? "a text has no control characters and ends with a '\"'"
                                     : "this is not UTF-8");
        memcpy(bytes, padded, length);
        r->at += length;
        return length;
    }
    r->at++;
    const char *escape = here(r) ? strchr(escapes, here(r)) : NULL;
    if (escape) {
        bytes[0] = meanings[escape - escapes];
        r->at++;
        return 1;
    }
    if (here(r) != 'u') {
        foliot__json_fail(r, "JSON has no such escape");
        return 0;
    }
    r->at++;
    return escaped_character(r, &c) ? utf8_encode(c, bytes) : 0;
}

bool foliot__json_text_value(foliot__json_reader *r, char *out, size_t capacity)
{
    size_t used = 0, length;
    skip_blanks(r);
    if (here(r) != '"')
        return foliot__json_fail(r, "this is not text in quotes");
    size_t begin = r->at++;
    while (r->at < r->length && here(r) != '"') {
        char bytes[4];
        length = text_character(r, bytes);
        if (length == 0)
            return false;
        if (out && used + length >= capacity) {
            r->at = begin;
            return foliot__json_fail(r, "the text is too long");
        }
        if (out)
            memcpy(out + used, bytes, length);
        used += length;
    }
    if (here(r) != '"')
        return foliot__json_fail(r, "the text has no end");
    r->at++;
    if (out)
        out[used] = 0;
    return true;
}

bool foliot__json_key(foliot__json_reader *r, char *out, size_t capacity)
{
    if (!foliot__json_text_value(r, out, capacity))
        return false;
    skip_blanks(r);
    if (here(r) != ':')
        return foliot__json_fail(r, "a ':' is missing");
    r->at++;
    return true;
}

// How many digits were there.
static size_t skip_digits(foliot__json_reader *r)
{
    size_t begin = r->at;
    while (is_digit(here(r)))
        r->at++;
    return r->at - begin;
}

bool foliot__json_number(foliot__json_reader *r, char out[FOLIOT__JSON_NUMBER_BYTES])
{
    if (foliot__json_peek(r) != '0')
        return foliot__json_fail(r, "this is not a number");
    size_t begin = r->at;
    r->at += here(r) == '-';
    bool leading_zero = here(r) == '0';
    size_t digits = skip_digits(r);
    bool good = digits > 0 && !(leading_zero && digits > 1);
    if (here(r) == '.') {
        r->at++;
        good = skip_digits(r) > 0 && good;
    }
    if (here(r) == 'e' || here(r) == 'E') {
        r->at++;
        r->at += here(r) == '+' || here(r) == '-';
        good = skip_digits(r) > 0 && good;
    }
    size_t length = r->at - begin;
    if (!good || length >= FOLIOT__JSON_NUMBER_BYTES) {
        r->at = begin;
        return foliot__json_fail(r, good ? "the number is too long" : "this is not a number");
    }
    memcpy(out, r->text + begin, length);
    out[length] = 0;
    return true;
}

bool foliot__json_word(foliot__json_reader *r, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(r);
    if (r->problem || r->length - r->at < length || memcmp(r->text + r->at, word, length) != 0)
        return foliot__json_fail(r, "this is not a value");
    r->at += length;
    return true;
}

void foliot__json_skip(foliot__json_reader *r)
{
    uint32_t outside = r->depth;
    do {
        // A value, or the bracket that opens one.
        char number[FOLIOT__JSON_NUMBER_BYTES], first = foliot__json_peek(r);
        if (first == '{' || first == '[')
            foliot__json_enter(r, first);
        else if (first == '"')
            foliot__json_text_value(r, NULL, 0);
        else if (first == '0')
            foliot__json_number(r, number);
        else if (first)
            foliot__json_word(r, first == 't' ? "true" : first == 'f' ? "false" : "null");
        while (r->depth > outside && !r->problem && !foliot__json_more(r)) {
        }
        if (r->depth > outside && !(r->is_array >> r->depth & 1))
            foliot__json_key(r, NULL, 0);
    } while (r->depth > outside && !r->problem);
}

bool foliot__json_end(foliot__json_reader *r)
{
    skip_blanks(r);
    if (!r->problem && r->at < r->length)
        return foliot__json_fail(r, "nothing more may follow");
    return !r->problem;
}
