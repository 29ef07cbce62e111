// SPDX-License-Identifier: MIT
// tag_code.h: changed tags as bits (docs/reference/protocol.md, "Tags"). A record is
// self-contained: tags are coded against the number of slots and the earlier tags in the record.
#ifndef FOLIOT_WIRE_TAG_CODE_H
#define FOLIOT_WIRE_TAG_CODE_H

#include "base/bytes.h"

#define FOLIOT__TAG_RECORD 0x80u // bit of a record's first byte: the rest of it are tags
#define FOLIOT__TAGS_MAX 512     // in one record
// The maximum size of a record of `count` tags.
#define FOLIOT__TAGS_BYTES_MAX(count) (8 * (size_t)(count) + 8)

typedef struct foliot__tag_change {
    uint32_t slot, tag;
} foliot__tag_change;

// Writes 1 to FOLIOT__TAGS_MAX changes of slots below `slots_max`, in ascending order and each
// once.
void foliot__tags_encode(foliot__writer *w, const foliot__tag_change *changes, uint32_t count,
                         uint32_t slots_max);
// Reads the record whose first byte has been read: `first`. Returns the number of changes. Hostile
// bytes fail the reader, and give 0.
uint32_t foliot__tags_decode(foliot__reader *r, uint8_t first, uint32_t slots_max,
                             foliot__tag_change changes[FOLIOT__TAGS_MAX]);

#endif
