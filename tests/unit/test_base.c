// SPDX-License-Identifier: MIT
// test_base.c: small parts of common/base and common/recording: a ring of bytes, token buckets,
// texts for terminals, scripts of lines.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bucket.h"
#include "base/json.h"
#include "base/line_script.h"
#include "base/rng.h"
#include "base/text.h"
#include "foliot/scene.h"
#include "recording/session_log.h"
#include "recording/recording.h"
#include "wire/message.h"

// -- ring: tests the ring of common/recording/drain.c: bytes come out as they went in, whatever
// wraps round; an empty ring restarts, so that a writer that keeps up never touches more of a large
// ring than one of its blocks.

TEST(bytes_come_out_in_order)
{
    foliot__ring ring;
    foliot__rng rng = foliot__rng_seeded(5);
    uint8_t put = 0, taken = 0, bytes[64];
    assert_true(foliot__ring_init(&ring, 61));
    for (int round = 0; round < 20000; round++) {
        size_t first = foliot__rng_below(&rng, 9), second = foliot__rng_below(&rng, 9),
               room = 61 - foliot__ring_used(&ring);
        for (size_t i = 0; i < first + second; i++)
            bytes[i] = (uint8_t)(put + i);
        bool fits = foliot__ring_put(&ring, bytes, first, bytes + first, second);
        assert_int_equal(fits, first + second <= room);
        put = (uint8_t)(put + (fits ? first + second : 0));
        size_t count = foliot__rng_below(&rng, (uint32_t)foliot__ring_used(&ring) + 1), length;
        if (count == 0)
            continue;
        foliot__ring_peek(&ring, bytes, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(bytes[i], (uint8_t)(taken + i));
        for (size_t at = 0; at < count; at += length) {
            const uint8_t *piece = foliot__ring_piece(&ring, at, count - at, &length);
            assert_memory_equal(piece, bytes + at, length);
        }
        foliot__ring_drop(&ring, count);
        taken = (uint8_t)(taken + count);
    }
    foliot__ring_free(&ring);
}

TEST(an_empty_ring_begins_anew)
{
    foliot__ring ring;
    uint8_t block[700] = {1};
    size_t length;
    assert_true(foliot__ring_init(&ring, 1 << 20));
    for (int round = 0; round < 1000; round++) {
        assert_true(foliot__ring_put(&ring, block, 16, block, sizeof block));
        assert_ptr_equal(foliot__ring_piece(&ring, 0, 716, &length), ring.bytes);
        assert_int_equal(length, 716);
        foliot__ring_drop(&ring, 716);
    }
    foliot__ring_free(&ring);
}

// -- bucket: a token bucket lets a burst through at once, then exactly its rate, at every time
// that a clock may show.

#define BURST 4
#define EVERY_NS 1e9

static uint32_t spent_at(foliot__bucket *b, uint64_t now_ns)
{
    uint32_t count = 0;
    while (count < 100 && foliot__bucket_spend(b, BURST, EVERY_NS, now_ns))
        count++;
    return count;
}

static void a_burst_and_then_the_rate(void **state)
{
    (void)state;
    foliot__bucket b = {0};
    assert_int_equal(spent_at(&b, 5000000000), BURST);
    assert_int_equal(spent_at(&b, 5999999999), 0);
    assert_int_equal(spent_at(&b, 6000000000), 1);
    assert_int_equal(spent_at(&b, 8500000000), 2);
    assert_int_equal(spent_at(&b, 9000000000), 1); // half a token was left
    assert_int_equal(spent_at(&b, 1000000000000), BURST);
}

static void clocks_at_zero_and_backwards(void **state)
{
    (void)state;
    foliot__bucket b = {0};
    assert_int_equal(spent_at(&b, 0), BURST);
    assert_int_equal(spent_at(&b, 0), 0); // full once, not at every look
    assert_int_equal(spent_at(&b, 2000000001), 2);
    assert_int_equal(spent_at(&b, 1000000000), 0); // another thread's clock
    assert_int_equal(spent_at(&b, 2000000000), 0);
    assert_int_equal(spent_at(&b, 3000000001), 1);
}

static void fractions_add_up(void **state)
{
    (void)state;
    foliot__bucket b = {0};
    uint32_t count = 0;
    for (uint64_t ms = 1; ms <= 10000; ms++) // 3 a second for 10 seconds
        count += foliot__bucket_spend(&b, BURST, 1e9 / 3, ms * 1000000);
    assert_in_range(count, BURST + 29, BURST + 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_burst_and_then_the_rate),
        cmocka_unit_test(clocks_at_zero_and_backwards),
        cmocka_unit_test(fractions_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// -- printable: Goal: no character from a file or a peer steers a terminal, turns the direction of
// what follows it, or is there unseen: not in names of players, sessions, scenes and bodies, and
// not where an error quotes. C1 controls of a recorded session's name reached the terminal;
// direction controls, tags and joiners passed in names. Method: a table of characters against the
// one function that decides, and each of its bad ones through every door.

static const struct {
    uint32_t first, last;
} bad[] = {
    {0x01, 0x1f},         {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},
    {0x61c, 0x61c},       {0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x2064},     {0x2066, 0x206f},   {0x3164, 0x3164},   {0xfdd0, 0xfdef},
    {0xfeff, 0xfeff},     {0xfff9, 0xfffb},   {0xfffe, 0xffff},   {0x110bd, 0x110bd},
    {0x1d173, 0x1d17a},   {0x1fffe, 0x1ffff}, {0xe0000, 0xe007f}, {0xe01ef, 0xe01ef},
    {0x10fffe, 0x10ffff},
};
static const uint32_t good[] = {' ',    '~',    0xa0,   0xe9,    0x300,   0x5d0,   0x627,
                                0x939,  0x200a, 0x2010, 0x2027,  0x202f,  0x4e2d,  0xac00,
                                0xe000, 0xfe0f, 0xfffd, 0x1f680, 0x20000, 0xf0000, 0x10fffd};

static size_t encode(uint32_t c, char *out)
{
    size_t n = 0;
    if (c < 0x80) {
        out[n++] = (char)c;
    } else if (c < 0x800) {
        out[n++] = (char)(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        out[n++] = (char)(0xe0 | c >> 12);
        out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
    } else {
        out[n++] = (char)(0xf0 | c >> 18);
        out[n++] = (char)(0x80 | (c >> 12 & 0x3f));
        out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
    }
    if (c >= 0x80)
        out[n++] = (char)(0x80 | (c & 0x3f));
    out[n] = 0;
    return n;
}

static void around(uint32_t c, char text[16])
{
    char one[8];
    encode(c, one);
    snprintf(text, 16, "ad%sa", one);
}

TEST(the_table)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        for (uint32_t c = bad[i].first; c <= bad[i].last; c++)
            assert_false(foliot__printable(c));
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(foliot__printable(good[i]));
    assert_false(foliot__printable(0));
    assert_false(foliot__printable(0xd800));
    assert_false(foliot__printable(0x110000));
    assert_false(foliot__printable(UINT32_MAX));
}

static bool shows(const char *text)
{
    for (uint32_t c; *text;) {
        size_t length = foliot__utf8_decode(text, &c);
        if (!length || !foliot__printable(c))
            return true;
        text += length;
    }
    return false;
}

TEST(copies_and_quotes)
{
    char clean[16], text[16];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        around(bad[i].first, text);
        assert_string_equal(foliot__text_clean(clean, sizeof clean, text), "ada");
        assert_string_equal(foliot__text_mend(text), "ad?a");
    }
    char broken[] = "a\xc3(\xff\xe2\x80";
    assert_string_equal(foliot__text_mend(broken), "a?(???");
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        around(good[i], text);
        assert_string_equal(foliot__text_clean(clean, sizeof clean, text), text);
    }
}

TEST(names_over_the_wire)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t bytes[1200];
        foliot__message message = {.kind = FOLIOT__PLAYER}, got;
        size_t length = 0;
        around(bad[i].first, message.as.player.name);
        assert_int_equal(foliot__message_encode(&message, bytes, sizeof bytes, &length),
                         FOLIOT_STATUS_OK);
        assert_int_equal(foliot__message_decode(bytes, length, &got), FOLIOT_STATUS_OK);
        assert_false(shows(got.as.player.name));
    }
}

TEST(names_in_recordings)
{
    foliot__journal *journal = calloc(1, sizeof *journal);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        foliot__recording_note note = {.what = "session"};
        around(bad[i].first, note.text);
        foliot__journal_note(journal, &note);
        assert_string_equal(journal->session, "ada");
    }
    free(journal);
}

// libyaml refuses some of the characters by itself, without showing them.
TEST(what_errors_quote)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char name[16], text[128];
        foliot_scene *scene = NULL;
        foliot_error error;
        around(bad[i].first, name);
        snprintf(text, sizeof text, "foliot: 1\n\"gravi%sty\": 3\n", name);
        assert_int_not_equal(foliot_scene_parse(text, strlen(text), name, NULL, &scene, &error),
                             FOLIOT_STATUS_OK);
        assert_false(shows(error.text));
        assert_false(shows(error.file));
    }
}

TEST(json_escapes_them)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[16], line[128] = "";
        size_t length = 0;
        char *out = NULL;
        FILE *stream = open_memstream(&out, &length);
        foliot__json json = foliot__json_to(stream);
        around(bad[i].first, text);
        foliot__json_object(&json, NULL);
        foliot__json_text(&json, "name", text);
        foliot__json_close(&json);
        fclose(stream);
        snprintf(line, sizeof line, "%s", out);
        free(out);
        assert_false(shows(line));
        assert_non_null(strstr(line, "ad\\"));
    }
}

// -- line script: tests base/line_script.c and small helpers that its users share: hexadecimal
// digits (base/text.h) and bisection (base/array.h). Method: hand-written texts with known places
// of mistakes; every byte there and back; every key of short arrays against a linear search.

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
