// SPDX-License-Identifier: MIT
// json_reader.h: reads JSON (RFC 8259) value by value from memory, in place and without allocation.
// Strict: no comments, no trailing commas, texts are UTF-8 without zeros. The first problem stays,
// with the place where it was found; then all calls return false.
//
//     foliot__json_enter(&r, '{');
//     while (foliot__json_more(&r))
//         if (foliot__json_key(&r, key, sizeof key)) ...read or skip one value
//     foliot__json_end(&r);
#ifndef FOLIOT_BASE_JSON_READER_H
#define FOLIOT_BASE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLIOT__JSON_NUMBER_BYTES 128 // of a number's text, with its closing zero
#define FOLIOT__JSON_NESTING_MAX 31

typedef struct foliot__json_reader {
    const char *text;
    size_t length, at;
    uint32_t depth;
    uint32_t is_array;   // bit d: the value open at depth d is an array
    uint32_t filled;     // bit d: it had a value already
    const char *problem; // NULL, or a sentence on what is wrong at `at`
} foliot__json_reader;

foliot__json_reader foliot__json_reader_of(const char *text, size_t length);
// The first problem stays. Returns false.
bool foliot__json_fail(foliot__json_reader *r, const char *problem);

// Where the next value or key begins.
size_t foliot__json_place(foliot__json_reader *r);
// The first character of the next value: { [ " t f n, 0 for any number; a zero byte where no value
// stands, which is then a problem.
char foliot__json_peek(foliot__json_reader *r);
bool foliot__json_enter(foliot__json_reader *r, char bracket); // { or [
// True if another value (or key) follows in what was entered last; false once that is closed.
bool foliot__json_more(foliot__json_reader *r);
// A key or text of fewer than `capacity` bytes, closed by a zero. `out` NULL: any length, not kept.
bool foliot__json_key(foliot__json_reader *r, char *out, size_t capacity);
bool foliot__json_text_value(foliot__json_reader *r, char *out, size_t capacity);
// The number as it is written.
bool foliot__json_number(foliot__json_reader *r, char out[FOLIOT__JSON_NUMBER_BYTES]);
// true, false or null.
bool foliot__json_word(foliot__json_reader *r, const char *word);
void foliot__json_skip(foliot__json_reader *r); // any value
// True if nothing but blanks follows.
bool foliot__json_end(foliot__json_reader *r);

#endif
