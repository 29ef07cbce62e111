// SPDX-License-Identifier: MIT
// words.c: numbers from text, and suggestions for misspelt words.
#include "scene/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool hex_digit(char c)
{
    return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Digits with at most one point; the count of digits, and of those that are not 0.
static const char *scan_digits(const char *at, bool (*is)(char), unsigned *count, unsigned *nonzero)
{
    bool point = false;
    for (*count = *nonzero = 0; is(*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        ++*count;
        *nonzero += *at != '0';
    }
    return at;
}

static const char *scan_exponent(const char *at, char letter)
{
    if ((*at | 0x20) != letter)
        return at;
    const char *digits = at + 1;
    if (*digits == '+' || *digits == '-')
        digits++;
    if (!digit(*digits))
        return at;
    while (digit(*digits))
        digits++;
    return digits;
}

static bool named_infinity(const char *at)
{
    static const char *const names[] = {".inf", ".nan", "inf", "nan", "infinity"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(at, names[i]) == 0)
            return true;
    return false;
}

foliot__number_fault foliot__number_of(const foliot__reading *reading, const char *text,
                                       double *number)
{
    const char *at = text + (*text == '-' || *text == '+');
    if (named_infinity(at))
        return FOLIOT__NUMBER_INFINITE;
    unsigned count, nonzero;
    bool hexadecimal = at[0] == '0' && (at[1] | 0x20) == 'x';
    if (hexadecimal)
        at = scan_exponent(scan_digits(at + 2, hex_digit, &count, &nonzero), 'p');
    else
        at = scan_exponent(scan_digits(at, digit, &count, &nonzero), 'e');
    if (*at || count == 0)
        return FOLIOT__NUMBER_NONE;
    double value = strtod_l(text, NULL, reading->numbers);
    if (value - value != 0)
        return FOLIOT__NUMBER_LARGE;
    if (value == 0 && nonzero)
        return FOLIOT__NUMBER_SMALL;
    *number = value;
    return FOLIOT__NUMBER_OK;
}

const char *foliot__number_fault_text(foliot__number_fault fault)
{
    switch (fault) {
    case FOLIOT__NUMBER_OK:
    case FOLIOT__NUMBER_NONE:
        return "must be a number";
    case FOLIOT__NUMBER_INFINITE:
        return "must be a finite number";
    case FOLIOT__NUMBER_LARGE:
        return "is too large for a double";
    case FOLIOT__NUMBER_SMALL:
        return "is too near to 0 for a double";
    }
    return "";
}

bool foliot__whole_of(const char *text, uint64_t *number)
{
    bool hexadecimal = text[0] == '0' && (text[1] | 0x20) == 'x';
    const char *at = text + (hexadecimal ? 2 : 0);
    if (!*at)
        return false;
    for (const char *c = at; *c; c++)
        if (hexadecimal ? !hex_digit(*c) : !digit(*c))
            return false;
    errno = 0;
    unsigned long long value = strtoull(at, NULL, hexadecimal ? 16 : 10);
    if (errno == ERANGE)
        return false;
    *number = value;
    return true;
}

const char *foliot__nearest(const char *written, const char *const *words, uint32_t count)
{
    const char *nearest = NULL;
    uint32_t distance_min = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t d = foliot__word_distance(written, words[i]);
        if (d < distance_min) {
            distance_min = d;
            nearest = words[i];
        }
    }
    return nearest && foliot__word_close(written, distance_min) ? nearest : NULL;
}
