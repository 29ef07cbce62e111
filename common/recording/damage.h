// SPDX-License-Identifier: MIT
// damage.h: the text of a recording's damage, in one form everywhere.
#ifndef FOLIOT_RECORDING_DAMAGE_H
#define FOLIOT_RECORDING_DAMAGE_H

#include "foliot/replay.h"

// "block 7 at offset 1234: ...". Returns `status`; `damage` may be NULL.
__attribute__((format(printf, 5, 6))) foliot_status
foliot__damage_set(foliot_damage *damage, foliot_status status, uint64_t block, uint64_t offset,
                   const char *format, ...);

#endif
