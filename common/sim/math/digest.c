// SPDX-License-Identifier: MIT
// digest.c: digests of bytes and of arrays, and digests as text: 32 lower-case hex digits, the high
// half first.
#include "foliot/digest.h"

#include "base/cpu.h"
#include "sim/math/hash.h"

foliot_digest foliot__hash(const foliot__span *spans, uint32_t count)
{
    return FOLIOT__KERNEL_OF_CPU(foliot__hash)(spans, count);
}

static const char hex[] = "0123456789abcdef";

void foliot_digest_print(foliot_digest digest, char text[FOLIOT_DIGEST_TEXT_BYTES])
{
    for (int i = 0; i < 16; i++) {
        text[i] = hex[digest.high >> (60 - 4 * i) & 15];
        text[16 + i] = hex[digest.low >> (60 - 4 * i) & 15];
    }
    text[32] = 0;
}

// -1 for any other character, upper case included: a digest has one spelling.
static int hex_value(char c)
{
    for (int value = 0; value < 16; value++)
        if (hex[value] == c)
            return value;
    return -1;
}

foliot_status foliot_digest_parse(const char *text, foliot_digest *digest)
{
    uint64_t half[2] = {0, 0};
    for (int i = 0; i < 32; i++) {
        int value = hex_value(text[i]); // the closing zero is not a digit
        if (value < 0)
            return FOLIOT_STATUS_INVALID;
        half[i / 16] = half[i / 16] << 4 | (uint64_t)value;
    }
    if (text[32] != 0)
        return FOLIOT_STATUS_INVALID;
    *digest = (foliot_digest){.low = half[1], .high = half[0]};
    return FOLIOT_STATUS_OK;
}

foliot_digest foliot_digest_compute(const void *bytes, size_t length)
{
    const foliot__span span = {bytes, length, 1};
    return foliot__hash(&span, 1);
}
