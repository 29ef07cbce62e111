// SPDX-License-Identifier: MIT
// command.h (internal): declarations shared by the encoder, the text form and the lists. The lists
// of kinds and fields are in foliot/command.h.
#ifndef FOLIOT_COMMAND_COMMAND_H
#define FOLIOT_COMMAND_COMMAND_H

#include "base/bytes.h"
#include "foliot/command.h"

#define FOLIOT__COMMAND_TEXTS_MAX 2 // text fields of one kind
#define FOLIOT__COMMAND_SOURCES 3

// Room for the texts of one command that is being read.
typedef struct foliot__command_texts {
    char bytes[FOLIOT__COMMAND_TEXTS_MAX][FOLIOT_VAR_TEXT_BYTES];
    uint32_t count;
} foliot__command_texts;

// Most bytes of a text field, with its closing zero.
size_t foliot__command_text_bytes(uint32_t kind, const foliot_command_field *field);
// The words that the text form has for the values 0, 1, ... of a field; ends with NULL. NULL if it
// has none.
const char *const *foliot__command_words(uint32_t kind, const foliot_command_field *field);
// A field of two values that JSON writes as false and true.
bool foliot__command_is_flag(uint32_t kind, const foliot_command_field *field);
// "host", "admin", "rules"; NULL for any other number.
const char *foliot__command_source_name(uint32_t source);

static inline const void *foliot__command_value(const foliot_command *command,
                                                const foliot_command_field *field)
{
    return (const uint8_t *)command + field->offset;
}

static inline void *foliot__command_room(foliot_command *command, const foliot_command_field *field)
{
    return (uint8_t *)command + field->offset;
}

// An id from its parts and back. Zero names nothing; no other id has a zero in its upper half.
static inline uint64_t foliot__command_id(uint32_t slot, uint32_t generation)
{
    return ((uint64_t)generation + 1) << 32 | slot;
}

// Reads one command; its texts lie in `texts`. Fails as foliot_command_list_decode.
void foliot__command_decode(foliot__reader *r, foliot_command *command,
                            foliot__command_texts *texts);
// foliot_command_list_append of a command that was decoded, and so is valid, from `bytes` bytes.
foliot_status foliot__command_list_append_decoded(foliot_command_list *list,
                                                  const foliot_command *command, size_t bytes);

#endif
