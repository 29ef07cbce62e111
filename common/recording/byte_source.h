// SPDX-License-Identifier: MIT
// byte_source.h: the bytes of a recording, from a file (through a window) or from memory.
#ifndef FOLIOT_RECORDING_BYTE_SOURCE_H
#define FOLIOT_RECORDING_BYTE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "foliot/status.h"

typedef struct foliot__byte_source {
    const uint8_t *memory; // all of it, or NULL
    int file;
    uint64_t length; // as it was at the opening
    uint8_t *window;
    size_t window_capacity, window_length;
    uint64_t window_offset;
    foliot_status status; // why the last bytes that lie in the file were not given:
                          // FOLIOT_STATUS_IO, FOLIOT_STATUS_MEMORY
} foliot__byte_source;

// FOLIOT_STATUS_IO with errno; a pipe or a device is refused (base/file.h).
foliot_status foliot__byte_source_open(foliot__byte_source *source, const char *file);
void foliot__byte_source_of(foliot__byte_source *source, const void *bytes, size_t length);
void foliot__byte_source_close(foliot__byte_source *source);
// `count` bytes at `offset`, valid until the next call; NULL beyond the end, or if the system does
// not give them. `ahead`: how many more will probably be wanted.
const uint8_t *foliot__byte_source_at(foliot__byte_source *source, uint64_t offset, size_t count,
                                      size_t ahead);

#endif
