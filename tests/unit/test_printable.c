// SPDX-License-Identifier: MIT
// Goal: no character from a file or a peer steers a terminal, turns the direction of what follows
// it, or is there unseen: not in names of players, sessions, scenes and bodies, and not where an
// error quotes. C1 controls of a recorded session's name reached the terminal; direction controls,
// tags and joiners passed in names. Method: a table of characters against the one function that
// decides, and each of its bad ones through every door.
#include "../support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "foliot/scene.h"
#include "recording/journal.h"
#include "wire/message.h"

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
