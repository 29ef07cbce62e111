// SPDX-License-Identifier: MIT
// test_log.c: lines as people and machines read them, compared byte for byte; names that would do
// harm; lines that repeat too fast are left out, counted and reported.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define MS UINT64_C(1000000)

static foliot__log log_;
static FILE *out;
static char *text;
static size_t length;

static void open_log(bool json, foliot__log_level lowest)
{
    out = open_memstream(&text, &length);
    assert_true(foliot__log_open(&log_, out, json, lowest, 1000 * MS));
}

static void check_written(const char *expected)
{
    foliot__log_close(&log_);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void write_one(const char *name)
{
    char sentence[2100];
    snprintf(sentence, sizeof sentence, "%s joined", name);
    assert_true(foliot__log_begin(&log_, FOLIOT__LOG_INFO, "joined", sentence));
    foliot__log_text(&log_, "name", name);
    foliot__log_count(&log_, "tick", 740);
    foliot__log_bool(&log_, "bot", true);
    foliot__log_end(&log_);
}

TEST(lines_for_people)
{
    open_log(false, FOLIOT__LOG_INFO);
    foliot__log_at(&log_, 13345 * MS, 0);
    write_one("bob");
    assert_true(foliot__log_begin(&log_, FOLIOT__LOG_WARNING, "late", "ticks are late"));
    foliot__log_end(&log_);
    setenv("TZ", "UTC", 1);
    foliot__log_at(&log_, 13345 * MS, INT64_C(1764000000123000000));
    write_one("eve");
    check_written("12.345 bob joined\n12.345 warning: ticks are late\n16:00:00 eve joined\n");
}

TEST(lines_for_machines)
{
    open_log(true, FOLIOT__LOG_INFO);
    foliot__log_at(&log_, 5123 * MS, INT64_C(1764000000123000000)); // 4.123 is no double
    write_one("bob");
    check_written("{\"time\":\"2025-11-24T16:00:00.123Z\",\"uptime\":4.123,\"level\":\"info\","
                  "\"event\":\"joined\",\"name\":\"bob\",\"tick\":740,"
                  "\"bot\":true,\"text\":\"bob joined\"}\n");
}

TEST(names_do_no_harm)
{
    open_log(false, FOLIOT__LOG_INFO);
    write_one("a\x1b[2J\n\"b\\");
    check_written("0.000 a[2J\"b\\ joined\n");
    open_log(true, FOLIOT__LOG_INFO);
    char longest[2000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_true(foliot__log_begin(&log_, FOLIOT__LOG_INFO, "e", longest));
    foliot__log_text(&log_, "n", longest);
    foliot__log_end(&log_);
    fflush(out);
    assert_in_range(length, 1022, 1150);
    foliot__log_close(&log_);
    fclose(out);
    free(text);
}

TEST(a_short_line_follows_a_long_one)
{
    open_log(true, FOLIOT__LOG_INFO);
    write_one("a name that makes this line longer than the next");
    fflush(out);
    size_t before = length;
    assert_true(foliot__log_begin(&log_, FOLIOT__LOG_INFO, "e", "s"));
    foliot__log_end(&log_);
    fflush(out);
    assert_string_equal(text + before,
                        "{\"uptime\":0.000,\"level\":\"info\",\"event\":\"e\",\"text\":\"s\"}\n");
    foliot__log_close(&log_);
    fclose(out);
    free(text);
}

TEST(levels_below_the_lowest_are_silent)
{
    open_log(false, FOLIOT__LOG_WARNING);
    assert_false(foliot__log_begin(&log_, FOLIOT__LOG_DEBUG, "d", "d"));
    assert_false(foliot__log_begin(&log_, FOLIOT__LOG_INFO, "i", "i"));
    assert_int_equal(log_.suppressed, 0);
    check_written("");
}

static uint32_t burst(const char *event, uint32_t count)
{
    uint32_t written = 0;
    for (uint32_t i = 0; i < count; i++)
        if (foliot__log_begin(&log_, FOLIOT__LOG_ERROR, event, event)) {
            foliot__log_end(&log_);
            written++;
        }
    return written;
}

TEST(floods_are_cut_and_counted)
{
    static const char flood[] = "flood", rare[] = "rare";
    open_log(false, FOLIOT__LOG_INFO);
    assert_int_equal(burst(flood, 1000), FOLIOT__LOG_BURST);
    assert_int_equal(log_.suppressed, 1000 - FOLIOT__LOG_BURST);
    // Another event is not held up; after a second there is room for some more.
    assert_int_equal(burst(rare, 1), 1);
    foliot__log_at(&log_, 2000 * MS, 0);
    fflush(out);
    size_t before = length;
    assert_int_equal(burst(flood, 1), 1);
    fflush(out);
    assert_string_equal(text + before,
                        "1.000 error: flood (and 980 more like this were left out)\n");
    assert_int_equal(burst(flood, 100), FOLIOT__LOG_PER_SECOND - 1);
    // A minute of one line a millisecond stays within the rate.
    uint32_t lines = 0;
    for (uint64_t ms = 3000; ms < 63000; ms++) {
        foliot__log_at(&log_, ms * MS, 0);
        lines += burst(flood, 1);
    }
    assert_in_range(lines, 60 * FOLIOT__LOG_PER_SECOND - 5, 60 * FOLIOT__LOG_PER_SECOND + 10);
    // Lines left out at the end are reported at the end.
    fflush(out);
    before = length;
    foliot__log_close(&log_);
    fflush(out);
    assert_non_null(strstr(text + before, "more like this were left out"));
    fclose(out);
    free(text);

    // As loud as what it stands for.
    open_log(false, FOLIOT__LOG_INFO);
    for (int i = 0; i <= FOLIOT__LOG_BURST; i++)
        if (foliot__log_begin(&log_, FOLIOT__LOG_INFO, rare, rare))
            foliot__log_end(&log_);
    fflush(out);
    before = length;
    foliot__log_close(&log_);
    fflush(out);
    assert_string_equal(text + before, "0.000 rare (and 1 more like this were left out)\n");
    fclose(out);
    free(text);
}

// A limited line of the same event in between has no room.
TEST(actions_of_the_owner_have_no_rate)
{
    static const char event[] = "admin";
    open_log(false, FOLIOT__LOG_INFO);
    assert_int_equal(burst(event, FOLIOT__LOG_BURST + 1), FOLIOT__LOG_BURST);
    for (int i = 0; i < 1000; i++) {
        assert_true(foliot__log_begin_unlimited(&log_, FOLIOT__LOG_INFO, event, "bans"));
        foliot__log_end(&log_);
    }
    assert_int_equal(log_.lines, FOLIOT__LOG_BURST + 1000);
    assert_int_equal(log_.suppressed, 1);
    assert_false(foliot__log_begin_unlimited(&log_, FOLIOT__LOG_DEBUG, event, "bans"));
    foliot__log_close(&log_);
    fclose(out);
    free(text);
}
