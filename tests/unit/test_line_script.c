// SPDX-License-Identifier: MIT
// test_line_script.c tests base/line_script.c and small helpers that its users share: hexadecimal
// digits (base/text.h) and bisection (base/array.h). Method: hand-written texts with known places
// of mistakes; every byte there and back; every key of short arrays against a linear search.
#include "check.h"

#include <string.h>

#include "base/array.h"
#include "base/line_script.h"
#include "base/text.h"

typedef struct lines {
    foliot__line_script script;
    size_t lengths[8];
    unsigned count, refused; // lines read; the line to be refused, 0: none
} lines;

static bool note_line(void *user, const char *line, size_t length)
{
    lines *l = user;
    (void)line;
    l->lengths[l->count++] = length;
    if (l->count != l->refused)
        return true;
    return foliot__line_script_refuse_word(&l->script, 3, "a\x1b", "a number");
}

TEST(lines_are_read_up_to_a_mistake)
{
    char message[64] = "";
    static const char text[] = "one\n\nthree\nfour";
    lines l = {.script = {.name = "x.txt", .message = message, .message_bytes = sizeof message}};
    check_eq(foliot__line_script_parse(&l.script, text, sizeof text - 1, note_line, &l),
             FOLIOT_STATUS_OK);
    check_eq(l.count, 4);
    check_eq(l.lengths[0], 3);
    check_eq(l.lengths[1], 0);
    check_eq(l.lengths[3], 4);
    l = (lines){.script = {.name = "x.txt", .message = message, .message_bytes = sizeof message},
                .refused = 3};
    check_eq(foliot__line_script_parse(&l.script, text, sizeof text - 1, note_line, &l),
             FOLIOT_STATUS_INVALID);
    check_eq(l.count, 3);
    assert_string_equal(message, "x.txt:3:4: a number, not 'a'");
}

TEST(bytes_are_digits_and_back)
{
    uint8_t bytes[256], back[256] = {0};
    char text[513];
    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    check_eq(strlen(foliot__hex_print(text, bytes, 256)), 512);
    assert_memory_equal(text + 2 * 0x9f, "9fa0", 4);
    assert_true(foliot__hex_read(text, back, 256));
    assert_memory_equal(bytes, back, 256);
    assert_false(foliot__hex_read("0g", back, 1));
    assert_false(foliot__hex_read("0", back, 1)); // stops at its end
    assert_false(foliot__hex_read("A0", back, 1));
    check_eq(foliot__hex_value('F'), 15);
    check_eq(foliot__hex_value('g'), -1);
}

TEST(bisection_finds_the_first)
{
    struct item {
        uint64_t key;
        char rest;
    } items[6] = {{2, 0}, {2, 0}, {3, 0}, {5, 0}, {5, 0}, {UINT64_MAX, 0}};
    const uint64_t keys[] = {0, 1, 2, 3, 4, 5, 6, UINT64_MAX};
    for (uint32_t count = 0; count <= 6; count++)
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            uint32_t first = 0;
            while (first < count && items[first].key < keys[k])
                first++;
            check_eq(foliot__array_lower_bound(items, count, sizeof items[0], keys[k]), first);
        }
}
