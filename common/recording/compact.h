// SPDX-License-Identifier: MIT
// compact.h: rewrites a closed recording with fewer blocks. See docs/reference/recording.md,
// "Compaction".
#ifndef FOLIOT_RECORDING_COMPACT_H
#define FOLIOT_RECORDING_COMPACT_H

#include <stdint.h>

#include "foliot/signature.h"
#include "foliot/status.h"

// Replaces `file` by one with the same content in blocks of `block_ticks`. The new file is written
// beside the old one as .FILE.compact, synced, compared with it and then renamed over it: whatever
// happens, `file` is one of the two, and whole. On an error it is the old one. The caller holds the
// lock of its only writer. A file that is as compact already stays, and that is no error.
// FOLIOT_STATUS_UNSUPPORTED: it is no closed recording of ours.
// Signatures are of the old bytes: they are left out, and `signer` signs the new ones.
// FOLIOT_STATUS_UNSUPPORTED also: it is signed, and `signer` is NULL.
foliot_status foliot__recording_compact(const char *file, uint32_t block_ticks,
                                        const foliot_signer *signer);

#endif
