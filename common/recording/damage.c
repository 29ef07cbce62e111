// SPDX-License-Identifier: MIT
// damage.c: see block_content.h.
#include "recording/block_content.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

foliot_status foliot__damage_set(foliot_damage *damage, foliot_status status, uint64_t block,
                                 uint64_t offset, const char *format, ...)
{
    if (!damage)
        return status;
    *damage = (foliot_damage){.status = status, .block = block, .offset = offset};
    int length = snprintf(damage->text, sizeof damage->text,
                          "block %" PRIu64 " at offset %" PRIu64 ": ", block, offset);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(damage->text + length, sizeof damage->text - (size_t)length, format, arguments);
    va_end(arguments);
    return status;
}
