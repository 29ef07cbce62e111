// SPDX-License-Identifier: MIT
// text.h: strict numbers, hexadecimal digits, the distance between words, and names made safe for a
// terminal. Knows no options and no files.
#ifndef FOLIOT_BASE_TEXT_H
#define FOLIOT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The whole text is one finite number ("0.1", "1e-3", "0x1p-4"): no blanks, no leftovers, no nan,
// no infinity. False leaves *value alone. Programs never change LC_NUMERIC, so the point is a
// point.
bool foliot__parse_real(const char *text, double *value);
// The whole text is one decimal integer without sign, below 2^64.
bool foliot__parse_count(const char *text, uint64_t *value);

// The value of a hexadecimal digit of either case; -1: not a digit.
int foliot__hex_value(char c);
// Lower-case digits of `count` bytes, two for each, and a zero. Returns `text`.
char *foliot__hex_print(char *text, const uint8_t *bytes, size_t count);
// The inverse: exactly 2 * count digits of lower case, and any byte behind them. False: one is no
// such digit.
bool foliot__hex_read(const char *text, uint8_t *bytes, size_t count);

// The shortest of 15, 16 or 17 digits that reads back as the same number: "0.1", not
// "0.10000000000000001". For people; JSON takes 17 always. Returns `text`.
#define FOLIOT__REAL_TEXT_BYTES 32
const char *foliot__real_text(char text[FOLIOT__REAL_TEXT_BYTES], double value);

// How many insertions, deletions, changes and swaps of neighbours turn one word into the other.
// Case and the kind of gap ("_", " ", "-") make no difference. Only the first FOLIOT__WORD_MAX
// bytes count.
#define FOLIOT__WORD_MAX 64
uint32_t foliot__word_distance(const char *a, const char *b);
// True if `distance` makes the written word a likely misspelling of the other.
bool foliot__word_close(const char *written, uint32_t distance);

// Columns of a terminal that a character takes: 0 (it goes onto the one before), 1 or 2. As
// Unicode's East Asian Width has it, in blocks.
uint32_t foliot__character_columns(uint32_t character);

// Whether a character from a file or a peer may be shown. Excluded are those that control a
// terminal (C0, DEL, C1), change the direction of text, end a line or are invisible (joiners, tags,
// fillers, noncharacters). All code that accepts or shows such text decides by this function.
bool foliot__printable(uint32_t character);

// Copies `in` for a terminal, a log or a file name, without unprintable characters and bytes that
// are not UTF-8. Cut at whole characters to fit, and always terminated. Returns `out`.
char *foliot__text_clean(char *out, size_t capacity, const char *in);
// The same in place, with '?' for each character and byte that is not shown. Never longer.
char *foliot__text_mend(char *text);

// The rule for every text that is read from a file: UTF-8; a byte order mark at its start is no
// part of it; a line ends with LF, CR LF, or CR alone. In place: without the mark, and with LF.
// Returns the new length, which is never more; a byte behind the text stays as it is.
size_t foliot__text_plain(char *text, size_t length);
// How many bytes at the start of a text are its byte order mark: 3 or 0.
size_t foliot__text_mark(const char *text, size_t length);

// Whether a name could be mistaken for something other than a player's name: the number of a player
// ("3", "#3"), the session itself ("the game", "Server"), or, in a line of chat, another player's
// name and text ("Ann: yes. Bob", "Ann> yes <Bob"). All code that assigns or accepts names of
// players uses this function.
bool foliot__name_misleads(const char *name);

// Length in bytes of the well-formed UTF-8 character at `text` and its value; 0 if there is none.
size_t foliot__utf8_decode(const char *text, uint32_t *character);
// Whether the text ends within `bytes` and is well-formed UTF-8 up to there. *length is its length.
bool foliot__utf8_text(const char *text, size_t bytes, size_t *length);

#endif
