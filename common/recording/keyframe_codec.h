// SPDX-License-Identifier: MIT
// keyframe_codec.h: the bytes of a keyframe, compressed with zstd. A build with -DFOLIOT_NO_ZSTD
// has neither direction: it writes raw keyframes and returns FOLIOT_STATUS_UNSUPPORTED for
// compressed ones.
#ifndef FOLIOT_RECORDING_KEYFRAME_CODEC_H
#define FOLIOT_RECORDING_KEYFRAME_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/status.h"

// Memory for compression, kept from one keyframe to the next. All zero is an empty one.
typedef struct foliot__keyframe_encoder {
    void *context;
    uint8_t *packed;
    size_t packed_capacity;
} foliot__keyframe_encoder;

void foliot__keyframe_encoder_free(foliot__keyframe_encoder *encoder);
// One zstd frame of `count` bytes, in encoder->packed. Returns its length; 0 if the keyframe is
// better stored as it is: the frame is no smaller, or there is no memory.
size_t foliot__keyframe_compress(foliot__keyframe_encoder *encoder, const uint8_t *bytes,
                                 size_t count);

// Hostile bytes: exactly one zstd frame, which holds exactly `count` bytes; they are written to
// `out` and nowhere else. FOLIOT_STATUS_CORRUPT, FOLIOT_STATUS_MEMORY, FOLIOT_STATUS_UNSUPPORTED.
foliot_status foliot__keyframe_decompress(const uint8_t *packed, size_t length, uint8_t *out,
                                          size_t count);

#endif
