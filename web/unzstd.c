// SPDX-License-Identifier: MIT
// unzstd.c: keyframe_codec.h in the page: a library of the page's decompresses, nothing compresses.
#include "recording/keyframe_codec.h"

// Writes `count` bytes to `out`. False: the frame is damaged, or holds another number of bytes.
__attribute__((import_module("page"), import_name("unzstd"))) bool
page_unzstd(const uint8_t *packed, size_t length, uint8_t *out, size_t count);

bool foliot__keyframe_encoder_available(void)
{
    return false;
}

void foliot__keyframe_encoder_free(foliot__keyframe_encoder *encoder)
{
    *encoder = (foliot__keyframe_encoder){0};
}

size_t foliot__keyframe_compress(foliot__keyframe_encoder *encoder, const uint8_t *bytes,
                                 size_t count)
{
    (void)encoder, (void)bytes, (void)count;
    return 0;
}

foliot_status foliot__keyframe_decompress(const uint8_t *packed, size_t length, uint8_t *out,
                                          size_t count)
{
    return page_unzstd(packed, length, out, count) ? FOLIOT_STATUS_OK : FOLIOT_STATUS_CORRUPT;
}
