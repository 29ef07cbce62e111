// SPDX-License-Identifier: MIT
// web_page.h: what the fuzzers of the modules of the page have in common: the input as records, and
// what the page does with what it is given. It reads all of it, and parses texts as JSON.
#ifndef FOLIOT_FUZZ_WEB_PAGE_H
#define FOLIOT_FUZZ_WEB_PAGE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/json_reader.h"
#include "page.h"

typedef struct records {
    const uint8_t *at;
    size_t left;
} records;

static uint64_t page_sum; // of all that was read, so that it is read

// Behind the end of the input all is zero.
static inline uint8_t take_byte(records *r)
{
    if (r->left == 0)
        return 0;
    r->left--;
    return *r->at++;
}

static inline uint32_t take_word(records *r)
{
    uint32_t low = take_byte(r);
    return low | (uint32_t)take_byte(r) << 8;
}

// Small, at an edge, or anything.
static inline uint32_t take_number(records *r)
{
    static const uint32_t edges[] = {UINT32_MAX, INT32_MAX, 1u << 31, 1u << 20, 65536, 1024, 255};
    uint8_t kind = take_byte(r);
    return kind < 240 ? kind : kind < 248 ? edges[kind % 7] : take_word(r) | take_word(r) << 16;
}

// The bytes of a record, at most `limit`, behind their length; the result is lent.
static inline const uint8_t *take_bytes(records *r, uint32_t limit, uint32_t *length)
{
    uint32_t wanted = take_word(r);
    const uint8_t *bytes = r->at;
    wanted = wanted < limit ? wanted : limit;
    *length = wanted < r->left ? wanted : (uint32_t)r->left;
    r->at += *length;
    r->left -= *length;
    return bytes;
}

static inline void read_bytes(const void *bytes, size_t length)
{
    const uint8_t *b = bytes;
    for (size_t i = 0; i < length; i++)
        page_sum += b[i];
}

static inline void read_text(const char *text)
{
    FOLIOT_ASSERT(text);
    read_bytes(text, strlen(text));
}

// The page passes this to JSON.parse, which throws if it is not JSON. Bytes that are no UTF-8 have
// been replaced by then.
static inline void read_json(const char *text)
{
    read_text(text);
    size_t length = strlen(text);
    char *copy = strdup(text);
    FOLIOT_ASSERT(copy);
    for (size_t i = 0; i < length; i++)
        if (copy[i] & 0x80)
            copy[i] = '?';
    foliot__json_reader reader = foliot__json_reader_of(copy, length);
    foliot__json_skip(&reader);
    FOLIOT_ASSERT(foliot__json_end(&reader) && !reader.problem);
    free(copy);
}

// -- what every module exports

const web_instance *web_instances(void);
const uint32_t *web_instance_counts(void);
const uint32_t *web_instance_slots(void);
const web_line *web_lines(void);

static inline void read_picture(int count)
{
    uint32_t sum = 0;
    if (count < 0)
        return;
    for (int m = 0; m < WEB_MESHES; m++)
        sum += web_instance_counts()[m];
    FOLIOT_ASSERT(sum == (uint32_t)count);
    read_bytes(web_instances(), (size_t)count * sizeof(web_instance));
    read_bytes(web_instance_slots(), (size_t)count * sizeof(uint32_t));
}

static inline void read_lines(uint32_t count)
{
    read_bytes(web_lines(), count * sizeof(web_line));
}

#endif
